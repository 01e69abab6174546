// Ops that make tensors of indices, or take elements by them: values and types.

#include "graph_testing.h"

static void one_hot() {
  const Array indices({2, 3}, {0, 2, -1, 1, 3, 2}, MPSDataTypeInt32);
  const Shape last = {2, 3, 3}, first = {4, 2, 3};
  const auto expected = [&](const Shape& shape, size_t axis, double on, double off, MPSDataType type) {
    Array y(shape, std::vector<double>(static_cast<size_t>(shape.at(0) * shape.at(1) * shape.at(2))), type);
    for_each_index(shape, [&](Index i) {
      const long place = i.at(axis);
      i.erase(i.begin() + static_cast<long>(axis));
      const Index at = i;
      i.insert(i.begin() + static_cast<long>(axis), place);
      y.at(i) = static_cast<long>(indices.at(at)) == place ? on : off;
    });
    return y;
  };
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphTensor* x = session.feed(indices);
  CHECK_ARRAY_WITHIN(0, session.run([g oneHotWithIndicesTensor:x depth:3 name:nil]),
                     expected(last, 2, 1, 0, MPSDataTypeFloat32));
  CHECK_ARRAY_WITHIN(0, session.run([g oneHotWithIndicesTensor:x depth:3 dataType:MPSDataTypeInt64 name:nil]),
                     expected(last, 2, 1, 0, MPSDataTypeInt64));
  CHECK_ARRAY_WITHIN(0, session.run([g oneHotWithIndicesTensor:x depth:4 axis:0 name:nil]),
                     expected(first, 0, 1, 0, MPSDataTypeFloat32));
  CHECK_ARRAY_WITHIN(0, session.run([g oneHotWithIndicesTensor:x depth:2 axis:1 dataType:MPSDataTypeInt32 name:nil]),
                     expected({2, 2, 3}, 1, 1, 0, MPSDataTypeInt32));
  CHECK_ARRAY_WITHIN(
      0, session.run([g oneHotWithIndicesTensor:x depth:3 dataType:MPSDataTypeInt32 onValue:7 offValue:-2 name:nil]),
      expected(last, 2, 7, -2, MPSDataTypeInt32));
  CHECK_ARRAY_WITHIN(0,
                     session.run([g oneHotWithIndicesTensor:x
                                                      depth:4
                                                       axis:0
                                                   dataType:MPSDataTypeFloat32
                                                    onValue:0.5
                                                   offValue:3
                                                       name:nil]),
                     expected(first, 0, 0.5, 3, MPSDataTypeFloat32));
  CHECK_ARRAY_WITHIN(0, session.run([g oneHotWithIndicesTensor:x depth:3 axis:static_cast<NSUInteger>(-1) name:nil]),
                     expected(last, 2, 1, 0, MPSDataTypeFloat32));
}

int main() {
  @autoreleasepool {
    one_hot();
  }
  return check::summary();
}

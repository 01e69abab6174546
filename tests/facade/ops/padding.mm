// Padding in every mode and its gradient, against loops.

#include "graph_testing.h"

static const Shape kSource = {3, 2, 4};
static const std::vector<long> kLeft = {1, 0, 3}, kRight = {2, 1, 1};

// Which element of an axis stands at a place of the padded one, -1 for none; and its sign.
struct Element {
  long place;
  double sign = 1;
};

static Element element(MPSGraphPaddingMode mode, long at, long extent) {
  const bool is_inside = at >= 0 && at < extent;
  if (is_inside) return {at};
  switch (mode) {
    case MPSGraphPaddingModeReflect: return {at < 0 ? -at : 2 * extent - 2 - at};
    case MPSGraphPaddingModeSymmetric: return {at < 0 ? -at - 1 : 2 * extent - 1 - at};
    case MPSGraphPaddingModeClampToEdge: return {at < 0 ? 0 : extent - 1};
    case MPSGraphPaddingModePeriodic: return {at < 0 ? at + extent : at - extent};
    case MPSGraphPaddingModeAntiPeriodic: return {at < 0 ? at + extent : at - extent, -1};
    default: return {-1};
  }
}

static Shape padded_shape(const std::vector<long>& left, const std::vector<long>& right) {
  Shape shape = kSource;
  for (size_t i = 0; i < shape.size(); ++i) shape.at(i) += left.at(i) + right.at(i);
  return shape;
}

static void check_mode(MPSGraphPaddingMode mode, const std::vector<long>& left, const std::vector<long>& right,
                       double value) {
  const double outside = mode == MPSGraphPaddingModeConstant ? value : 0;
  const Array x = random_array(kSource), dy = random_array(padded_shape(left, right));
  Array y(dy.shape), dx(x.shape);
  for_each_index(y.shape, [&](const Index& i) {
    Index from(i.size());
    double sign = 1;
    bool is_element = true;
    for (size_t d = 0; d < i.size(); ++d) {
      const Element e = element(mode, i.at(d) - left.at(d), kSource.at(d));
      from.at(d) = e.place;
      sign *= e.sign;
      is_element = is_element && e.place >= 0;
    }
    y.at(i) = is_element ? sign * x.at(from) : outside;
    if (is_element) dx.at(from) += sign * dy.at(i);
  });
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphTensor *tx = session.feed(x), *tdy = session.feed(dy);
  const Build build = [&](MPSGraph* graph, const std::vector<MPSGraphTensor*>& t) {
    return [graph padTensor:t.at(0)
            withPaddingMode:mode
                leftPadding:numbers(left)
               rightPadding:numbers(right)
              constantValue:value
                       name:nil];
  };
  CHECK_ARRAY(session.run(build(g, {tx})), y);
  CHECK_ARRAY(session.run([g padGradientWithIncomingGradientTensor:tdy
                                                      sourceTensor:tx
                                                       paddingMode:mode
                                                       leftPadding:numbers(left)
                                                      rightPadding:numbers(right)
                                                              name:nil]),
              dx);
}

TEST(every_mode) {
  for (auto mode : {MPSGraphPaddingModeConstant, MPSGraphPaddingModeZero, MPSGraphPaddingModeSymmetric,
                    MPSGraphPaddingModeClampToEdge, MPSGraphPaddingModePeriodic, MPSGraphPaddingModeAntiPeriodic}) {
    check_mode(mode, kLeft, kRight, 2.5);
  }
  check_mode(MPSGraphPaddingModeReflect, {1, 0, 3}, {2, 1, 1}, 2.5);
}

#ifndef __APPLE__  // of the mode constant public programs do so
TEST(padding_below_0_cuts) {
  for (int mode = MPSGraphPaddingModeConstant; mode <= MPSGraphPaddingModeAntiPeriodic; ++mode) {
    check_mode(static_cast<MPSGraphPaddingMode>(mode), {-1, 0, -2}, {-1, 1, 1}, 2.5);
  }
}
#endif

TEST(integers_and_bools) {
  for (MPSDataType type : {MPSDataTypeInt32, MPSDataTypeInt64, MPSDataTypeBool}) {
    Session session;
    const Array x({2}, {1, 0}, type);
    MPSGraphTensor* y = [session.graph() padTensor:session.feed(x)
                                   withPaddingMode:MPSGraphPaddingModeConstant
                                       leftPadding:numbers({1})
                                      rightPadding:numbers({2})
                                     constantValue:1
                                              name:@"padded"];
    CHECK_ARRAY(session.run(y), Array({5}, {1, 1, 0, 1, 1}, type));
    CHECK([[[y operation] name] isEqualToString:@"padded"]);
  }
}

#ifndef __APPLE__
TEST(paddings_that_do_not_fit) {
  Session session;
  MPSGraphTensor* x = placeholder(session.graph(), {3, 4});
  const auto pad = [&](MPSGraphPaddingMode mode, const std::vector<long>& left, const std::vector<long>& right) {
    [session.graph() padTensor:x
               withPaddingMode:mode
                   leftPadding:numbers(left)
                  rightPadding:numbers(right)
                 constantValue:0
                          name:nil];
  };
  CHECK_RAISES(pad(MPSGraphPaddingModeReflect, {3, 0}, {0, 0}));
  CHECK_RAISES(pad(MPSGraphPaddingModeSymmetric, {0, 0}, {4, 0}));
  CHECK_RAISES(pad(MPSGraphPaddingModeZero, {1}, {1}));
  CHECK_RAISES(pad(MPSGraphPaddingModeZero, {1, 1}, {1}));
  CHECK_RAISES(pad(MPSGraphPaddingModeConstant, {-2, 0}, {-1, 0}));
  CHECK_RAISES(pad(MPSGraphPaddingModeConstant, {-3, 0}, {1, 0}));
  CHECK_RAISES(pad(MPSGraphPaddingModeClampToEdge, {0, 0}, {0, -4}));
  CHECK_RAISES(pad(static_cast<MPSGraphPaddingMode>(7), {0, 0}, {0, 0}));
}
#endif

int main(int count, char** arguments) { return check::run(count, arguments); }

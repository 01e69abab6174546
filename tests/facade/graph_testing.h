// What the tests of graphs share: arrays of doubles to think in, feeds and results made from them, data
// without symmetry, loops over indices for references, and finite differences. Only for one thread at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "objects.h"

using Shape = std::vector<long>;
using Index = std::vector<long>;

inline long element_count(const Shape& shape) {
  long count = 1;
  for (long d : shape) count *= d;
  return count;
}

// Row-major values with the type they have, or shall have, on the device.
struct Array {
  Shape shape;
  std::vector<double> values;
  MPSDataType type = MPSDataTypeFloat32;

  Array() = default;
  Array(Shape s, std::vector<double> v, MPSDataType t = MPSDataTypeFloat32)
      : shape(std::move(s)), values(std::move(v)), type(t) {}
  explicit Array(Shape s, double value = 0, MPSDataType t = MPSDataTypeFloat32)
      : shape(std::move(s)), values(static_cast<size_t>(element_count(shape)), value), type(t) {}

  size_t offset(const Index& index) const {
    long at = 0;
    for (size_t i = 0; i < shape.size(); ++i) at = at * shape.at(i) + index.at(i);
    return static_cast<size_t>(at);
  }
  double& at(const Index& index) { return values.at(offset(index)); }
  double at(const Index& index) const { return values.at(offset(index)); }
};

// Calls f with every index of a shape, the last dimension fastest.
template <class F>
void for_each_index(const Shape& shape, F f) {
  Index index(shape.size(), 0);
  for (long n = element_count(shape); n > 0; --n) {
    f(index);
    for (size_t i = shape.size(); i-- > 0;) {
      if (++index.at(i) < shape.at(i)) break;
      index.at(i) = 0;
    }
  }
}

// ---- data ----

// The next number of one fixed sequence, uniform in [0, 1).
inline double next_random() {
  static uint64_t state = 0x2545F4914F6CDD1Dull;
  state = state * 6364136223846793005ull + 1442695040888963407ull;
  return static_cast<double>(state >> 40) / 16777216.0;
}

// Numbers of the sequence in [low, high), multiples of 2^-16, so that float holds them and small steps from
// them.
inline Array random_array(const Shape& shape, double low = -2, double high = 2) {
  Array array(shape);
  for (double& v : array.values) v = std::floor((low + (high - low) * next_random()) * 65536.0) / 65536.0;
  return array;
}

// The same with a random sign and a magnitude in [low, high): nowhere near 0.
inline Array signed_array(const Shape& shape, double low = 0.5, double high = 2) {
  Array array = random_array(shape, low, high);
  for (double& v : array.values) v = next_random() < 0.5 ? -v : v;
  return array;
}

// The multiples of 1/4 around 0, each once, shuffled: no ties, also not after a small step.
inline Array distinct_array(const Shape& shape) {
  Array array(shape);
  const size_t n = array.values.size();
  for (size_t i = 0; i < n; ++i) array.values.at(i) = (static_cast<double>(i) - static_cast<double>(n / 2)) * 0.25;
  for (size_t i = n; i > 1; --i) {
    std::swap(array.values.at(i - 1), array.values.at(static_cast<size_t>(next_random() * static_cast<double>(i))));
  }
  return array;
}

// Numbers of an integer type in [low, high].
inline Array random_integers(const Shape& shape, long low, long high, MPSDataType type = MPSDataTypeInt32) {
  Array array(shape, 0, type);
  for (double& v : array.values) {
    v = static_cast<double>(low) + std::floor(next_random() * static_cast<double>(high - low + 1));
  }
  return array;
}

// ---- references ----

// The shape two shapes broadcast to by NumPy's rule.
inline Shape broadcast_shape(const Shape& a, const Shape& b) {
  Shape shape(std::max(a.size(), b.size()));
  for (size_t i = 0; i < shape.size(); ++i) {
    const long da = i < a.size() ? a.at(a.size() - 1 - i) : 1, db = i < b.size() ? b.at(b.size() - 1 - i) : 1;
    shape.at(shape.size() - 1 - i) = da == 1 ? db : da;
  }
  return shape;
}

// The element of `array` that broadcasting puts at `index`.
inline double broadcast_at(const Array& array, const Index& index) {
  Index own(array.shape.size());
  for (size_t i = 0; i < own.size(); ++i) {
    own.at(own.size() - 1 - i) = array.shape.at(own.size() - 1 - i) == 1 ? 0 : index.at(index.size() - 1 - i);
  }
  return array.at(own);
}

template <class F>
Array map(const Array& x, F f) {
  Array y = x;
  for (double& v : y.values) v = f(v);
  return y;
}

template <class F>
Array map(const Array& a, const Array& b, F f) {
  Array y(broadcast_shape(a.shape, b.shape), 0, a.type);
  for_each_index(y.shape, [&](const Index& i) { y.at(i) = f(broadcast_at(a, i), broadcast_at(b, i)); });
  return y;
}

// True if a reduction over `axes` (counted from the front) runs over dimension `axis`.
inline bool is_reduced(const std::vector<long>& axes, size_t axis) {
  return std::find(axes.begin(), axes.end(), static_cast<long>(axis)) != axes.end();
}

// `index` with 0 in the reduced dimensions: where its element goes.
inline Index reduced_index(Index index, const std::vector<long>& axes) {
  for (size_t i = 0; i < index.size(); ++i) index.at(i) = is_reduced(axes, i) ? 0 : index.at(i);
  return index;
}

// Folds the elements over `axes` (counted from the front), which stay with length 1.
template <class F>
Array reduce(const Array& x, const std::vector<long>& axes, double initial, F f) {
  Shape shape = x.shape;
  for (size_t i = 0; i < shape.size(); ++i) shape.at(i) = is_reduced(axes, i) ? 1 : shape.at(i);
  Array y(shape, initial, x.type);
  for_each_index(x.shape, [&](const Index& i) {
    double& total = y.at(reduced_index(i, axes));
    total = f(total, x.at(i));
  });
  return y;
}

inline Array sum_over(const Array& x, const std::vector<long>& axes) {
  return reduce(x, axes, 0, [](double a, double b) { return a + b; });
}

// `x` summed down to `shape`: the adjoint of broadcasting `shape` to that of `x`.
inline Array sum_to(const Array& x, const Shape& shape) {
  Array y(shape);
  for_each_index(x.shape, [&](const Index& i) {
    Index own(shape.size());
    for (size_t d = 0; d < own.size(); ++d) {
      own.at(own.size() - 1 - d) = shape.at(own.size() - 1 - d) == 1 ? 0 : i.at(i.size() - 1 - d);
    }
    y.at(own) += x.at(i);
  });
  return y;
}

// Dimension i of the result is dimension permutation.at(i) of `x`.
inline Array permuted(const Array& x, const std::vector<long>& permutation) {
  Shape shape;
  for (long p : permutation) shape.push_back(x.shape.at(static_cast<size_t>(p)));
  Array y(shape, 0, x.type);
  for_each_index(shape, [&](const Index& i) {
    Index source(i.size());
    for (size_t d = 0; d < i.size(); ++d) source.at(static_cast<size_t>(permutation.at(d))) = i.at(d);
    y.at(i) = x.at(source);
  });
  return y;
}

// ---- Objective-C ----

inline Shape shape_of(MPSShape* shape) {
  Shape dims;
  for (NSNumber* d in shape) dims.push_back([d longValue]);
  return dims;
}

template <class T>
NSData* packed_data(const std::vector<double>& values) {
  NSMutableData* data = [NSMutableData dataWithLength:values.size() * sizeof(T)];
  T* bytes = static_cast<T*>([data mutableBytes]);
  for (double v : values) *bytes++ = static_cast<T>(v);
  return data;
}

// The values in the array's type.
inline NSData* bytes_of(const Array& array) {
  switch (array.type) {
    case MPSDataTypeFloat32: return packed_data<float>(array.values);
    case MPSDataTypeFloat16: return packed_data<_Float16>(array.values);
    case MPSDataTypeInt16: return packed_data<int16_t>(array.values);
    case MPSDataTypeInt32: return packed_data<int32_t>(array.values);
    case MPSDataTypeInt64: return packed_data<int64_t>(array.values);
    default: return packed_data<uint8_t>(array.values);  // Bool and UInt8
  }
}

template <class T>
std::vector<double> read_values(MPSGraphTensorData* data, long count) {
  std::vector<T> bytes(count + 1);
  [[data mpsndarray] readBytes:bytes.data() strideBytes:nil];
  return std::vector<double>(bytes.begin(), bytes.end() - 1);
}

// The device's copy of an array, autoreleased.
inline MPSGraphTensorData* tensor_data(const Array& array) {
  return [[[MPSGraphTensorData alloc] initWithDevice:the_graph_device()
                                                data:bytes_of(array)
                                               shape:numbers(array.shape)
                                            dataType:array.type] autorelease];
}

// What is on the device, with its shape and type.
inline Array read_array(MPSGraphTensorData* data) {
  Array array(shape_of([data shape]), {}, [data dataType]);
  const long count = element_count(array.shape);
  switch (array.type) {
    case MPSDataTypeFloat32: array.values = read_values<float>(data, count); break;
    case MPSDataTypeFloat16: array.values = read_values<_Float16>(data, count); break;
    case MPSDataTypeInt16: array.values = read_values<int16_t>(data, count); break;
    case MPSDataTypeInt32: array.values = read_values<int32_t>(data, count); break;
    case MPSDataTypeInt64: array.values = read_values<int64_t>(data, count); break;
    default: array.values = read_values<uint8_t>(data, count);
  }
  return array;
}

inline MPSGraphTensor* constant(MPSGraph* graph, const Array& array) {
  return [graph constantWithData:bytes_of(array) shape:numbers(array.shape) dataType:array.type];
}

inline MPSGraphTensor* variable(MPSGraph* graph, const Array& array) {
  return [graph variableWithData:bytes_of(array) shape:numbers(array.shape) dataType:array.type name:nil];
}

inline MPSGraphTensor* placeholder(MPSGraph* graph, const Shape& shape, MPSDataType type = MPSDataTypeFloat32) {
  return [graph placeholderWithShape:numbers(shape) dataType:type name:nil];
}

inline MPSGraphTensor* scalar(MPSGraph* graph, double value, MPSDataType type = MPSDataTypeFloat32) {
  return [graph constantWithScalar:value dataType:type];
}

// Integers, such as the axes of a shape, as a constant.
inline MPSGraphTensor* integers(MPSGraph* graph, const std::vector<long>& values, MPSDataType type = MPSDataTypeInt32) {
  return constant(graph, Array({static_cast<long>(values.size())}, {values.begin(), values.end()}, type));
}

inline MPSGraphTensor* plus(MPSGraph* graph, MPSGraphTensor* a, MPSGraphTensor* b) {
  return [graph additionWithPrimaryTensor:a secondaryTensor:b name:nil];
}

inline MPSGraphTensor* minus(MPSGraph* graph, MPSGraphTensor* a, MPSGraphTensor* b) {
  return [graph subtractionWithPrimaryTensor:a secondaryTensor:b name:nil];
}

inline MPSGraphTensor* times(MPSGraph* graph, MPSGraphTensor* a, MPSGraphTensor* b) {
  return [graph multiplicationWithPrimaryTensor:a secondaryTensor:b name:nil];
}

inline MPSGraphTensor* matmul(MPSGraph* graph, MPSGraphTensor* a, MPSGraphTensor* b) {
  return [graph matrixMultiplicationWithPrimaryTensor:a secondaryTensor:b name:nil];
}

inline MPSGraphTensor* total_of(MPSGraph* graph, MPSGraphTensor* x) {
  return [graph reductionSumWithTensor:x axes:nil name:nil];
}

// The derivative of the sum of y to x.
inline MPSGraphTensor* gradient_of(MPSGraph* graph, MPSGraphTensor* y, MPSGraphTensor* x) {
  return [[graph gradientForPrimaryTensor:y withTensors:list(x) name:nil] objectForKey:x];
}

inline MPSGraphOperation* assigned(MPSGraph* graph, MPSGraphTensor* to, MPSGraphTensor* value) {
  return [graph assignVariable:to withValueOfTensor:value name:nil];
}

// A step of gradient descent.
inline MPSGraphTensor* descended(MPSGraph* graph, MPSGraphTensor* rate, MPSGraphTensor* values,
                                 MPSGraphTensor* gradient) {
  return [graph stochasticGradientDescentWithLearningRateTensor:rate
                                                   valuesTensor:values
                                                 gradientTensor:gradient
                                                           name:nil];
}

using Tensors = std::vector<MPSGraphTensor*>;

inline MPSGraphShapedType* type_of(const Shape& shape, MPSDataType type = MPSDataTypeFloat32) {
  return [[[MPSGraphShapedType alloc] initWithShape:numbers(shape) dataType:type] autorelease];
}

// An executable whose feeds have the shapes of their placeholders.
inline MPSGraphExecutable* compiled(MPSGraph* graph, const Tensors& feeds, NSArray<MPSGraphTensor*>* targets,
                                    NSArray<MPSGraphOperation*>* operations = nil) {
  NSMutableDictionary* types = [NSMutableDictionary dictionary];
  for (MPSGraphTensor* feed : feeds) [types setObject:type_of(shape_of([feed shape]), [feed dataType]) forKey:feed];
  return [graph compileWithDevice:the_graph_device()
                            feeds:types
                    targetTensors:targets
                 targetOperations:operations
            compilationDescriptor:nil];
}

// The tensor data of the feeds, in the order that the executable wants.
inline NSArray* inputs_of(MPSGraphExecutable* executable, NSDictionary* feeds) {
  NSMutableArray* inputs = [NSMutableArray array];
  for (MPSGraphTensor* tensor in [executable feedTensors]) [inputs addObject:[feeds objectForKey:tensor]];
  return inputs;
}

inline NSArray* results_of(MPSGraphExecutable* executable, NSArray* inputs) {
  return [executable runWithMTLCommandQueue:the_queue() inputsArray:inputs resultsArray:nil executionDescriptor:nil];
}

inline NSUInteger unsign(long value) { return static_cast<NSUInteger>(value); }

// One graph with the values of its placeholders.
class Session {
 public:
  Session() : graph_([[MPSGraph alloc] init]), feeds_([[NSMutableDictionary alloc] init]) {}
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() {
    [feeds_ release];
    [graph_ release];
  }

  MPSGraph* graph() const { return graph_; }
  NSMutableDictionary* feeds() const { return feeds_; }

  // A new placeholder that every run is fed this value.
  MPSGraphTensor* feed(const Array& value) {
    MPSGraphTensor* tensor = placeholder(graph_, value.shape, value.type);
    set(tensor, value);
    return tensor;
  }

  void set(MPSGraphTensor* tensor, const Array& value) { [feeds_ setObject:tensor_data(value) forKey:tensor]; }

  // The values of the targets; the shapes and types that the tensors promised are checked.
  std::vector<Array> run(const std::vector<MPSGraphTensor*>& targets, NSArray<MPSGraphOperation*>* operations = nil) {
    std::vector<Array> arrays;
    @autoreleasepool {
      NSMutableArray* wanted = [NSMutableArray array];
      for (MPSGraphTensor* target : targets) [wanted addObject:target];
      NSDictionary* results = [graph_ runWithFeeds:feeds_ targetTensors:wanted targetOperations:operations];
      for (MPSGraphTensor* target : targets) {
        arrays.push_back(read_array([results objectForKey:target]));
        CHECK(arrays.back().type == [target dataType]);
        const Shape promised = shape_of([target shape]);
        const bool is_known = [target shape] != nil && std::count(promised.begin(), promised.end(), -1) == 0;
        if (is_known) CHECK(arrays.back().shape == promised);
      }
    }
    return arrays;
  }

  Array run(MPSGraphTensor* target) { return run(std::vector<MPSGraphTensor*>{target}).front(); }

  double value(MPSGraphTensor* target) { return run(target).values.front(); }

  // Runs operations for their effects.
  void perform(std::initializer_list<MPSGraphOperation*> operations) {
    NSMutableArray* wanted = [NSMutableArray array];
    for (MPSGraphOperation* operation : operations) [wanted addObject:operation];
    run(std::vector<MPSGraphTensor*>{}, wanted);
  }

 private:
  MPSGraph* graph_;
  NSMutableDictionary* feeds_;
};

// ---- checks ----

namespace check {

inline std::string text(const Shape& shape) {
  std::string s = "(";
  for (long d : shape) s += std::to_string(d) + " ";
  return s + ")";
}

// Same shape and type, and every element within `tolerance` of 1 + its magnitude; NaN equals NaN, infinity
// itself.
inline void report_array(const Array& actual, const Array& expected, double tolerance, const char* what,
                         const char* file, int line) {
  if (actual.shape != expected.shape || actual.type != expected.type) {
    report(false, what, file, line);
    std::fprintf(stderr, "  shape %s type 0x%x, expected %s 0x%x\n", text(actual.shape).c_str(),
                 static_cast<unsigned>(actual.type), text(expected.shape).c_str(),
                 static_cast<unsigned>(expected.type));
    return;
  }
  for (size_t i = 0; i < expected.values.size(); ++i) {
    const double a = actual.values.at(i), e = expected.values.at(i);
    const bool close = std::isnan(e) ? std::isnan(a) : a == e || std::fabs(a - e) <= tolerance * (1 + std::fabs(e));
    if (close) continue;
    report(false, what, file, line);
    std::fprintf(stderr, "  element %zu is %.9g, expected %.9g\n", i, a, e);
    return;
  }
  report(true, what, file, line);
}

}  // namespace check

// CHECK_ARRAY(actual, expected): arrays agree up to the rounding of single precision.
#define CHECK_ARRAY(actual, ...)    \
  check::begin(__FILE__, __LINE__), \
      check::report_array(actual, __VA_ARGS__, 1e-5, #actual " is " #__VA_ARGS__, __FILE__, __LINE__)
#define CHECK_ARRAY_WITHIN(tolerance, actual, ...) \
  check::begin(__FILE__, __LINE__),                \
      check::report_array(actual, __VA_ARGS__, tolerance, #actual " is " #__VA_ARGS__, __FILE__, __LINE__)

// ---- one op by several selectors ----

// An expression in the graph g and the tensor x.
using Way = std::function<MPSGraphTensor*(MPSGraph* g, MPSGraphTensor* x)>;
#define WAY(...) [&](MPSGraph* g, MPSGraphTensor* x) -> MPSGraphTensor* { return __VA_ARGS__; }

namespace check {

inline void report_ways(const Array& operand, const Array& expected, double tolerance, const std::vector<Way>& ways,
                        const char* file, int line) {
  Session session;
  MPSGraphTensor* x = session.feed(operand);
  for (const Way& way : ways) {
    report_array(session.run(way(session.graph(), x)), expected, tolerance, "a way to build it", file, line);
  }
}

}  // namespace check

// CHECK_WAYS(operand, expected, WAY(...), ...): each expression makes the same of the operand, to the bit.
#define CHECK_WAYS(operand, expected, ...) CHECK_WAYS_WITHIN(0, operand, expected, __VA_ARGS__)
#define CHECK_WAYS_WITHIN(tolerance, operand, expected, ...) \
  check::begin(__FILE__, __LINE__), check::report_ways(operand, expected, tolerance, {__VA_ARGS__}, __FILE__, __LINE__)

// ---- gradients ----

// Builds what is differentiated from one tensor per operand.
using Build = std::function<MPSGraphTensor*(MPSGraph*, const std::vector<MPSGraphTensor*>&)>;

// Numbers that float16 holds.
inline Array eighths(const Array& x) {
  return map(x, [](double v) { return std::round(8 * v) / 8; });
}

namespace check {

// What `build` makes of float16 is what is expected, rounded once to float16 after sums in float32.
inline void report_halves(const Build& build, const std::vector<Array>& operands, const Array& expected,
                          const char* what, const char* file, int line) {
  Session session;
  MPSGraph* g = session.graph();
  std::vector<MPSGraphTensor*> halves;
  for (const Array& x : operands) {
    halves.push_back([g castTensor:session.feed(x) toType:MPSDataTypeFloat16 name:nil]);
  }
  MPSGraphTensor* y = build(g, halves);
  const Array values = session.run([g castTensor:y toType:MPSDataTypeFloat32 name:nil]);
  bool right = [y dataType] == MPSDataTypeFloat16 && values.shape == expected.shape;
  for (size_t i = 0; right && i < expected.values.size(); ++i) {
    const double e = expected.values.at(i);
    right = std::fabs(values.values.at(i) - e) <= 0x1p-11 * std::fabs(e) + 4e-6;
    if (!right) std::fprintf(stderr, "  element %zu is %.9g, expected %.9g\n", i, values.values.at(i), e);
  }
  report(right, what, file, line);
}

}  // namespace check

#define CHECK_HALVES(build, operands, ...) \
  check::begin(__FILE__, __LINE__),        \
      check::report_halves(build, operands, __VA_ARGS__, "halves of " #build, __FILE__, __LINE__)

// The gradients of sum(weights * build(operands)) by the graph; `weights` is random when it is not given.
struct Differentiated {
  Session session;
  std::vector<MPSGraphTensor*> operands;
  MPSGraphTensor* result;
  Array weights;
  std::vector<Array> gradients;

  Differentiated(const Build& build, const std::vector<Array>& values, const Array& given_weights = {}) {
    for (const Array& value : values) operands.push_back(session.feed(value));
    result = build(session.graph(), operands);
    const Shape shape = session.run(result).shape;
    weights = given_weights.values.empty() ? random_array(shape, 0.25, 2) : given_weights;
    MPSGraphTensor* weighted = [session.graph() multiplicationWithPrimaryTensor:result
                                                                secondaryTensor:constant(session.graph(), weights)
                                                                           name:nil];
    MPSGraphTensor* loss = [session.graph() reductionSumWithTensor:weighted axes:nil name:nil];
    NSMutableArray* targets = [NSMutableArray array];
    for (MPSGraphTensor* operand : operands) [targets addObject:operand];
    NSDictionary* found = [session.graph() gradientForPrimaryTensor:loss withTensors:targets name:nil];
    std::vector<MPSGraphTensor*> wanted;
    for (MPSGraphTensor* operand : operands) wanted.push_back([found objectForKey:operand]);
    gradients = session.run(wanted);
  }
};

namespace check {

// For each operand, the graph's gradient along a random direction against central differences (of fourth
// order) of the graph itself, summed in double precision.
inline void report_gradients(const Build& build, const std::vector<Array>& values, double tolerance, const char* what,
                             const char* file, int line) {
  Differentiated graph(build, values);
  for (size_t k = 0; k < values.size(); ++k) {
    const Array& gradient = graph.gradients.at(k);
    report(gradient.shape == values.at(k).shape && gradient.type == values.at(k).type, what, file, line);
    if (gradient.shape != values.at(k).shape) continue;
    Array direction(values.at(k).shape);
    for (double& d : direction.values) d = (next_random() < 0.5 ? -1 : 1) * (1 + std::floor(next_random() * 16)) / 16;
    const double step = 1.0 / 64;
    double magnitude = 0;  // of the sum: its rounding is divided by the step
    auto loss_at = [&](double distance) {
      Array moved = values.at(k);
      for (size_t i = 0; i < moved.values.size(); ++i) moved.values.at(i) += distance * direction.values.at(i);
      graph.session.set(graph.operands.at(k), moved);
      const Array y = graph.session.run(graph.result);
      double total = 0;
      magnitude = 0;
      for (size_t i = 0; i < y.values.size(); ++i) {
        total += y.values.at(i) * graph.weights.values.at(i);
        magnitude += std::fabs(y.values.at(i) * graph.weights.values.at(i));
      }
      return total;
    };
    const double near = loss_at(step) - loss_at(-step), far = loss_at(2 * step) - loss_at(-2 * step);
    const double measured = (8 * near - far) / (12 * step);
    graph.session.set(graph.operands.at(k), values.at(k));
    double expected = 0, size = 0;
    for (size_t i = 0; i < direction.values.size(); ++i) {
      const double part = gradient.values.at(i) * direction.values.at(i);
      expected += part;
      size += part * part;
    }
    const double allowed = tolerance * (1e-3 + std::sqrt(size)) + 3e-7 * magnitude / step;
    const bool ok = std::fabs(measured - expected) <= allowed;
    report(ok, what, file, line);
    if (!ok) {
      std::fprintf(stderr, "  operand %zu: along a direction %.9g, by differences %.9g (size %.3g)\n", k, expected,
                   measured, std::sqrt(size));
    }
  }
}

}  // namespace check

// CHECK_GRADIENTS(build, {operands...}): every operand's gradient agrees with finite differences.
#define CHECK_GRADIENTS(build, ...) \
  check::begin(__FILE__, __LINE__), \
      check::report_gradients(build, __VA_ARGS__, 1e-3, "gradients of " #build, __FILE__, __LINE__)

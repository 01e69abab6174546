// Complex numbers and Fourier transforms: values, types and gradients against sums in double precision.

#include <complex>

#include "graph_testing.h"

#ifndef __APPLE__  // the selectors are declared by SDKs from macOS 14 on

using Number = std::complex<double>;

// A complex array by its parts.
struct Numbers {
  Array re, im;

  explicit Numbers(const Shape& shape) : re(shape), im(shape) {}
  Numbers(Array real, Array imaginary) : re(std::move(real)), im(std::move(imaginary)) {}
  Number at(const Index& i) const { return {re.at(i), im.at(i)}; }
  void set(const Index& i, Number z) {
    re.at(i) = z.real();
    im.at(i) = z.imag();
  }
};

static Numbers random_numbers(const Shape& shape) { return {random_array(shape), random_array(shape)}; }

static MPSGraphTensor* feed(Session& session, const Numbers& z) {
  return [session.graph() complexTensorWithRealTensor:session.feed(z.re) imaginaryTensor:session.feed(z.im) name:nil];
}

static void check_numbers(Session& session, MPSGraphTensor* tensor, const Numbers& expected) {
  MPSGraph* g = session.graph();
  CHECK([tensor dataType] == MPSDataTypeComplexFloat32);
  CHECK_ARRAY(session.run([g realPartOfTensor:tensor name:nil]), expected.re);
  CHECK_ARRAY(session.run([g imaginaryPartOfTensor:tensor name:nil]), expected.im);
}

// The sums over one axis, in its definition; `sign` is that of the exponent.
static Numbers transformed(const Numbers& x, size_t axis, int sign, double scale) {
  Numbers y(x.re.shape);
  const long n = x.re.shape.at(axis);
  for_each_index(x.re.shape, [&](const Index& to) {
    Number sum = 0;
    Index from = to;
    for (long k = 0; k < n; ++k) {
      from.at(axis) = k;
      sum += x.at(from) * std::polar(1.0, sign * 2 * M_PI * static_cast<double>(k * to.at(axis) % n) / n);
    }
    y.set(to, sum * scale);
  });
  return y;
}

static Array first_of(const Array& x, size_t axis, long count) {
  Shape shape = x.shape;
  shape.at(axis) = count;
  Array y(shape);
  for_each_index(shape, [&](const Index& i) { y.at(i) = x.at(i); });
  return y;
}

static Numbers first_of(const Numbers& x, size_t axis, long count) {
  return {first_of(x.re, axis, count), first_of(x.im, axis, count)};
}

static MPSGraphFFTDescriptor* descriptor(bool inverse, MPSGraphFFTScalingMode mode, bool odd = false) {
  MPSGraphFFTDescriptor* d = [MPSGraphFFTDescriptor descriptor];
  [d setInverse:inverse];
  [d setScalingMode:mode];
  [d setRoundToOddHermitean:odd];
  return d;
}

static MPSGraphTensor* axes_tensor(Session& session, const std::vector<double>& axes) {
  return constant(session.graph(), Array({static_cast<long>(axes.size())}, axes, MPSDataTypeInt32));
}

TEST(parts) {
  Session session;
  MPSGraph* g = session.graph();
  const Numbers z(Array({2, 3}, {1, -2, 3, 0.5, -0.25, 4}), Array({2, 3}, {-7, 5, 0, 2, -3, 1}));
  MPSGraphTensor* x = feed(session, z);
  CHECK([x dataType] == MPSDataTypeComplexFloat32);
  check_numbers(session, x, z);
  check_numbers(session, [g conjugateWithTensor : x name : nil], { z.re, map(z.im, [](double v) { return -v; }) });
  CHECK_ARRAY(session.run([g absoluteSquareWithTensor:x name:nil]), Array({2, 3}, {50, 29, 9, 4.25, 9.0625, 17}));
  const bool has_planar = [MPSGraph instancesRespondToSelector:@selector(planarTensorWithComplexTensor:name:)];
  if (has_planar)
    CHECK_ARRAY(session.run([g planarTensorWithComplexTensor:x name:nil]),
                Array({2, 6}, {1, -2, 3, -7, 5, 0, 0.5, -0.25, 4, 2, -3, 1}));
  // Parts that broadcast.
  const Array column({2, 1}, {3, 4}), row({3}, {5, 6, 7});
  check_numbers(session, feed(session, {column, row}),
                {Array({2, 3}, {3, 3, 3, 4, 4, 4}), Array({2, 3}, {5, 6, 7, 5, 6, 7})});
  // Of a real tensor.
  MPSGraphTensor* real = session.feed(row);
  CHECK_ARRAY(session.run([g realPartOfTensor:real name:nil]), row);
  CHECK_ARRAY(session.run([g imaginaryPartOfTensor:real name:nil]), Array({3}));
  CHECK_ARRAY(session.run([g conjugateWithTensor:real name:nil]), row);
  if (has_planar) CHECK_ARRAY(session.run([g planarTensorWithComplexTensor:real name:nil]), row);
  CHECK_ARRAY(session.run([g absoluteSquareWithTensor:real name:nil]), Array({3}, {25, 36, 49}));
}

TEST(constants) {
  Session session;
  MPSGraph* g = session.graph();
  check_numbers(session, [g constantWithRealPart : 3 imaginaryPart : -0.5],
                { Array(Shape{}, 3), Array(Shape{}, -0.5) });
  check_numbers(session, [g constantWithRealPart : 2 imaginaryPart : 7 dataType : MPSDataTypeComplexFloat32],
                { Array(Shape{}, 2), Array(Shape{}, 7) });
  check_numbers(
      session,
      [g constantWithRealPart : 1.5 imaginaryPart : -4 shape : numbers({2, 3}) dataType : MPSDataTypeComplexFloat32],
      { Array({2, 3}, 1.5), Array({2, 3}, -4) });
  CHECK([[g constantWithRealPart:1 imaginaryPart:2
                        dataType:MPSDataTypeComplexFloat16] dataType] == MPSDataTypeComplexFloat16);
  CHECK_RAISES([g constantWithRealPart:1 imaginaryPart:2 dataType:MPSDataTypeFloat32]);
  for (const Shape& shape : {Shape{-1, -1}, Shape{2, -1}, Shape{-2}}) {
    CHECK_RAISES([g constantWithRealPart:1 imaginaryPart:0 shape:numbers(shape) dataType:MPSDataTypeComplexFloat32]);
  }
}

TEST(transforms) {
  for (const long n : {1L, 2L, 6L, 15L, 67L, 134L}) {
    const Numbers x = random_numbers({2, n, 3});
    for (const bool inverse : {false, true}) {
      Session session;
      const double scales[] = {1, 1.0 / static_cast<double>(n), 1 / std::sqrt(static_cast<double>(n))};
      for (NSUInteger mode = 0; mode < 3; ++mode) {
        MPSGraphTensor* y =
            [session.graph() fastFourierTransformWithTensor:feed(session, x)
                                                       axes:numbers({-2})
                                                 descriptor:descriptor(inverse, MPSGraphFFTScalingMode(mode))
                                                       name:nil];
        check_numbers(session, y, transformed(x, 1, inverse ? 1 : -1, scales[mode]));
      }
    }
  }
  // Two axes, also by a tensor; of a real tensor.
  Session session;
  MPSGraph* g = session.graph();
  const Numbers x = random_numbers({3, 2, 5});
  const Numbers both = transformed(transformed(x, 0, 1, 1.0 / 3), 2, 1, 1.0 / 5);
  MPSGraphFFTDescriptor* back = descriptor(true, MPSGraphFFTScalingModeSize);
  check_numbers(
      session, [g fastFourierTransformWithTensor:feed(session, x) axes:numbers({2, 0}) descriptor:back name:nil], both);
  check_numbers(session,
                [g fastFourierTransformWithTensor:feed(session, x)
                                       axesTensor:axes_tensor(session, {0, -1})
                                       descriptor:[[back copy] autorelease]
                                             name:nil],
                both);
  const Numbers real(random_array({4, 7}), Array({4, 7}));
  check_numbers(session,
                [g fastFourierTransformWithTensor:session.feed(real.re)
                                             axes:numbers({1})
                                       descriptor:[MPSGraphFFTDescriptor descriptor]
                                             name:nil],
                transformed(real, 1, -1, 1));
  CHECK_RAISES([g fastFourierTransformWithTensor:feed(session, x) axes:numbers({3}) descriptor:back name:nil]);
  CHECK_RAISES([g fastFourierTransformWithTensor:feed(session, x) axes:numbers({1, 1}) descriptor:back name:nil]);
  CHECK_RAISES([g fastFourierTransformWithTensor:feed(session, x)
                                      axesTensor:placeholder(g, {1}, MPSDataTypeInt32)
                                      descriptor:back
                                            name:nil]);
}

TEST(real_transforms) {
  for (const long n : {4L, 7L}) {
    Session session;
    MPSGraph* g = session.graph();
    const Numbers x(random_array({3, n, 2}), Array({3, n, 2}));
    // Over axes 0 and 1, of which the one named last is kept in part.
    const Numbers whole = transformed(transformed(x, 0, -1, 1), 1, -1, 1);
    const Numbers half = first_of(whole, 1, n / 2 + 1);
    MPSGraphFFTDescriptor* plain = descriptor(false, MPSGraphFFTScalingModeNone);
    MPSGraphTensor* real = session.feed(x.re);
    check_numbers(session, [g realToHermiteanFFTWithTensor:real axes:numbers({0, 1}) descriptor:plain name:nil], half);
    check_numbers(session,
                  [g realToHermiteanFFTWithTensor:real
                                       axesTensor:axes_tensor(session, {1, 0})
                                       descriptor:plain
                                             name:nil],
                  first_of(whole, 0, 2));
    MPSGraphFFTDescriptor* unitary = descriptor(false, MPSGraphFFTScalingModeUnitary);
    check_numbers(session, [g realToHermiteanFFTWithTensor:real axes:numbers({-2}) descriptor:unitary name:nil],
                  first_of(transformed(x, 1, -1, 1 / std::sqrt(static_cast<double>(n))), 1, n / 2 + 1));
    // Back: what was not divided comes out as many times as large.
    MPSGraphFFTDescriptor* back = descriptor(true, MPSGraphFFTScalingModeNone, n % 2 == 1);
    const Array many = map(x.re, [n](double v) { return v * 3 * static_cast<double>(n); });
    CHECK_ARRAY(session.run([g HermiteanToRealFFTWithTensor:feed(session, half)
                                                       axes:numbers({0, 1})
                                                 descriptor:back
                                                       name:nil]),
                many);
    MPSGraphFFTDescriptor* divided = descriptor(true, MPSGraphFFTScalingModeSize, n % 2 == 1);
    CHECK_ARRAY(session.run([g HermiteanToRealFFTWithTensor:feed(session, half)
                                                 axesTensor:axes_tensor(session, {0, 1})
                                                 descriptor:divided
                                                       name:nil]),
                x.re);
  }
}

#endif

int main(int count, char** arguments) {
  if ([MPSGraph instancesRespondToSelector:NSSelectorFromString(@"realPartOfTensor:name:")]) {
    return check::run(count, arguments);
  }
  return check::summary();  // of nothing
}

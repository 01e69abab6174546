// Stencils in every mode against loops, and the gradients of sums, products and extremes.

#include "window_loops.h"

static const FourAxes kCases[] = {
    {{}, {{3, 2, 1, 1, 1, 0}, {4, 1, 2}, {5, 3, 2, 1, 0, 2}, {4, 2, 1, 2, 1, 1}}, kExplicit},
    {{2}, {{2, 1}, {3, 2, 2}, {5, 2, 1}, {4, 3, 2}}, kSame},
    {{}, {{2, 1}, {2, 1}, {6, 4}, {5, 2, 2}}, kSameLower},
    {{}, {{2, 1}, {3, 1}, {7, 3, 2}, {6, 2, 3}}, kValid},
};

// The element that a mode puts at places in and around the last four axes.
static double continued(const Array& x, Index at, MPSGraphPaddingMode mode, double constant) {
  double sign = 1;
  for (size_t axis = at.size() - 4; axis < at.size(); ++axis) {
    const long n = x.shape.at(axis);
    long& i = at.at(axis);
    if (i >= 0 && i < n) continue;
    switch (mode) {
      case MPSGraphPaddingModeZero: return 0;
      case MPSGraphPaddingModeConstant: return constant;
      case MPSGraphPaddingModeClampToEdge: i = i < 0 ? 0 : n - 1; break;
      case MPSGraphPaddingModeReflect: i = i < 0 ? -i : 2 * (n - 1) - i; break;
      case MPSGraphPaddingModeSymmetric: i = i < 0 ? -1 - i : 2 * n - 1 - i; break;
      default: i += i < 0 ? n : -n; sign = mode == MPSGraphPaddingModeAntiPeriodic ? -sign : sign;
    }
  }
  return sign * x.at(at);
}

static Array stenciled(const FourAxes& c, const Array& x, const Array& weights, MPSGraphReductionMode reduction,
                       MPSGraphPaddingMode mode, double constant) {
  const std::vector<Along> axes = c.padded();
  Array y(c.result());
  for_each_index(y.shape, [&](const Index& i) {
    bool is_first = true;
    for_each_index(weights.shape, [&](const Index& tap) {
      Index at = i;
      for (size_t k = 0; k < 4; ++k) {
        const size_t axis = c.outer.size() + k;
        at.at(axis) = axes.at(k).place(i.at(axis), tap.at(k));
      }
      const double value = continued(x, at, mode, constant) * weights.at(tap);
      double& total = y.at(i);
      if (is_first) total = value;
      else if (reduction == MPSGraphReductionModeMin) total = std::min(total, value);
      else if (reduction == MPSGraphReductionModeMax) total = std::max(total, value);
      else if (reduction == MPSGraphReductionModeSum) total += value;
      else total *= value;
      is_first = false;
    });
  });
  return y;
}

static MPSGraphStencilOpDescriptor* stencil_of(const FourAxes& c, MPSGraphReductionMode reduction,
                                               MPSGraphPaddingMode mode, float constant) {
  std::vector<long> strides, dilations, padding;
  for (const Along& axis : c.axes) {
    strides.push_back(axis.stride);
    dilations.push_back(axis.dilation);
    padding.push_back(axis.before);
    padding.push_back(axis.after);
  }
  return [MPSGraphStencilOpDescriptor descriptorWithReductionMode:reduction
                                                          offsets:numbers({0, 0, 0, 0})
                                                          strides:numbers(strides)
                                                    dilationRates:numbers(dilations)
                                                  explicitPadding:numbers(padding)
                                                     boundaryMode:mode
                                                     paddingStyle:c.style
                                                  paddingConstant:constant];
}

static void check_stencil(const FourAxes& c) {
  Shape kernel;
  for (const Along& axis : c.axes) kernel.push_back(axis.kernel);
  const Array x = distinct_array(c.source()), w = signed_array(kernel);
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphTensor *tx = session.feed(x), *tw = session.feed(w);
  const auto check = [&](MPSGraphReductionMode reduction, MPSGraphPaddingMode mode) {
    MPSGraphStencilOpDescriptor* d = stencil_of(c, reduction, mode, 1.5F);
    CHECK_ARRAY(session.run([g stencilWithSourceTensor:tx weightsTensor:tw descriptor:d name:nil]),
                stenciled(c, x, w, reduction, mode, 1.5));
  };
  for (auto reduction : {MPSGraphReductionModeMin, MPSGraphReductionModeMax, MPSGraphReductionModeProduct}) {
    check(reduction, MPSGraphPaddingModeConstant);
  }
  for (auto mode : {MPSGraphPaddingModeConstant, MPSGraphPaddingModeReflect, MPSGraphPaddingModeSymmetric,
                    MPSGraphPaddingModeClampToEdge, MPSGraphPaddingModeZero}) {
    check(MPSGraphReductionModeSum, mode);
  }
#ifndef __APPLE__  // which refuses to pad so
  check(MPSGraphReductionModeSum, MPSGraphPaddingModePeriodic);
  check(MPSGraphReductionModeSum, MPSGraphPaddingModeAntiPeriodic);
#endif
}

TEST(stencils_in_every_mode) {
  for (const FourAxes& c : kCases) check_stencil(c);
}

TEST(stencils_of_all_kinds) {
  const FourAxes& c = kCases[0];
  const Array x = eighths(random_array(c.source())), w = eighths(signed_array({2, 1, 3, 2}));
  const auto made_by = [](MPSGraphStencilOpDescriptor* d) -> Build {
    return [=](MPSGraph* g, const std::vector<MPSGraphTensor*>& t) {
      return [g stencilWithSourceTensor:t.at(0) weightsTensor:t.at(1) descriptor:d name:nil];
    };
  };
  const Build sum = made_by(stencil_of(c, MPSGraphReductionModeSum, MPSGraphPaddingModeReflect, 0)),
              product = made_by(stencil_of(c, MPSGraphReductionModeProduct, MPSGraphPaddingModeConstant, 1));
  MPSGraphStencilOpDescriptor* greatest = stencil_of(c, MPSGraphReductionModeMax, MPSGraphPaddingModeZero, 0);
  CHECK_HALVES(sum, {x, w}, stenciled(c, x, w, MPSGraphReductionModeSum, MPSGraphPaddingModeReflect, 0));
  CHECK_GRADIENTS(sum, {x, w});
  CHECK_GRADIENTS(product, {signed_array(x.shape, 0.75, 1.25), signed_array(w.shape, 0.75, 1.25)});
  CHECK_GRADIENTS(
      [&](MPSGraph* g, const std::vector<MPSGraphTensor*>& t) {
        return [g stencilWithSourceTensor:t.at(0) weightsTensor:constant(g, w) descriptor:greatest name:nil];
      },
      {distinct_array(x.shape)});
  Session session;
  MPSGraphStencilOpDescriptor* d =
      [MPSGraphStencilOpDescriptor descriptorWithPaddingStyle:MPSGraphPaddingStyleTF_VALID];
  CHECK_ARRAY(session.run([session.graph() stencilWithSourceTensor:session.feed(Array({1, 1, 1, 3}, {2, 3, 5}))
                                                     weightsTensor:session.feed(Array({1, 1, 1, 2}, {10, 1}))
                                                        descriptor:d
                                                              name:@"differences"]),
              Array({1, 1, 1, 2}, {23, 35}));
}

#ifndef __APPLE__
// What is wrong, and what no document says.
TEST(stencils_that_are_refused) {
  MPSGraphStencilOpDescriptor* d = [[MPSGraphStencilOpDescriptor new] autorelease];
  CHECK_RAISES([d setStrides:numbers({1, 1, 1})]);
  CHECK_RAISES([d setStrides:numbers({1, 1, 0, 1})]);
  CHECK_RAISES([d setExplicitPadding:numbers({1, 1, 1, 1})]);
  CHECK_RAISES([d setReductionMode:static_cast<MPSGraphReductionMode>(9)]);
  CHECK_RAISES([d setBoundaryMode:static_cast<MPSGraphPaddingMode>(-1)]);
  CHECK_RAISES([d setPaddingStyle:static_cast<MPSGraphPaddingStyle>(9)]);
  Session session;
  const auto refused = [&](const Array& source, const Array& weights) {
    MPSGraphTensor *x = session.feed(source), *w = session.feed(weights);
    CHECK_RAISES([session.graph() stencilWithSourceTensor:x weightsTensor:w descriptor:d name:nil]);
  };
  const Array image = random_array({1, 1, 4, 4}), window = random_array({1, 1, 2, 2});
  refused(random_array({4, 4}), window);
  refused(image, random_array({2, 2}));
  refused(image, random_array({1, 1, 9, 9}));
  refused(image, random_integers({1, 1, 2, 2}, 1, 2));
  [d setBoundaryMode:MPSGraphPaddingModeReflect];
  [d setExplicitPadding:numbers({0, 0, 0, 0, 4, 4, 4, 4})];
  refused(image, window);  // cannot be mirrored so far
  [d setExplicitPadding:numbers({0, 0, 0, 0, 0, 0, 0, 0})];
  [d setReductionMode:MPSGraphReductionModeArgumentMax];
  refused(image, window);
  [d setReductionMode:MPSGraphReductionModeSum];
  [d setPaddingStyle:MPSGraphPaddingStyleExplicitOffset];
  refused(image, window);
}
#endif

int main(int count, char** arguments) { return check::run(count, arguments); }

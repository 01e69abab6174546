// The greatest and the least elements along an axis.

#include "facade/graph/build.h"

using namespace alloy;
using namespace alloy::facade;
namespace ir = alloy::ir;
using ir::Attr;

namespace {

ir::Attributes attributes(NSInteger axis, NSUInteger k, bool greatest) {
  return {{Attr::kAxis, int64_t{axis}}, {Attr::kCount, static_cast<int64_t>(k)}, {Attr::kDescending, greatest}};
}

}  // namespace

// The methods for the greatest or the least elements along a given axis.
#define TOP_K(selector, greatest)                                                                                 \
  METHOD(NSArray<MPSGraphTensor*>*, takes(selector), takes(axis, NSInteger), takes(k, NSUInteger), takes(name)) { \
    return add_all(self, ir::Composite::top_k, {value_of(self, selector)}, attributes(axis, k, greatest), name);  \
  }                                                                                                               \
  FORWARD(NSArray<MPSGraphTensor*>*, passes(selector), takes(axisTensor),                                         \
          sends(axis, number_in(self, axisTensor, "top_k", "an axis")), takes(kTensor),                           \
          sends(k, number_in(self, kTensor, "top_k", "a count")), passes(name))
#define TOP_K_GRADIENT(selector, greatest)                                                                             \
  METHOD(MPSGraphTensor*, takes(selector), takes(source), takes(axis, NSInteger), takes(k, NSUInteger), takes(name)) { \
    return add(self, ir::Composite::top_k_gradient, {value_of(self, selector), value_of(self, source)},                \
               attributes(axis, k, greatest), name);                                                                   \
  }                                                                                                                    \
  FORWARD(MPSGraphTensor*, passes(selector), passes(source), takes(axisTensor),                                        \
          sends(axis, number_in(self, axisTensor, "top_k", "an axis")), takes(kTensor),                                \
          sends(k, number_in(self, kTensor, "top_k", "a count")), passes(name))

@implementation MPSGraph (MPSGraphTopKOps)

// These do not send the methods with an axis, which older systems lack.
- (NSArray<MPSGraphTensor*>*)topKWithSourceTensor:(MPSGraphTensor*)source k:(NSUInteger)k name:(NSString*)name {
  return add_all(self, ir::Composite::top_k, {value_of(self, source)}, attributes(-1, k, true), name);
}
FORWARD(NSArray<MPSGraphTensor*>*, passes(topKWithSourceTensor), takes(kTensor),
        sends(k, number_in(self, kTensor, "top_k", "a count")), passes(name))

TOP_K(topKWithSourceTensor, true)
TOP_K(bottomKWithSourceTensor, false)

@end

@implementation MPSGraph (MPSGraphTopKGradientOps)

- (MPSGraphTensor*)topKWithGradientTensor:(MPSGraphTensor*)gradient
                                   source:(MPSGraphTensor*)source
                                        k:(NSUInteger)k
                                     name:(NSString*)name {
  return add(self, ir::Composite::top_k_gradient, {value_of(self, gradient), value_of(self, source)},
             attributes(-1, k, true), name);
}
FORWARD(MPSGraphTensor*, passes(topKWithGradientTensor), passes(source), takes(kTensor),
        sends(k, number_in(self, kTensor, "top_k", "a count")), passes(name))

TOP_K_GRADIENT(topKWithGradientTensor, true)
TOP_K_GRADIENT(bottomKWithGradientTensor, false)

@end

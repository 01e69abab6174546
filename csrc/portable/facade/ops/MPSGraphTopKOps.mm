// The greatest and the least elements along an axis.

#include "facade/graph/build.h"

using namespace alloy;
using namespace alloy::facade;
namespace ir = alloy::ir;
using ir::Attr;

namespace {

ir::Attributes attributes(int64_t axis, int64_t k, bool greatest) {
  return {{Attr::kAxis, axis}, {Attr::kCount, k}, {Attr::kDescending, greatest}};
}

}  // namespace

@implementation MPSGraph (MPSGraphTopKOps)

- (NSArray<MPSGraphTensor*>*)topKWithSourceTensor:(MPSGraphTensor*)source k:(NSUInteger)k name:(NSString*)name {
  return add_all(self, ir::Composite::top_k, {value_of(self, source)}, attributes(-1, static_cast<int64_t>(k), true),
                 name);
}

- (NSArray<MPSGraphTensor*>*)topKWithSourceTensor:(MPSGraphTensor*)source
                                          kTensor:(MPSGraphTensor*)kTensor
                                             name:(NSString*)name {
  return add_all(self, ir::Composite::top_k, {value_of(self, source)},
                 attributes(-1, number_in(self, kTensor, "top_k", "a count"), true), name);
}

- (NSArray<MPSGraphTensor*>*)topKWithSourceTensor:(MPSGraphTensor*)source
                                             axis:(NSInteger)axis
                                                k:(NSUInteger)k
                                             name:(NSString*)name {
  return add_all(self, ir::Composite::top_k, {value_of(self, source)}, attributes(axis, static_cast<int64_t>(k), true),
                 name);
}

- (NSArray<MPSGraphTensor*>*)topKWithSourceTensor:(MPSGraphTensor*)source
                                       axisTensor:(MPSGraphTensor*)axisTensor
                                          kTensor:(MPSGraphTensor*)kTensor
                                             name:(NSString*)name {
  return add_all(
      self, ir::Composite::top_k, {value_of(self, source)},
      attributes(number_in(self, axisTensor, "top_k", "an axis"), number_in(self, kTensor, "top_k", "a count"), true),
      name);
}

- (NSArray<MPSGraphTensor*>*)bottomKWithSourceTensor:(MPSGraphTensor*)source
                                                axis:(NSInteger)axis
                                                   k:(NSUInteger)k
                                                name:(NSString*)name {
  return add_all(self, ir::Composite::top_k, {value_of(self, source)}, attributes(axis, static_cast<int64_t>(k), false),
                 name);
}

- (NSArray<MPSGraphTensor*>*)bottomKWithSourceTensor:(MPSGraphTensor*)source
                                          axisTensor:(MPSGraphTensor*)axisTensor
                                             kTensor:(MPSGraphTensor*)kTensor
                                                name:(NSString*)name {
  return add_all(
      self, ir::Composite::top_k, {value_of(self, source)},
      attributes(number_in(self, axisTensor, "top_k", "an axis"), number_in(self, kTensor, "top_k", "a count"), false),
      name);
}

@end

@implementation MPSGraph (MPSGraphTopKGradientOps)

- (MPSGraphTensor*)topKWithGradientTensor:(MPSGraphTensor*)gradient
                                   source:(MPSGraphTensor*)source
                                        k:(NSUInteger)k
                                     name:(NSString*)name {
  return add(self, ir::Composite::top_k_gradient, {value_of(self, gradient), value_of(self, source)},
             attributes(-1, static_cast<int64_t>(k), true), name);
}

- (MPSGraphTensor*)topKWithGradientTensor:(MPSGraphTensor*)gradient
                                   source:(MPSGraphTensor*)source
                                  kTensor:(MPSGraphTensor*)kTensor
                                     name:(NSString*)name {
  return add(self, ir::Composite::top_k_gradient, {value_of(self, gradient), value_of(self, source)},
             attributes(-1, number_in(self, kTensor, "top_k", "a count"), true), name);
}

- (MPSGraphTensor*)topKWithGradientTensor:(MPSGraphTensor*)gradient
                                   source:(MPSGraphTensor*)source
                                     axis:(NSInteger)axis
                                        k:(NSUInteger)k
                                     name:(NSString*)name {
  return add(self, ir::Composite::top_k_gradient, {value_of(self, gradient), value_of(self, source)},
             attributes(axis, static_cast<int64_t>(k), true), name);
}

- (MPSGraphTensor*)topKWithGradientTensor:(MPSGraphTensor*)gradient
                                   source:(MPSGraphTensor*)source
                               axisTensor:(MPSGraphTensor*)axisTensor
                                  kTensor:(MPSGraphTensor*)kTensor
                                     name:(NSString*)name {
  return add(
      self, ir::Composite::top_k_gradient, {value_of(self, gradient), value_of(self, source)},
      attributes(number_in(self, axisTensor, "top_k", "an axis"), number_in(self, kTensor, "top_k", "a count"), true),
      name);
}

- (MPSGraphTensor*)bottomKWithGradientTensor:(MPSGraphTensor*)gradient
                                      source:(MPSGraphTensor*)source
                                        axis:(NSInteger)axis
                                           k:(NSUInteger)k
                                        name:(NSString*)name {
  return add(self, ir::Composite::top_k_gradient, {value_of(self, gradient), value_of(self, source)},
             attributes(axis, static_cast<int64_t>(k), false), name);
}

- (MPSGraphTensor*)bottomKWithGradientTensor:(MPSGraphTensor*)gradient
                                      source:(MPSGraphTensor*)source
                                  axisTensor:(MPSGraphTensor*)axisTensor
                                     kTensor:(MPSGraphTensor*)kTensor
                                        name:(NSString*)name {
  return add(
      self, ir::Composite::top_k_gradient, {value_of(self, gradient), value_of(self, source)},
      attributes(number_in(self, axisTensor, "top_k", "an axis"), number_in(self, kTensor, "top_k", "a count"), false),
      name);
}

@end

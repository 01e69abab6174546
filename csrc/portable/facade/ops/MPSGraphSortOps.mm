// The order of elements along an axis.

#include "facade/graph/build.h"

using namespace alloy;
using namespace alloy::facade;
namespace ir = alloy::ir;
using ir::Attr;
using ir::OpCode;

namespace {

MPSGraphTensor* sorted(MPSGraph* self, MPSGraphTensor* tensor, int64_t axis, bool descending, NSString* name) {
  return add(self, ir::Composite::sort, {value_of(self, tensor)},
             {{Attr::kAxis, axis}, {Attr::kDescending, descending}}, name);
}

MPSGraphTensor* order(MPSGraph* self, MPSGraphTensor* tensor, int64_t axis, bool descending, NSString* name) {
  return add(self, OpCode::argsort, {value_of(self, tensor)},
             {{Attr::kAxis, axis}, {Attr::kCount, int64_t{-1}}, {Attr::kDescending, descending}}, name);
}

}  // namespace

@implementation MPSGraph (MPSGraphSortOps)

- (MPSGraphTensor*)sortWithTensor:(MPSGraphTensor*)tensor
                             axis:(NSInteger)axis
                       descending:(BOOL)descending
                             name:(NSString*)name {
  return sorted(self, tensor, axis, descending != NO, name);
}

- (MPSGraphTensor*)sortWithTensor:(MPSGraphTensor*)tensor axis:(NSInteger)axis name:(NSString*)name {
  return sorted(self, tensor, axis, false, name);
}

- (MPSGraphTensor*)sortWithTensor:(MPSGraphTensor*)tensor
                       axisTensor:(MPSGraphTensor*)axisTensor
                       descending:(BOOL)descending
                             name:(NSString*)name {
  return sorted(self, tensor, number_in(self, axisTensor, "sort", "an axis"), descending != NO, name);
}

- (MPSGraphTensor*)sortWithTensor:(MPSGraphTensor*)tensor axisTensor:(MPSGraphTensor*)axisTensor name:(NSString*)name {
  return sorted(self, tensor, number_in(self, axisTensor, "sort", "an axis"), false, name);
}

- (MPSGraphTensor*)argSortWithTensor:(MPSGraphTensor*)tensor
                                axis:(NSInteger)axis
                          descending:(BOOL)descending
                                name:(NSString*)name {
  return order(self, tensor, axis, descending != NO, name);
}

- (MPSGraphTensor*)argSortWithTensor:(MPSGraphTensor*)tensor axis:(NSInteger)axis name:(NSString*)name {
  return order(self, tensor, axis, false, name);
}

- (MPSGraphTensor*)argSortWithTensor:(MPSGraphTensor*)tensor
                          axisTensor:(MPSGraphTensor*)axisTensor
                          descending:(BOOL)descending
                                name:(NSString*)name {
  return order(self, tensor, number_in(self, axisTensor, "argsort", "an axis"), descending != NO, name);
}

- (MPSGraphTensor*)argSortWithTensor:(MPSGraphTensor*)tensor
                          axisTensor:(MPSGraphTensor*)axisTensor
                                name:(NSString*)name {
  return order(self, tensor, number_in(self, axisTensor, "argsort", "an axis"), false, name);
}

@end

// Parts of matrices.

#include "facade/graph/build.h"

using namespace alloy;
using namespace alloy::facade;
namespace ir = alloy::ir;
using ir::Attr;

@implementation MPSGraph (MPSGraphLinearAlgebraOps)

- (MPSGraphTensor*)bandPartWithTensor:(MPSGraphTensor*)tensor
                             numLower:(NSInteger)numLower
                             numUpper:(NSInteger)numUpper
                                 name:(NSString*)name {
  return add(self, ir::Composite::band_part, {value_of(self, tensor)},
             {{Attr::kLower, int64_t{numLower}}, {Attr::kUpper, int64_t{numUpper}}}, name);
}

- (MPSGraphTensor*)bandPartWithTensor:(MPSGraphTensor*)tensor
                       numLowerTensor:(MPSGraphTensor*)numLowerTensor
                       numUpperTensor:(MPSGraphTensor*)numUpperTensor
                                 name:(NSString*)name {
  return [self bandPartWithTensor:tensor
                         numLower:number_in(self, numLowerTensor, "band_part", "the diagonals below")
                         numUpper:number_in(self, numUpperTensor, "band_part", "the diagonals above")
                             name:name];
}

@end

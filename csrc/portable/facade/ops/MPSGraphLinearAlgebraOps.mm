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

FORWARD(MPSGraphTensor*, passes(bandPartWithTensor), takes(numLowerTensor),
        sends(numLower, number_in(self, numLowerTensor, "band_part", "the diagonals below")), takes(numUpperTensor),
        sends(numUpper, number_in(self, numUpperTensor, "band_part", "the diagonals above")), passes(name))

@end

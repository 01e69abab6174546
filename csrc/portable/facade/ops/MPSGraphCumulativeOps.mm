// Cumulative ops.

#include "facade/graph/build.h"

using namespace alloy;
using namespace alloy::facade;
namespace ir = alloy::ir;
using ir::Attr;

namespace {

MPSGraphTensor* cumulative(MPSGraph* self, MPSGraphTensor* tensor, const char* operation, NSInteger axis,
                           BOOL exclusive, BOOL reverse, NSString* name) {
  return add(self, ir::Composite::cumulative, {value_of(self, tensor)},
             {{Attr::kAxis, int64_t{axis}},
              {Attr::kOperation, std::string(operation)},
              {Attr::kExclusive, exclusive != NO},
              {Attr::kReverse, reverse != NO}},
             name);
}

}  // namespace

// The methods of one cumulative op.
#define CUMULATIVE(selector, operation)                                                                          \
  METHOD(MPSGraphTensor*, takes(selector), takes(axis, NSInteger), takes(exclusive, BOOL), takes(reverse, BOOL), \
         takes(name)) {                                                                                          \
    return cumulative(self, selector, operation, axis, exclusive, reverse, name);                                \
  }                                                                                                              \
  FORWARD(MPSGraphTensor*, passes(selector), passes(axis, NSInteger), sends(exclusive, NO), sends(reverse, NO),  \
          passes(name))                                                                                          \
  FORWARD(MPSGraphTensor*, passes(selector), takes(axisTensor),                                                  \
          sends(axis, number_in(self, axisTensor, "cumulative", "an axis")), passes(exclusive, BOOL),            \
          passes(reverse, BOOL), passes(name))                                                                   \
  FORWARD(MPSGraphTensor*, passes(selector), passes(axisTensor), sends(exclusive, NO), sends(reverse, NO), passes(name))

@implementation MPSGraph (MPSGraphCumulativeOps)

CUMULATIVE(cumulativeSumWithTensor, "sum")
CUMULATIVE(cumulativeProductWithTensor, "product")
CUMULATIVE(cumulativeMinimumWithTensor, "minimum")
CUMULATIVE(cumulativeMaximumWithTensor, "maximum")

@end

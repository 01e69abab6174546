// Sorting along an axis.

#include "facade/graph/build.h"

using namespace alloy;
using namespace alloy::facade;
namespace ir = alloy::ir;
using ir::Attr;
using ir::OpCode;

namespace {

MPSGraphTensor* sort(MPSGraph* self, MPSGraphTensor* tensor, int64_t axis, bool descending, NSString* name) {
  return add(self, ir::Composite::sort, {value_of(self, tensor)},
             {{Attr::kAxis, axis}, {Attr::kDescending, descending}}, name);
}

MPSGraphTensor* argsort(MPSGraph* self, MPSGraphTensor* tensor, int64_t axis, bool descending, NSString* name) {
  return add(self, OpCode::argsort, {value_of(self, tensor)},
             {{Attr::kAxis, axis}, {Attr::kCount, int64_t{-1}}, {Attr::kDescending, descending}}, name);
}

}  // namespace

// The methods of sort or argsort.
#define SORT(selector, work)                                                                                  \
  METHOD(MPSGraphTensor*, takes(selector), takes(axis, NSInteger), takes(descending, BOOL), takes(name)) {    \
    return work(self, selector, axis, descending != NO, name);                                                \
  }                                                                                                           \
  FORWARD(MPSGraphTensor*, passes(selector), passes(axis, NSInteger), sends(descending, NO), passes(name))    \
  FORWARD(MPSGraphTensor*, passes(selector), takes(axisTensor),                                               \
          sends(axis, number_in(self, axisTensor, #work, "an axis")), passes(descending, BOOL), passes(name)) \
  FORWARD(MPSGraphTensor*, passes(selector), passes(axisTensor), sends(descending, NO), passes(name))

@implementation MPSGraph (MPSGraphSortOps)

SORT(sortWithTensor, sort)
SORT(argSortWithTensor, argsort)

@end

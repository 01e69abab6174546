// Running totals.

#include "facade/graph/build.h"

using namespace alloy;
using namespace alloy::facade;
namespace ir = alloy::ir;
using ir::Attr;

namespace {

struct Flags {
  bool exclusive = false, reverse = false;
};

MPSGraphTensor* cumulative(MPSGraph* self, MPSGraphTensor* tensor, const char* operation, int64_t axis, Flags flags,
                           NSString* name) {
  return add(self, ir::Composite::cumulative, {value_of(self, tensor)},
             {{Attr::kAxis, axis},
              {Attr::kOperation, std::string(operation)},
              {Attr::kExclusive, flags.exclusive},
              {Attr::kReverse, flags.reverse}},
             name);
}

}  // namespace

@implementation MPSGraph (MPSGraphCumulativeOps)

- (MPSGraphTensor*)cumulativeSumWithTensor:(MPSGraphTensor*)tensor
                                      axis:(NSInteger)axis
                                 exclusive:(BOOL)exclusive
                                   reverse:(BOOL)reverse
                                      name:(NSString*)name {
  return cumulative(self, tensor, "sum", axis, {exclusive != NO, reverse != NO}, name);
}

- (MPSGraphTensor*)cumulativeSumWithTensor:(MPSGraphTensor*)tensor axis:(NSInteger)axis name:(NSString*)name {
  return cumulative(self, tensor, "sum", axis, {}, name);
}

- (MPSGraphTensor*)cumulativeSumWithTensor:(MPSGraphTensor*)tensor
                                axisTensor:(MPSGraphTensor*)axisTensor
                                 exclusive:(BOOL)exclusive
                                   reverse:(BOOL)reverse
                                      name:(NSString*)name {
  return cumulative(self, tensor, "sum", number_in(self, axisTensor, "cumulative", "an axis"),
                    {exclusive != NO, reverse != NO}, name);
}

- (MPSGraphTensor*)cumulativeSumWithTensor:(MPSGraphTensor*)tensor
                                axisTensor:(MPSGraphTensor*)axisTensor
                                      name:(NSString*)name {
  return cumulative(self, tensor, "sum", number_in(self, axisTensor, "cumulative", "an axis"), {}, name);
}

- (MPSGraphTensor*)cumulativeProductWithTensor:(MPSGraphTensor*)tensor
                                          axis:(NSInteger)axis
                                     exclusive:(BOOL)exclusive
                                       reverse:(BOOL)reverse
                                          name:(NSString*)name {
  return cumulative(self, tensor, "product", axis, {exclusive != NO, reverse != NO}, name);
}

- (MPSGraphTensor*)cumulativeProductWithTensor:(MPSGraphTensor*)tensor axis:(NSInteger)axis name:(NSString*)name {
  return cumulative(self, tensor, "product", axis, {}, name);
}

- (MPSGraphTensor*)cumulativeProductWithTensor:(MPSGraphTensor*)tensor
                                    axisTensor:(MPSGraphTensor*)axisTensor
                                     exclusive:(BOOL)exclusive
                                       reverse:(BOOL)reverse
                                          name:(NSString*)name {
  return cumulative(self, tensor, "product", number_in(self, axisTensor, "cumulative", "an axis"),
                    {exclusive != NO, reverse != NO}, name);
}

- (MPSGraphTensor*)cumulativeProductWithTensor:(MPSGraphTensor*)tensor
                                    axisTensor:(MPSGraphTensor*)axisTensor
                                          name:(NSString*)name {
  return cumulative(self, tensor, "product", number_in(self, axisTensor, "cumulative", "an axis"), {}, name);
}

- (MPSGraphTensor*)cumulativeMinimumWithTensor:(MPSGraphTensor*)tensor
                                          axis:(NSInteger)axis
                                     exclusive:(BOOL)exclusive
                                       reverse:(BOOL)reverse
                                          name:(NSString*)name {
  return cumulative(self, tensor, "minimum", axis, {exclusive != NO, reverse != NO}, name);
}

- (MPSGraphTensor*)cumulativeMinimumWithTensor:(MPSGraphTensor*)tensor axis:(NSInteger)axis name:(NSString*)name {
  return cumulative(self, tensor, "minimum", axis, {}, name);
}

- (MPSGraphTensor*)cumulativeMinimumWithTensor:(MPSGraphTensor*)tensor
                                    axisTensor:(MPSGraphTensor*)axisTensor
                                     exclusive:(BOOL)exclusive
                                       reverse:(BOOL)reverse
                                          name:(NSString*)name {
  return cumulative(self, tensor, "minimum", number_in(self, axisTensor, "cumulative", "an axis"),
                    {exclusive != NO, reverse != NO}, name);
}

- (MPSGraphTensor*)cumulativeMinimumWithTensor:(MPSGraphTensor*)tensor
                                    axisTensor:(MPSGraphTensor*)axisTensor
                                          name:(NSString*)name {
  return cumulative(self, tensor, "minimum", number_in(self, axisTensor, "cumulative", "an axis"), {}, name);
}

- (MPSGraphTensor*)cumulativeMaximumWithTensor:(MPSGraphTensor*)tensor
                                          axis:(NSInteger)axis
                                     exclusive:(BOOL)exclusive
                                       reverse:(BOOL)reverse
                                          name:(NSString*)name {
  return cumulative(self, tensor, "maximum", axis, {exclusive != NO, reverse != NO}, name);
}

- (MPSGraphTensor*)cumulativeMaximumWithTensor:(MPSGraphTensor*)tensor axis:(NSInteger)axis name:(NSString*)name {
  return cumulative(self, tensor, "maximum", axis, {}, name);
}

- (MPSGraphTensor*)cumulativeMaximumWithTensor:(MPSGraphTensor*)tensor
                                    axisTensor:(MPSGraphTensor*)axisTensor
                                     exclusive:(BOOL)exclusive
                                       reverse:(BOOL)reverse
                                          name:(NSString*)name {
  return cumulative(self, tensor, "maximum", number_in(self, axisTensor, "cumulative", "an axis"),
                    {exclusive != NO, reverse != NO}, name);
}

- (MPSGraphTensor*)cumulativeMaximumWithTensor:(MPSGraphTensor*)tensor
                                    axisTensor:(MPSGraphTensor*)axisTensor
                                          name:(NSString*)name {
  return cumulative(self, tensor, "maximum", number_in(self, axisTensor, "cumulative", "an axis"), {}, name);
}

@end

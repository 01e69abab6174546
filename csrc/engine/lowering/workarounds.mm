#import "engine/lowering/workarounds.h"

#include <algorithm>
#include <cmath>

#import "engine/mps_types.h"

namespace alloy::engine {
namespace {

using ir::Dims;

int64_t count(const Dims& dims) { return ir::Shape(dims).element_count(); }

MPSGraphTensor* reshape(MPSGraph* graph, MPSGraphTensor* x, const Dims& dims, NSString* name = nil) {
  return [graph reshapeTensor:x withShape:mps_numbers(dims) name:name];
}

MPSGraphTensor* number(MPSGraph* graph, double value, ir::DType dtype) {
  return [graph constantWithScalar:value dataType:mps_type(dtype)];
}

// Divides `extent` into lengths of at most `most`, as equal as possible.
Dims pieces(int64_t extent, int64_t most) {
  const int64_t parts = (extent + most - 1) / most;
  Dims lengths;
  for (int64_t i = 0, start = 0; i < parts; ++i) {
    const int64_t end = extent * (i + 1) / parts;
    lengths.push_back(end - start);
    start = end;
  }
  return lengths;
}

}  // namespace

Shaped slice_along(MPSGraph* graph, const Shaped& x, int64_t axis, int64_t start, int64_t length) {
  Shaped out{nil, x.dims};
  out.dims[axis] = length;
  out.tensor = [graph sliceTensor:x.tensor dimension:static_cast<NSUInteger>(axis) start:start length:length name:nil];
  return out;
}

MPSGraphTensor* reduced_flat(MPSGraph* graph, const Shaped& x, const Dims& axes, const Reduction& reduction,
                             NSString* name) {
  Dims result = x.dims;
  for (int64_t axis : axes) result[axis] = 1;
  const int64_t reduced = count(x.dims) / count(result);
  if (axes.back() - axes.front() + 1 == axes.size()) {
    const int64_t before = count(Dims(x.dims.begin(), x.dims.begin() + axes.front()));
    MPSGraphTensor* flat = reshape(graph, x.tensor, {before, reduced, count(result) / before});
    return reshape(graph, reduction(flat, @[ [NSNumber numberWithInt:1] ], nil), result, name);
  }
  Dims order;
  for (int64_t i = 0; i < x.dims.size(); ++i) {
    if (!std::binary_search(axes.begin(), axes.end(), i)) order.push_back(i);
  }
  order.insert(order.end(), axes.begin(), axes.end());
  MPSGraphTensor* moved = [graph transposeTensor:x.tensor permutation:mps_numbers(order) name:nil];
  return reshape(graph,
                 reduction(reshape(graph, moved, {count(result), reduced}), @[ [NSNumber numberWithInt:1] ], nil),
                 result, name);
}

Shaped flat_operand(MPSGraph* graph, const Shaped& x, const Dims& batch) {
  const auto matrix = x.dims.end() - 2;
  const Dims own(x.dims.begin(), matrix);
  if (count(own) == 1) return {reshape(graph, x.tensor, {matrix[0], matrix[1]}), {matrix[0], matrix[1]}};
  MPSGraphTensor* whole = x.tensor;
  if (own != batch) {
    Dims full = batch;
    full.insert(full.end(), matrix, x.dims.end());
    whole = [graph broadcastTensor:whole toShape:mps_numbers(full) name:nil];
  }
  const Dims flat{count(batch), matrix[0], matrix[1]};
  return {reshape(graph, whole, flat), flat};
}

MPSGraphTensor* product_in_pieces(MPSGraph* graph, const Shaped& a, const Shaped& b, int64_t inner, int64_t outer,
                                  NSString* name) {
  const auto rank_a = a.dims.size(), rank_b = b.dims.size();
  const int64_t rows = a.dims[a.dims.size() - 2], along = a.dims.back(), columns = b.dims.back();
  // Rows or columns that are too long are cut into parts whose products lie side by side, a long inner extent into
  // terms of a sum.
  int64_t start = 0;
  if (along > inner) {
    MPSGraphTensor* sum = nil;
    for (int64_t length : pieces(along, inner)) {
      MPSGraphTensor* term = product_in_pieces(graph, slice_along(graph, a, rank_a - 1, start, length),
                                               slice_along(graph, b, rank_b - 2, start, length), inner, outer, nil);
      sum = sum == nil ? term : [graph additionWithPrimaryTensor:sum secondaryTensor:term name:nil];
      start += length;
    }
    return [graph identityWithTensor:sum name:name];
  }
  if (rows > outer || columns > outer) {
    const bool by_rows = rows > outer;
    NSMutableArray* parts = [NSMutableArray array];
    for (int64_t length : pieces(by_rows ? rows : columns, outer)) {
      [parts addObject:by_rows ? product_in_pieces(graph, slice_along(graph, a, rank_a - 2, start, length), b, inner,
                                                   outer, nil)
                               : product_in_pieces(graph, a, slice_along(graph, b, rank_b - 1, start, length), inner,
                                                   outer, nil)];
      start += length;
    }
    return [graph concatTensors:parts dimension:by_rows ? -2 : -1 name:name];
  }
  return [graph matrixMultiplicationWithPrimaryTensor:a.tensor secondaryTensor:b.tensor name:name];
}

MPSGraphTensor* exact_quotient(MPSGraph* graph, MPSGraphTensor* a, MPSGraphTensor* b, ir::DType dtype, NSString* name) {
  const auto divide = [&](MPSGraphTensor* x) { return [graph divisionWithPrimaryTensor:x secondaryTensor:b name:nil]; };
  const auto rest = [&](MPSGraphTensor* q) {
    return [graph subtractionWithPrimaryTensor:a
                               secondaryTensor:[graph multiplicationWithPrimaryTensor:q secondaryTensor:b name:nil]
                                          name:nil];
  };
  const auto add = [&](MPSGraphTensor* x, MPSGraphTensor* y) {
    return [graph additionWithPrimaryTensor:x secondaryTensor:y name:nil];
  };
  MPSGraphTensor* zero = number(graph, 0, dtype);
  const auto is_negative = [&](MPSGraphTensor* x) {
    return [graph lessThanWithPrimaryTensor:x secondaryTensor:zero name:nil];
  };
  const auto magnitude = [&](MPSGraphTensor* x) {
    return [graph selectWithPredicateTensor:is_negative(x)
                        truePredicateTensor:[graph negativeWithTensor:x name:nil]
                       falsePredicateTensor:x
                                       name:nil];
  };
  // A quotient computed in float32 has a relative error of 2^-23; each turn divides the rest and adds that quotient.
  MPSGraphTensor* q = divide(a);
  for (size_t turn = 0; turn < ir::size_of(dtype) / 2 - 1; ++turn) q = add(q, divide(rest(q)));
  // Now the quotient is at most one too large or too small.
  MPSGraphTensor* left = rest(q);
  MPSGraphTensor* one = [graph selectWithPredicateTensor:[graph equalWithPrimaryTensor:is_negative(a)
                                                                       secondaryTensor:is_negative(b)
                                                                                  name:nil]
                                     truePredicateTensor:number(graph, 1, dtype)
                                    falsePredicateTensor:number(graph, -1, dtype)
                                                    name:nil];
  MPSGraphTensor* short_of = [graph greaterThanOrEqualToWithPrimaryTensor:magnitude(left)
                                                          secondaryTensor:magnitude(b)
                                                                     name:nil];
  MPSGraphTensor* closer = [graph selectWithPredicateTensor:short_of
                                        truePredicateTensor:add(q, one)
                                       falsePredicateTensor:q
                                                       name:nil];
  MPSGraphTensor* has_rest = [graph notEqualWithPrimaryTensor:left secondaryTensor:zero name:nil];
  MPSGraphTensor* beyond = [graph notEqualWithPrimaryTensor:is_negative(left) secondaryTensor:is_negative(a) name:nil];
  MPSGraphTensor* back = [graph subtractionWithPrimaryTensor:q secondaryTensor:one name:nil];
  MPSGraphTensor* stays = [graph selectWithPredicateTensor:has_rest
                                       truePredicateTensor:back
                                      falsePredicateTensor:q
                                                      name:nil];
  return [graph selectWithPredicateTensor:beyond truePredicateTensor:stays falsePredicateTensor:closer name:name];
}

MPSGraphTensor* as_type(MPSGraph* graph, MPSGraphTensor* x, ir::DType from, ir::DType to, NSString* name) {
  return from == to ? x : [graph castTensor:x toType:mps_type(to) name:name];
}

MPSGraphTensor* least_normal_for_nan(MPSGraph* graph, MPSGraphTensor* x, double mean, double deviation, ir::DType dtype,
                                     NSString* name) {
  constexpr double kLeast = -5.294704084854597;  // a standard normal number is below it with probability 2^-24
  return [graph selectWithPredicateTensor:[graph isNaNWithTensor:x name:nil]
                      truePredicateTensor:number(graph, mean + kLeast * deviation, dtype)
                     falsePredicateTensor:x
                                     name:name];
}

MPSGraphTensor* sign_by_comparison(MPSGraph* graph, MPSGraphTensor* x, ir::DType dtype, NSString* name) {
  MPSGraphTensor* zero = number(graph, 0, dtype);
  MPSGraphTensor* is_zero = [graph equalWithPrimaryTensor:x secondaryTensor:zero name:nil];
  MPSGraphTensor* out = [graph selectWithPredicateTensor:is_zero
                                     truePredicateTensor:x
                                    falsePredicateTensor:zero
                                                    name:nil];
  MPSGraphTensor* is_negative = [graph lessThanWithPrimaryTensor:x secondaryTensor:zero name:nil];
  out = [graph selectWithPredicateTensor:is_negative
                     truePredicateTensor:number(graph, -1, dtype)
                    falsePredicateTensor:out
                                    name:nil];
  MPSGraphTensor* is_positive = [graph greaterThanWithPrimaryTensor:x secondaryTensor:zero name:nil];
  return [graph selectWithPredicateTensor:is_positive
                      truePredicateTensor:number(graph, 1, dtype)
                     falsePredicateTensor:out
                                     name:name];
}

MPSGraphTensor* power_of_any_base(MPSGraph* graph, MPSGraphTensor* a, MPSGraphTensor* b, ir::DType dtype,
                                  NSString* name) {
  const ir::DType real = ir::DType::float32;
  const auto select = [&](MPSGraphTensor* flag, MPSGraphTensor* x, MPSGraphTensor* y, NSString* as) {
    return [graph selectWithPredicateTensor:flag truePredicateTensor:x falsePredicateTensor:y name:as];
  };
  const auto to_float = [&](MPSGraphTensor* x) { return [graph castTensor:x toType:mps_type(real) name:nil]; };
  const auto truncated = [&](MPSGraphTensor* x) {
    return to_float([graph castTensor:x toType:mps_type(ir::DType::int32) name:nil]);
  };
  MPSGraphTensor* magnitude = [graph powerWithPrimaryTensor:[graph absoluteWithTensor:a name:nil]
                                            secondaryTensor:b
                                                       name:nil];
  MPSGraphTensor* exponent = dtype == real ? b : to_float(b);
  // A float32 of 2^24 or more is an even number; a smaller one fits into an int32.
  MPSGraphTensor* is_small = [graph lessThanWithPrimaryTensor:[graph absoluteWithTensor:exponent name:nil]
                                              secondaryTensor:number(graph, 1 << 24, real)
                                                         name:nil];
  MPSGraphTensor* small = select(is_small, exponent, number(graph, 0, real), nil);
  MPSGraphTensor* half = [graph multiplicationWithPrimaryTensor:small
                                                secondaryTensor:number(graph, 0.5, real)
                                                           name:nil];
  MPSGraphTensor* is_odd = [graph notEqualWithPrimaryTensor:truncated(half) secondaryTensor:half name:nil];
  MPSGraphTensor* of_negative = select(is_odd, [graph negativeWithTensor:magnitude name:nil], magnitude, nil);
  if (kind(dtype) == ir::DTypeKind::kFloating) {
    MPSGraphTensor* is_whole = [graph equalWithPrimaryTensor:truncated(small) secondaryTensor:small name:nil];
    MPSGraphTensor* is_infinite = [graph isInfiniteWithTensor:a name:nil];
    MPSGraphTensor* of_fraction = select(is_infinite, magnitude, number(graph, NAN, dtype), nil);
    of_negative = select(is_whole, of_negative, of_fraction, nil);
  }
  MPSGraphTensor* is_negative = [graph lessThanWithPrimaryTensor:a secondaryTensor:number(graph, 0, dtype) name:nil];
  return select(is_negative, of_negative, magnitude, name);
}

}  // namespace alloy::engine

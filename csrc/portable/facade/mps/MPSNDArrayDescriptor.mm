// Options of an array (element type and lengths) and of a view of one (slices and an order).

#include <algorithm>
#include <cstdarg>
#include <limits>
#include <utility>

#include "facade/mps/arrays.h"

using namespace alloy;
using namespace alloy::facade;

namespace {

// The dimensions of an array or a view, from the fastest to the slowest, in the view's order.
struct Dimensions {
  MPSDataType type;
  NSUInteger rank;
  NSUInteger lengths[device::kMaxRank];
  MPSDimensionSlice slices[device::kMaxRank];
  NSUInteger order[device::kMaxRank];  // for each dimension its number in the array
  BOOL prefers_packed_rows;
};

Dimensions& dimensions_of(MPSNDArrayDescriptor* descriptor) { return *static_cast<Dimensions*>(descriptor->_impl); }

void require_rank(NSUInteger rank) {
  if (rank > device::kMaxRank) {
    raise_invalid(@"[MPSNDArrayDescriptor] %lu dimensions were given, but an array has at most %lu.",
                  static_cast<unsigned long>(rank), static_cast<unsigned long>(device::kMaxRank));
  }
}

void require_length(long long length) {
  if (length < 1 || length > std::numeric_limits<int>::max()) {
    raise_invalid(@"[MPSNDArrayDescriptor] A length is %lld, but lengths go from 1 to %d.", length,
                  std::numeric_limits<int>::max());
  }
}

// The dimensions of the descriptor; raises if it has no dimension `index`.
Dimensions& require_dimension(MPSNDArrayDescriptor* descriptor, NSUInteger index, NSString* method) {
  Dimensions& dimensions = dimensions_of(descriptor);
  if (index >= dimensions.rank) {
    raise_invalid(@"[%@] The dimension is %lu, but the descriptor has %lu.", method, static_cast<unsigned long>(index),
                  static_cast<unsigned long>(dimensions.rank));
  }
  return dimensions;
}

// Sets a dimension's length, and takes all of it at its own position.
void set_length(Dimensions& dimensions, NSUInteger index, NSUInteger length) {
  dimensions.lengths[index] = length;
  dimensions.slices[index] = {0, length};
  dimensions.order[index] = index;
}

}  // namespace

namespace alloy::facade {

ViewOfDescriptor view_of(MPSNDArrayDescriptor* descriptor) {
  if (!descriptor) raise_invalid(@"[MPSNDArray] The descriptor is nil.");
  const Dimensions& dimensions = dimensions_of(descriptor);
  ViewOfDescriptor view{dimensions.rank, {}, {}, {}};
  for (size_t i = 0; i < view.rank; ++i) {
    view.lengths[dimensions.order[i]] = dimensions.lengths[i];
    view.slices[i] = dimensions.slices[i];
    view.order[i] = dimensions.order[i];
  }
  return view;
}

MPSShape* sliced_shape(MPSNDArrayDescriptor* descriptor) {
  if (!descriptor) raise_invalid(@"[MPSNDArray] The descriptor is nil.");
  const Dimensions& dimensions = dimensions_of(descriptor);
  NSMutableArray* shape = [NSMutableArray array];
  for (NSUInteger i = dimensions.rank; i-- > 0;) {
    [shape addObject:[NSNumber numberWithUnsignedInteger:dimensions.slices[i].length]];
  }
  return shape;
}

}  // namespace alloy::facade

@implementation MPSNDArrayDescriptor

+ (instancetype)descriptorWithDataType:(MPSDataType)dataType
                        dimensionCount:(NSUInteger)numberOfDimensions
                        dimensionSizes:(NSUInteger*)dimensionSizes {
  element_bytes(dataType, @"descriptorWithDataType");
  MPSNDArrayDescriptor* descriptor = [[self alloc] autorelease];
  descriptor->_impl = new Dimensions{dataType, 0, {}, {}, {}, NO};
  [descriptor reshapeWithDimensionCount:numberOfDimensions dimensionSizes:dimensionSizes];
  return descriptor;
}

+ (instancetype)descriptorWithDataType:(MPSDataType)dataType shape:(NSArray<NSNumber*>*)shape {
  NSUInteger none = 0;
  MPSNDArrayDescriptor* descriptor = [self descriptorWithDataType:dataType dimensionCount:0 dimensionSizes:&none];
  [descriptor reshapeWithShape:shape];
  return descriptor;
}

+ (instancetype)descriptorWithDataType:(MPSDataType)dataType dimensionSizes:(NSUInteger)dimension0, ... {
  NSUInteger lengths[device::kMaxRank + 1];
  NSUInteger rank = 0;
  va_list arguments;
  va_start(arguments, dimension0);
  for (NSUInteger length = dimension0; length != 0 && rank <= device::kMaxRank;
       length = va_arg(arguments, NSUInteger)) {
    lengths[rank++] = length;
  }
  va_end(arguments);
  return [self descriptorWithDataType:dataType dimensionCount:rank dimensionSizes:lengths];
}

- (instancetype)init {
  raise_invalid(@"[MPSNDArrayDescriptor] Use one of the factories instead of init.");
}

- (void)dealloc {
  delete static_cast<Dimensions*>(_impl);
  [super dealloc];
}

- (void)reshapeWithDimensionCount:(NSUInteger)numberOfDimensions dimensionSizes:(NSUInteger*)dimensionSizes {
  require_rank(numberOfDimensions);
  if (numberOfDimensions && !dimensionSizes) raise_invalid(@"[MPSNDArrayDescriptor] The dimension sizes are NULL.");
  for (NSUInteger i = 0; i < numberOfDimensions; ++i) require_length(static_cast<long long>(dimensionSizes[i]));
  Dimensions& dimensions = dimensions_of(self);
  dimensions.rank = numberOfDimensions;
  for (NSUInteger i = 0; i < numberOfDimensions; ++i) set_length(dimensions, i, dimensionSizes[i]);
}

- (void)reshapeWithShape:(NSArray<NSNumber*>*)shape {
  if (!shape) raise_invalid(@"[MPSNDArrayDescriptor] The shape is nil.");
  require_elements(shape, [NSNumber class]);
  const NSUInteger rank = [shape count];
  require_rank(rank);
  NSUInteger lengths[device::kMaxRank];
  for (NSUInteger i = 0; i < rank; ++i) {
    const long long length = [[shape objectAtIndex:rank - 1 - i] longLongValue];
    require_length(length);
    lengths[i] = static_cast<NSUInteger>(length);
  }
  [self reshapeWithDimensionCount:rank dimensionSizes:lengths];
}

- (MPSDataType)dataType {
  return dimensions_of(self).type;
}

- (void)setDataType:(MPSDataType)dataType {
  element_bytes(dataType, @"setDataType");
  dimensions_of(self).type = dataType;
}

- (NSUInteger)numberOfDimensions {
  return dimensions_of(self).rank;
}

- (void)setNumberOfDimensions:(NSUInteger)numberOfDimensions {
  require_rank(numberOfDimensions);
  Dimensions& dimensions = dimensions_of(self);
  for (NSUInteger i = 0; i < std::min(dimensions.rank, numberOfDimensions); ++i) {
    if (dimensions.order[i] >= numberOfDimensions) {
      raise_invalid(@"[setNumberOfDimensions] Dimensions that were exchanged stay: %lu is too few.",
                    static_cast<unsigned long>(numberOfDimensions));
    }
  }
  for (NSUInteger i = dimensions.rank; i < numberOfDimensions; ++i) set_length(dimensions, i, 1);
  dimensions.rank = numberOfDimensions;
}

- (NSUInteger)lengthOfDimension:(NSUInteger)dimensionIndex {
  const Dimensions& dimensions = dimensions_of(self);
  return dimensionIndex < dimensions.rank ? dimensions.lengths[dimensionIndex] : 1;
}

- (MPSDimensionSlice)sliceRangeForDimension:(NSUInteger)dimensionIndex {
  const Dimensions& dimensions = dimensions_of(self);
  return dimensionIndex < dimensions.rank ? dimensions.slices[dimensionIndex] : MPSDimensionSlice{0, 1};
}

- (void)sliceDimension:(NSUInteger)dimensionIndex withSubrange:(MPSDimensionSlice)subRange {
  Dimensions& dimensions = require_dimension(self, dimensionIndex, @"sliceDimension");
  const NSUInteger length = dimensions.lengths[dimensionIndex];
  if (subRange.length == 0 || subRange.start > length || subRange.length > length - subRange.start) {
    raise_invalid(@"[sliceDimension] %lu elements from %lu on are not inside the dimension of %lu, or are none.",
                  static_cast<unsigned long>(subRange.length), static_cast<unsigned long>(subRange.start),
                  static_cast<unsigned long>(length));
  }
  dimensions.slices[dimensionIndex] = subRange;
}

- (void)transposeDimension:(NSUInteger)dimensionIndex withDimension:(NSUInteger)dimensionIndex2 {
  require_dimension(self, dimensionIndex, @"transposeDimension");
  Dimensions& dimensions = require_dimension(self, dimensionIndex2, @"transposeDimension");
  std::swap(dimensions.lengths[dimensionIndex], dimensions.lengths[dimensionIndex2]);
  std::swap(dimensions.slices[dimensionIndex], dimensions.slices[dimensionIndex2]);
  std::swap(dimensions.order[dimensionIndex], dimensions.order[dimensionIndex2]);
}

- (vector_uchar16)dimensionOrder {
  const Dimensions& dimensions = dimensions_of(self);
  vector_uchar16 order;
  for (NSUInteger i = 0; i < device::kMaxRank; ++i) {
    order[i] = static_cast<unsigned char>(i < dimensions.rank ? dimensions.order[i] : i);
  }
  return order;
}

- (void)permuteWithDimensionOrder:(NSUInteger*)dimensionOrder {
  Dimensions& dimensions = dimensions_of(self);
  if (!dimensionOrder) raise_invalid(@"[permuteWithDimensionOrder] The order is NULL.");
  const Dimensions before = dimensions;
  unsigned named = 0;
  for (NSUInteger i = 0; i < before.rank; ++i) {
    require_dimension(self, dimensionOrder[i], @"permuteWithDimensionOrder");
    named |= 1u << dimensionOrder[i];
  }
  if (named != (1u << before.rank) - 1) {
    raise_invalid(@"[permuteWithDimensionOrder] The order must name each of the %lu dimensions once.",
                  static_cast<unsigned long>(before.rank));
  }
  for (NSUInteger i = 0; i < before.rank; ++i) {
    dimensions.lengths[i] = before.lengths[dimensionOrder[i]];
    dimensions.slices[i] = before.slices[dimensionOrder[i]];
    dimensions.order[i] = before.order[dimensionOrder[i]];
  }
}

- (NSArray<NSNumber*>*)getShape {
  NSMutableArray* shape = [NSMutableArray array];
  for (NSUInteger i = [self numberOfDimensions]; i-- > 0;) {
    [shape addObject:[NSNumber numberWithUnsignedInteger:[self lengthOfDimension:i]]];
  }
  return shape;
}

- (BOOL)preferPackedRows {
  return dimensions_of(self).prefers_packed_rows;
}

- (void)setPreferPackedRows:(BOOL)preferPackedRows {
  dimensions_of(self).prefers_packed_rows = preferPackedRows;
}

@end

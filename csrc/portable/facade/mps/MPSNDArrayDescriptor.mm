// What an array shall be: an element type and lengths.

#include <cstdarg>
#include <cstring>
#include <limits>

#include "facade/mps/arrays.h"

using namespace alloy;
using namespace alloy::facade;

namespace {

struct Dimensions {
  MPSDataType type;
  NSUInteger rank;
  NSUInteger lengths[device::kMaxRank];  // from the fastest to the slowest
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

}  // namespace

@implementation MPSNDArrayDescriptor

+ (instancetype)descriptorWithDataType:(MPSDataType)dataType
                        dimensionCount:(NSUInteger)numberOfDimensions
                        dimensionSizes:(NSUInteger*)dimensionSizes {
  element_bytes(dataType, @"descriptorWithDataType");
  MPSNDArrayDescriptor* descriptor = [[self alloc] autorelease];
  descriptor->_impl = new Dimensions{dataType, 0, {}};
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
  if (numberOfDimensions) std::memcpy(dimensions.lengths, dimensionSizes, numberOfDimensions * sizeof(NSUInteger));
}

- (void)reshapeWithShape:(NSArray<NSNumber*>*)shape {
  if (!shape) raise_invalid(@"[MPSNDArrayDescriptor] The shape is nil.");
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
  for (NSUInteger i = dimensions.rank; i < numberOfDimensions; ++i) dimensions.lengths[i] = 1;
  dimensions.rank = numberOfDimensions;
}

- (NSUInteger)lengthOfDimension:(NSUInteger)dimensionIndex {
  const Dimensions& dimensions = dimensions_of(self);
  return dimensionIndex < dimensions.rank ? dimensions.lengths[dimensionIndex] : 1;
}

@end

// Device arrays and their descriptors. Knows nothing of graphs.

#include <cstdarg>
#include <cstring>
#include <limits>

#include "facade/FacadePrivate.h"

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

struct ArrayParts {
  device::ArrayMemory memory;
  id<MTLDevice> device;
  MPSDataType type;
  NSString* label;
};

ArrayParts& parts_of(MPSNDArray* array) { return *static_cast<ArrayParts*>(array->_impl); }

std::shared_ptr<device::Storage> allocate(device::Device& device, size_t bytes) {
  std::shared_ptr<device::Storage> storage = device.allocate(bytes);
  if (!storage) {
    [NSException raise:NSMallocException
                format:@"[MPSNDArray] The device has no %lu bytes left.", static_cast<unsigned long>(bytes)];
  }
  return storage;
}

}  // namespace

namespace alloy::facade {

size_t element_bytes(MPSDataType type, NSString* method) {
  if (type == MPSDataTypeBFloat16) abort_where(alloy::ir::Quirk::bfloat16, method);
  if ((type & MPSDataTypeComplexBit) != 0) abort_where(alloy::ir::Quirk::complex, method);
  switch (type) {
    case MPSDataTypeFloat32:
    case MPSDataTypeFloat16:
    case MPSDataTypeBFloat16:
    case MPSDataTypeComplexFloat32:
    case MPSDataTypeComplexFloat16:
    case MPSDataTypeInt8:
    case MPSDataTypeInt16:
    case MPSDataTypeInt32:
    case MPSDataTypeInt64:
    case MPSDataTypeUInt8:
    case MPSDataTypeUInt16:
    case MPSDataTypeUInt32:
    case MPSDataTypeUInt64:
    case MPSDataTypeBool:
    case MPSDataTypeUnorm8: return MPSSizeofMPSDataType(type);
    default: raise_invalid(@"[%@] The data type 0x%x cannot be stored.", method, static_cast<unsigned>(type));
  }
}

device::ArrayLayout packed_layout(MPSShape* shape, MPSDataType type, NSString* method) {
  if (!shape) raise_invalid(@"[%@] The shape is nil.", method);
  device::ArrayLayout layout;
  layout.element_bytes = element_bytes(type, method);
  layout.rank = [shape count];
  if (layout.rank > device::kMaxRank) {
    raise_invalid(@"[%@] The shape has %lu dimensions, but an array has at most %lu.", method,
                  static_cast<unsigned long>(layout.rank), static_cast<unsigned long>(device::kMaxRank));
  }
  double elements = 1;
  for (NSUInteger axis = 0; axis < layout.rank; ++axis) {
    const long long length = [[shape objectAtIndex:axis] longLongValue];
    if (length < 1) raise_invalid(@"[%@] The shape has the length %lld, but lengths are positive.", method, length);
    layout.lengths[axis] = static_cast<size_t>(length);
    elements *= static_cast<double>(length);
  }
  if (elements > std::numeric_limits<int>::max()) {
    raise_invalid(@"[%@] The shape has %.0f elements, but an array has at most %d.", method, elements,
                  std::numeric_limits<int>::max());
  }
  layout.row_bytes = layout.packed_row_bytes();
  return layout;
}

MPSNDArray* new_array(id<MTLDevice> device, std::shared_ptr<device::Storage> storage, const device::ArrayLayout& layout,
                      MPSDataType type) {
  device::Device& owner = device_of(device);
  if (!storage) storage = allocate(owner, layout.end());
  MPSNDArray* array = [MPSNDArray alloc];
  array->_impl = new ArrayParts{{&owner, std::move(storage), layout}, [device retain], type, nil};
  return array;
}

const device::ArrayMemory& memory_of(MPSNDArray* array) { return parts_of(array).memory; }

}  // namespace alloy::facade

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

@implementation MPSNDArray

- (instancetype)init {
  raise_invalid(@"[MPSNDArray] Use initWithDevice:descriptor: instead of init.");
}

- (instancetype)initWithDevice:(id<MTLDevice>)device descriptor:(MPSNDArrayDescriptor*)descriptor {
  if (!descriptor) raise_invalid(@"[MPSNDArray] The descriptor is nil.");
  NSMutableArray* shape = [NSMutableArray array];
  for (NSUInteger i = [descriptor numberOfDimensions]; i-- > 0;) {
    [shape addObject:[NSNumber numberWithUnsignedInteger:[descriptor lengthOfDimension:i]]];
  }
  const device::ArrayLayout layout = packed_layout(shape, [descriptor dataType], @"MPSNDArray");
  device::Device& owner = device_of(device);
  std::shared_ptr<device::Storage> storage = allocate(owner, layout.end());
  if ((self = [super init])) {
    _impl = new ArrayParts{{&owner, std::move(storage), layout}, [device retain], [descriptor dataType], nil};
  }
  return self;
}

- (instancetype)initWithDevice:(id<MTLDevice>)device scalar:(double)value {
  NSUInteger length = 1;
  MPSNDArrayDescriptor* descriptor = [MPSNDArrayDescriptor descriptorWithDataType:MPSDataTypeFloat32
                                                                   dimensionCount:1
                                                                   dimensionSizes:&length];
  if ((self = [self initWithDevice:device descriptor:descriptor])) {
    float single = static_cast<float>(value);
    [self writeBytes:&single strideBytes:nil];
  }
  return self;
}

- (void)dealloc {
  if (_impl) {
    [parts_of(self).device release];
    [parts_of(self).label release];
  }
  delete static_cast<ArrayParts*>(_impl);
  [super dealloc];
}

- (NSString*)label {
  @synchronized(self) {
    return [[parts_of(self).label retain] autorelease];
  }
}

- (void)setLabel:(NSString*)label {
  @synchronized(self) {
    [parts_of(self).label autorelease];
    parts_of(self).label = [label copy];
  }
}

- (MPSDataType)dataType {
  return parts_of(self).type;
}

- (size_t)dataTypeSize {
  return parts_of(self).memory.layout.element_bytes;
}

- (NSUInteger)numberOfDimensions {
  return parts_of(self).memory.layout.rank;
}

- (id<MTLDevice>)device {
  return parts_of(self).device;
}

- (MPSNDArray*)parent {
  return nil;
}

- (NSUInteger)lengthOfDimension:(NSUInteger)dimensionIndex {
  const device::ArrayLayout& layout = parts_of(self).memory.layout;
  return dimensionIndex < layout.rank ? layout.lengths[layout.rank - 1 - dimensionIndex] : 1;
}

- (MPSNDArrayDescriptor*)descriptor {
  NSUInteger lengths[device::kMaxRank];
  const NSUInteger rank = [self numberOfDimensions];
  for (NSUInteger i = 0; i < rank; ++i) lengths[i] = [self lengthOfDimension:i];
  return [MPSNDArrayDescriptor descriptorWithDataType:[self dataType] dimensionCount:rank dimensionSizes:lengths];
}

- (NSUInteger)resourceSize {
  return parts_of(self).memory.storage->size();
}

- (void)readBytes:(void*)buffer strideBytes:(NSInteger*)strideBytesPerDimension {
  if (!buffer) raise_invalid(@"[readBytes] The buffer is NULL.");
  const device::ArrayMemory& memory = parts_of(self).memory;
  device::read_array(*memory.device, *memory.storage, memory.layout, buffer, strideBytesPerDimension);
}

- (void)writeBytes:(void*)buffer strideBytes:(NSInteger*)strideBytesPerDimension {
  if (!buffer) raise_invalid(@"[writeBytes] The buffer is NULL.");
  const device::ArrayMemory& memory = parts_of(self).memory;
  device::write_array(*memory.device, *memory.storage, memory.layout, buffer, strideBytesPerDimension);
}

- (void)synchronizeOnCommandBuffer:(id<MTLCommandBuffer>)commandBuffer {
  if (!commandBuffer) raise_invalid(@"[synchronizeOnCommandBuffer] The command buffer is nil.");
}

@end

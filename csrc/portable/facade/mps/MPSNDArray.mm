// Device arrays. Knows nothing of graphs.

#include <limits>

#include "facade/imitation.h"
#include "facade/mps/arrays.h"

using namespace alloy;
using namespace alloy::facade;

namespace {

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
    layout.lengths[axis] = length;
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

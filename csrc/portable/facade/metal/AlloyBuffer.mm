// Buffers: memory of the device.

#include "facade/metal/require.h"

using namespace alloy;
using namespace alloy::facade;

@interface AlloyBuffer : NSObject <MTLBuffer> {
 @package
  std::shared_ptr<device::Storage>* _storage;
  id<MTLDevice> _device;
  MTLResourceOptions _options;
  NSString* _label;
}
@end

namespace alloy::facade {

const std::shared_ptr<device::Storage>& storage_of(id<MTLBuffer> buffer) {
  static const Class our_class = [AlloyBuffer class];
  return *require<AlloyBuffer>(buffer, our_class, @"MTLBuffer")->_storage;
}

id<MTLBuffer> new_buffer(id<MTLDevice> device, std::shared_ptr<device::Storage> storage, MTLResourceOptions options) {
  if (!storage) return nil;
  AlloyBuffer* buffer = [AlloyBuffer new];
  buffer->_storage = new std::shared_ptr<device::Storage>(std::move(storage));
  buffer->_device = [device retain];
  buffer->_options = options;
  return buffer;
}

MTLStorageMode storage_mode(MTLResourceOptions options) { return static_cast<MTLStorageMode>((options >> 4) & 0xf); }

}  // namespace alloy::facade

@implementation AlloyBuffer

@synthesize label = _label;
@synthesize device = _device;

- (void)dealloc {
  delete _storage;
  [_device release];
  [_label release];
  [super dealloc];
}

- (NSUInteger)length {
  return (*_storage)->size();
}

- (void*)contents {
  if (storage_mode(_options) == MTLStorageModePrivate) {
    raise_invalid(@"[contents] The storage mode of the buffer is private, so the host cannot see it.");
  }
  return (*_storage)->host_bytes();
}

- (void)didModifyRange:(NSRange)range {
  if (range.location > [self length] || range.length > [self length] - range.location) {
    raise_invalid(@"[didModifyRange] The range {%lu, %lu} is not inside the %lu bytes of the buffer.",
                  static_cast<unsigned long>(range.location), static_cast<unsigned long>(range.length),
                  static_cast<unsigned long>([self length]));
  }
}

- (MTLCPUCacheMode)cpuCacheMode {
  return static_cast<MTLCPUCacheMode>(_options & 0xf);
}

- (MTLStorageMode)storageMode {
  return storage_mode(_options);
}

- (MTLHazardTrackingMode)hazardTrackingMode {
  const auto mode = static_cast<MTLHazardTrackingMode>((_options >> 8) & 0x3);
  return mode == MTLHazardTrackingModeDefault ? MTLHazardTrackingModeTracked : mode;
}

- (MTLResourceOptions)resourceOptions {
  return _options;
}

- (NSUInteger)allocatedSize {
  return [self length];
}

@end

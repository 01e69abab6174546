// Buffers: memory of the device.

#include <utility>

#include "facade/metal/require.h"

using namespace alloy;
using namespace alloy::facade;

@interface AlloyBuffer : NSObject <MTLBuffer> {
 @package
  BufferBytes* _bytes;
  HeapShare* _share;
  id<MTLDevice> _device;
  MTLResourceOptions _options;
  MTLPurgeableState _state;
  BOOL _isAliasable;
  NSString* _label;
}
@end

namespace alloy::facade {

const BufferBytes& bytes_of(id<MTLBuffer> buffer) {
  static const Class our_class = [AlloyBuffer class];
  return *require<AlloyBuffer>(buffer, our_class, @"MTLBuffer")->_bytes;
}

void require_aligned(const BufferBytes& bytes, size_t element_bytes, NSString* method) {
  const uintptr_t address = bytes.storage->address() + bytes.offset;
  if (address % element_bytes == 0) return;
  raise_invalid(@"[%@] The memory of the buffer begins at 0x%lx, which is no multiple of the %lu bytes of an element.",
                method, static_cast<unsigned long>(address), static_cast<unsigned long>(element_bytes));
}

id<MTLBuffer> new_buffer(id<MTLDevice> device, BufferBytes bytes, MTLResourceOptions options, HeapShare share) {
  if (!bytes.storage) return nil;
  AlloyBuffer* buffer = [AlloyBuffer new];
  buffer->_bytes = new BufferBytes(std::move(bytes));
  buffer->_share = new HeapShare(std::move(share));
  [buffer->_share->heap retain];
  buffer->_device = [device retain];
  buffer->_options = options;
  buffer->_state = MTLPurgeableStateNonVolatile;
  return buffer;
}

}  // namespace alloy::facade

namespace {

void require_inside(AlloyBuffer* buffer, NSRange range, NSString* method) {
  const size_t length = buffer->_bytes->length;
  if (range.location > length || range.length > length - range.location) {
    raise_invalid(@"[%@] The range {%lu, %lu} is not inside the %lu bytes of the buffer.", method,
                  static_cast<unsigned long>(range.location), static_cast<unsigned long>(range.length),
                  static_cast<unsigned long>(length));
  }
}

}  // namespace

@implementation AlloyBuffer

LABEL(_label)
@synthesize device = _device;

- (void)dealloc {
  [_share->heap release];
  delete _share;
  delete _bytes;
  [_device release];
  [_label release];
  [super dealloc];
}

- (NSUInteger)length {
  return _bytes->length;
}

- (void*)contents {
  if (storage_mode(_options) == MTLStorageModePrivate) {
    raise_invalid(@"[contents] The storage mode of the buffer is private, so the host cannot see it.");
  }
  return _bytes->storage->host_bytes() + _bytes->offset;
}

- (void)didModifyRange:(NSRange)range {
  require_inside(self, range, @"didModifyRange");
}

- (uint64_t)gpuAddress {
  return _bytes->storage->address() + _bytes->offset;
}

- (void)addDebugMarker:(NSString*)marker range:(NSRange)range {
  require_kind(marker, [NSString class]);
  require_inside(self, range, @"addDebugMarker");
}

- (void)removeAllDebugMarkers {
}

- (id<MTLTexture>)newTextureWithDescriptor:(MTLTextureDescriptor*)descriptor
                                    offset:(NSUInteger)offset
                               bytesPerRow:(NSUInteger)bytesPerRow {
  require_kind(descriptor, [MTLTextureDescriptor class]);
  return nil;
}

- (id<MTLBuffer>)newRemoteBufferViewForDevice:(id<MTLDevice>)device {
  device_of(device);  // raises when it is not ours
  return nil;
}

- (id<MTLBuffer>)remoteStorageBuffer {
  id<MTLBuffer> none = nil;  // declared as never nil
  return none;
}

- (id<MTLHeap>)heap {
  return _share->heap;
}

- (NSUInteger)heapOffset {
  return _share->heap ? _bytes->offset : 0;
}

- (MTLPurgeableState)setPurgeableState:(MTLPurgeableState)state {
  return exchange_purgeable(_state, state);
}

- (void)makeAliasable {
  if (!_share->heap) raise_invalid(@"[makeAliasable] The buffer has memory of its own, not of a heap.");
  _isAliasable = YES;
  _share->make_aliasable();
}

GETTER(BOOL, isAliasable, _isAliasable)
GETTER(MTLCPUCacheMode, cpuCacheMode, cache_mode(_options))
GETTER(MTLStorageMode, storageMode, storage_mode(_options))

- (MTLHazardTrackingMode)hazardTrackingMode {
  const MTLHazardTrackingMode mode = hazard_tracking_mode(_options);
  return mode == MTLHazardTrackingModeDefault ? MTLHazardTrackingModeTracked : mode;
}

- (MTLResourceOptions)resourceOptions {
  return _options;
}

- (NSUInteger)allocatedSize {
  return [self length];
}

@end

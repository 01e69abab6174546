// Heaps: storage of the device from which buffers take ranges.

#include <algorithm>
#include <atomic>
#include <optional>

#include "facade/metal/require.h"
#include "host/ranges.h"

using namespace alloy;
using namespace alloy::facade;

namespace {

// The memory that a heap shares with its buffers.
struct HeapMemory {
  std::shared_ptr<device::Storage> storage;
  host::Ranges ranges;
  std::atomic<size_t> placed{0};  // bytes of the buffers of a placement heap
};

// A range that a buffer takes of a heap, until it is given back or no owner is left.
class Taken {
 public:
  // `start` is the beginning of a range of the heap; a placement heap has none.
  Taken(std::shared_ptr<HeapMemory> memory, std::optional<size_t> start, size_t bytes)
      : memory_(std::move(memory)), start_(start), bytes_(bytes) {
    if (!start_) memory_->placed += bytes_;
  }
  Taken(const Taken&) = delete;
  Taken& operator=(const Taken&) = delete;
  ~Taken() { give_back(); }

  void give_back() {
    if (is_given_back_.exchange(true)) return;
    if (start_) memory_->ranges.give_back(*start_);
    else memory_->placed -= bytes_;
  }

 private:
  const std::shared_ptr<HeapMemory> memory_;
  const std::optional<size_t> start_;
  const size_t bytes_;
  std::atomic<bool> is_given_back_{false};
};

id<MTLBuffer> new_heap_buffer(id<MTLHeap> heap, const std::shared_ptr<HeapMemory>& memory,
                              const std::shared_ptr<Taken>& taken, size_t offset, size_t length,
                              MTLResourceOptions options) {
  // The heap's storage, kept alive together with the range.
  const std::shared_ptr<device::Storage> storage(taken, memory->storage.get());
  return new_buffer([heap device], { storage, offset, length }, options,
                    {heap, [part = taken.get()] { part->give_back(); }});
}

size_t alignment_on(id<MTLDevice> device) {
  constexpr size_t kLeast = 256;
  return std::max(kLeast, device_of(device).alignment());
}

}  // namespace

@interface AlloyHeap : NSObject <MTLHeap> {
 @package
  std::shared_ptr<HeapMemory>* _memory;
  id<MTLDevice> _device;
  MTLResourceOptions _options;
  MTLHeapType _type;
  MTLPurgeableState _state;
  NSString* _label;
}
@end

namespace alloy::facade {

MTLSizeAndAlign heap_size_and_align(id<MTLDevice> device, size_t length) {
  const size_t alignment = alignment_on(device);
  return {(length + alignment - 1) / alignment * alignment, alignment};
}

void require_heap(id<MTLHeap> heap) { require<AlloyHeap>(heap, [AlloyHeap class], @"MTLHeap"); }

id<MTLHeap> new_heap(id<MTLDevice> device, MTLHeapDescriptor* descriptor) {
  require_kind(descriptor, [MTLHeapDescriptor class]);
  if ([descriptor size] == 0 || [descriptor type] == MTLHeapTypeSparse) return nil;
  if ([descriptor storageMode] == MTLStorageModeMemoryless) return nil;
  device::Device& owner = device_of(device);
  if ([descriptor size] > owner.memory_size()) return nil;
  const size_t bytes = heap_size_and_align(device, [descriptor size]).size;
  const device::StorageMode mode = mode_of([descriptor storageMode]);
  std::shared_ptr<device::Storage> storage;
  raise_thrown([&] {
    storage = owner.allocate(bytes, mode);
    if (storage) storage->fill(0, bytes, 0);
  });
  if (!storage) return nil;
  AlloyHeap* heap = [AlloyHeap new];
  heap->_memory = new std::shared_ptr<HeapMemory>(new HeapMemory{std::move(storage), host::Ranges(bytes)});
  heap->_device = [device retain];
  heap->_options = [descriptor resourceOptions];
  heap->_type = [descriptor type];
  heap->_state = MTLPurgeableStateNonVolatile;
  return heap;
}

}  // namespace alloy::facade

namespace {

// Checks that a buffer's modes are its heap's, except the hazard tracking mode.
void require_modes_of(AlloyHeap* heap, MTLResourceOptions options) {
  if (storage_mode(options) == storage_mode(heap->_options) && cache_mode(options) == cache_mode(heap->_options)) {
    return;
  }
  raise_invalid(
      @"[newBufferWithLength] The buffer is to have the storage mode %lu and the cache mode %lu, but those of "
      @"the heap are %lu and %lu.",
      static_cast<unsigned long>(storage_mode(options)), static_cast<unsigned long>(cache_mode(options)),
      static_cast<unsigned long>(storage_mode(heap->_options)), static_cast<unsigned long>(cache_mode(heap->_options)));
}

void require_length(NSUInteger length) {
  if (length == 0) raise_invalid(@"[newBufferWithLength] The length is 0; a buffer has at least one byte.");
}

}  // namespace

@implementation AlloyHeap

LABEL(_label)
@synthesize device = _device;
@synthesize type = _type;
@synthesize resourceOptions = _options;

- (void)dealloc {
  delete _memory;
  [_device release];
  [_label release];
  [super dealloc];
}

- (MTLStorageMode)storageMode {
  return storage_mode(_options);
}

- (MTLCPUCacheMode)cpuCacheMode {
  return cache_mode(_options);
}

- (MTLHazardTrackingMode)hazardTrackingMode {
  const MTLHazardTrackingMode mode = hazard_tracking_mode(_options);
  return mode == MTLHazardTrackingModeDefault ? MTLHazardTrackingModeUntracked : mode;
}

GETTER(NSUInteger, size, (*_memory)->storage->size())
GETTER(NSUInteger, usedSize, (*_memory)->ranges.used() + (*_memory)->placed.load())
GETTER(NSUInteger, currentAllocatedSize, [self size])

- (NSUInteger)maxAvailableSizeWithAlignment:(NSUInteger)alignment {
  if (alignment & (alignment - 1)) {
    raise_invalid(@"[maxAvailableSizeWithAlignment] The alignment is %lu, which is no power of two.",
                  static_cast<unsigned long>(alignment));
  }
  return (*_memory)->ranges.largest(std::max<size_t>(alignment, alignment_on(_device)));
}

- (id<MTLBuffer>)newBufferWithLength:(NSUInteger)length options:(MTLResourceOptions)options {
  require_length(length);
  require_modes_of(self, options);
  if (_type == MTLHeapTypePlacement || length > [self size]) return nil;
  const MTLSizeAndAlign taken = heap_size_and_align(_device, length);
  const std::optional<size_t> start = (*_memory)->ranges.take(taken.size, taken.align);
  if (!start) return nil;
  return new_heap_buffer(self, *_memory, std::make_shared<Taken>(*_memory, start, taken.size), *start, length, options);
}

- (id<MTLBuffer>)newBufferWithLength:(NSUInteger)length options:(MTLResourceOptions)options offset:(NSUInteger)offset {
  require_length(length);
  require_modes_of(self, options);
  if (_type != MTLHeapTypePlacement) {
    raise_invalid(@"[newBufferWithLength] The heap places its buffers itself; only one of the placement type takes an "
                  @"offset.");
  }
  const size_t alignment = alignment_on(_device);
  if (offset % alignment || offset > [self size] || length > [self size] - offset) {
    raise_invalid(@"[newBufferWithLength] %lu bytes at %lu are not inside the %lu bytes of the heap, or %lu is no "
                  @"multiple of %lu.",
                  static_cast<unsigned long>(length), static_cast<unsigned long>(offset),
                  static_cast<unsigned long>([self size]), static_cast<unsigned long>(offset),
                  static_cast<unsigned long>(alignment));
  }
  const size_t bytes = heap_size_and_align(_device, length).size;
  return new_heap_buffer(self, *_memory, std::make_shared<Taken>(*_memory, std::nullopt, bytes), offset, length,
                         options);
}

- (id<MTLTexture>)newTextureWithDescriptor:(MTLTextureDescriptor*)descriptor {
  require_kind(descriptor, [MTLTextureDescriptor class]);
  return nil;
}

- (id<MTLTexture>)newTextureWithDescriptor:(MTLTextureDescriptor*)descriptor offset:(NSUInteger)offset {
  require_kind(descriptor, [MTLTextureDescriptor class]);
  return nil;
}

- (MTLPurgeableState)setPurgeableState:(MTLPurgeableState)state {
  return exchange_purgeable(_state, state);
}

@end

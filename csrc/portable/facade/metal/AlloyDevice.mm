// The device: makes buffers, events and command queues.

#import <Block.h>
#import <MetalPerformanceShaders/MetalPerformanceShaders.h>

#include <algorithm>
#include <chrono>
#include <climits>
#include <string>

#include "compiler/imitation.h"
#include "facade/imitation.h"
#include "facade/metal/require.h"

using namespace alloy;
using namespace alloy::facade;

@interface AlloyDevice : NSObject <MTLDevice, MPSHeapProvider> {
 @package
  device::Device* _device;
  uint64_t _registryID;
  MTLArchitecture* _architecture;
}
// The kind of the device, such as "cpu".
- (NSString*)alloyKind;
// The number among the devices of its kind.
- (NSUInteger)alloyNumber;
// Counts by name, for callers that ask respondsToSelector:.
- (NSDictionary*)alloyCounters;
// Set and return the number of threads; NO and 0 if the device has no choice.
- (BOOL)alloySetThreads:(NSUInteger)count;
- (NSUInteger)alloyThreads;
// Sets how many bytes may be allocated at once.
- (void)alloySetMemoryLimit:(uint64_t)bytes;
// Major and minor version of the imitated macOS; 0 and 0 if there is none.
- (NSArray*)alloySystem;
@end

namespace alloy::facade {

id<MTLDevice> new_device(device::Device& device, uint64_t registry_id) {
  AlloyDevice* made = [AlloyDevice new];
  made->_device = &device;
  made->_registryID = registry_id;
  made->_architecture = new_architecture([made alloyKind]);
  return made;
}

device::Device& device_of(id<MTLDevice> device) {
  static const Class our_class = [AlloyDevice class];
  return *require<AlloyDevice>(device, our_class, @"MTLDevice")->_device;
}

}  // namespace alloy::facade

namespace {

// Memory in which `fill` has put something; null if there is not enough.
std::shared_ptr<device::Storage> allocate_buffer(AlloyDevice* device, NSUInteger length, MTLResourceOptions options,
                                                 const std::function<void(device::Storage&)>& fill) {
  if (length == 0) raise_invalid(@"[newBufferWithLength] The length is 0; a buffer has at least one byte.");
  if (storage_mode(options) == MTLStorageModeMemoryless) {
    raise_invalid(@"[newBufferWithLength] The storage mode is memoryless, which only textures can have.");
  }
  if (length > device->_device->memory_size()) return nullptr;
  std::shared_ptr<device::Storage> storage;
  raise_thrown([&] {
    storage = device->_device->allocate(length, mode_of(storage_mode(options)));
    if (storage) fill(*storage);
  });
  return storage;
}

NSNumber* number(const std::atomic<uint64_t>& counter) {
  return [NSNumber numberWithUnsignedLongLong:counter.load(std::memory_order_relaxed)];
}

void require_source(NSString* source, MTLCompileOptions* options) {
  require_kind(source, [NSString class]);
  require_kind_or_nil(options, [MTLCompileOptions class]);
}

// There are no functions, so a program can only pass nil.
void require_no_function(id<MTLFunction> function) { require_kind_or_nil(function, Nil, @"MTLFunction"); }

// Reports to the handler, on another thread as Metal does, that there is no library or pipeline.
template <class Handler>
void refuse_shaders_later(NSString* method, Handler handler) {
  require_block((id)handler);
  NSError* error = nil;
  refuse_shaders(&error, method);
  dispatch_async(dispatch_get_global_queue(QOS_CLASS_DEFAULT, 0), ^{
    handler(nil, error);
  });
}

}  // namespace

@implementation AlloyDevice

GETTER(NSString*, name, string_of(_device->name()))
GETTER(uint64_t, registryID, _registryID)
GETTER(BOOL, hasUnifiedMemory, _device->has_unified_memory() ? YES : NO)
GETTER(uint64_t, recommendedMaxWorkingSetSize, _device->memory_size() / 4 * 3)
GETTER(NSUInteger, currentAllocatedSize, _device->counters().allocated_bytes.load(std::memory_order_relaxed))
GETTER(NSUInteger, maxBufferLength, _device->memory_size())
GETTER(MTLArchitecture*, architecture, _architecture)
GETTER(MTLSize, maxThreadsPerThreadgroup, MTLSizeMake(1, 1, 1))
GETTER(NSUInteger, maxThreadgroupMemoryLength, 0)
GETTER(BOOL, isLowPower, NO)
GETTER(BOOL, isHeadless, YES)
GETTER(BOOL, isRemovable, NO)
GETTER(BOOL, supports32BitFloatFiltering, NO)
GETTER(MTLDeviceLocation, location, MTLDeviceLocationBuiltIn)
GETTER(NSUInteger, locationNumber, 0)
GETTER(uint64_t, maxTransferRate, 0)
GETTER(uint64_t, peerGroupID, 0)
GETTER(uint32_t, peerIndex, 0)
GETTER(uint32_t, peerCount, 0)

- (BOOL)supportsFamily:(MTLGPUFamily)gpuFamily {
  return NO;
}

- (void)sampleTimestamps:(MTLTimestamp*)cpuTimestamp gpuTimestamp:(MTLTimestamp*)gpuTimestamp {
  if (!cpuTimestamp || !gpuTimestamp) raise_invalid(@"[sampleTimestamps] A place for a time is NULL.");
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  *cpuTimestamp = *gpuTimestamp =
      static_cast<MTLTimestamp>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

- (id<MTLCommandQueue>)newCommandQueue {
  constexpr NSUInteger kMostByDefault = 64;  // as on a Mac
  return [self newCommandQueueWithMaxCommandBufferCount:kMostByDefault];
}

- (id<MTLCommandQueue>)newCommandQueueWithMaxCommandBufferCount:(NSUInteger)maxCommandBufferCount {
  if (maxCommandBufferCount == 0) {
    raise_invalid(@"[newCommandQueueWithMaxCommandBufferCount] The count is 0; a queue has at least one buffer.");
  }
  return new_command_queue(self, _device->make_stream(), maxCommandBufferCount);
}

- (id<MTLTexture>)newTextureWithDescriptor:(MTLTextureDescriptor*)descriptor {
  require_kind(descriptor, [MTLTextureDescriptor class]);
  return nil;
}

- (id<MTLLibrary>)newDefaultLibrary {
  return nil;
}

- (id<MTLLibrary>)newDefaultLibraryWithBundle:(NSBundle*)bundle error:(NSError**)error {
  require_kind(bundle, [NSBundle class]);
  refuse_shaders(error, @"newDefaultLibraryWithBundle");
  return nil;
}

- (id<MTLLibrary>)newLibraryWithFile:(NSString*)filepath error:(NSError**)error {
  require_kind(filepath, [NSString class]);
  refuse_shaders(error, @"newLibraryWithFile");
  return nil;
}

- (id<MTLLibrary>)newLibraryWithURL:(NSURL*)url error:(NSError**)error {
  require_kind(url, [NSURL class]);
  refuse_shaders(error, @"newLibraryWithURL");
  return nil;
}

- (id<MTLLibrary>)newLibraryWithData:(dispatch_data_t)data error:(NSError**)error {
  require_kind(data, objc_lookUpClass("AlloyDispatchData"), @"dispatch_data_t");
  refuse_shaders(error, @"newLibraryWithData");
  return nil;
}

- (id<MTLLibrary>)newLibraryWithSource:(NSString*)source options:(MTLCompileOptions*)options error:(NSError**)error {
  require_source(source, options);
  refuse_shaders(error, @"newLibraryWithSource");
  return nil;
}

- (void)newLibraryWithSource:(NSString*)source
                     options:(MTLCompileOptions*)options
           completionHandler:(MTLNewLibraryCompletionHandler)completionHandler {
  require_source(source, options);
  refuse_shaders_later(@"newLibraryWithSource", completionHandler);
}

- (id<MTLComputePipelineState>)newComputePipelineStateWithFunction:(id<MTLFunction>)computeFunction
                                                             error:(NSError**)error {
  require_no_function(computeFunction);
  refuse_shaders(error, @"newComputePipelineStateWithFunction");
  return nil;
}

- (id<MTLComputePipelineState>)newComputePipelineStateWithFunction:(id<MTLFunction>)computeFunction
                                                           options:(MTLPipelineOption)options
                                                        reflection:(MTLAutoreleasedComputePipelineReflection*)reflection
                                                             error:(NSError**)error {
  require_no_function(computeFunction);
  refuse_shaders(error, @"newComputePipelineStateWithFunction");
  return nil;
}

- (void)newComputePipelineStateWithFunction:(id<MTLFunction>)computeFunction
                          completionHandler:(MTLNewComputePipelineStateCompletionHandler)completionHandler {
  require_no_function(computeFunction);
  refuse_shaders_later(@"newComputePipelineStateWithFunction", completionHandler);
}

- (id<MTLComputePipelineState>)newComputePipelineStateWithDescriptor:(MTLComputePipelineDescriptor*)descriptor
                                                             options:(MTLPipelineOption)options
                                                          reflection:
                                                              (MTLAutoreleasedComputePipelineReflection*)reflection
                                                               error:(NSError**)error {
  require_kind(descriptor, [MTLComputePipelineDescriptor class]);
  refuse_shaders(error, @"newComputePipelineStateWithDescriptor");
  return nil;
}

- (id<MTLBuffer>)newBufferWithLength:(NSUInteger)length options:(MTLResourceOptions)options {
  std::shared_ptr<device::Storage> storage =
      allocate_buffer(self, length, options, [&](device::Storage& made) { made.fill(0, length, 0); });
  return new_buffer(self, {std::move(storage), 0, length}, options);
}

- (id<MTLBuffer>)newBufferWithBytes:(const void*)pointer length:(NSUInteger)length options:(MTLResourceOptions)options {
  if (!pointer) raise_invalid(@"[newBufferWithBytes] The pointer is NULL.");
  std::shared_ptr<device::Storage> storage =
      allocate_buffer(self, length, options, [&](device::Storage& made) { made.write(0, pointer, length); });
  return new_buffer(self, {std::move(storage), 0, length}, options);
}

- (id<MTLBuffer>)newBufferWithBytesNoCopy:(void*)pointer
                                   length:(NSUInteger)length
                                  options:(MTLResourceOptions)options
                              deallocator:(void (^)(void*, NSUInteger))deallocator {
  require_block_or_nil((id)deallocator);
  if (!pointer || length == 0 || !_device->has_unified_memory()) return nil;
  if (storage_mode(options) == MTLStorageModePrivate || storage_mode(options) == MTLStorageModeMemoryless) return nil;
  std::function<void()> release;
  if (deallocator) {
    auto copy = Block_copy(deallocator);
    release = [copy, pointer, length] {
      @autoreleasepool {
        copy(pointer, length);
        Block_release(copy);
      }
    };
  }
  return new_buffer(self, {_device->adopt(pointer, length, std::move(release)), 0, length}, options);
}

- (id<MTLEvent>)newEvent {
  return [self newSharedEvent];
}

- (id<MTLSharedEvent>)newSharedEvent {
  return new_event(self, std::make_shared<host::Event>());
}

- (id<MTLSharedEvent>)newSharedEventWithHandle:(MTLSharedEventHandle*)sharedEventHandle {
  id<MTLSharedEvent> event = new_event(self, event_of(sharedEventHandle));
  [event setLabel:[sharedEventHandle label]];
  return event;
}

- (id<MTLFence>)newFence {
  return new_fence(self);
}

- (MTLSizeAndAlign)heapBufferSizeAndAlignWithLength:(NSUInteger)length options:(MTLResourceOptions)options {
  return heap_size_and_align(self, length);
}

- (id<MTLHeap>)newHeapWithDescriptor:(MTLHeapDescriptor*)descriptor {
  return new_heap(self, descriptor);
}

- (void)retireHeap:(id<MTLHeap>)heap cacheDelay:(double)seconds {
  require_heap(heap);
}

- (NSString*)alloyKind {
  return string_of(_device->kind());
}

- (NSUInteger)alloyNumber {
  return _device->number();
}

- (BOOL)alloySetThreads:(NSUInteger)count {
  refuse_fork();
  return _device->set_threads(static_cast<int>(std::min<NSUInteger>(count, INT_MAX))) ? YES : NO;
}

- (NSUInteger)alloyThreads {
  refuse_fork();
  return static_cast<NSUInteger>(_device->threads());
}

- (void)alloySetMemoryLimit:(uint64_t)bytes {
  _device->set_memory_limit(bytes);
}

- (NSArray*)alloySystem {
  const alloy::ir::System system = compiler::imitation().system;
  return [NSArray arrayWithObjects:[NSNumber numberWithInt:system.major], [NSNumber numberWithInt:system.minor], nil];
}

- (NSDictionary*)alloyCounters {
  const device::Counters& counters = _device->counters();
  return [NSDictionary
      dictionaryWithObjectsAndKeys:number(counters.dispatches), @"dispatches", number(counters.launches), @"launches",
                                   number(counters.compilations), @"compilations", number(counters.bytes_to_device),
                                   @"bytesToDevice", number(counters.bytes_from_device), @"bytesFromDevice",
                                   number(counters.allocated_bytes), @"allocatedBytes", nil];
}

@end

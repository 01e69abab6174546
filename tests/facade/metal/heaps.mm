// Heaps and what their buffers share; what every buffer says of its memory.

#include "buffer_bytes.h"

static MTLHeapDescriptor* descriptor(NSUInteger size, MTLHeapType type) {
  MTLHeapDescriptor* made = [[MTLHeapDescriptor new] autorelease];
  [made setSize:size];
  [made setStorageMode:MTLStorageModeShared];
  [made setType:type];
  return made;
}

static void fill(id<MTLBuffer> buffer, uint8_t value) {
  id<MTLCommandBuffer> commands = [the_queue() commandBuffer];
  id<MTLBlitCommandEncoder> encoder = [commands blitCommandEncoder];
  [encoder fillBuffer:buffer range:NSMakeRange(0, [buffer length]) value:value];
  [encoder endEncoding];
  finish(commands);
}

TEST(a_heap_gives_room_and_takes_it_back) {
  const MTLSizeAndAlign each = [the_device() heapBufferSizeAndAlignWithLength:1000
                                                                      options:MTLResourceStorageModeShared];
  CHECK(each.size >= 1000 && each.align > 0 && each.size % each.align == 0);
  id<MTLHeap> heap = [the_device() newHeapWithDescriptor:descriptor(3 * each.size, MTLHeapTypeAutomatic)];
  CHECK([heap device] == the_device());
  CHECK([heap type] == MTLHeapTypeAutomatic);
  CHECK([heap storageMode] == MTLStorageModeShared);
  CHECK([heap cpuCacheMode] == MTLCPUCacheModeDefaultCache);
  CHECK([heap resourceOptions] == MTLResourceStorageModeShared || [heap hazardTrackingMode] != 0);
  [heap setLabel:@"room"];
  CHECK([[heap label] isEqualToString:@"room"]);
  CHECK([heap size] >= 3 * each.size && [heap currentAllocatedSize] >= [heap size]);
  CHECK([heap usedSize] == 0);
  CHECK([heap maxAvailableSizeWithAlignment:each.align] == [heap size]);
  id<MTLBuffer> buffers[3];
  for (auto& buffer : buffers) {
    buffer = [heap newBufferWithLength:1000 options:MTLResourceStorageModeShared];
    CHECK([buffer length] == 1000 && [buffer heap] == heap && [buffer device] == the_device());
  }
  CHECK([heap usedSize] == 3 * each.size);
  for (uint8_t i = 0; i < 3; ++i) fill(buffers[i], i + 1);
  for (uint8_t i = 0; i < 3; ++i) CHECK(values_in<uint8_t>(buffers[i]) == std::vector<uint8_t>(1000, i + 1));
  *static_cast<uint8_t*>([buffers[1] contents]) = 9;
  CHECK(values_in<uint8_t>(buffers[1])[0] == 9);
  if ([heap maxAvailableSizeWithAlignment:0] == 0) {
    CHECK([heap newBufferWithLength:1 options:MTLResourceStorageModeShared] == nil);
  }
  // What is given back is used again.
  const uint64_t address = [buffers[1] gpuAddress];
  [buffers[1] release];
  CHECK([heap usedSize] == 2 * each.size);
  buffers[1] = [heap newBufferWithLength:500 options:MTLResourceStorageModeShared];
  CHECK([buffers[1] gpuAddress] == address);
  for (id<MTLBuffer> buffer : buffers) [buffer release];
  CHECK([heap usedSize] == 0);
  [heap release];
}

TEST(aliasable_memory_is_given_again) {
  id<MTLHeap> heap = [the_device() newHeapWithDescriptor:descriptor(4096, MTLHeapTypeAutomatic)];
  id<MTLBuffer> first = [heap newBufferWithLength:4096 options:MTLResourceStorageModeShared];
  fill(first, 7);
  CHECK(![first isAliasable]);
  [first makeAliasable];
  CHECK([first isAliasable]);
  CHECK([heap usedSize] == 0);
  id<MTLBuffer> second = [heap newBufferWithLength:4096 options:MTLResourceStorageModeShared];
  CHECK([second gpuAddress] == [first gpuAddress]);
  fill(second, 8);
  CHECK(values_in<uint8_t>(first) == std::vector<uint8_t>(4096, 8));
  const NSUInteger used = [heap usedSize];
  [first makeAliasable];
  [first release];
  CHECK([heap usedSize] == used);
  [second release];
  [heap release];
}

TEST(a_placement_heap_lets_the_program_say_where) {
  id<MTLHeap> heap = [the_device() newHeapWithDescriptor:descriptor(1 << 16, MTLHeapTypePlacement)];
  CHECK([heap type] == MTLHeapTypePlacement);
  const NSUInteger align =
      [the_device() heapBufferSizeAndAlignWithLength:64 options:MTLResourceStorageModeShared].align;
  id<MTLBuffer> whole = [heap newBufferWithLength:2 * align options:MTLResourceStorageModeShared offset:0];
  id<MTLBuffer> behind = [heap newBufferWithLength:align options:MTLResourceStorageModeShared offset:align];
  CHECK([behind heapOffset] == align && [whole heapOffset] == 0);
  CHECK([behind gpuAddress] == [whole gpuAddress] + align);
  fill(whole, 1);
  fill(behind, 2);
  std::vector<uint8_t> expected(2 * align, 1);
  std::fill(expected.begin() + static_cast<long>(align), expected.end(), 2);
  CHECK(values_in<uint8_t>(whole) == expected);
  [whole release];
  [behind release];
  [heap release];
}

// Graphs compute with the buffers of heaps, which keep their place until the computation is over.
TEST(graphs_use_heap_buffers) {
  id<MTLHeap> heap = [the_device() newHeapWithDescriptor:descriptor(1 << 14, MTLHeapTypeAutomatic)];
  id<MTLSharedEvent> event = [[the_device() newSharedEvent] autorelease];
  id<MTLBuffer> result = buffer_of(the_device(), std::vector<float>(4));
  id<MTLCommandBuffer> commands = [the_queue() commandBuffer];
  @autoreleasepool {
    id<MTLBuffer> pad = [[heap newBufferWithLength:1 options:0] autorelease];
    id<MTLBuffer> in = [[heap newBufferWithLength:16 options:0] autorelease];
    CHECK([pad heapOffset] != [in heapOffset]);
    const std::vector<float> values = {1, 2, 3, 4};
    MPSGraphTensorData* data = [[[MPSGraphTensorData alloc] initWithMTLBuffer:in
                                                                        shape:numbers({4})
                                                                     dataType:MPSDataTypeFloat32] autorelease];
    [[data mpsndarray] writeBytes:const_cast<float*>(values.data()) strideBytes:nil];
    MPSGraph* graph = [[MPSGraph new] autorelease];
    MPSGraphTensor* x = [graph placeholderWithShape:numbers({4}) dataType:MPSDataTypeFloat32 name:nil];
    MPSGraphTensor* y = [graph squareWithTensor:x name:nil];
    [commands encodeWaitForEvent:event value:1];
    [graph
        encodeToCommandBuffer:[MPSCommandBuffer commandBufferWithCommandBuffer:commands]
                        feeds:[NSDictionary dictionaryWithObject:data forKey:x]
             targetOperations:nil
            resultsDictionary:[NSDictionary dictionaryWithObject:[[[MPSGraphTensorData alloc]
                                                                     initWithMTLBuffer:result
                                                                                 shape:numbers({4})
                                                                              dataType:MPSDataTypeFloat32] autorelease]
                                                          forKey:y]
          executionDescriptor:nil];
  }
  [commands commit];
  id<MTLBuffer> other = [heap newBufferWithLength:4096 options:0];
  id<MTLCommandQueue> side = [[the_device() newCommandQueue] autorelease];
  id<MTLCommandBuffer> filling = [side commandBuffer];
  id<MTLBlitCommandEncoder> encoder = [filling blitCommandEncoder];
  [encoder fillBuffer:other range:NSMakeRange(0, 4096) value:0xff];
  [encoder endEncoding];
  finish(filling);
  [event setSignaledValue:1];
  [commands waitUntilCompleted];
  CHECK(values_in<float>(result) == std::vector<float>({1, 4, 9, 16}));
  [other release];
  [heap release];
}

TEST(resources_say_whether_they_may_go) {
  id<MTLBuffer> buffer = buffer_of<uint8_t>(the_device(), {1, 2, 3});
  CHECK([buffer setPurgeableState:MTLPurgeableStateKeepCurrent] == MTLPurgeableStateNonVolatile);
  CHECK([buffer setPurgeableState:MTLPurgeableStateVolatile] == MTLPurgeableStateNonVolatile);
  CHECK([buffer setPurgeableState:MTLPurgeableStateNonVolatile] == MTLPurgeableStateVolatile);
  CHECK(values_in<uint8_t>(buffer) == std::vector<uint8_t>({1, 2, 3}));
  CHECK([buffer setPurgeableState:MTLPurgeableStateEmpty] == MTLPurgeableStateNonVolatile);
  CHECK([buffer setPurgeableState:MTLPurgeableStateNonVolatile] == MTLPurgeableStateEmpty);
  CHECK([buffer heap] == nil && [buffer heapOffset] == 0 && ![buffer isAliasable]);
  id<MTLHeap> heap = [[the_device() newHeapWithDescriptor:descriptor(256, MTLHeapTypeAutomatic)] autorelease];
  CHECK([heap setPurgeableState:MTLPurgeableStateVolatile] == MTLPurgeableStateNonVolatile);
  CHECK([heap setPurgeableState:MTLPurgeableStateKeepCurrent] == MTLPurgeableStateVolatile);
}

TEST(buffers_have_addresses_and_markers) {
  id<MTLBuffer> a = buffer_of<uint8_t>(the_device(), std::vector<uint8_t>(100)),
                b = buffer_of<uint8_t>(the_device(), std::vector<uint8_t>(100));
  CHECK([a gpuAddress] != 0 && [b gpuAddress] != 0);
  CHECK([a gpuAddress] + 100 <= [b gpuAddress] || [b gpuAddress] + 100 <= [a gpuAddress]);
  [a addDebugMarker:@"half" range:NSMakeRange(0, 50)];
  [a removeAllDebugMarkers];
  CHECK([a allocatedSize] >= 100);
#if !TARGET_OS_IPHONE
  CHECK([a remoteStorageBuffer] == nil);
#endif
}

#ifndef __APPLE__
TEST(mistakes_raise) {
  id nothing = nil;
  CHECK([the_device() newHeapWithDescriptor:descriptor(0, MTLHeapTypeAutomatic)] == nil);
  CHECK([the_device() newHeapWithDescriptor:descriptor(64, MTLHeapTypeSparse)] == nil);
  CHECK([the_device() newHeapWithDescriptor:descriptor(NSUIntegerMax / 2, MTLHeapTypeAutomatic)] == nil);
  MTLHeapDescriptor* memoryless = descriptor(64, MTLHeapTypeAutomatic);
  [memoryless setStorageMode:MTLStorageModeMemoryless];
  CHECK([the_device() newHeapWithDescriptor:memoryless] == nil);
  CHECK_RAISES([the_device() newHeapWithDescriptor:nothing]);
  id<MTLHeap> heap = [[the_device() newHeapWithDescriptor:descriptor(1000, MTLHeapTypeAutomatic)] autorelease];
  CHECK_RAISES([heap newBufferWithLength:0 options:0]);
  CHECK_RAISES([heap newBufferWithLength:8 options:MTLResourceStorageModePrivate]);
  CHECK_RAISES([heap newBufferWithLength:8 options:MTLResourceCPUCacheModeWriteCombined]);
  CHECK_RAISES([heap newBufferWithLength:8 options:0 offset:0]);
  CHECK_RAISES([heap maxAvailableSizeWithAlignment:3]);
  CHECK([heap newBufferWithLength:NSUIntegerMax options:0] == nil);
  id<MTLHeap> placed = [[the_device() newHeapWithDescriptor:descriptor(1000, MTLHeapTypePlacement)] autorelease];
  CHECK([placed newBufferWithLength:8 options:0] == nil);
  CHECK_RAISES([placed newBufferWithLength:8 options:0 offset:1]);
  CHECK_RAISES([placed newBufferWithLength:8 options:0 offset:NSUIntegerMax - 255]);
  CHECK_RAISES([placed newBufferWithLength:NSUIntegerMax options:0 offset:0]);
  id<MTLBuffer> own = buffer_of<uint8_t>(the_device(), {1});
  CHECK_RAISES([own makeAliasable]);
  CHECK_RAISES([own addDebugMarker:@"far" range:NSMakeRange(1, 1)]);
  CHECK_RAISES([own addDebugMarker:nothing range:NSMakeRange(0, 1)]);
  CHECK([own newRemoteBufferViewForDevice:the_device()] == nil);
  CHECK([the_device() newHeapWithDescriptor:[[MTLHeapDescriptor new] autorelease]] == nil);  // of size 0
}
#endif

int main(int count, char** arguments) { return check::run(count, arguments); }

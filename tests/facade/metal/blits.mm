// Blit encoders: copies, fills, fences, and the order of what is encoded with them.

#include "buffer_bytes.h"

TEST(bytes_are_copied_and_filled_in_order) {
  id<MTLBuffer> source = buffer_of<uint8_t>(the_device(), {1, 2, 3, 4, 5, 6, 7, 8});
  id<MTLBuffer> target = buffer_of<uint8_t>(the_device(), std::vector<uint8_t>(12, 9));
  id<MTLCommandBuffer> commands = [the_queue() commandBuffer];
  id<MTLBlitCommandEncoder> encoder = [commands blitCommandEncoder];
  CHECK([encoder device] == the_device());
  CHECK([encoder label] == nil);
  [encoder setLabel:@"copies"];
  CHECK([[encoder label] isEqualToString:@"copies"]);
  [encoder pushDebugGroup:@"group"];
  [encoder insertDebugSignpost:@"here"];
  [encoder copyFromBuffer:source sourceOffset:2 toBuffer:target destinationOffset:4 size:5];
  [encoder fillBuffer:target range:NSMakeRange(8, 3) value:0xab];
  [encoder copyFromBuffer:target sourceOffset:8 toBuffer:target destinationOffset:0 size:2];
  [encoder popDebugGroup];
#if !TARGET_OS_IPHONE
  [encoder synchronizeResource:target];
#endif
  [encoder endEncoding];
  CHECK(values_in<uint8_t>(target)[0] == 9);  // nothing before commit
  finish(commands);
  CHECK(values_in<uint8_t>(target) == std::vector<uint8_t>({0xab, 0xab, 9, 9, 3, 4, 5, 6, 0xab, 0xab, 0xab, 9}));
}

// What a graph wrote before the encoder is copied, and what it copied is read by the graph behind it.
TEST(graphs_and_copies_take_turns) {
  MPSGraph* graph = [[MPSGraph new] autorelease];
  MPSGraphTensor* x = [graph placeholderWithShape:numbers({4}) dataType:MPSDataTypeFloat32 name:nil];
  MPSGraphTensor* y = [graph additionWithPrimaryTensor:x
                                       secondaryTensor:[graph constantWithScalar:10 dataType:MPSDataTypeFloat32]
                                                  name:nil];
  id<MTLBuffer> in = buffer_of(the_device(), counted(4)), out = buffer_of(the_device(), std::vector<float>(4));
  const auto data = [](id<MTLBuffer> buffer) {
    return [[[MPSGraphTensorData alloc] initWithMTLBuffer:buffer shape:numbers({4})
                                                 dataType:MPSDataTypeFloat32] autorelease];
  };
  MPSCommandBuffer* commands = [MPSCommandBuffer commandBufferFromCommandQueue:the_queue()];
  for (int turn = 0; turn < 3; ++turn) {
    [graph encodeToCommandBuffer:commands
                           feeds:[NSDictionary dictionaryWithObject:data(in) forKey:x]
                targetOperations:nil
               resultsDictionary:[NSDictionary dictionaryWithObject:data(out) forKey:y]
             executionDescriptor:nil];
    id<MTLBlitCommandEncoder> encoder = [commands blitCommandEncoder];
    [encoder copyFromBuffer:out sourceOffset:0 toBuffer:in destinationOffset:0 size:16];
    [encoder endEncoding];
  }
  finish(commands);
  CHECK(values_in<float>(in) == std::vector<float>({30, 31, 32, 33}));
}

TEST(fences_are_made_and_used) {
  id<MTLFence> fence = [the_device() newFence];
  CHECK([fence device] == the_device());
  [fence setLabel:@"order"];
  CHECK([[fence label] isEqualToString:@"order"]);
  id<MTLBuffer> buffer = buffer_of<uint8_t>(the_device(), std::vector<uint8_t>(4));
  id<MTLCommandBuffer> commands = [the_queue() commandBuffer];
  id<MTLBlitCommandEncoder> first = [commands blitCommandEncoder];
  [first fillBuffer:buffer range:NSMakeRange(0, 4) value:1];
  [first updateFence:fence];
  [first endEncoding];
  id<MTLBlitCommandEncoder> second = [commands blitCommandEncoder];
  [second waitForFence:fence];
  [second fillBuffer:buffer range:NSMakeRange(0, 2) value:2];
  [second endEncoding];
  finish(commands);
  CHECK(values_in<uint8_t>(buffer) == std::vector<uint8_t>({2, 2, 1, 1}));
  [fence release];
}

TEST(buffers_live_until_they_are_copied) {
  id<MTLSharedEvent> event = [[the_device() newSharedEvent] autorelease];
  id<MTLBuffer> target = buffer_of<uint8_t>(the_device(), std::vector<uint8_t>(3));
  id<MTLCommandBuffer> commands = [the_queue() commandBuffer];
  @autoreleasepool {
    [commands encodeWaitForEvent:event value:1];
    id<MTLBlitCommandEncoder> encoder = [commands blitCommandEncoder];
    [encoder copyFromBuffer:buffer_of<uint8_t>(the_device(), {5, 6, 7})
               sourceOffset:0
                   toBuffer:target
          destinationOffset:0
                       size:3];
    [encoder endEncoding];
    [commands commit];
  }
  [event setSignaledValue:1];
  [commands waitUntilCompleted];
  CHECK(values_in<uint8_t>(target) == std::vector<uint8_t>({5, 6, 7}));
}

#ifndef __APPLE__
// On a Mac each of these aborts the process.
TEST(mistakes_raise) {
  id nothing = nil;
  id<MTLBuffer> buffer = buffer_of<uint8_t>(the_device(), std::vector<uint8_t>(8));
  id<MTLCommandBuffer> commands = [the_queue() commandBuffer];
  id<MTLBlitCommandEncoder> encoder = [commands blitCommandEncoder];
  CHECK_RAISES([commands blitCommandEncoder]);
  CHECK_RAISES([commands commit]);
  CHECK_RAISES([commands encodeSignalEvent:[[the_device() newSharedEvent] autorelease] value:1]);
  CHECK_RAISES([encoder fillBuffer:buffer range:NSMakeRange(6, 3) value:0]);
  CHECK_RAISES([encoder fillBuffer:buffer range:NSMakeRange(20, 1) value:0]);
  CHECK_RAISES([encoder fillBuffer:nothing range:NSMakeRange(0, 1) value:0]);
  CHECK_RAISES([encoder copyFromBuffer:buffer sourceOffset:0 toBuffer:buffer destinationOffset:3 size:4]);
  CHECK_RAISES([encoder copyFromBuffer:buffer sourceOffset:5 toBuffer:buffer destinationOffset:0 size:4]);
  CHECK_RAISES([encoder synchronizeResource:nothing]);
  CHECK_RAISES([encoder updateFence:nothing]);
  CHECK_RAISES([encoder waitForFence:nothing]);
  CHECK_RAISES([encoder popDebugGroup]);
  CHECK_RAISES([encoder pushDebugGroup:nothing]);
  CHECK_RAISES([encoder insertDebugSignpost:nothing]);
  for (id<MTLDevice> other in [MTLCopyAllDevices() autorelease]) {
    if (other == the_device()) continue;
    CHECK_RAISES([encoder fillBuffer:buffer_of<uint8_t>(other, {1}) range:NSMakeRange(0, 1) value:0]);
  }
  [encoder endEncoding];
  CHECK_RAISES([encoder endEncoding]);
  CHECK_RAISES([encoder fillBuffer:buffer range:NSMakeRange(0, 1) value:0]);
  finish(commands);
  CHECK_RAISES([commands blitCommandEncoder]);
}

// An encoder that is dropped has ended.
TEST(a_dropped_encoder_frees_its_command_buffer) {
  id<MTLCommandBuffer> commands = [the_queue() commandBuffer];
  @autoreleasepool {
    [commands blitCommandEncoder];
  }
  finish(commands);
}
#endif

int main(int count, char** arguments) { return check::run(count, arguments); }

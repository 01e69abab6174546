// What programs name and this device does not have: shaders, textures, images, captures. They compile, and are told so.

#import <MetalPerformanceShaders/MetalPerformanceShaders.h>

#include "buffer_bytes.h"

// As programs do it: a library, a function, a pipeline, an encoder; each may be nil, and all messages to nil are fine.
static NSError* compute_with(NSString* source) {
  NSError* error = nil;
  MTLCompileOptions* options = [[MTLCompileOptions new] autorelease];
  [options setPreprocessorMacros:[NSDictionary dictionaryWithObject:@"1" forKey:@"N"]];
  [options setFastMathEnabled:NO];
  [options setLanguageVersion:MTLLanguageVersion2_4];
  id<MTLLibrary> library = [the_device() newLibraryWithSource:source options:options error:&error];
  if (!library) return error;
  [library setLabel:@"library"];
  MTLFunctionConstantValues* values = [[MTLFunctionConstantValues new] autorelease];
  int one = 1;
  [values setConstantValue:&one type:MTLDataTypeInt atIndex:0];
  [values setConstantValues:&one type:MTLDataTypeInt withRange:NSMakeRange(0, 1)];
  [values setConstantValue:&one type:MTLDataTypeInt withName:@"one"];
  id<MTLFunction> function = [library newFunctionWithName:@"add" constantValues:values error:&error];
  [function setLabel:@"function"];
  id<MTLComputePipelineState> pipeline = [the_device() newComputePipelineStateWithFunction:function error:&error];
  id<MTLCommandBuffer> commands = [the_queue() commandBuffer];
  id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
  [encoder setComputePipelineState:pipeline];
  [encoder dispatchThreads:MTLSizeMake(1, 1, 1)
      threadsPerThreadgroup:MTLSizeMake([pipeline threadExecutionWidth], 1, 1)];
  [encoder endEncoding];
  finish(commands);
  return nil;
}

TEST(grids_are_made) {
  const MTLRegion line = MTLRegionMake1D(3, 4), plane = MTLRegionMake2D(1, 2, 3, 4),
                  box = MTLRegionMake3D(1, 2, 3, 4, 5, 6);
  CHECK(line.origin.x == 3 && line.size.width == 4 && line.size.height == 1 && line.size.depth == 1);
  CHECK(plane.origin.y == 2 && plane.size.height == 4 && plane.origin.z == 0 && plane.size.depth == 1);
  CHECK(box.origin.z == 3 && box.size.depth == 6);
}

TEST(the_device_runs_kernels) {
  CHECK(MPSSupportsMTLDevice(the_device()));
  CHECK(!MPSSupportsMTLDevice(nil));
  CHECK(MPSGetPreferredDevice(MPSDeviceOptionsDefault) == the_device());
  id<MTLCommandBuffer> commands = [the_queue() commandBuffer];
  MPSHintTemporaryMemoryHighWaterMark(commands, 1 << 20);
  MPSSetHeapCacheDuration(commands, 0.5);
  finish(commands);
  MTLTimestamp host = 0, device = 0;
  [the_device() sampleTimestamps:&host gpuTimestamp:&device];
  CHECK(host > 0 && device > 0);
}

#ifndef __APPLE__
static bool is_refused(NSError* error) {
  return [[error domain] isEqualToString:MTLLibraryErrorDomain] && [error code] == MTLLibraryErrorUnsupported &&
         [[error localizedDescription] rangeOfString:@"Shaders do not exist on this device"].length > 0;
}

TEST(every_way_to_a_shader_is_refused) {
  CHECK(is_refused(compute_with(@"kernel void add() {}")));
  id nothing = nil;
  NSError* error = nil;
  CHECK([the_device() newDefaultLibrary] == nil);
  CHECK([the_device() newDefaultLibraryWithBundle:[NSBundle mainBundle] error:&error] == nil && is_refused(error));
  error = nil;
  CHECK([the_device() newLibraryWithFile:@"default.metallib" error:&error] == nil && is_refused(error));
  error = nil;
  NSURL* file = [NSURL fileURLWithPath:@"/default.metallib"];
  CHECK([the_device() newLibraryWithURL:file error:&error] == nil && is_refused(error));
  error = nil;
  dispatch_data_t bytes = dispatch_data_create("x", 1, nil, DISPATCH_DATA_DESTRUCTOR_DEFAULT);
  CHECK([the_device() newLibraryWithData:bytes error:&error] == nil && is_refused(error));
  dispatch_release(bytes);
  error = nil;
  CHECK([the_device() newComputePipelineStateWithFunction:nothing error:&error] == nil && is_refused(error));
  error = nil;
  MTLAutoreleasedComputePipelineReflection reflection = nil;
  CHECK([the_device() newComputePipelineStateWithFunction:nothing
                                                  options:MTLPipelineOptionArgumentInfo
                                               reflection:&reflection
                                                    error:&error] == nil &&
        is_refused(error) && reflection == nil);
  error = nil;
  MTLComputePipelineDescriptor* descriptor = [[MTLComputePipelineDescriptor new] autorelease];
  CHECK([the_device() newComputePipelineStateWithDescriptor:descriptor
                                                    options:MTLPipelineOptionNone
                                                 reflection:nil
                                                      error:&error] == nil &&
        is_refused(error));
  CHECK([the_device() newLibraryWithSource:@"" options:nil error:nil] == nil);  // without a place for the error

  __block int told = 0;
  dispatch_semaphore_t done = dispatch_semaphore_create(0);
  [the_device() newLibraryWithSource:@""
                             options:nil
                   completionHandler:^(id<MTLLibrary> library, NSError* why) {
                     __sync_fetch_and_add(&told, library == nil && is_refused(why));  // handlers may run at once
                     dispatch_semaphore_signal(done);
                   }];
  [the_device() newComputePipelineStateWithFunction:nothing
                                  completionHandler:^(id<MTLComputePipelineState> pipeline, NSError* why) {
                                    __sync_fetch_and_add(&told, pipeline == nil && is_refused(why));
                                    dispatch_semaphore_signal(done);
                                  }];
  dispatch_semaphore_wait(done, DISPATCH_TIME_FOREVER);
  dispatch_semaphore_wait(done, DISPATCH_TIME_FOREVER);
  CHECK(told == 2);
  dispatch_release(done);
}

TEST(textures_images_and_captures_are_refused) {
  MTLTextureDescriptor* descriptor = [[MTLTextureDescriptor new] autorelease];
  id<MTLTexture> texture = [the_device() newTextureWithDescriptor:descriptor];
  CHECK(texture == nil);
  id<MTLBuffer> buffer = buffer_of(the_device(), counted(4));
  CHECK([buffer newTextureWithDescriptor:descriptor offset:0 bytesPerRow:16] == nil);
  MTLHeapDescriptor* room = [[MTLHeapDescriptor new] autorelease];
  [room setSize:64];
  id<MTLHeap> heap = [[the_device() newHeapWithDescriptor:room] autorelease];
  CHECK([heap newTextureWithDescriptor:descriptor] == nil && [heap newTextureWithDescriptor:descriptor
                                                                                     offset:0] == nil);
  MPSImageDescriptor* image = [[MPSImageDescriptor new] autorelease];
  CHECK([image pixelFormat] == MTLPixelFormatInvalid);
  CHECK([image width] == 1 && [image height] == 1 && [image featureChannels] == 1 && [image numberOfImages] == 1);
  CHECK([[MPSImage alloc] initWithTexture:texture featureChannels:3] == nil);
  MTLCaptureManager* captures = [MTLCaptureManager sharedCaptureManager];
  CHECK(captures == [MTLCaptureManager sharedCaptureManager]);
  CHECK(![captures supportsDestination:MTLCaptureDestinationGPUTraceDocument] && ![captures isCapturing]);
  NSError* error = nil;
  CHECK(![captures startCaptureWithDescriptor:[[MTLCaptureDescriptor new] autorelease] error:&error]);
  CHECK([[error domain] isEqualToString:MTLCaptureErrorDomain] && [error code] == MTLCaptureErrorNotSupported);
  CHECK(![captures startCaptureWithDescriptor:[[MTLCaptureDescriptor new] autorelease] error:nil]);
  [captures stopCapture];
}

// Messages to what was not made, as programs send them that do not look.
TEST(messages_to_what_is_not_there) {
  id<MTLLibrary> library = [the_device() newDefaultLibrary];
  id<MTLFunction> function = [library newFunctionWithName:@"f"];
  id<MTLComputePipelineState> pipeline = [the_device() newComputePipelineStateWithFunction:function error:nil];
  id<MTLCommandBuffer> commands = [the_queue() commandBuffer];
  id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoderWithDispatchType:MTLDispatchTypeConcurrent];
  id<MTLBuffer> buffer = buffer_of(the_device(), counted(4));
  id<MTLFence> fence = [[the_device() newFence] autorelease];
  id<MTLTexture> texture = [the_device() newTextureWithDescriptor:[[MTLTextureDescriptor new] autorelease]];
  id<MTLHeap> heap = nil;
  int one = 1;
  [encoder setComputePipelineState:pipeline];
  [encoder setBytes:&one length:4 atIndex:0];
  [encoder setBuffer:buffer offset:0 atIndex:1];
  [encoder setBufferOffset:4 atIndex:1];
  [encoder setTexture:texture atIndex:0];
  [encoder setThreadgroupMemoryLength:16 atIndex:0];
  [encoder useResource:buffer usage:MTLResourceUsageRead];
  [encoder useHeap:heap];
  [encoder waitForFence:fence];
  [encoder dispatchThreadgroups:MTLSizeMake(1, 1, 1) threadsPerThreadgroup:MTLSizeMake(1, 1, 1)];
  [encoder memoryBarrierWithScope:MTLBarrierScopeBuffers];
  [encoder updateFence:fence];
  [encoder endEncoding];
  finish(commands);
  CHECK([encoder dispatchType] == MTLDispatchTypeSerial && [encoder device] == nil);
  CHECK([library label] == nil && [library device] == nil && [library functionNames] == nil);
  CHECK([function label] == nil && [function name] == nil && [function functionType] == 0);
  CHECK([pipeline label] == nil && [pipeline maxTotalThreadsPerThreadgroup] == 0);
  CHECK([pipeline threadExecutionWidth] == 0 && [pipeline staticThreadgroupMemoryLength] == 0);
  uint8_t pixels[4] = {};
  const MTLRegion pixel = MTLRegionMake2D(0, 0, 1, 1);
  [texture replaceRegion:pixel mipmapLevel:0 withBytes:pixels bytesPerRow:4];
  [texture replaceRegion:pixel mipmapLevel:0 slice:0 withBytes:pixels bytesPerRow:4 bytesPerImage:4];
  [texture getBytes:pixels bytesPerRow:4 fromRegion:pixel mipmapLevel:0];
  [texture getBytes:pixels bytesPerRow:4 bytesPerImage:4 fromRegion:pixel mipmapLevel:0 slice:0];
  CHECK([texture buffer] == nil && [texture textureType] == 0 && [texture pixelFormat] == 0 && [texture width] == 0);
  CHECK([texture height] == 0 && [texture depth] == 0 && [texture mipmapLevelCount] == 0);
  CHECK([texture sampleCount] == 0 && [texture arrayLength] == 0 && [texture usage] == 0);
}

TEST(the_device_says_what_it_is_not) {
  for (MTLGPUFamily family :
       {MTLGPUFamilyApple1, MTLGPUFamilyApple9, MTLGPUFamilyMac2, MTLGPUFamilyCommon1, MTLGPUFamilyMetal3}) {
    CHECK(![the_device() supportsFamily:family]);
  }
  CHECK([the_device() maxThreadsPerThreadgroup].width == 1 && [the_device() maxThreadgroupMemoryLength] == 0);
  CHECK(![the_device() isLowPower] && [the_device() isHeadless] && ![the_device() isRemovable]);
  CHECK(![the_device() supports32BitFloatFiltering]);
  CHECK([the_device() location] == MTLDeviceLocationBuiltIn && [the_device() locationNumber] == 0);
  CHECK([the_device() maxTransferRate] == 0 && [the_device() peerGroupID] == 0 && [the_device() peerIndex] == 0);
  CHECK([the_device() peerCount] == 0);
  MTLArchitecture* kind = [the_device() architecture];
  CHECK([[kind name] length] > 0 && [[[[kind copy] autorelease] name] isEqualToString:[kind name]]);
  MTLTimestamp* nowhere = nil;
  CHECK_RAISES([the_device() sampleTimestamps:nowhere gpuTimestamp:nowhere]);
  // Every device makes heaps for temporary memory, and takes them back.
  MTLHeapDescriptor* room = [[MTLHeapDescriptor new] autorelease];
  [room setSize:64];
  id<MPSHeapProvider> provider = (id<MPSHeapProvider>)the_device();
  id<MTLHeap> heap = [provider newHeapWithDescriptor:room];
  [provider retireHeap:heap cacheDelay:0];
  [heap release];
}
#else
TEST(the_device_computes_with_a_shader) { compute_with(@"kernel void add() {}"); }
#endif

int main(int count, char** arguments) { return check::run(count, arguments); }

// Uses everything once, on one thread, while the library loads. GNUstep makes shared state at its first use without a
// lock, so first uses by several threads crash.

#import <MetalPerformanceShadersGraph/MetalPerformanceShadersGraph.h>

#include "facade/imitation.h"
#include "facade/metal/metal.h"

using namespace alloy;
using namespace alloy::facade;

namespace {

// One message initialises a class and all its superclasses.
void touch_classes() {
  [MPSCNNConvolution class];
  [MPSCNNDepthWiseConvolutionDescriptor class];
  [MPSCommandBuffer class];
  [MPSImage class];
  [MPSImageDescriptor class];
  [MPSMatrixDescriptor class];
  [MPSMatrixLogSoftMax class];
  [MPSMatrixMultiplication class];
  [MPSMatrixNeuron class];
  [MPSMatrixVectorMultiplication class];
  [MPSNNDefaultPadding class];
  [MPSNNNeuronDescriptor class];
  [MPSTemporaryImage class];
  [MPSTemporaryMatrix class];
  [MPSTemporaryNDArray class];
  [MPSTemporaryVector class];
  [MPSVectorDescriptor class];
  [MPSGraph class];
  [MPSGraphCompilationDescriptor class];
  [MPSGraphConvolution2DOpDescriptor class];
  [MPSGraphDevice class];
  [MPSGraphExecutable class];
  [MPSGraphExecutableExecutionDescriptor class];
  [MPSGraphExecutableSerializationDescriptor class];
  [MPSGraphExecutionDescriptor class];
  [MPSGraphOperation class];
  [MPSGraphPooling2DOpDescriptor class];
  [MPSGraphShapedType class];
  [MPSGraphTensor class];
  [MPSGraphTensorData class];
  [MPSGraphVariableOp class];
  [MPSNDArray class];
  [MPSNDArrayDescriptor class];
  [MTLCaptureDescriptor class];
  [MTLCaptureManager class];
  [MTLCommandBufferDescriptor class];
  [MTLCompileOptions class];
  [MTLComputePipelineDescriptor class];
  [MTLComputePipelineReflection class];
  [MTLFunctionConstantValues class];
  [MTLHeapDescriptor class];
  [MTLSharedEventHandle class];
  [MTLSharedEventListener class];
  [MTLTextureDescriptor class];
}

// Foundation hides its concrete classes behind class clusters; only objects reach them.
void touch_foundation() {
  for (id number in
       [NSArray arrayWithObjects:[NSNumber numberWithBool:YES], [NSNumber numberWithInt:1],
                                 [NSNumber numberWithLongLong:1ll << 40], [NSNumber numberWithUnsignedInteger:1u],
                                 [NSNumber numberWithUnsignedLongLong:~0ull], [NSNumber numberWithFloat:0.5f],
                                 [NSNumber numberWithDouble:0.5], nil]) {
    (void)[[number description] hash];
  }
  NSMutableArray* list = [NSMutableArray arrayWithObject:@"first"];
  [list addObject:[NSNull null]];
  for (id object in [[list copy] autorelease]) (void)[object hash];
  for (id object in [list reverseObjectEnumerator]) (void)[object hash];
  NSMutableDictionary* map = [NSMutableDictionary dictionaryWithObject:list forKey:@"key"];
  for (id key in map) (void)[map objectForKey:key];
  for (id key in [[[map copy] autorelease] keyEnumerator]) (void)[map objectForKey:key];
  (void)[[map allValues] isEqual:[map allKeys]];
  // Describing a collection makes the character sets for quoting, another state shared without a lock.
  (void)[NSString stringWithFormat:@"%@ %@", list, map];
  (void)[NSSet setWithObject:@"member"];
  NSMutableString* text = [NSMutableString stringWithFormat:@"%@ %d \u00e9", @"text", 1];
  [text appendString:[NSString stringWithUTF8String:"\u00e9"]];
  (void)[text isEqualToString:[[text copy] autorelease]];
  (void)[text UTF8String];
  float value = 1;
  (void)[[NSData dataWithBytes:&value length:sizeof value] isEqual:[NSMutableData dataWithLength:sizeof value]];
  (void)[NSData dataWithBytesNoCopy:&value length:sizeof value freeWhenDone:NO];
  (void)[NSValue valueWithPointer:&value];
  (void)[[[NSURL fileURLWithPath:@"/"] path] fileSystemRepresentation];
  (void)[[NSThread currentThread] threadDictionary];
  @synchronized(list) {
    (void)error_of(host::Status{"warm up"});
  }
}

void touch_exceptions() {
  @try {
    raise_invalid(@"warm up");
  } @catch (NSException* exception) {
    (void)[[exception reason] UTF8String];
  }
}

void touch_blocks() {
  NSObject* captured = [[NSObject new] autorelease];
  __block int calls = 0;
  dispatch_block_t block = ^{
    calls += captured != nil;
  };
  for (id kept in [NSArray arrayWithObject:[[(id)block copy] autorelease]]) ((dispatch_block_t)kept)();
  dispatch_once_t once = 0;
  dispatch_once(&once, block);
  dispatch_semaphore_t semaphore = dispatch_semaphore_create(1);
  dispatch_semaphore_wait(semaphore, DISPATCH_TIME_NOW);
  dispatch_release(semaphore);
  dispatch_release(dispatch_group_create());
  dispatch_release(dispatch_queue_create(nullptr, DISPATCH_QUEUE_SERIAL));
  (void)dispatch_get_global_queue(QOS_CLASS_DEFAULT, 0);
  (void)DISPATCH_QUEUE_CONCURRENT;
  dispatch_release(dispatch_data_create(&calls, sizeof calls, nil, DISPATCH_DATA_DESTRUCTOR_DEFAULT));
}

// Uses every object of the facade that needs no graph.
void touch_objects() {
  id<MTLDevice> device = cpu_device();
  (void)[device name];
  id<MTLBuffer> buffer = [[device newBufferWithLength:4 options:MTLResourceStorageModeShared] autorelease];
  id<MTLSharedEvent> event = [[device newSharedEvent] autorelease];
  MTLSharedEventListener* listener = [[MTLSharedEventListener new] autorelease];
  (void)[listener dispatchQueue];
  [event setSignaledValue:1];
  MPSCommandBuffer* commands = [MPSCommandBuffer commandBufferFromCommandQueue:[[device newCommandQueue] autorelease]];
  [commands addCompletedHandler:^(id<MTLCommandBuffer>){
  }];
  [commands encodeSignalEvent:event value:2];
  id<MTLFence> fence = [[device newFence] autorelease];
  id<MTLBlitCommandEncoder> encoder = [commands blitCommandEncoder];
  [encoder waitForFence:fence];
  [encoder endEncoding];
  [commands setPredicate:[MPSPredicate predicateWithBuffer:buffer offset:0]];
  [[device newSharedEventWithHandle:[[event newSharedEventHandle] autorelease]] release];
  (void)[MPSNDArray defaultAllocator];
  (void)[MPSTemporaryNDArray defaultAllocator];
  MTLHeapDescriptor* room = [[MTLHeapDescriptor new] autorelease];
  [room setSize:1];
  id<MTLHeap> heap = [[device newHeapWithDescriptor:room] autorelease];
  [[heap newBufferWithLength:1 options:[heap resourceOptions]] release];
  MPSMatrixDescriptor* rows = [MPSMatrixDescriptor matrixDescriptorWithRows:1
                                                                    columns:1
                                                                   rowBytes:sizeof(float)
                                                                   dataType:MPSDataTypeFloat32];
  MPSVectorDescriptor* row = [MPSVectorDescriptor vectorDescriptorWithLength:1 dataType:MPSDataTypeFloat32];
  [[[MPSMatrix alloc] initWithBuffer:buffer descriptor:rows] release];
  [[[MPSVector alloc] initWithBuffer:buffer descriptor:row] release];
  [[[[[MPSMatrixSoftMax alloc] initWithDevice:device] autorelease] copy] release];
  MPSShape* shape = [NSArray arrayWithObject:[NSNumber numberWithInt:1]];
  MPSNDArrayDescriptor* descriptor = [MPSNDArrayDescriptor descriptorWithDataType:MPSDataTypeFloat32 shape:shape];
  MPSNDArray* array = [[[MPSNDArray alloc] initWithDevice:device descriptor:descriptor] autorelease];
  float value = 0;
  [array writeBytes:&value strideBytes:nil];
  (void)[[array descriptor] dataType];
  MPSGraphDevice* graph_device = [MPSGraphDevice deviceWithMTLDevice:device];
  MPSGraphTensorData* data = [[[MPSGraphTensorData alloc] initWithMTLBuffer:buffer
                                                                      shape:shape
                                                                   dataType:MPSDataTypeFloat32] autorelease];
  (void)[[data device] isEqual:graph_device];
  [[[MPSGraphTensorData alloc] initWithDevice:graph_device
                                         data:[NSData dataWithBytes:&value length:sizeof value]
                                        shape:shape
                                     dataType:MPSDataTypeFloat32] release];
  MPSGraphShapedType* type = [[[MPSGraphShapedType alloc] initWithShape:shape dataType:MPSDataTypeFloat32] autorelease];
  (void)[type isEqualTo:[[type copy] autorelease]];
  MPSGraphExecutionDescriptor* execution = [[MPSGraphExecutionDescriptor new] autorelease];
  [execution setCompilationDescriptor:[[MPSGraphCompilationDescriptor new] autorelease]];
  [execution waitForEvent:event value:1];
  [[[[MPSGraphExecutableExecutionDescriptor new] autorelease] copy] release];
  [[[[MPSGraphConvolution2DOpDescriptor new] autorelease] copy] release];
  [[[[MPSGraphPooling2DOpDescriptor new] autorelease] copy] release];
}

}  // namespace

// on_load.cpp calls it.
extern "C" void alloy_warm_up() {
  @autoreleasepool {
    touch_classes();
    imitate_classes();
    touch_foundation();
    touch_exceptions();
    touch_blocks();
    touch_objects();
  }
  // The transfers of the warm-up do not count.
  device::Counters& counters = device_of(cpu_device()).counters();
  counters.bytes_to_device = 0;
  counters.bytes_from_device = 0;
}

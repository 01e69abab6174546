// Runs a model trained in Python, without Python. Reads the file of trainer.export(path) or `alloy export`, and float32
// numbers from a file, and writes the results to a file.
//
//   run_package model.mpsgraphpackage 100x8x8x1 images.f32 scores.f32

#import <Foundation/Foundation.h>
#import <Metal/Metal.h>
#import <MetalPerformanceShadersGraph/MetalPerformanceShadersGraph.h>

#include <cstdio>

int main(int count, char** given) {
  @autoreleasepool {
    if (count != 5) return std::fprintf(stderr, "usage: run_package PACKAGE SHAPE INPUT OUTPUT\n"), 2;
    NSMutableArray<NSString*>* arguments = [NSMutableArray array];
    for (int i = 1; i < count; ++i) [arguments addObject:[NSString stringWithUTF8String:given[i]]];
    NSMutableArray<NSNumber*>* shape = [NSMutableArray array];
    for (NSString* extent in [[arguments objectAtIndex:1] componentsSeparatedByString:@"x"]) {
      [shape addObject:[NSNumber numberWithInt:[extent intValue]]];
    }
    id<MTLDevice> device = MTLCreateSystemDefaultDevice();
    @try {
      MPSGraphExecutable* model =
          [[MPSGraphExecutable alloc] initWithMPSGraphPackageAtURL:[NSURL fileURLWithPath:[arguments objectAtIndex:0]]
                                             compilationDescriptor:nil];
      NSData* input = [NSData dataWithContentsOfFile:[arguments objectAtIndex:2]];
      MPSGraphTensorData* x = [[MPSGraphTensorData alloc] initWithDevice:[MPSGraphDevice deviceWithMTLDevice:device]
                                                                    data:input
                                                                   shape:shape
                                                                dataType:MPSDataTypeFloat32];
      NSArray<MPSGraphTensorData*>* results = [model runWithMTLCommandQueue:[device newCommandQueue]
                                                                inputsArray:[NSArray arrayWithObject:x]
                                                               resultsArray:nil
                                                        executionDescriptor:nil];
      MPSGraphTensorData* y = [results objectAtIndex:0];
      NSUInteger bytes = sizeof(float);
      for (NSNumber* extent in [y shape]) bytes *= [extent unsignedIntegerValue];
      NSMutableData* output = [NSMutableData dataWithLength:bytes];
      [[y mpsndarray] readBytes:[output mutableBytes] strideBytes:nil];
      return [output writeToFile:[arguments objectAtIndex:3] atomically:YES] ? 0 : 1;
    } @catch (NSException* refused) {
      return std::fprintf(stderr, "%s\n", [[refused reason] UTF8String]), 1;
    }
  }
}

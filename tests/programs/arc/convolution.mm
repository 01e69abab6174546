// An image is blurred and its edges are found, with the values of a calculation by hand.
#include "tensor_data.h"

@interface Filter : NSObject
- (instancetype)initWithKernel:(NSArray<NSArray<NSNumber*>*>*)kernel;
- (NSArray<NSNumber*>*)apply:(NSArray<NSNumber*>*)image width:(NSUInteger)width;
@end

@implementation Filter {
  NSArray<NSArray<NSNumber*>*>* _kernel;
}

- (instancetype)initWithKernel:(NSArray<NSArray<NSNumber*>*>*)kernel {
  if (self = [super init]) _kernel = [kernel copy];
  return self;
}

- (NSArray<NSNumber*>*)apply:(NSArray<NSNumber*>*)image width:(NSUInteger)width {
  MPSGraph* graph = [MPSGraph new];
  NSUInteger height = image.count / width;
  MPSShape* shape = @[ @1, @(height), @(width), @1 ];
  MPSGraphTensor* source = [graph placeholderWithShape:shape dataType:MPSDataTypeFloat32 name:nil];
  NSMutableData* weights = [NSMutableData data];
  for (NSArray<NSNumber*>* row in _kernel) {
    for (NSNumber* number in row) {
      float weight = number.floatValue;
      [weights appendBytes:&weight length:sizeof weight];
    }
  }
  MPSGraphTensor* kernel = [graph constantWithData:weights
                                             shape:@[ @(_kernel.count), @(_kernel[0].count), @1, @1 ]
                                          dataType:MPSDataTypeFloat32];
  MPSGraphConvolution2DOpDescriptor* descriptor =
      [MPSGraphConvolution2DOpDescriptor descriptorWithStrideInX:1
                                                       strideInY:1
                                                 dilationRateInX:1
                                                 dilationRateInY:1
                                                          groups:1
                                                    paddingStyle:MPSGraphPaddingStyleTF_VALID
                                                      dataLayout:MPSGraphTensorNamedDataLayoutNHWC
                                                   weightsLayout:MPSGraphTensorNamedDataLayoutHWIO];
  MPSGraphTensor* result = [graph convolution2DWithSourceTensor:source
                                                  weightsTensor:kernel
                                                     descriptor:descriptor
                                                           name:nil];
  NSMutableData* pixels = [NSMutableData dataWithLength:image.count * sizeof(float)];
  float* pixel = (float*)pixels.mutableBytes;
  for (NSNumber* number in image) *pixel++ = number.floatValue;
  MPSGraphTensorData* out = [graph runWithFeeds:@{source : data_of((const float*)pixels.bytes, shape)}
                                  targetTensors:@[ result ]
                               targetOperations:nil][result];
  NSMutableArray<NSNumber*>* numbers = [NSMutableArray new];
  const float* values = floats_of(out);
  NSUInteger count = out.shape[1].unsignedIntegerValue * out.shape[2].unsignedIntegerValue;
  for (NSUInteger i = 0; i < count; ++i) [numbers addObject:@(values[i])];
  return numbers;
}

@end

int main() {
  @autoreleasepool {
    NSArray* image = @[ @1, @2, @3, @4, @5, @6, @7, @8, @9 ];
    NSArray* sums = [[[Filter alloc] initWithKernel:@[ @[ @1, @1 ], @[ @1, @1 ] ]] apply:image width:3];
    CHECK([sums isEqual:(@[ @12, @16, @24, @28 ])]);
    NSArray* slopes = [[[Filter alloc] initWithKernel:@[ @[ @(-1), @0, @1 ] ]] apply:image width:3];
    CHECK([slopes isEqual:(@[ @2, @2, @2 ])]);
  }
}

// Arrays in memory, and feeds of an unexpected shape or type.
#include "question.h"

// macOS 15; older headers lack it.
@protocol AlloyProbesArrays
- (instancetype)initWithBuffer:(id<MTLBuffer>)buffer
                        offset:(NSUInteger)offset
                    descriptor:(MPSNDArrayDescriptor*)descriptor;
@end

namespace alloy::probes {
namespace {

MPSNDArrayDescriptor* two_by_three() {
  return [MPSNDArrayDescriptor descriptorWithDataType:MPSDataTypeFloat32 shape:numbers({2, 3})];
}

id<MTLBuffer> buffer_of(const std::vector<float>& values) {
  return [[device() newBufferWithBytes:values.data()
                                length:values.size() * sizeof(float)
                               options:MTLResourceStorageModeShared] autorelease];
}

std::string text_of(const float* values, size_t count) {
  std::vector<std::string> words;
  for (size_t i = 0; i < count; ++i) words.push_back(text(values[i]));
  return join(words);
}

std::string row_strides() {
  MPSNDArray* array = [[[MPSNDArray alloc] initWithDevice:device() descriptor:two_by_three()] autorelease];
  float values[] = {0, 1, 2, 3, 4, 5};
  [array writeBytes:values strideBytes:nil];
  id<MTLBuffer> buffer = buffer_of(std::vector<float>(7, 9));
  NSInteger strides[] = {4, 16};
  id<MTLCommandBuffer> commands = [queue() commandBuffer];
  [array exportDataWithCommandBuffer:commands
                            toBuffer:buffer
                 destinationDataType:MPSDataTypeFloat32
                              offset:0
                          rowStrides:strides];
  [commands commit];
  [commands waitUntilCompleted];
  return values_text([[[MPSGraphTensorData alloc] initWithMTLBuffer:buffer
                                                              shape:numbers({7})
                                                           dataType:MPSDataTypeFloat32] autorelease]);
}

std::string rows_of_a_buffer() {
  if (![MPSNDArray instancesRespondToSelector:@selector(initWithBuffer:offset:descriptor:)]) return kAbsent;
  id<MTLBuffer> buffer = buffer_of({0, 1, 2, 3, 4, 5, 6, 7});
  id<AlloyProbesArrays> made = (id<AlloyProbesArrays>)[MPSNDArray alloc];
  MPSNDArray* array = (MPSNDArray*)[made initWithBuffer:buffer offset:0 descriptor:two_by_three()];
  float values[6];
  [array readBytes:values strideBytes:nil];
  [array release];
  return text_of(values, 6);
}

std::string feed_of_another_shape() {
  MPSGraph* graph = [[MPSGraph new] autorelease];
  MPSGraphTensor* bias = [graph placeholderWithShape:numbers({1, 2, 1, 1}) dataType:MPSDataTypeFloat32 name:nil];
  MPSGraphTensor* ones = [graph constantWithScalar:1 shape:numbers({1, 2, 1, 2}) dataType:MPSDataTypeFloat32];
  MPSGraphTensor* sum = [graph additionWithPrimaryTensor:bias secondaryTensor:ones name:nil];
  MPSGraphTensorData* fed = [[[MPSGraphTensorData alloc] initWithMTLBuffer:buffer_of({10, 20})
                                                                     shape:numbers({2})
                                                                  dataType:MPSDataTypeFloat32] autorelease];
  NSDictionary* results = [graph runWithMTLCommandQueue:queue()
                                                  feeds:[NSDictionary dictionaryWithObject:fed forKey:bias]
                                          targetTensors:list(sum)
                                       targetOperations:nil];
  return values_text(static_cast<MPSGraphTensorData*>([results objectForKey:sum]));
}

std::string one_hot_of_floats() {
  Question q;
  return q.values({[q.graph oneHotWithIndicesTensor:q.feed(std::vector<float>{1, 0}, {2}) depth:2 name:nil]});
}

constexpr Probe kArraysRows[] = {
    {"row_strides", "an array exported with the strides 4 and 16", "0 1 2 9 3 4 5", 0,
     "a program that ships; the header begins with rows", nullptr, row_strides},
    {"rows_of_a_buffer", "rows of an array over a buffer, of 12 bytes", nullptr, 0,
     "of macOS 15; here they take 16 bytes, as a public source says", nullptr, rows_of_a_buffer},
    {"feed_of_another_shape", "as many elements in another shape, fed", "11 11 21 21", 0, "a public program feeds so",
     nullptr, feed_of_another_shape},
    {"one_hot_of_floats", "a one-hot tensor of float indices", "0 1 1 0", 0, "a public program gives floats", nullptr,
     one_hot_of_floats},
};

}  // namespace

const std::span<const Probe> kArrays = kArraysRows;

}  // namespace alloy::probes

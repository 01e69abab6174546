// Arrays, their descriptors, and tensor data: order of dimensions, strides, aliasing, refusals.

#include <cstdlib>
#include <cstring>
#include <vector>

#include "buffer_bytes.h"

static MPSNDArray* array_of(const std::vector<long>& lengths, MPSDataType type) {
  MPSNDArrayDescriptor* descriptor = [MPSNDArrayDescriptor descriptorWithDataType:type shape:numbers(lengths)];
  return [[[MPSNDArray alloc] initWithDevice:the_device() descriptor:descriptor] autorelease];
}

TEST(descriptors_number_dimensions_from_the_fastest) {
  MPSNDArrayDescriptor* by_shape = [MPSNDArrayDescriptor descriptorWithDataType:MPSDataTypeFloat32
                                                                          shape:numbers({2, 3, 4})];
  CHECK([by_shape numberOfDimensions] == 3);
  CHECK([by_shape lengthOfDimension:0] == 4);
  CHECK([by_shape lengthOfDimension:2] == 2);
  CHECK([by_shape lengthOfDimension:3] == 1);
  NSUInteger sizes[] = {4, 3, 2};
  MPSNDArrayDescriptor* by_sizes = [MPSNDArrayDescriptor descriptorWithDataType:MPSDataTypeInt8
                                                                 dimensionCount:3
                                                                 dimensionSizes:sizes];
  MPSNDArrayDescriptor* by_list =
      [MPSNDArrayDescriptor descriptorWithDataType:MPSDataTypeInt8
                                    dimensionSizes:(NSUInteger)4, (NSUInteger)3, (NSUInteger)2, (NSUInteger)0];
  for (NSUInteger i = 0; i < 3; ++i) {
    CHECK([by_sizes lengthOfDimension:i] == sizes[i]);
    CHECK([by_list lengthOfDimension:i] == sizes[i]);
  }
  CHECK([by_list numberOfDimensions] == 3);
  CHECK([by_list dataType] == MPSDataTypeInt8);
  [by_list setDataType:MPSDataTypeFloat16];
  CHECK([by_list dataType] == MPSDataTypeFloat16);
  [by_list reshapeWithShape:numbers({6, 4})];
  CHECK([by_list numberOfDimensions] == 2);
  CHECK([by_list lengthOfDimension:0] == 4 && [by_list lengthOfDimension:1] == 6);
  [by_list setNumberOfDimensions:3];
  CHECK([by_list lengthOfDimension:2] == 1);
  [by_list reshapeWithDimensionCount:2 dimensionSizes:sizes];
  CHECK([by_list numberOfDimensions] == 2);
  CHECK([by_list lengthOfDimension:0] == 4 && [by_list lengthOfDimension:1] == 3);
}

TEST(element_sizes_come_from_the_type) {
  CHECK(MPSSizeofMPSDataType(MPSDataTypeFloat32) == 4);
  CHECK(MPSSizeofMPSDataType(MPSDataTypeFloat16) == 2);
  CHECK(MPSSizeofMPSDataType(MPSDataTypeInt64) == 8);
  CHECK(MPSSizeofMPSDataType(MPSDataTypeBool) == 1);
  CHECK(MPSSizeofMPSDataType(MPSDataTypeUInt16) == 2);
}

TEST(packed_bytes_make_the_round_trip) {
  MPSNDArray* array = array_of({2, 3, 4}, MPSDataTypeFloat32);
  CHECK([array numberOfDimensions] == 3);
  CHECK([array lengthOfDimension:0] == 4);
  CHECK([array dataTypeSize] == 4);
  CHECK([array dataType] == MPSDataTypeFloat32);
  CHECK([array device] == the_device());
  CHECK([array parent] == nil);
  CHECK([array resourceSize] >= 24 * sizeof(float));
  std::vector<float> values = counted(24);
  [array writeBytes:values.data() strideBytes:nil];
  std::vector<float> result(24, -1.0f);
  [array readBytes:result.data() strideBytes:nil];
  CHECK(result == values);
  [array setLabel:@"weights"];
  CHECK([[array label] isEqualToString:@"weights"]);
  MPSNDArrayDescriptor* descriptor = [array descriptor];
  CHECK([descriptor numberOfDimensions] == 3 && [descriptor lengthOfDimension:1] == 3);
}

TEST(strides_go_from_the_fastest_dimension) {
  MPSNDArray* array = array_of({2, 3}, MPSDataTypeFloat32);
  std::vector<float> values = counted(6);
  [array writeBytes:values.data() strideBytes:nil];

  // The transpose: the fastest dimension of the array is the slower one of the host.
  NSInteger transposed[] = {2 * sizeof(float), sizeof(float)};
  std::vector<float> result(6, -1.0f);
  [array readBytes:result.data() strideBytes:transposed];
  CHECK(result == std::vector<float>({0, 3, 1, 4, 2, 5}));

  // Rows of four with a gap that is left alone.
  NSInteger padded[] = {sizeof(float), 4 * sizeof(float)};
  std::vector<float> gaps(8, -1.0f);
  [array readBytes:gaps.data() strideBytes:padded];
  CHECK(gaps == std::vector<float>({0, 1, 2, -1, 3, 4, 5, -1}));

  // Backwards along the fastest dimension, from a pointer to the end of the first row.
  NSInteger reversed[] = {-(NSInteger)sizeof(float), 3 * sizeof(float)};
  std::vector<float> mirrored(6, -1.0f);
  [array readBytes:mirrored.data() + 2 strideBytes:reversed];
  CHECK(mirrored == std::vector<float>({2, 1, 0, 5, 4, 3}));

  // One row for all rows, and one value for all elements.
  NSInteger repeated[] = {sizeof(float), 0};
  std::vector<float> row = {7, 8, 9};
  [array writeBytes:row.data() strideBytes:repeated];
  [array readBytes:result.data() strideBytes:nil];
  CHECK(result == std::vector<float>({7, 8, 9, 7, 8, 9}));
  NSInteger none[] = {0, 0};
  float value = 3;
  [array writeBytes:&value strideBytes:none];
  [array readBytes:result.data() strideBytes:nil];
  CHECK(result == std::vector<float>(6, 3.0f));

  // Written transposed.
  [array writeBytes:values.data() strideBytes:transposed];
  [array readBytes:result.data() strideBytes:nil];
  CHECK(result == std::vector<float>({0, 2, 4, 1, 3, 5}));
}

TEST(small_types_and_ranks_work) {
  MPSNDArray* bytes = array_of({3}, MPSDataTypeBool);
  unsigned char flags[] = {1, 0, 1};
  [bytes writeBytes:flags strideBytes:nil];
  unsigned char read[3] = {9, 9, 9};
  [bytes readBytes:read strideBytes:nil];
  CHECK(std::memcmp(flags, read, 3) == 0);
  MPSNDArray* scalar = [[[MPSNDArray alloc] initWithDevice:the_device() scalar:2.5] autorelease];
  float value = 0;
  [scalar readBytes:&value strideBytes:nil];
  CHECK(value == 2.5f);
  CHECK([scalar numberOfDimensions] == 1 && [scalar lengthOfDimension:0] == 1);
  CHECK([scalar dataType] == MPSDataTypeFloat32);
}

TEST(tensor_data_copies_nsdata) {
  MPSGraphDevice* device = the_graph_device();
  CHECK([device metalDevice] == the_device());
  CHECK([device type] == MPSGraphDeviceTypeMetal);
  std::vector<float> values = counted(6);
  MPSGraphTensorData* data;
  @autoreleasepool {
    data = [[MPSGraphTensorData alloc] initWithDevice:device
                                                 data:[NSData dataWithBytesNoCopy:values.data()
                                                                           length:24
                                                                     freeWhenDone:NO]
                                                shape:numbers({3, 2})
                                             dataType:MPSDataTypeFloat32];
  }
  values.assign(6, -1.0f);
  CHECK([[data shape] isEqual:numbers({3, 2})]);
  CHECK([data dataType] == MPSDataTypeFloat32);
  CHECK([[data device] metalDevice] == the_device());
  std::vector<float> result(6);
  [[data mpsndarray] readBytes:result.data() strideBytes:nil];
  CHECK(result == counted(6));
  [data release];
}

static MPSGraphTensorData* data_of(NSData* bytes, NSArray<NSNumber*>* lengths, MPSDataType type) {
  return [[[MPSGraphTensorData alloc] initWithDevice:the_graph_device() data:bytes shape:lengths
                                            dataType:type] autorelease];
}

// Programs give the length of bytes that they keep themselves in elements; all of them are there.
TEST(tensor_data_reads_borrowed_bytes_to_the_end) {
  const int values[] = {1, -2, 3, -4, 5, -6, 7};
  int result[7];
  for (NSUInteger length : {NSUInteger{28}, NSUInteger{7}, NSUInteger{1}}) {
    NSData* made = [NSData dataWithBytesNoCopy:const_cast<int*>(values) length:length freeWhenDone:NO];
    NSData* initialised = [[[NSData alloc] initWithBytesNoCopy:const_cast<int*>(values) length:length
                                                  freeWhenDone:NO] autorelease];
    for (NSData* bytes : std::initializer_list<NSData*>{made, initialised, [[made copy] autorelease]}) {
      std::memset(result, 0, sizeof result);
      [[data_of(bytes, numbers({7}), MPSDataTypeInt32) mpsndarray] readBytes:result strideBytes:nil];
      CHECK(std::memcmp(result, values, sizeof values) == 0);
    }
  }
  // What is longer than the tensor is no mistake, whoever owns it.
  float first[2] = {};
  const std::vector<float> four = counted(4);
  [[data_of([NSData dataWithBytes:four.data() length:16], numbers({2}), MPSDataTypeFloat32) mpsndarray] readBytes:first
                                                                                                      strideBytes:nil];
  CHECK(first[0] == 0 && first[1] == 1);
}

#ifndef __APPLE__
// Data with bytes of its own ends where it says: on a Mac what follows is read, and may be anything.
TEST(tensor_data_refuses_to_read_behind_owned_bytes) {
  const std::vector<float> values = counted(6);
  NSData* whole = [NSData dataWithBytes:values.data() length:24];
  NSData* borrowed = [NSData dataWithBytesNoCopy:const_cast<float*>(values.data()) length:24 freeWhenDone:NO];
  void* memory = std::malloc(23);
  const std::initializer_list<NSData*> short_ones = {[NSData dataWithBytes:values.data() length:23],
                                                     [whole subdataWithRange:NSMakeRange(0, 20)],
                                                     [borrowed subdataWithRange:NSMakeRange(4, 20)],
                                                     [NSData dataWithData:[NSMutableData dataWithLength:4]],
                                                     [NSMutableData dataWithBytes:values.data() length:23],
                                                     [NSData data],
                                                     [NSData dataWithBytesNoCopy:memory length:23],
                                                     [NSData dataWithBytesNoCopy:nullptr length:0 freeWhenDone:NO]};
  for (NSData* bytes : short_ones) {
    CHECK_RAISES(data_of(bytes, numbers({2, 3}), MPSDataTypeFloat32));
  }
  data_of(whole, numbers({2, 3}), MPSDataTypeFloat32);
}
#endif

TEST(tensor_data_aliases_buffers_and_arrays) {
  id<MTLBuffer> buffer = [the_device() newBufferWithLength:64 options:MTLResourceStorageModeShared];
  float* contents = static_cast<float*>([buffer contents]);
  MPSGraphTensorData* data = [[MPSGraphTensorData alloc] initWithMTLBuffer:buffer
                                                                     shape:numbers({2, 2})
                                                                  dataType:MPSDataTypeFloat32];
  for (int i = 0; i < 4; ++i) contents[i] = 10.0f + static_cast<float>(i);
  std::vector<float> result(4);
  [[data mpsndarray] readBytes:result.data() strideBytes:nil];
  CHECK(result == std::vector<float>({10, 11, 12, 13}));

  MPSGraphTensorData* padded = [[MPSGraphTensorData alloc] initWithMTLBuffer:buffer
                                                                       shape:numbers({2, 2})
                                                                    dataType:MPSDataTypeFloat32
                                                                    rowBytes:16];
  for (int i = 0; i < 8; ++i) contents[i] = static_cast<float>(i);
  [[padded mpsndarray] readBytes:result.data() strideBytes:nil];
  CHECK(result == std::vector<float>({0, 1, 4, 5}));
  std::vector<float> fresh = {20, 21, 22, 23};
  [[padded mpsndarray] writeBytes:fresh.data() strideBytes:nil];
  CHECK(contents[0] == 20 && contents[1] == 21 && contents[2] == 2 && contents[4] == 22 && contents[5] == 23);
  [buffer release];
  [[padded mpsndarray] readBytes:result.data() strideBytes:nil];
  CHECK(result == fresh);
  [padded release];
  [data release];

  MPSNDArray* array = array_of({5}, MPSDataTypeInt32);
  MPSGraphTensorData* over_array = [[[MPSGraphTensorData alloc] initWithMPSNDArray:array] autorelease];
  CHECK([over_array mpsndarray] == array);
  CHECK([[over_array shape] isEqual:numbers({5})]);
  CHECK([over_array dataType] == MPSDataTypeInt32);
}

TEST(shaped_types_compare) {
  MPSGraphShapedType* a = [[[MPSGraphShapedType alloc] initWithShape:numbers({-1, 3})
                                                            dataType:MPSDataTypeFloat32] autorelease];
  MPSGraphShapedType* b = [[a copy] autorelease];
  CHECK([a isEqualTo:b]);
  [b setDataType:MPSDataTypeInt32];
  CHECK(![a isEqualTo:b]);
  [b setDataType:MPSDataTypeFloat32];
  [b setShape:nil];
  CHECK(![a isEqualTo:b]);
  [a setShape:nil];
  CHECK([a isEqualTo:b]);
}

TEST(execution_descriptors_keep_handlers) {
  MPSGraphExecutionDescriptor* descriptor = [[MPSGraphExecutionDescriptor new] autorelease];
  CHECK(![descriptor completionHandler] && ![descriptor scheduledHandler]);
  CHECK([descriptor waitUntilCompleted] == NO && [descriptor compilationDescriptor] == nil);
  __block int calls = 0;
  @autoreleasepool {
    int step = 2;
    [descriptor setCompletionHandler:^(MPSGraphTensorDataDictionary*, NSError*) {
      calls += step;
    }];
  }
  [descriptor completionHandler]([NSDictionary dictionary], nil);
  CHECK(calls == 2);
  [descriptor setWaitUntilCompleted:YES];
  CHECK([descriptor waitUntilCompleted] == YES);
  MPSGraphCompilationDescriptor* compilation = [[MPSGraphCompilationDescriptor new] autorelease];
  [compilation setWaitForCompilationCompletion:YES];
  [descriptor setCompilationDescriptor:compilation];
  CHECK([[descriptor compilationDescriptor] waitForCompilationCompletion] == YES);
  dispatch_queue_t queue = dispatch_queue_create("compile", DISPATCH_QUEUE_SERIAL);
  [compilation setDispatchQueue:queue];
  CHECK([compilation dispatchQueue] == queue);
  dispatch_release(queue);
}

#ifndef __APPLE__
// On a Mac each of these aborts the process or is undefined.
TEST(bad_input_raises) {
  void* no_bytes = nullptr;
  id nothing = nil;
  CHECK_RAISES([MPSNDArrayDescriptor descriptorWithDataType:MPSDataTypeInvalid shape:numbers({1})]);
  CHECK_RAISES([MPSNDArrayDescriptor descriptorWithDataType:MPSDataTypeFloat32 shape:numbers({2, 0})]);
  CHECK_RAISES([MPSNDArrayDescriptor descriptorWithDataType:MPSDataTypeFloat32 shape:numbers({-1})]);
  CHECK_RAISES(array_of({1 << 16, 1 << 16}, MPSDataTypeInt8));
  NSMutableArray* deep = [NSMutableArray array];
  for (int i = 0; i < 17; ++i) [deep addObject:[NSNumber numberWithInt:1]];
  CHECK_RAISES([MPSNDArrayDescriptor descriptorWithDataType:MPSDataTypeFloat32 shape:deep]);
  CHECK_RAISES([array_of({1}, MPSDataTypeFloat32) readBytes:no_bytes strideBytes:nil]);
  CHECK_RAISES([MPSGraphDevice deviceWithMTLDevice:nothing]);
  id<MTLBuffer> buffer = [[the_device() newBufferWithLength:16 options:MTLResourceStorageModeShared] autorelease];
  CHECK_RAISES([[MPSGraphTensorData alloc] initWithMTLBuffer:buffer shape:numbers({5}) dataType:MPSDataTypeFloat32]);
  CHECK_RAISES([[MPSGraphTensorData alloc] initWithMTLBuffer:buffer
                                                       shape:numbers({2})
                                                    dataType:MPSDataTypeFloat32
                                                    rowBytes:4]);
  CHECK_RAISES([[MPSGraphTensorData alloc] initWithMTLBuffer:nothing shape:numbers({1}) dataType:MPSDataTypeFloat32]);
  MPSGraphPooling2DOpDescriptor* pooling = [[MPSGraphPooling2DOpDescriptor new] autorelease];
  CHECK_RAISES([pooling setKernelWidth:0]);
  CHECK_RAISES([pooling setDataLayout:MPSGraphTensorNamedDataLayoutHWIO]);
  CHECK_RAISES([pooling setPaddingLeft:(NSUInteger)-1]);
}
#endif

int main(int count, char** arguments) { return check::run(count, arguments); }

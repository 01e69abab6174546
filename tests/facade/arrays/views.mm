// Views of arrays, arrays over buffers, and what goes from arrays to buffers and back with another type.

#include <algorithm>

#include "buffer_bytes.h"

static MPSNDArrayDescriptor* descriptor(const std::vector<long>& shape, MPSDataType type = MPSDataTypeFloat32) {
  return [MPSNDArrayDescriptor descriptorWithDataType:type shape:numbers(shape)];
}

static MPSNDArray* array_of(const std::vector<long>& shape, std::vector<float> values) {
  MPSNDArray* array = [[[MPSNDArray alloc] initWithDevice:the_device() descriptor:descriptor(shape)] autorelease];
  [array writeBytes:values.data() strideBytes:nil];
  return array;
}

// A view by the descriptor, made by a command buffer that is finished.
static MPSNDArray* view(MPSNDArray* array, MPSNDArrayDescriptor* of, MPSAliasingStrategy aliasing) {
  id<MTLCommandBuffer> commands = [the_queue() commandBuffer];
  MPSNDArray* made = [array arrayViewWithCommandBuffer:commands descriptor:of aliasing:aliasing];
  finish(commands);
  return made;
}

TEST(descriptors_slice_and_transpose) {
  MPSNDArrayDescriptor* d = descriptor({2, 3, 4});
  CHECK([d sliceRangeForDimension:0].start == 0 && [d sliceRangeForDimension:0].length == 4);
  CHECK([d sliceRangeForDimension:7].start == 0 && [d sliceRangeForDimension:7].length == 1);
  for (int i = 0; i < 16; ++i) CHECK([d dimensionOrder][i] == i);
  [d sliceDimension:0 withSubrange:MPSDimensionSlice{1, 2}];
  [d transposeDimension:0 withDimension:2];
  CHECK([d lengthOfDimension:0] == 2 && [d lengthOfDimension:2] == 4);
  CHECK([d sliceRangeForDimension:2].start == 1 && [d sliceRangeForDimension:2].length == 2);
  CHECK([d dimensionOrder][0] == 2 && [d dimensionOrder][1] == 1 && [d dimensionOrder][2] == 0);
  [d reshapeWithShape:numbers({24})];
  CHECK([d dimensionOrder][0] == 0 && [d sliceRangeForDimension:0].length == 24);
#ifndef __APPLE__  // declared by SDKs from macOS 15 on
  MPSNDArrayDescriptor* p = descriptor({2, 3, 4});
  NSUInteger order[] = {1, 2, 0};
  [p permuteWithDimensionOrder:order];
  CHECK([[p getShape] isEqual:numbers({4, 2, 3})]);
  CHECK([p dimensionOrder][0] == 1 && [p dimensionOrder][1] == 2 && [p dimensionOrder][2] == 0);
  CHECK(![p preferPackedRows]);
  [p setPreferPackedRows:YES];
  CHECK([p preferPackedRows]);
  [p setNumberOfDimensions:5];
  CHECK([[p getShape] isEqual:numbers({1, 1, 4, 2, 3})]);
  CHECK_RAISES([p setNumberOfDimensions:2]);
  NSUInteger* nowhere = nil;
  NSUInteger twice[] = {0, 0, 1, 2, 3}, far[] = {0, 1, 2, 3, 5};
  CHECK_RAISES([p permuteWithDimensionOrder:twice]);
  CHECK_RAISES([p permuteWithDimensionOrder:far]);
  CHECK_RAISES([p permuteWithDimensionOrder:nowhere]);
  CHECK_RAISES([p sliceDimension:0 withSubrange:MPSDimensionSlice{0, 0}]);
  CHECK_RAISES([p sliceDimension:0 withSubrange:MPSDimensionSlice{1, 3}]);
  CHECK_RAISES([p sliceDimension:0 withSubrange:MPSDimensionSlice{NSUIntegerMax, 2}]);
  CHECK_RAISES([p sliceDimension:5 withSubrange:MPSDimensionSlice{0, 1}]);
  CHECK_RAISES([p transposeDimension:0 withDimension:5]);
#endif
}

// value(i, j, k) = 12 i + 4 j + k
TEST(views_share_the_memory_of_their_array) {
  MPSNDArray* array = array_of({2, 3, 4}, counted(24));
  MPSNDArrayDescriptor* d = [array descriptor];
  [d sliceDimension:0 withSubrange:MPSDimensionSlice{1, 2}];
  [d sliceDimension:1 withSubrange:MPSDimensionSlice{1, 2}];
  MPSNDArray* sliced = view(array, d, MPSAliasingStrategyShallAlias);
  CHECK([sliced parent] == array && [sliced numberOfDimensions] == 3);
  CHECK([sliced lengthOfDimension:0] == 2 && [sliced lengthOfDimension:1] == 2 && [sliced lengthOfDimension:2] == 2);
  CHECK(values_of<float>(sliced) == std::vector<float>({5, 6, 9, 10, 17, 18, 21, 22}));
  [d transposeDimension:0 withDimension:2];
  MPSNDArray* transposed = view(array, d, MPSAliasingStrategyDefault);
  CHECK([transposed parent] == array);
  CHECK(values_of<float>(transposed) == std::vector<float>({5, 17, 9, 21, 6, 18, 10, 22}));

  // What is written to a view is in the array, and nothing beside it changes.
  std::vector<float> eight = {-1, -2, -3, -4, -5, -6, -7, -8};
  [transposed writeBytes:eight.data() strideBytes:nil];
  std::vector<float> expected = counted(24);
  expected[5] = -1, expected[17] = -2, expected[9] = -3, expected[21] = -4;
  expected[6] = -5, expected[18] = -6, expected[10] = -7, expected[22] = -8;
  CHECK(values_of<float>(array) == expected);

  // With strides of the host, too.
  NSInteger backwards[] = {-4, 8, 16};
  std::vector<float> read(8);
  [transposed readBytes:read.data() + 1 strideBytes:backwards];
  CHECK(read == std::vector<float>({-2, -1, -4, -3, -6, -5, -8, -7}));

  // A view of a view.
  MPSNDArrayDescriptor* inner = [transposed descriptor];
  [inner sliceDimension:2 withSubrange:MPSDimensionSlice{1, 1}];
  MPSNDArray* nested = view(transposed, inner, MPSAliasingStrategyShallAlias);
  CHECK([nested parent] == transposed);
  CHECK(values_of<float>(nested) == std::vector<float>({-5, -6, -7, -8}));
}

TEST(views_of_another_shape_and_copies) {
  MPSNDArray* array = array_of({2, 6}, counted(12));
  MPSNDArray* reshaped = view(array, descriptor({3, 4}), MPSAliasingStrategyShallAlias);
  CHECK([reshaped lengthOfDimension:0] == 4 && [reshaped parent] == array);
  CHECK(values_of<float>(reshaped) == counted(12));
  MPSNDArrayDescriptor* d = descriptor({3, 4});
  [d transposeDimension:0 withDimension:1];
  MPSNDArray* copy = view(array, d, MPSAliasingStrategyShallNotAlias);
  CHECK([copy parent] == nil && [copy lengthOfDimension:0] == 3);
  const std::vector<float> transposed = {0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11};
  CHECK(values_of<float>(copy) == transposed);
  std::vector<float> zeros(12);
  [array writeBytes:zeros.data() strideBytes:nil];
  CHECK(values_of<float>(copy) == transposed);

  // Of elements that do not lie in order another shape is a copy.
  std::vector<float> again = counted(12);
  [array writeBytes:again.data() strideBytes:nil];
  MPSNDArrayDescriptor* columns = [array descriptor];
  [columns transposeDimension:0 withDimension:1];
  MPSNDArray* strided = view(array, columns, MPSAliasingStrategyShallAlias);
  CHECK(view(strided, descriptor({12}), MPSAliasingStrategyShallAlias) == nil);
  MPSNDArray* flat = view(strided, descriptor({12}), MPSAliasingStrategyDefault);
  CHECK([flat parent] == nil);
  CHECK(values_of<float>(flat) == std::vector<float>({0, 6, 1, 7, 2, 8, 3, 9, 4, 10, 5, 11}));

  // Another type is one, too.
  MPSNDArrayDescriptor* whole = [array descriptor];
  [whole setDataType:MPSDataTypeInt32];
  [whole sliceDimension:0 withSubrange:MPSDimensionSlice{4, 2}];
  CHECK(view(array, whole, MPSAliasingStrategyShallAlias) == nil);
  MPSNDArray* integers = view(array, whole, MPSAliasingStrategyDefault);
  CHECK([integers dataType] == MPSDataTypeInt32);
  CHECK(values_of<int32_t>(integers) == std::vector<int32_t>({4, 5, 10, 11}));
}

// y = 2 x, into a view, of a view.
TEST(graphs_read_and_write_views) {
  MPSNDArray *array = array_of({3, 4}, counted(12)), *target = array_of({4, 5}, std::vector<float>(20, -1));
  MPSNDArrayDescriptor *from = [array descriptor], *to = [target descriptor];
  [from transposeDimension:0 withDimension:1];
  [from sliceDimension:1 withSubrange:MPSDimensionSlice{1, 2}];  // columns 1 and 2, as rows of 3
  [to sliceDimension:0 withSubrange:MPSDimensionSlice{1, 3}];
  [to sliceDimension:1 withSubrange:MPSDimensionSlice{2, 2}];
  MPSGraph* graph = [[MPSGraph new] autorelease];
  MPSGraphTensor* x = [graph placeholderWithShape:numbers({2, 3}) dataType:MPSDataTypeFloat32 name:nil];
  MPSGraphTensor* y = [graph additionWithPrimaryTensor:x secondaryTensor:x name:nil];
  const auto data = [](MPSNDArray* of) { return [[[MPSGraphTensorData alloc] initWithMPSNDArray:of] autorelease]; };
  MPSGraphTensorData* in = data(view(array, from, MPSAliasingStrategyShallAlias));
  MPSGraphTensorData* out = data(view(target, to, MPSAliasingStrategyShallAlias));
  CHECK([[in shape] isEqual:numbers({2, 3})]);
  [graph runWithMTLCommandQueue:the_queue()
                          feeds:[NSDictionary dictionaryWithObject:in forKey:x]
               targetOperations:nil
              resultsDictionary:[NSDictionary dictionaryWithObject:out forKey:y]];
  CHECK(values_of<float>(target) ==
        std::vector<float>({-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 2, 10, 18, -1, -1, 4, 12, 20, -1}));
}

// The results are columns of one array, of which others are fed: no element belongs to two.
TEST(results_interleave) {
  MPSNDArray* array = array_of({3, 4}, counted(12));
  const auto columns = [&](NSUInteger first, NSUInteger count) {
    MPSNDArrayDescriptor* of = [array descriptor];
    [of sliceDimension:0 withSubrange:MPSDimensionSlice{first, count}];
    return [[[MPSGraphTensorData alloc] initWithMPSNDArray:view(array, of, MPSAliasingStrategyShallAlias)] autorelease];
  };
  MPSGraph* graph = [[MPSGraph new] autorelease];
  MPSGraphTensor* x = [graph placeholderWithShape:numbers({3, 1}) dataType:MPSDataTypeFloat32 name:nil];
  MPSGraphTensor* negated = [graph negativeWithTensor:x name:nil];
  MPSGraphTensor* doubled = [graph additionWithPrimaryTensor:x secondaryTensor:x name:nil];
  const auto run = [&](NSUInteger fed, NSUInteger first, NSUInteger second) {
    [graph runWithMTLCommandQueue:the_queue()
                            feeds:[NSDictionary dictionaryWithObject:columns(fed, 1) forKey:x]
                 targetOperations:nil
                resultsDictionary:[NSDictionary dictionaryWithObjectsAndKeys:columns(first, 1), negated,
                                                                             columns(second, 1), doubled, nil]];
  };
  run(1, 0, 3);
  CHECK(values_of<float>(array) == std::vector<float>({-1, 1, 2, 2, -5, 5, 6, 10, -9, 9, 10, 18}));
  run(2, 2, 1);  // one takes the place of what is fed
  CHECK(values_of<float>(array) == std::vector<float>({-1, 4, -2, 2, -5, 12, -6, 10, -9, 20, -10, 18}));
#ifndef __APPLE__
  CHECK_RAISES(run(0, 2, 2));
  MPSGraphTensor* wide = [graph concatTensor:x withTensor:x dimension:1 name:nil];
  CHECK_RAISES([graph runWithMTLCommandQueue:the_queue()
                                       feeds:[NSDictionary dictionaryWithObject:columns(0, 1) forKey:x]
                            targetOperations:nil
                           resultsDictionary:[NSDictionary dictionaryWithObjectsAndKeys:columns(1, 2), wide,
                                                                                        columns(2, 1), doubled, nil]]);
  CHECK(values_of<float>(array) == std::vector<float>({-1, 4, -2, 2, -5, 12, -6, 10, -9, 20, -10, 18}));
#endif
}

TEST(data_goes_to_buffers_and_back) {
  MPSNDArray* array = array_of({2, 3}, {1.5f, -2.5f, 3, 4, 5, 250});
  id<MTLBuffer> plain = buffer_of(the_device(), std::vector<float>(7, 9)),
                integers = buffer_of(the_device(), std::vector<int16_t>(10, 9));
  id<MTLCommandBuffer> commands = [the_queue() commandBuffer];
  [array exportDataWithCommandBuffer:commands
                            toBuffer:plain
                 destinationDataType:MPSDataTypeFloat32
                              offset:4
                          rowStrides:nil];
  NSInteger rows[] = {10};
  [array exportDataWithCommandBuffer:commands
                            toBuffer:integers
                 destinationDataType:MPSDataTypeInt16
                              offset:2
                          rowStrides:rows];
  finish(commands);
  CHECK(values_in<float>(plain) == std::vector<float>({9, 1.5f, -2.5f, 3, 4, 5, 250}));
  CHECK(values_in<int16_t>(integers) == std::vector<int16_t>({9, 1, -2, 3, 9, 9, 4, 5, 250, 9}));

  // Upside down, of halves: 1, 2, 0.5, -4, 8, 0.25.
  id<MTLBuffer> halves = buffer_of<uint16_t>(the_device(), {0x3c00, 0x4000, 0x3800, 0xc400, 0x4800, 0x3400});
  NSInteger up[] = {-6};
  commands = [the_queue() commandBuffer];
  [array importDataWithCommandBuffer:commands
                          fromBuffer:halves
                      sourceDataType:MPSDataTypeFloat16
                              offset:6
                          rowStrides:up];
  finish(commands);
  CHECK(values_of<float>(array) == std::vector<float>({-4, 8, 0.25f, 1, 2, 0.5f}));

  // From and to views.
  MPSNDArrayDescriptor* d = [array descriptor];
  [d transposeDimension:0 withDimension:1];
  MPSNDArray* transposed = view(array, d, MPSAliasingStrategyShallAlias);
  id<MTLBuffer> ints = buffer_of<int32_t>(the_device(), {10, 20, 30, 40, 50, 60});
  id<MTLBuffer> doubled = buffer_of(the_device(), std::vector<float>(6));
  commands = [the_queue() commandBuffer];
  [transposed importDataWithCommandBuffer:commands
                               fromBuffer:ints
                           sourceDataType:MPSDataTypeInt32
                                   offset:0
                               rowStrides:nil];
  [transposed exportDataWithCommandBuffer:commands
                                 toBuffer:doubled
                      destinationDataType:MPSDataTypeFloat32
                                   offset:0
                               rowStrides:nil];
  finish(commands);
  CHECK(values_of<float>(array) == std::vector<float>({10, 30, 50, 20, 40, 60}));
  CHECK(values_in<float>(doubled) == std::vector<float>({10, 20, 30, 40, 50, 60}));
}

// As many strides as dimensions begin with the fastest one; the header's own, one less, begin with rows.
TEST(strides_of_buffers) {
  struct Row {
    std::vector<long> shape;
    std::vector<NSInteger> strides;
    NSUInteger offset;
    std::vector<float> written;  // over nines
  };
  const std::vector<Row> rows = {
      {{2, 3}, {4, 16}, 0, {0, 1, 2, 9, 3, 4, 5}},
      {{2, 3}, {16}, 0, {0, 1, 2, 9, 3, 4, 5}},
      {{2, 3}, {8, 24}, 0, {0, 9, 1, 9, 2, 9, 3, 9, 4, 9, 5}},
      {{2, 3}, {8, 4}, 4, {9, 0, 3, 1, 4, 2, 5}},
      {{2, 3}, {-4, 12}, 8, {2, 1, 0, 5, 4, 3}},
      {{3, 1}, {4, 8}, 0, {0, 9, 1, 9, 2}},
      {{3, 1}, {8}, 0, {0, 9, 1, 9, 2}},
      {{3}, {8}, 0, {0, 9, 1, 9, 2}},
      {{2, 2, 2}, {4, 12, 32}, 0, {0, 1, 9, 2, 3, 9, 9, 9, 4, 5, 9, 6, 7}},
      {{2, 2, 2}, {12, 32}, 0, {0, 1, 9, 2, 3, 9, 9, 9, 4, 5, 9, 6, 7}},
  };
  for (Row row : rows) {
    size_t count = 1;
    for (int length : row.shape) count *= static_cast<size_t>(length);
    id<MTLBuffer> buffer = buffer_of(the_device(), std::vector<float>(row.written.size(), 9));
    MPSNDArray *array = array_of(row.shape, counted(count)), *back = array_of(row.shape, std::vector<float>(count));
    id<MTLCommandBuffer> commands = [the_queue() commandBuffer];
    [array exportDataWithCommandBuffer:commands
                              toBuffer:buffer
                   destinationDataType:MPSDataTypeFloat32
                                offset:row.offset
                            rowStrides:row.strides.data()];
    [back importDataWithCommandBuffer:commands
                           fromBuffer:buffer
                       sourceDataType:MPSDataTypeFloat32
                               offset:row.offset
                           rowStrides:row.strides.data()];
    finish(commands);
    CHECK(values_in<float>(buffer) == row.written);
    CHECK(values_of<float>(back) == counted(count));
    if (row.strides.size() < row.shape.size()) continue;
    std::vector<float> host(row.written.size(), 9);
    [array readBytes:host.data() + row.offset / 4 strideBytes:row.strides.data()];
    CHECK(host == row.written);
    [back writeBytes:host.data() + row.offset / 4 strideBytes:row.strides.data()];
    CHECK(values_of<float>(back) == counted(count));
  }
}

TEST(temporary_arrays_count_their_reads) {
  id<MTLBuffer> out = buffer_of(the_device(), std::vector<float>(4)), in = buffer_of(the_device(), counted(4));
  id<MTLCommandBuffer> commands = [the_queue() commandBuffer];
  MPSTemporaryNDArray* array = [MPSTemporaryNDArray temporaryNDArrayWithCommandBuffer:commands
                                                                           descriptor:descriptor({4})];
  CHECK([array isKindOfClass:[MPSTemporaryNDArray class]] && [array device] == the_device());
  CHECK([array readCount] == 1);
  [array setReadCount:2];
  [array importDataWithCommandBuffer:commands fromBuffer:in sourceDataType:MPSDataTypeFloat32 offset:0 rowStrides:nil];
  CHECK([array readCount] == 2);
  const auto read = [&] {
    [array exportDataWithCommandBuffer:commands
                              toBuffer:out
                   destinationDataType:MPSDataTypeFloat32
                                offset:0
                            rowStrides:nil];
  };
  read();
  CHECK([array readCount] == 1);
  read();
  CHECK([array readCount] == 0);
#ifndef __APPLE__
  CHECK_RAISES(read());
  CHECK_RAISES([array setReadCount:1]);
#endif
  finish(commands);
  CHECK(values_in<float>(out) == counted(4));
}

TEST(allocators_make_arrays) {
  MPSKernel* kernel = [[[MPSKernel alloc] initWithDevice:the_device()] autorelease];
  id<MTLCommandBuffer> commands = [the_queue() commandBuffer];
  MPSNDArray* lasting = [[MPSNDArray defaultAllocator] arrayForCommandBuffer:commands
                                                             arrayDescriptor:descriptor({2, 3})
                                                                      kernel:kernel];
  CHECK(![lasting isKindOfClass:[MPSTemporaryNDArray class]] && [lasting lengthOfDimension:0] == 3);
  MPSNDArray* temporary = [[MPSTemporaryNDArray defaultAllocator] arrayForCommandBuffer:commands
                                                                        arrayDescriptor:descriptor({2, 3})
                                                                                 kernel:kernel];
  CHECK([temporary isKindOfClass:[MPSTemporaryNDArray class]] && [temporary lengthOfDimension:1] == 2);
  [(MPSTemporaryNDArray*)temporary setReadCount:0];
  finish(commands);
}

#ifndef __APPLE__  // declared by SDKs from macOS 15 on
TEST(arrays_lie_in_buffers) {
  id<MTLBuffer> buffer = buffer_of(the_device(), counted(10));
  MPSNDArrayDescriptor* dense = descriptor({2, 3});
  [dense setPreferPackedRows:YES];
  MPSNDArray* array = [[[MPSNDArray alloc] initWithBuffer:buffer offset:8 descriptor:dense] autorelease];
  CHECK([array userBuffer] == buffer && [array device] == the_device());
  CHECK(values_of<float>(array) == std::vector<float>({2, 3, 4, 5, 6, 7}));
  std::vector<float> six(6, -1);
  [array writeBytes:six.data() strideBytes:nil];
  CHECK(values_in<float>(buffer) == std::vector<float>({0, 1, -1, -1, -1, -1, -1, -1, 8, 9}));
  CHECK([array_of({1}, {1}) userBuffer] == nil);
  // By itself a row takes a multiple of 16 bytes, of which the last needs only its elements.
  array = [[[MPSNDArray alloc] initWithBuffer:buffer offset:8 descriptor:descriptor({2, 3})] autorelease];
  CHECK(values_of<float>(array) == std::vector<float>({-1, -1, -1, -1, -1, 8}));
  CHECK_RAISES([[MPSNDArray alloc] initWithBuffer:buffer offset:16 descriptor:descriptor({2, 3})]);
  CHECK_RAISES([[MPSNDArray alloc] initWithBuffer:buffer offset:20 descriptor:dense]);
  CHECK_RAISES([[MPSNDArray alloc] initWithBuffer:buffer offset:2 descriptor:descriptor({2, 3})]);
  CHECK_RAISES([[MPSNDArray alloc] initWithBuffer:buffer offset:NSUIntegerMax - 3 descriptor:descriptor({2, 3})]);
  id nothing = nil;
  CHECK_RAISES([[MPSNDArray alloc] initWithBuffer:nothing offset:0 descriptor:descriptor({2, 3})]);
  CHECK_RAISES([[MPSNDArray alloc] initWithBuffer:buffer offset:0 descriptor:nothing]);
}

TEST(views_have_any_strides) {
  MPSNDArray* array = array_of({3, 4}, counted(12));
  MPSNDArray* diagonal = [array arrayViewWithShape:numbers({3}) strides:numbers({5})];
  CHECK([diagonal parent] == array);
  CHECK(values_of<float>(diagonal) == std::vector<float>({0, 5, 10}));
  MPSNDArray* repeated = [array arrayViewWithShape:numbers({2, 3}) strides:numbers({0, 1})];
  CHECK(values_of<float>(repeated) == std::vector<float>({0, 1, 2, 0, 1, 2}));
  CHECK(values_of<float>([array arrayViewWithShape:nil strides:numbers({1, 0})]) ==
        std::vector<float>({0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2}));
  CHECK([array arrayViewWithShape:numbers({3}) strides:numbers({6})] == nil);
  NSUInteger sizes[] = {3, 4}, strides[] = {4, 1};
  MPSNDArray* transposed = [array arrayViewWithDimensionCount:2 dimensionSizes:sizes strides:strides];
  CHECK(values_of<float>(transposed) == std::vector<float>({0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11}));
  MPSNDArrayDescriptor* d = [array descriptor];
  [d sliceDimension:0 withSubrange:MPSDimensionSlice{3, 1}];
  CHECK(values_of<float>([array arrayViewWithDescriptor:d]) == std::vector<float>({3, 7, 11}));
  [d setDataType:MPSDataTypeInt32];
  CHECK([array arrayViewWithDescriptor:d] == nil);
  CHECK_RAISES([array arrayViewWithShape:numbers({3}) strides:numbers({1, 1})]);
  CHECK_RAISES([array arrayViewWithShape:numbers({3}) strides:numbers({-1})]);
  CHECK_RAISES([array arrayViewWithShape:numbers({0}) strides:numbers({1})]);
  const NSUInteger* nowhere = nil;
  CHECK_RAISES([array arrayViewWithDimensionCount:2 dimensionSizes:nowhere strides:strides]);
}

TEST(mistakes_raise) {
  id nothing = nil;
  MPSNDArray* array = array_of({2, 3}, counted(6));
  id<MTLBuffer> buffer = buffer_of(the_device(), std::vector<float>(6));
  id<MTLCommandBuffer> commands = [the_queue() commandBuffer];
  const auto out = [&](id<MTLBuffer> to, MPSDataType type, NSUInteger offset, NSInteger* rows) {
    [array exportDataWithCommandBuffer:commands toBuffer:to destinationDataType:type offset:offset rowStrides:rows];
  };
  NSInteger before[] = {-12}, huge[] = {NSIntegerMax};
  CHECK_RAISES(out(buffer, MPSDataTypeFloat32, 4, nil));
  CHECK_RAISES(out(buffer, MPSDataTypeInt64, 0, nil));
  CHECK_RAISES(out(buffer, MPSDataTypeFloat32, 2, nil));
  CHECK_RAISES(out(buffer, MPSDataTypeFloat32, 0, before));
  CHECK_RAISES(out(buffer, MPSDataTypeFloat32, 0, huge));
  MPSNDArray* tall = array_of({5, 1}, counted(5));
  NSInteger around[] = {1l << 62};  // the last row is 2^64 bytes behind the first one
  CHECK_RAISES([tall importDataWithCommandBuffer:commands
                                      fromBuffer:buffer
                                  sourceDataType:MPSDataTypeFloat32
                                          offset:0
                                      rowStrides:around]);
  CHECK_RAISES(out(nothing, MPSDataTypeFloat32, 0, nil));
  CHECK_RAISES(out(buffer, MPSDataTypeInvalid, 0, nil));
  CHECK_RAISES([array exportDataWithCommandBuffer:nothing
                                         toBuffer:buffer
                              destinationDataType:MPSDataTypeFloat32
                                           offset:0
                                       rowStrides:nil]);
  CHECK_RAISES([array exportDataWithCommandBuffer:commands
                                         toImages:[NSArray array]
                                           offset:MPSImageCoordinate{0, 0, 0}]);
  CHECK_RAISES([array importDataWithCommandBuffer:commands
                                       fromImages:[NSArray array]
                                           offset:MPSImageCoordinate{0, 0, 0}]);
  CHECK_RAISES([array arrayViewWithCommandBuffer:commands
                                      descriptor:descriptor({7})
                                        aliasing:MPSAliasingStrategyDefault]);
  CHECK_RAISES([array arrayViewWithCommandBuffer:commands descriptor:nothing aliasing:MPSAliasingStrategyDefault]);
  CHECK_RAISES([array arrayViewWithCommandBuffer:commands
                                      descriptor:[array descriptor]
                                        aliasing:MPSAliasingStrategyAliasingReserved]);
  for (id<MTLDevice> other in [MTLCopyAllDevices() autorelease]) {
    if (other != the_device()) CHECK_RAISES(out(buffer_of(other, counted(6)), MPSDataTypeFloat32, 0, nil));
  }
  // The command buffer stays usable.
  out(buffer, MPSDataTypeFloat32, 0, nil);
  finish(commands);
  CHECK(values_in<float>(buffer) == counted(6));
}
#endif

int main(int count, char** arguments) { return check::run(count, arguments); }

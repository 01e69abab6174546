// What a user can get wrong: each mistake raises with a reason, and the graph goes on working. On a Mac most
// of these abort the process, so there this test only runs the graph.

#include "graph_testing.h"

// A graph that every mistake is made on, and that is run after each.
struct Victim {
  Session session;
  MPSGraph* g = session.graph();
  Array value = random_array({2, 3});
  MPSGraphTensor* x = session.feed(value);
  MPSGraphTensor* whole = placeholder(g, {2, 3}, MPSDataTypeInt32);
  MPSGraphTensor* state = variable(g, Array({2, 3}, 0.0));
  MPSGraphTensor* y = plus(g, [g squareWithTensor:x name:nil], state);
  MPSGraphOperation* step = assigned(g, state, plus(g, state, scalar(g, 1)));
  MPSGraphTensor* foreign = placeholder([[MPSGraph new] autorelease], {2, 3});
  double steps = 0;

  void still_works() {
    // A new op and a run of old ones, with a write.
    MPSGraphTensor* fresh = [g negativeWithTensor:y name:nil];
    CHECK([[[fresh operation] controlDependencies] count] == 0);
    const Array got = session.run({fresh}, list(step)).front();
    CHECK_ARRAY(got, map(value, [&](double v) { return -v * v - steps; }));
    ++steps;
  }
};

#ifndef __APPLE__

// The statement raises, and its reason holds the words.
#define CHECK_REASON(words, ...)                                                  \
  do {                                                                            \
    NSString* reason = @"";                                                       \
    @try {                                                                        \
      __VA_ARGS__;                                                                \
    } @catch (NSException * exception) {                                          \
      CHECK([[exception name] isEqualToString:NSInvalidArgumentException]);       \
      reason = [exception reason];                                                \
    }                                                                             \
    const bool told = [reason rangeOfString:words].location != NSNotFound;        \
    check::report(told, #__VA_ARGS__ " raises with " #words, __FILE__, __LINE__); \
    if (!told) std::fprintf(stderr, "  reason: %s\n", [reason UTF8String]);       \
    victim.still_works();                                                         \
  } while (false)

static MPSGraphTensor* ones(MPSGraph* g, const Shape& shape) {
  return [g constantWithScalar:1 shape:numbers(shape) dataType:MPSDataTypeFloat32];
}

TEST(operands_that_do_not_fit) {
  Victim victim;
  MPSGraph* g = victim.g;
  MPSGraphTensor *x = victim.x, *whole = victim.whole, *flags = placeholder(g, {2, 3}, MPSDataTypeBool);
  CHECK_REASON(@"(2, 3)", plus(g, x, ones(g, {2})));
  CHECK_REASON(@"(2,)", plus(g, x, ones(g, {2})));
  CHECK_REASON(@"int32", times(g, x, whole));
  CHECK_REASON(@"[less]", [g lessThanWithPrimaryTensor:whole secondaryTensor:x name:nil]);
  CHECK_REASON(@"int32", [g exponentWithTensor:whole name:nil]);
  CHECK_REASON(@"bool", [g squareWithTensor:flags name:nil]);
  CHECK_REASON(@"bool", plus(g, flags, flags));
  CHECK_REASON(@"[less]", [g lessThanWithPrimaryTensor:flags secondaryTensor:x name:nil]);
  CHECK_REASON(@"[select]", [g selectWithPredicateTensor:flags
                                     truePredicateTensor:x
                                    falsePredicateTensor:whole
                                                    name:nil]);
  CHECK_REASON(@"[clamp]", [g clampWithTensor:x minValueTensor:ones(g, {2}) maxValueTensor:x name:nil]);
  CHECK_REASON(@"[matmul]", matmul(g, x, x));
  CHECK_REASON(@"[matmul]", matmul(g, x, ones(g, {3})));
  CHECK_REASON(@"[matmul]", matmul(g, ones(g, {2, 3, 4}), ones(g, {3, 4, 5})));
}

TEST(axes_that_are_not_there) {
  Victim victim;
  MPSGraph* g = victim.g;
  MPSGraphTensor* x = victim.x;
  CHECK_REASON(@"Axis 2", [g reductionSumWithTensor:x axis:2 name:nil]);
  CHECK_REASON(@"Axis -3", [g reductionMaximumWithTensor:x axes:numbers({0, -3}) name:nil]);
  CHECK_REASON(@"Axis 2", [g reductionArgMinimumWithTensor:x axis:2 name:nil]);
  CHECK_REASON(@"Axis 5", [g meanOfTensor:x axes:numbers({5}) name:nil]);
  CHECK_REASON(@"Axis 2", [g softMaxWithTensor:x axis:2 name:nil]);
  CHECK_REASON(@"[softmax_cross_entropy]", [g softMaxCrossEntropyWithSourceTensor:x
                                                                     labelsTensor:ones(g, {2, 4})
                                                                             axis:1
                                                                    reductionType:MPSGraphLossReductionTypeSum
                                                                             name:nil]);
  CHECK_REASON(@"reduction type", [g softMaxCrossEntropyWithSourceTensor:x
                                                            labelsTensor:x
                                                                    axis:1
                                                           reductionType:static_cast<MPSGraphLossReductionType>(7)
                                                                    name:nil]);
}

TEST(shapes_that_do_not_fit) {
  Victim victim;
  MPSGraph* g = victim.g;
  MPSGraphTensor *x = victim.x, *whole = victim.whole;
  CHECK_REASON(@"(4, 2)", [g reshapeTensor:x withShape:numbers({4, 2}) name:nil]);
  CHECK_REASON(@"[reshape]", [g reshapeTensor:x withShape:numbers({-1, 4}) name:nil]);
  CHECK_REASON(@"[reshape]", [g reshapeTensor:x withShape:numbers({-1, -1}) name:nil]);
  CHECK_REASON(@"vector of integers", [g reshapeTensor:x withShapeTensor:victim.y name:nil]);
  CHECK_REASON(@"vector of integers", [g broadcastTensor:x toShapeTensor:whole name:nil]);
  CHECK_REASON(@"has 6 elements", [g reshapeTensor:x withShapeTensor:integers(g, {4, -1}) name:nil]);
  CHECK_REASON(@"(2, 4)", [g broadcastTensor:x toShapeTensor:integers(g, {2, 4}) name:nil]);
  CHECK_REASON(@"0 or more", [g reshapeTensor:x withShapeTensor:integers(g, {-2, -3}) name:nil]);
  CHECK_REASON(@"[transpose]", [g transposeTensor:x permutation:numbers({0, 0}) name:nil]);
  CHECK_REASON(@"[transpose]", [g transposeTensor:x permutation:numbers({1, 0, 2}) name:nil]);
  CHECK_REASON(@"[transpose]", [g transposeTensor:x dimension:0 withDimension:2 name:nil]);
  CHECK_REASON(@"[concat]", [g concatTensor:x withTensor:ones(g, {3, 2}) dimension:0 name:nil]);
  CHECK_REASON(@"[concat]", [g concatTensor:x withTensor:whole dimension:0 name:nil]);
  CHECK_REASON(@"Axis 2", [g concatTensor:x withTensor:x dimension:2 name:nil]);
  CHECK_REASON(@"[concat]", [g concatTensors:[NSArray array] dimension:0 name:nil]);
  CHECK_REASON(@"(2, 4)", [g broadcastTensor:x toShape:numbers({2, 4}) name:nil]);
  CHECK_REASON(@"[broadcast", [g broadcastTensor:x toShape:numbers({3}) name:nil]);
  CHECK_REASON(@"type", [g castTensor:x toType:MPSDataTypeInvalid name:nil]);
}

TEST(slices_that_do_not_fit) {
  Victim victim;
  MPSGraph* g = victim.g;
  MPSGraphTensor* x = victim.x;
  CHECK_REASON(@"[slice]", [g sliceTensor:x dimension:2 start:0 length:1 name:nil]);
  CHECK_REASON(@"[slice]", [g sliceTensor:x dimension:1 start:1 length:3 name:nil]);
  CHECK_REASON(@"[slice]", [g sliceTensor:x dimension:0 start:-3 length:1 name:nil]);
  CHECK_REASON(@"[slice]", [g sliceTensor:x dimension:0 start:0 length:-1 name:nil]);
  CHECK_REASON(@"[slice]", [g sliceTensor:x
                                   starts:numbers({0, 0})
                                     ends:numbers({1, 1})
                                  strides:numbers({1, 0})
                                     name:nil]);
  CHECK_REASON(@"[slice]", [g sliceTensor:x starts:numbers({0}) ends:numbers({1}) strides:numbers({1}) name:nil]);
  CHECK_REASON(@"[slice]", [g sliceTensor:x starts:numbers({0, 0}) ends:numbers({1}) strides:numbers({1, 1}) name:nil]);
  CHECK_REASON(@"[squeeze]", [g sliceTensor:x
                                      starts:numbers({0, 7})
                                        ends:numbers({1, 8})
                                     strides:numbers({1, 1})
                                   startMask:0
                                     endMask:0
                                 squeezeMask:2
                                        name:nil]);
  CHECK_REASON(@"[slice_gradient]", [g sliceGradientTensor:x
                                          fwdInShapeTensor:[g shapeOfTensor:x name:nil]
                                                    starts:numbers({0, 0})
                                                      ends:numbers({1, 1})
                                                   strides:numbers({1, 1})
                                                      name:nil]);
}

TEST(state_that_does_not_fit) {
  Victim victim;
  MPSGraph* g = victim.g;
  MPSGraphTensor *x = victim.x, *whole = victim.whole;
  CHECK_REASON(@"[assign]", assigned(g, victim.state, ones(g, {3, 2})));
  CHECK_REASON(@"int32", assigned(g, victim.state, whole));
  CHECK_REASON(@"[assign]", assigned(g, x, x));
  CHECK_REASON(@"[read_variable]", [g readVariable:x name:nil]);
  CHECK_REASON(@"[sgd]", descended(g, x, x, x));
  CHECK_REASON(@"[sgd]", descended(g, ones(g, {1}), x, ones(g, {3})));
}

TEST(windows_that_do_not_fit) {
  Victim victim;
  MPSGraph* g = victim.g;
  MPSGraphTensor *source = ones(g, {1, 5, 6, 4}), *weights = ones(g, {3, 3, 2, 4});
  MPSGraphConvolution2DOpDescriptor* d =
      [MPSGraphConvolution2DOpDescriptor descriptorWithStrideInX:1
                                                       strideInY:1
                                                 dilationRateInX:1
                                                 dilationRateInY:1
                                                          groups:2
                                                    paddingStyle:MPSGraphPaddingStyleTF_VALID
                                                      dataLayout:MPSGraphTensorNamedDataLayoutNHWC
                                                   weightsLayout:MPSGraphTensorNamedDataLayoutHWIO];
  auto convolve = [&](MPSGraphTensor* x, MPSGraphTensor* w, MPSGraphConvolution2DOpDescriptor* descriptor) {
    [g convolution2DWithSourceTensor:x weightsTensor:w descriptor:descriptor name:nil];
  };
  convolve(source, weights, d);
  id nothing = nil;
  CHECK_REASON(@"Descriptor", convolve(source, weights, nothing));
  CHECK_REASON(@"rank 4", convolve(victim.x, weights, d));
  CHECK_REASON(@"rank 4", convolve(source, victim.x, d));
  CHECK_REASON(@"expect 6", convolve(source, ones(g, {3, 3, 3, 4}), d));
  CHECK_REASON(@"groups", convolve(source, ones(g, {3, 3, 2, 3}), d));
  CHECK_REASON(@"window of 7", convolve(source, ones(g, {3, 7, 2, 4}), d));
  CHECK_REASON(@"strideInX", [d setStrideInX:0]);
  CHECK_REASON(@"dilationRateInY", [d setDilationRateInY:0]);
  CHECK_REASON(@"groups", [d setGroups:0]);
  CHECK_REASON(@"paddingLeft", [d setPaddingLeft:static_cast<NSUInteger>(-1)]);
  CHECK_REASON(@"paddingStyle", [d setPaddingStyle:MPSGraphPaddingStyleExplicitOffset]);
  CHECK_REASON(@"dataLayout", [d setDataLayout:MPSGraphTensorNamedDataLayoutHWIO]);
  CHECK_REASON(@"weightsLayout", [d setWeightsLayout:MPSGraphTensorNamedDataLayoutNHWC]);
  CHECK_REASON(@"incoming gradient", [g convolution2DDataGradientWithIncomingGradientTensor:source
                                                                              weightsTensor:weights
                                                                                outputShape:numbers({1, 5, 6, 4})
                                                               forwardConvolutionDescriptor:d
                                                                                       name:nil]);
  CHECK_REASON(@"incoming gradient", [g convolution2DWeightsGradientWithIncomingGradientTensor:source
                                                                                  sourceTensor:source
                                                                                   outputShape:numbers({3, 3, 2, 4})
                                                                  forwardConvolutionDescriptor:d
                                                                                          name:nil]);
}

TEST(windows_of_pooling_that_do_not_fit) {
  Victim victim;
  MPSGraph* g = victim.g;
  MPSGraphTensor* source = ones(g, {1, 5, 6, 4});
  id nothing = nil;
  MPSGraphPooling2DOpDescriptor* p =
      [MPSGraphPooling2DOpDescriptor descriptorWithKernelWidth:2
                                                  kernelHeight:6
                                                     strideInX:1
                                                     strideInY:1
                                                  paddingStyle:MPSGraphPaddingStyleTF_VALID
                                                    dataLayout:MPSGraphTensorNamedDataLayoutNHWC];
  CHECK_REASON(@"height", [g maxPooling2DWithSourceTensor:source descriptor:p name:nil]);
  CHECK_REASON(@"rank 4", [g maxPooling2DWithSourceTensor:victim.x descriptor:p name:nil]);
  CHECK_REASON(@"Descriptor", [g avgPooling2DWithSourceTensor:source descriptor:nothing name:nil]);
  CHECK_REASON(@"kernelWidth", [p setKernelWidth:0]);
  [p setKernelHeight:2];
  CHECK_REASON(@"incoming gradient", [g maxPooling2DGradientWithGradientTensor:source
                                                                  sourceTensor:source
                                                                    descriptor:p
                                                                          name:nil]);
  CHECK_REASON(@"incoming gradient", [g avgPooling2DGradientWithGradientTensor:source
                                                                  sourceTensor:source
                                                                    descriptor:p
                                                                          name:nil]);
}

TEST(tensors_of_nobody_and_of_another_graph) {
  Victim victim;
  MPSGraph* g = victim.g;
  MPSGraphTensor *x = victim.x, *foreign = victim.foreign;
  id nothing = nil;
  CHECK_REASON(@"nil", [g squareWithTensor:nothing name:nil]);
  CHECK_REASON(@"nil", plus(g, x, nothing));
  CHECK_REASON(@"nil", total_of(g, nothing));
  CHECK_REASON(@"nil", [g meanOfTensor:nothing axes:nothing name:nil]);
  CHECK_REASON(@"nil", [g normalizationBetaGradientWithIncomingGradientTensor:x
                                                                 sourceTensor:nothing
                                                                reductionAxes:nothing
                                                                         name:nil]);
  CHECK_REASON(@"another graph", [g varianceOfTensor:foreign axes:nothing name:nil]);
  CHECK_REASON(@"another graph", [g normalizationBetaGradientWithIncomingGradientTensor:x
                                                                           sourceTensor:foreign
                                                                          reductionAxes:nothing
                                                                                   name:nil]);
  CHECK_REASON(@"block", [g controlDependencyWithOperations:list(victim.step) dependentBlock:nothing name:nil]);
  CHECK_REASON(@"nil", assigned(g, nothing, x));
  CHECK_REASON(@"nil", [g applyStochasticGradientDescentWithLearningRateTensor:x
                                                                      variable:nothing
                                                                gradientTensor:x
                                                                          name:nil]);
  CHECK_REASON(@"nil", [g constantWithData:nothing shape:numbers({1}) dataType:MPSDataTypeFloat32]);
  CHECK_REASON(@"nil", [g constantWithData:[NSData data] shape:nothing dataType:MPSDataTypeFloat32]);
  CHECK_REASON(@"another graph", [g squareWithTensor:foreign name:nil]);
  CHECK_REASON(@"another graph", plus(g, x, foreign));
  CHECK_REASON(@"another graph", [g concatTensors:list(x, foreign) dimension:0 name:nil]);
  CHECK_REASON(@"another graph", [g gradientForPrimaryTensor:victim.y withTensors:list(foreign) name:nil]);
  CHECK_REASON(@"another graph", assigned(g, victim.state, foreign));
  CHECK_REASON(@"another graph", [g reshapeTensor:x withShapeTensor:foreign name:nil]);
  CHECK_REASON(@"another graph", [g runWithFeeds:victim.session.feeds()
                                        targetTensors:list(foreign)
                                     targetOperations:nil]);
  CHECK_REASON(@"another graph", [g runWithFeeds:pair(tensor_data(Array({2, 3})), foreign)
                                        targetTensors:list(victim.state)
                                     targetOperations:nil]);
  NSArray* operations = list(victim.step, [foreign operation]);
  CHECK_REASON(@"another graph", [g runWithFeeds:victim.session.feeds()
                                        targetTensors:list(x)
                                     targetOperations:operations]);
  CHECK_REASON(@"another graph", [g controlDependencyWithOperations:operations
                                                     dependentBlock:^{
                                                       return [NSArray array];
                                                     }
                                                               name:nil]);
  // A name that is no text is none.
  const unichar half = 0xd800;
  [g squareWithTensor:x name:[NSString stringWithCharacters:&half length:1]];
  // A block that raises leaves nothing behind.
  CHECK_REASON(@"Axis 9", [g controlDependencyWithOperations:list(victim.step)
                                              dependentBlock:^{
                                                return list([g reductionSumWithTensor:x axis:9 name:nil]);
                                              }
                                                        name:nil]);
}

// What is none of a graph's: made by init, or of a graph that is gone.
TEST(objects_without_a_graph) {
  Victim victim;
  MPSGraph* g = victim.g;
  for (Class made :
       [NSArray arrayWithObjects:[MPSGraphExecutable class], [MPSGraphTensor class], [MPSGraphOperation class],
                                 [MPSGraphVariableOp class], [MPSGraphTensorData class], [MPSGraphDevice class],
                                 [MPSNDArray class], [MPSNDArrayDescriptor class], [MPSMatrix class], [MPSVector class],
                                 [MPSImage class], [MPSCommandBuffer class], nil]) {
    CHECK_REASON(@"init", [[made alloc] init]);
    CHECK_REASON(@"init", [made new]);
  }
  MPSGraph* gone = [MPSGraph new];
  MPSGraphTensor *fed = [placeholder(gone, {2, 3}) retain], *left = [[gone squareWithTensor:fed name:nil] retain];
  MPSGraphTensor* kept = [variable(gone, Array({2, 3}, 1.0)) retain];
  MPSGraphOperation* op = [[left operation] retain];
  @autoreleasepool {
    [gone release];
  }
  CHECK([[left shape] isEqual:numbers({2, 3})] && [left operation] == nil && [op graph] == nil);
  CHECK([[op inputTensors] count] == 1 && [[op outputTensors] count] == 1 && [[op controlDependencies] count] == 0);
  CHECK_REASON(@"another graph", [g squareWithTensor:left name:nil]);
  CHECK_REASON(@"another graph", [g readVariable:kept name:nil]);
  CHECK_REASON(@"another graph", [g gradientForPrimaryTensor:left withTensors:list(fed) name:nil]);
  CHECK_REASON(@"another graph", [g runWithFeeds:pair(tensor_data(Array({2, 3})), fed)
                                        targetTensors:list(victim.y)
                                     targetOperations:nil]);
  CHECK_REASON(@"another graph", [g runWithFeeds:victim.session.feeds() targetTensors:list(left) targetOperations:nil]);
  CHECK_REASON(@"another graph", [g runWithFeeds:victim.session.feeds()
                                        targetTensors:list(victim.y)
                                     targetOperations:list(op)]);
  for (id each : [NSArray arrayWithObjects:fed, left, kept, op, nil]) [each release];
  // A shape of -1 is whatever the constant meets.
  MPSGraphTensor* any = [g constantWithScalar:2 shape:numbers({-1}) dataType:MPSDataTypeFloat32];
  CHECK([[plus(g, victim.x, any) shape] isEqual:numbers({2, 3})]);
  CHECK_REASON(@"(2, ?)", [g constantWithScalar:2 shape:numbers({2, -1}) dataType:MPSDataTypeFloat32]);
  CHECK_REASON(@"-2", [g placeholderWithShape:numbers({-2}) dataType:MPSDataTypeFloat32 name:nil]);
}

TEST(constants_that_do_not_fit) {
  Victim victim;
  MPSGraph* g = victim.g;
  NSData* twelve = [NSMutableData dataWithLength:12];
  CHECK_REASON(@"16 bytes", [g constantWithData:twelve shape:numbers({2, 2}) dataType:MPSDataTypeFloat32]);
  CHECK_REASON(@"8 bytes", [g constantWithData:twelve shape:numbers({2}) dataType:MPSDataTypeFloat32]);
  CHECK_REASON(@"12", [g variableWithData:twelve shape:numbers({3}) dataType:MPSDataTypeInt64 name:nil]);
  CHECK_REASON(@"-1", [g variableWithData:twelve shape:numbers({-1}) dataType:MPSDataTypeFloat32 name:nil]);
  CHECK_REASON(@"data type", [g placeholderWithShape:numbers({2}) dataType:static_cast<MPSDataType>(77) name:nil]);
  CHECK_REASON(@"constant", [g constantWithScalar:1 shape:numbers({2, -1}) dataType:MPSDataTypeFloat32]);
  CHECK_REASON(@"data type", scalar(g, 1, static_cast<MPSDataType>(77)));
  CHECK_REASON(@"data type", [g constantWithScalar:1 shape:numbers({2}) dataType:MPSDataTypeInvalid]);
}

TEST(runs_that_do_not_fit) {
  Victim victim;
  MPSGraph* g = victim.g;
  Session& session = victim.session;
  NSMutableDictionary* feeds = session.feeds();
  MPSGraphTensor *x = victim.x, *y = victim.y;
  auto run = [&](NSDictionary* given) {
    [g runWithFeeds:given targetTensors:list(y) targetOperations:list(victim.step)];
  };
  CHECK_REASON(@"not fed", run([NSDictionary dictionary]));
  CHECK_REASON(@"(3, 2)", run(pair(tensor_data(Array({3, 2})), x)));
  CHECK_REASON(@"(6,)", run(pair(tensor_data(Array(Shape{6})), x)));
  // Also when a run with the right type has been compiled before.
  CHECK_REASON(@"int32", run(pair(tensor_data(Array({2, 3}, 0, MPSDataTypeInt32)), x)));
  CHECK_REASON(@"Only a placeholder",
               run([NSDictionary
                   dictionaryWithObjectsAndKeys:tensor_data(Array({2, 3})), x, tensor_data(Array({2, 3})), y, nil]));
  // A shape that only the run knows.
  MPSGraphTensor* lengths = placeholder(g, {2}, MPSDataTypeInt32);
  MPSGraphTensor* wider = [g broadcastTensor:x toShapeTensor:lengths name:nil];
  NSMutableDictionary* with_lengths = [NSMutableDictionary dictionaryWithDictionary:feeds];
  [with_lengths setObject:tensor_data(Array({2}, {2, 3}, MPSDataTypeInt32)) forKey:lengths];
  CHECK_REASON(@"only a run knows", [g runWithFeeds:with_lengths targetTensors:list(wider) targetOperations:nil]);
}

TEST(results_of_the_caller_that_do_not_fit) {
  Victim victim;
  MPSGraph* g = victim.g;
  NSDictionary* feeds = victim.session.feeds();
  MPSGraphTensor* y = victim.y;
  id<MTLDevice> device = [MTLCreateSystemDefaultDevice() autorelease];
  id<MTLCommandQueue> queue = [[device newCommandQueue] autorelease];
  auto run_into = [&](NSDictionary* results) {
    [g runWithMTLCommandQueue:queue feeds:feeds targetOperations:nil resultsDictionary:results];
  };
  CHECK_REASON(@"(5,)", run_into(pair(tensor_data(Array(Shape{5})), y)));
  CHECK_REASON(@"(2, 4)", run_into(pair(tensor_data(Array({2, 4})), y)));
  CHECK_REASON(@"int32", run_into(pair(tensor_data(Array({2, 3}, 0, MPSDataTypeInt32)), y)));
  MPSGraphTensorData* one = tensor_data(Array({2, 3}));
  CHECK_REASON(@"shares its memory",
               run_into([NSDictionary dictionaryWithObjectsAndKeys:one, y, one, victim.state, nil]));
  // Two results over one buffer.
  id<MTLBuffer> buffer = [[device newBufferWithLength:24 options:MTLResourceStorageModeShared] autorelease];
  auto over = [&] {
    return [[[MPSGraphTensorData alloc] initWithMTLBuffer:buffer shape:numbers({2, 3})
                                                 dataType:MPSDataTypeFloat32] autorelease];
  };
  NSDictionary* both = [NSDictionary dictionaryWithObjectsAndKeys:over(), y, over(), victim.state, nil];
  CHECK_REASON(@"shares its memory", run_into(both));
  CHECK_REASON(@"shares its memory", [g runAsyncWithMTLCommandQueue:queue
                                                              feeds:feeds
                                                   targetOperations:nil
                                                  resultsDictionary:both
                                                executionDescriptor:nil]);
  id nothing = nil;
  CHECK_REASON(@"nil", [g runWithMTLCommandQueue:nothing feeds:feeds targetTensors:list(y) targetOperations:nil]);
  CHECK_REASON(@"nil", [g runAsyncWithMTLCommandQueue:nothing
                                                feeds:feeds
                                        targetTensors:list(y)
                                     targetOperations:nil
                                  executionDescriptor:nil]);
  CHECK_REASON(@"nil", [g encodeToCommandBuffer:nothing
                                          feeds:feeds
                                  targetTensors:list(y)
                               targetOperations:nil
                            executionDescriptor:nil]);
}

TEST(tensor_data_that_does_not_fit) {
  Victim victim;
  id<MTLDevice> device = [MTLCreateSystemDefaultDevice() autorelease];
  MPSGraphDevice* graph_device = [MPSGraphDevice deviceWithMTLDevice:device];
  id<MTLBuffer> buffer = [[device newBufferWithLength:20 options:MTLResourceStorageModeShared] autorelease];
  id nothing = nil;
  auto from_buffer = [&](NSUInteger row_bytes) {
    [[[MPSGraphTensorData alloc] initWithMTLBuffer:buffer
                                             shape:numbers({2, 2})
                                          dataType:MPSDataTypeFloat32
                                          rowBytes:row_bytes] autorelease];
  };
  from_buffer(12);
  CHECK_REASON(@"buffer has 20", [[MPSGraphTensorData alloc] initWithMTLBuffer:buffer
                                                                         shape:numbers({2, 3})
                                                                      dataType:MPSDataTypeFloat32]);
  CHECK_REASON(@"buffer has 20", from_buffer(16));
  CHECK_REASON(@"row bytes", from_buffer(4));
  CHECK_REASON(@"row bytes", from_buffer(9));
  CHECK_REASON(@"length", [[MPSGraphTensorData alloc] initWithDevice:graph_device
                                                                data:[NSData data]
                                                               shape:numbers({2, -1})
                                                            dataType:MPSDataTypeFloat32]);
  CHECK_REASON(@"needs 8 bytes, but the data has 7",
               [[MPSGraphTensorData alloc] initWithDevice:graph_device
                                                     data:[NSMutableData dataWithLength:7]
                                                    shape:numbers({2})
                                                 dataType:MPSDataTypeFloat32]);
  CHECK_REASON(@"nil", [[MPSGraphTensorData alloc] initWithDevice:graph_device
                                                             data:nothing
                                                            shape:numbers({2})
                                                         dataType:MPSDataTypeFloat32]);
  CHECK_REASON(@"nil", [[MPSGraphTensorData alloc] initWithDevice:nothing
                                                             data:[NSData data]
                                                            shape:numbers({2})
                                                         dataType:MPSDataTypeFloat32]);
  CHECK_REASON(@"nil", [[MPSGraphTensorData alloc] initWithMPSNDArray:nothing]);
  CHECK_REASON(@"nil", [MPSGraphDevice deviceWithMTLDevice:nothing]);
}

#endif

TEST(a_graph_works) { Victim().still_works(); }

int main(int count, char** arguments) { return check::run(count, arguments); }

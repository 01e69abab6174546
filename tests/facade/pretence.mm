// What an imitated macOS (ALLOY_PRETEND) does with each quirk of csrc/ir/quirks.def: a line per case, which says
// whether the number is the right one or the one that is told of that system, or whether the process would have ended
// there. tests/python/device/test_pretence.py reads the lines; without imitation every number must be right.

#include "graph_testing.h"

#include <unistd.h>

#include <cstdlib>
#include <cstring>

namespace {

using Numbers = std::vector<double>;

struct Case {
  const char* quirk;
  std::function<Numbers()> compute;
  Numbers right, told;  // told: empty where the process ends
};

MPSGraphTensor* scalar(MPSGraph* g, double value) { return [g constantWithScalar:value dataType:MPSDataTypeFloat32]; }

Numbers run(Session& session, MPSGraphTensor* target) { return session.run(target).values; }

Numbers row(MPSGraphTensor* (^build)(MPSGraph* g, MPSGraphTensor* x), const Array& x) {
  Session session;
  return run(session, build(session.graph(), session.feed(x)));
}

// The last element of the product of matrices of ones.
Numbers product(const Shape& a, const Shape& b) {
  Session session;
  MPSGraphTensor* y = [session.graph() matrixMultiplicationWithPrimaryTensor:session.feed(Array(a, 1.0))
                                                             secondaryTensor:session.feed(Array(b, 1.0))
                                                                        name:nil];
  return {run(session, y).back()};
}

Numbers reduced(MPSGraphTensor* (^build)(MPSGraph* g, MPSGraphTensor* x)) {
  return row(build, Array({1, 1, 1, 1, 2}, {3, 5}));
}

MPSGraphConvolution2DOpDescriptor* plain_convolution() {
  return [MPSGraphConvolution2DOpDescriptor descriptorWithStrideInX:1
                                                          strideInY:1
                                                    dilationRateInX:1
                                                    dilationRateInY:1
                                                             groups:1
                                                       paddingStyle:MPSGraphPaddingStyleExplicit
                                                         dataLayout:MPSGraphTensorNamedDataLayoutNHWC
                                                      weightsLayout:MPSGraphTensorNamedDataLayoutHWIO];
}

Numbers slice_gradient(long start, long end, long stride, uint32_t end_mask) {
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphTensor* like = constant(g, Array({1}, 4.0, MPSDataTypeInt32));
  return run(session, [g sliceGradientTensor:session.feed(Array({2}, {1, 2}))
                            fwdInShapeTensor:like
                                      starts:numbers({start})
                                        ends:numbers({end})
                                     strides:numbers({stride})
                                   startMask:0
                                     endMask:end_mask
                                 squeezeMask:0
                                        name:nil]);
}

// Of a convolution of two places by one weight.
Numbers weights_gradient(MPSDataType type) {
  Session session;
  MPSGraphTensor *incoming = session.feed(Array({1, 1, 2, 1}, {1, 1}, type)),
                 *source = session.feed(Array({1, 1, 2, 1}, {2, 4}, type));
  return run(session, [session.graph() convolution2DWeightsGradientWithIncomingGradientTensor:incoming
                                                                                 sourceTensor:source
                                                                                  outputShape:numbers({1, 1, 1, 1})
                                                                 forwardConvolutionDescriptor:plain_convolution()
                                                                                         name:nil]);
}

// The running sums of 3 and 5.
Numbers accumulated(const Shape& shape, long axis, MPSDataType type) {
  Session session;
  return run(session, [session.graph() cumulativeSumWithTensor:session.feed(Array(shape, {3, 5}, type))
                                                          axis:axis
                                                          name:nil]);
}

// A step of a scalar by a rate of shape (1).
MPSGraphTensor* step_of(MPSGraph* g, MPSGraphTensor* values) {
  return [g stochasticGradientDescentWithLearningRateTensor:constant(g, Array({1}, 0.5))
                                               valuesTensor:values
                                             gradientTensor:scalar(g, 2)
                                                       name:nil];
}

// One number on the device as a tensor of any type, and back.
Numbers copied(MPSDataType type, const void* bytes, NSUInteger length) {
  id<MTLDevice> device = [MTLCreateSystemDefaultDevice() autorelease];
  MPSGraph* g = [[MPSGraph new] autorelease];
  MPSGraphTensor* x = placeholder(g, {1}, type);
  MPSGraphTensorData* data = [[[MPSGraphTensorData alloc] initWithDevice:[MPSGraphDevice deviceWithMTLDevice:device]
                                                                    data:[NSData dataWithBytes:bytes length:length]
                                                                   shape:numbers({1})
                                                                dataType:type] autorelease];
  MPSGraphTensor* y = [g identityWithTensor:x name:nil];
  NSDictionary* results = [g runWithFeeds:[NSDictionary dictionaryWithObject:data forKey:x]
                            targetTensors:[NSArray arrayWithObject:y]
                         targetOperations:nil];
  std::vector<char> back(length);
  [[[results objectForKey:y] mpsndarray] readBytes:back.data() strideBytes:nil];
  return {std::memcmp(back.data(), bytes, length) == 0 ? 1.0 : 0.0};
}

// True if a run gives a constant of that type.
Numbers constants(MPSDataType type, NSUInteger length) {
  MPSGraph* g = [[MPSGraph new] autorelease];
  MPSGraphTensor* x = [g constantWithData:[NSMutableData dataWithLength:length] shape:numbers({1}) dataType:type];
  NSDictionary* results = [g runWithFeeds:[NSDictionary dictionary]
                            targetTensors:[NSArray arrayWithObject:x]
                         targetOperations:nil];
  return {static_cast<double>([results count])};
}

std::vector<Case> cases() {
  const long many = 65536;
  return {
      {"reduction_beyond_rank4",
       [] {
         return reduced(^(MPSGraph* g, MPSGraphTensor* x) {
           return [g reductionSumWithTensor:x axes:numbers({4}) name:nil];
         });
       },
       {8},
       {}},
      {"reduction_beyond_rank4",
       [] {
         return reduced(^(MPSGraph* g, MPSGraphTensor* x) {
           return [g meanOfTensor:x axes:numbers({0, 4}) name:nil];
         });
       },
       {4},
       {}},
      {"reduction_beyond_rank4",
       [] {
         return reduced(^(MPSGraph* g, MPSGraphTensor* x) {
           return [g reductionArgMaximumWithTensor:x axis:4 name:nil];
         });
       },
       {1},
       {}},
      {"product_beyond_rank4", [] { return product({1, 1, 1, 1, 2}, {1, 1, 1, 2, 1}); }, {2}, {}},
      {"reduction_of_no_axes",
       [] {
         return row(
             ^(MPSGraph* g, MPSGraphTensor* x) {
               return [g reductionSumWithTensor:x axes:[NSArray array] name:nil];
             },
             Array({2}, {3, 5}));
       },
       {3, 5},
       {}},
      {"select_by_number",
       [] {
         return row(
             ^(MPSGraph* g, MPSGraphTensor* x) {
               return [g selectWithPredicateTensor:x
                               truePredicateTensor:scalar(g, 1)
                              falsePredicateTensor:scalar(g, 2)
                                              name:nil];
             },
             Array({2}, {0, 7}));
       },
       {2, 1},
       {}},
      {"sign_of_int64",
       [] {
         return row(
             ^(MPSGraph* g, MPSGraphTensor* x) {
               return [g signWithTensor:x name:nil];
             },
             Array({2}, {-3, 0}, MPSDataTypeInt64));
       },
       {-1, 0},
       {}},
      {"executable_of_no_targets",
       [] {
         Session session;
         MPSGraph* g = session.graph();
         MPSGraphTensor* v = variable(g, Array({1}, 1.0));
         MPSGraphOperation* assign = [g assignVariable:v withValueOfTensor:constant(g, Array({1}, 7.0)) name:nil];
         id<MTLDevice> device = [MTLCreateSystemDefaultDevice() autorelease];
         MPSGraphExecutable* executable = [g compileWithDevice:[MPSGraphDevice deviceWithMTLDevice:device]
                                                         feeds:[NSDictionary dictionary]
                                                 targetTensors:[NSArray array]
                                              targetOperations:[NSArray arrayWithObject:assign]
                                         compilationDescriptor:nil];
         id<MTLCommandQueue> queue = [[device newCommandQueue] autorelease];
         [executable runWithMTLCommandQueue:queue inputsArray:[NSArray array] resultsArray:nil executionDescriptor:nil];
         return run(session, v);
       },
       {7},
       {}},
      {"bfloat16", [] { return copied(static_cast<MPSDataType>(0x90000010), "\x80\x3f", 2); }, {1}, {}},
      {"complex", [] { return copied(static_cast<MPSDataType>(0x11000040), "\0\0\x80\x3f\0\0\0\x40", 8); }, {1}, {}},
      {"bfloat16", [] { return constants(static_cast<MPSDataType>(0x90000010), 2); }, {1}, {}},
      {"complex", [] { return constants(static_cast<MPSDataType>(0x11000040), 8); }, {1}, {}},

      {"handler_on_the_stack",  // run at once, where every system would find the block
       [] {
         Session session;
         MPSGraph* g = session.graph();
         id<MTLDevice> device = [MTLCreateSystemDefaultDevice() autorelease];
         MPSGraphExecutable* executable = [g compileWithDevice:[MPSGraphDevice deviceWithMTLDevice:device]
                                                         feeds:[NSDictionary dictionary]
                                                 targetTensors:[NSArray arrayWithObject:scalar(g, 3)]
                                              targetOperations:nil
                                         compilationDescriptor:nil];
         MPSGraphExecutableExecutionDescriptor* descriptor = [[MPSGraphExecutableExecutionDescriptor new] autorelease];
         __block int told = 0;
         [descriptor setWaitUntilCompleted:YES];
         [descriptor setCompletionHandler:^(NSArray<MPSGraphTensorData*>*, NSError*) {
           ++told;
         }];
         [executable runAsyncWithMTLCommandQueue:[[device newCommandQueue] autorelease]
                                     inputsArray:[NSArray array]
                                    resultsArray:nil
                             executionDescriptor:descriptor];
         return Numbers{static_cast<double>(told)};
       },
       {1},
       {}},
      {"half_convolution_gradient", [] { return weights_gradient(MPSDataTypeFloat16); }, {6}, {}},
      {"half_convolution_gradient", [] { return weights_gradient(MPSDataTypeFloat32); }, {6}, {6}},
      {"order_beyond_axis4", [] { return accumulated({2, 1, 1, 1, 1}, 0, MPSDataTypeFloat32); }, {3, 8}, {}},
      {"order_beyond_axis4", [] { return accumulated({1, 2, 1, 1, 1}, 1, MPSDataTypeFloat32); }, {3, 8}, {3, 8}},
      {"order_beyond_axis4",
       [] {
         return row(
             ^(MPSGraph* g, MPSGraphTensor* x) {
               return [g sortWithTensor:x axis:0 descending:YES name:nil];
             },
             Array({2, 1, 1, 1, 1}, {3, 5}));
       },
       {5, 3},
       {}},
      {"order_of_other_types",
       [] {
         return row(
             ^(MPSGraph* g, MPSGraphTensor* x) {
               return [g argSortWithTensor:x axis:0 descending:YES name:nil];
             },
             Array({2}, {3, 5}, MPSDataTypeInt16));
       },
       {1, 0},
       {}},
      {"narrow_scatter",
       [] {
         Session session;
         return run(session, [session.graph() scatterWithDataTensor:session.feed(Array({2}, {1, 2}, MPSDataTypeInt8))
                                                      updatesTensor:session.feed(Array({1}, 5.0, MPSDataTypeInt8))
                                                      indicesTensor:session.feed(Array({1}, 1.0, MPSDataTypeInt32))
                                                               axis:0
                                                               mode:MPSGraphScatterModeAdd
                                                               name:nil]);
       },
       {1, 7},
       {}},

      {"narrow_accumulation", [] { return accumulated({2}, 0, MPSDataTypeInt16); }, {3, 8}, {0, 0}},
      {"narrow_accumulation", [] { return accumulated({2}, 0, MPSDataTypeInt32); }, {3, 8}, {3, 8}},
      {"half_scatter_nd",
       [] {
         Session session;
         return run(session,
                    [session.graph() scatterNDWithUpdatesTensor:session.feed(Array({2}, {3, 5}, MPSDataTypeFloat16))
                                                  indicesTensor:session.feed(Array({2, 1}, {1, 1}, MPSDataTypeInt32))
                                                          shape:numbers({2})
                                                batchDimensions:0
                                                           name:nil]);
       },
       {0, 8},
       {0, 0}},
      {"long_inner_product", [] { return product({1, 32767}, {32767, 1}); }, {32767}, {32767}},
      {"long_inner_product", [] { return product({1, 40000}, {40000, 1}); }, {40000}, {32767}},
      {"large_matrix", [] { return product({32767, 1}, {1, 1}); }, {1}, {1}},
      {"large_matrix", [] { return product({32768, 1}, {1, 1}); }, {1}, {0}},
      {"large_matrix", [] { return product({1, 1}, {1, 32768}); }, {1}, {0}},
      {"convolution_of_many_images",
       [=] {
         Session session;
         return run(session,
                    [session.graph()
                        convolution2DWeightsGradientWithIncomingGradientTensor:session.feed(Array({many, 1, 1, 1}, 1.0))
                                                                  sourceTensor:session.feed(Array({many, 1, 1, 1}, 1.0))
                                                                   outputShape:numbers({1, 1, 1, 1})
                                                  forwardConvolutionDescriptor:plain_convolution()
                                                                          name:nil]);
       },
       {65536},
       {65535}},
      {"convolution_of_many_images",
       [=] {
         Session session;
         return Numbers{
             run(session,
                 [session.graph()
                     convolution2DDataGradientWithIncomingGradientTensor:session.feed(Array({many, 1, 1, 1}, 1.0))
                                                           weightsTensor:session.feed(Array({1, 1, 1, 1}, 3.0))
                                                             outputShape:numbers({many, 1, 1, 1})
                                            forwardConvolutionDescriptor:plain_convolution()
                                                                    name:nil])
                 .back()};
       },
       {3},
       {0}},
      {"convolution_to_many_channels",
       [=] {
         Session session;
         const Numbers y =
             run(session, [session.graph() convolution2DWithSourceTensor:session.feed(Array({1, 1, 1, 1}, 1.0))
                                                           weightsTensor:session.feed(Array({1, 1, 1, many + 1}, 3.0))
                                                              descriptor:plain_convolution()
                                                                    name:nil]);
         return Numbers{y.front(), y.at(y.size() - 2), y.back()};
       },
       {3, 3, 3},
       {3, 3, 0}},
      {"strided_slice_gradient", [] { return slice_gradient(1, 3, 1, 0); }, {0, 1, 2, 0}, {0, 1, 2, 0}},
      {"strided_slice_gradient", [] { return slice_gradient(0, 4, 2, 0); }, {1, 0, 2, 0}, {1, 2, 0, 0}},
      {"strided_slice_gradient", [] { return slice_gradient(3, 0, -2, 1); }, {0, 2, 0, 1}, {0, 0, 1, 2}},
      {"integer_quotient",
       [] {
         Session session;
         return run(session,
                    [session.graph() divisionWithPrimaryTensor:session.feed(Array({2}, {-616, 30}, MPSDataTypeInt32))
                                               secondaryTensor:session.feed(Array({2}, {28, -4}, MPSDataTypeInt32))
                                                          name:nil]);
       },
       {-22, -7},
       {-23, -8}},
      {"power_of_negative",
       [] {
         Session session;
         return run(session, [session.graph() powerWithPrimaryTensor:session.feed(Array({2}, {-2, 2}))
                                                     secondaryTensor:scalar(session.graph(), 3)
                                                                name:nil]);
       },
       {-8, 8},
       {NAN, 8}},
      {"sign_of_negative_zero",  // 1 / -0 is -infinity
       [] {
         return row(
             ^(MPSGraph* g, MPSGraphTensor* x) {
               return [g reciprocalWithTensor:[g signWithTensor:x name:nil] name:nil];
             },
             Array({2}, {-0.0, -2}));
       },
       {-INFINITY, -1},
       {INFINITY, -1}},
      {"least_normal",  // the second number of this seed
       [] {
         Session session;
         MPSGraph* g = session.graph();
         MPSGraphRandomOpDescriptor* normal =
             [MPSGraphRandomOpDescriptor descriptorWithDistribution:MPSGraphRandomDistributionNormal
                                                           dataType:MPSDataTypeFloat32];
         MPSGraphTensor* x = [g randomTensorWithShape:numbers({2}) descriptor:normal seed:1124399 name:nil];
         return run(session, [g castTensor:[g isNaNWithTensor:x name:nil] toType:MPSDataTypeFloat32 name:nil]);
       },
       {0, 0},
       {0, 1}},
      {"product_of_softmax",
       [] {
         return row(
             ^(MPSGraph* g, MPSGraphTensor* x) {
               return [g matrixMultiplicationWithPrimaryTensor:[g softMaxWithTensor:x axis:1 name:nil]
                                               secondaryTensor:x
                                                          name:nil];
             },
             Array({1, 1}, 2.0));
       },
       {2},
       {NAN}},
      {"product_of_softmax",
       [] {
         return row(
             ^(MPSGraph* g, MPSGraphTensor* x) {
               MPSGraphTensor* weights = [g identityWithTensor:[g softMaxWithTensor:x axis:1 name:nil] name:nil];
               return [g matrixMultiplicationWithPrimaryTensor:weights secondaryTensor:x name:nil];
             },
             Array({1, 1}, 2.0));
       },
       {2},
       {2}},
      {"unused_feed",
       [] {
         MPSGraph* g = [[MPSGraph new] autorelease];
         MPSGraphTensor *x = placeholder(g, {1}), *y = placeholder(g, {1}), *unused = placeholder(g, {1});
         MPSGraphShapedType* type = [[[MPSGraphShapedType alloc] initWithShape:numbers({1})
                                                                      dataType:MPSDataTypeFloat32] autorelease];
         NSArray* keys = [NSArray arrayWithObjects:x, y, unused, nil];
         NSArray* types = [NSArray arrayWithObjects:type, type, type, nil];
         MPSGraphTensor* sum = [g additionWithPrimaryTensor:x secondaryTensor:y name:nil];
         MPSGraphExecutable* executable = [g compileWithDevice:nil
                                                         feeds:[NSDictionary dictionaryWithObjects:types forKeys:keys]
                                                 targetTensors:[NSArray arrayWithObject:sum]
                                              targetOperations:nil
                                         compilationDescriptor:nil];
         return Numbers{static_cast<double>([[executable feedTensors] count])};
       },
       {3},
       {2}},
      {"true_is_255",
       [] {
         Session session;
         MPSGraph* g = session.graph();
         return run(session, [g castTensor:[g constantWithScalar:1 dataType:MPSDataTypeBool]
                                    toType:MPSDataTypeFloat32
                                      name:nil]);
       },
       {1},
       {255}},
      {"true_is_255",
       [] {
         Session session;
         MPSGraph* g = session.graph();
         return run(session, [g equalWithPrimaryTensor:[g constantWithScalar:1
                                                                       shape:numbers({1, 2})
                                                                    dataType:MPSDataTypeBool]
                                       secondaryTensor:session.feed(Array({1, 2}, {1, 0}, MPSDataTypeBool))
                                                  name:nil]);
       },
       {1, 0},
       {0, 0}},
      {"optimizer_of_scalar",
       [] {
         MPSGraph* g = [[MPSGraph new] autorelease];
         MPSGraphTensor* y = step_of(g, scalar(g, 3));
         NSDictionary* results = [g runWithFeeds:[NSDictionary dictionary]
                                   targetTensors:[NSArray arrayWithObject:y]
                                targetOperations:nil];
         const Array value = read_array([results objectForKey:y]);
         return Numbers{value.values.front(), static_cast<double>(value.shape.size())};
       },
       {2, 0},
       {2, 1}},
      {"optimizer_of_scalar",
       [] {
         Session session;
         MPSGraph* g = session.graph();
         MPSGraphTensor* v = variable(g, Array({}, 3.0));
         session.perform({[g assignVariable:v withValueOfTensor:step_of(g, v) name:nil]});
         return run(session, v);
       },
       {2},
       {}},
      {"read_after_assign",
       [] {
         Session session;
         MPSGraph* g = session.graph();
         MPSGraphTensor* v = variable(g, Array({1}, 1.0));
         MPSGraphTensor* before = [g identityWithTensor:v name:nil];
         MPSGraphOperation* assign = [g assignVariable:v withValueOfTensor:constant(g, Array({1}, 7.0)) name:nil];
         MPSGraphTensor* behind = [g identityWithTensor:v name:nil];
         const std::vector<Array> values = session.run({before, behind}, [NSArray arrayWithObject:assign]);
         return Numbers{values.front().values.front(), values.back().values.front()};
       },
       {1, 1},
       {1, 7}},
      {"read_after_assign",
       [] {
         Session session;
         MPSGraph* g = session.graph();
         MPSGraphTensor *a = variable(g, Array({1}, 1.0)), *b = variable(g, Array({1}, 2.0));
         MPSGraphOperation *first = [g assignVariable:a withValueOfTensor:b name:nil], *second = [g assignVariable:b
                                                                                                 withValueOfTensor:a
                                                                                                              name:nil];
         session.perform({first, second});
         return Numbers{run(session, a).front(), run(session, b).front()};
       },
       {2, 1},
       {2, 2}},
  };
}

bool same(const Numbers& a, const Numbers& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); });
}

// True if every number is right.
bool run_cases() {
  bool all_right = true;
  for (const Case& c : cases()) {
    @autoreleasepool {
      const char* outcome = "other";
      NSString* reason = @"";
      @try {
        const Numbers values = c.compute();
        for (double v : values) reason = [reason stringByAppendingFormat:@"%g ", v];
        if (same(values, c.right)) outcome = same(values, c.told) ? "either" : "right";
        else if (same(values, c.told)) outcome = "told";
      } @catch (NSException* exception) {
        if ([[exception name] isEqualToString:@"AlloyAbortException"] && c.told.empty()) outcome = "aborts";
        reason = [exception reason];
      }
      all_right = all_right && (std::strcmp(outcome, "right") == 0 || std::strcmp(outcome, "either") == 0);
      std::printf("%s\t%s\t%s\n", c.quirk, outcome, [reason UTF8String]);
    }
  }
  return all_right;
}

// A selector that not every system has: asked for, and sent by `use`, which says whether it did what it should.
void newer_selector(NSObject* object, NSString* name, SEL other, const std::function<bool()>& use) {
  SEL selector = NSSelectorFromString(name);
  const bool responds = [object respondsToSelector:selector],
             instances = [[object class] instancesRespondToSelector:selector];
  const bool others = [object respondsToSelector:other] && [[object class] instancesRespondToSelector:other];
  const char* outcome = "other";
  NSString* reason = @"";
  @try {
    if (use() && responds && instances && others) outcome = "right";
  } @catch (NSException* exception) {
    if ([[exception name] isEqualToString:@"AlloyAbortException"] && !responds && !instances && others) {
      outcome = "lacks";
    }
    reason = [exception reason];
  }
  std::printf("%s\t%s\t%s\n", [name UTF8String], outcome, [reason UTF8String]);
}

void newer_selectors_of_events() {
  id<MTLDevice> device = [MTLCreateSystemDefaultDevice() autorelease];
  id<MTLSharedEvent> event = [[device newSharedEvent] autorelease];
  NSObject* object = static_cast<NSObject*>(event);
  newer_selector(object, @"waitUntilSignaledValue:timeoutMS:", @selector(signaledValue), [&] {
    SEL selector = NSSelectorFromString(@"waitUntilSignaledValue:timeoutMS:");
    const auto wait = reinterpret_cast<BOOL (*)(id, SEL, uint64_t, uint64_t)>([object methodForSelector:selector]);
    return wait(object, selector, 0, 0) == YES;
  });
}

#ifndef __APPLE__  // declared by SDKs from macOS 14 on
void newer_selectors_of_arrays() {
  id<MTLDevice> device = [MTLCreateSystemDefaultDevice() autorelease];
  NSUInteger lengths[] = {3, 2}, transposed[] = {1, 3}, order[] = {1, 0};
  MPSNDArrayDescriptor* descriptor = [MPSNDArrayDescriptor descriptorWithDataType:MPSDataTypeFloat32
                                                                   dimensionCount:2
                                                                   dimensionSizes:lengths];
  id<MTLBuffer> buffer = [[device newBufferWithLength:64 options:0] autorelease];
  MPSNDArray* array = [[[MPSNDArray alloc] initWithDevice:device descriptor:descriptor] autorelease];
  const auto of_array = [&](NSString* name, const std::function<bool()>& use) {
    newer_selector(array, name, @selector(resourceSize), use);
  };
  of_array(@"initWithBuffer:offset:descriptor:", [&] {
    MPSNDArray* made = [[[MPSNDArray alloc] initWithBuffer:buffer offset:8 descriptor:descriptor] autorelease];
    return [made lengthOfDimension:0] == 3;
  });
  of_array(@"userBuffer", [&] { return [array userBuffer] == nil; });
  of_array(@"arrayViewWithDescriptor:", [&] { return [[array arrayViewWithDescriptor:descriptor] parent] == array; });
  NSArray* two = [NSArray arrayWithObject:[NSNumber numberWithInt:2]];
  of_array(@"arrayViewWithShape:strides:",
           [&] { return [[array arrayViewWithShape:two strides:two] lengthOfDimension:0] == 2; });
  of_array(@"arrayViewWithDimensionCount:dimensionSizes:strides:", [&] {
    return [[array arrayViewWithDimensionCount:2 dimensionSizes:lengths strides:transposed] numberOfDimensions] == 2;
  });
  const auto of_descriptor = [&](NSString* name, const std::function<bool()>& use) {
    newer_selector(descriptor, name, @selector(numberOfDimensions), use);
  };
  of_descriptor(@"getShape", [&] { return [[descriptor getShape] count] == 2; });
  of_descriptor(@"preferPackedRows", [&] {
    [descriptor setPreferPackedRows:YES];
    return [descriptor preferPackedRows] == YES;
  });
  of_descriptor(@"permuteWithDimensionOrder:", [&] {
    [descriptor permuteWithDimensionOrder:order];
    return [descriptor lengthOfDimension:0] == 2;
  });
}

void newer_selectors_of_calls() {
  MPSGraph* graph = [[MPSGraph new] autorelease];
  MPSGraphTensor* x = [graph placeholderWithShape:nil name:nil];
  MPSGraphShapedType* type = [[MPSGraphShapedType new] autorelease];
  newer_selector(graph, @"callSymbolName:inputTensors:outputTypes:name:", @selector(squareWithTensor:name:), [&] {
    return [[graph callSymbolName:@"f"
                     inputTensors:[NSArray arrayWithObject:x]
                      outputTypes:[NSArray arrayWithObject:type]
                             name:nil] count] == 1;
  });
  MPSGraphCompilationDescriptor* descriptor = [[MPSGraphCompilationDescriptor new] autorelease];
  newer_selector(descriptor, @"callables", @selector(optimizationLevel), [&] {
    [descriptor setCallables:[NSDictionary dictionary]];
    return [[descriptor callables] count] == 0;
  });
}

void newer_selectors_of_metal() {
  id<MTLDevice> device = [MTLCreateSystemDefaultDevice() autorelease];
  newer_selector((NSObject*)device, @"architecture", @selector(name),
                 [&] { return [[[device architecture] name] length] > 0; });
  MTLCommandBufferDescriptor* descriptor = [[MTLCommandBufferDescriptor new] autorelease];
  newer_selector(descriptor, @"logState", @selector(errorOptions), [&] {
    [descriptor setLogState:nil];
    return [descriptor logState] == nil;
  });
  MTLCompileOptions* options = [[MTLCompileOptions new] autorelease];
  newer_selector(options, @"mathMode", @selector(fastMathEnabled), [&] {
    [options setMathMode:MTLMathModeSafe];
    return [options mathMode] == MTLMathModeSafe;
  });
  // A selector of the class itself.
  const bool responds = [MTLSharedEventListener respondsToSelector:@selector(sharedListener)];
  const char* outcome = "other";
  NSString* reason = @"";
  @try {
    if ([MTLSharedEventListener sharedListener] != nil && responds) outcome = "right";
  } @catch (NSException* exception) {
    if ([[exception name] isEqualToString:@"AlloyAbortException"] && !responds) outcome = "lacks";
    reason = [exception reason];
  }
  std::printf("sharedListener\t%s\t%s\n", outcome, [reason UTF8String]);
}

void newer_selectors_of_executables() {
  MPSGraph* g = [[MPSGraph new] autorelease];
  MPSGraphExecutable* executable = [g compileWithDevice:nil
                                                  feeds:[NSDictionary dictionary]
                                          targetTensors:[NSArray arrayWithObject:scalar(g, 3)]
                                       targetOperations:nil
                                  compilationDescriptor:nil];
  char name[] = "/tmp/pretence-XXXXXX";
  close(mkstemp(name));
  NSURL* url = [NSURL fileURLWithPath:[NSString stringWithUTF8String:name]];
  const SEL other = @selector(feedTensors);
  newer_selector(executable, @"serializeToMPSGraphPackageAtURL:descriptor:", other, [&] {
    [executable serializeToMPSGraphPackageAtURL:url descriptor:nil];
    return [[NSData dataWithContentsOfURL:url] length] > 0;
  });
  newer_selector(executable, @"initWithMPSGraphPackageAtURL:compilationDescriptor:", other, [&] {
    MPSGraphExecutable* loaded = [[[MPSGraphExecutable alloc] initWithMPSGraphPackageAtURL:url
                                                                     compilationDescriptor:nil] autorelease];
    return [[loaded targetTensors] count] == 1;
  });
  newer_selector(executable, @"initWithCoreMLPackageAtURL:compilationDescriptor:", other, [&] {
    @try {
      [[[MPSGraphExecutable alloc] initWithCoreMLPackageAtURL:url compilationDescriptor:nil] release];
    } @catch (NSException* exception) {
      if (![[exception name] isEqualToString:NSInvalidArgumentException]) [exception raise];
      return true;
    }
    return false;
  });
  unlink(name);
}

// What the newer selectors of a graph are sent with. Each makes a tensor of a shape that it is known to make.
struct NewerOps {
  MPSGraph* g = [[[MPSGraph alloc] init] autorelease];
  Shape smaller = {1, 2, 3, 1}, bigger = {1, 4, 6, 1};
  MPSGraphTensor *x = placeholder(g, smaller), *y = placeholder(g, bigger);
  MPSGraphTensor* size = constant(g, Array({4}, {1, 4, 6, 1}, MPSDataTypeInt32));
  MPSGraphTensor *scale = constant(g, Array({4}, {1, 2, 2, 1})), *offset = constant(g, Array({4}, {0, 0, 0, 0}));
  MPSGraphResizeNearestRoundingMode rounding = MPSGraphResizeNearestRoundingModeFloor;
  MPSGraphResizeMode mode = MPSGraphResizeBilinear;

  void makes(NSString* name, const Shape& shape, const std::function<MPSGraphTensor*()>& tensor) const {
    newer_selector(g, name, @selector(reLUWithTensor:name:), [&] { return shape_of([tensor() shape]) == shape; });
  }

  void resize_by_flags() const {
    makes(@"resizeTensor:sizeTensor:mode:centerResult:alignCorners:name:", bigger,
          [&] { return [g resizeTensor:x sizeTensor:size mode:mode centerResult:YES alignCorners:NO name:nil]; });
    makes(@"resizeNearestWithTensor:sizeTensor:nearestRoundingMode:centerResult:alignCorners:name:", bigger, [&] {
      return [g resizeNearestWithTensor:x
                             sizeTensor:size
                    nearestRoundingMode:rounding
                           centerResult:YES
                           alignCorners:NO
                                   name:nil];
    });
    makes(@"resizeBilinearWithTensor:sizeTensor:centerResult:alignCorners:name:", bigger,
          [&] { return [g resizeBilinearWithTensor:x sizeTensor:size centerResult:YES alignCorners:NO name:nil]; });
  }

  void resize_by_scales() const {
    makes(@"resizeTensor:sizeTensor:scaleTensor:offsetTensor:mode:name:", bigger,
          [&] { return [g resizeTensor:x sizeTensor:size scaleTensor:scale offsetTensor:offset mode:mode name:nil]; });
    makes(@"resizeNearestWithTensor:sizeTensor:scaleTensor:offsetTensor:nearestRoundingMode:name:", bigger, [&] {
      return [g resizeNearestWithTensor:x
                             sizeTensor:size
                            scaleTensor:scale
                           offsetTensor:offset
                    nearestRoundingMode:rounding
                                   name:nil];
    });
    makes(@"resizeBilinearWithTensor:sizeTensor:scaleTensor:offsetTensor:name:", bigger, [&] {
      return [g resizeBilinearWithTensor:x sizeTensor:size scaleTensor:scale offsetTensor:offset name:nil];
    });
    makes(@"resizeWithGradientTensor:input:scaleTensor:offsetTensor:mode:name:", smaller, [&] {
      return [g resizeWithGradientTensor:y input:x scaleTensor:scale offsetTensor:offset mode:mode name:nil];
    });
    makes(@"resizeNearestWithGradientTensor:input:scaleTensor:offsetTensor:nearestRoundingMode:name:", smaller, [&] {
      return [g resizeNearestWithGradientTensor:y
                                          input:x
                                    scaleTensor:scale
                                   offsetTensor:offset
                            nearestRoundingMode:rounding
                                           name:nil];
    });
    makes(@"resizeBilinearWithGradientTensor:input:scaleTensor:offsetTensor:name:", smaller, [&] {
      return [g resizeBilinearWithGradientTensor:y input:x scaleTensor:scale offsetTensor:offset name:nil];
    });
  }

  void columns() const {
    MPSGraphImToColOpDescriptor* windows =
        [MPSGraphImToColOpDescriptor descriptorWithKernelWidth:2
                                                  kernelHeight:2
                                                     strideInX:1
                                                     strideInY:1
                                               dilationRateInX:1
                                               dilationRateInY:1
                                                    dataLayout:MPSGraphTensorNamedDataLayoutNHWC];
    makes(@"imToColWithSourceTensor:descriptor:name:", {1, 2, 4},
          [&] { return [g imToColWithSourceTensor:x descriptor:windows name:nil]; });
    makes(@"colToImWithSourceTensor:outputShape:descriptor:name:", smaller, [&] {
      return [g colToImWithSourceTensor:placeholder(g, {1, 2, 4})
                            outputShape:numbers(smaller)
                             descriptor:windows
                                   name:nil];
    });
  }

  // The three greatest or least of each row of five, and their gradients.
  void first_elements() const {
    MPSGraphTensor *rows = placeholder(g, {2, 5}), *incoming = placeholder(g, {2, 3}),
                   *axis = [g constantWithScalar:1 dataType:MPSDataTypeInt32],
                   *k = [g constantWithScalar:3 dataType:MPSDataTypeInt32];
    const auto first = [](NSArray<MPSGraphTensor*>* results) -> MPSGraphTensor* { return [results objectAtIndex:0]; };
    makes(@"topKWithSourceTensor:axis:k:name:", {2, 3},
          [&] { return first([g topKWithSourceTensor:rows axis:1 k:3 name:nil]); });
    makes(@"topKWithSourceTensor:axisTensor:kTensor:name:", {2, 3},
          [&] { return first([g topKWithSourceTensor:rows axisTensor:axis kTensor:k name:nil]); });
    makes(@"bottomKWithSourceTensor:axis:k:name:", {2, 3},
          [&] { return first([g bottomKWithSourceTensor:rows axis:1 k:3 name:nil]); });
    makes(@"bottomKWithSourceTensor:axisTensor:kTensor:name:", {2, 3},
          [&] { return first([g bottomKWithSourceTensor:rows axisTensor:axis kTensor:k name:nil]); });
    makes(@"topKWithGradientTensor:source:axis:k:name:", {2, 5},
          [&] { return [g topKWithGradientTensor:incoming source:rows axis:1 k:3 name:nil]; });
    makes(@"topKWithGradientTensor:source:axisTensor:kTensor:name:", {2, 5},
          [&] { return [g topKWithGradientTensor:incoming source:rows axisTensor:axis kTensor:k name:nil]; });
    makes(@"bottomKWithGradientTensor:source:axis:k:name:", {2, 5},
          [&] { return [g bottomKWithGradientTensor:incoming source:rows axis:1 k:3 name:nil]; });
    makes(@"bottomKWithGradientTensor:source:axisTensor:kTensor:name:", {2, 5},
          [&] { return [g bottomKWithGradientTensor:incoming source:rows axisTensor:axis kTensor:k name:nil]; });
  }

  MPSGraphTensor* integers(const std::vector<double>& values) const {
    return constant(g, Array({static_cast<long>(values.size())}, values, MPSDataTypeInt32));
  }

  // Rows 1 and 2 of four.
  void slices() const {
    const Shape whole = {4, 5}, part = {2, 5};
    MPSGraphTensor *t = placeholder(g, whole), *u = placeholder(g, part), *start = integers({1, 0}),
                   *end = integers({3, 5}), *stride = integers({1, 1}), *extents = integers({2, 5}),
                   *shape = integers({4, 5});
    makes(@"sliceTensor:startTensor:endTensor:strideTensor:startMask:endMask:squeezeMask:name:", part, [&] {
      return [g sliceTensor:t
                startTensor:start
                  endTensor:end
               strideTensor:stride
                  startMask:0
                    endMask:0
                squeezeMask:0
                       name:nil];
    });
    makes(@"sliceTensor:startTensor:sizeTensor:squeezeMask:name:", part,
          [&] { return [g sliceTensor:t startTensor:start sizeTensor:extents squeezeMask:0 name:nil]; });
    makes(
        @"sliceGradientTensor:fwdInShapeTensor:startTensor:endTensor:strideTensor:startMask:endMask:squeezeMask:name:",
        whole, [&] {
          return [g sliceGradientTensor:u
                       fwdInShapeTensor:shape
                            startTensor:start
                              endTensor:end
                           strideTensor:stride
                              startMask:0
                                endMask:0
                            squeezeMask:0
                                   name:nil];
        });
    makes(@"sliceGradientTensor:fwdInShapeTensor:startTensor:sizeTensor:squeezeMask:name:", whole, [&] {
      return [g sliceGradientTensor:u
                   fwdInShapeTensor:shape
                        startTensor:start
                         sizeTensor:extents
                        squeezeMask:0
                               name:nil];
    });
    makes(
        @"sliceUpdateDataTensor:updateTensor:startsTensor:endsTensor:stridesTensor:startMask:endMask:squeezeMask:name:",
        whole, [&] {
          return [g sliceUpdateDataTensor:t
                             updateTensor:u
                             startsTensor:start
                               endsTensor:end
                            stridesTensor:stride
                                startMask:0
                                  endMask:0
                              squeezeMask:0
                                     name:nil];
        });
    makes(@"sliceUpdateDataTensor:updateTensor:starts:ends:strides:startMask:endMask:squeezeMask:name:", whole, [&] {
      return [g sliceUpdateDataTensor:t
                         updateTensor:u
                               starts:numbers({1, 0})
                                 ends:numbers({3, 5})
                              strides:numbers({1, 1})
                            startMask:0
                              endMask:0
                          squeezeMask:0
                                 name:nil];
    });
    makes(@"sliceUpdateDataTensor:updateTensor:startsTensor:endsTensor:stridesTensor:name:", whole, [&] {
      return [g sliceUpdateDataTensor:t updateTensor:u startsTensor:start endsTensor:end stridesTensor:stride name:nil];
    });
    makes(@"sliceUpdateDataTensor:updateTensor:starts:ends:strides:name:", whole, [&] {
      return [g sliceUpdateDataTensor:t
                         updateTensor:u
                               starts:numbers({1, 0})
                                 ends:numbers({3, 5})
                              strides:numbers({1, 1})
                                 name:nil];
    });
  }

  void complex_numbers() const {
    MPSGraphTensor *re = placeholder(g, {2, 3}), *im = placeholder(g, {2, 3});
    const auto z = [&] { return [g complexTensorWithRealTensor:re imaginaryTensor:im name:nil]; };
    makes(@"complexTensorWithRealTensor:imaginaryTensor:name:", {2, 3}, [&] { return z(); });
    makes(@"conjugateWithTensor:name:", {2, 3}, [&] { return [g conjugateWithTensor:re name:nil]; });
    makes(@"absoluteSquareWithTensor:name:", {2, 3}, [&] { return [g absoluteSquareWithTensor:re name:nil]; });
    makes(@"realPartOfTensor:name:", {2, 3}, [&] { return [g realPartOfTensor:re name:nil]; });
    makes(@"imaginaryPartOfTensor:name:", {2, 3}, [&] { return [g imaginaryPartOfTensor:re name:nil]; });
    makes(@"planarTensorWithComplexTensor:name:", {2, 3},
          [&] { return [g planarTensorWithComplexTensor:re name:nil]; });
    makes(@"constantWithRealPart:imaginaryPart:", {}, [&] { return [g constantWithRealPart:1 imaginaryPart:2]; });
    makes(@"constantWithRealPart:imaginaryPart:dataType:", {},
          [&] { return [g constantWithRealPart:1 imaginaryPart:2 dataType:static_cast<MPSDataType>(0x11000040)]; });
    makes(@"constantWithRealPart:imaginaryPart:shape:dataType:", {2, 3}, [&] {
      return [g constantWithRealPart:1
                       imaginaryPart:2
                               shape:numbers({2, 3})
                            dataType:static_cast<MPSDataType>(0x11000040)];
    });
    makes(@"scaledDotProductAttentionWithQueryTensor:keyTensor:valueTensor:scale:name:", {2, 3},
          [&] { return [g scaledDotProductAttentionWithQueryTensor:re keyTensor:re valueTensor:re scale:1 name:nil]; });
    makes(@"scaledDotProductAttentionWithQueryTensor:keyTensor:valueTensor:maskTensor:scale:name:", {2, 3}, [&] {
      return [g scaledDotProductAttentionWithQueryTensor:re
                                               keyTensor:re
                                             valueTensor:re
                                              maskTensor:nil
                                                   scale:1
                                                    name:nil];
    });
    makes(@"reciprocalSquareRootWithTensor:name:", {2, 3},
          [&] { return [g reciprocalSquareRootWithTensor:re name:nil]; });
  }

  void transforms() const {
    MPSGraphTensor *t = placeholder(g, {3, 4}), *axes = integers({1});
    const auto descriptor = [] { return [MPSGraphFFTDescriptor descriptor]; };
    makes(@"fastFourierTransformWithTensor:axes:descriptor:name:", {3, 4},
          [&] { return [g fastFourierTransformWithTensor:t axes:numbers({1}) descriptor:descriptor() name:nil]; });
    makes(@"fastFourierTransformWithTensor:axesTensor:descriptor:name:", {3, 4},
          [&] { return [g fastFourierTransformWithTensor:t axesTensor:axes descriptor:descriptor() name:nil]; });
    makes(@"realToHermiteanFFTWithTensor:axes:descriptor:name:", {3, 3},
          [&] { return [g realToHermiteanFFTWithTensor:t axes:numbers({1}) descriptor:descriptor() name:nil]; });
    makes(@"realToHermiteanFFTWithTensor:axesTensor:descriptor:name:", {3, 3},
          [&] { return [g realToHermiteanFFTWithTensor:t axesTensor:axes descriptor:descriptor() name:nil]; });
    const auto half = [&] {
      return [g realToHermiteanFFTWithTensor:t axes:numbers({1}) descriptor:descriptor() name:nil];
    };
    makes(@"HermiteanToRealFFTWithTensor:axes:descriptor:name:", {3, 4},
          [&] { return [g HermiteanToRealFFTWithTensor:half() axes:numbers({1}) descriptor:descriptor() name:nil]; });
    makes(@"HermiteanToRealFFTWithTensor:axesTensor:descriptor:name:", {3, 4},
          [&] { return [g HermiteanToRealFFTWithTensor:half() axesTensor:axes descriptor:descriptor() name:nil]; });
  }

  void tables_and_scales() const {
    MPSGraphTensor *q = [g placeholderWithShape:numbers({2, 4}) dataType:MPSDataTypeUInt8 name:nil],
                   *scales = placeholder(g, {2, 2}),
                   *zeros = [g placeholderWithShape:numbers({2, 2}) dataType:MPSDataTypeUInt8 name:nil],
                   *table = placeholder(g, {1, 1, 256}), *vectors = placeholder(g, {1, 1, 256, 1});
    makes(@"dequantizeTensor:scaleTensor:zeroPointTensor:dataType:name:", {2, 4}, [&] {
      return [g dequantizeTensor:q scaleTensor:scales zeroPointTensor:zeros dataType:MPSDataTypeFloat32 name:nil];
    });
    makes(@"dequantizeTensor:scaleTensor:dataType:name:", {2, 4},
          [&] { return [g dequantizeTensor:q scaleTensor:scales dataType:MPSDataTypeFloat32 name:nil]; });
    makes(@"dequantizeTensor:LUTTensor:name:", {2, 4}, [&] { return [g dequantizeTensor:q LUTTensor:table name:nil]; });
    makes(@"dequantizeTensor:LUTTensor:axis:name:", {2, 4},
          [&] { return [g dequantizeTensor:q LUTTensor:vectors axis:1 name:nil]; });
  }

  // What no document says is refused, but not as what the system lacks.
  void refused(NSString* name, const std::function<void()>& use) const {
    newer_selector(g, name, @selector(reLUWithTensor:name:), [&] {
      @try {
        use();
      } @catch (NSException* exception) {
        if (![[exception name] isEqualToString:NSInvalidArgumentException]) [exception raise];
        return true;
      }
      return false;
    });
  }

  void boxes_and_variables() const {
    MPSGraphTensor *boxes = placeholder(g, {1, 3, 4}), *scores = placeholder(g, {1, 3, 1}),
                   *classes = [g placeholderWithShape:numbers({1, 3}) dataType:MPSDataTypeInt32 name:nil];
    const auto corners = MPSGraphNonMaximumSuppressionCoordinateModeCornersWidthFirst;
    refused(@"nonMaximumSuppressionWithBoxesTensor:scoresTensor:IOUThreshold:scoreThreshold:perClassSuppression:"
            @"coordinateMode:name:",
            [&] {
              [g nonMaximumSuppressionWithBoxesTensor:boxes
                                         scoresTensor:scores
                                         IOUThreshold:0
                                       scoreThreshold:0
                                  perClassSuppression:NO
                                       coordinateMode:corners
                                                 name:nil];
            });
    refused(@"nonMaximumSuppressionWithBoxesTensor:scoresTensor:classIndicesTensor:IOUThreshold:scoreThreshold:"
            @"perClassSuppression:coordinateMode:name:",
            [&] {
              [g nonMaximumSuppressionWithBoxesTensor:boxes
                                         scoresTensor:scores
                                   classIndicesTensor:classes
                                         IOUThreshold:0
                                       scoreThreshold:0
                                  perClassSuppression:NO
                                       coordinateMode:corners
                                                 name:nil];
            });
    makes(@"variableFromTensorWithTensor:name:", {4}, [&] { return [g variableFromTensorWithTensor:offset name:nil]; });
  }
};
#endif

}  // namespace

int main() {
  @autoreleasepool {
    @try {
      [MTLCreateSystemDefaultDevice() release];
    } @catch (NSException* exception) {
      std::printf("refused\t%s\t%s\n", [[exception name] UTF8String], [[exception reason] UTF8String]);
      return 1;
    }
    const bool all_right = run_cases();
    newer_selectors_of_events();
#ifndef __APPLE__
    newer_selectors_of_arrays();
    newer_selectors_of_calls();
    newer_selectors_of_metal();
    newer_selectors_of_executables();
    const NewerOps ops;
    ops.resize_by_flags();
    ops.resize_by_scales();
    ops.columns();
    ops.first_elements();
    ops.slices();
    ops.complex_numbers();
    ops.transforms();
    ops.tables_and_scales();
    ops.boxes_and_variables();
#endif
    return all_right ? 0 : 1;
  }
}

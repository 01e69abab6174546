// What an imitated macOS (ALLOY_PRETEND) does with each quirk of csrc/ir/quirks.def: a line per case, which says
// whether the number is the right one or the one that is told of that system, or whether the process would have ended
// there. tests/python/device/test_pretence.py reads the lines; without imitation every number must be right.

#include "api_objects.h"
#include "graph_testing.h"

namespace {

using Numbers = std::vector<double>;

struct Case {
  const char* quirk;
  std::function<Numbers()> compute;
  Numbers right, told;  // told: empty where the process ends
};

using Arrays = std::vector<Array>;
using Expression = MPSGraphTensor* (*)(MPSGraph* g, MPSGraphTensor* x, MPSGraphTensor* y, MPSGraphTensor* z);

Numbers run(Session& session, MPSGraphTensor* target) { return session.run(target).values; }

Numbers computed(const Arrays& operands, Expression expression) {
  Session session;
  MPSGraphTensor* fed[3] = {};
  for (size_t i = 0; i < operands.size(); ++i) fed[i] = session.feed(operands[i]);
  return run(session, expression(session.graph(), fed[0], fed[1], fed[2]));
}

Arrays of(const Array& x) { return {x}; }
Arrays of(const Array& x, const Array& y) { return {x, y}; }
Arrays of(const Array& x, const Array& y, const Array& z) { return {x, y, z}; }

// The numbers that an expression in the graph g and the operands x, y and z gives.
#define GIVES(operands, ...)                                                                         \
  [] {                                                                                               \
    return computed(operands, [](MPSGraph* g, [[maybe_unused]] MPSGraphTensor* x, MPSGraphTensor* y, \
                                 MPSGraphTensor* z) { return (void)y, (void)z, __VA_ARGS__; });      \
  }
#define LAST(...) [] { return Numbers{(__VA_ARGS__)().back()}; }

// A product of matrices of ones.
Arrays matrices(long rows, long inner, long columns) {
  return {Array({rows, inner}, 1.0), Array({inner, columns}, 1.0)};
}
#define PRODUCT(operands) LAST(GIVES(operands, matmul(g, x, y)))

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

MPSGraphTensor* weights_gradient(MPSGraph* g, MPSGraphTensor* incoming, MPSGraphTensor* source) {
  return [g convolution2DWeightsGradientWithIncomingGradientTensor:incoming
                                                      sourceTensor:source
                                                       outputShape:numbers({1, 1, 1, 1})
                                      forwardConvolutionDescriptor:plain_convolution()
                                                              name:nil];
}

MPSGraphTensor* slice_gradient(MPSGraph* g, MPSGraphTensor* x, long start, long end, long stride, uint32_t end_mask) {
  return [g sliceGradientTensor:x
               fwdInShapeTensor:integers(g, {4})
                         starts:numbers({start})
                           ends:numbers({end})
                        strides:numbers({stride})
                      startMask:0
                        endMask:end_mask
                    squeezeMask:0
                           name:nil];
}

// A step of a scalar by a rate of shape (1).
MPSGraphTensor* step_of(MPSGraph* g, MPSGraphTensor* values) {
  return descended(g, constant(g, Array({1}, 0.5)), values, scalar(g, 2));
}

// One number on the device as a tensor of any type, and back.
Numbers copied(MPSDataType type, const void* bytes, NSUInteger length) {
  MPSGraph* g = [[MPSGraph new] autorelease];
  MPSGraphTensor* x = placeholder(g, {1}, type);
  MPSGraphTensorData* data = [[[MPSGraphTensorData alloc] initWithDevice:the_graph_device()
                                                                    data:[NSData dataWithBytes:bytes length:length]
                                                                   shape:numbers({1})
                                                                dataType:type] autorelease];
  MPSGraphTensor* y = [g identityWithTensor:x name:nil];
  NSDictionary* results = [g runWithFeeds:pair(data, x) targetTensors:list(y) targetOperations:nil];
  std::vector<char> back(length);
  [[[results objectForKey:y] mpsndarray] readBytes:back.data() strideBytes:nil];
  return {std::memcmp(back.data(), bytes, length) == 0 ? 1.0 : 0.0};
}

// True if a run gives a constant of that type.
Numbers constants(MPSDataType type, NSUInteger length) {
  MPSGraph* g = [[MPSGraph new] autorelease];
  MPSGraphTensor* x = [g constantWithData:[NSMutableData dataWithLength:length] shape:numbers({1}) dataType:type];
  NSDictionary* results = [g runWithFeeds:[NSDictionary dictionary] targetTensors:list(x) targetOperations:nil];
  return {static_cast<double>([results count])};
}

Numbers run_without_targets() {
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphTensor* v = variable(g, Array({1}, 1.0));
  MPSGraphOperation* assign = assigned(g, v, constant(g, Array({1}, 7.0)));
  NSArray* nothing = [NSArray array];
  [compiled(g, {}, nothing, list(assign)) runWithMTLCommandQueue:the_queue()
                                                     inputsArray:nothing
                                                    resultsArray:nil
                                             executionDescriptor:nil];
  return run(session, v);
}

// It is run at once, where every system would find the block.
Numbers handler_on_the_stack() {
  MPSGraph* g = [[MPSGraph new] autorelease];
  MPSGraphExecutableExecutionDescriptor* descriptor = [[MPSGraphExecutableExecutionDescriptor new] autorelease];
  __block int told = 0;
  [descriptor setWaitUntilCompleted:YES];
  [descriptor setCompletionHandler:^(NSArray<MPSGraphTensorData*>*, NSError*) {
    ++told;
  }];
  [compiled(g, {}, list(scalar(g, 3))) runAsyncWithMTLCommandQueue:the_queue()
                                                       inputsArray:[NSArray array]
                                                      resultsArray:nil
                                               executionDescriptor:descriptor];
  return {static_cast<double>(told)};
}

Numbers count_of_feeds_one_of_which_nothing_uses() {
  MPSGraph* g = [[MPSGraph new] autorelease];
  MPSGraphTensor *x = placeholder(g, {1}), *y = placeholder(g, {1}), *unused = placeholder(g, {1});
  return {static_cast<double>([[compiled(g, {x, y, unused}, list(plus(g, x, y))) feedTensors] count])};
}

Numbers a_step_of_a_constant() {
  MPSGraph* g = [[MPSGraph new] autorelease];
  MPSGraphTensor* y = step_of(g, scalar(g, 3));
  NSDictionary* results = [g runWithFeeds:[NSDictionary dictionary] targetTensors:list(y) targetOperations:nil];
  const Array value = read_array([results objectForKey:y]);
  return {value.values.front(), static_cast<double>(value.shape.size())};
}

Numbers a_step_of_a_variable() {
  Session session;
  MPSGraphTensor* v = variable(session.graph(), Array({}, 3.0));
  session.perform({assigned(session.graph(), v, step_of(session.graph(), v))});
  return run(session, v);
}

Numbers reads_around_an_assignment() {
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphTensor *v = variable(g, Array({1}, 1.0)), *before = [g identityWithTensor:v name:nil];
  MPSGraphOperation* assign = assigned(g, v, constant(g, Array({1}, 7.0)));
  MPSGraphTensor* behind = [g identityWithTensor:v name:nil];
  const std::vector<Array> values = session.run({before, behind}, list(assign));
  return {values.front().values.front(), values.back().values.front()};
}

Numbers two_variables_exchanged() {
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphTensor *a = variable(g, Array({1}, 1.0)), *b = variable(g, Array({1}, 2.0));
  session.perform({assigned(g, a, b), assigned(g, b, a)});
  return {run(session, a).front(), run(session, b).front()};
}

constexpr long kMany = 65536;
constexpr MPSDataType kBfloat = static_cast<MPSDataType>(0x90000010), kComplex = static_cast<MPSDataType>(0x11000040);

Array far(std::vector<double> values = {3, 5}) { return Array({1, 1, 1, 1, 2}, std::move(values)); }
Array images(double value) { return Array({kMany, 1, 1, 1}, value); }
Array whole(std::vector<double> values, MPSDataType type = MPSDataTypeInt32) {
  const long count = static_cast<long>(values.size());
  return Array({count}, std::move(values), type);
}

#define SUMS(shape, axis_, type) \
  GIVES(of(Array(shape, {3, 5}, type)), [g cumulativeSumWithTensor:x axis:axis_ name:nil])
#define WEIGHTS(type) \
  GIVES(of(Array({1, 1, 2, 1}, {1, 1}, type), Array({1, 1, 2, 1}, {2, 4}, type)), weights_gradient(g, x, y))
#define SLICE(...) GIVES(of(Array({2}, {1, 2})), slice_gradient(g, x, __VA_ARGS__))

const std::vector<Case> kCases = {
    {"reduction_beyond_rank4", GIVES(of(far()), [g reductionSumWithTensor:x axes:numbers({4}) name:nil]), {8}, {}},
    {"reduction_beyond_rank4", GIVES(of(far()), [g meanOfTensor:x axes:numbers({0, 4}) name:nil]), {4}, {}},
    {"reduction_beyond_rank4", GIVES(of(far()), [g reductionArgMaximumWithTensor:x axis:4 name:nil]), {1}, {}},
    {"product_beyond_rank4",
     PRODUCT(of(Array({1, 1, 1, 1, 2}, 1.0), Array({1, 1, 1, 2, 1}, 1.0))),
     {2},
     {}},
    {"reduction_of_no_axes",
     GIVES(of(Array({2}, {3, 5})), [g reductionSumWithTensor:x axes:[NSArray array] name:nil]),
     {3, 5},
     {}},
    {"select_by_number",
     GIVES(of(Array({2}, {0, 7})),
           [g selectWithPredicateTensor:x truePredicateTensor:scalar(g, 1) falsePredicateTensor:scalar(g, 2) name:nil]),
     {2, 1},
     {}},
    {"sign_of_int64", GIVES(of(whole({-3, 0}, MPSDataTypeInt64)), [g signWithTensor:x name:nil]), {-1, 0}, {}},
    {"executable_of_no_targets", run_without_targets, {7}, {}},
    {"bfloat16", [] { return copied(kBfloat, "\x80\x3f", 2); }, {1}, {}},
    {"complex", [] { return copied(kComplex, "\0\0\x80\x3f\0\0\0\x40", 8); }, {1}, {}},
    {"bfloat16", [] { return constants(kBfloat, 2); }, {1}, {}},
    {"complex", [] { return constants(kComplex, 8); }, {1}, {}},
    {"handler_on_the_stack", handler_on_the_stack, {1}, {}},
    {"half_convolution_gradient", WEIGHTS(MPSDataTypeFloat16), {6}, {}},
    {"half_convolution_gradient", WEIGHTS(MPSDataTypeFloat32), {6}, {6}},
    {"order_beyond_axis4", SUMS(Shape({2, 1, 1, 1, 1}), 0, MPSDataTypeFloat32), {3, 8}, {}},
    {"order_beyond_axis4", SUMS(Shape({1, 2, 1, 1, 1}), 1, MPSDataTypeFloat32), {3, 8}, {3, 8}},
    {"order_beyond_axis4",
     GIVES(of(Array({2, 1, 1, 1, 1}, {3, 5})), [g sortWithTensor:x axis:0 descending:YES name:nil]),
     {5, 3},
     {}},
    {"order_of_other_types",
     GIVES(of(whole({3, 5}, MPSDataTypeInt16)), [g argSortWithTensor:x axis:0 descending:YES name:nil]),
     {1, 0},
     {}},
    {"narrow_scatter",
     GIVES(of(whole({1, 2}, MPSDataTypeInt8), whole({5}, MPSDataTypeInt8), whole({1})),
           [g scatterWithDataTensor:x
                      updatesTensor:y
                      indicesTensor:z
                               axis:0
                               mode:MPSGraphScatterModeAdd
                               name:nil]),
     {1, 7},
     {}},
    {"narrow_accumulation", SUMS(Shape{2}, 0, MPSDataTypeInt16), {3, 8}, {0, 0}},
    {"narrow_accumulation", SUMS(Shape{2}, 0, MPSDataTypeInt32), {3, 8}, {3, 8}},
    {"half_scatter_nd",
     GIVES(of(Array({2}, {3, 5}, MPSDataTypeFloat16), Array({2, 1}, {1, 1}, MPSDataTypeInt32)),
           [g scatterNDWithUpdatesTensor:x indicesTensor:y shape:numbers({2}) batchDimensions:0 name:nil]),
     {0, 8},
     {0, 0}},
    {"long_inner_product", PRODUCT(matrices(1, 32767, 1)), {32767}, {32767}},
    {"long_inner_product", PRODUCT(matrices(1, 40000, 1)), {40000}, {32767}},
    {"large_matrix", PRODUCT(matrices(32767, 1, 1)), {1}, {1}},
    {"large_matrix", PRODUCT(matrices(32768, 1, 1)), {1}, {0}},
    {"large_matrix", PRODUCT(matrices(1, 1, 32768)), {1}, {0}},
    {"convolution_of_many_images", GIVES(of(images(1), images(1)), weights_gradient(g, x, y)), {65536}, {65535}},
    {"convolution_of_many_images",
     LAST(GIVES(of(images(1), Array({1, 1, 1, 1}, 3.0)),
                [g convolution2DDataGradientWithIncomingGradientTensor:x
                                                         weightsTensor:y
                                                           outputShape:numbers({kMany, 1, 1, 1})
                                          forwardConvolutionDescriptor:plain_convolution()
                                                                  name:nil])),
     {3},
     {0}},
    {"convolution_to_many_channels",
     [] {
       const Numbers y = GIVES(of(Array({1, 1, 1, 1}, 1.0), Array({1, 1, 1, kMany + 1}, 3.0)),
                               [g convolution2DWithSourceTensor:x
                                                  weightsTensor:y
                                                     descriptor:plain_convolution()
                                                           name:nil])();
       return Numbers{y.front(), y.at(y.size() - 2), y.back()};
     },
     {3, 3, 3},
     {3, 3, 0}},
    {"strided_slice_gradient", SLICE(1, 3, 1, 0), {0, 1, 2, 0}, {0, 1, 2, 0}},
    {"strided_slice_gradient", SLICE(0, 4, 2, 0), {1, 0, 2, 0}, {1, 2, 0, 0}},
    {"strided_slice_gradient", SLICE(3, 0, -2, 1), {0, 2, 0, 1}, {0, 0, 1, 2}},
    {"integer_quotient",
     GIVES(of(whole({-616, 30}), whole({28, -4})), [g divisionWithPrimaryTensor:x secondaryTensor:y name:nil]),
     {-22, -7},
     {-23, -8}},
    {"power_of_negative",
     GIVES(of(Array({2}, {-2, 2})), [g powerWithPrimaryTensor:x secondaryTensor:scalar(g, 3) name:nil]),
     {-8, 8},
     {NAN, 8}},
    {"sign_of_negative_zero",  // 1 / -0 is -infinity
     GIVES(of(Array({2}, {-0.0, -2})), [g reciprocalWithTensor:[g signWithTensor:x name:nil] name:nil]),
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
     GIVES(of(Array({1, 1}, 2.0)),
           matmul(g, [g softMaxWithTensor:x axis:1 name:nil], x)),
     {2},
     {NAN}},
    {"product_of_softmax",
     GIVES(of(Array({1, 1}, 2.0)),
           matmul(g, [g identityWithTensor:[g softMaxWithTensor:x axis:1 name:nil]
                                                                     name:nil], x)),
     {2},
     {2}},
    {"unused_feed", count_of_feeds_one_of_which_nothing_uses, {3}, {2}},
    {"true_is_255",
     GIVES({}, [g castTensor:scalar(g, 1, MPSDataTypeBool) toType:MPSDataTypeFloat32 name:nil]),
     {1},
     {255}},
    {"true_is_255",
     GIVES(of(Array({1, 2}, {1, 0}, MPSDataTypeBool)),
           [g equalWithPrimaryTensor:[g constantWithScalar:1 shape:numbers({1, 2}) dataType:MPSDataTypeBool]
                     secondaryTensor:x
                                name:nil]),
     {1, 0},
     {0, 0}},
    {"optimizer_of_scalar", a_step_of_a_constant, {2, 0}, {2, 1}},
    {"optimizer_of_scalar", a_step_of_a_variable, {2}, {}},
    {"read_after_assign", reads_around_an_assignment, {1, 1}, {1, 7}},
    {"read_after_assign", two_variables_exchanged, {2, 1}, {2, 2}},
};

bool same(const Numbers& a, const Numbers& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); });
}

// True if every number is right.
bool run_cases() {
  bool all_right = true;
  for (const Case& c : kCases) {
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

// ---- selectors that not every system has ----

// What becomes of a message that nothing but the system's age can end otherwise.
void newer_selector(id receiver, const std::string& selector, const std::vector<std::string>& types) {
  const SEL sel = NSSelectorFromString(string(selector));
  const Class made = [receiver class];
  const bool is_there = [receiver respondsToSelector:sel];
  bool agrees = receiver == made || [made instancesRespondToSelector:sel] == is_there;
  NSString* reason = @"";
  const char* outcome = is_there ? "right" : "other";
  @try {
    Message(receiver, selector, types).send();
  } @catch (NSException* exception) {
    reason = [exception reason];
    const bool aborts = [[exception name] isEqualToString:@"AlloyAbortException"];
    outcome = aborts ? (is_there ? "other" : "lacks") : outcome;
    // Arguments that do not fit are refused as ever.
    agrees = agrees && (aborts || [[exception name] isEqualToString:NSInvalidArgumentException]);
  }
  std::printf("%s\t%s\t%s\n", selector.c_str(), agrees ? outcome : "other", [reason UTF8String]);
}

// Every selector that the list names, of every class or protocol that declares it, and the setters of its properties.
void newer_selectors() {
  NSArray* newer = [g_api objectForKey:@"newer"];
  for (NSString* kind in list(@"classes", @"protocols")) {
    NSDictionary* declared = [g_api objectForKey:kind];
    for (NSString* name in declared) {
      // These have had initWithBuffer:offset:descriptor: from the first.
      if ([list(@"MPSMatrix", @"MPSVector") containsObject:name]) continue;
      NSDictionary* row = [declared objectForKey:name];
      const auto object = [&](bool is_class, bool is_init) -> id {
        const Class made = NSClassFromString(name);
        return is_class ? made : is_init ? [made alloc] : object_of([name UTF8String]);
      };
      for (NSString* method in [row objectForKey:@"methods"]) {
        NSString* selector = [method substringFromIndex:2];
        if (![newer containsObject:selector]) continue;
        newer_selector(object([method hasPrefix:@"+"], [selector hasPrefix:@"init"]), [selector UTF8String],
                       types_of([[row objectForKey:@"methods"] objectForKey:method]));
      }
      for (NSString* property in [row objectForKey:@"properties"]) {
        if ([newer containsObject:property]) newer_selector(object(false, false), [property UTF8String], { "id" });
      }
    }
  }
}

}  // namespace

int main(int count, char** arguments) {
  @autoreleasepool {
    @try {
      [MTLCreateSystemDefaultDevice() release];
    } @catch (NSException* exception) {
      std::printf("refused\t%s\t%s\n", [[exception name] UTF8String], [[exception reason] UTF8String]);
      return 1;
    }
    if (!make_objects(count, arguments)) return 2;  // without api.json
    const bool all_right = run_cases();
    newer_selectors();
    return all_right ? 0 : 1;
  }
}

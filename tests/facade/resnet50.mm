// The ResNet-50 for 32x32x3 images, built, trained and evaluated with MPSGraph's own gradients and control
// flow, against the float64 implementation in tests/goldens/resnet50_reference.py, which also says how values
// are generated, what a sketch is and how far it can be trusted. The golden file is the first argument, or
// lies beside the program.

#import <Foundation/Foundation.h>
#import <MetalPerformanceShadersGraph/MetalPerformanceShadersGraph.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "check.h"

static const NSUInteger kBatch = 32, kClasses = 10, kSide = 32;
static const int kSteps = 5;

// The values of some tensors.
using Values = std::vector<std::vector<float>>;

// ---- the generator and the sketches ----

static uint64_t random_bits(uint64_t stream, uint64_t i) {
  uint64_t z = ((stream << 32) + i + 1) * 0x9E3779B97F4A7C15ull;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

static NSData* uniform_data(NSUInteger stream, NSUInteger count, double limit) {
  NSMutableData* data = [NSMutableData dataWithLength:count * sizeof(float)];
  float* values = static_cast<float*>([data mutableBytes]);
  for (NSUInteger i = 0; i < count; ++i) {
    const double unit = static_cast<double>(random_bits(stream, i) >> 40) / 8388608.0 - 1;
    values[i] = static_cast<float>(limit * unit);
  }
  return data;
}

static NSData* constant_data(NSUInteger count, float value) {
  NSMutableData* data = [NSMutableData dataWithLength:count * sizeof(float)];
  float* values = static_cast<float*>([data mutableBytes]);
  std::fill(values, values + count, value);
  return data;
}

struct Sketch {
  double norm = 0;
  std::array<double, 32> buckets{};
};

static Sketch sketch(NSUInteger variable, const std::vector<float>& values) {
  Sketch s;
  double squares = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const uint64_t random = random_bits(2000 + variable, i);
    const double value = static_cast<double>(values[i]);
    s.buckets[random >> 59] += (random >> 58 & 1) != 0 ? -value : value;
    squares += value * value;
  }
  s.norm = std::sqrt(squares);
  return s;
}

static Sketch sketch(NSArray<NSNumber*>* golden) {
  Sketch s;
  s.norm = [[golden objectAtIndex:0] doubleValue];
  for (NSUInteger i = 0; i < s.buckets.size(); ++i) s.buckets[i] = [[golden objectAtIndex:i + 1] doubleValue];
  return s;
}

static double distance(const Sketch& a, const Sketch& b) {
  double squares = 0;
  for (size_t i = 0; i < a.buckets.size(); ++i) {
    const double d = a.buckets[i] - b.buckets[i];
    squares += d * d;
  }
  return std::sqrt(squares);
}

static double cosine(const Sketch& a, const Sketch& b) {
  const double d = distance(a, b);
  return (a.norm * a.norm + b.norm * b.norm - d * d) / (2 * a.norm * b.norm);
}

// ---- the network ----

@interface ResNet50 : NSObject {
  MPSGraph* _graph;
  MPSGraphDevice* _device;
  BOOL _smooth;
  MPSGraphTensor *_images, *_labels, *_training;
  MPSGraphTensor *_logits, *_loss;
  NSMutableArray<NSString*>* _names;
  NSMutableArray<MPSGraphTensor*>*_variables, *_trainables, *_movingAverages, *_gradients;
  NSMutableArray<MPSGraphOperation*>* _updates;
}

@property(nonatomic, readonly) MPSGraph* graph;
@property(nonatomic, readonly) MPSGraphTensor *labels, *logits, *loss;
@property(nonatomic, readonly) NSArray<MPSGraphTensor*>*trainables, *movingAverages, *gradients;
@property(nonatomic, readonly) NSArray<MPSGraphOperation*>* updates;

// The network with its gradients and one step of gradient descent; `smooth` for the twin without kinks.
- (instancetype)initSmooth:(BOOL)smooth;

// The name that the golden file has for a variable.
- (NSString*)nameOfVariable:(MPSGraphTensor*)variable;

// The position of a variable in the order of creation.
- (NSUInteger)numberOfVariable:(MPSGraphTensor*)variable;

// Runs the graph on the one batch there is; the values of the targets, in their order.
- (Values)runTraining:(BOOL)training
              targets:(NSArray<MPSGraphTensor*>*)targets
           operations:(NSArray<MPSGraphOperation*>*)operations;

@end

@implementation ResNet50

@synthesize graph = _graph;
@synthesize labels = _labels, logits = _logits, loss = _loss;
@synthesize trainables = _trainables, movingAverages = _movingAverages, gradients = _gradients;
@synthesize updates = _updates;

- (instancetype)initSmooth:(BOOL)smooth {
  self = [super init];
  if (self != nil) {
    id<MTLDevice> device = MTLCreateSystemDefaultDevice();
    _device = [[MPSGraphDevice deviceWithMTLDevice:device] retain];
    [device release];
    _graph = [[MPSGraph alloc] init];
    _smooth = smooth;
    _names = [[NSMutableArray alloc] init];
    _variables = [[NSMutableArray alloc] init];
    _trainables = [[NSMutableArray alloc] init];
    _movingAverages = [[NSMutableArray alloc] init];
    _gradients = [[NSMutableArray alloc] init];
    _updates = [[NSMutableArray alloc] init];
    [self buildNetwork];
    [self buildStepWithRate:0.01];
  }
  return self;
}

- (void)dealloc {
  [_updates release];
  [_gradients release];
  [_movingAverages release];
  [_trainables release];
  [_variables release];
  [_names release];
  [_graph release];
  [_device release];
  [super dealloc];
}

- (NSString*)nameOfVariable:(MPSGraphTensor*)variable {
  return [_names objectAtIndex:[self numberOfVariable:variable]];
}

- (NSUInteger)numberOfVariable:(MPSGraphTensor*)variable {
  return [_variables indexOfObjectIdenticalTo:variable];
}

- (MPSGraphTensor*)scalar:(double)value {
  return [_graph constantWithScalar:value dataType:MPSDataTypeFloat32];
}

// ---- variables ----

- (MPSGraphTensor*)variable:(NSString*)name shape:(MPSShape*)shape data:(NSData*)data trainable:(BOOL)trainable {
  MPSGraphTensor* variable = [_graph variableWithData:data shape:shape dataType:MPSDataTypeFloat32 name:name];
  [_names addObject:name];
  [_variables addObject:variable];
  [trainable ? _trainables : _movingAverages addObject:variable];
  return variable;
}

- (MPSGraphTensor*)randomVariable:(NSString*)name shape:(MPSShape*)shape limit:(double)limit {
  NSUInteger count = 1;
  for (NSNumber* extent in shape) count *= [extent unsignedIntegerValue];
  return [self variable:name shape:shape data:uniform_data([_variables count], count, limit) trainable:YES];
}

// Glorot uniform: the last two dimensions are channels, those before them the window.
- (MPSGraphTensor*)weights:(NSString*)name shape:(MPSShape*)shape {
  const NSUInteger rank = [shape count];
  double window = 1;
  for (NSUInteger i = 0; i + 2 < rank; ++i) window *= [[shape objectAtIndex:i] doubleValue];
  const double inputs = [[shape objectAtIndex:rank - 2] doubleValue];
  const double outputs = [[shape objectAtIndex:rank - 1] doubleValue];
  return [self randomVariable:name shape:shape limit:std::sqrt(6 / (window * inputs + window * outputs))];
}

// ---- layers ----

- (MPSGraphTensor*)convolution:(MPSGraphTensor*)source
                        kernel:(NSUInteger)kernel
                       filters:(NSUInteger)filters
                        stride:(NSUInteger)stride
                         style:(MPSGraphPaddingStyle)style
                          name:(NSString*)name {
  MPSGraphTensor* weights = [self weights:[name stringByAppendingString:@"/weights"]
                                    shape:@[ @(kernel), @(kernel), [[source shape] lastObject], @(filters) ]];
  MPSGraphConvolution2DOpDescriptor* descriptor =
      [MPSGraphConvolution2DOpDescriptor descriptorWithStrideInX:stride
                                                       strideInY:stride
                                                 dilationRateInX:1
                                                 dilationRateInY:1
                                                          groups:1
                                                    paddingStyle:style
                                                      dataLayout:MPSGraphTensorNamedDataLayoutNHWC
                                                   weightsLayout:MPSGraphTensorNamedDataLayoutHWIO];
  return [_graph convolution2DWithSourceTensor:source weightsTensor:weights descriptor:descriptor name:name];
}

// The new moving average as an operation.
- (MPSGraphOperation*)move:(MPSGraphTensor*)average to:(MPSGraphTensor*)statistic {
  MPSGraphTensor* kept = [_graph multiplicationWithPrimaryTensor:average secondaryTensor:[self scalar:0.99] name:nil];
  MPSGraphTensor* added = [_graph multiplicationWithPrimaryTensor:statistic
                                                  secondaryTensor:[self scalar:0.01]
                                                             name:nil];
  MPSGraphTensor* moved = [_graph additionWithPrimaryTensor:kept secondaryTensor:added name:nil];
  return [_graph assignVariable:average withValueOfTensor:moved name:nil];
}

- (MPSGraphTensor*)batchNormalization:(MPSGraphTensor*)source gamma:(float)initialGamma name:(NSString*)name {
  NSNumber* features = [[source shape] lastObject];
  const NSUInteger count = [features unsignedIntegerValue];
  MPSShape* statisticsShape = @[ @1, @1, @1, features ];
  MPSGraphTensor* gamma = [self variable:[name stringByAppendingString:@"/gamma"]
                                   shape:@[ features ]
                                    data:constant_data(count, initialGamma)
                               trainable:YES];
  MPSGraphTensor* beta = [self randomVariable:[name stringByAppendingString:@"/beta"] shape:@[ features ] limit:0.1];
  MPSGraphTensor* movingMean = [self variable:[name stringByAppendingString:@"/moving_mean"]
                                        shape:statisticsShape
                                         data:constant_data(count, 0)
                                    trainable:NO];
  MPSGraphTensor* movingVariance = [self variable:[name stringByAppendingString:@"/moving_variance"]
                                            shape:statisticsShape
                                             data:constant_data(count, 1)
                                        trainable:NO];
  NSArray<MPSGraphTensor*>* results = [_graph ifWithPredicateTensor:_training
      thenBlock:^{
        NSArray<NSNumber*>* axes = @[ @0, @1, @2 ];
        MPSGraphTensor* mean = [self->_graph meanOfTensor:source axes:axes name:nil];
        MPSGraphTensor* variance = [self->_graph varianceOfTensor:source meanTensor:mean axes:axes name:nil];
        MPSGraphOperation* moveMean = [self move:movingMean to:mean];
        MPSGraphOperation* moveVariance = [self move:movingVariance to:variance];
        return [self->_graph controlDependencyWithOperations:@[ moveMean, moveVariance ]
                                              dependentBlock:^{
                                                return @[ [self->_graph normalizationWithTensor:source
                                                                                     meanTensor:mean
                                                                                 varianceTensor:variance
                                                                                    gammaTensor:gamma
                                                                                     betaTensor:beta
                                                                                        epsilon:0.001f
                                                                                           name:nil] ];
                                              }
                                                        name:nil];
      }
      elseBlock:^{
        return @[ [self->_graph normalizationWithTensor:source
                                             meanTensor:movingMean
                                         varianceTensor:movingVariance
                                            gammaTensor:gamma
                                             betaTensor:beta
                                                epsilon:0.001f
                                                   name:nil] ];
      }
      name:name];
  return [results objectAtIndex:0];
}

- (MPSGraphTensor*)activation:(MPSGraphTensor*)source name:(NSString*)name {
  if (!_smooth) return [_graph reLUWithTensor:source name:name];
  MPSGraphTensor* gate = [_graph sigmoidWithTensor:source name:nil];
  return [_graph multiplicationWithPrimaryTensor:source secondaryTensor:gate name:name];
}

- (MPSGraphTensor*)block:(MPSGraphTensor*)source
                   inner:(NSUInteger)inner
                   outer:(NSUInteger)outer
                  stride:(NSUInteger)stride
                 project:(BOOL)project
                    name:(NSString*)place {
  auto named = [place](NSString* part) { return [NSString stringWithFormat:@"%@/%@", place, part]; };
  const MPSGraphPaddingStyle same = MPSGraphPaddingStyleTF_SAME;
  MPSGraphTensor* x = source;
  x = [self convolution:x kernel:1 filters:inner stride:stride style:same name:named(@"conv1")];
  x = [self batchNormalization:x gamma:1 name:named(@"norm1")];
  x = [self activation:x name:named(@"activation1")];
  x = [self convolution:x kernel:3 filters:inner stride:1 style:same name:named(@"conv2")];
  x = [self batchNormalization:x gamma:1 name:named(@"norm2")];
  x = [self activation:x name:named(@"activation2")];
  x = [self convolution:x kernel:1 filters:outer stride:1 style:same name:named(@"conv3")];
  x = [self batchNormalization:x gamma:_smooth ? 0.2f : 1.0f name:named(@"norm3")];
  MPSGraphTensor* skip = source;
  if (project) {
    skip = [self convolution:source kernel:1 filters:outer stride:stride style:same name:named(@"skip_conv")];
    skip = [self batchNormalization:skip gamma:1 name:named(@"skip_norm")];
  }
  x = [_graph additionWithPrimaryTensor:x secondaryTensor:skip name:named(@"sum")];
  return [self activation:x name:named(@"activation3")];
}

- (MPSGraphPooling2DOpDescriptor*)poolingOfSize:(NSUInteger)size style:(MPSGraphPaddingStyle)style {
  return [MPSGraphPooling2DOpDescriptor descriptorWithKernelWidth:size
                                                     kernelHeight:size
                                                        strideInX:2
                                                        strideInY:2
                                                     paddingStyle:style
                                                       dataLayout:MPSGraphTensorNamedDataLayoutNHWC];
}

- (void)buildNetwork {
  _training = [_graph placeholderWithShape:@[ @1 ] dataType:MPSDataTypeBool name:@"training"];
  _images = [_graph placeholderWithShape:@[ @(kBatch), @(kSide), @(kSide), @3 ] name:@"images"];
  _labels = [_graph placeholderWithShape:@[ @(kBatch), @(kClasses) ] name:@"labels"];

  MPSGraphTensor* x = [self convolution:_images
                                 kernel:7
                                filters:64
                                 stride:2
                                  style:MPSGraphPaddingStyleTF_VALID
                                   name:@"stem/conv"];
  x = [self batchNormalization:x gamma:1 name:@"stem/norm"];
  x = [self activation:x name:@"stem/activation"];
  x = [_graph maxPooling2DWithSourceTensor:x
                                descriptor:[self poolingOfSize:3 style:MPSGraphPaddingStyleTF_VALID]
                                      name:@"stem/pool"];
  const int blocks[] = {3, 4, 6, 3};
  for (int stage = 0; stage < 4; ++stage) {
    const NSUInteger inner = 64u << stage;
    for (int block = 0; block < blocks[stage]; ++block) {
      x = [self block:x
                inner:inner
                outer:4 * inner
               stride:stage > 0 && block == 0 ? 2 : 1
              project:block == 0
                 name:[NSString stringWithFormat:@"stage%d/block%d", stage + 1, block + 1]];
    }
  }
  x = [_graph avgPooling2DWithSourceTensor:x
                                descriptor:[self poolingOfSize:2 style:MPSGraphPaddingStyleTF_SAME]
                                      name:@"pool"];
  NSUInteger features = 1;
  for (NSUInteger i = 1; i < 4; ++i) features *= [[[x shape] objectAtIndex:i] unsignedIntegerValue];
  x = [_graph reshapeTensor:x withShape:@[ @(kBatch), @(features) ] name:@"flatten"];
  MPSGraphTensor* weights = [self weights:@"dense/weights" shape:@[ @(features), @(kClasses) ]];
  MPSGraphTensor* bias = [self randomVariable:@"dense/bias" shape:@[ @(kClasses) ] limit:0.1];
  x = [_graph matrixMultiplicationWithPrimaryTensor:x secondaryTensor:weights name:@"dense/product"];
  _logits = [_graph additionWithPrimaryTensor:x secondaryTensor:bias name:@"dense"];
  MPSGraphTensor* sum = [_graph softMaxCrossEntropyWithSourceTensor:_logits
                                                       labelsTensor:_labels
                                                               axis:-1
                                                      reductionType:MPSGraphLossReductionTypeSum
                                                               name:@"cross_entropy"];
  _loss = [_graph divisionWithPrimaryTensor:sum secondaryTensor:[self scalar:static_cast<double>(kBatch)] name:@"loss"];
}

- (void)buildStepWithRate:(double)rate {
  NSDictionary<MPSGraphTensor*, MPSGraphTensor*>* gradients = [_graph gradientForPrimaryTensor:_loss
                                                                                   withTensors:_trainables
                                                                                          name:@"gradients"];
  MPSGraphTensor* learningRate = [self scalar:rate];
  for (MPSGraphTensor* variable in _trainables) {
    MPSGraphTensor* gradient = [gradients objectForKey:variable];
    [_gradients addObject:gradient];
    MPSGraphTensor* updated = [_graph stochasticGradientDescentWithLearningRateTensor:learningRate
                                                                         valuesTensor:variable
                                                                       gradientTensor:gradient
                                                                                 name:nil];
    [_updates addObject:[_graph assignVariable:variable withValueOfTensor:updated name:nil]];
  }
}

// ---- runs ----

- (MPSGraphTensorData*)data:(NSData*)bytes shapedLike:(MPSGraphTensor*)tensor {
  return [[[MPSGraphTensorData alloc] initWithDevice:_device data:bytes shape:[tensor shape]
                                            dataType:[tensor dataType]] autorelease];
}

- (MPSGraphTensorDataDictionary*)feedsForTraining:(BOOL)training {
  const uint8_t flag = training ? 1 : 0;
  NSMutableData* oneHot = [NSMutableData dataWithLength:kBatch * kClasses * sizeof(float)];
  float* rows = static_cast<float*>([oneHot mutableBytes]);
  for (NSUInteger i = 0; i < kBatch; ++i) rows[i * kClasses + i % kClasses] = 1;
  return @{
    _training : [self data:[NSData dataWithBytes:&flag length:1] shapedLike:_training],
    _images : [self data:uniform_data(1000, kBatch * kSide * kSide * 3, 1) shapedLike:_images],
    _labels : [self data:oneHot shapedLike:_labels],
  };
}

- (Values)runTraining:(BOOL)training
              targets:(NSArray<MPSGraphTensor*>*)targets
           operations:(NSArray<MPSGraphOperation*>*)operations {
  Values values(static_cast<size_t>([targets count]));
  Values* filled = &values;
  @autoreleasepool {
    dispatch_semaphore_t done = dispatch_semaphore_create(0);
    MPSGraphExecutionDescriptor* descriptor = [[[MPSGraphExecutionDescriptor alloc] init] autorelease];
    descriptor.completionHandler = ^(MPSGraphTensorDataDictionary* results, NSError* error) {
      CHECK(error == nil);
      for (NSUInteger i = 0; i < [targets count]; ++i) {
        MPSGraphTensorData* result = [results objectForKey:[targets objectAtIndex:i]];
        NSUInteger count = 1;
        for (NSNumber* extent in [result shape]) count *= [extent unsignedIntegerValue];
        (*filled)[i].resize(count);
        [[result mpsndarray] readBytes:(*filled)[i].data() strideBytes:nil];
      }
      dispatch_semaphore_signal(done);
    };
    [_graph runAsyncWithFeeds:[self feedsForTraining:training]
                targetTensors:targets
             targetOperations:operations
          executionDescriptor:descriptor];
    dispatch_semaphore_wait(done, DISPATCH_TIME_FOREVER);
    dispatch_release(done);
  }
  return values;
}

@end

// ---- comparisons ----

// The relative error of a number, printed.
static double error_of(const char* what, double actual, double expected) {
  const double error = std::fabs(actual - expected) / std::fabs(expected);
  std::printf("%s: %.9g, expected %.9g, relative error %.3g\n", what, actual, expected, error);
  return error;
}

static double loss_at(NSDictionary* golden, int step) {
  return [[[golden objectForKey:@"losses"] objectAtIndex:static_cast<NSUInteger>(step)] doubleValue];
}

// The name of a variable, and sketches of what a run gave for it and of what it should have given.
struct Comparison {
  NSString* name;
  Sketch actual, expected;

  double error() const { return distance(actual, expected) / expected.norm; }
};

// `values`, from the one at `first` on, belong to the variables.
static std::vector<Comparison> compare(ResNet50* net, NSArray<MPSGraphTensor*>* variables, const Values& values,
                                       size_t first, NSDictionary* golden) {
  std::vector<Comparison> comparisons;
  CHECK([golden count] == [variables count]);
  for (NSUInteger i = 0; i < [variables count]; ++i) {
    MPSGraphTensor* variable = [variables objectAtIndex:i];
    NSString* name = [net nameOfVariable:variable];
    const Sketch actual = sketch([net numberOfVariable:variable], values.at(first + i));
    comparisons.push_back({name, actual, sketch([golden objectForKey:name])});
  }
  return comparisons;
}

// The largest relative error, printed; infinite where one is no number.
static double worst_error(const char* what, const std::vector<Comparison>& comparisons) {
  double worst = 0;
  NSString* name = @"";
  for (const Comparison& c : comparisons) {
    if (std::isnan(c.error())) return INFINITY;
    if (c.error() > worst) name = c.name;
    worst = std::max(worst, c.error());
  }
  std::printf("%s: worst relative error %.3g (%s)\n", what, worst, [name UTF8String]);
  return worst;
}

// The relative error of one long vector of all whose names end alike, printed.
static double joint_error(const char* what, const std::vector<Comparison>& comparisons, NSString* ending) {
  double error = 0, size = 0;
  for (const Comparison& c : comparisons) {
    if (![c.name hasSuffix:ending]) continue;
    error += distance(c.actual, c.expected) * distance(c.actual, c.expected);
    size += c.expected.norm * c.expected.norm;
  }
  std::printf("%s: relative error of all %s %.3g\n", what, [ending UTF8String], std::sqrt(error / size));
  return std::sqrt(error / size);
}

// The smallest cosine, printed.
static double worst_cosine(const char* what, const std::vector<Comparison>& comparisons) {
  double worst = 1;
  NSString* name = @"";
  for (const Comparison& c : comparisons) {
    const double cos = cosine(c.actual, c.expected);
    if (std::isnan(cos)) return -1;
    if (cos < worst) name = c.name;
    worst = std::min(worst, cos);
  }
  std::printf("%s: worst cosine %.6f (%s)\n", what, worst, [name UTF8String]);
  return worst;
}

static NSArray<MPSGraphTensor*>* loss_and_gradients(ResNet50* net) {
  return [@[ [net loss] ] arrayByAddingObjectsFromArray:[net gradients]];
}

static void the_network_is_what_it_should_be(ResNet50* net) {
  NSArray<MPSGraphTensor*>* variables = [net trainables];
  CHECK([variables count] == 161 && [[net movingAverages] count] == 106 && [[net updates] count] == 161);
  size_t parameters = 0;
  for (NSUInteger i = 0; i < [variables count]; ++i) {
    MPSGraphTensor* variable = [variables objectAtIndex:i];
    CHECK([[[variable operation] name] isEqualToString:[net nameOfVariable:variable]]);
    CHECK([[variable shape] isEqual:[[[net gradients] objectAtIndex:i] shape]]);
    size_t count = 1;
    for (NSNumber* extent in [variable shape]) count *= [extent unsignedIntegerValue];
    parameters += count;
  }
  CHECK(parameters == 23528522);
  NSArray* logits = @[ @(kBatch), @(kClasses) ];
  CHECK([[[net logits] shape] isEqual:logits]);
}

static double loss_of(ResNet50* net, BOOL training, NSArray<MPSGraphOperation*>* operations) {
  const Values results = [net runTraining:training targets:@[ [net loss] ] operations:operations];
  return static_cast<double>(results.at(0).at(0));
}

// Gradients, parameters and losses are held to half of what is asked, as are those of the Python model
// (tests/python/nn/test_resnet50.py), so that the two are within it of each other.
static void the_smooth_network_trains_as_in_double_precision(NSDictionary* golden) {
  ResNet50* net = [[[ResNet50 alloc] initSmooth:YES] autorelease];
  the_network_is_what_it_should_be(net);
  NSArray<MPSGraphTensor*>*variables = [net trainables], *averages = [net movingAverages];

  // The first step gives the gradients, too, from which it updates.
  Values results = [net runTraining:YES targets:loss_and_gradients(net) operations:[net updates]];
  CHECK(error_of("smooth, loss", static_cast<double>(results.at(0).at(0)), loss_at(golden, 0)) <= 5e-6);
  auto compared = compare(net, variables, results, 1, [golden objectForKey:@"gradients"]);
  CHECK(worst_error("smooth, gradients", compared) <= 5e-5);
  results = [net runTraining:YES targets:averages operations:@[]];
  compared = compare(net, averages, results, 0, [golden objectForKey:@"moving_after_one_step"]);
  CHECK(worst_error("smooth, moving averages after one step", compared) <= 1e-5);

  for (int step = 1; step < kSteps; ++step) {
    CHECK(error_of("smooth, loss", loss_of(net, YES, [net updates]), loss_at(golden, step)) <= 5e-6);
  }
  results = [net runTraining:YES targets:variables operations:@[]];
  compared = compare(net, variables, results, 0, [golden objectForKey:@"parameters"]);
  CHECK(worst_error("smooth, parameters after five steps", compared) <= 5e-6);

  // Evaluation normalises with the moving averages and leaves them alone.
  const Values moved = [net runTraining:YES targets:averages operations:@[]];
  compared = compare(net, averages, moved, 0, [golden objectForKey:@"moving"]);
  CHECK(worst_error("smooth, moving averages after five steps", compared) <= 1e-5);
  const double evaluation = [[golden objectForKey:@"evaluation_loss"] doubleValue];
  CHECK(error_of("smooth, evaluation loss after five steps", loss_of(net, NO, @[]), evaluation) <= 1e-5);
  CHECK([net runTraining:NO targets:averages operations:@[]] == moved);

  CHECK(error_of("smooth, loss after five steps", loss_of(net, YES, @[]), loss_at(golden, kSteps)) <= 5e-6);
  // Training moves the averages although nothing asks for them.
  CHECK([net runTraining:NO targets:averages operations:@[]] != moved);
}

// The gradient of the loss to the logits as a value that does not depend on them: assigned, then read. Its
// product with the logits has the gradients of the loss.
static MPSGraphTensor* loss_with_a_stopped_gradient(ResNet50* net) {
  MPSGraph* graph = [net graph];
  MPSGraphTensor* kept = [graph variableWithData:constant_data(kBatch * kClasses, 0)
                                           shape:@[ @(kBatch), @(kClasses) ]
                                        dataType:MPSDataTypeFloat32
                                            name:@"stopped"];
  MPSGraphTensor* probabilities = [graph softMaxWithTensor:[net logits] axis:-1 name:nil];
  MPSGraphTensor* difference = [graph subtractionWithPrimaryTensor:probabilities secondaryTensor:[net labels] name:nil];
  MPSGraphOperation* keep = [graph assignVariable:kept withValueOfTensor:difference name:nil];
  NSArray<MPSGraphTensor*>* stopped = [graph controlDependencyWithOperations:@[ keep ]
                                                              dependentBlock:^{
                                                                return @[ [graph readVariable:kept name:nil] ];
                                                              }
                                                                        name:nil];
  MPSGraphTensor* product = [graph multiplicationWithPrimaryTensor:[stopped objectAtIndex:0]
                                                   secondaryTensor:[net logits]
                                                              name:nil];
  MPSGraphTensor* sum = [graph reductionSumWithTensor:product axes:@[ @0, @1 ] name:nil];
  MPSGraphTensor* count = [graph constantWithScalar:static_cast<double>(kBatch) dataType:MPSDataTypeFloat32];
  return [graph divisionWithPrimaryTensor:sum secondaryTensor:count name:nil];
}

static void the_network_has_the_gradients_of_double_precision(NSDictionary* golden) {
  ResNet50* net = [[[ResNet50 alloc] initSmooth:NO] autorelease];
  the_network_is_what_it_should_be(net);
  NSArray<MPSGraphTensor*>*variables = [net trainables], *averages = [net movingAverages];
  Values results = [net runTraining:YES targets:loss_and_gradients(net) operations:@[]];
  CHECK(error_of("relu, loss", static_cast<double>(results.at(0).at(0)), loss_at(golden, 0)) <= 5e-5);
  const auto gradients = compare(net, variables, results, 1, [golden objectForKey:@"gradients"]);
  CHECK(worst_cosine("relu, gradients", gradients) >= 0.998);
  // The last means follow on fifty layers of rounding: each is held as the loss is, all together closer.
  const Values moved = [net runTraining:YES targets:averages operations:@[]];
  const auto moving = compare(net, averages, moved, 0, [golden objectForKey:@"moving_after_one_step"]);
  CHECK(worst_error("relu, moving averages after one step", moving) <= 5e-5);
  CHECK(joint_error("relu, after one step", moving, @"moving_mean") <= 1e-5);
  CHECK(joint_error("relu, after one step", moving, @"moving_variance") <= 1e-5);

  NSDictionary<MPSGraphTensor*, MPSGraphTensor*>* stopped =
      [[net graph] gradientForPrimaryTensor:loss_with_a_stopped_gradient(net)
                                withTensors:variables
                                       name:@"stopped_gradients"];
  NSMutableArray<MPSGraphTensor*>* targets = [NSMutableArray array];
  for (MPSGraphTensor* variable in variables) [targets addObject:[stopped objectForKey:variable]];
  const Values again = [net runTraining:YES targets:targets operations:@[]];
  for (size_t i = 0; i < again.size(); ++i) {
    double error = 0, size = 0;
    for (size_t k = 0; k < again[i].size(); ++k) {
      const double actual = static_cast<double>(again[i][k]);
      const double expected = static_cast<double>(results.at(i + 1)[k]);
      error += (actual - expected) * (actual - expected);
      size += expected * expected;
    }
    CHECK(std::sqrt(error) <= 1e-4 * std::sqrt(size));
  }
}

int main(int argc, char** argv) {
  @autoreleasepool {
    // A reference computes such a network for hours.
    NSObject* device = [(NSObject*)MTLCreateSystemDefaultDevice() autorelease];
    const SEL kind = NSSelectorFromString(@"alloyKind");
    if ([device respondsToSelector:kind] && ![[device performSelector:kind] isEqualToString:@"cpu"]) {
      std::puts("skipped: for the CPU and for Macs");
      return 77;
    }
    NSString* directory = [[NSString stringWithUTF8String:argv[0]] stringByDeletingLastPathComponent];
    NSString* beside = [directory stringByAppendingPathComponent:@"resnet50.json"];
    NSString* path = argc > 1 ? [NSString stringWithUTF8String:argv[1]] : beside;
    NSData* text = [NSData dataWithContentsOfFile:path];
    NSDictionary* golden = nil;
    if (text != nil) golden = [NSJSONSerialization JSONObjectWithData:text options:0 error:NULL];
    if (golden == nil) {
      std::fprintf(stderr, "usage: %s [resnet50.json]\n", argv[0]);
      return 2;
    }
    @autoreleasepool {
      the_smooth_network_trains_as_in_double_precision([golden objectForKey:@"smooth"]);
    }
    @autoreleasepool {
      the_network_has_the_gradients_of_double_precision([golden objectForKey:@"relu"]);
    }
  }
  return check::summary();
}

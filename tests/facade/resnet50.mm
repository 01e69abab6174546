// The ResNet-50 for 32x32x3 images, built, trained and evaluated with MPSGraph's own gradients and control flow, against the
// float64 implementation in tests/goldens/resnet50_reference.py, which also says how the values are generated, what a sketch
// is and how far it can be trusted. The golden file is the first argument, or lies beside the program.

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

// ---- the generator and the sketches ----

static std::uint64_t random_bits(std::uint64_t stream, std::uint64_t i) {
  std::uint64_t z = ((stream << 32) + i + 1) * 0x9E3779B97F4A7C15ull;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return z ^ (z >> 31);
}

static NSData *uniform_data(NSUInteger stream, NSUInteger count, double limit) {
  NSMutableData *data = [NSMutableData dataWithLength:count * sizeof(float)];
  float *values = static_cast<float *>([data mutableBytes]);
  for (NSUInteger i = 0; i < count; ++i) {
    const double unit = static_cast<double>(random_bits(stream, i) >> 40) / 8388608.0 - 1;
    values[i] = static_cast<float>(limit * unit);
  }
  return data;
}

static NSData *constant_data(NSUInteger count, float value) {
  NSMutableData *data = [NSMutableData dataWithLength:count * sizeof(float)];
  float *values = static_cast<float *>([data mutableBytes]);
  std::fill(values, values + count, value);
  return data;
}

struct Sketch {
  double norm = 0;
  std::array<double, 32> buckets{};
};

static Sketch sketch(NSUInteger variable, const std::vector<float> &values) {
  Sketch s;
  double squares = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint64_t random = random_bits(2000 + variable, i);
    const double value = static_cast<double>(values[i]);
    s.buckets[random >> 59] += (random >> 58 & 1) != 0 ? -value : value;
    squares += value * value;
  }
  s.norm = std::sqrt(squares);
  return s;
}

static Sketch sketch(NSArray<NSNumber *> *golden) {
  Sketch s;
  s.norm = [[golden objectAtIndex:0] doubleValue];
  for (NSUInteger i = 0; i < s.buckets.size(); ++i) s.buckets[i] = [[golden objectAtIndex:i + 1] doubleValue];
  return s;
}

static double distance(const Sketch &a, const Sketch &b) {
  double squares = 0;
  for (std::size_t i = 0; i < a.buckets.size(); ++i) squares += (a.buckets[i] - b.buckets[i]) * (a.buckets[i] - b.buckets[i]);
  return std::sqrt(squares);
}

static double relative_error(const Sketch &actual, const Sketch &expected) { return distance(actual, expected) / expected.norm; }

static double cosine(const Sketch &a, const Sketch &b) {
  const double d = distance(a, b);
  return (a.norm * a.norm + b.norm * b.norm - d * d) / (2 * a.norm * b.norm);
}

// ---- the network ----

@interface ResNet50 : NSObject {
  MPSGraph *_graph;
  MPSGraphDevice *_device;
  BOOL _smooth;
  MPSGraphTensor *_images, *_labels, *_training;
  MPSGraphTensor *_logits, *_loss;
  NSMutableArray<NSString *> *_names;
  NSMutableArray<MPSGraphTensor *> *_variables, *_trainables, *_movingAverages, *_gradients;
  NSMutableArray<MPSGraphOperation *> *_updates;
}

@property(nonatomic, readonly) MPSGraph *graph;
@property(nonatomic, readonly) MPSGraphTensor *labels, *logits, *loss;
@property(nonatomic, readonly) NSArray<MPSGraphTensor *> *trainables, *movingAverages, *gradients;
@property(nonatomic, readonly) NSArray<MPSGraphOperation *> *updates;

/// The network with its gradients and one step of gradient descent; `smooth` for the twin without kinks.
- (instancetype)initSmooth:(BOOL)smooth;

/// The name that the golden file has for a variable.
- (NSString *)nameOfVariable:(MPSGraphTensor *)variable;

/// The position of a variable in the order of creation.
- (NSUInteger)numberOfVariable:(MPSGraphTensor *)variable;

/// Runs the graph on the one batch there is; the values of the targets, in their order.
- (std::vector<std::vector<float>>)runTraining:(BOOL)training
                                       targets:(NSArray<MPSGraphTensor *> *)targets
                                    operations:(NSArray<MPSGraphOperation *> *)operations;

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

- (NSString *)nameOfVariable:(MPSGraphTensor *)variable { return [_names objectAtIndex:[self numberOfVariable:variable]]; }

- (NSUInteger)numberOfVariable:(MPSGraphTensor *)variable { return [_variables indexOfObjectIdenticalTo:variable]; }

- (MPSGraphTensor *)scalar:(double)value { return [_graph constantWithScalar:value dataType:MPSDataTypeFloat32]; }

// ---- variables ----

- (MPSGraphTensor *)variable:(NSString *)name shape:(MPSShape *)shape data:(NSData *)data trainable:(BOOL)trainable {
  MPSGraphTensor *variable = [_graph variableWithData:data shape:shape dataType:MPSDataTypeFloat32 name:name];
  [_names addObject:name];
  [_variables addObject:variable];
  [trainable ? _trainables : _movingAverages addObject:variable];
  return variable;
}

- (MPSGraphTensor *)randomVariable:(NSString *)name shape:(MPSShape *)shape limit:(double)limit {
  NSUInteger count = 1;
  for (NSNumber *extent in shape) count *= [extent unsignedIntegerValue];
  return [self variable:name shape:shape data:uniform_data([_variables count], count, limit) trainable:YES];
}

// Glorot uniform: the last two dimensions are channels, those before them the window.
- (MPSGraphTensor *)weights:(NSString *)name shape:(MPSShape *)shape {
  const NSUInteger rank = [shape count];
  double window = 1;
  for (NSUInteger i = 0; i + 2 < rank; ++i) window *= [[shape objectAtIndex:i] doubleValue];
  const double inputs = [[shape objectAtIndex:rank - 2] doubleValue], outputs = [[shape objectAtIndex:rank - 1] doubleValue];
  return [self randomVariable:name shape:shape limit:std::sqrt(6 / (window * inputs + window * outputs))];
}

// ---- layers ----

- (MPSGraphTensor *)convolution:(MPSGraphTensor *)source
                         kernel:(NSUInteger)kernel
                        filters:(NSUInteger)filters
                         stride:(NSUInteger)stride
                          style:(MPSGraphPaddingStyle)style
                           name:(NSString *)name {
  MPSGraphTensor *weights = [self weights:[name stringByAppendingString:@"/weights"]
                                    shape:@[ @(kernel), @(kernel), [[source shape] lastObject], @(filters) ]];
  MPSGraphConvolution2DOpDescriptor *descriptor =
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
- (MPSGraphOperation *)move:(MPSGraphTensor *)average to:(MPSGraphTensor *)statistic {
  MPSGraphTensor *kept = [_graph multiplicationWithPrimaryTensor:average secondaryTensor:[self scalar:0.99] name:nil];
  MPSGraphTensor *added = [_graph multiplicationWithPrimaryTensor:statistic secondaryTensor:[self scalar:0.01] name:nil];
  MPSGraphTensor *moved = [_graph additionWithPrimaryTensor:kept secondaryTensor:added name:nil];
  return [_graph assignVariable:average withValueOfTensor:moved name:nil];
}

- (MPSGraphTensor *)batchNormalization:(MPSGraphTensor *)source gamma:(float)initialGamma name:(NSString *)name {
  NSNumber *features = [[source shape] lastObject];
  const NSUInteger count = [features unsignedIntegerValue];
  MPSShape *statisticsShape = @[ @1, @1, @1, features ];
  MPSGraphTensor *gamma = [self variable:[name stringByAppendingString:@"/gamma"]
                                   shape:@[ features ]
                                    data:constant_data(count, initialGamma)
                               trainable:YES];
  MPSGraphTensor *beta = [self randomVariable:[name stringByAppendingString:@"/beta"] shape:@[ features ] limit:0.1];
  MPSGraphTensor *movingMean = [self variable:[name stringByAppendingString:@"/moving_mean"]
                                        shape:statisticsShape
                                         data:constant_data(count, 0)
                                    trainable:NO];
  MPSGraphTensor *movingVariance = [self variable:[name stringByAppendingString:@"/moving_variance"]
                                            shape:statisticsShape
                                             data:constant_data(count, 1)
                                        trainable:NO];
  NSArray<MPSGraphTensor *> *results = [_graph
      ifWithPredicateTensor:_training
      thenBlock:^{
        NSArray<NSNumber *> *axes = @[ @0, @1, @2 ];
        MPSGraphTensor *mean = [self->_graph meanOfTensor:source axes:axes name:nil];
        MPSGraphTensor *variance = [self->_graph varianceOfTensor:source meanTensor:mean axes:axes name:nil];
        return [self->_graph
            controlDependencyWithOperations:@[ [self move:movingMean to:mean], [self move:movingVariance to:variance] ]
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

- (MPSGraphTensor *)activation:(MPSGraphTensor *)source name:(NSString *)name {
  if (!_smooth) return [_graph reLUWithTensor:source name:name];
  MPSGraphTensor *gate = [_graph sigmoidWithTensor:source name:nil];
  return [_graph multiplicationWithPrimaryTensor:source secondaryTensor:gate name:name];
}

- (MPSGraphTensor *)block:(MPSGraphTensor *)source
                    inner:(NSUInteger)inner
                    outer:(NSUInteger)outer
                   stride:(NSUInteger)stride
                  project:(BOOL)project
                     name:(NSString *)place {
  auto named = [place](NSString *part) { return [NSString stringWithFormat:@"%@/%@", place, part]; };
  const MPSGraphPaddingStyle same = MPSGraphPaddingStyleTF_SAME;
  MPSGraphTensor *x = [self convolution:source kernel:1 filters:inner stride:stride style:same name:named(@"conv1")];
  x = [self batchNormalization:x gamma:1 name:named(@"norm1")];
  x = [self activation:x name:named(@"activation1")];
  x = [self convolution:x kernel:3 filters:inner stride:1 style:same name:named(@"conv2")];
  x = [self batchNormalization:x gamma:1 name:named(@"norm2")];
  x = [self activation:x name:named(@"activation2")];
  x = [self convolution:x kernel:1 filters:outer stride:1 style:same name:named(@"conv3")];
  x = [self batchNormalization:x gamma:_smooth ? 0.2f : 1.0f name:named(@"norm3")];
  MPSGraphTensor *skip = source;
  if (project) {
    skip = [self convolution:source kernel:1 filters:outer stride:stride style:same name:named(@"skip_conv")];
    skip = [self batchNormalization:skip gamma:1 name:named(@"skip_norm")];
  }
  x = [_graph additionWithPrimaryTensor:x secondaryTensor:skip name:named(@"sum")];
  return [self activation:x name:named(@"activation3")];
}

- (MPSGraphPooling2DOpDescriptor *)poolingOfSize:(NSUInteger)size style:(MPSGraphPaddingStyle)style {
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

  MPSGraphTensor *x = [self convolution:_images
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
  MPSGraphTensor *weights = [self weights:@"dense/weights" shape:@[ @(features), @(kClasses) ]];
  MPSGraphTensor *bias = [self randomVariable:@"dense/bias" shape:@[ @(kClasses) ] limit:0.1];
  x = [_graph matrixMultiplicationWithPrimaryTensor:x secondaryTensor:weights name:@"dense/product"];
  _logits = [_graph additionWithPrimaryTensor:x secondaryTensor:bias name:@"dense"];
  MPSGraphTensor *sum = [_graph softMaxCrossEntropyWithSourceTensor:_logits
                                                       labelsTensor:_labels
                                                               axis:-1
                                                      reductionType:MPSGraphLossReductionTypeSum
                                                               name:@"cross_entropy"];
  _loss = [_graph divisionWithPrimaryTensor:sum secondaryTensor:[self scalar:static_cast<double>(kBatch)] name:@"loss"];
}

- (void)buildStepWithRate:(double)rate {
  NSDictionary<MPSGraphTensor *, MPSGraphTensor *> *gradients = [_graph gradientForPrimaryTensor:_loss
                                                                                     withTensors:_trainables
                                                                                            name:@"gradients"];
  MPSGraphTensor *learningRate = [self scalar:rate];
  for (MPSGraphTensor *variable in _trainables) {
    MPSGraphTensor *gradient = [gradients objectForKey:variable];
    [_gradients addObject:gradient];
    MPSGraphTensor *updated = [_graph stochasticGradientDescentWithLearningRateTensor:learningRate
                                                                         valuesTensor:variable
                                                                       gradientTensor:gradient
                                                                                 name:nil];
    [_updates addObject:[_graph assignVariable:variable withValueOfTensor:updated name:nil]];
  }
}

// ---- runs ----

- (MPSGraphTensorData *)data:(NSData *)bytes shapedLike:(MPSGraphTensor *)tensor {
  return [[[MPSGraphTensorData alloc] initWithDevice:_device
                                                data:bytes
                                               shape:[tensor shape]
                                            dataType:[tensor dataType]] autorelease];
}

- (MPSGraphTensorDataDictionary *)feedsForTraining:(BOOL)training {
  const std::uint8_t flag = training ? 1 : 0;
  NSMutableData *oneHot = [NSMutableData dataWithLength:kBatch * kClasses * sizeof(float)];
  for (NSUInteger i = 0; i < kBatch; ++i) static_cast<float *>([oneHot mutableBytes])[i * kClasses + i % kClasses] = 1;
  return @{
    _training : [self data:[NSData dataWithBytes:&flag length:1] shapedLike:_training],
    _images : [self data:uniform_data(1000, kBatch * kSide * kSide * 3, 1) shapedLike:_images],
    _labels : [self data:oneHot shapedLike:_labels],
  };
}

- (std::vector<std::vector<float>>)runTraining:(BOOL)training
                                       targets:(NSArray<MPSGraphTensor *> *)targets
                                    operations:(NSArray<MPSGraphOperation *> *)operations {
  std::vector<std::vector<float>> values(static_cast<std::size_t>([targets count]));
  std::vector<std::vector<float>> *filled = &values;
  @autoreleasepool {
    dispatch_semaphore_t done = dispatch_semaphore_create(0);
    MPSGraphExecutionDescriptor *descriptor = [[[MPSGraphExecutionDescriptor alloc] init] autorelease];
    descriptor.completionHandler = ^(MPSGraphTensorDataDictionary *results, NSError *error) {
      CHECK(error == nil);
      for (NSUInteger i = 0; i < [targets count]; ++i) {
        MPSGraphTensorData *result = [results objectForKey:[targets objectAtIndex:i]];
        NSUInteger count = 1;
        for (NSNumber *extent in [result shape]) count *= [extent unsignedIntegerValue];
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

static double relative(double actual, double expected) { return std::fabs(actual - expected) / std::fabs(expected); }

static double number_at(NSDictionary *golden, NSString *key) { return [[golden objectForKey:key] doubleValue]; }

static double loss_at(NSDictionary *golden, int step) {
  return [[[golden objectForKey:@"losses"] objectAtIndex:static_cast<NSUInteger>(step)] doubleValue];
}

/// The worst of something over vectors, and whose it is.
struct Worst {
  double value;
  NSString *name = @"";

  void print(const char *network, const char *what) const {
    std::printf("%s: worst %s %.3g (%s)\n", network, what, value, [name UTF8String]);
  }
};

static Worst worst_error(ResNet50 *net, NSArray<MPSGraphTensor *> *variables, const std::vector<std::vector<float>> &values,
                         std::size_t first, NSDictionary *golden) {
  Worst worst{0};
  CHECK([golden count] == [variables count]);
  for (NSUInteger i = 0; i < [variables count]; ++i) {
    MPSGraphTensor *variable = [variables objectAtIndex:i];
    NSString *name = [net nameOfVariable:variable];
    const Sketch actual = sketch([net numberOfVariable:variable], values.at(first + i));
    const double error = relative_error(actual, sketch([golden objectForKey:name]));
    if (!(error <= worst.value)) worst = {error, name};
  }
  return worst;
}

static Worst worst_cosine(ResNet50 *net, const std::vector<std::vector<float>> &values, std::size_t first,
                          NSDictionary *golden) {
  Worst worst{1};
  for (NSUInteger i = 0; i < [[net trainables] count]; ++i) {
    MPSGraphTensor *variable = [[net trainables] objectAtIndex:i];
    NSString *name = [net nameOfVariable:variable];
    const Sketch actual = sketch([net numberOfVariable:variable], values.at(first + i));
    const double c = cosine(actual, sketch([golden objectForKey:name]));
    if (!(c >= worst.value)) worst = {c, name};
  }
  return worst;
}

static NSArray<MPSGraphTensor *> *loss_and_gradients(ResNet50 *net) {
  return [@[ [net loss] ] arrayByAddingObjectsFromArray:[net gradients]];
}

static void the_network_is_what_it_should_be(ResNet50 *net) {
  CHECK([[net trainables] count] == 161 && [[net movingAverages] count] == 106 && [[net updates] count] == 161);
  std::size_t parameters = 0;
  for (NSUInteger i = 0; i < [[net trainables] count]; ++i) {
    MPSGraphTensor *variable = [[net trainables] objectAtIndex:i];
    CHECK([[[variable operation] name] isEqualToString:[net nameOfVariable:variable]]);
    CHECK([[variable shape] isEqual:[[[net gradients] objectAtIndex:i] shape]]);
    std::size_t count = 1;
    for (NSNumber *extent in [variable shape]) count *= [extent unsignedIntegerValue];
    parameters += count;
  }
  CHECK(parameters == 23528522);
  NSArray *logits = @[ @(kBatch), @(kClasses) ];
  CHECK([[[net logits] shape] isEqual:logits]);
}

static void the_smooth_network_trains_as_in_double_precision(NSDictionary *golden) {
  ResNet50 *net = [[[ResNet50 alloc] initSmooth:YES] autorelease];
  the_network_is_what_it_should_be(net);

  // The first step, whose gradients are results too: its updates are made from the same gradients.
  std::vector<std::vector<float>> results = [net runTraining:YES targets:loss_and_gradients(net) operations:[net updates]];
  double worst_loss = relative(static_cast<double>(results.at(0).at(0)), loss_at(golden, 0));
  const Worst gradients = worst_error(net, [net trainables], results, 1, [golden objectForKey:@"gradients"]);
  gradients.print("smooth", "relative error of a gradient");
  CHECK(gradients.value <= 1e-4);
  results = [net runTraining:YES targets:[net movingAverages] operations:@[]];
  Worst moving = worst_error(net, [net movingAverages], results, 0, [golden objectForKey:@"moving_after_one_step"]);
  moving.print("smooth", "relative error of a moving average after one step");
  CHECK(moving.value <= 1e-5);

  for (int step = 1; step < kSteps; ++step) {
    results = [net runTraining:YES targets:@[ [net loss] ] operations:[net updates]];
    worst_loss = std::max(worst_loss, relative(static_cast<double>(results.at(0).at(0)), loss_at(golden, step)));
  }
  results = [net runTraining:YES targets:[net trainables] operations:@[]];
  const Worst parameters = worst_error(net, [net trainables], results, 0, [golden objectForKey:@"parameters"]);
  parameters.print("smooth", "relative error of a parameter after five steps");
  CHECK(parameters.value <= 1e-5);

  // Evaluation normalises with the moving averages and leaves them alone.
  const std::vector<std::vector<float>> averages = [net runTraining:YES targets:[net movingAverages] operations:@[]];
  moving = worst_error(net, [net movingAverages], averages, 0, [golden objectForKey:@"moving"]);
  moving.print("smooth", "relative error of a moving average after five steps");
  CHECK(moving.value <= 1e-5);
  const double evaluation = static_cast<double>([net runTraining:NO targets:@[ [net loss] ] operations:@[]].at(0).at(0));
  std::printf("smooth: evaluation loss %.9g, expected %.9g\n", evaluation, number_at(golden, @"evaluation_loss"));
  CHECK(relative(evaluation, number_at(golden, @"evaluation_loss")) <= 1e-5);
  CHECK([net runTraining:NO targets:[net movingAverages] operations:@[]] == averages);

  const double loss = static_cast<double>([net runTraining:YES targets:@[ [net loss] ] operations:@[]].at(0).at(0));
  std::printf("smooth: loss after five steps %.9g, expected %.9g\n", loss, loss_at(golden, kSteps));
  worst_loss = std::max(worst_loss, relative(loss, loss_at(golden, kSteps)));
  std::printf("smooth: worst relative error of a loss %.3g\n", worst_loss);
  CHECK(worst_loss <= 1e-5);
  // A training run moves the averages although nothing asks for them.
  CHECK([net runTraining:NO targets:[net movingAverages] operations:@[]] != averages);
}

// The gradient of the loss to the logits as a value that does not depend on them: assigned, then read. Its product with the
// logits has the gradients of the loss.
static MPSGraphTensor *loss_with_a_stopped_gradient(ResNet50 *net) {
  MPSGraph *graph = [net graph];
  NSData *zeros = constant_data(kBatch * kClasses, 0);
  MPSGraphTensor *kept = [graph variableWithData:zeros
                                           shape:@[ @(kBatch), @(kClasses) ]
                                        dataType:MPSDataTypeFloat32
                                            name:@"stopped"];
  MPSGraphTensor *probabilities = [graph softMaxWithTensor:[net logits] axis:-1 name:nil];
  MPSGraphTensor *difference = [graph subtractionWithPrimaryTensor:probabilities secondaryTensor:[net labels] name:nil];
  MPSGraphOperation *keep = [graph assignVariable:kept withValueOfTensor:difference name:nil];
  MPSGraphTensor *stopped = [[graph controlDependencyWithOperations:@[ keep ]
                                                     dependentBlock:^{
                                                       return @[ [graph readVariable:kept name:nil] ];
                                                     }
                                                               name:nil] objectAtIndex:0];
  MPSGraphTensor *product = [graph multiplicationWithPrimaryTensor:stopped secondaryTensor:[net logits] name:nil];
  MPSGraphTensor *sum = [graph reductionSumWithTensor:product axes:@[ @0, @1 ] name:nil];
  MPSGraphTensor *count = [graph constantWithScalar:static_cast<double>(kBatch) dataType:MPSDataTypeFloat32];
  return [graph divisionWithPrimaryTensor:sum secondaryTensor:count name:nil];
}

static void the_network_has_the_gradients_of_double_precision(NSDictionary *golden) {
  ResNet50 *net = [[[ResNet50 alloc] initSmooth:NO] autorelease];
  the_network_is_what_it_should_be(net);
  const std::vector<std::vector<float>> results = [net runTraining:YES targets:loss_and_gradients(net) operations:@[]];
  const double loss = static_cast<double>(results.at(0).at(0));
  std::printf("relu: loss %.9g, expected %.9g\n", loss, loss_at(golden, 0));
  CHECK(relative(loss, loss_at(golden, 0)) <= 5e-5);
  const Worst cosines = worst_cosine(net, results, 1, [golden objectForKey:@"gradients"]);
  cosines.print("relu", "cosine of a gradient");
  CHECK(cosines.value >= 0.998);
  const std::vector<std::vector<float>> averages = [net runTraining:YES targets:[net movingAverages] operations:@[]];
  const Worst moving = worst_error(net, [net movingAverages], averages, 0, [golden objectForKey:@"moving_after_one_step"]);
  moving.print("relu", "relative error of a moving average after one step");
  CHECK(moving.value <= 1e-5);

  NSArray<MPSGraphTensor *> *variables = [net trainables];
  NSDictionary *stopped = [[net graph] gradientForPrimaryTensor:loss_with_a_stopped_gradient(net)
                                                    withTensors:variables
                                                           name:@"stopped_gradients"];
  NSMutableArray<MPSGraphTensor *> *targets = [NSMutableArray array];
  for (MPSGraphTensor *variable in variables) [targets addObject:[stopped objectForKey:variable]];
  const std::vector<std::vector<float>> again = [net runTraining:YES targets:targets operations:@[]];
  double worst = 0;
  for (NSUInteger i = 0; i < [variables count]; ++i) {
    double error = 0, size = 0;
    for (std::size_t k = 0; k < again.at(i).size(); ++k) {
      const double a = static_cast<double>(again.at(i)[k]), b = static_cast<double>(results.at(i + 1)[k]);
      error += (a - b) * (a - b);
      size += b * b;
    }
    worst = std::max(worst, std::sqrt(error / size));
  }
  std::printf("relu: worst relative difference of the gradients with a stopped gradient %.3g\n", worst);
  CHECK(worst <= 1e-4);
}

int main(int argc, char **argv) {
  @autoreleasepool {
    NSString *program = [NSString stringWithUTF8String:argv[0]];
    NSString *beside = [[program stringByDeletingLastPathComponent] stringByAppendingPathComponent:@"resnet50.json"];
    NSData *text = [NSData dataWithContentsOfFile:argc > 1 ? [NSString stringWithUTF8String:argv[1]] : beside];
    NSDictionary *golden = text == nil ? nil : [NSJSONSerialization JSONObjectWithData:text options:0 error:NULL];
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

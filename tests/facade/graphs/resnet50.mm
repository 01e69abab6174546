// The ResNet-50 for 32x32x3 images, built, trained and evaluated with MPSGraph's own gradients and control
// flow, against the float64 implementation in tests/goldens/resnet50_reference.py, which also says how values
// are generated, what a sketch is and how far it can be trusted. The golden file is the first argument, or
// lies beside the program.

#include <array>

#include "graph_testing.h"

static const NSUInteger kBatch = 32, kClasses = 10, kSide = 32;
static const int kSteps = 5;
static NSDictionary* g_golden;

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

static NSUInteger count_of(MPSShape* shape) {
  NSUInteger count = 1;
  for (NSNumber* extent in shape) count *= [extent unsignedIntegerValue];
  return count;
}

// The network with its gradients and one step of gradient descent; `smooth` for the twin without kinks.
struct ResNet50 {
  bool smooth;
  MPSGraph* graph = [[MPSGraph new] autorelease];
  MPSGraphTensor* training = [graph placeholderWithShape:@[ @1 ] dataType:MPSDataTypeBool name:@"training"];
  MPSGraphTensor* images = [graph placeholderWithShape:@[ @(kBatch), @(kSide), @(kSide), @3 ] name:@"images"];
  MPSGraphTensor* labels = [graph placeholderWithShape:@[ @(kBatch), @(kClasses) ] name:@"labels"];
  MPSGraphTensor *logits = nil, *loss = nil;
  // In the order of their creation; the golden file has their names.
  NSMutableArray<NSString*>* names = [NSMutableArray array];
  NSMutableArray<MPSGraphTensor*>*variables = [NSMutableArray array], *trainables = [NSMutableArray array],
  *averages = [NSMutableArray array], *gradients = [NSMutableArray array];
  NSMutableArray<MPSGraphOperation*>* updates = [NSMutableArray array];

  explicit ResNet50(bool is_smooth) : smooth(is_smooth) {
    build_network();
    build_step(0.01);
  }

  NSUInteger number_of(MPSGraphTensor* variable) const { return [variables indexOfObjectIdenticalTo:variable]; }
  NSString* name_of(MPSGraphTensor* variable) const { return [names objectAtIndex:number_of(variable)]; }

  // ---- variables ----

  MPSGraphTensor* variable(NSString* name, MPSShape* shape, NSData* data, bool trainable) {
    MPSGraphTensor* made = [graph variableWithData:data shape:shape dataType:MPSDataTypeFloat32 name:name];
    [names addObject:name];
    [variables addObject:made];
    [trainable ? trainables : averages addObject:made];
    return made;
  }

  MPSGraphTensor* random_variable(NSString* name, MPSShape* shape, double limit) {
    return variable(name, shape, uniform_data([variables count], count_of(shape), limit), true);
  }

  // Glorot uniform: the last two dimensions are channels, those before them the window.
  MPSGraphTensor* weights(NSString* name, MPSShape* shape) {
    const NSUInteger rank = [shape count];
    double window = 1;
    for (NSUInteger i = 0; i + 2 < rank; ++i) window *= [[shape objectAtIndex:i] doubleValue];
    const double inputs = [[shape objectAtIndex:rank - 2] doubleValue];
    const double outputs = [[shape objectAtIndex:rank - 1] doubleValue];
    return random_variable(name, shape, std::sqrt(6 / (window * inputs + window * outputs)));
  }

  // ---- layers ----

  MPSGraphTensor* convolution(MPSGraphTensor* source, NSUInteger kernel, NSUInteger filters, NSUInteger stride,
                              MPSGraphPaddingStyle style, NSString* name) {
    MPSGraphTensor* filter = weights([name stringByAppendingString:@"/weights"],
                                     @[ @(kernel), @(kernel), [[source shape] lastObject], @(filters) ]);
    MPSGraphConvolution2DOpDescriptor* descriptor =
        [MPSGraphConvolution2DOpDescriptor descriptorWithStrideInX:stride
                                                         strideInY:stride
                                                   dilationRateInX:1
                                                   dilationRateInY:1
                                                            groups:1
                                                      paddingStyle:style
                                                        dataLayout:MPSGraphTensorNamedDataLayoutNHWC
                                                     weightsLayout:MPSGraphTensorNamedDataLayoutHWIO];
    return [graph convolution2DWithSourceTensor:source weightsTensor:filter descriptor:descriptor name:name];
  }

  // The new moving average as an operation.
  MPSGraphOperation* moved(MPSGraphTensor* average, MPSGraphTensor* statistic) {
    MPSGraphTensor* kept = times(graph, average, scalar(graph, 0.99));
    return assigned(graph, average, plus(graph, kept, times(graph, statistic, scalar(graph, 0.01))));
  }

  MPSGraphTensor* batch_normalization(MPSGraphTensor* source, float initial_gamma, NSString* name) {
    const auto named = [&](NSString* part) { return [name stringByAppendingString:part]; };
    NSNumber* features = [[source shape] lastObject];
    const NSUInteger count = [features unsignedIntegerValue];
    MPSShape* shape = @[ @1, @1, @1, features ];
    MPSGraphTensor* gamma = variable(named(@"/gamma"), @[ features ], constant_data(count, initial_gamma), true);
    MPSGraphTensor* beta = random_variable(named(@"/beta"), @[ features ], 0.1);
    MPSGraphTensor* moving_mean = variable(named(@"/moving_mean"), shape, constant_data(count, 0), false);
    MPSGraphTensor* moving_variance = variable(named(@"/moving_variance"), shape, constant_data(count, 1), false);
    ResNet50* self = this;
    const auto normalized = [=](MPSGraphTensor* mean, MPSGraphTensor* variance) {
      return list([self->graph normalizationWithTensor:source
                                            meanTensor:mean
                                        varianceTensor:variance
                                           gammaTensor:gamma
                                            betaTensor:beta
                                               epsilon:0.001f
                                                  name:nil]);
    };
    NSArray<MPSGraphTensor*>* results = [graph ifWithPredicateTensor:training
        thenBlock:^{
          NSArray<NSNumber*>* axes = @[ @0, @1, @2 ];
          MPSGraphTensor* mean = [self->graph meanOfTensor:source axes:axes name:nil];
          MPSGraphTensor* variance = [self->graph varianceOfTensor:source meanTensor:mean axes:axes name:nil];
          NSArray* moves = list(self->moved(moving_mean, mean), self->moved(moving_variance, variance));
          return [self->graph controlDependencyWithOperations:moves
                                               dependentBlock:^{
                                                 return normalized(mean, variance);
                                               }
                                                         name:nil];
        }
        elseBlock:^{
          return normalized(moving_mean, moving_variance);
        }
        name:name];
    return [results objectAtIndex:0];
  }

  MPSGraphTensor* activation(MPSGraphTensor* source, NSString* name) {
    if (!smooth) return [graph reLUWithTensor:source name:name];
    MPSGraphTensor* gate = [graph sigmoidWithTensor:source name:nil];
    return [graph multiplicationWithPrimaryTensor:source secondaryTensor:gate name:name];
  }

  MPSGraphTensor* block(MPSGraphTensor* source, NSUInteger inner, NSUInteger outer, NSUInteger stride, bool project,
                        NSString* place) {
    const auto named = [place](NSString* part) { return [NSString stringWithFormat:@"%@/%@", place, part]; };
    const MPSGraphPaddingStyle same = MPSGraphPaddingStyleTF_SAME;
    MPSGraphTensor* x = convolution(source, 1, inner, stride, same, named(@"conv1"));
    x = activation(batch_normalization(x, 1, named(@"norm1")), named(@"activation1"));
    x = convolution(x, 3, inner, 1, same, named(@"conv2"));
    x = activation(batch_normalization(x, 1, named(@"norm2")), named(@"activation2"));
    x = convolution(x, 1, outer, 1, same, named(@"conv3"));
    x = batch_normalization(x, smooth ? 0.2f : 1.0f, named(@"norm3"));
    MPSGraphTensor* skip = source;
    if (project) {
      skip = convolution(source, 1, outer, stride, same, named(@"skip_conv"));
      skip = batch_normalization(skip, 1, named(@"skip_norm"));
    }
    x = [graph additionWithPrimaryTensor:x secondaryTensor:skip name:named(@"sum")];
    return activation(x, named(@"activation3"));
  }

  static MPSGraphPooling2DOpDescriptor* pooling(NSUInteger size, MPSGraphPaddingStyle style) {
    return [MPSGraphPooling2DOpDescriptor descriptorWithKernelWidth:size
                                                       kernelHeight:size
                                                          strideInX:2
                                                          strideInY:2
                                                       paddingStyle:style
                                                         dataLayout:MPSGraphTensorNamedDataLayoutNHWC];
  }

  void build_network() {
    MPSGraphTensor* x = convolution(images, 7, 64, 2, MPSGraphPaddingStyleTF_VALID, @"stem/conv");
    x = activation(batch_normalization(x, 1, @"stem/norm"), @"stem/activation");
    x = [graph maxPooling2DWithSourceTensor:x descriptor:pooling(3, MPSGraphPaddingStyleTF_VALID) name:@"stem/pool"];
    const int blocks[] = {3, 4, 6, 3};
    for (int stage = 0; stage < 4; ++stage) {
      const NSUInteger inner = 64u << stage;
      for (int k = 0; k < blocks[stage]; ++k) {
        NSString* place = [NSString stringWithFormat:@"stage%d/block%d", stage + 1, k + 1];
        x = block(x, inner, 4 * inner, stage > 0 && k == 0 ? 2 : 1, k == 0, place);
      }
    }
    x = [graph avgPooling2DWithSourceTensor:x descriptor:pooling(2, MPSGraphPaddingStyleTF_SAME) name:@"pool"];
    const NSUInteger features = count_of([x shape]) / kBatch;
    x = [graph reshapeTensor:x withShape:@[ @(kBatch), @(features) ] name:@"flatten"];
    MPSGraphTensor* dense = weights(@"dense/weights", @[ @(features), @(kClasses) ]);
    MPSGraphTensor* bias = random_variable(@"dense/bias", @[ @(kClasses) ], 0.1);
    x = [graph matrixMultiplicationWithPrimaryTensor:x secondaryTensor:dense name:@"dense/product"];
    logits = [graph additionWithPrimaryTensor:x secondaryTensor:bias name:@"dense"];
    MPSGraphTensor* sum = [graph softMaxCrossEntropyWithSourceTensor:logits
                                                        labelsTensor:labels
                                                                axis:-1
                                                       reductionType:MPSGraphLossReductionTypeSum
                                                                name:@"cross_entropy"];
    loss = [graph divisionWithPrimaryTensor:sum secondaryTensor:scalar(graph, kBatch) name:@"loss"];
  }

  void build_step(double rate) {
    NSDictionary* slopes = [graph gradientForPrimaryTensor:loss withTensors:trainables name:@"gradients"];
    for (MPSGraphTensor* each in trainables) {
      MPSGraphTensor* gradient = [slopes objectForKey:each];
      [gradients addObject:gradient];
      [updates addObject:assigned(graph, each, descended(graph, scalar(graph, rate), each, gradient))];
    }
  }

  // ---- runs ----

  static MPSGraphTensorData* data(NSData* bytes, MPSGraphTensor* like) {
    return [[[MPSGraphTensorData alloc] initWithDevice:the_graph_device()
                                                  data:bytes
                                                 shape:[like shape]
                                              dataType:[like dataType]] autorelease];
  }

  NSDictionary* feeds(bool is_training) const {
    const uint8_t flag = is_training ? 1 : 0;
    NSMutableData* one_hot = [NSMutableData dataWithLength:kBatch * kClasses * sizeof(float)];
    float* rows = static_cast<float*>([one_hot mutableBytes]);
    for (NSUInteger i = 0; i < kBatch; ++i) rows[i * kClasses + i % kClasses] = 1;
    return @{
      training : data([NSData dataWithBytes:&flag length:1], training),
      images : data(uniform_data(1000, kBatch * kSide * kSide * 3, 1), images),
      labels : data(one_hot, labels),
    };
  }

  // Runs the graph on the one batch there is; the values of the targets, in their order.
  Values run(bool is_training, NSArray* targets, NSArray* operations) const {
    Values values([targets count]);
    @autoreleasepool {
      dispatch_semaphore_t done = dispatch_semaphore_create(0);
      MPSGraphExecutionDescriptor* descriptor = [[MPSGraphExecutionDescriptor new] autorelease];
      Values* filled = &values;
      descriptor.completionHandler = ^(MPSGraphTensorDataDictionary* results, NSError* error) {
        CHECK(error == nil);
        for (NSUInteger i = 0; i < [targets count]; ++i) {
          MPSGraphTensorData* result = [results objectForKey:[targets objectAtIndex:i]];
          (*filled)[i].resize(count_of([result shape]));
          [[result mpsndarray] readBytes:(*filled)[i].data() strideBytes:nil];
        }
        dispatch_semaphore_signal(done);
      };
      [graph runAsyncWithFeeds:feeds(is_training)
                 targetTensors:targets
              targetOperations:operations
           executionDescriptor:descriptor];
      dispatch_semaphore_wait(done, DISPATCH_TIME_FOREVER);
      dispatch_release(done);
    }
    return values;
  }
};

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
static std::vector<Comparison> compare(const ResNet50& net, NSArray<MPSGraphTensor*>* variables, const Values& values,
                                       size_t first, NSDictionary* golden) {
  std::vector<Comparison> comparisons;
  CHECK([golden count] == [variables count]);
  for (NSUInteger i = 0; i < [variables count]; ++i) {
    MPSGraphTensor* variable = [variables objectAtIndex:i];
    NSString* name = net.name_of(variable);
    const Sketch actual = sketch(net.number_of(variable), values.at(first + i));
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

static NSArray<MPSGraphTensor*>* loss_and_gradients(const ResNet50& net) {
  return [@[ net.loss ] arrayByAddingObjectsFromArray:net.gradients];
}

static void the_network_is_what_it_should_be(const ResNet50& net) {
  NSArray<MPSGraphTensor*>* variables = net.trainables;
  CHECK([variables count] == 161 && [net.averages count] == 106 && [net.updates count] == 161);
  size_t parameters = 0;
  for (NSUInteger i = 0; i < [variables count]; ++i) {
    MPSGraphTensor* variable = [variables objectAtIndex:i];
    CHECK([[[variable operation] name] isEqualToString:net.name_of(variable)]);
    CHECK([[variable shape] isEqual:[[net.gradients objectAtIndex:i] shape]]);
    size_t count = 1;
    for (NSNumber* extent in [variable shape]) count *= [extent unsignedIntegerValue];
    parameters += count;
  }
  CHECK(parameters == 23528522);
  NSArray* logits = @[ @(kBatch), @(kClasses) ];
  CHECK([[net.logits shape] isEqual:logits]);
}

static double loss_of(const ResNet50& net, bool is_training, NSArray<MPSGraphOperation*>* operations) {
  const Values results = net.run(is_training, @[ net.loss ], operations);
  return static_cast<double>(results.at(0).at(0));
}

// Gradients, parameters and losses are held to half of what is asked, as are those of the Python model
// (tests/python/nn/test_resnet50.py), so that the two are within it of each other.
TEST(the_smooth_network_trains_as_in_double_precision) {
  NSDictionary* golden = [g_golden objectForKey:@"smooth"];
  const ResNet50 net(true);
  the_network_is_what_it_should_be(net);
  NSArray<MPSGraphTensor*>*variables = net.trainables, *averages = net.averages;

  // The first step gives the gradients, too, from which it updates.
  Values results = net.run(true, loss_and_gradients(net), net.updates);
  CHECK(error_of("smooth, loss", static_cast<double>(results.at(0).at(0)), loss_at(golden, 0)) <= 5e-6);
  auto compared = compare(net, variables, results, 1, [golden objectForKey:@"gradients"]);
  CHECK(worst_error("smooth, gradients", compared) <= 5e-5);
  results = net.run(true, averages, @[]);
  compared = compare(net, averages, results, 0, [golden objectForKey:@"moving_after_one_step"]);
  CHECK(worst_error("smooth, moving averages after one step", compared) <= 1e-5);

  for (int step = 1; step < kSteps; ++step) {
    CHECK(error_of("smooth, loss", loss_of(net, true, net.updates), loss_at(golden, step)) <= 5e-6);
  }
  results = net.run(true, variables, @[]);
  compared = compare(net, variables, results, 0, [golden objectForKey:@"parameters"]);
  CHECK(worst_error("smooth, parameters after five steps", compared) <= 5e-6);

  // Evaluation normalises with the moving averages and leaves them alone.
  const Values moved = net.run(true, averages, @[]);
  compared = compare(net, averages, moved, 0, [golden objectForKey:@"moving"]);
  CHECK(worst_error("smooth, moving averages after five steps", compared) <= 1e-5);
  const double evaluation = [[golden objectForKey:@"evaluation_loss"] doubleValue];
  CHECK(error_of("smooth, evaluation loss after five steps", loss_of(net, false, @[]), evaluation) <= 1e-5);
  CHECK(net.run(false, averages, @[]) == moved);

  CHECK(error_of("smooth, loss after five steps", loss_of(net, true, @[]), loss_at(golden, kSteps)) <= 5e-6);
  // Training moves the averages although nothing asks for them.
  CHECK(net.run(false, averages, @[]) != moved);
}

// The gradient of the loss to the logits as a value that does not depend on them: assigned, then read. Its
// product with the logits has the gradients of the loss.
static MPSGraphTensor* loss_with_a_stopped_gradient(const ResNet50& net) {
  MPSGraph* graph = net.graph;
  MPSGraphTensor* kept = [graph variableWithData:constant_data(kBatch * kClasses, 0)
                                           shape:@[ @(kBatch), @(kClasses) ]
                                        dataType:MPSDataTypeFloat32
                                            name:@"stopped"];
  MPSGraphTensor* probabilities = [graph softMaxWithTensor:net.logits axis:-1 name:nil];
  MPSGraphTensor* difference = minus(graph, probabilities, net.labels);
  MPSGraphOperation* keep = assigned(graph, kept, difference);
  NSArray<MPSGraphTensor*>* stopped = [graph controlDependencyWithOperations:@[ keep ]
                                                              dependentBlock:^{
                                                                return @[ [graph readVariable:kept name:nil] ];
                                                              }
                                                                        name:nil];
  MPSGraphTensor* product = times(graph, [stopped objectAtIndex:0], net.logits);
  MPSGraphTensor* sum = [graph reductionSumWithTensor:product axes:@[ @0, @1 ] name:nil];
  MPSGraphTensor* count = scalar(graph, static_cast<double>(kBatch));
  return [graph divisionWithPrimaryTensor:sum secondaryTensor:count name:nil];
}

TEST(the_network_has_the_gradients_of_double_precision) {
  NSDictionary* golden = [g_golden objectForKey:@"relu"];
  const ResNet50 net(false);
  the_network_is_what_it_should_be(net);
  NSArray<MPSGraphTensor*>*variables = net.trainables, *averages = net.averages;
  Values results = net.run(true, loss_and_gradients(net), @[]);
  CHECK(error_of("relu, loss", static_cast<double>(results.at(0).at(0)), loss_at(golden, 0)) <= 5e-5);
  const auto gradients = compare(net, variables, results, 1, [golden objectForKey:@"gradients"]);
  CHECK(worst_cosine("relu, gradients", gradients) >= 0.998);
  // The last means follow on fifty layers of rounding: each is held as the loss is, all together closer.
  const Values moved = net.run(true, averages, @[]);
  const auto moving = compare(net, averages, moved, 0, [golden objectForKey:@"moving_after_one_step"]);
  CHECK(worst_error("relu, moving averages after one step", moving) <= 5e-5);
  CHECK(joint_error("relu, after one step", moving, @"moving_mean") <= 1e-5);
  CHECK(joint_error("relu, after one step", moving, @"moving_variance") <= 1e-5);

  NSDictionary<MPSGraphTensor*, MPSGraphTensor*>* stopped =
      [net.graph gradientForPrimaryTensor:loss_with_a_stopped_gradient(net)
                              withTensors:variables
                                     name:@"stopped_gradients"];
  NSMutableArray<MPSGraphTensor*>* targets = [NSMutableArray array];
  for (MPSGraphTensor* variable in variables) [targets addObject:[stopped objectForKey:variable]];
  const Values again = net.run(true, targets, @[]);
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
  // The tests' device computes such a network for hours.
  const SEL kind = NSSelectorFromString(@"alloyKind");
  NSObject* device = (NSObject*)the_device();
  if ([device respondsToSelector:kind] && [[device performSelector:kind] isEqualToString:@"remote"]) {
    std::puts("skipped: not for the tests' device");
    return 77;
  }
  @autoreleasepool {
    NSString* directory = [[NSString stringWithUTF8String:argv[0]] stringByDeletingLastPathComponent];
    NSString* beside = [directory stringByAppendingPathComponent:@"resnet50.json"];
    NSData* text = [NSData dataWithContentsOfFile:argc > 1 ? [NSString stringWithUTF8String:argv[1]] : beside];
    if (text != nil) g_golden = [[NSJSONSerialization JSONObjectWithData:text options:0 error:NULL] retain];
  }
  if (g_golden != nil) return check::run(1, argv);
  std::fprintf(stderr, "usage: %s [resnet50.json]\n", argv[0]);
  return 2;
}

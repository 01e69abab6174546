// Whole programs as users write them: linear regression, logistic regression with Adam, a small convolutional
// network.

#include "graph_testing.h"

static NSArray* list(id object) { return [NSArray arrayWithObject:object]; }

static MPSGraphTensor* scalar(MPSGraph* g, double value) {
  return [g constantWithScalar:value dataType:MPSDataTypeFloat32];
}

static MPSGraphTensor* plus(MPSGraph* g, MPSGraphTensor* a, MPSGraphTensor* b) {
  return [g additionWithPrimaryTensor:a secondaryTensor:b name:nil];
}

// The assigns of one step of gradient descent.
static NSArray* descent(MPSGraph* g, MPSGraphTensor* loss, NSArray* variables, double rate) {
  NSDictionary* gradients = [g gradientForPrimaryTensor:loss withTensors:variables name:nil];
  NSMutableArray* assigns = [NSMutableArray array];
  for (MPSGraphTensor* state in variables) {
    MPSGraphTensor* updated = [g stochasticGradientDescentWithLearningRateTensor:scalar(g, rate)
                                                                    valuesTensor:state
                                                                  gradientTensor:[gradients objectForKey:state]
                                                                            name:nil];
    [assigns addObject:[g assignVariable:state withValueOfTensor:updated name:nil]];
  }
  return assigns;
}

// y = 3 x0 - 2 x1 + 0.5 without noise: the coefficients themselves come out.
static void linear_regression() {
  Session session;
  MPSGraph* g = session.graph();
  MPSGraphTensor* x = [g placeholderWithShape:numbers({-1, 2}) dataType:MPSDataTypeFloat32 name:@"x"];
  MPSGraphTensor* y = [g placeholderWithShape:numbers({-1, 1}) dataType:MPSDataTypeFloat32 name:@"y"];
  MPSGraphTensor *w = variable(g, Array({2, 1}, 0.0)), *b = variable(g, Array({1}, 0.0));
  MPSGraphTensor* predicted = plus(g, [g matrixMultiplicationWithPrimaryTensor:x secondaryTensor:w name:nil], b);
  MPSGraphTensor* error = [g subtractionWithPrimaryTensor:predicted secondaryTensor:y name:nil];
  MPSGraphTensor* loss = [g meanOfTensor:[g squareWithTensor:error name:nil] axes:numbers({0, 1}) name:nil];
  NSArray* step = descent(g, loss, [NSArray arrayWithObjects:w, b, nil], 0.25);
  double first = 0, last = 0;
  for (int i = 0; i < 150; ++i) {
    const long n = i % 3 == 2 ? 8 : 16;  // the last batch of an epoch is smaller
    const Array inputs = random_array({n, 2}, -1, 1);
    Array outputs({n, 1});
    for (long k = 0; k < n; ++k) outputs.at({k, 0}) = 3 * inputs.at({k, 0}) - 2 * inputs.at({k, 1}) + 0.5;
    session.set(x, inputs);
    session.set(y, outputs);
    last = session.run({loss}, step).front().values.front();
    if (i == 0) first = last;
  }
  CHECK(first > 1 && last < 1e-6);
  CHECK_ARRAY_WITHIN(1e-4, session.run(w), Array({2, 1}, {3, -2}));
  CHECK_ARRAY_WITHIN(1e-4, session.run(b), Array({1}, 0.5));
}

// Fifty steps of descent on a two-layer network, parameter for parameter against the same in double
// precision.
static void a_perceptron_against_double_precision() {
  const long n = 8, in = 3, hidden = 5;
  Session session;
  MPSGraph* g = session.graph();
  const Array inputs = random_array({n, in}), outputs = random_array({n, 1});
  Array w1 = random_array({in, hidden}, -1, 1), b1 = random_array({hidden}, -1, 1),
        w2 = random_array({hidden, 1}, -1, 1);
  MPSGraphTensor *tw1 = variable(g, w1), *tb1 = variable(g, b1), *tw2 = variable(g, w2);
  MPSGraphTensor *x = session.feed(inputs), *y = session.feed(outputs);
  MPSGraphTensor* h =
      [g tanhWithTensor:plus(g, [g matrixMultiplicationWithPrimaryTensor:x secondaryTensor:tw1 name:nil], tb1)
                   name:nil];
  MPSGraphTensor* error = [g subtractionWithPrimaryTensor:[g matrixMultiplicationWithPrimaryTensor:h
                                                                                   secondaryTensor:tw2
                                                                                              name:nil]
                                          secondaryTensor:y
                                                     name:nil];
  MPSGraphTensor* loss = [g meanOfTensor:[g squareWithTensor:error name:nil] axes:numbers({0, 1}) name:nil];
  NSArray* step = descent(g, loss, [NSArray arrayWithObjects:tw1, tb1, tw2, nil], 0.1);
  for (int i = 0; i < 50; ++i) {
    session.run({}, step);
    Array d1({in, hidden}), db({hidden}), d2({hidden, 1});
    for (long k = 0; k < n; ++k) {
      std::vector<double> a(hidden);
      double e = -outputs.at({k, 0});
      for (long j = 0; j < hidden; ++j) {
        double sum = b1.at({j});
        for (long c = 0; c < in; ++c) sum += inputs.at({k, c}) * w1.at({c, j});
        a.at(static_cast<size_t>(j)) = std::tanh(sum);
        e += a.at(static_cast<size_t>(j)) * w2.at({j, 0});
      }
      const double de = 2 * e / static_cast<double>(n);
      for (long j = 0; j < hidden; ++j) {
        const double t = a.at(static_cast<size_t>(j)), inner = de * w2.at({j, 0}) * (1 - t * t);
        d2.at({j, 0}) += de * t;
        db.at({j}) += inner;
        for (long c = 0; c < in; ++c) d1.at({c, j}) += inner * inputs.at({k, c});
      }
    }
    auto descend = [](double v, double d) { return v - 0.1 * d; };
    w1 = map(w1, d1, descend);
    b1 = map(b1, db, descend);
    w2 = map(w2, d2, descend);
  }
  CHECK_ARRAY_WITHIN(2e-5, session.run(tw1), w1);
  CHECK_ARRAY_WITHIN(2e-5, session.run(tb1), b1);
  CHECK_ARRAY_WITHIN(2e-5, session.run(tw2), w2);
}

// A convolutional classifier with batch statistics: it learns to tell horizontal from vertical bars, with one
// executable that trains and one that evaluates.
// Lines in noise, with their classes: those across are 0, those down 1.
struct Pictures {
  Array pictures, classes;

  explicit Pictures(long n) : pictures(random_array({n, 6, 7, 1}, 0, 0.25)), classes({n, 2}) {
    for (long k = 0; k < n; ++k) {
      const bool is_vertical = next_random() < 0.5;
      const long line = static_cast<long>(next_random() * 6);
      for (long i = 0; i < 6; ++i) (is_vertical ? pictures.at({k, i, line, 0}) : pictures.at({k, line, i, 0})) += 1;
      classes.at({k, is_vertical}) = 1;
    }
  }
};

struct ConvolutionalNetwork {
  MPSGraphTensor *images, *labels, *loss, *accuracy;
  NSArray* step;

  ConvolutionalNetwork(MPSGraph* g, long n) {
    images = placeholder(g, {n, 6, 7, 1});
    labels = placeholder(g, {n, 2});
    MPSGraphTensor *kernel = variable(g, random_array({3, 3, 1, 4}, -0.5, 0.5)), *bias = variable(g, Array({4}, 0.0));
    MPSGraphTensor* weights = variable(g, random_array({36, 2}, -0.25, 0.25));
    MPSGraphConvolution2DOpDescriptor* same =
        [MPSGraphConvolution2DOpDescriptor descriptorWithStrideInX:1
                                                         strideInY:1
                                                   dilationRateInX:1
                                                   dilationRateInY:1
                                                            groups:1
                                                      paddingStyle:MPSGraphPaddingStyleTF_SAME
                                                        dataLayout:MPSGraphTensorNamedDataLayoutNHWC
                                                     weightsLayout:MPSGraphTensorNamedDataLayoutHWIO];
    MPSGraphPooling2DOpDescriptor* half =
        [MPSGraphPooling2DOpDescriptor descriptorWithKernelWidth:2
                                                    kernelHeight:2
                                                       strideInX:2
                                                       strideInY:2
                                                    paddingStyle:MPSGraphPaddingStyleTF_VALID
                                                      dataLayout:MPSGraphTensorNamedDataLayoutNHWC];
    MPSGraphTensor* x =
        plus(g, [g convolution2DWithSourceTensor:images weightsTensor:kernel descriptor:same name:nil], bias);
    x = [g maxPooling2DWithSourceTensor:[g reLUWithTensor:x name:nil] descriptor:half name:nil];
    x = [g matrixMultiplicationWithPrimaryTensor:[g reshapeTensor:x withShape:numbers({n, 36}) name:nil]
                                 secondaryTensor:weights
                                            name:nil];
    loss = [g softMaxCrossEntropyWithSourceTensor:x
                                     labelsTensor:labels
                                             axis:1
                                    reductionType:MPSGraphLossReductionTypeMean
                                             name:nil];
    MPSGraphTensor* right = [g equalWithPrimaryTensor:[g reductionArgMaximumWithTensor:x axis:1 name:nil]
                                      secondaryTensor:[g reductionArgMaximumWithTensor:labels axis:1 name:nil]
                                                 name:nil];
    accuracy = [g meanOfTensor:[g castTensor:right toType:MPSDataTypeFloat32 name:nil] axes:numbers({0, 1}) name:nil];
    step = descent(g, loss, [NSArray arrayWithObjects:kernel, bias, weights, nil], 0.5);
  }
};

static void a_convolutional_network_learns() {
  id<MTLDevice> device = [MTLCreateSystemDefaultDevice() autorelease];
  id<MTLCommandQueue> queue = [[device newCommandQueue] autorelease];
  MPSGraph* g = [[MPSGraph new] autorelease];
  const long n = 16;
  const ConvolutionalNetwork net(g, n);
  auto shaped = [](MPSGraphTensor* t) {
    return [[[MPSGraphShapedType alloc] initWithShape:[t shape] dataType:[t dataType]] autorelease];
  };
  NSDictionary* types =
      [NSDictionary dictionaryWithObjectsAndKeys:shaped(net.images), net.images, shaped(net.labels), net.labels, nil];
  MPSGraphExecutable* trains = [g compileWithDevice:nil
                                              feeds:types
                                      targetTensors:list(net.loss)
                                   targetOperations:net.step
                              compilationDescriptor:nil];
  MPSGraphExecutable* evaluates = [g compileWithDevice:nil
                                                 feeds:types
                                         targetTensors:list(net.accuracy)
                                      targetOperations:nil
                                 compilationDescriptor:nil];
  auto batch = [&](MPSGraphExecutable* executable) {
    const Pictures drawn(n);
    NSDictionary* feeds = [NSDictionary dictionaryWithObjectsAndKeys:tensor_data(drawn.pictures), net.images,
                                                                     tensor_data(drawn.classes), net.labels, nil];
    NSMutableArray* inputs = [NSMutableArray array];
    for (MPSGraphTensor* tensor in [executable feedTensors]) [inputs addObject:[feeds objectForKey:tensor]];
    NSArray* results = [executable runWithMTLCommandQueue:queue
                                              inputsArray:inputs
                                             resultsArray:nil
                                      executionDescriptor:nil];
    return read_array([results objectAtIndex:0]).values.front();
  };
  const double before = batch(trains);
  double after = 0;
  for (int i = 0; i < 200; ++i) {
    @autoreleasepool {
      after = batch(trains);
    }
  }
  CHECK(before > 0.3 && after < 0.1);
  double hits = 0;
  for (int i = 0; i < 10; ++i) hits += batch(evaluates);
  CHECK(hits / 10 > 0.95);
}

int main() {
  @autoreleasepool {
    linear_regression();
    a_perceptron_against_double_precision();
    a_convolutional_network_learns();
  }
  return check::summary();
}

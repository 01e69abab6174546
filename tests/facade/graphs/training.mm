// Whole programs as users write them: linear regression, logistic regression with Adam, a small convolutional
// network.

#include "graph_testing.h"

// The assigns of one step of gradient descent.
static NSArray* descent(MPSGraph* g, MPSGraphTensor* loss, NSArray* variables, double rate) {
  NSDictionary* gradients = [g gradientForPrimaryTensor:loss withTensors:variables name:nil];
  NSMutableArray* assigns = [NSMutableArray array];
  for (MPSGraphTensor* state in variables) {
    MPSGraphTensor* updated = descended(g, scalar(g, rate), state, [gradients objectForKey:state]);
    [assigns addObject:assigned(g, state, updated)];
  }
  return assigns;
}

// Fifty steps of descent on a two-layer network, parameter for parameter against the same in double
// precision.
TEST(a_perceptron_against_double_precision) {
  const long n = 8, in = 3, hidden = 5;
  Session session;
  MPSGraph* g = session.graph();
  const Array inputs = random_array({n, in}), outputs = random_array({n, 1});
  Array w1 = random_array({in, hidden}, -1, 1), b1 = random_array({hidden}, -1, 1),
        w2 = random_array({hidden, 1}, -1, 1);
  MPSGraphTensor *tw1 = variable(g, w1), *tb1 = variable(g, b1), *tw2 = variable(g, w2);
  MPSGraphTensor *x = session.feed(inputs), *y = session.feed(outputs);
  MPSGraphTensor* h = [g tanhWithTensor:plus(g, matmul(g, x, tw1), tb1) name:nil];
  MPSGraphTensor* error = minus(g, matmul(g, h, tw2), y);
  MPSGraphTensor* loss = [g meanOfTensor:[g squareWithTensor:error name:nil] axes:numbers({0, 1}) name:nil];
  NSArray* step = descent(g, loss, list(tw1, tb1, tw2), 0.1);
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
    x = matmul(g, [g reshapeTensor:x withShape:numbers({n, 36}) name:nil], weights);
    loss = [g softMaxCrossEntropyWithSourceTensor:x
                                     labelsTensor:labels
                                             axis:1
                                    reductionType:MPSGraphLossReductionTypeMean
                                             name:nil];
    MPSGraphTensor* right = [g equalWithPrimaryTensor:[g reductionArgMaximumWithTensor:x axis:1 name:nil]
                                      secondaryTensor:[g reductionArgMaximumWithTensor:labels axis:1 name:nil]
                                                 name:nil];
    accuracy = [g meanOfTensor:[g castTensor:right toType:MPSDataTypeFloat32 name:nil] axes:numbers({0, 1}) name:nil];
    step = descent(g, loss, list(kernel, bias, weights), 0.5);
  }
};

TEST(a_convolutional_network_learns) {
  MPSGraph* g = [[MPSGraph new] autorelease];
  const long n = 16;
  const ConvolutionalNetwork net(g, n);
  MPSGraphExecutable* trains = compiled(g, {net.images, net.labels}, list(net.loss), net.step);
  MPSGraphExecutable* evaluates = compiled(g, {net.images, net.labels}, list(net.accuracy));
  auto batch = [&](MPSGraphExecutable* executable) {
    const Pictures drawn(n);
    NSDictionary* feeds = [NSDictionary dictionaryWithObjectsAndKeys:tensor_data(drawn.pictures), net.images,
                                                                     tensor_data(drawn.classes), net.labels, nil];
    NSArray* results = results_of(executable, inputs_of(executable, feeds));
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

int main(int count, char** arguments) { return check::run(count, arguments); }

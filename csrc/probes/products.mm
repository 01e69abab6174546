// Products of matrices and convolutions.
#include "question.h"

namespace alloy::probes {
namespace {

// Integers, whose sums float32 holds in every order.
float small_integer(long i) { return static_cast<float>(i % 7 - 3); }

std::string product(long rows, long inner, long columns) {
  Question q;
  MPSGraphTensor *a = q.feed({rows, inner}, small_integer),
                 *b = q.feed({inner, columns}, [](long i) { return static_cast<float>(i % 5); });
  MPSGraphTensorData* seen =
      q.run({[q.graph matrixMultiplicationWithPrimaryTensor:a secondaryTensor:b name:nil]}).front();
  return compared(seen, [=](long i) {
    double sum = 0;
    for (long k = 0; k < inner; ++k) {
      sum += static_cast<double>(small_integer(i / columns * inner + k)) *
             static_cast<double>((k * columns + i % columns) % 5);
    }
    return sum;
  });
}

std::string long_product() { return product(3, 40000, 2); }
std::string large_matrix() { return product(40000, 3, 2); }

std::string rank5_product() {
  Question q;
  MPSGraphTensor* a = q.feed({2, 1, 2, 1, 2}, [](long i) { return static_cast<float>(i + 1); });
  MPSGraphTensor* b = q.feed({2, 1, 2, 2, 1}, [](long i) { return static_cast<float>(i % 3); });
  return q.shaped([q.graph matrixMultiplicationWithPrimaryTensor:a secondaryTensor:b name:nil]);
}

MPSGraphConvolution2DOpDescriptor* window(NSUInteger stride, NSUInteger padding) {
  return [MPSGraphConvolution2DOpDescriptor descriptorWithStrideInX:stride
                                                          strideInY:stride
                                                    dilationRateInX:1
                                                    dilationRateInY:1
                                                             groups:1
                                                        paddingLeft:padding
                                                       paddingRight:padding
                                                         paddingTop:padding
                                                      paddingBottom:padding
                                                       paddingStyle:MPSGraphPaddingStyleExplicit
                                                         dataLayout:MPSGraphTensorNamedDataLayoutNHWC
                                                      weightsLayout:MPSGraphTensorNamedDataLayoutHWIO];
}

std::string convolution_data_gradient() {
  Question q;
  return q.shaped([q.graph
      convolution2DDataGradientWithIncomingGradientTensor:q.feed(std::vector<float>{1, 2, 3, 4}, {1, 2, 2, 1})
                                            weightsTensor:q.feed(std::vector<float>{1, 2, 3, 0, -1, 1, 2, 1, -2},
                                                                 {3, 3, 1, 1})
                                              outputShape:numbers({1, 4, 4, 1})
                             forwardConvolutionDescriptor:window(2, 1)
                                                     name:nil]);
}

std::string convolution_weights_gradient() {
  Question q;
  MPSGraphTensor* source = q.feed({1, 4, 4, 1}, [](long i) { return static_cast<float>(i + 1); });
  return q.shaped([q.graph
      convolution2DWeightsGradientWithIncomingGradientTensor:q.feed(std::vector<float>{1, 2, 3, 4}, {1, 2, 2, 1})
                                                sourceTensor:source
                                                 outputShape:numbers({3, 3, 1, 1})
                                forwardConvolutionDescriptor:window(2, 1)
                                                        name:nil]);
}

// The same image again and again: the gradient is that of one, times their number.
std::string many_images() {
  Question q;
  const long images = 65540;
  MPSGraphTensor* source = q.feed({images, 2, 2, 1}, [](long i) { return static_cast<float>(i % 4 + 1); });
  MPSGraphTensor* incoming = q.feed({images, 1, 1, 1}, [](long) { return 1.0f; });
  MPSGraphTensor* gradient = [q.graph convolution2DWeightsGradientWithIncomingGradientTensor:incoming
                                                                                sourceTensor:source
                                                                                 outputShape:numbers({2, 2, 1, 1})
                                                                forwardConvolutionDescriptor:window(1, 0)
                                                                                        name:nil];
  return q.values({gradient});
}

std::string many_channels() {
  Question q;
  const long channels = 65544;
  MPSGraphTensor *source = q.feed(std::vector<float>{2, 3}, {1, 1, 1, 2}),
                 *weights = q.feed({1, 1, 2, channels}, small_integer);
  MPSGraphTensor* result = [q.graph convolution2DWithSourceTensor:source
                                                    weightsTensor:weights
                                                       descriptor:window(1, 0)
                                                             name:nil];
  return compared(q.run({result}).front(), [=](long i) {
    return 2 * static_cast<double>(small_integer(i)) + 3 * static_cast<double>(small_integer(channels + i));
  });
}

constexpr Probe kRows[] = {
    {"rank5_product", "a matrix product of tensors of 5 axes", "(2,1,2,1,1) 2 6 17 8", 0, "arithmetic",
     "product_beyond_rank4", rank5_product},
    {"long_product", "a matrix product along 40,000 elements", "right", 0, "arithmetic in integers",
     "long_inner_product", long_product},
    {"large_matrix", "a matrix product of 40,000 rows", "right", 0, "arithmetic in integers", "large_matrix",
     large_matrix},
    {"convolution_data_gradient", "a strided convolution's gradient: source",
     "(1,4,4,1) -1 1 -2 2 7 15 10 8 -3 3 -4 4 3 2 4 -8", 0, "the convolution's transpose, in NumPy", nullptr,
     convolution_data_gradient},
    {"convolution_weights_gradient", "a strided convolution's gradient: weights",
     "(3,3,1,1) 24 43 50 44 78 88 68 118 128", 0, "the convolution's transpose, in NumPy", nullptr,
     convolution_weights_gradient},
    {"many_images", "a weights' gradient of 65,540 images", "65540 131080 196620 262160", 0, "arithmetic in integers",
     "convolution_of_many_images", many_images},
    {"many_channels", "a convolution to 65,544 channels", "right", 0, "arithmetic in integers",
     "convolution_to_many_channels", many_channels},
};

}  // namespace

const std::span<const Probe> kProducts = kRows;

}  // namespace alloy::probes

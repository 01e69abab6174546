// Products of matrices and convolutions.
#include "question.h"

namespace alloy::probes {
namespace {

// Small integers, so that float32 holds sums in any order exactly.
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

// First with a mask of zeros, then with a mask that hides one key and favours another.
std::string fused_attention() {
  Question q;
  MPSGraphTensor *query = q.feed(std::vector<float>{1, 0, 0, 2}, {1, 1, 2, 2}),
                 *key = q.feed(std::vector<float>{1, 1, 0, 1, 2, 0}, {1, 1, 3, 2}),
                 *value = q.feed(std::vector<float>{1, 2, 3, 5, -1, 4}, {1, 1, 3, 2});
  const auto masked = [&](const std::vector<float>& mask) {
    return attention(q, query, key, value, q.feed(mask, {1, 1, 2, 3}), 0.5f);
  };
  MPSGraphTensor *plain = masked({0, 0, 0, 0, 0, 0}), *hidden = masked({0, -1e9f, 0, 0, 0, 1});
  return plain == nil ? kAbsent : q.values({plain, hidden});
}

// The engine avoids this: operands of float16 for the gradient of weights.
std::string half_weights_gradient() {
  Question q;
  const auto half = [&](MPSGraphTensor* x) { return [q.graph castTensor:x toType:MPSDataTypeFloat16 name:nil]; };
  MPSGraphTensor* source = q.feed({1, 4, 4, 1}, [](long i) { return static_cast<float>(i + 1); });
  MPSGraphTensor* gradient = [q.graph
      convolution2DWeightsGradientWithIncomingGradientTensor:half(q.feed(std::vector<float>{1, 2, 3, 4}, {1, 2, 2, 1}))
                                                sourceTensor:half(source)
                                                 outputShape:numbers({3, 3, 1, 1})
                                forwardConvolutionDescriptor:window(2, 1)
                                                        name:nil];
  return q.values({[q.graph castTensor:gradient toType:MPSDataTypeFloat32 name:nil]});
}

float remainder_of(long i, long by, long less) { return static_cast<float>(i % by - less); }

std::string both_gradients(const Shape& source, const Shape& weights, const Shape& result,
                           MPSGraphConvolution2DOpDescriptor* descriptor) {
  Question q;
  MPSGraphTensor *x = q.feed(source, [](long i) { return remainder_of(i, 7, 0); }),
                 *w = q.feed(weights, [](long i) { return remainder_of(i, 5, 1); }),
                 *g = q.feed(result, [](long i) { return remainder_of(i, 3, -1); });
  return q.values({[q.graph convolution2DDataGradientWithIncomingGradientTensor:g
                                                                  weightsTensor:w
                                                                    outputShape:numbers(source)
                                                   forwardConvolutionDescriptor:descriptor
                                                                           name:nil],
                   [q.graph convolution2DWeightsGradientWithIncomingGradientTensor:g
                                                                      sourceTensor:x
                                                                       outputShape:numbers(weights)
                                                      forwardConvolutionDescriptor:descriptor
                                                                              name:nil]});
}

std::string uneven_strides() {
  MPSGraphConvolution2DOpDescriptor* descriptor = window(1, 0);
  [descriptor setStrideInY:2];
  return both_gradients({1, 5, 4, 1}, {3, 2, 1, 1}, {1, 2, 3, 1}, descriptor);
}

std::string groups() {
  MPSGraphConvolution2DOpDescriptor* descriptor = window(1, 0);
  [descriptor setGroups:2];
  return both_gradients({1, 3, 3, 2}, {2, 2, 1, 4}, {1, 2, 2, 4}, descriptor);
}

MPSGraphPooling2DOpDescriptor* pooling(NSUInteger padding) {
  return [MPSGraphPooling2DOpDescriptor descriptorWithKernelWidth:2
                                                     kernelHeight:2
                                                        strideInX:2
                                                        strideInY:2
                                                  dilationRateInX:1
                                                  dilationRateInY:1
                                                      paddingLeft:padding
                                                     paddingRight:padding
                                                       paddingTop:padding
                                                    paddingBottom:padding
                                                     paddingStyle:MPSGraphPaddingStyleExplicit
                                                       dataLayout:MPSGraphTensorNamedDataLayoutNHWC];
}

// Averages that count padding, with a last window that reaches beyond it.
std::string average_with_ceil() {
  Question q;
  MPSGraphPooling2DOpDescriptor* descriptor = pooling(1);
  [descriptor setCeilMode:YES];
  [descriptor setIncludeZeroPadToAverage:YES];
  MPSGraphTensor* x = q.feed({1, 4, 4, 1}, [](long i) { return static_cast<float>(i + 1); });
  return q.shaped([q.graph avgPooling2DWithSourceTensor:x descriptor:descriptor name:nil]);
}

// For windows of 2 x 2: in NCHW, as programs use it, and in NHWC, which they avoid.
std::string pooling_indices() {
  Question q;
  const auto pooled = [&](const Shape& shape, MPSGraphTensorNamedDataLayout layout) {
    MPSGraphPooling2DOpDescriptor* descriptor = pooling(0);
    [descriptor setDataLayout:layout];
    [descriptor setReturnIndicesMode:MPSGraphPoolingReturnIndicesGlobalFlatten2D];
    [descriptor setReturnIndicesDataType:MPSDataTypeInt32];
    MPSGraphTensor* x = q.feed(shape, [](long i) { return static_cast<float>(i * 7 % 16); });
    return [q.graph maxPooling2DReturnIndicesWithSourceTensor:x descriptor:descriptor name:nil];
  };
  NSArray* planes = pooled({1, 1, 4, 4}, MPSGraphTensorNamedDataLayoutNCHW);
  NSArray* images = pooled({1, 4, 4, 1}, MPSGraphTensorNamedDataLayoutNHWC);
  return q.values({[planes objectAtIndex:0], [planes objectAtIndex:1], [images objectAtIndex:1]});
}

std::string pooling_modes() {
  Question q;
  MPSGraphTensor* x = q.feed({2, 2, 2, 2}, [](long i) { return static_cast<float>(i * 5 % 16); });
  std::vector<MPSGraphTensor*> places;
  for (NSUInteger mode = MPSGraphPoolingReturnIndicesGlobalFlatten1D;
       mode <= MPSGraphPoolingReturnIndicesLocalFlatten4D; ++mode) {
    MPSGraphPooling4DOpDescriptor* descriptor =
        [MPSGraphPooling4DOpDescriptor descriptorWithKernelSizes:numbers({1, 2, 2, 1})
                                                    paddingStyle:MPSGraphPaddingStyleTF_VALID];
    [descriptor setReturnIndicesMode:static_cast<MPSGraphPoolingReturnIndicesMode>(mode)];
    [descriptor setReturnIndicesDataType:MPSDataTypeInt32];
    NSArray* made = [q.graph maxPooling4DReturnIndicesWithSourceTensor:x descriptor:descriptor name:nil];
    places.push_back([made objectAtIndex:1]);
  }
  return q.values(places);
}

std::string pooling_ties() {
  Question q;
  MPSGraphTensor *x = q.feed({1, 2, 2, 1}, [](long) { return 1.0f; }), *g = q.feed(std::vector<float>{4}, {1, 1, 1, 1});
  return q.values({[q.graph maxPooling2DGradientWithGradientTensor:g sourceTensor:x descriptor:pooling(0) name:nil]});
}

// The same image many times: the gradient is that of one image times their number.
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

// The numbers 1 to 5, under windows with the weights 10 and 1.
std::string stenciled(MPSGraphStencilOpDescriptor* descriptor) {
  Question q;
  return q.shaped([q.graph stencilWithSourceTensor:q.feed(std::vector<float>{1, 2, 3, 4, 5}, {1, 1, 1, 5})
                                     weightsTensor:q.feed(std::vector<float>{10, 1}, {1, 1, 1, 2})
                                        descriptor:descriptor
                                              name:nil]);
}

std::string moved_stencil() {
  return stenciled([MPSGraphStencilOpDescriptor descriptorWithOffsets:numbers({0, 0, 0, 1})
                                                      explicitPadding:numbers({0, 0, 0, 0, 0, 0, 0, 2})]);
}

std::string stencil_of_arguments() {
  MPSGraphStencilOpDescriptor* descriptor =
      [MPSGraphStencilOpDescriptor descriptorWithExplicitPadding:numbers({0, 0, 0, 0, 0, 0, 1, 0})];
  [descriptor setReductionMode:MPSGraphReductionModeArgumentMax];
  return stenciled(descriptor);
}

constexpr Probe kProductsRows[] = {
    {"rank5_product", "a matrix product of tensors of 5 axes", "(2,1,2,1,1) 2 6 17 8", 0, "arithmetic",
     "product_beyond_rank4", rank5_product},
    {"long_product", "a matrix product along 40,000 elements", "right", 0, "arithmetic in integers",
     "long_inner_product", long_product, "element ? is ? instead of ?"},
    {"large_matrix", "a matrix product of 40,000 rows", "right", 0, "arithmetic in integers", "large_matrix",
     large_matrix, "element ? is ? instead of ?"},
    {"convolution_data_gradient", "a strided convolution's gradient: source",
     "(1,4,4,1) -1 1 -2 2 7 15 10 8 -3 3 -4 4 3 2 4 -8", 0, "the convolution's transpose, in NumPy", nullptr,
     convolution_data_gradient},
    {"convolution_weights_gradient", "a strided convolution's gradient: weights",
     "(3,3,1,1) 24 43 50 44 78 88 68 118 128", 0, "the convolution's transpose, in NumPy", nullptr,
     convolution_weights_gradient},
    {"half_weights_gradient", "a float16 convolution's gradient: weights", "24 43 50 44 78 88 68 118 128", 0,
     "the convolution's transpose, in NumPy", "half_convolution_gradient", half_weights_gradient},
    {"uneven_strides", "gradients of a convolution of strides 2, 1",
     "-1 -2 -3 0 1 4 7 6 2 3 4 -3 1 4 7 6 3 5 7 -3 22 34 49 26 34 46", 0, "the convolution's transpose, in NumPy",
     nullptr, uneven_strides},
    {"groups", "gradients of a convolution of two groups",
     "-1 5 -1 6 3 2 5 5 25 15 9 2 9 -2 13 0 5 8 23 14 12 9 16 23 30 23 23 20 17 23 9 15 21 16", 0,
     "the convolution's transpose, in NumPy", nullptr, groups},
    {"fused_attention", "an attention of two queries in one selector",
     "0.359686664 3.57193195 1.53391279 3.5776812 -0.244918662 3.24491866 1 3.66666667", 1e-5, "the formula, in NumPy",
     nullptr, fused_attention},
    {"average_with_ceil", "an average with padding and ceil", nullptr, 0, "wrong elsewhere: pytorch Pooling.mm",
     nullptr, average_with_ceil},
    {"pooling_indices", "where in NCHW and in NHWC the greatest are", "12 14 15 13 4 2 9 11 0 2 1 3", 0,
     "the header's: along the two innermost axes", nullptr, pooling_indices},
    {"pooling_modes", "the eight ways to count places of windows",
     "0 1 0 1 2 3 0 1 6 3 4 1 6 3 12 9 0 0 0 0 1 1 0 0 3 1 2 0 3 1 2 0", 0, "the header's; the engine sends them",
     nullptr, pooling_modes},
    {"pooling_ties", "the gradient of the greatest of equals", nullptr, 0, "documented nowhere", nullptr, pooling_ties},
    {"moved_stencil", "a stencil with an offset and padding", nullptr, 0, "documented nowhere; refused on Linux",
     nullptr, moved_stencil},
    {"stencil_of_arguments", "a stencil of the greatest's places", nullptr, 0, "documented nowhere; refused on Linux",
     nullptr, stencil_of_arguments},
    {"many_images", "a weights' gradient of 65,540 images", "65540 131080 196620 262160", 0, "arithmetic in integers",
     "convolution_of_many_images", many_images, "? ? ? ?"},
    {"many_channels", "a convolution to 65,544 channels", "right", 0, "arithmetic in integers",
     "convolution_to_many_channels", many_channels, "element ? is ? instead of ?"},
};

}  // namespace

const std::span<const Probe> kProducts = kProductsRows;

}  // namespace alloy::probes

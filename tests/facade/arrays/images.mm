// Images: their bytes, and convolutions of them against sums of doubles by Apple's definition.

#include "buffer_bytes.h"
#include "graph_testing.h"

// Older programs name a descriptor's neuron so.
#pragma clang diagnostic ignored "-Wdeprecated-declarations"

static MPSImageDescriptor* described(const Shape& nhwc, MPSImageFeatureChannelFormat format) {
  return [MPSImageDescriptor imageDescriptorWithChannelFormat:format
                                                        width:static_cast<NSUInteger>(nhwc.at(2))
                                                       height:static_cast<NSUInteger>(nhwc.at(1))
                                              featureChannels:static_cast<NSUInteger>(nhwc.at(3))
                                               numberOfImages:static_cast<NSUInteger>(nhwc.at(0))
                                                        usage:MTLTextureUsageShaderRead | MTLTextureUsageShaderWrite];
}

static MPSImage* image_of(const Shape& nhwc, MPSImageFeatureChannelFormat format) {
  return [[[MPSImage alloc] initWithDevice:the_device() imageDescriptor:described(nhwc, format)] autorelease];
}

constexpr MPSDataLayout kPixels = MPSDataLayoutHeightxWidthxFeatureChannels,
                        kPlanes = MPSDataLayoutFeatureChannelsxHeightxWidth;
constexpr MPSImageFeatureChannelFormat kFloat = MPSImageFeatureChannelFormatFloat32;

static size_t image_size(MPSImage* image) { return [image height] * [image width] * [image featureChannels]; }

template <class T>
static void write(MPSImage* image, const std::vector<T>& values, MPSDataLayout layout = kPixels) {
  const size_t size = image_size(image);
  for (NSUInteger n = 0; n < [image numberOfImages]; ++n) {
    [image writeBytes:values.data() + n * size dataLayout:layout imageIndex:n];
  }
}

template <class T>
static std::vector<T> read(MPSImage* image, MPSDataLayout layout = kPixels) {
  const size_t size = image_size(image);
  std::vector<T> values([image numberOfImages] * size);
  for (NSUInteger n = 0; n < [image numberOfImages]; ++n) {
    [image readBytes:values.data() + n * size dataLayout:layout imageIndex:n];
  }
  return values;
}

static MPSImage* float_image(const Array& values) {
  MPSImage* image = image_of(values.shape, kFloat);
  write(image, std::vector<float>(values.values.begin(), values.values.end()));
  return image;
}

// ---- bytes ----

TEST(bytes_in_either_order) {
  const Shape shape{2, 3, 5, 7};
  MPSImage* image = image_of(shape, MPSImageFeatureChannelFormatUnorm16);
  CHECK([image width] == 5 && [image height] == 3 && [image featureChannels] == 7 && [image numberOfImages] == 2);
  CHECK([image device] == the_device() && [image precision] == 16 && [image resourceSize] >= 420);
  CHECK([image featureChannelFormat] == MPSImageFeatureChannelFormatUnorm16);
  CHECK([image pixelFormat] == MTLPixelFormatRGBA16Unorm);
  CHECK([image usage] == (MTLTextureUsageShaderRead | MTLTextureUsageShaderWrite));
  [image setLabel:@"two"];
  CHECK([[image label] isEqualToString:@"two"]);
  Array numbers(shape);
  std::vector<uint16_t> pixels, planes(numbers.values.size());
  for_each_index(shape, [&](const Index& i) {
    const auto value = static_cast<uint16_t>(i[0] * 1000 + i[1] * 300 + i[2] * 50 + i[3]);
    pixels.push_back(value);
    planes.at(Array({2, 7, 3, 5}).offset({i[0], i[3], i[1], i[2]})) = value;
  });
  write(image, pixels);
  CHECK(read<uint16_t>(image) == pixels && read<uint16_t>(image, kPlanes) == planes);
  MPSImage* other = image_of(shape, MPSImageFeatureChannelFormatUnorm16);
  write(other, planes, kPlanes);
  CHECK(read<uint16_t>(other) == pixels);
  id<MTLCommandBuffer> commands = [the_queue() commandBuffer];
  [image synchronizeOnCommandBuffer:commands];
  finish(commands);
}

// Rows 1 and 2, pixels 2 to 4 and channels 4 to 7 of both images, with gaps behind rows, images and pixels.
TEST(bytes_of_a_region) {
  const Shape shape{3, 4, 5, 9};
  Array all(shape);
  for (size_t i = 0; i < all.values.size(); ++i) all.values[i] = static_cast<double>(i);
  MPSImage* image = float_image(all);
  const MTLRegion region = MTLRegionMake3D(2, 1, 0, 3, 2, 2);
  const MPSImageReadWriteParams channels{4, 4};
  for (const MPSDataLayout layout : {kPixels, kPlanes}) {
    const bool planar = layout == kPlanes;
    const size_t row = planar ? 4 : 13, plane = 2 * row, size = planar ? 4 * plane + 3 : 2 * row + 3;
    std::vector<float> got(2 * size, -1), wanted = got;
    [image readBytes:got.data()
                dataLayout:layout
               bytesPerRow:row * 4
             bytesPerImage:size * 4
                    region:region
        featureChannelInfo:channels
                imageIndex:1];
    for_each_index({2, 2, 3, 4}, [&](const Index& i) {
      const auto n = static_cast<size_t>(i[0]), y = static_cast<size_t>(i[1]), x = static_cast<size_t>(i[2]),
                 c = static_cast<size_t>(i[3]);
      wanted.at(n * size + (planar ? c * plane + y * row + x : y * row + x * 4 + c)) =
          static_cast<float>(all.at({i[0] + 1, i[1] + 1, i[2] + 2, i[3] + 4}));
    });
    CHECK(got == wanted);
    // Written to another image, the same bytes come to the same place, and nothing else changes.
    MPSImage* copy = image_of(shape, kFloat);
    [copy writeBytes:got.data()
                dataLayout:layout
               bytesPerRow:row * 4
             bytesPerImage:size * 4
                    region:region
        featureChannelInfo:channels
                imageIndex:1];
    const std::vector<float> now = read<float>(copy);
    Array expected(shape);
    for_each_index({2, 2, 3, 4}, [&](const Index& i) {
      const Index at{i[0] + 1, i[1] + 1, i[2] + 2, i[3] + 4};
      expected.at(at) = all.at(at);
    });
    CHECK(now == std::vector<float>(expected.values.begin(), expected.values.end()));
  }
  // Without a distance of images they follow each other; with one of pixels there are gaps between these.
  std::vector<float> two(2 * 2 * 3 * 4);
  [image readBytes:two.data() dataLayout:kPixels bytesPerRow:48 region:region featureChannelInfo:channels imageIndex:0];
  CHECK(two[24] == static_cast<float>(all.at({1, 1, 2, 4})));
  MPSImage* copy = image_of(shape, kFloat);
  [copy writeBytes:two.data() dataLayout:kPixels bytesPerRow:48 region:region featureChannelInfo:channels imageIndex:0];
  CHECK(read<float>(copy).at(all.offset({1, 2, 4, 7})) == static_cast<float>(all.at({1, 2, 4, 7})));
  const std::vector<float> spread{1, 2, 0, 3, 4, 0};
  MPSImage* narrow = image_of({1, 1, 2, 2}, kFloat);
  [narrow writeBytes:spread.data()
              dataLayout:kPixels
          bytesPerColumn:12
             bytesPerRow:24
           bytesPerImage:24
                  region:MTLRegionMake3D(0, 0, 0, 2, 1, 1)
      featureChannelInfo:MPSImageReadWriteParams{0, 2}
              imageIndex:0];
  CHECK(read<float>(narrow) == (std::vector<float>{1, 2, 3, 4}));
}

// ---- convolutions ----

struct Weights {
  Array values;  // (channels written, height, width, channels read of a group)
  std::vector<float> bias;
};

@interface Source : NSObject <MPSCNNConvolutionDataSource> {
 @public
  MPSCNNConvolutionDescriptor* _descriptor;
  MPSDataType _type;
  std::vector<std::byte> _weights;
  std::vector<float> _bias, _table;
  std::vector<vector_float2> _ranges;
  NSMutableString* _calls;
  BOOL _refuses;
}
@end

@implementation Source

- (instancetype)init {
  if ((self = [super init])) {
    _type = MPSDataTypeFloat32;
    _calls = [NSMutableString new];
  }
  return self;
}

- (void)dealloc {
  [_descriptor release];
  [_calls release];
  [super dealloc];
}

- (id)copyWithZone:(NSZone*)zone {
  return [self retain];
}

- (BOOL)load {
  [_calls appendString:@"load "];
  return !_refuses;
}

- (void)purge {
  [_calls appendString:@"purge "];
}

- (NSString*)label {
  return @"convolution of a test";
}

- (MPSDataType)dataType {
  return _type;
}

- (MPSCNNConvolutionDescriptor*)descriptor {
  return _descriptor;
}

- (void*)weights {
  [_calls appendString:@"weights "];
  return _weights.data();
}

- (float*)biasTerms {
  return _bias.empty() ? nullptr : _bias.data();
}

- (vector_float2*)rangesForUInt8Kernel {
  return _ranges.data();
}

- (float*)lookupTableForUInt8Kernel {
  return _table.data();
}

- (MPSCNNWeightsQuantizationType)weightsQuantizationType {
  return !_ranges.empty()  ? MPSCNNWeightsQuantizationTypeLinear
         : !_table.empty() ? MPSCNNWeightsQuantizationTypeLookupTable
                           : MPSCNNWeightsQuantizationTypeNone;
}

// On a Mac weights are halves where this is not said.
- (MPSDataType)kernelWeightsDataType {
  return MPSDataTypeFloat32;
}

@end

struct Case {
  long n, h, w, read, written, kh, kw;
  long sy = 1, sx = 1, dy = 1, dx = 1, groups = 1;
  long oy = 0, ox = 0, out_h = 0, out_w = 0;
  MPSImageEdgeMode edge = MPSImageEdgeModeZero;
  bool depthwise = false;
  Shape weights() const { return {written, kh, kw, depthwise ? 1 : read / groups}; }
};

static Source* source_of(const Case& c, const Weights& weights) {
  Class made = c.depthwise ? [MPSCNNDepthWiseConvolutionDescriptor class] : [MPSCNNConvolutionDescriptor class];
  MPSCNNConvolutionDescriptor* d = [made cnnConvolutionDescriptorWithKernelWidth:unsigned(c.kw)
                                                                    kernelHeight:unsigned(c.kh)
                                                            inputFeatureChannels:unsigned(c.read)
                                                           outputFeatureChannels:unsigned(c.written)];
  [d setStrideInPixelsX:unsigned(c.sx)];
  [d setStrideInPixelsY:unsigned(c.sy)];
  [d setDilationRateX:unsigned(c.dx)];
  [d setDilationRateY:unsigned(c.dy)];
  [d setGroups:unsigned(c.groups)];
  Source* source = [[Source new] autorelease];
  source->_descriptor = [d retain];
  const std::vector<float> floats(weights.values.values.begin(), weights.values.values.end());
  const auto* begin = reinterpret_cast<const std::byte*>(floats.data());
  source->_weights.assign(begin, begin + floats.size() * sizeof(float));
  source->_bias = weights.bias;
  return source;
}

static Weights random_weights(const Case& c) {
  Weights weights{random_array(c.weights()), {}};
  for (long o = 0; o < c.written; ++o) weights.bias.push_back(static_cast<float>(0.25 * o - 1));
  return weights;
}

// Each sum in doubles, by the definition: the window is around the offset plus so many strides.
static Array convolved(const Case& c, const Array& x, const Weights& weights) {
  Array y({c.n, c.out_h, c.out_w, c.written});
  const long groups = c.depthwise ? c.read : c.groups, of_group = c.read / groups, made = c.written / groups;
  for_each_index(y.shape, [&](const Index& at) {
    double sum = weights.bias.empty() ? 0 : weights.bias.at(static_cast<size_t>(at[3]));
    for_each_index(c.weights(), [&](const Index& tap) {
      if (tap[0] != at[3]) return;
      long row = c.oy + at[1] * c.sy - ((c.kh - 1) * c.dy + 1) / 2 + tap[1] * c.dy;
      long column = c.ox + at[2] * c.sx - ((c.kw - 1) * c.dx + 1) / 2 + tap[2] * c.dx;
      if (c.edge == MPSImageEdgeModeClamp) {
        row = std::clamp(row, 0l, c.h - 1);
        column = std::clamp(column, 0l, c.w - 1);
      }
      if (row < 0 || row >= c.h || column < 0 || column >= c.w) return;
      sum += x.at({at[0], row, column, at[3] / made * of_group + tap[3]}) * weights.values.at(tap);
    });
    y.at(at) = sum;
  });
  return y;
}

// One row and column more than what is suggested, read from one pixel further to the left.
@interface Wider : NSObject <MPSNNPadding>
@end

@implementation Wider

+ (BOOL)supportsSecureCoding {
  return YES;
}

- (instancetype)initWithCoder:(NSCoder*)coder {
  return [super init];
}

- (void)encodeWithCoder:(NSCoder*)coder {
}

- (MPSNNPaddingMethod)paddingMethod {
  return MPSNNPaddingMethodCustom | MPSNNPaddingMethodSizeValidOnly;
}

- (MPSImageDescriptor*)destinationImageDescriptorForSourceImages:(NSArray<MPSImage*>*)sourceImages
                                                    sourceStates:(NSArray<MPSState*>*)sourceStates
                                                       forKernel:(MPSKernel*)kernel
                                             suggestedDescriptor:(MPSImageDescriptor*)inDescriptor {
  MPSOffset offset = [(MPSCNNKernel*)kernel offset];
  --offset.x;
  [(MPSCNNKernel*)kernel setOffset:offset];
  [inDescriptor setWidth:[inDescriptor width] + 1];
  [inDescriptor setHeight:[inDescriptor height] + 1];
  return inDescriptor;
}

@end

static MPSCNNConvolution* convolution_of(Source* source) {
  return [[[MPSCNNConvolution alloc] initWithDevice:the_device() weights:source] autorelease];
}

static void check_values(MPSImage* got, const Array& wanted, double tolerance = 2e-5) {
  const std::vector<float> values = read<float>(got);
  CHECK(values.size() == wanted.values.size());
  for (size_t i = 0; i < values.size(); ++i) CHECK_NEAR(values[i], wanted.values.at(i), tolerance);
}

TEST(convolutions_of_every_kind) {
  const Case cases[] = {
      {.n = 1, .h = 5, .w = 7, .read = 3, .written = 5, .kh = 3, .kw = 3, .out_h = 5, .out_w = 7},
      {.n = 2, .h = 6, .w = 5, .read = 1, .written = 2, .kh = 2, .kw = 4, .out_h = 6, .out_w = 5},
      {.n = 1, .h = 9, .w = 8, .read = 3, .written = 4, .kh = 3, .kw = 5, .sy = 2, .sx = 3, .out_h = 5, .out_w = 3},
      {.n = 1, .h = 9, .w = 9, .read = 2, .written = 3, .kh = 3, .kw = 2, .dy = 2, .dx = 3, .out_h = 9, .out_w = 8},
      {.n = 2, .h = 4, .w = 5, .read = 8, .written = 16, .kh = 3, .kw = 1, .groups = 2, .out_h = 4, .out_w = 5},
      {.n = 1, .h = 5, .w = 4, .read = 3, .written = 3, .kh = 3, .kw = 3, .out_h = 5, .out_w = 4, .depthwise = true},
      {.n = 1,
       .h = 5,
       .w = 6,
       .read = 3,
       .written = 6,
       .kh = 3,
       .kw = 2,
       .sy = 2,
       .out_h = 3,
       .out_w = 6,
       .depthwise = true},
      {.n = 1, .h = 6, .w = 7, .read = 2, .written = 3, .kh = 3, .kw = 3, .oy = 1, .ox = 2, .out_h = 4, .out_w = 4},
      {.n = 1, .h = 6, .w = 7, .read = 2, .written = 3, .kh = 3, .kw = 3, .oy = -2, .ox = 4, .out_h = 6, .out_w = 6},
      {.n = 1,
       .h = 6,
       .w = 7,
       .read = 2,
       .written = 3,
       .kh = 3,
       .kw = 3,
       .sy = 2,
       .dx = 2,
       .oy = -3,
       .ox = 3,
       .out_h = 6,
       .out_w = 6,
       .edge = MPSImageEdgeModeClamp},
      // Nothing of the source is read, or its edge alone.
      {.n = 1, .h = 3, .w = 4, .read = 2, .written = 3, .kh = 3, .kw = 3, .oy = 9, .out_h = 2, .out_w = 3},
      {.n = 1,
       .h = 3,
       .w = 4,
       .read = 2,
       .written = 3,
       .kh = 3,
       .kw = 3,
       .oy = 9,
       .ox = -9,
       .out_h = 2,
       .out_w = 3,
       .edge = MPSImageEdgeModeClamp},
      {.n = 3, .h = 1, .w = 1, .read = 5, .written = 4, .kh = 1, .kw = 1, .out_h = 1, .out_w = 1},
  };
  for (const Case& c : cases) {
    const Weights weights = random_weights(c);
    const Array x = random_array({c.n, c.h, c.w, c.read});
    MPSCNNConvolution* kernel = convolution_of(source_of(c, weights));
    CHECK([kernel kernelWidth] == unsigned(c.kw) && [kernel kernelHeight] == unsigned(c.kh));
    CHECK([kernel strideInPixelsX] == unsigned(c.sx) && [kernel strideInPixelsY] == unsigned(c.sy));
    CHECK([kernel dilationRateX] == unsigned(c.dx) && [kernel dilationRateY] == unsigned(c.dy));
    CHECK([kernel inputFeatureChannels] == unsigned(c.read) && [kernel outputFeatureChannels] == unsigned(c.written));
    CHECK([kernel groups] == unsigned(c.groups) && [kernel subPixelScaleFactor] == 1 && ![kernel isBackwards]);
    CHECK([kernel channelMultiplier] == (c.depthwise ? unsigned(c.written / c.read) : 0));
    CHECK([[kernel label] isEqualToString:@"convolution of a test"]);
    [kernel setOffset:MPSOffset{c.ox, c.oy, 0}];
    [kernel setEdgeMode:c.edge];
    MPSImage* y = image_of({c.n, c.out_h, c.out_w, c.written}, kFloat);
    id<MTLCommandBuffer> commands = [the_queue() commandBuffer];
    [kernel encodeToCommandBuffer:commands sourceImage:float_image(x) destinationImage:y];
    finish(commands);
    check_values(y, convolved(c, x, weights));
  }
}

// Pixels, images and channels that are written, and the others, which stay; and channels that are read.
TEST(clips_and_channels) {
  const Case c{
      .n = 1, .h = 5, .w = 6, .read = 3, .written = 2, .kh = 3, .kw = 3, .oy = 1, .ox = 2, .out_h = 2, .out_w = 3};
  const Weights weights = random_weights(c);
  const Array all = random_array({3, 5, 6, 9});
  Array x({1, 5, 6, 3});
  for_each_index(x.shape, [&](const Index& i) { x.at(i) = all.at({2, i[1], i[2], i[3] + 4}); });
  const Array part = convolved(c, x, weights);
  Array wanted({2, 4, 5, 7}, 0.5);
  for_each_index(part.shape, [&](const Index& i) { wanted.at({1, i[1] + 2, i[2] + 2, i[3] + 4}) = part.at(i); });
  MPSImage* y = float_image(Array(wanted.shape, 0.5));
  MPSCNNConvolution* kernel = convolution_of(source_of(c, weights));
  CHECK([kernel clipRect].size.width == MPSRectNoClip.size.width && [kernel clipRect].origin.z == 0);
  [kernel setOffset:MPSOffset{2, 1, 2}];
  [kernel setClipRect:MTLRegionMake3D(2, 2, 1, 100, 100, 100)];
  [kernel setSourceFeatureChannelOffset:4];
  [kernel setSourceFeatureChannelMaxCount:3];
  [kernel setDestinationFeatureChannelOffset:4];
  CHECK([kernel offset].z == 2 && [kernel clipRect].size.depth == 100 && [kernel sourceFeatureChannelOffset] == 4);
  CHECK([kernel sourceFeatureChannelMaxCount] == 3 && [kernel destinationFeatureChannelOffset] == 4);
  MPSCNNConvolution* copy = [[kernel copyWithZone:nil device:nil] autorelease];
  CHECK([copy dataSource] == [kernel dataSource] && [copy edgeMode] == MPSImageEdgeModeZero);
  id<MTLCommandBuffer> commands = [the_queue() commandBuffer];
  [copy encodeToCommandBuffer:commands sourceImage:float_image(all) destinationImage:y];
  finish(commands);
  check_values(y, wanted);
}

TEST(normalization_and_neurons) {
  const Case c{.n = 1, .h = 4, .w = 3, .read = 2, .written = 3, .kh = 3, .kw = 3, .out_h = 4, .out_w = 3};
  const Weights weights = random_weights(c);
  const Array x = random_array({1, 4, 3, 2});
  const float mean[] = {0.5f, -1, 2}, variance[] = {0.25f, 2, 1.5f}, gamma[] = {1.5f, -0.5f, 2},
              beta[] = {0.1f, 0.2f, -1};
  const float slopes[] = {0.5f, -0.25f, 2};
  MPSNNNeuronDescriptor* elu = [MPSNNNeuronDescriptor cnnNeuronDescriptorWithType:MPSCNNNeuronTypeELU a:0.7f];
  CHECK([elu neuronType] == MPSCNNNeuronTypeELU && [elu a] == 0.7f && [elu b] == 0 && [elu c] == 0 &&
        [elu data] == nil);
  NSData* bytes = [NSData dataWithBytes:slopes length:sizeof slopes];
  for (int kind = 0; kind < 4; ++kind) {
    Source* source = source_of(c, weights);
    MPSCNNConvolutionDescriptor* d = source->_descriptor;
    CHECK([d neuronType] == MPSCNNNeuronTypeNone);
    [d setBatchNormalizationParametersForInferenceWithMean:mean variance:variance gamma:gamma beta:beta epsilon:0.125f];
    if (kind == 1) [d setFusedNeuronDescriptor:elu];
    if (kind == 2) [d setNeuronType:MPSCNNNeuronTypeReLU parameterA:0.25f parameterB:0];
    if (kind == 3) [d setNeuronToPReLUWithParametersA:bytes];
    CHECK(kind != 2 ||
          ([d neuronType] == MPSCNNNeuronTypeReLU && [d neuronParameterA] == 0.25f && [d neuronParameterB] == 0));
    source->_descriptor = [d copy];
    [d release];
    MPSCNNConvolution* kernel = convolution_of(source);
    CHECK([[kernel fusedNeuronDescriptor] neuronType] == [d neuronType]);
    MPSImage* y = image_of({1, 4, 3, 3}, kFloat);
    id<MTLCommandBuffer> commands = [the_queue() commandBuffer];
    [kernel encodeToCommandBuffer:commands sourceImage:float_image(x) destinationImage:y];
    finish(commands);
    Array wanted = convolved(c, x, weights);
    for_each_index(wanted.shape, [&](const Index& i) {
      const auto o = static_cast<size_t>(i[3]);
      const double v = (wanted.at(i) - mean[o]) / std::sqrt(variance[o] + 0.125) * gamma[o] + beta[o];
      const double below = kind == 0   ? v
                           : kind == 1 ? double{0.7f} * std::expm1(v)
                           : kind == 2 ? 0.25 * v
                                       : slopes[o] * v;
      wanted.at(i) = v < 0 ? below : v;
    });
    check_values(y, wanted, 1e-4);
  }
}

// Channels are 0 to 1 in the formats with numbers of their own, and rounded to the nearest.
TEST(formats) {
  const Case c{.n = 1, .h = 3, .w = 4, .read = 3, .written = 2, .kh = 1, .kw = 1, .out_h = 3, .out_w = 4};
  Weights weights{random_array(c.weights(), -1, 1), {0.3f, 0.6f}};
  std::vector<uint8_t> bytes;
  Array x({1, 3, 4, 3});
  for (double& v : x.values) {
    bytes.push_back(static_cast<uint8_t>(255 * next_random()));
    v = bytes.back() / 255.0;
  }
  MPSImage* source = image_of(x.shape, MPSImageFeatureChannelFormatUnorm8);
  write(source, bytes);
  const Array exact = convolved(c, x, weights);
  MPSCNNConvolution* kernel = convolution_of(source_of(c, weights));
  const auto run = [&](MPSImageFeatureChannelFormat format) {
    MPSImage* y = image_of(exact.shape, format);
    id<MTLCommandBuffer> commands = [the_queue() commandBuffer];
    [kernel encodeToCommandBuffer:commands sourceImage:source destinationImage:y];
    finish(commands);
    return y;
  };
  check_values(run(kFloat), exact);
  const auto near = [&](const auto& got, double most, double tolerance) {
    for (size_t i = 0; i < got.size(); ++i) {
      CHECK_NEAR(static_cast<double>(got[i]), most * std::clamp(exact.values.at(i), 0.0, 1.0), tolerance);
    }
  };
  near(read<uint8_t>(run(MPSImageFeatureChannelFormatUnorm8)), 255, 0.501);
  near(read<uint16_t>(run(MPSImageFeatureChannelFormatUnorm16)), 65535, 0.6);
  const std::vector<_Float16> halves = read<_Float16>(run(MPSImageFeatureChannelFormatFloat16));
  for (size_t i = 0; i < halves.size(); ++i) CHECK_NEAR(static_cast<double>(halves[i]), exact.values.at(i), 1e-3);
}

// The sizes and places that the words of the methods say, which for Same are TensorFlow's.
TEST(kernels_that_make_their_images) {
  constexpr MPSNNPaddingMethod kEnd = MPSNNPaddingMethodAddRemainderToBottomRight;
  struct Padded {
    MPSNNPaddingMethod method;
    Shape size;
    long top, left;  // pixels that are read before the source
  };
  Case c{.n = 1, .h = 6, .w = 9, .read = 2, .written = 3, .kh = 3, .kw = 4, .sy = 2, .sx = 2};
  const Padded rows[] = {
      {MPSNNPaddingMethodSizeSame | kEnd, {3, 5}, 0, 1},
      {MPSNNPaddingMethodSizeSame, {3, 5}, 1, 2},
      {MPSNNPaddingMethodSizeSame | MPSNNPaddingMethodAddRemainderToTopRight, {3, 5}, 1, 1},
      {MPSNNPaddingMethodSizeSame | MPSNNPaddingMethodAddRemainderToBottomLeft, {3, 5}, 0, 2},
      {MPSNNPaddingMethodSizeSame | MPSNNPaddingMethodAlignTopLeft, {3, 5}, 1, 3},
      {MPSNNPaddingMethodSizeSame | MPSNNPaddingMethodAlignBottomRight, {3, 5}, 0, 0},
      {MPSNNPaddingMethodSizeValidOnly | kEnd, {2, 3}, 0, 0},
      {MPSNNPaddingMethodSizeFull | kEnd, {4, 6}, 1, 2},
  };
  const Weights weights = random_weights(c);
  const Array x = random_array({1, c.h, c.w, 2});
  for (const Padded& row : rows) {
    MPSCNNConvolution* kernel = convolution_of(source_of(c, weights));
    CHECK([[kernel padding] paddingMethod] == MPSNNPaddingMethodSizeSame);
    CHECK([kernel destinationImageAllocator] == [MPSTemporaryImage defaultAllocator]);
    [kernel setPadding:[MPSNNDefaultPadding paddingWithMethod:row.method]];
    CHECK([[[kernel padding] label] length] > 0);
    [kernel setDestinationImageAllocator:[MPSImage defaultAllocator]];
    id<MTLCommandBuffer> commands = [the_queue() commandBuffer];
    MPSImage* y = [kernel encodeToCommandBuffer:commands sourceImage:float_image(x)];
    MPSImageBatch* batch = [kernel encodeBatchToCommandBuffer:commands sourceImages:list(float_image(x))];
    finish(commands);
    c.out_h = row.size[0];
    c.out_w = row.size[1];
    c.oy = 1 - row.top;
    c.ox = 2 - row.left;
    CHECK([kernel offset].x == c.ox && [kernel offset].y == c.oy);
    CHECK([y height] == unsigned(c.out_h) && [y width] == unsigned(c.out_w) && [y featureChannels] == 3);
    check_values(y, convolved(c, x, weights));
    CHECK([batch count] == 1);
    check_values([batch objectAtIndex:0], convolved(c, x, weights));
  }
  // Through a temporary image, which is read once.
  const Case same{.n = 1, .h = 4, .w = 5, .read = 2, .written = 2, .kh = 3, .kw = 3, .out_h = 4, .out_w = 5};
  const Weights twice = random_weights(same);
  MPSCNNConvolution* kernel = convolution_of(source_of(same, twice));
  const Array image = random_array({1, 4, 5, 2});
  id<MTLCommandBuffer> commands = [the_queue() commandBuffer];
  MPSImage* between = [kernel encodeToCommandBuffer:commands sourceImage:float_image(image)];
  CHECK([between isKindOfClass:[MPSTemporaryImage class]] && [(MPSTemporaryImage*)between readCount] == 1);
  MPSImage* y = image_of({1, 4, 5, 2}, kFloat);
  [kernel encodeBatchToCommandBuffer:commands sourceImages:list(between) destinationImages:list(y)];
  CHECK([(MPSTemporaryImage*)between readCount] == 0);
  finish(commands);
  check_values(y, convolved(same, convolved(same, image, twice), twice), 2e-4);
}

TEST(paddings_and_allocators_of_programs) {
  Case c{.n = 1, .h = 5, .w = 4, .read = 2, .written = 2, .kh = 3, .kw = 3, .oy = 1, .ox = 0, .out_h = 4, .out_w = 3};
  const Weights weights = random_weights(c);
  const Array x = random_array({1, 5, 4, 2});
  Source* source = source_of(c, weights);
  [source->_descriptor setOutputFeatureChannels:2];
  MPSCNNConvolution* kernel = convolution_of(source);
  [kernel setAccumulatorPrecisionOption:MPSNNConvolutionAccumulatorPrecisionOptionHalf];
  CHECK([kernel accumulatorPrecisionOption] == MPSNNConvolutionAccumulatorPrecisionOptionHalf);
  [kernel setPadding:[[Wider new] autorelease]];
  MPSImage* image = float_image(x);
  MPSImageDescriptor* d = [kernel destinationImageDescriptorForSourceImages:list(image) sourceStates:nil];
  CHECK([d width] == 3 && [d height] == 4 && [d featureChannels] == 2 && [kernel offset].x == 0);
  id<MTLCommandBuffer> commands = [the_queue() commandBuffer];
  [MPSTemporaryImage prefetchStorageWithCommandBuffer:commands imageDescriptorList:list(d)];
  MPSImageBatch* two = [[MPSImage defaultAllocator] imageBatchForCommandBuffer:commands
                                                               imageDescriptor:d
                                                                        kernel:kernel
                                                                         count:2];
  CHECK([two count] == 2 && [two objectAtIndex:0] != [two objectAtIndex:1]);
  MPSImage* y = [[MPSImage defaultAllocator] imageForCommandBuffer:commands imageDescriptor:d kernel:kernel];
  [kernel encodeToCommandBuffer:commands sourceImage:image destinationImage:y];
  finish(commands);
  check_values(y, convolved(c, x, weights));
  MPSNNDefaultPadding* same = [MPSNNDefaultPadding paddingWithMethod:MPSNNPaddingMethodSizeSame];
  CHECK([same destinationImageDescriptorForSourceImages:list(image)
                                           sourceStates:nil
                                              forKernel:kernel
                                    suggestedDescriptor:d] == d);
}

TEST(neuron_descriptors) {
  MPSNNNeuronDescriptor* d = [MPSNNNeuronDescriptor cnnNeuronDescriptorWithType:MPSCNNNeuronTypeTanH a:2 b:3];
  CHECK([d a] == 2 && [d b] == 3 && [d c] == 0);
  d = [MPSNNNeuronDescriptor cnnNeuronDescriptorWithType:MPSCNNNeuronTypePower a:2 b:3 c:4];
  CHECK([d c] == 4);
  NSData* slopes = [NSData dataWithBytes:"1234" length:4];
  [d setData:slopes];
  CHECK([[[d copy] autorelease] data] == slopes);
  d = [MPSNNNeuronDescriptor cnnNeuronPReLUDescriptorWithData:slopes noCopy:true];
  CHECK([d neuronType] == MPSCNNNeuronTypePReLU && [d data] == slopes);
}

TEST(weights_of_every_type) {
  const Case c{.n = 1, .h = 3, .w = 3, .read = 2, .written = 2, .kh = 3, .kw = 3, .out_h = 3, .out_w = 3};
  const Array x = random_array({1, 3, 3, 2});
  Weights weights = random_weights(c);
  MPSImage* source = float_image(x);
  const auto check = [&](MPSCNNConvolution* kernel, double tolerance = 2e-5) {
    MPSImage* y = image_of({1, 3, 3, 2}, kFloat);
    id<MTLCommandBuffer> commands = [the_queue() commandBuffer];
    [kernel encodeToCommandBuffer:commands sourceImage:source destinationImage:y];
    finish(commands);
    check_values(y, convolved(c, x, weights), tolerance);
  };
  Source* floats = source_of(c, weights);
  MPSCNNConvolution* kernel = convolution_of(floats);
  CHECK([floats->_calls hasPrefix:@"load "] && [floats->_calls hasSuffix:@"weights purge "]);
  CHECK([kernel dataSource] == floats);
  check(kernel);
  // Loaded anew, with other weights.
  for (double& v : weights.values.values) v = -v;
  floats->_weights = source_of(c, weights)->_weights;
  [kernel reloadWeightsAndBiasesFromDataSource];
  check(kernel);

  Source* halves = source_of(c, weights);
  std::vector<_Float16> narrow;
  for (double& v : weights.values.values) {
    narrow.push_back(static_cast<_Float16>(v));
    v = static_cast<double>(narrow.back());
  }
  const auto bytes_of = [](const auto& values) {
    const auto* begin = reinterpret_cast<const std::byte*>(values.data());
    return std::vector<std::byte>(begin, begin + values.size() * sizeof values[0]);
  };
  halves->_weights = bytes_of(narrow);
  halves->_type = MPSDataTypeFloat16;
  check(convolution_of(halves));

  std::vector<uint8_t> codes;
  for (size_t i = 0; i < weights.values.values.size(); ++i) codes.push_back(static_cast<uint8_t>(7 * i));
  Source* linear = source_of(c, weights);
  linear->_weights = bytes_of(codes);
  linear->_type = MPSDataTypeUInt8;
  linear->_ranges = {vector_float2{-1, 2}, vector_float2{0.5f, 1}};
  for (size_t i = 0; i < codes.size(); ++i) {
    const vector_float2 range = linear->_ranges[i / 18];
    weights.values.values.at(i) = codes[i] / 255.0 * (range.y - range.x) + range.x;
  }
  check(convolution_of(linear));
  Source* table = source_of(c, weights);
  table->_weights = bytes_of(codes);
  table->_type = MPSDataTypeUInt8;
  for (int i = 0; i < 256; ++i) table->_table.push_back(std::sin(0.1f * static_cast<float>(i)));
  for (size_t i = 0; i < codes.size(); ++i) weights.values.values.at(i) = table->_table[codes[i]];
  check(convolution_of(table));
}

#ifndef __APPLE__

TEST(what_is_refused) {
  Case c{.n = 1, .h = 3, .w = 3, .read = 4, .written = 4, .kh = 3, .kw = 3, .out_h = 3, .out_w = 3};
  const Weights weights = random_weights(c);
  Source* refusing = source_of(c, weights);
  refusing->_refuses = YES;
  CHECK([[MPSCNNConvolution alloc] initWithDevice:the_device() weights:refusing] == nil);
  CHECK_RAISES([[MPSCNNConvolution alloc] initWithDevice:the_device() weights:(id)(the_device() ? nil : @"")]);
  const auto convolve = [&](auto change) {
    Source* source = source_of(c, weights);
    change(source, source->_descriptor);
    convolution_of(source);
  };
  using D = MPSCNNConvolutionDescriptor*;
  CHECK_RAISES(convolve([](Source*, D d) { [d setKernelWidth:0]; }));
  CHECK_RAISES(convolve([](Source*, D d) { [d setStrideInPixelsY:0]; }));
  CHECK_RAISES(convolve([](Source*, D d) { [d setGroups:2]; }));
  CHECK_RAISES(convolve([](Source*, D d) { [d setInputFeatureChannels:1u << 30]; }));
  CHECK_RAISES(convolve([](Source* s, D) { s->_type = MPSDataTypeInt32; }));
  CHECK_RAISES(convolve([](Source* s, D) { s->_type = MPSDataTypeUInt8; }));
  CHECK_RAISES(convolve([](Source* s, D) { s->_descriptor = nil; }));
  CHECK_RAISES(convolve([](Source*, D d) { [d setNeuronToPReLUWithParametersA:[NSData data]]; }));
  CHECK_RAISES([MPSNNNeuronDescriptor cnnNeuronDescriptorWithType:MPSCNNNeuronTypePReLU]);
  CHECK_RAISES([MPSNNDefaultPadding paddingWithMethod:MPSNNPaddingMethodCustom]);

  MPSCNNConvolution* kernel = convolution_of(source_of(c, weights));
  MPSImage *x = image_of({1, 3, 3, 4}, kFloat), *y = image_of({1, 3, 3, 4}, kFloat);
  id<MTLCommandBuffer> commands = [the_queue() commandBuffer];
  const auto encode = [&](MPSImage* from, MPSImage* to) {
    [kernel encodeToCommandBuffer:commands sourceImage:from destinationImage:to];
  };
  CHECK_RAISES(encode(x, x));
  CHECK_RAISES(encode(x, (id)[NSNull null]));
  CHECK_RAISES(encode((id) @"no image", y));
  CHECK_RAISES(encode(image_of({1, 3, 3, 3}, kFloat), y));
  CHECK_RAISES(encode(x, image_of({1, 3, 3, 3}, kFloat)));
  CHECK_RAISES(encode(x, image_of({2, 3, 3, 4}, kFloat)));
  CHECK_RAISES([kernel encodeToCommandBuffer:commands sourceImage:image_of({2, 3, 3, 4}, kFloat)]);
  const auto with = [&](auto change) {
    kernel = convolution_of(source_of(c, weights));
    change();
    encode(x, y);
  };
  CHECK_RAISES(with([&] { [kernel setEdgeMode:MPSImageEdgeModeMirror]; }));
  CHECK_RAISES(with([&] { [kernel setSourceFeatureChannelOffset:2]; }));
  CHECK_RAISES(with([&] { [kernel setDestinationFeatureChannelOffset:4]; }));
  CHECK_RAISES(with([&] { [kernel setSourceFeatureChannelMaxCount:3]; }));
  CHECK_RAISES(with([&] { [kernel setOffset:MPSOffset{0, 0, -1}]; }));
  CHECK_RAISES(with([&] { [kernel setOffset:MPSOffset{NSIntegerMin, 0, 0}]; }));
  kernel = convolution_of(source_of(c, weights));
  [kernel setPadding:[MPSNNDefaultPadding paddingWithMethod:MPSNNPaddingMethodSizeValidOnly]];
  CHECK_RAISES([kernel encodeToCommandBuffer:commands sourceImage:image_of({1, 2, 3, 4}, kFloat)]);
  MPSTemporaryImage* once = [MPSTemporaryImage temporaryImageWithCommandBuffer:commands
                                                               imageDescriptor:described({1, 3, 3, 4}, kFloat)];
  [once setReadCount:0];
  CHECK_RAISES([once setReadCount:1]);
  CHECK_RAISES(encode(once, y));
  NSKeyedArchiver* coder = [[[NSKeyedArchiver alloc] initForWritingWithMutableData:[NSMutableData data]] autorelease];
  CHECK_RAISES([kernel encodeWithCoder:coder]);
  CHECK_RAISES([[MPSCNNConvolution alloc] initWithCoder:coder device:the_device()]);
  finish(commands);

  CHECK_RAISES(image_of({1, 0, 3, 4}, kFloat));
  CHECK_RAISES(image_of({1, 3, 3, 4}, MPSImageFeatureChannelFormatNone));
  std::vector<float> room(64);
  const auto get = [&](MTLRegion region, MPSImageReadWriteParams channels, NSUInteger index, NSUInteger row = 48) {
    [x readBytes:room.data()
                dataLayout:kPixels
               bytesPerRow:row
                    region:region
        featureChannelInfo:channels
                imageIndex:index];
  };
  const MTLRegion all = MTLRegionMake3D(0, 0, 0, 3, 3, 1);
  get(all, {0, 4}, 0);
  CHECK_RAISES(get(all, {0, 4}, 1));
  CHECK_RAISES(get(all, {0, 4}, NSUIntegerMax));
  CHECK_RAISES(get(all, {0, 5}, 0));
  CHECK_RAISES(get(all, {1, 3}, 0));
  CHECK_RAISES(get(all, {0, 0}, 0));
  CHECK_RAISES(get(all, {0, 4}, 0, 47));
  CHECK_RAISES(get(MTLRegionMake3D(1, 0, 0, 3, 3, 1), {0, 4}, 0));
  CHECK_RAISES(get(MTLRegionMake3D(0, 0, NSUIntegerMax, 3, 3, 1), {0, 4}, 1));
  CHECK_RAISES(get(MTLRegionMake3D(0, 0, 0, 3, NSUIntegerMax, 1), {0, 4}, 0));
  CHECK_RAISES([x readBytes:room.data() dataLayout:static_cast<MPSDataLayout>(2) imageIndex:0]);
  void* nowhere = nullptr;
  CHECK_RAISES([x writeBytes:nowhere dataLayout:kPixels imageIndex:0]);
}

#endif

int main(int count, char** arguments) { return check::run(count, arguments); }

// Convolutions of images, computed by the graph's convolution op.

#include <limits>
#include <vector>

#include "facade/mps/images/cnn.h"
#include "facade/mps/images/convolutions.h"
#include "facade/mps/kernels.h"
#include "facade/mps/neurons.h"
#include "ir/half.h"
#include "ir/rules/composites.h"

using namespace alloy;
using namespace alloy::facade;
using ir::Attr;
using ir::Expr;

namespace {

// The values that a convolution takes from its data source.
struct ConvolutionParts {
  Retained<id<MPSCNNConvolutionDataSource>> source;
  MPSNNConvolutionAccumulatorPrecisionOption precision = MPSNNConvolutionAccumulatorPrecisionOptionFloat;
  NSUInteger channels_read = 0, channels_written = 0, groups = 1, multiplier = 0;
  WindowAxis windows[2];  // along y and x
  Neuron neuron;
  Retained<MPSNNNeuronDescriptor*> neuron_descriptor;
  // Arrays on the device: weights (height, width, channels read of a group, channels written), and biases and slopes
  // with one element for each channel written.
  device::ArrayMemory weights, biases, slopes;
};

ConvolutionParts& parts_of(MPSCNNConvolution* convolution) {
  return *static_cast<ConvolutionParts*>(convolution->_convolution);
}

// Copies floats to an array on the device.
device::ArrayMemory array_on(id<MTLDevice> device, const std::vector<float>& floats, std::vector<size_t> lengths) {
  const size_t bytes = floats.size() * sizeof(float);
  id<MTLBuffer> buffer = room_on(device, bytes, MTLResourceStorageModeShared, @"MPSCNNConvolution");
  const BufferBytes& memory = facade::bytes_of(buffer);
  raise_thrown([&] { memory.storage->write(memory.offset, floats.data(), bytes); });
  device::ArrayLayout layout;
  layout.rank = lengths.size();
  layout.element_bytes = sizeof(float);
  std::copy(lengths.begin(), lengths.end(), layout.lengths);
  layout.pack();
  layout.offset = memory.offset;
  return {&device_of(device), memory.storage, layout};
}

// Raises for extents that no convolution has.
void require_extents(MPSCNNConvolutionDescriptor* d) {
  constexpr NSUInteger kMost = std::numeric_limits<int>::max();
  const NSUInteger all[] = {[d kernelWidth],     [d kernelHeight],    [d inputFeatureChannels],
                            [d strideInPixelsX], [d strideInPixelsY], [d outputFeatureChannels],
                            [d dilationRateX],   [d dilationRateY],   [d groups]};
  double weights = 1;
  for (const NSUInteger extent : all) {
    if (extent == 0 || extent > kMost) {
      raise_invalid(@"[MPSCNNConvolution] An extent of the descriptor is %lu, but they go from 1 to %lu.",
                    static_cast<unsigned long>(extent), static_cast<unsigned long>(kMost));
    }
  }
  for (const NSUInteger extent :
       {[d kernelWidth], [d kernelHeight], [d inputFeatureChannels], [d outputFeatureChannels]}) {
    weights *= static_cast<double>(extent);
  }
  if (weights > static_cast<double>(kMost)) {
    raise_invalid(@"[MPSCNNConvolution] There are %.0f weights, but at most %lu.", weights,
                  static_cast<unsigned long>(kMost));
  }
  const NSUInteger read = [d inputFeatureChannels], written = [d outputFeatureChannels], groups = [d groups];
  if ([d isKindOfClass:[MPSCNNDepthWiseConvolutionDescriptor class]]) {
    if (groups == 1 && written % read == 0) return;
    raise_invalid(@"[MPSCNNConvolution] A depthwise convolution has %lu groups and makes %lu channels of %lu, but 1 "
                  @"group and a multiple of the channels were expected.",
                  static_cast<unsigned long>(groups), static_cast<unsigned long>(written),
                  static_cast<unsigned long>(read));
  }
  if (groups == 1 || (read % (4 * groups) == 0 && written % (4 * groups) == 0)) return;
  raise_invalid(@"[MPSCNNConvolution] %lu and %lu channels are in %lu groups, but a group has a multiple of 4.",
                static_cast<unsigned long>(read), static_cast<unsigned long>(written),
                static_cast<unsigned long>(groups));
}

// The data source's weights as floats: `of_channel` for each channel written.
std::vector<float> weights_in(id<MPSCNNConvolutionDataSource> source, size_t channels, size_t of_channel) {
  if ([source respondsToSelector:@selector(weightsLayout)] &&
      [source weightsLayout] != MPSCNNConvolutionWeightsLayoutOHWI) {
    raise_invalid(@"[MPSCNNConvolution] The layout of the weights is %u, but OHWI was expected.",
                  static_cast<unsigned>([source weightsLayout]));
  }
  const void* given = [source weights];
  if (!given) raise_invalid(@"[MPSCNNConvolution] The weights of the data source are NULL.");
  const size_t count = channels * of_channel;
  std::vector<float> weights(count);
  const MPSDataType type = [source dataType];
  if (type == MPSDataTypeFloat32) {
    const auto* from = static_cast<const float*>(given);
    std::copy(from, from + count, weights.begin());
    return weights;
  }
  if (type == MPSDataTypeFloat16) {
    const auto* from = static_cast<const ir::Float16*>(given);
    for (size_t i = 0; i < count; ++i) weights[i] = from[i];
    return weights;
  }
  const MPSCNNWeightsQuantizationType quantization = [source respondsToSelector:@selector(weightsQuantizationType)]
                                                         ? [source weightsQuantizationType]
                                                         : MPSCNNWeightsQuantizationTypeNone;
  const bool is_linear = quantization == MPSCNNWeightsQuantizationTypeLinear &&
                         [source respondsToSelector:@selector(rangesForUInt8Kernel)];
  const bool is_table = quantization == MPSCNNWeightsQuantizationTypeLookupTable &&
                        [source respondsToSelector:@selector(lookupTableForUInt8Kernel)];
  if (type != MPSDataTypeUInt8 || is_linear == is_table) {
    raise_invalid(@"[MPSCNNConvolution] The weights have the data type 0x%x and quantization %u, but Float32, Float16, "
                  @"or UInt8 with ranges or a table were expected.",
                  static_cast<unsigned>(type), static_cast<unsigned>(quantization));
  }
  const auto* from = static_cast<const uint8_t*>(given);
  const float* table = is_table ? [source lookupTableForUInt8Kernel] : nullptr;
  const vector_float2* ranges = is_linear ? [source rangesForUInt8Kernel] : nullptr;
  if (!table && !ranges) raise_invalid(@"[MPSCNNConvolution] The ranges or the table of the weights are NULL.");
  for (size_t i = 0; i < count; ++i) {
    if (table) {
      weights[i] = table[from[i]];
      continue;
    }
    const vector_float2 range = ranges[i / of_channel];
    weights[i] = static_cast<float>(from[i]) / 255.0F * (range.y - range.x) + range.x;
  }
  return weights;
}

// Takes the values of the data source, which must be loaded.
void take(ConvolutionParts& parts, id<MTLDevice> device) {
  id<MPSCNNConvolutionDataSource> source = parts.source.get();
  MPSCNNConvolutionDescriptor* d = [source descriptor];
  require_kind(d, [MPSCNNConvolutionDescriptor class]);
  require_extents(d);
  const bool is_depthwise = [d isKindOfClass:[MPSCNNDepthWiseConvolutionDescriptor class]];
  parts.channels_read = [d inputFeatureChannels];
  parts.channels_written = [d outputFeatureChannels];
  parts.groups = is_depthwise ? parts.channels_read : [d groups];
  parts.multiplier = is_depthwise ? parts.channels_written / parts.channels_read : 0;
  parts.windows[0] = {[d kernelHeight], [d strideInPixelsY], [d dilationRateY]};
  parts.windows[1] = {[d kernelWidth], [d strideInPixelsX], [d dilationRateX]};
  MPSNNNeuronDescriptor* neuron = [d fusedNeuronDescriptor];
  parts.neuron_descriptor = Retained<MPSNNNeuronDescriptor*>([[neuron copy] autorelease]);
  parts.neuron = {[neuron neuronType], [neuron a], [neuron b], [neuron c]};

  const size_t written = parts.channels_written;
  const size_t taps = [d kernelHeight] * [d kernelWidth], of_group = parts.channels_read / parts.groups;
  const Normalization norm = normalization_of(d);
  const std::vector<float> given = weights_in(source, written, taps * of_group);
  std::vector<float> weights(given.size()), biases(written);
  const float* bias = [source biasTerms];
  for (size_t o = 0; o < written; ++o) {
    const double scale = norm.scale.empty() ? 1 : norm.scale[o], shift = norm.shift.empty() ? 0 : norm.shift[o];
    for (size_t i = 0; i < taps * of_group; ++i) {
      weights[i * written + o] = static_cast<float>(scale * given[o * taps * of_group + i]);
    }
    biases[o] = static_cast<float>(scale * (bias ? double{bias[o]} : 0) + shift);
  }
  parts.weights = array_on(device, weights, {[d kernelHeight], [d kernelWidth], of_group, written});
  parts.biases = array_on(device, biases, {written});
  parts.slopes = parts.biases;
  if (parts.neuron.type == MPSCNNNeuronTypePReLU) {
    NSData* slopes = [neuron data];
    if ([slopes length] != written * sizeof(float)) {
      raise_invalid(@"[MPSCNNConvolution] PReLU has %lu bytes of parameters, but %lu channels need %lu.",
                    static_cast<unsigned long>([slopes length]), static_cast<unsigned long>(written),
                    static_cast<unsigned long>(written * sizeof(float)));
    }
    const auto* begin = static_cast<const float*>([slopes bytes]);
    parts.slopes = array_on(device, std::vector<float>(begin, begin + written), {written});
  }
}

// Loads the data source, takes its values and purges it; NO if it cannot be loaded.
bool load_and_take(ConvolutionParts& parts, id<MTLDevice> device) {
  id<MPSCNNConvolutionDataSource> source = parts.source.get();
  if (![source load]) return false;
  @try {
    take(parts, device);
  } @finally {
    [source purge];
  }
  return true;
}

}  // namespace

@implementation MPSCNNConvolution

- (instancetype)initWithDevice:(id<MTLDevice>)device {
  raise_invalid(@"[MPSCNNConvolution] Use initWithDevice:weights: instead of initWithDevice:.");
}

- (instancetype)initWithCoder:(NSCoder*)aDecoder device:(id<MTLDevice>)device {
  raise_invalid(@"[MPSCNNConvolution] Kernels of images are not archived here; use initWithDevice:weights:.");
}

- (instancetype)initWithDevice:(id<MTLDevice>)device weights:(id<MPSCNNConvolutionDataSource>)weights {
  require_method(weights, @selector(load));
  auto* parts = new ConvolutionParts;
  parts->source = Retained<id<MPSCNNConvolutionDataSource>>(weights);
  bool is_loaded = false;
  @try {
    is_loaded = load_and_take(*parts, device);
  } @finally {
    if (!is_loaded) delete parts;
  }
  if (!is_loaded) {
    [self release];
    return nil;
  }
  if ((self = [super initWithDevice:device])) {
    _convolution = parts;
    [self setLabel:[weights label]];
  }
  return self;
}

- (void)dealloc {
  delete static_cast<ConvolutionParts*>(_convolution);
  [super dealloc];
}

- (instancetype)copyWithZone:(NSZone*)zone device:(id<MTLDevice>)device {
  id<MPSCNNConvolutionDataSource> source = parts_of(self).source.get();
  const bool takes_device = [source respondsToSelector:@selector(copyWithZone:device:)];
  id<MPSCNNConvolutionDataSource> copied =
      takes_device ? [source copyWithZone:zone device:device] : [(id<NSCopying>)source copyWithZone:zone];
  MPSCNNConvolution* copy = [super copyWithZone:zone device:device];
  auto* parts = new ConvolutionParts(parts_of(self));
  parts->source = Retained<id<MPSCNNConvolutionDataSource>>([copied autorelease]);
  copy->_convolution = parts;
  if (device && device != [self device]) [copy reloadWeightsAndBiasesFromDataSource];
  return copy;
}

- (void)reloadWeightsAndBiasesFromDataSource {
  ConvolutionParts taken = parts_of(self);
  if (!load_and_take(taken, [self device])) {
    raise_invalid(@"[reloadWeightsAndBiasesFromDataSource] The data source cannot be loaded.");
  }
  parts_of(self) = taken;
}

- (NSUInteger)inputFeatureChannels {
  return parts_of(self).channels_read;
}

- (NSUInteger)outputFeatureChannels {
  return parts_of(self).channels_written;
}

- (NSUInteger)groups {
  return parts_of(self).multiplier ? 1 : parts_of(self).groups;
}

- (NSUInteger)channelMultiplier {
  return parts_of(self).multiplier;
}

- (NSUInteger)subPixelScaleFactor {
  return 1;
}

- (MPSNNNeuronDescriptor*)fusedNeuronDescriptor {
  return parts_of(self).neuron_descriptor.get();
}

- (id<MPSCNNConvolutionDataSource>)dataSource {
  return parts_of(self).source.get();
}

- (MPSNNConvolutionAccumulatorPrecisionOption)accumulatorPrecisionOption {
  return parts_of(self).precision;
}

- (void)setAccumulatorPrecisionOption:(MPSNNConvolutionAccumulatorPrecisionOption)option {
  parts_of(self).precision = option;
}

- (WindowAxis)alloyWindow:(int)axis {
  return parts_of(self).windows[axis];
}

- (NSUInteger)alloyChannelsRead {
  return parts_of(self).channels_read;
}

- (NSUInteger)alloyChannelsWritten {
  return parts_of(self).channels_written;
}

- (void)alloyEncode:(id<MTLCommandBuffer>)buffer
               from:(MPSImage*)source
                 to:(MPSImage*)destination
            passage:(const Passage&)passage {
  const ConvolutionParts& parts = parts_of(self);
  const MPSImageFeatureChannelFormat read = [source featureChannelFormat], written = [destination featureChannelFormat];
  const double read_scale = channel_scale(read), written_scale = channel_scale(written);
  const auto number = [](NSUInteger n) { return static_cast<int64_t>(n); };
  const ImagePart& to = passage.written;
  const ir::Dims shape{number(to.images), number(to.height), number(to.width), number(to.channels)};
  const bool reads_nothing = passage.rows.count == 0 || passage.columns.count == 0;
  const bool clamps = passage.edge == MPSImageEdgeModeClamp;
  const ir::Dims around{passage.rows.before, passage.rows.after, passage.columns.before, passage.columns.after};
  const Neuron neuron = parts.neuron;
  ir::Attributes attributes{
      {Attr::kStrides, ir::Dims{number(parts.windows[0].stride), number(parts.windows[1].stride)}},
      {Attr::kDilations, ir::Dims{number(parts.windows[0].dilation), number(parts.windows[1].dilation)}},
      {Attr::kPadding, clamps ? ir::Dims(4) : around},
      {Attr::kPaddingStyle, "explicit"},
      {Attr::kDataLayout, "NHWC"},
      {Attr::kWeightsLayout, "HWIO"},
      {Attr::kGroups, number(parts.groups)}};
  const auto formula = [=](const std::vector<Expr>& inputs) {
    const Expr &weights = inputs[0], &biases = inputs[1], &slopes = inputs[2];
    Expr y;
    if (reads_nothing) {
      y = ir::apply(ir::OpCode::broadcast_to, {weights.scalar(0)}, {{Attr::kShape, ir::Shape(shape)}});
    } else {
      Expr x = ir::cast(inputs[3], ir::DType::float32);
      if (read_scale != 0) x = x / read_scale;
      if (clamps) {
        const ir::Dims edges{0, 0, around[0], around[1], around[2], around[3], 0, 0};
        x = Expr(x.graph(), ir::compose(x.graph(), ir::Composite::pad_edges, {x.value()},
                                        {{Attr::kPadding, edges}, {Attr::kPadMode, "edge"}})[0]);
      }
      y = ir::apply(ir::OpCode::conv2d, {x, weights}, attributes);
    }
    y = applied(neuron, y + biases, slopes);
    // NaN is stored as 0.
    if (written_scale != 0) y = ir::rint(ir::select(y > 0, ir::minimum(y, y.scalar(1)), 0) * written_scale);
    return y;
  };
  std::vector<runtime::TypedArray> inputs;
  for (const device::ArrayMemory& memory : {parts.weights, parts.biases, parts.slopes}) {
    inputs.push_back(typed(memory, MPSDataTypeFloat32));
  }
  if (!reads_nothing) {
    inputs.push_back(typed(part_of(facade::parts_of(source), passage.read), channel_type(read)));
  }
  runtime::Formulas::Settings settings{neuron.a, neuron.b, neuron.c, read_scale, written_scale};
  for (const int64_t setting : around) settings.push_back(static_cast<double>(setting));
  for (const int64_t setting : shape) settings.push_back(static_cast<double>(setting));
  for (const WindowAxis& window : parts.windows) {
    settings.push_back(static_cast<double>(window.stride));
    settings.push_back(static_cast<double>(window.dilation));
  }
  settings.push_back(static_cast<double>(parts.groups));
  settings.push_back(static_cast<double>(neuron.type));
  settings.push_back(static_cast<double>(passage.edge));
  encode_formula(buffer, formulas_of(self), settings, formula, inputs,
                 typed(part_of(facade::parts_of(destination), to), channel_type(written)));
}

@end

// Fourier transforms.

#include "facade/graph/build.h"
#include "ir/rules/elements.h"

using namespace alloy;
using namespace alloy::facade;
namespace ir = alloy::ir;
using ir::Attr;

namespace {

// Only a transform to real numbers is told of an odd length.
ir::Attributes attributes_of(MPSGraphFFTDescriptor* descriptor, ir::Dims axes, bool to_real) {
  static const Class our_class = [MPSGraphFFTDescriptor class];
  require_kind(descriptor, our_class);
  const char* scaling = nullptr;
  switch ([descriptor scalingMode]) {
    case MPSGraphFFTScalingModeNone: scaling = "none"; break;
    case MPSGraphFFTScalingModeSize: scaling = "size"; break;
    case MPSGraphFFTScalingModeUnitary: scaling = "unitary"; break;
  }
  if (scaling == nullptr) {
    raise_invalid(@"[FFT] There is no scaling mode %lu.", static_cast<unsigned long>([descriptor scalingMode]));
  }
  ir::Attributes attributes{{Attr::kAxes, std::move(axes)},
                            {Attr::kInverse, static_cast<bool>([descriptor inverse])},
                            {Attr::kScaling, std::string(scaling)}};
  if (to_real) attributes.set(Attr::kOdd, static_cast<bool>([descriptor roundToOddHermitean]));
  return attributes;
}

// The axes that a tensor of constants names.
ir::Dims known_axes(MPSGraph* graph, MPSGraphTensor* tensor) {
  const ir::Value value = value_of(graph, tensor);
  ir::Dims axes;
  bool known = false;
  build([&] {
    const std::optional<ir::Elements> elements = ir::known_elements(value);
    known = elements.has_value();
    if (!known) return;
    for (const std::optional<int64_t>& axis : *elements) {
      known &= axis.has_value();
      axes.push_back(axis.value_or(0));
    }
  });
  if (!known) raise_invalid(@"[FFT] Axes were expected that are known before a run, got a tensor that is not.");
  return axes;
}

}  // namespace

@implementation MPSGraphFFTDescriptor

@synthesize inverse = _inverse, scalingMode = _scalingMode, roundToOddHermitean = _roundToOddHermitean;

+ (instancetype)descriptor {
  return [[[self alloc] init] autorelease];
}

- (id)copyWithZone:(NSZone*)zone {
  MPSGraphFFTDescriptor* copy = [[[self class] allocWithZone:zone] init];
  [copy setInverse:_inverse];
  [copy setScalingMode:_scalingMode];
  [copy setRoundToOddHermitean:_roundToOddHermitean];
  return copy;
}

@end

@implementation MPSGraph (MPSGraphFourierTransformOps)

- (MPSGraphTensor*)fastFourierTransformWithTensor:(MPSGraphTensor*)tensor
                                             axes:(NSArray<NSNumber*>*)axes
                                       descriptor:(MPSGraphFFTDescriptor*)descriptor
                                             name:(NSString*)name {
  return add(self, ir::Composite::fft, {value_of(self, tensor)}, attributes_of(descriptor, numbers_of(axes), false),
             name);
}

- (MPSGraphTensor*)fastFourierTransformWithTensor:(MPSGraphTensor*)tensor
                                       axesTensor:(MPSGraphTensor*)axesTensor
                                       descriptor:(MPSGraphFFTDescriptor*)descriptor
                                             name:(NSString*)name {
  return add(self, ir::Composite::fft, {value_of(self, tensor)},
             attributes_of(descriptor, known_axes(self, axesTensor), false), name);
}

- (MPSGraphTensor*)realToHermiteanFFTWithTensor:(MPSGraphTensor*)tensor
                                           axes:(NSArray<NSNumber*>*)axes
                                     descriptor:(MPSGraphFFTDescriptor*)descriptor
                                           name:(NSString*)name {
  return add(self, ir::Composite::rfft, {value_of(self, tensor)}, attributes_of(descriptor, numbers_of(axes), false),
             name);
}

- (MPSGraphTensor*)realToHermiteanFFTWithTensor:(MPSGraphTensor*)tensor
                                     axesTensor:(MPSGraphTensor*)axesTensor
                                     descriptor:(MPSGraphFFTDescriptor*)descriptor
                                           name:(NSString*)name {
  return add(self, ir::Composite::rfft, {value_of(self, tensor)},
             attributes_of(descriptor, known_axes(self, axesTensor), false), name);
}

- (MPSGraphTensor*)HermiteanToRealFFTWithTensor:(MPSGraphTensor*)tensor
                                           axes:(NSArray<NSNumber*>*)axes
                                     descriptor:(MPSGraphFFTDescriptor*)descriptor
                                           name:(NSString*)name {
  return add(self, ir::Composite::irfft, {value_of(self, tensor)}, attributes_of(descriptor, numbers_of(axes), true),
             name);
}

- (MPSGraphTensor*)HermiteanToRealFFTWithTensor:(MPSGraphTensor*)tensor
                                     axesTensor:(MPSGraphTensor*)axesTensor
                                     descriptor:(MPSGraphFFTDescriptor*)descriptor
                                           name:(NSString*)name {
  return add(self, ir::Composite::irfft, {value_of(self, tensor)},
             attributes_of(descriptor, known_axes(self, axesTensor), true), name);
}

@end

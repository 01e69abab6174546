// Fourier transforms.

#include "facade/graph/build.h"

using namespace alloy;
using namespace alloy::facade;
namespace ir = alloy::ir;
using ir::Attr;

namespace {

// Only a transform to real numbers has an option for an odd length.
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

// The methods of one transform.
#define FOURIER(selector, transform, to_real)                                                                     \
  METHOD(MPSGraphTensor*, takes(selector), takes(axes), takes(descriptor, MPSGraphFFTDescriptor*), takes(name)) { \
    return add(self, ir::Composite::transform, {value_of(self, selector)},                                        \
               attributes_of(descriptor, numbers_of(axes), to_real), name);                                       \
  }                                                                                                               \
  FORWARD(MPSGraphTensor*, passes(selector), takes(axesTensor),                                                   \
          sends(axes, numbers_in(self, axesTensor, "FFT", "axes")), passes(descriptor), passes(name))

@implementation MPSGraph (MPSGraphFourierTransformOps)

FOURIER(fastFourierTransformWithTensor, fft, false)
FOURIER(realToHermiteanFFTWithTensor, rfft, false)
FOURIER(HermiteanToRealFFTWithTensor, irfft, true)

@end

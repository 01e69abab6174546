// The base of all kernels.

#include "facade/mps/kernels.h"
#include "facade/retained.h"

using namespace alloy;
using namespace alloy::facade;

namespace {

struct KernelParts {
  Retained<id<MTLDevice>> device;
  MPSKernelOptions options = MPSKernelOptionsNone;
  Retained<NSString*> label{};
  runtime::Formulas formulas{};
};

KernelParts& kernel_parts_of(MPSKernel* kernel) { return *static_cast<KernelParts*>(kernel->_impl); }

KernelParts* new_kernel_parts(id<MTLDevice> device) {
  device_of(device);
  return new KernelParts{.device = Retained<id<MTLDevice>>(device)};
}

}  // namespace

namespace alloy::facade {

runtime::Formulas& formulas_of(MPSKernel* kernel) { return kernel_parts_of(kernel).formulas; }

void require_floats(const MatrixParts& source, const MatrixParts& result, NSString* what) {
  if (source.type == result.type && is_float(source.type)) return;
  raise_invalid(@"[%@] The matrices have the data types 0x%x and 0x%x, but both are Float32 or both Float16.", what,
                static_cast<unsigned>(source.type), static_cast<unsigned>(result.type));
}

void encode(NSCoder* coder, NSUInteger field, NSString* key) {
  [coder encodeInt64:static_cast<int64_t>(field) forKey:key];
}

void encode(NSCoder* coder, MTLOrigin field, NSString* key) {
  encode(coder, field.x, [key stringByAppendingString:@".x"]);
  encode(coder, field.y, [key stringByAppendingString:@".y"]);
  encode(coder, field.z, [key stringByAppendingString:@".z"]);
}

void encode(NSCoder* coder, BOOL field, NSString* key) { [coder encodeBool:field forKey:key]; }
void encode(NSCoder* coder, float field, NSString* key) { [coder encodeFloat:field forKey:key]; }
void encode(NSCoder* coder, double field, NSString* key) { [coder encodeDouble:field forKey:key]; }
void encode(NSCoder* coder, MPSCNNNeuronType field, NSString* key) { [coder encodeInt:field forKey:key]; }
void encode(NSCoder* coder, NSData* field, NSString* key) { [coder encodeObject:field forKey:key]; }

void decode(NSCoder* coder, NSUInteger& field, NSString* key) {
  field = static_cast<NSUInteger>([coder decodeInt64ForKey:key]);
}

void decode(NSCoder* coder, MTLOrigin& field, NSString* key) {
  decode(coder, field.x, [key stringByAppendingString:@".x"]);
  decode(coder, field.y, [key stringByAppendingString:@".y"]);
  decode(coder, field.z, [key stringByAppendingString:@".z"]);
}

void decode(NSCoder* coder, BOOL& field, NSString* key) { field = [coder decodeBoolForKey:key]; }
void decode(NSCoder* coder, float& field, NSString* key) { field = [coder decodeFloatForKey:key]; }
void decode(NSCoder* coder, double& field, NSString* key) { field = [coder decodeDoubleForKey:key]; }
void decode(NSCoder* coder, MPSCNNNeuronType& field, NSString* key) {
  field = static_cast<MPSCNNNeuronType>([coder decodeIntForKey:key]);
}
void decode(NSCoder* coder, NSData*& field, NSString* key) { field = [[coder decodeObjectForKey:key] copy]; }

}  // namespace alloy::facade

@implementation MPSKernel

+ (BOOL)supportsSecureCoding {
  return YES;
}

- (instancetype)initWithDevice:(id<MTLDevice>)device {
  KernelParts* parts = new_kernel_parts(device);
  if ((self = [super init])) _impl = parts;
  return self;
}

- (instancetype)init {
  return [self initWithDevice:default_device()];
}

- (void)dealloc {
  delete static_cast<KernelParts*>(_impl);
  [super dealloc];
}

FORWARD(id, passes(copyWithZone, NSZone*), sends(device, nil))

- (instancetype)copyWithZone:(NSZone*)zone device:(id<MTLDevice>)device {
  KernelParts* parts = new_kernel_parts(device ? device : [self device]);
  MPSKernel* copy = [[self class] allocWithZone:zone];
  copy->_impl = parts;
  [copy setOptions:[self options]];
  [copy setLabel:[self label]];
  return copy;
}

FORWARD(instancetype, passes(initWithCoder), sends(device, default_device()))

- (instancetype)initWithCoder:(NSCoder*)aDecoder device:(id<MTLDevice>)device {
  require_kind(aDecoder, [NSCoder class]);
  KernelParts* parts = new_kernel_parts(device);
  if ((self = [super init])) {
    _impl = parts;
    NSUInteger options = MPSKernelOptionsNone;
    decode(aDecoder, options, @"options");
    [self setOptions:options];
    [self setLabel:[aDecoder decodeObjectForKey:@"label"]];
  }
  return self;
}

- (void)encodeWithCoder:(NSCoder*)coder {
  require_kind(coder, [NSCoder class]);
  encode(coder, [self options], @"options");
  [coder encodeObject:[self label] forKey:@"label"];
}

PROPERTY(MPSKernelOptions, options, setOptions, kernel_parts_of(self).options)
GETTER(id<MTLDevice>, device, kernel_parts_of(self).device.get())

- (NSString*)label {
  @synchronized(self) {
    return [[kernel_parts_of(self).label.get() retain] autorelease];
  }
}

- (void)setLabel:(NSString*)label {
  require_kind_or_nil(label, [NSString class]);
  @synchronized(self) {
    kernel_parts_of(self).label = Retained<NSString*>([[label copy] autorelease]);
  }
}

@end

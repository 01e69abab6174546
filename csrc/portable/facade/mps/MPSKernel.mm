// What all kernels have in common.

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

void encode_count(NSCoder* coder, NSUInteger count, NSString* key) {
  [coder encodeInt64:static_cast<int64_t>(count) forKey:key];
}

NSUInteger decode_count(NSCoder* coder, NSString* key) {
  return static_cast<NSUInteger>([coder decodeInt64ForKey:key]);
}

void encode_origin(NSCoder* coder, MTLOrigin origin, NSString* key) {
  encode_count(coder, origin.x, [key stringByAppendingString:@".x"]);
  encode_count(coder, origin.y, [key stringByAppendingString:@".y"]);
  encode_count(coder, origin.z, [key stringByAppendingString:@".z"]);
}

MTLOrigin decode_origin(NSCoder* coder, NSString* key) {
  return MTLOriginMake(decode_count(coder, [key stringByAppendingString:@".x"]),
                       decode_count(coder, [key stringByAppendingString:@".y"]),
                       decode_count(coder, [key stringByAppendingString:@".z"]));
}

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

- (id)copyWithZone:(NSZone*)zone {
  return [self copyWithZone:zone device:nil];
}

- (instancetype)copyWithZone:(NSZone*)zone device:(id<MTLDevice>)device {
  KernelParts* parts = new_kernel_parts(device ? device : [self device]);
  MPSKernel* copy = [[self class] allocWithZone:zone];
  copy->_impl = parts;
  [copy setOptions:[self options]];
  [copy setLabel:[self label]];
  return copy;
}

- (instancetype)initWithCoder:(NSCoder*)aDecoder {
  return [self initWithCoder:aDecoder device:default_device()];
}

- (instancetype)initWithCoder:(NSCoder*)aDecoder device:(id<MTLDevice>)device {
  require_kind(aDecoder, [NSCoder class]);
  KernelParts* parts = new_kernel_parts(device);
  if ((self = [super init])) {
    _impl = parts;
    [self setOptions:decode_count(aDecoder, @"options")];
    [self setLabel:[aDecoder decodeObjectForKey:@"label"]];
  }
  return self;
}

- (void)encodeWithCoder:(NSCoder*)coder {
  require_kind(coder, [NSCoder class]);
  encode_count(coder, [self options], @"options");
  [coder encodeObject:[self label] forKey:@"label"];
}

- (MPSKernelOptions)options {
  return kernel_parts_of(self).options;
}

- (void)setOptions:(MPSKernelOptions)options {
  kernel_parts_of(self).options = options;
}

- (id<MTLDevice>)device {
  return kernel_parts_of(self).device.get();
}

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

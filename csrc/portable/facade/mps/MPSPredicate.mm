// A number in a buffer; work runs only if it is not zero.

#include "facade/metal/metal.h"
#include "facade/mps/predicate.h"
#include "facade/retained.h"

using namespace alloy;
using namespace alloy::facade;

namespace {

struct PredicateParts {
  Retained<id<MTLBuffer>> buffer;
  NSUInteger offset;
};

PredicateParts& parts_of(MPSPredicate* predicate) { return *static_cast<PredicateParts*>(predicate->_impl); }

}  // namespace

namespace alloy::facade {

std::function<bool()> condition_of(id<MTLCommandBuffer> buffer) {
  static const Class wrapper = [MPSCommandBuffer class];
  for (; [(id)buffer isKindOfClass:wrapper]; buffer = [(MPSCommandBuffer*)buffer commandBuffer]) {
    MPSPredicate* predicate = [(MPSCommandBuffer*)buffer predicate];
    if (!predicate) continue;
    const BufferBytes& bytes = bytes_of([predicate predicateBuffer]);
    return [storage = bytes.storage, at = bytes.offset + [predicate predicateOffset]] {
      uint32_t number = 0;
      storage->read(at, &number, sizeof number);
      return number != 0;
    };
  }
  return nullptr;
}

}  // namespace alloy::facade

@implementation MPSPredicate

+ (instancetype)predicateWithBuffer:(id<MTLBuffer>)buffer offset:(NSUInteger)offset {
  return [[[self alloc] initWithBuffer:buffer offset:offset] autorelease];
}

- (instancetype)init {
  return [self initWithDevice:default_device()];
}

- (instancetype)initWithBuffer:(id<MTLBuffer>)buffer offset:(NSUInteger)offset {
  const size_t length = bytes_of(buffer).length;
  if (offset % sizeof(uint32_t) || offset > length || length - offset < sizeof(uint32_t)) {
    raise_invalid(@"[MPSPredicate] The offset is %lu, but it is a multiple of 4 inside the %lu bytes of the buffer.",
                  static_cast<unsigned long>(offset), static_cast<unsigned long>(length));
  }
  if ((self = [super init])) _impl = new PredicateParts{Retained<id<MTLBuffer>>(buffer), offset};
  return self;
}

- (instancetype)initWithDevice:(id<MTLDevice>)device {
  device_of(device);
  id<MTLBuffer> buffer = [device newBufferWithLength:sizeof(uint32_t) options:MTLResourceStorageModeShared];
  if ((self = [super init])) _impl = new PredicateParts{Retained<id<MTLBuffer>>(buffer), 0};
  [buffer release];
  return self;
}

- (void)dealloc {
  delete static_cast<PredicateParts*>(_impl);
  [super dealloc];
}

- (id<MTLBuffer>)predicateBuffer {
  return parts_of(self).buffer.get();
}

- (NSUInteger)predicateOffset {
  return parts_of(self).offset;
}

@end

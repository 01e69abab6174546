// Blit encoders: copies and fills between buffers of a device.

#include "facade/metal/require.h"

using namespace alloy;
using namespace alloy::facade;

@interface AlloyBlitCommandEncoder : NSObject <MTLBlitCommandEncoder> {
 @package
  id<MTLCommandBuffer> _buffer;  // nil after the end
  id<MTLDevice> _device;
  NSString* _label;
  NSUInteger _groups;
}
@end

namespace {

// The command buffer of an encoder that has not ended.
id<MTLCommandBuffer> require_open(AlloyBlitCommandEncoder* encoder, NSString* method) {
  if (!encoder->_buffer) raise_invalid(@"[%@] The encoder has ended.", method);
  return encoder->_buffer;
}

// The part of a buffer that a command of `encoder` reads or writes.
const BufferBytes& require_range(AlloyBlitCommandEncoder* encoder, id<MTLBuffer> buffer, NSRange range,
                                 NSString* method) {
  const BufferBytes& bytes = facade::bytes_of(buffer);
  if ([buffer device] != encoder->_device) {
    raise_invalid(@"[%@] The encoder is of %@, but a buffer is of %@.", method, [encoder->_device name],
                  [[buffer device] name]);
  }
  if (range.location > bytes.length || range.length > bytes.length - range.location) {
    raise_invalid(@"[%@] The range {%lu, %lu} is not inside the %lu bytes of the buffer.", method,
                  static_cast<unsigned long>(range.location), static_cast<unsigned long>(range.length),
                  static_cast<unsigned long>(bytes.length));
  }
  return bytes;
}

}  // namespace

namespace alloy::facade {

id<MTLBlitCommandEncoder> new_blit_encoder(id<MTLCommandBuffer> buffer) {
  AlloyBlitCommandEncoder* encoder = [AlloyBlitCommandEncoder new];
  encoder->_buffer = [buffer retain];
  encoder->_device = [[buffer device] retain];
  return encoder;
}

}  // namespace alloy::facade

@implementation AlloyBlitCommandEncoder

LABEL(_label)
@synthesize device = _device;

- (void)dealloc {
  if (_buffer) end_encoder(_buffer);
  [_buffer release];
  [_device release];
  [_label release];
  [super dealloc];
}

- (void)endEncoding {
  id<MTLCommandBuffer> buffer = require_open(self, @"endEncoding");
  end_encoder(buffer);
  _buffer = nil;
  [buffer release];
}

- (void)insertDebugSignpost:(NSString*)string {
  require_kind(string, [NSString class]);
}

- (void)pushDebugGroup:(NSString*)string {
  require_kind(string, [NSString class]);
  ++_groups;
}

- (void)popDebugGroup {
  if (_groups == 0) raise_invalid(@"[popDebugGroup] No group of the encoder is open.");
  --_groups;
}

- (void)synchronizeResource:(id<MTLResource>)resource {
  require_open(self, @"synchronizeResource");
  bytes_of(static_cast<id<MTLBuffer>>(resource));  // raises for any object but a buffer
}

- (void)fillBuffer:(id<MTLBuffer>)buffer range:(NSRange)range value:(uint8_t)value {
  id<MTLCommandBuffer> commands = require_open(self, @"fillBuffer");
  const BufferBytes& bytes = require_range(self, buffer, range, @"fillBuffer");
  encode_inside(commands, [storage = bytes.storage, at = bytes.offset + range.location, range, value] {
    storage->fill(at, range.length, value);
    return host::Status();
  });
}

- (void)copyFromBuffer:(id<MTLBuffer>)sourceBuffer
          sourceOffset:(NSUInteger)sourceOffset
              toBuffer:(id<MTLBuffer>)destinationBuffer
     destinationOffset:(NSUInteger)destinationOffset
                  size:(NSUInteger)size {
  id<MTLCommandBuffer> commands = require_open(self, @"copyFromBuffer");
  const BufferBytes& from = require_range(self, sourceBuffer, NSMakeRange(sourceOffset, size), @"copyFromBuffer");
  const BufferBytes& to =
      require_range(self, destinationBuffer, NSMakeRange(destinationOffset, size), @"copyFromBuffer");
  const size_t read = from.offset + sourceOffset, written = to.offset + destinationOffset;
  const uintptr_t source = from.storage->address() + read, target = to.storage->address() + written;
  if (source < target + size && target < source + size) {
    raise_invalid(@"[copyFromBuffer] The bytes that are read and those that are written overlap.");
  }
  encode_inside(commands, [source = from.storage, target = to.storage, read, written, size] {
    target->copy_rows({written, 0}, *source, {read, 0}, size, 1);
    return host::Status();
  });
}

- (void)updateFence:(id<MTLFence>)fence {
  require_open(self, @"updateFence");
  require_fence(fence);
}

- (void)waitForFence:(id<MTLFence>)fence {
  require_open(self, @"waitForFence");
  require_fence(fence);
}

@end

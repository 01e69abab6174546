// Settings of kernels of images, and the pixels of the source that they read.
#pragma once

#include "facade/mps/images/images.h"
#include "facade/retained.h"

namespace alloy::facade {

// The window of a kernel along an axis.
struct WindowAxis {
  NSUInteger kernel = 1, stride = 1, dilation = 1;

  int64_t extent() const { return static_cast<int64_t>((kernel - 1) * dilation + 1); }
};

// The pixels read along an axis: `count` pixels from `first` on, and `before` and `after` pixels outside the source. If
// `count` is 0, the other fields mean nothing.
struct ReadAxis {
  int64_t first, count, before, after;
};

// The pixels that an encoded kernel reads and writes.
struct Passage {
  ReadAxis rows, columns;
  MPSImageEdgeMode edge;
  ImagePart read, written;  // `read` only if rows and columns have pixels
};

// Raises, naming the object's class, unless an object of the program's own class has the method.
inline void require_method(id object, SEL method) {
  if (object != nil && [object respondsToSelector:method]) return;
  raise_invalid(@"[%@] Expected an object that has the method, got %@.", NSStringFromSelector(method),
                object == nil
                    ? @"nil"
                    : [@"an object of class " stringByAppendingString:NSStringFromClass(object_getClass(object))]);
}

}  // namespace alloy::facade

// Methods that subclasses implement.
@interface MPSCNNKernel (AlloyKernels)
// The window along an axis; axis 0 is y.
- (alloy::facade::WindowAxis)alloyWindow:(int)axis;
// The numbers of channels read and written.
- (NSUInteger)alloyChannelsRead;
- (NSUInteger)alloyChannelsWritten;
// Encodes the run; the images have been checked.
- (void)alloyEncode:(id<MTLCommandBuffer>)buffer
               from:(MPSImage*)source
                 to:(MPSImage*)destination
            passage:(const alloy::facade::Passage&)passage;
@end

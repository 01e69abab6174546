// What kernels of images share: settings, and which pixels of the source they read.
#pragma once

#include "facade/mps/images/images.h"
#include "facade/retained.h"

namespace alloy::facade {

// What a kernel reads along an axis for each pixel that it writes.
struct WindowAxis {
  NSUInteger kernel = 1, stride = 1, dilation = 1;

  int64_t extent() const { return static_cast<int64_t>((kernel - 1) * dilation + 1); }
};

// Which pixels of an axis are read: so many from the first on, with so many outside before and behind them. None where
// `count` is 0, of which then nothing else holds.
struct ReadAxis {
  int64_t first, count, before, after;
};

// What an encoded kernel reads and writes.
struct Passage {
  ReadAxis rows, columns;
  MPSImageEdgeMode edge;
  ImagePart read, written;  // `read` only where the rows and columns have some
};

// Raises, naming the class given, unless the object, of a class of the program's own, has that method.
inline void require_method(id object, SEL method) {
  if (object != nil && [object respondsToSelector:method]) return;
  raise_invalid(@"[%@] Expected an object that has the method, got %@.", NSStringFromSelector(method),
                object == nil
                    ? @"nil"
                    : [@"an object of class " stringByAppendingString:NSStringFromClass(object_getClass(object))]);
}

}  // namespace alloy::facade

// What subclasses say to their superclass.
@interface MPSCNNKernel (AlloyKernels)
// Its windows; axis 0 is y.
- (alloy::facade::WindowAxis)alloyWindow:(int)axis;
// Channels that are read and written.
- (NSUInteger)alloyChannelsRead;
- (NSUInteger)alloyChannelsWritten;
// Encodes the run; nothing can be wrong with the images any more.
- (void)alloyEncode:(id<MTLCommandBuffer>)buffer
               from:(MPSImage*)source
                 to:(MPSImage*)destination
            passage:(const alloy::facade::Passage&)passage;
@end

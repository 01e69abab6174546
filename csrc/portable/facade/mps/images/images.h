// The memory of images, and the parts of images that kernels read and write.
#pragma once

#include "facade/mps/arrays.h"

namespace alloy::facade {

// The C++ part of an MPSImage: pixels (images, height, width, channels) without gaps.
struct ImageParts {
  device::ArrayMemory memory;
  id<MTLBuffer> buffer;                  // retained
  MPSImageDescriptor* descriptor = nil;  // retained
  NSString* label = nil;                 // retained
  NSUInteger reads_left = 1;             // only of a temporary image
};
ImageParts& parts_of(MPSImage* image);

// A part of an image: some channels of a rectangle of some images.
struct ImagePart {
  NSUInteger image, y, x, channel;
  NSUInteger images, height, width, channels;
};
// The part as an array of four dimensions; it must be inside the image.
device::ArrayMemory part_of(const ImageParts& image, const ImagePart& part);

// The type of a channel in memory; raises for a format without one.
MPSDataType channel_type(MPSImageFeatureChannelFormat format);
// The number that a normalised format stores for 1; 0 for other formats.
double channel_scale(MPSImageFeatureChannelFormat format);

// Raises unless the object is an MPSImage; counts a read of a temporary image, and raises if its readCount is 0.
void count_read(MPSImage* image, NSString* what);

// An allocator of images, or of temporary ones, retained for the caller.
id<MPSImageAllocator> new_image_allocator(BOOL temporary) NS_RETURNS_RETAINED;

}  // namespace alloy::facade

// The memory of images, and the parts of them that kernels read and write.
#pragma once

#include "facade/mps/arrays.h"

namespace alloy::facade {

// What an MPSImage is: pixels (images, height, width, channels) without gaps.
struct ImageParts {
  device::ArrayMemory memory;
  id<MTLBuffer> buffer;                  // retained
  MPSImageDescriptor* descriptor = nil;  // retained
  NSString* label = nil;                 // retained
  NSUInteger reads_left = 1;             // of a temporary one
};
ImageParts& parts_of(MPSImage* image);

// Some channels of a rectangle of some images.
struct ImagePart {
  NSUInteger image, y, x, channel;
  NSUInteger images, height, width, channels;
};
// That part as an array of as many dimensions; it is inside.
device::ArrayMemory part_of(const ImageParts& image, const ImagePart& part);

// The type of a channel in memory; raises for a format without one.
MPSDataType channel_type(MPSImageFeatureChannelFormat format);
// What a normalised format stores of 1; 0 of the others.
double channel_scale(MPSImageFeatureChannelFormat format);

// Raises unless it is an MPSImage; counts a read of a temporary one, and raises where its readCount is 0.
void count_read(MPSImage* image, NSString* what);

// An allocator of images, or of temporary ones, retained for the caller.
id<MPSImageAllocator> new_image_allocator(BOOL temporary) NS_RETURNS_RETAINED;

}  // namespace alloy::facade

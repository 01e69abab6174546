// Options of a texture, of which this device has none.

#import <Metal/Metal.h>

#include <algorithm>
#include <bit>

#include "facade/descriptor.h"
#include "facade/metal/metal.h"

using namespace alloy::facade;

namespace {

struct TextureFields {
  MTLTextureType textureType = MTLTextureType2D;
  MTLPixelFormat pixelFormat = MTLPixelFormatRGBA8Unorm;
  NSUInteger width = 1, height = 1, depth = 1;
  NSUInteger mipmapLevelCount = 1, sampleCount = 1, arrayLength = 1;
  MTLResourceOptions resourceOptions = MTLResourceStorageModeManaged;
  MTLTextureUsage usage = MTLTextureUsageShaderRead;
};

}  // namespace

@implementation MTLTextureDescriptor

+ (MTLTextureDescriptor*)texture2DDescriptorWithPixelFormat:(MTLPixelFormat)pixelFormat
                                                      width:(NSUInteger)width
                                                     height:(NSUInteger)height
                                                  mipmapped:(BOOL)mipmapped {
  MTLTextureDescriptor* descriptor = [[self new] autorelease];
  [descriptor setPixelFormat:pixelFormat];
  [descriptor setWidth:width];
  [descriptor setHeight:height];
  // One level for each halving of the longer side.
  if (mipmapped) [descriptor setMipmapLevelCount:std::max(1, static_cast<int>(std::bit_width(width | height)))];
  return descriptor;
}

DESCRIPTOR_LIFE(TextureFields, {})
DESCRIPTOR_FIELD(TextureFields, MTLTextureType, textureType, setTextureType)
DESCRIPTOR_FIELD(TextureFields, MTLPixelFormat, pixelFormat, setPixelFormat)
DESCRIPTOR_FIELD(TextureFields, NSUInteger, width, setWidth)
DESCRIPTOR_FIELD(TextureFields, NSUInteger, height, setHeight)
DESCRIPTOR_FIELD(TextureFields, NSUInteger, depth, setDepth)
DESCRIPTOR_FIELD(TextureFields, NSUInteger, mipmapLevelCount, setMipmapLevelCount)
DESCRIPTOR_FIELD(TextureFields, NSUInteger, sampleCount, setSampleCount)
DESCRIPTOR_FIELD(TextureFields, NSUInteger, arrayLength, setArrayLength)
DESCRIPTOR_FIELD(TextureFields, MTLResourceOptions, resourceOptions, setResourceOptions)
DESCRIPTOR_FIELD(TextureFields, MTLTextureUsage, usage, setUsage)
RESOURCE_MODES

- (MTLHazardTrackingMode)hazardTrackingMode {
  return hazard_tracking_mode([self resourceOptions]);
}

@end

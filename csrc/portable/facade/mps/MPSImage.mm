// Images, of which there are only descriptors.

#include "facade/descriptor.h"
#include "facade/mps/arrays.h"

using namespace alloy::facade;

namespace {

struct ImageFields {
  NSUInteger width = 0, height = 0, featureChannels = 0, numberOfImages = 1;
  MPSImageFeatureChannelFormat channelFormat = MPSImageFeatureChannelFormatNone;
  MTLCPUCacheMode cpuCacheMode = MTLCPUCacheModeDefaultCache;
  MTLStorageMode storageMode = MTLStorageModePrivate;
  MTLTextureUsage usage = MTLTextureUsageShaderRead | MTLTextureUsageShaderWrite;
};

}  // namespace

@implementation MPSImageDescriptor

+ (instancetype)imageDescriptorWithChannelFormat:(MPSImageFeatureChannelFormat)channelFormat
                                           width:(NSUInteger)width
                                          height:(NSUInteger)height
                                 featureChannels:(NSUInteger)featureChannels {
  MPSImageDescriptor* descriptor = [[self new] autorelease];
  [descriptor setChannelFormat:channelFormat];
  [descriptor setWidth:width];
  [descriptor setHeight:height];
  [descriptor setFeatureChannels:featureChannels];
  return descriptor;
}

+ (instancetype)imageDescriptorWithChannelFormat:(MPSImageFeatureChannelFormat)channelFormat
                                           width:(NSUInteger)width
                                          height:(NSUInteger)height
                                 featureChannels:(NSUInteger)featureChannels
                                  numberOfImages:(NSUInteger)numberOfImages
                                           usage:(MTLTextureUsage)usage {
  MPSImageDescriptor* descriptor = [self imageDescriptorWithChannelFormat:channelFormat
                                                                    width:width
                                                                   height:height
                                                          featureChannels:featureChannels];
  [descriptor setNumberOfImages:numberOfImages];
  [descriptor setUsage:usage];
  return descriptor;
}

DESCRIPTOR_LIFE(ImageFields, {})
DESCRIPTOR_FIELD(ImageFields, NSUInteger, width, setWidth)
DESCRIPTOR_FIELD(ImageFields, NSUInteger, height, setHeight)
DESCRIPTOR_FIELD(ImageFields, NSUInteger, featureChannels, setFeatureChannels)
DESCRIPTOR_FIELD(ImageFields, NSUInteger, numberOfImages, setNumberOfImages)
DESCRIPTOR_FIELD(ImageFields, MPSImageFeatureChannelFormat, channelFormat, setChannelFormat)
DESCRIPTOR_FIELD(ImageFields, MTLCPUCacheMode, cpuCacheMode, setCpuCacheMode)
DESCRIPTOR_FIELD(ImageFields, MTLStorageMode, storageMode, setStorageMode)
DESCRIPTOR_FIELD(ImageFields, MTLTextureUsage, usage, setUsage)

// One channel, two, or up to four in each pixel.
- (MTLPixelFormat)pixelFormat {
  const auto by_channels = [&](MTLPixelFormat one, MTLPixelFormat two, MTLPixelFormat four) {
    return [self featureChannels] <= 1 ? one : [self featureChannels] == 2 ? two : four;
  };
  switch ([self channelFormat]) {
    case MPSImageFeatureChannelFormatUnorm8:
      return by_channels(MTLPixelFormatR8Unorm, MTLPixelFormatRG8Unorm, MTLPixelFormatRGBA8Unorm);
    case MPSImageFeatureChannelFormatUnorm16:
      return by_channels(MTLPixelFormatR16Unorm, MTLPixelFormatRG16Unorm, MTLPixelFormatRGBA16Unorm);
    case MPSImageFeatureChannelFormatFloat16:
      return by_channels(MTLPixelFormatR16Float, MTLPixelFormatRG16Float, MTLPixelFormatRGBA16Float);
    case MPSImageFeatureChannelFormatFloat32:
      return by_channels(MTLPixelFormatR32Float, MTLPixelFormatRG32Float, MTLPixelFormatRGBA32Float);
    default: return MTLPixelFormatInvalid;
  }
}

@end

@implementation MPSImage

- (instancetype)init {
  raise_invalid(@"[MPSImage] There are no textures on this device, and so no images.");
}

- (instancetype)initWithDevice:(id<MTLDevice>)device imageDescriptor:(const MPSImageDescriptor*)imageDescriptor {
  device_of(device);  // raises when it is not ours
  require_kind(const_cast<MPSImageDescriptor*>(imageDescriptor), [MPSImageDescriptor class]);
  [self release];
  return nil;
}

- (instancetype)initWithTexture:(id<MTLTexture>)texture featureChannels:(NSUInteger)featureChannels {
  require_kind_or_nil(texture, Nil, @"MTLTexture");
  [self release];
  return nil;
}

@end

// Images, which programs name and this device does not have.
#pragma once

#import <Foundation/Foundation.h>
#import <MPSCore/MPSCoreTypes.h>
#import <Metal/Metal.h>

NS_ASSUME_NONNULL_BEGIN

@class MPSImage;

/// Several images of one shape.
typedef NSArray<MPSImage*> MPSImageBatch;

/// Order of the values of a pixel in memory of the host.
typedef NS_ENUM(NSUInteger, MPSDataLayout) {
  MPSDataLayoutHeightxWidthxFeatureChannels = 0,
  MPSDataLayoutFeatureChannelsxHeightxWidth = 1,
};

/// Whether the contents of an image may go.
typedef NS_ENUM(NSUInteger, MPSPurgeableState) {
  MPSPurgeableStateAllocationDeferred = 0,
  MPSPurgeableStateKeepCurrent = 1,
  MPSPurgeableStateNonVolatile = 2,
  MPSPurgeableStateVolatile = 3,
  MPSPurgeableStateEmpty = 4,
};

/// What an image would be.
@interface MPSImageDescriptor : NSObject <NSCopying> {
 @package
  void* _impl;
}

/// Extents in pixels, channels and images.
@property(nonatomic, readwrite) NSUInteger width;
@property(nonatomic, readwrite) NSUInteger height;
@property(nonatomic, readwrite) NSUInteger featureChannels;
@property(nonatomic, readwrite) NSUInteger numberOfImages;

/// Layout of the pixels of the textures that hold the channels, up to four in each; it follows from channelFormat.
@property(nonatomic, readonly) MTLPixelFormat pixelFormat;

/// Type of a channel.
@property(nonatomic, readwrite) MPSImageFeatureChannelFormat channelFormat;

/// Cache mode and storage mode of the textures.
@property(nonatomic, readwrite) MTLCPUCacheMode cpuCacheMode;
@property(nonatomic, readwrite) MTLStorageMode storageMode;

/// What the textures are for; reading and writing by shaders at first.
@property(nonatomic, readwrite) MTLTextureUsage usage;

/// One image.
+ (instancetype)imageDescriptorWithChannelFormat:(MPSImageFeatureChannelFormat)channelFormat
                                           width:(NSUInteger)width
                                          height:(NSUInteger)height
                                 featureChannels:(NSUInteger)featureChannels;

/// Several images.
+ (instancetype)imageDescriptorWithChannelFormat:(MPSImageFeatureChannelFormat)channelFormat
                                           width:(NSUInteger)width
                                          height:(NSUInteger)height
                                 featureChannels:(NSUInteger)featureChannels
                                  numberOfImages:(NSUInteger)numberOfImages
                                           usage:(MTLTextureUsage)usage;

/// A copy.
- (instancetype)copyWithZone:(NSZone* _Nullable)zone;

@end

/// Pixels of several channels; there is no object of it.
@interface MPSImage : NSObject

/// Nil: there are no textures on this device.
- (instancetype)initWithDevice:(id<MTLDevice>)device imageDescriptor:(const MPSImageDescriptor*)imageDescriptor;
- (instancetype)initWithTexture:(id<MTLTexture>)texture featureChannels:(NSUInteger)featureChannels;

/// Use one of the others.
- (instancetype)init NS_UNAVAILABLE;

@end

NS_ASSUME_NONNULL_END

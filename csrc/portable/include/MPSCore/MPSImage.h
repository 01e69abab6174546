// Images: pixels of any number of channels.
#pragma once

#import <Foundation/Foundation.h>
#import <MPSCore/MPSCoreTypes.h>
#import <Metal/Metal.h>

NS_ASSUME_NONNULL_BEGIN

@class MPSImage;
@class MPSKernel;

/// Several images of one shape.
typedef NSArray<MPSImage*> MPSImageBatch;

/// Order of a pixel's values in the host's memory.
typedef NS_ENUM(NSUInteger, MPSDataLayout) {
  MPSDataLayoutHeightxWidthxFeatureChannels = 0,
  MPSDataLayoutFeatureChannelsxHeightxWidth = 1,
};

/// Whether the system may discard the contents of an image.
typedef NS_ENUM(NSUInteger, MPSPurgeableState) {
  MPSPurgeableStateAllocationDeferred = 0,
  MPSPurgeableStateKeepCurrent = 1,
  MPSPurgeableStateNonVolatile = 2,
  MPSPurgeableStateVolatile = 3,
  MPSPurgeableStateEmpty = 4,
};

/// The properties of an image.
@interface MPSImageDescriptor : NSObject <NSCopying> {
 @package
  void* _impl;
}

/// Extents in pixels, channels and images; 1 by default.
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

/// The uses of the textures; reading and writing by shaders by default.
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

/// The channels that bytes are read from or written to: a number of channels from an offset on. The offset is a
/// multiple of 4; if it is not 0, so is the number.
typedef struct {
  NSUInteger featureChannelOffset;
  NSUInteger numberOfFeatureChannelsToReadWrite;
} MPSImageReadWriteParams;

/// Makes the images that kernels write.
@protocol MPSImageAllocator <NSObject, NSSecureCoding>

/// A new image, autoreleased.
- (MPSImage*)imageForCommandBuffer:(id<MTLCommandBuffer>)cmdBuf
                   imageDescriptor:(MPSImageDescriptor*)descriptor
                            kernel:(MPSKernel*)kernel;

@optional

/// Several new images, autoreleased.
- (MPSImageBatch*)imageBatchForCommandBuffer:(id<MTLCommandBuffer>)cmdBuf
                             imageDescriptor:(MPSImageDescriptor*)descriptor
                                      kernel:(MPSKernel*)kernel
                                       count:(NSUInteger)count;

@end

/// One image, or several of one shape. Without textures, all channels of a pixel are contiguous.
@interface MPSImage : NSObject {
 @package
  void* _impl;
}

/// Makes images with memory of their own.
+ (id<MPSImageAllocator>)defaultAllocator;

/// The device of the pixels.
@property(nonatomic, readonly, retain) id<MTLDevice> device;

/// The descriptor's values.
@property(nonatomic, readonly) NSUInteger width;
@property(nonatomic, readonly) NSUInteger height;
@property(nonatomic, readonly) NSUInteger featureChannels;
@property(nonatomic, readonly) NSUInteger numberOfImages;
@property(nonatomic, readonly) MTLPixelFormat pixelFormat;
@property(nonatomic, readonly) MTLTextureUsage usage;
@property(nonatomic, readonly) MPSImageFeatureChannelFormat featureChannelFormat;

/// Significant bits of a channel: 8, 11, 16 or 24.
@property(nonatomic, readonly) NSUInteger precision;

/// Free text for debuggers.
@property(atomic, readwrite, copy, nullable) NSString* label;

/// An image of zeros; raises for extents of 0 and for the format None.
- (instancetype)initWithDevice:(id<MTLDevice>)device imageDescriptor:(const MPSImageDescriptor*)imageDescriptor;

/// Nil: this device has no textures.
- (instancetype)initWithTexture:(id<MTLTexture>)texture featureChannels:(NSUInteger)featureChannels;

/// Use another initialiser.
- (instancetype)init NS_UNAVAILABLE;

/// Bytes of the memory.
- (NSUInteger)resourceSize;

/// Copies the pixels of a region to `dataBytes`, in the type of the channels. `bytesPerRow` is the distance of rows; in
/// the order of planes, the planes of the channels follow each other without gaps. The region's depth counts images,
/// from `imageIndex` on, at a distance of `bytesPerImage`; without it, images have no gaps either. Raises for pixels
/// outside.
- (void)readBytes:(void*)dataBytes
            dataLayout:(MPSDataLayout)dataLayout
           bytesPerRow:(NSUInteger)bytesPerRow
         bytesPerImage:(NSUInteger)bytesPerImage
                region:(MTLRegion)region
    featureChannelInfo:(MPSImageReadWriteParams)featureChannelInfo
            imageIndex:(NSUInteger)imageIndex;
- (void)readBytes:(void*)dataBytes
            dataLayout:(MPSDataLayout)dataLayout
           bytesPerRow:(NSUInteger)bytesPerRow
                region:(MTLRegion)region
    featureChannelInfo:(MPSImageReadWriteParams)featureChannelInfo
            imageIndex:(NSUInteger)imageIndex;

/// The same for one whole image, without gaps.
- (void)readBytes:(void*)dataBytes dataLayout:(MPSDataLayout)dataLayout imageIndex:(NSUInteger)imageIndex;

/// Copies from `dataBytes`, like readBytes. `bytesPerColumn` is the distance of a row's pixels.
- (void)writeBytes:(const void*)dataBytes
            dataLayout:(MPSDataLayout)dataLayout
        bytesPerColumn:(NSUInteger)bytesPerColumn
           bytesPerRow:(NSUInteger)bytesPerRow
         bytesPerImage:(NSUInteger)bytesPerImage
                region:(MTLRegion)region
    featureChannelInfo:(MPSImageReadWriteParams)featureChannelInfo
            imageIndex:(NSUInteger)imageIndex;
- (void)writeBytes:(const void*)dataBytes
            dataLayout:(MPSDataLayout)dataLayout
           bytesPerRow:(NSUInteger)bytesPerRow
         bytesPerImage:(NSUInteger)bytesPerImage
                region:(MTLRegion)region
    featureChannelInfo:(MPSImageReadWriteParams)featureChannelInfo
            imageIndex:(NSUInteger)imageIndex;
- (void)writeBytes:(const void*)dataBytes
            dataLayout:(MPSDataLayout)dataLayout
           bytesPerRow:(NSUInteger)bytesPerRow
                region:(MTLRegion)region
    featureChannelInfo:(MPSImageReadWriteParams)featureChannelInfo
            imageIndex:(NSUInteger)imageIndex;
- (void)writeBytes:(const void*)dataBytes dataLayout:(MPSDataLayout)dataLayout imageIndex:(NSUInteger)imageIndex;

/// Makes the result of earlier work visible to the host; does nothing if memory is shared.
- (void)synchronizeOnCommandBuffer:(id<MTLCommandBuffer>)commandBuffer;

@end

/// An image that lives as long as its command buffer needs it.
@interface MPSTemporaryImage : MPSImage

/// Makes temporary images.
+ (id<MPSImageAllocator>)defaultAllocator;

/// A new image that the command buffer keeps until it is completed, autoreleased.
+ (instancetype)temporaryImageWithCommandBuffer:(id<MTLCommandBuffer>)commandBuffer
                                imageDescriptor:(const MPSImageDescriptor*)imageDescriptor;

/// Does nothing: memory is allocated when an image is made.
+ (void)prefetchStorageWithCommandBuffer:(id<MTLCommandBuffer>)commandBuffer
                     imageDescriptorList:(NSArray<MPSImageDescriptor*>*)descriptorList;

/// Use the factory.
- (instancetype)initWithTexture:(id<MTLTexture>)texture featureChannels:(NSUInteger)featureChannels NS_UNAVAILABLE;
- (instancetype)initWithDevice:(id<MTLDevice>)device
               imageDescriptor:(const MPSImageDescriptor*)imageDescriptor NS_UNAVAILABLE;

/// The number of further kernels that may read the image; 1 by default. Setting it raises if it is 0.
@property(nonatomic, readwrite) NSUInteger readCount;

@end

NS_ASSUME_NONNULL_END

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

/// What an image is.
@interface MPSImageDescriptor : NSObject <NSCopying> {
 @package
  void* _impl;
}

/// Extents in pixels, channels and images; 1 at first.
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

/// The channels that bytes are read from or written to: so many, from the offset on. The offset is a multiple of 4;
/// where it is not 0, so is the number.
typedef struct {
  NSUInteger featureChannelOffset;
  NSUInteger numberOfFeatureChannelsToReadWrite;
} MPSImageReadWriteParams;

/// Who makes the images that kernels write to.
@protocol MPSImageAllocator <NSObject, NSSecureCoding>

/// A new image, autoreleased.
- (MPSImage*)imageForCommandBuffer:(id<MTLCommandBuffer>)cmdBuf
                   imageDescriptor:(MPSImageDescriptor*)descriptor
                            kernel:(MPSKernel*)kernel;

@optional

/// So many new images, autoreleased.
- (MPSImageBatch*)imageBatchForCommandBuffer:(id<MTLCommandBuffer>)cmdBuf
                             imageDescriptor:(MPSImageDescriptor*)descriptor
                                      kernel:(MPSKernel*)kernel
                                       count:(NSUInteger)count;

@end

/// One image or several of one shape. There are no textures here: the channels of a pixel lie behind each other.
@interface MPSImage : NSObject {
 @package
  void* _impl;
}

/// Makes images with memory of their own.
+ (id<MPSImageAllocator>)defaultAllocator;

/// The device of the pixels.
@property(nonatomic, readonly, retain) id<MTLDevice> device;

/// As the descriptor said.
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

/// Zeros at first; raises for extents of 0 and for the format None.
- (instancetype)initWithDevice:(id<MTLDevice>)device imageDescriptor:(const MPSImageDescriptor*)imageDescriptor;

/// Nil: there are no textures on this device.
- (instancetype)initWithTexture:(id<MTLTexture>)texture featureChannels:(NSUInteger)featureChannels;

/// Use one of the others.
- (instancetype)init NS_UNAVAILABLE;

/// Bytes of the memory.
- (NSUInteger)resourceSize;

/// Copies the pixels of a region to `dataBytes`, in the type of the channels. `bytesPerRow` leads from row to row; in
/// the order of planes, those of the channels follow each other without a gap. The region's depth counts images, from
/// `imageIndex` on, `bytesPerImage` apart; without that, they too follow each other. Raises for what is outside.
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

/// The same of one whole image, without gaps.
- (void)readBytes:(void*)dataBytes dataLayout:(MPSDataLayout)dataLayout imageIndex:(NSUInteger)imageIndex;

/// Copies from `dataBytes`, as readBytes reads; `bytesPerColumn` leads from pixel to pixel of a row.
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

/// Makes the result of earlier work visible to the host; nothing to do where memory is shared.
- (void)synchronizeOnCommandBuffer:(id<MTLCommandBuffer>)commandBuffer;

@end

/// An image that lives as long as its command buffer needs it.
@interface MPSTemporaryImage : MPSImage

/// Makes temporary images.
+ (id<MPSImageAllocator>)defaultAllocator;

/// A new image that the command buffer keeps until it is completed, autoreleased.
+ (instancetype)temporaryImageWithCommandBuffer:(id<MTLCommandBuffer>)commandBuffer
                                imageDescriptor:(const MPSImageDescriptor*)imageDescriptor;

/// Nothing: memory is taken when an image is made.
+ (void)prefetchStorageWithCommandBuffer:(id<MTLCommandBuffer>)commandBuffer
                     imageDescriptorList:(NSArray<MPSImageDescriptor*>*)descriptorList;

/// Use the factory.
- (instancetype)initWithTexture:(id<MTLTexture>)texture featureChannels:(NSUInteger)featureChannels NS_UNAVAILABLE;
- (instancetype)initWithDevice:(id<MTLDevice>)device
               imageDescriptor:(const MPSImageDescriptor*)imageDescriptor NS_UNAVAILABLE;

/// How often kernels may still read it; 1 at first. Raises when set after it was 0.
@property(nonatomic, readwrite) NSUInteger readCount;

@end

NS_ASSUME_NONNULL_END

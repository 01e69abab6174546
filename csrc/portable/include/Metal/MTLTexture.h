// Textures. Programs refer to them, but this device has none.
#pragma once

#import <Foundation/Foundation.h>
#import <Metal/MTLDefines.h>
#import <Metal/MTLPixelFormat.h>
#import <Metal/MTLResource.h>
#import <Metal/MTLTypes.h>

NS_ASSUME_NONNULL_BEGIN

@protocol MTLBuffer;

/// Dimensions of a texture.
typedef NS_ENUM(NSUInteger, MTLTextureType) {
  MTLTextureType1D = 0,
  MTLTextureType1DArray = 1,
  MTLTextureType2D = 2,
  MTLTextureType2DArray = 3,
  MTLTextureType2DMultisample = 4,
  MTLTextureTypeCube = 5,
  MTLTextureTypeCubeArray = 6,
  MTLTextureType3D = 7,
  MTLTextureType2DMultisampleArray = 8,
  MTLTextureTypeTextureBuffer = 9,
};

/// How shaders use a texture.
typedef NS_OPTIONS(NSUInteger, MTLTextureUsage) {
  MTLTextureUsageUnknown = 0,
  MTLTextureUsageShaderRead = 1,
  MTLTextureUsageShaderWrite = 2,
  MTLTextureUsageRenderTarget = 4,
  MTLTextureUsagePixelFormatView = 16,
};

/// Options of a texture; 2D, RGBA8Unorm, 1x1 pixels by default.
@interface MTLTextureDescriptor : NSObject <NSCopying> {
 @package
  void* _impl;
}

/// A 2D texture, with all smaller levels if `mipmapped`.
+ (MTLTextureDescriptor*)texture2DDescriptorWithPixelFormat:(MTLPixelFormat)pixelFormat
                                                      width:(NSUInteger)width
                                                     height:(NSUInteger)height
                                                  mipmapped:(BOOL)mipmapped;

/// Dimensions.
@property(nonatomic, readwrite) MTLTextureType textureType;

/// Layout of a pixel.
@property(nonatomic, readwrite) MTLPixelFormat pixelFormat;

/// Extents in pixels, levels, samples and elements.
@property(nonatomic, readwrite) NSUInteger width;
@property(nonatomic, readwrite) NSUInteger height;
@property(nonatomic, readwrite) NSUInteger depth;
@property(nonatomic, readwrite) NSUInteger mipmapLevelCount;
@property(nonatomic, readwrite) NSUInteger sampleCount;
@property(nonatomic, readwrite) NSUInteger arrayLength;

/// Cache mode, storage mode and hazard tracking: in one word, and each by itself.
@property(nonatomic, readwrite) MTLResourceOptions resourceOptions;
@property(nonatomic, readwrite) MTLCPUCacheMode cpuCacheMode;
@property(nonatomic, readwrite) MTLStorageMode storageMode;
@property(nonatomic, readwrite) MTLHazardTrackingMode hazardTrackingMode;

/// The uses of the texture; ShaderRead by default.
@property(nonatomic, readwrite) MTLTextureUsage usage;

@end

/// Pixels of a device; no object of it exists.
@protocol MTLTexture <MTLResource>

/// The buffer it shares memory with.
@property(readonly, nullable) id<MTLBuffer> buffer;

/// The descriptor's values.
@property(readonly) MTLTextureType textureType;
@property(readonly) MTLPixelFormat pixelFormat;
@property(readonly) NSUInteger width;
@property(readonly) NSUInteger height;
@property(readonly) NSUInteger depth;
@property(readonly) NSUInteger mipmapLevelCount;
@property(readonly) NSUInteger sampleCount;
@property(readonly) NSUInteger arrayLength;
@property(readonly) MTLTextureUsage usage;

/// Copies pixels to the host.
- (void)getBytes:(void*)pixelBytes
     bytesPerRow:(NSUInteger)bytesPerRow
      fromRegion:(MTLRegion)region
     mipmapLevel:(NSUInteger)level;
- (void)getBytes:(void*)pixelBytes
      bytesPerRow:(NSUInteger)bytesPerRow
    bytesPerImage:(NSUInteger)bytesPerImage
       fromRegion:(MTLRegion)region
      mipmapLevel:(NSUInteger)level
            slice:(NSUInteger)slice;

/// Copies pixels from the host.
- (void)replaceRegion:(MTLRegion)region
          mipmapLevel:(NSUInteger)level
            withBytes:(const void*)pixelBytes
          bytesPerRow:(NSUInteger)bytesPerRow;
- (void)replaceRegion:(MTLRegion)region
          mipmapLevel:(NSUInteger)level
                slice:(NSUInteger)slice
            withBytes:(const void*)pixelBytes
          bytesPerRow:(NSUInteger)bytesPerRow
        bytesPerImage:(NSUInteger)bytesPerImage;

@end

NS_ASSUME_NONNULL_END

// The base class of kernels that compute an image from an image.
#pragma once

#import <MPSNeuralNetwork/MPSNeuralNetworkTypes.h>

NS_ASSUME_NONNULL_BEGIN

/// Writes the pixels of clipRect. The first pixel reads the source around `offset`, each next one a stride further.
@interface MPSCNNKernel : MPSKernel {
 @package
  void* _settings;
}

/// The position in the source around which the first pixel of clipRect reads; z is the first image that is read. Zeros
/// by default.
@property(nonatomic, readwrite) MPSOffset offset;

/// The pixels to write, as far as the destination has them, and in z the images; MPSRectNoClip by default.
@property(nonatomic, readwrite) MTLRegion clipRect;

/// The first channel that is written, and the first that is read, multiples of 4; and the most channels to read.
@property(nonatomic, readwrite) NSUInteger destinationFeatureChannelOffset;
@property(nonatomic, readwrite) NSUInteger sourceFeatureChannelOffset;
@property(nonatomic, readwrite) NSUInteger sourceFeatureChannelMaxCount;

/// The pixels outside the source: Zero, or Clamp for the nearest pixel; other modes raise when the kernel is encoded.
@property(nonatomic, readwrite) MPSImageEdgeMode edgeMode;

/// The window that the kernel reads for each pixel.
@property(nonatomic, readonly) NSUInteger kernelWidth;
@property(nonatomic, readonly) NSUInteger kernelHeight;
@property(nonatomic, readonly) NSUInteger strideInPixelsX;
@property(nonatomic, readonly) NSUInteger strideInPixelsY;
@property(nonatomic, readonly) NSUInteger dilationRateX;
@property(nonatomic, readonly) NSUInteger dilationRateY;

/// NO: no kernel of this framework enlarges an image by its stride.
@property(nonatomic, readonly) BOOL isBackwards;

/// Decides the size of images that the kernel makes; Same, centered, the remainder to the top left, by default.
@property(nonatomic, readwrite, retain) id<MPSNNPadding> padding;

/// Makes these images; MPSTemporaryImage's allocator by default.
@property(nonatomic, readwrite, retain) id<MPSImageAllocator> destinationImageAllocator;

/// A kernel of the device.
- (instancetype)initWithDevice:(id<MTLDevice>)device NS_DESIGNATED_INITIALIZER;

/// Raises: kernels of images cannot be archived.
- (instancetype _Nullable)initWithCoder:(NSCoder*)aDecoder device:(id<MTLDevice>)device;

/// Encodes the kernel, ignoring the padding. Raises for pixels outside an image.
- (void)encodeToCommandBuffer:(id<MTLCommandBuffer>)commandBuffer
                  sourceImage:(MPSImage*)sourceImage
             destinationImage:(MPSImage*)destinationImage;
- (void)encodeBatchToCommandBuffer:(id<MTLCommandBuffer>)commandBuffer
                      sourceImages:(MPSImageBatch*)sourceImages
                 destinationImages:(MPSImageBatch*)destinationImages;

/// Encodes the kernel into a new image of the padding's size, autoreleased, and sets the offset according to the
/// padding. The source is one image.
- (MPSImage*)encodeToCommandBuffer:(id<MTLCommandBuffer>)commandBuffer sourceImage:(MPSImage*)sourceImage;
- (MPSImageBatch*)encodeBatchToCommandBuffer:(id<MTLCommandBuffer>)commandBuffer
                                sourceImages:(MPSImageBatch*)sourceImages;

/// The new image's descriptor; sets the offset.
- (MPSImageDescriptor*)destinationImageDescriptorForSourceImages:(NSArray<MPSImage*>*)sourceImages
                                                    sourceStates:(NSArray<MPSState*>* _Nullable)sourceStates;

@end

NS_ASSUME_NONNULL_END

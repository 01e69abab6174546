// What kernels that make an image of an image have in common.
#pragma once

#import <MPSNeuralNetwork/MPSNeuralNetworkTypes.h>

NS_ASSUME_NONNULL_BEGIN

/// Writes the pixels of clipRect, of which the first one reads around `offset`, and each next one a stride further.
@interface MPSCNNKernel : MPSKernel {
 @package
  void* _settings;
}

/// Where in the source the first pixel of clipRect reads around; z is the first image that is read. Zeros at first.
@property(nonatomic, readwrite) MPSOffset offset;

/// The pixels that are written, as far as the destination has them, and in z which images; MPSRectNoClip at first.
@property(nonatomic, readwrite) MTLRegion clipRect;

/// The first channel that is written, and the first one that is read, multiples of 4; and how many are at most read.
@property(nonatomic, readwrite) NSUInteger destinationFeatureChannelOffset;
@property(nonatomic, readwrite) NSUInteger sourceFeatureChannelOffset;
@property(nonatomic, readwrite) NSUInteger sourceFeatureChannelMaxCount;

/// What is read outside the source: Zero, or Clamp for the nearest pixel; the others raise when it is encoded.
@property(nonatomic, readwrite) MPSImageEdgeMode edgeMode;

/// What the kernel reads for each pixel.
@property(nonatomic, readonly) NSUInteger kernelWidth;
@property(nonatomic, readonly) NSUInteger kernelHeight;
@property(nonatomic, readonly) NSUInteger strideInPixelsX;
@property(nonatomic, readonly) NSUInteger strideInPixelsY;
@property(nonatomic, readonly) NSUInteger dilationRateX;
@property(nonatomic, readonly) NSUInteger dilationRateY;

/// NO: no kernel here makes an image larger by its stride.
@property(nonatomic, readonly) BOOL isBackwards;

/// The size of images that the kernel makes itself; Same, centered, the remainder to the top left, at first.
@property(nonatomic, readwrite, retain) id<MPSNNPadding> padding;

/// Who makes these images; MPSTemporaryImage's at first.
@property(nonatomic, readwrite, retain) id<MPSImageAllocator> destinationImageAllocator;

/// A kernel of the device.
- (instancetype)initWithDevice:(id<MTLDevice>)device NS_DESIGNATED_INITIALIZER;

/// Raises: kernels of images are not archived here.
- (instancetype _Nullable)initWithCoder:(NSCoder*)aDecoder device:(id<MTLDevice>)device;

/// Encodes it, without a look at the padding. Raises for what is outside an image.
- (void)encodeToCommandBuffer:(id<MTLCommandBuffer>)commandBuffer
                  sourceImage:(MPSImage*)sourceImage
             destinationImage:(MPSImage*)destinationImage;
- (void)encodeBatchToCommandBuffer:(id<MTLCommandBuffer>)commandBuffer
                      sourceImages:(MPSImageBatch*)sourceImages
                 destinationImages:(MPSImageBatch*)destinationImages;

/// Encodes it into a new image of the padding's size, autoreleased; sets the offset as the padding says. The source is
/// one image.
- (MPSImage*)encodeToCommandBuffer:(id<MTLCommandBuffer>)commandBuffer sourceImage:(MPSImage*)sourceImage;
- (MPSImageBatch*)encodeBatchToCommandBuffer:(id<MTLCommandBuffer>)commandBuffer
                                sourceImages:(MPSImageBatch*)sourceImages;

/// The new image, and the offset that is set.
- (MPSImageDescriptor*)destinationImageDescriptorForSourceImages:(NSArray<MPSImage*>*)sourceImages
                                                    sourceStates:(NSArray<MPSState*>* _Nullable)sourceStates;

@end

NS_ASSUME_NONNULL_END

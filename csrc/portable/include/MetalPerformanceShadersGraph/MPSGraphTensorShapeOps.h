// Ops on shapes: reshape, transpose, slice, split, concatenate, repeat, blocks, coordinates, casts.
#pragma once

#import <MetalPerformanceShadersGraph/MPSGraph.h>

NS_ASSUME_NONNULL_BEGIN

/// Ops that move elements without computing.
@interface MPSGraph (MPSGraphTensorShapeOps)

/// Gives the elements another shape; one length may be -1.
- (MPSGraphTensor*)reshapeTensor:(MPSGraphTensor*)tensor withShape:(MPSShape*)shape name:(NSString* _Nullable)name;

/// The same with the shape in a tensor of rank 1. The elements of such a tensor, here and below, may be computed from
/// constants and the results of shapeOfTensor: by slices, concatenation, casts, reshapes, sums, products and basic
/// arithmetic.
- (MPSGraphTensor*)reshapeTensor:(MPSGraphTensor*)tensor
                 withShapeTensor:(MPSGraphTensor*)shapeTensor
                            name:(NSString* _Nullable)name;

/// Swaps two dimensions.
- (MPSGraphTensor*)transposeTensor:(MPSGraphTensor*)tensor
                         dimension:(NSUInteger)dimensionIndex
                     withDimension:(NSUInteger)dimensionIndex2
                              name:(NSString* _Nullable)name;

/// Dimension i of the result is dimension permutation[i] of the operand; negative numbers count from the end.
- (MPSGraphTensor*)transposeTensor:(MPSGraphTensor*)tensor
                       permutation:(NSArray<NSNumber*>*)permutation
                              name:(NSString* _Nullable)name;

/// Takes a range of one dimension.
- (MPSGraphTensor*)sliceTensor:(MPSGraphTensor*)tensor
                     dimension:(NSUInteger)dimensionIndex
                         start:(NSInteger)start
                        length:(NSInteger)length
                          name:(NSString* _Nullable)name;

/// Takes along each dimension the elements from start to before end by stride, like TensorFlow's strided slice.
- (MPSGraphTensor*)sliceTensor:(MPSGraphTensor*)tensor
                        starts:(NSArray<NSNumber*>*)starts
                          ends:(NSArray<NSNumber*>*)ends
                       strides:(NSArray<NSNumber*>*)strides
                          name:(NSString* _Nullable)name;

/// The same with masks of one bit for each dimension. A set bit ignores the start, ignores the end, or removes the
/// dimension and takes only the element at the start.
- (MPSGraphTensor*)sliceTensor:(MPSGraphTensor*)tensor
                        starts:(NSArray<NSNumber*>*)starts
                          ends:(NSArray<NSNumber*>*)ends
                       strides:(NSArray<NSNumber*>*)strides
                     startMask:(uint32_t)startMask
                       endMask:(uint32_t)endMask
                   squeezeMask:(uint32_t)squeezeMask
                          name:(NSString* _Nullable)name;

/// Gradient of a strided slice; `fwdInShapeTensor` holds the shape of the sliced tensor.
- (MPSGraphTensor*)sliceGradientTensor:(MPSGraphTensor*)inputGradientTensor
                      fwdInShapeTensor:(MPSGraphTensor*)fwdInShapeTensor
                                starts:(NSArray<NSNumber*>*)starts
                                  ends:(NSArray<NSNumber*>*)ends
                               strides:(NSArray<NSNumber*>*)strides
                                  name:(NSString* _Nullable)name;

/// The same with the masks of the slice.
- (MPSGraphTensor*)sliceGradientTensor:(MPSGraphTensor*)inputGradientTensor
                      fwdInShapeTensor:(MPSGraphTensor*)fwdInShapeTensor
                                starts:(NSArray<NSNumber*>*)starts
                                  ends:(NSArray<NSNumber*>*)ends
                               strides:(NSArray<NSNumber*>*)strides
                             startMask:(uint32_t)startMask
                               endMask:(uint32_t)endMask
                           squeezeMask:(uint32_t)squeezeMask
                                  name:(NSString* _Nullable)name;

/// The same with the bounds in tensors. The elements of tensors that hold axes, sizes or bounds, here and below, must
/// be known when the op is added: constants, and values computed from them and from the results of shapeOfTensor:.
- (MPSGraphTensor*)sliceTensor:(MPSGraphTensor*)tensor
                   startTensor:(MPSGraphTensor*)startTensor
                     endTensor:(MPSGraphTensor*)endTensor
                  strideTensor:(MPSGraphTensor*)strideTensor
                     startMask:(uint32_t)startMask
                       endMask:(uint32_t)endMask
                   squeezeMask:(uint32_t)squeezeMask
                          name:(NSString* _Nullable)name;

/// Takes along each dimension as many elements as its size, from the start on, which must exist; a set bit removes its
/// dimension, whose size is 1.
- (MPSGraphTensor*)sliceTensor:(MPSGraphTensor*)tensor
                   startTensor:(MPSGraphTensor*)startTensor
                    sizeTensor:(MPSGraphTensor*)sizeTensor
                   squeezeMask:(uint32_t)squeezeMask
                          name:(NSString* _Nullable)name;

/// Gradients of the slices by tensors.
- (MPSGraphTensor*)sliceGradientTensor:(MPSGraphTensor*)gradient
                      fwdInShapeTensor:(MPSGraphTensor*)shapeTensor
                           startTensor:(MPSGraphTensor*)startTensor
                             endTensor:(MPSGraphTensor*)endTensor
                          strideTensor:(MPSGraphTensor*)strideTensor
                             startMask:(uint32_t)startMask
                               endMask:(uint32_t)endMask
                           squeezeMask:(uint32_t)squeezeMask
                                  name:(NSString* _Nullable)name;

- (MPSGraphTensor*)sliceGradientTensor:(MPSGraphTensor*)gradient
                      fwdInShapeTensor:(MPSGraphTensor*)shapeTensor
                           startTensor:(MPSGraphTensor*)startTensor
                            sizeTensor:(MPSGraphTensor*)sizeTensor
                           squeezeMask:(uint32_t)squeezeMask
                                  name:(NSString* _Nullable)name;

/// Replaces the elements that the slice takes by the update, which has the slice's shape.
- (MPSGraphTensor*)sliceUpdateDataTensor:(MPSGraphTensor*)data
                            updateTensor:(MPSGraphTensor*)update
                                  starts:(NSArray<NSNumber*>*)starts
                                    ends:(NSArray<NSNumber*>*)ends
                                 strides:(NSArray<NSNumber*>*)strides
                               startMask:(uint32_t)startMask
                                 endMask:(uint32_t)endMask
                             squeezeMask:(uint32_t)squeezeMask
                                    name:(NSString* _Nullable)name;

- (MPSGraphTensor*)sliceUpdateDataTensor:(MPSGraphTensor*)data
                            updateTensor:(MPSGraphTensor*)update
                                  starts:(NSArray<NSNumber*>*)starts
                                    ends:(NSArray<NSNumber*>*)ends
                                 strides:(NSArray<NSNumber*>*)strides
                                    name:(NSString* _Nullable)name;

- (MPSGraphTensor*)sliceUpdateDataTensor:(MPSGraphTensor*)data
                            updateTensor:(MPSGraphTensor*)update
                            startsTensor:(MPSGraphTensor*)startsTensor
                              endsTensor:(MPSGraphTensor*)endsTensor
                           stridesTensor:(MPSGraphTensor*)stridesTensor
                               startMask:(uint32_t)startMask
                                 endMask:(uint32_t)endMask
                             squeezeMask:(uint32_t)squeezeMask
                                    name:(NSString* _Nullable)name;

- (MPSGraphTensor*)sliceUpdateDataTensor:(MPSGraphTensor*)data
                            updateTensor:(MPSGraphTensor*)update
                            startsTensor:(MPSGraphTensor*)startsTensor
                              endsTensor:(MPSGraphTensor*)endsTensor
                           stridesTensor:(MPSGraphTensor*)stridesTensor
                                    name:(NSString* _Nullable)name;

/// Joins two tensors of equal rank along a dimension; the other dimensions broadcast.
- (MPSGraphTensor*)concatTensor:(MPSGraphTensor*)tensor
                     withTensor:(MPSGraphTensor*)tensor2
                      dimension:(NSInteger)dimensionIndex
                           name:(NSString* _Nullable)name;

/// Joins tensors of equal rank along a dimension; the other dimensions broadcast.
- (MPSGraphTensor*)concatTensors:(NSArray<MPSGraphTensor*>*)tensors
                       dimension:(NSInteger)dimensionIndex
                            name:(NSString* _Nullable)name;

/// The same; with interleave, the result takes one element of each tensor in turn along the dimension, and their
/// lengths along it are equal.
- (MPSGraphTensor*)concatTensors:(NSArray<MPSGraphTensor*>*)tensors
                       dimension:(NSInteger)dimension
                      interleave:(BOOL)interleave
                            name:(NSString* _Nullable)name;

/// Repeats the tensor to the shape by NumPy's rule of broadcasting.
- (MPSGraphTensor*)broadcastTensor:(MPSGraphTensor*)tensor toShape:(MPSShape*)shape name:(NSString* _Nullable)name;

/// The same with the shape in a tensor of rank 1.
- (MPSGraphTensor*)broadcastTensor:(MPSGraphTensor*)tensor
                     toShapeTensor:(MPSGraphTensor*)shapeTensor
                              name:(NSString* _Nullable)name;

/// The shape as an Int32 tensor of rank 1.
- (MPSGraphTensor*)shapeOfTensor:(MPSGraphTensor*)tensor name:(NSString* _Nullable)name;

/// Converts the elements to another type.
- (MPSGraphTensor*)castTensor:(MPSGraphTensor*)tensor toType:(MPSDataType)type name:(NSString* _Nullable)name;

/// Splits the axis into parts of the sizes, which must add up to its length.
- (NSArray<MPSGraphTensor*>*)splitTensor:(MPSGraphTensor*)tensor
                              splitSizes:(NSArray<NSNumber*>*)splitSizes
                                    axis:(NSInteger)axis
                                    name:(NSString* _Nullable)name;

- (NSArray<MPSGraphTensor*>*)splitTensor:(MPSGraphTensor*)tensor
                        splitSizesTensor:(MPSGraphTensor*)splitSizesTensor
                                    axis:(NSInteger)axis
                                    name:(NSString* _Nullable)name;

/// Splits the axis into `numSplits` parts of equal size; if that is impossible, the first parts are longer by 1. For
/// more than two parts, Apple's behaviour is not known.
- (NSArray<MPSGraphTensor*>*)splitTensor:(MPSGraphTensor*)tensor
                               numSplits:(NSUInteger)numSplits
                                    axis:(NSInteger)axis
                                    name:(NSString* _Nullable)name;

/// Joins tensors of one shape along a new axis, which is an axis of the result.
- (MPSGraphTensor*)stackTensors:(NSArray<MPSGraphTensor*>*)tensors axis:(NSInteger)axis name:(NSString* _Nullable)name;

/// Repeats the tensor along each dimension.
- (MPSGraphTensor*)tileTensor:(MPSGraphTensor*)tensor
               withMultiplier:(MPSShape*)multiplier
                         name:(NSString* _Nullable)name;

/// Gradient of a tile: the sum over the copies.
- (MPSGraphTensor*)tileGradientWithIncomingGradientTensor:(MPSGraphTensor*)gradient
                                             sourceTensor:(MPSGraphTensor*)source
                                           withMultiplier:(MPSShape*)multiplier
                                                     name:(NSString* _Nullable)name;

/// Reverses the order along every axis, or along the given ones; an empty list means every axis.
- (MPSGraphTensor*)reverseTensor:(MPSGraphTensor*)tensor name:(NSString* _Nullable)name;

- (MPSGraphTensor*)reverseTensor:(MPSGraphTensor*)tensor axes:(NSArray<NSNumber*>*)axes name:(NSString* _Nullable)name;

- (MPSGraphTensor*)reverseTensor:(MPSGraphTensor*)tensor
                      axesTensor:(MPSGraphTensor*)axesTensor
                            name:(NSString* _Nullable)name;

/// Makes a matrix: rows from the dimensions before the axis, columns from the others. The axis, from 0 to the rank,
/// counts from the front.
- (MPSGraphTensor*)flatten2DTensor:(MPSGraphTensor*)tensor axis:(NSInteger)axis name:(NSString* _Nullable)name;

- (MPSGraphTensor*)flatten2DTensor:(MPSGraphTensor*)tensor
                        axisTensor:(MPSGraphTensor*)axisTensor
                              name:(NSString* _Nullable)name;

/// Removes dimensions of length 1: every dimension that is known to have it, or those at the axes, which may be none.
- (MPSGraphTensor*)squeezeTensor:(MPSGraphTensor*)tensor name:(NSString* _Nullable)name;

- (MPSGraphTensor*)squeezeTensor:(MPSGraphTensor*)tensor axis:(NSInteger)axis name:(NSString* _Nullable)name;

- (MPSGraphTensor*)squeezeTensor:(MPSGraphTensor*)tensor axes:(NSArray<NSNumber*>*)axes name:(NSString* _Nullable)name;

- (MPSGraphTensor*)squeezeTensor:(MPSGraphTensor*)tensor
                      axesTensor:(MPSGraphTensor*)axesTensor
                            name:(NSString* _Nullable)name;

/// Adds dimensions of length 1 at the axes, which are axes of the result.
- (MPSGraphTensor*)expandDimsOfTensor:(MPSGraphTensor*)tensor axis:(NSInteger)axis name:(NSString* _Nullable)name;

- (MPSGraphTensor*)expandDimsOfTensor:(MPSGraphTensor*)tensor
                                 axes:(NSArray<NSNumber*>*)axes
                                 name:(NSString* _Nullable)name;

- (MPSGraphTensor*)expandDimsOfTensor:(MPSGraphTensor*)tensor
                           axesTensor:(MPSGraphTensor*)axesTensor
                                 name:(NSString* _Nullable)name;

/// Makes an Int32 tensor of the shape whose elements are their own positions along the axis. The length of the axis
/// must be known when the op is added.
- (MPSGraphTensor*)coordinateAlongAxis:(NSInteger)axis withShape:(MPSShape*)shape name:(NSString* _Nullable)name;

- (MPSGraphTensor*)coordinateAlongAxisTensor:(MPSGraphTensor*)axisTensor
                                   withShape:(MPSShape*)shape
                                        name:(NSString* _Nullable)name;

- (MPSGraphTensor*)coordinateAlongAxis:(NSInteger)axis
                       withShapeTensor:(MPSGraphTensor*)shapeTensor
                                  name:(NSString* _Nullable)name;

- (MPSGraphTensor*)coordinateAlongAxisTensor:(MPSGraphTensor*)axisTensor
                             withShapeTensor:(MPSGraphTensor*)shapeTensor
                                        name:(NSString* _Nullable)name;

/// Moves each block of blockSize by blockSize elements along height and width into the depth; within a block, width is
/// fastest. In pixel shuffle order the depth holds the block of each channel in turn, else the channels of each
/// position in the block in turn.
- (MPSGraphTensor*)spaceToDepth2DTensor:(MPSGraphTensor*)tensor
                              widthAxis:(NSUInteger)widthAxis
                             heightAxis:(NSUInteger)heightAxis
                              depthAxis:(NSUInteger)depthAxis
                              blockSize:(NSUInteger)blockSize
                   usePixelShuffleOrder:(BOOL)usePixelShuffleOrder
                                   name:(NSString* _Nullable)name;

- (MPSGraphTensor*)spaceToDepth2DTensor:(MPSGraphTensor*)tensor
                        widthAxisTensor:(MPSGraphTensor*)widthAxisTensor
                       heightAxisTensor:(MPSGraphTensor*)heightAxisTensor
                        depthAxisTensor:(MPSGraphTensor*)depthAxisTensor
                              blockSize:(NSUInteger)blockSize
                   usePixelShuffleOrder:(BOOL)usePixelShuffleOrder
                                   name:(NSString* _Nullable)name;

/// Inverts spaceToDepth2D.
- (MPSGraphTensor*)depthToSpace2DTensor:(MPSGraphTensor*)tensor
                              widthAxis:(NSUInteger)widthAxis
                             heightAxis:(NSUInteger)heightAxis
                              depthAxis:(NSUInteger)depthAxis
                              blockSize:(NSUInteger)blockSize
                   usePixelShuffleOrder:(BOOL)usePixelShuffleOrder
                                   name:(NSString* _Nullable)name;

- (MPSGraphTensor*)depthToSpace2DTensor:(MPSGraphTensor*)tensor
                        widthAxisTensor:(MPSGraphTensor*)widthAxisTensor
                       heightAxisTensor:(MPSGraphTensor*)heightAxisTensor
                        depthAxisTensor:(MPSGraphTensor*)depthAxisTensor
                              blockSize:(NSUInteger)blockSize
                   usePixelShuffleOrder:(BOOL)usePixelShuffleOrder
                                   name:(NSString* _Nullable)name;

/// Moves blocks along any axes, of any sizes, into the batch axis. Within a block the last of the axes is fastest;
/// Apple's order is not known.
- (MPSGraphTensor*)spaceToBatchTensor:(MPSGraphTensor*)tensor
                          spatialAxes:(NSArray<NSNumber*>*)spatialAxes
                            batchAxis:(NSInteger)batchAxis
                      blockDimensions:(NSArray<NSNumber*>*)blockDimensions
                 usePixelShuffleOrder:(BOOL)usePixelShuffleOrder
                                 name:(NSString* _Nullable)name;

- (MPSGraphTensor*)spaceToBatchTensor:(MPSGraphTensor*)tensor
                    spatialAxesTensor:(MPSGraphTensor*)spatialAxesTensor
                      batchAxisTensor:(MPSGraphTensor*)batchAxisTensor
                blockDimensionsTensor:(MPSGraphTensor*)blockDimensionsTensor
                 usePixelShuffleOrder:(BOOL)usePixelShuffleOrder
                                 name:(NSString* _Nullable)name;

/// Inverts spaceToBatch.
- (MPSGraphTensor*)batchToSpaceTensor:(MPSGraphTensor*)tensor
                          spatialAxes:(NSArray<NSNumber*>*)spatialAxes
                            batchAxis:(NSInteger)batchAxis
                      blockDimensions:(NSArray<NSNumber*>*)blockDimensions
                 usePixelShuffleOrder:(BOOL)usePixelShuffleOrder
                                 name:(NSString* _Nullable)name;

- (MPSGraphTensor*)batchToSpaceTensor:(MPSGraphTensor*)tensor
                    spatialAxesTensor:(MPSGraphTensor*)spatialAxesTensor
                      batchAxisTensor:(MPSGraphTensor*)batchAxisTensor
                blockDimensionsTensor:(MPSGraphTensor*)blockDimensionsTensor
                 usePixelShuffleOrder:(BOOL)usePixelShuffleOrder
                                 name:(NSString* _Nullable)name;

/// Reads the bits as another type, which must not be Bool; the last dimension grows if the elements become narrower and
/// shrinks if they become wider.
- (MPSGraphTensor*)reinterpretCastTensor:(MPSGraphTensor*)tensor
                                  toType:(MPSDataType)type
                                    name:(NSString* _Nullable)name;

/// Adds elements before and behind the tensor along each axis: the constant, zeros, or elements of the tensor,
/// depending on the mode. A negative padding cuts elements off. For Reflect, a padding must be less than the axis's
/// length; for Symmetric, at most that length.
- (MPSGraphTensor*)padTensor:(MPSGraphTensor*)tensor
             withPaddingMode:(MPSGraphPaddingMode)paddingMode
                 leftPadding:(MPSShape*)leftPadding
                rightPadding:(MPSShape*)rightPadding
               constantValue:(double)constantValue
                        name:(NSString* _Nullable)name;

/// Gradient of a pad: each element of the source receives the sum of its copies' gradients.
- (MPSGraphTensor*)padGradientWithIncomingGradientTensor:(MPSGraphTensor*)incomingGradientTensor
                                            sourceTensor:(MPSGraphTensor*)sourceTensor
                                             paddingMode:(MPSGraphPaddingMode)paddingMode
                                             leftPadding:(MPSShape*)leftPadding
                                            rightPadding:(MPSShape*)rightPadding
                                                    name:(NSString* _Nullable)name;

@end

NS_ASSUME_NONNULL_END

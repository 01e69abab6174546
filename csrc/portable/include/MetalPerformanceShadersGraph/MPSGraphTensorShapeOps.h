// Shapes: reshape, transpose, slice, split, concatenate, repeat, blocks, places, casts.
#pragma once

#import <MetalPerformanceShadersGraph/MPSGraph.h>

NS_ASSUME_NONNULL_BEGIN

/// Ops that move elements without computing.
@interface MPSGraph (MPSGraphTensorShapeOps)

/// Same elements in another shape; one length may be -1.
- (MPSGraphTensor*)reshapeTensor:(MPSGraphTensor*)tensor withShape:(MPSShape*)shape name:(NSString* _Nullable)name;

/// As above with the shape in a tensor of rank 1. Here and below that may be computed from constants and from what
/// shapeOfTensor: gives, by slices, concatenation, casts, reshapes, sums, products and the basic arithmetic.
- (MPSGraphTensor*)reshapeTensor:(MPSGraphTensor*)tensor
                 withShapeTensor:(MPSGraphTensor*)shapeTensor
                            name:(NSString* _Nullable)name;

/// Swaps two dimensions.
- (MPSGraphTensor*)transposeTensor:(MPSGraphTensor*)tensor
                         dimension:(NSUInteger)dimensionIndex
                     withDimension:(NSUInteger)dimensionIndex2
                              name:(NSString* _Nullable)name;

/// Dimension i of the result is dimension permutation[i] of the operand, negative from the end.
- (MPSGraphTensor*)transposeTensor:(MPSGraphTensor*)tensor
                       permutation:(NSArray<NSNumber*>*)permutation
                              name:(NSString* _Nullable)name;

/// A range of one dimension.
- (MPSGraphTensor*)sliceTensor:(MPSGraphTensor*)tensor
                     dimension:(NSUInteger)dimensionIndex
                         start:(NSInteger)start
                        length:(NSInteger)length
                          name:(NSString* _Nullable)name;

/// Per dimension the elements from start to before end by stride, as TensorFlow's strided slice.
- (MPSGraphTensor*)sliceTensor:(MPSGraphTensor*)tensor
                        starts:(NSArray<NSNumber*>*)starts
                          ends:(NSArray<NSNumber*>*)ends
                       strides:(NSArray<NSNumber*>*)strides
                          name:(NSString* _Nullable)name;

/// As above; a set bit ignores the start (begin at the first), ignores the end (run to the last), or removes
/// the dimension, of which only the start is taken.
- (MPSGraphTensor*)sliceTensor:(MPSGraphTensor*)tensor
                        starts:(NSArray<NSNumber*>*)starts
                          ends:(NSArray<NSNumber*>*)ends
                       strides:(NSArray<NSNumber*>*)strides
                     startMask:(uint32_t)startMask
                       endMask:(uint32_t)endMask
                   squeezeMask:(uint32_t)squeezeMask
                          name:(NSString* _Nullable)name;

/// Gradient of a strided slice, in the shape that `fwdInShapeTensor` holds.
- (MPSGraphTensor*)sliceGradientTensor:(MPSGraphTensor*)inputGradientTensor
                      fwdInShapeTensor:(MPSGraphTensor*)fwdInShapeTensor
                                starts:(NSArray<NSNumber*>*)starts
                                  ends:(NSArray<NSNumber*>*)ends
                               strides:(NSArray<NSNumber*>*)strides
                                  name:(NSString* _Nullable)name;

/// As above with the masks of the slice.
- (MPSGraphTensor*)sliceGradientTensor:(MPSGraphTensor*)inputGradientTensor
                      fwdInShapeTensor:(MPSGraphTensor*)fwdInShapeTensor
                                starts:(NSArray<NSNumber*>*)starts
                                  ends:(NSArray<NSNumber*>*)ends
                               strides:(NSArray<NSNumber*>*)strides
                             startMask:(uint32_t)startMask
                               endMask:(uint32_t)endMask
                           squeezeMask:(uint32_t)squeezeMask
                                  name:(NSString* _Nullable)name;

/// As above with the bounds in tensors whose elements are known when the op is added: constants, and what is computed
/// from them and from what shapeOfTensor: gives. So are all tensors below that hold axes, sizes or bounds.
- (MPSGraphTensor*)sliceTensor:(MPSGraphTensor*)tensor
                   startTensor:(MPSGraphTensor*)startTensor
                     endTensor:(MPSGraphTensor*)endTensor
                  strideTensor:(MPSGraphTensor*)strideTensor
                     startMask:(uint32_t)startMask
                       endMask:(uint32_t)endMask
                   squeezeMask:(uint32_t)squeezeMask
                          name:(NSString* _Nullable)name;

/// Per dimension so many elements from the start on, which must be there; a set bit removes the dimension, whose size
/// is 1.
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

/// The data with the update, which has the shape of the slice, in the place of what the slice takes.
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

/// Two tensors one after the other along a dimension; along the others they broadcast, their ranks being equal.
- (MPSGraphTensor*)concatTensor:(MPSGraphTensor*)tensor
                     withTensor:(MPSGraphTensor*)tensor2
                      dimension:(NSInteger)dimensionIndex
                           name:(NSString* _Nullable)name;

/// Tensors one after the other along a dimension; along the others they broadcast, their ranks being equal.
- (MPSGraphTensor*)concatTensors:(NSArray<MPSGraphTensor*>*)tensors
                       dimension:(NSInteger)dimensionIndex
                            name:(NSString* _Nullable)name;

/// As above; where they interleave, the result has in turn one place of each tensor along the dimension, and their
/// lengths along it are equal.
- (MPSGraphTensor*)concatTensors:(NSArray<MPSGraphTensor*>*)tensors
                       dimension:(NSInteger)dimension
                      interleave:(BOOL)interleave
                            name:(NSString* _Nullable)name;

/// Repeats by the rule of NumPy.
- (MPSGraphTensor*)broadcastTensor:(MPSGraphTensor*)tensor toShape:(MPSShape*)shape name:(NSString* _Nullable)name;

/// As above with the shape in a tensor of rank 1.
- (MPSGraphTensor*)broadcastTensor:(MPSGraphTensor*)tensor
                     toShapeTensor:(MPSGraphTensor*)shapeTensor
                              name:(NSString* _Nullable)name;

/// The shape as an Int32 tensor of rank 1.
- (MPSGraphTensor*)shapeOfTensor:(MPSGraphTensor*)tensor name:(NSString* _Nullable)name;

/// Elements converted to another type.
- (MPSGraphTensor*)castTensor:(MPSGraphTensor*)tensor toType:(MPSDataType)type name:(NSString* _Nullable)name;

/// Parts of the sizes, which add up to the length of the axis.
- (NSArray<MPSGraphTensor*>*)splitTensor:(MPSGraphTensor*)tensor
                              splitSizes:(NSArray<NSNumber*>*)splitSizes
                                    axis:(NSInteger)axis
                                    name:(NSString* _Nullable)name;

- (NSArray<MPSGraphTensor*>*)splitTensor:(MPSGraphTensor*)tensor
                        splitSizesTensor:(MPSGraphTensor*)splitSizesTensor
                                    axis:(NSInteger)axis
                                    name:(NSString* _Nullable)name;

/// So many parts, of one size where that is possible, else with the first ones longer by 1, though of more than two on
/// Apple's framework that is not known.
- (NSArray<MPSGraphTensor*>*)splitTensor:(MPSGraphTensor*)tensor
                               numSplits:(NSUInteger)numSplits
                                    axis:(NSInteger)axis
                                    name:(NSString* _Nullable)name;

/// Tensors of one shape along a new axis, which is a place in the result.
- (MPSGraphTensor*)stackTensors:(NSArray<MPSGraphTensor*>*)tensors axis:(NSInteger)axis name:(NSString* _Nullable)name;

/// Repeats the tensor along each dimension.
- (MPSGraphTensor*)tileTensor:(MPSGraphTensor*)tensor
               withMultiplier:(MPSShape*)multiplier
                         name:(NSString* _Nullable)name;

/// Gradient of a tile, from one of the tiled shape: the sum over the copies.
- (MPSGraphTensor*)tileGradientWithIncomingGradientTensor:(MPSGraphTensor*)gradient
                                             sourceTensor:(MPSGraphTensor*)source
                                           withMultiplier:(MPSShape*)multiplier
                                                     name:(NSString* _Nullable)name;

/// From the last place to the first along every axis, or along the given ones; an empty list means every axis.
- (MPSGraphTensor*)reverseTensor:(MPSGraphTensor*)tensor name:(NSString* _Nullable)name;

- (MPSGraphTensor*)reverseTensor:(MPSGraphTensor*)tensor axes:(NSArray<NSNumber*>*)axes name:(NSString* _Nullable)name;

- (MPSGraphTensor*)reverseTensor:(MPSGraphTensor*)tensor
                      axesTensor:(MPSGraphTensor*)axesTensor
                            name:(NSString* _Nullable)name;

/// A matrix of the dimensions before the axis by those from it on. The axis is counted from the front, 0 to the rank.
- (MPSGraphTensor*)flatten2DTensor:(MPSGraphTensor*)tensor axis:(NSInteger)axis name:(NSString* _Nullable)name;

- (MPSGraphTensor*)flatten2DTensor:(MPSGraphTensor*)tensor
                        axisTensor:(MPSGraphTensor*)axisTensor
                              name:(NSString* _Nullable)name;

/// Without the dimensions of length 1: all that are known to be, or those at the axes, of which there may be none.
- (MPSGraphTensor*)squeezeTensor:(MPSGraphTensor*)tensor name:(NSString* _Nullable)name;

- (MPSGraphTensor*)squeezeTensor:(MPSGraphTensor*)tensor axis:(NSInteger)axis name:(NSString* _Nullable)name;

- (MPSGraphTensor*)squeezeTensor:(MPSGraphTensor*)tensor axes:(NSArray<NSNumber*>*)axes name:(NSString* _Nullable)name;

- (MPSGraphTensor*)squeezeTensor:(MPSGraphTensor*)tensor
                      axesTensor:(MPSGraphTensor*)axesTensor
                            name:(NSString* _Nullable)name;

/// With dimensions of length 1 at the axes, which are places in the result.
- (MPSGraphTensor*)expandDimsOfTensor:(MPSGraphTensor*)tensor axis:(NSInteger)axis name:(NSString* _Nullable)name;

- (MPSGraphTensor*)expandDimsOfTensor:(MPSGraphTensor*)tensor
                                 axes:(NSArray<NSNumber*>*)axes
                                 name:(NSString* _Nullable)name;

- (MPSGraphTensor*)expandDimsOfTensor:(MPSGraphTensor*)tensor
                           axesTensor:(MPSGraphTensor*)axesTensor
                                 name:(NSString* _Nullable)name;

/// An Int32 tensor of the shape, whose elements are their own places along the axis. Its length there must be known
/// when the op is added.
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

/// Blocks of blockSize by blockSize elements of height and width moved into the depth. In the pixel shuffle order the
/// elements of a block lie side by side for each channel, else the channels for each element; in a block width is
/// fastest.
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

/// The inverse.
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

/// The same of any axes and sizes of a block. In a block the last of the axes is fastest, though on Apple's framework
/// that is not known.
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

/// The inverse.
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

/// The bits as another type, which is not Bool; the last dimension grows or shrinks as elements become narrower or
/// wider.
- (MPSGraphTensor*)reinterpretCastTensor:(MPSGraphTensor*)tensor
                                  toType:(MPSDataType)type
                                    name:(NSString* _Nullable)name;

/// The tensor with so many elements before and behind it along each axis: the constant, zeros, or what the mode makes
/// of its own. Reflect needs paddings below the axis's length, Symmetric none above it. So many elements are cut off
/// where a padding is negative.
- (MPSGraphTensor*)padTensor:(MPSGraphTensor*)tensor
             withPaddingMode:(MPSGraphPaddingMode)paddingMode
                 leftPadding:(MPSShape*)leftPadding
                rightPadding:(MPSShape*)rightPadding
               constantValue:(double)constantValue
                        name:(NSString* _Nullable)name;

/// Its gradient: each element of the source receives what all its copies do.
- (MPSGraphTensor*)padGradientWithIncomingGradientTensor:(MPSGraphTensor*)incomingGradientTensor
                                            sourceTensor:(MPSGraphTensor*)sourceTensor
                                             paddingMode:(MPSGraphPaddingMode)paddingMode
                                             leftPadding:(MPSShape*)leftPadding
                                            rightPadding:(MPSShape*)rightPadding
                                                    name:(NSString* _Nullable)name;

@end

NS_ASSUME_NONNULL_END

// Shapes: reshape, transpose, slice, concatenate, broadcast, cast.
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

/// Two tensors one after the other along a dimension; along the others they broadcast, their ranks being equal.
- (MPSGraphTensor*)concatTensor:(MPSGraphTensor*)tensor
                     withTensor:(MPSGraphTensor*)tensor2
                      dimension:(NSInteger)dimensionIndex
                           name:(NSString* _Nullable)name;

/// Tensors one after the other along a dimension; along the others they broadcast, their ranks being equal.
- (MPSGraphTensor*)concatTensors:(NSArray<MPSGraphTensor*>*)tensors
                       dimension:(NSInteger)dimensionIndex
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

/// The tensor with so many elements before and behind it along each axis: the constant, zeros, or what the mode makes
/// of its own. Reflect needs paddings below the axis's length, Symmetric none above it.
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

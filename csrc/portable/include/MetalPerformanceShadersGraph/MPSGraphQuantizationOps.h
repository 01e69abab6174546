// Floats as small integers, and back.
#pragma once

#import <MetalPerformanceShadersGraph/MPSGraph.h>

NS_ASSUME_NONNULL_BEGIN

/// Quantization. Negative axes count from the end.
@interface MPSGraph (MPSGraphQuantizationOps)

/// x / scale + zeroPoint, rounded to the nearest integer, halves to even, and clamped to the range of the type, Int8 or
/// UInt8.
- (MPSGraphTensor*)quantizeTensor:(MPSGraphTensor*)tensor
                            scale:(double)scale
                        zeroPoint:(double)zeroPoint
                         dataType:(MPSDataType)dataType
                             name:(NSString* _Nullable)name;

/// scale * (x - zeroPoint), in the float type.
- (MPSGraphTensor*)dequantizeTensor:(MPSGraphTensor*)tensor
                              scale:(double)scale
                          zeroPoint:(double)zeroPoint
                           dataType:(MPSDataType)dataType
                               name:(NSString* _Nullable)name;

/// The same with one scale for each position along the axis.
- (MPSGraphTensor*)quantizeTensor:(MPSGraphTensor*)tensor
                      scaleTensor:(MPSGraphTensor*)scaleTensor
                        zeroPoint:(double)zeroPoint
                         dataType:(MPSDataType)dataType
                             axis:(NSInteger)axis
                             name:(NSString* _Nullable)name;

- (MPSGraphTensor*)dequantizeTensor:(MPSGraphTensor*)tensor
                        scaleTensor:(MPSGraphTensor*)scaleTensor
                          zeroPoint:(double)zeroPoint
                           dataType:(MPSDataType)dataType
                               axis:(NSInteger)axis
                               name:(NSString* _Nullable)name;

/// The same with one scale and one zero point for each position along the axis.
- (MPSGraphTensor*)quantizeTensor:(MPSGraphTensor*)tensor
                      scaleTensor:(MPSGraphTensor*)scaleTensor
                  zeroPointTensor:(MPSGraphTensor*)zeroPointTensor
                         dataType:(MPSDataType)dataType
                             axis:(NSInteger)axis
                             name:(NSString* _Nullable)name;

- (MPSGraphTensor*)dequantizeTensor:(MPSGraphTensor*)tensor
                        scaleTensor:(MPSGraphTensor*)scaleTensor
                    zeroPointTensor:(MPSGraphTensor*)zeroPointTensor
                           dataType:(MPSDataType)dataType
                               axis:(NSInteger)axis
                               name:(NSString* _Nullable)name;

/// The same with scales and zero points for blocks: their tensors have the rank of the first tensor, and each of their
/// elements serves one block of it.
- (MPSGraphTensor*)dequantizeTensor:(MPSGraphTensor*)tensor
                        scaleTensor:(MPSGraphTensor*)scaleTensor
                    zeroPointTensor:(MPSGraphTensor*)zeroPointTensor
                           dataType:(MPSDataType)dataType
                               name:(NSString* _Nullable)name;

- (MPSGraphTensor*)dequantizeTensor:(MPSGraphTensor*)tensor
                        scaleTensor:(MPSGraphTensor*)scaleTensor
                           dataType:(MPSDataType)dataType
                               name:(NSString* _Nullable)name;

/// Replaces each UInt8 element by an entry of a table. The table's last dimension has 256 entries; its other dimensions
/// divide the tensor into blocks, each with its own table.
- (MPSGraphTensor*)dequantizeTensor:(MPSGraphTensor*)tensor
                          LUTTensor:(MPSGraphTensor*)LUTTensor
                               name:(NSString* _Nullable)name;

/// The same with a vector for each entry, along one more dimension; in the result the vectors lie along `axis`.
- (MPSGraphTensor*)dequantizeTensor:(MPSGraphTensor*)tensor
                          LUTTensor:(MPSGraphTensor*)LUTTensor
                               axis:(NSInteger)axis
                               name:(NSString* _Nullable)name;

@end

NS_ASSUME_NONNULL_END

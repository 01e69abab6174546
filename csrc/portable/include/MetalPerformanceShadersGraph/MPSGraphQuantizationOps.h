// Floats as small integers, and back.
#pragma once

#import <MetalPerformanceShadersGraph/MPSGraph.h>

NS_ASSUME_NONNULL_BEGIN

/// Quantization. Negative axes count from the end.
@interface MPSGraph (MPSGraphQuantizationOps)

/// x / scale + zeroPoint, rounded with halves to even and held to what the type, Int8 or UInt8, has.
- (MPSGraphTensor*)quantizeTensor:(MPSGraphTensor*)tensor
                            scale:(double)scale
                        zeroPoint:(double)zeroPoint
                         dataType:(MPSDataType)dataType
                             name:(NSString* _Nullable)name;

/// scale * (x - zeroPoint), of the float type.
- (MPSGraphTensor*)dequantizeTensor:(MPSGraphTensor*)tensor
                              scale:(double)scale
                          zeroPoint:(double)zeroPoint
                           dataType:(MPSDataType)dataType
                               name:(NSString* _Nullable)name;

/// With a scale for each place along the axis.
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

/// With a scale and a zero point for each place along the axis.
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

/// With tensors of the rank of the first one, whose elements are those of blocks of it.
- (MPSGraphTensor*)dequantizeTensor:(MPSGraphTensor*)tensor
                        scaleTensor:(MPSGraphTensor*)scaleTensor
                    zeroPointTensor:(MPSGraphTensor*)zeroPointTensor
                           dataType:(MPSDataType)dataType
                               name:(NSString* _Nullable)name;

- (MPSGraphTensor*)dequantizeTensor:(MPSGraphTensor*)tensor
                        scaleTensor:(MPSGraphTensor*)scaleTensor
                           dataType:(MPSDataType)dataType
                               name:(NSString* _Nullable)name;

/// The entry of a table for each element, a UInt8: of 256 entries along the last dimension. The dimensions before are
/// those of the tensor, or divide them in blocks with a table each.
- (MPSGraphTensor*)dequantizeTensor:(MPSGraphTensor*)tensor
                          LUTTensor:(MPSGraphTensor*)LUTTensor
                               name:(NSString* _Nullable)name;

/// The same with vectors as entries, along one dimension more; in the result they lie along `axis`.
- (MPSGraphTensor*)dequantizeTensor:(MPSGraphTensor*)tensor
                          LUTTensor:(MPSGraphTensor*)LUTTensor
                               axis:(NSInteger)axis
                               name:(NSString* _Nullable)name;

@end

NS_ASSUME_NONNULL_END

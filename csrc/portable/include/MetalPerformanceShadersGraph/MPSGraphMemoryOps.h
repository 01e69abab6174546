// Placeholders, constants and variables.
#pragma once

#import <MetalPerformanceShadersGraph/MPSGraph.h>

NS_ASSUME_NONNULL_BEGIN

/// The operation behind a variable tensor.
@interface MPSGraphVariableOp : MPSGraphOperation

/// Shape of the state.
@property(nonatomic, readonly) MPSShape* shape;

/// Type of the state.
@property(nonatomic, readonly) MPSDataType dataType;

@end

/// Values that come from outside, and state.
@interface MPSGraph (MemoryOps)

/// A value fed to each run; a nil shape accepts any rank, -1 any length.
- (MPSGraphTensor*)placeholderWithShape:(MPSShape* _Nullable)shape
                               dataType:(MPSDataType)dataType
                                   name:(NSString* _Nullable)name;

/// The same with Float32 elements.
- (MPSGraphTensor*)placeholderWithShape:(MPSShape* _Nullable)shape name:(NSString* _Nullable)name;

/// A constant with a copy of the bytes, which must fill the shape exactly.
- (MPSGraphTensor*)constantWithData:(NSData*)data shape:(MPSShape*)shape dataType:(MPSDataType)dataType;

/// A scalar constant, converted to the type.
- (MPSGraphTensor*)constantWithScalar:(double)scalar dataType:(MPSDataType)dataType;

/// A constant with all elements equal.
- (MPSGraphTensor*)constantWithScalar:(double)scalar shape:(MPSShape*)shape dataType:(MPSDataType)dataType;

/// A complex scalar constant, of ComplexFloat32 or of the given complex type.
- (MPSGraphTensor*)constantWithRealPart:(double)realPart imaginaryPart:(double)imaginaryPart;

- (MPSGraphTensor*)constantWithRealPart:(double)realPart
                          imaginaryPart:(double)imaginaryPart
                               dataType:(MPSDataType)dataType;

/// A complex constant with all elements equal.
- (MPSGraphTensor*)constantWithRealPart:(double)realPart
                          imaginaryPart:(double)imaginaryPart
                                  shape:(MPSShape*)shape
                               dataType:(MPSDataType)dataType;

/// State with an initial value, copied; it belongs to the graph and lasts from run to run.
- (MPSGraphTensor*)variableWithData:(NSData*)data
                              shape:(MPSShape*)shape
                           dataType:(MPSDataType)dataType
                               name:(NSString* _Nullable)name;

/// State that begins with the value of `tensor`, which must be a constant: Apple does not document the behaviour for a
/// computed tensor, and here it raises. Since macOS 15.
- (MPSGraphTensor*)variableFromTensorWithTensor:(MPSGraphTensor*)tensor name:(NSString* _Nullable)name;

/// The value of a variable at this point of a run.
- (MPSGraphTensor*)readVariable:(MPSGraphTensor*)variable name:(NSString* _Nullable)name;

/// Writes a variable; a run executes it if it is a target or a control dependency.
- (MPSGraphOperation*)assignVariable:(MPSGraphTensor*)variable
                   withValueOfTensor:(MPSGraphTensor*)tensor
                                name:(NSString* _Nullable)name;

@end

NS_ASSUME_NONNULL_END

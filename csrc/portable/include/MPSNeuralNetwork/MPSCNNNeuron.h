// Functions of each channel, as kernels fuse them.
#pragma once

#import <MPSNeuralNetwork/MPSCNNNeuronType.h>

NS_ASSUME_NONNULL_BEGIN

/// A function and its parameters; parameters that a factory does not take are 0 by default.
@interface MPSNNNeuronDescriptor : NSObject <NSCopying, NSSecureCoding> {
 @package
  void* _impl;
}

/// The function.
@property(nonatomic, readwrite) MPSCNNNeuronType neuronType;

/// Its parameters.
@property(nonatomic, readwrite) float a;
@property(nonatomic, readwrite) float b;
@property(nonatomic, readwrite) float c;

/// For PReLU, a float for each channel; stored, not copied.
@property(nonatomic, readwrite, retain, nullable) NSData* data;

/// Use a factory.
- (instancetype)init NS_UNAVAILABLE;

/// A function of all channels.
+ (MPSNNNeuronDescriptor*)cnnNeuronDescriptorWithType:(MPSCNNNeuronType)neuronType;
+ (MPSNNNeuronDescriptor*)cnnNeuronDescriptorWithType:(MPSCNNNeuronType)neuronType a:(float)a;
+ (MPSNNNeuronDescriptor*)cnnNeuronDescriptorWithType:(MPSCNNNeuronType)neuronType a:(float)a b:(float)b;
+ (MPSNNNeuronDescriptor*)cnnNeuronDescriptorWithType:(MPSCNNNeuronType)neuronType a:(float)a b:(float)b c:(float)c;

/// PReLU; `noCopy` has no effect.
+ (MPSNNNeuronDescriptor*)cnnNeuronPReLUDescriptorWithData:(NSData*)data noCopy:(bool)noCopy;

@end

NS_ASSUME_NONNULL_END

// Recurrent layers and their gradients.
#pragma once

#import <MetalPerformanceShadersGraph/MPSGraph.h>

NS_ASSUME_NONNULL_BEGIN

/// The function that a gate applies to its sum. HardSigmoid is 0.2 x + 0.5, clamped to 0 and 1.
typedef NS_ENUM(NSUInteger, MPSGraphRNNActivation) {
  MPSGraphRNNActivationNone = 0,
  MPSGraphRNNActivationRelu = 1,
  MPSGraphRNNActivationTanh = 2,
  MPSGraphRNNActivationSigmoid = 3,
  MPSGraphRNNActivationHardSigmoid = 4,
};

/// Options of a layer whose cell has one gate. Flags are NO by default.
@interface MPSGraphSingleGateRNNDescriptor : NSObject <NSCopying> {
 @package
  void* _impl;
}

/// Runs backwards in time; each result stays at its step. Ignored when bidirectional.
@property(nonatomic, readwrite) BOOL reverse;

/// Runs both directions; the states of the forward direction, then those of the backward direction, lie side by side.
@property(nonatomic, readwrite) BOOL bidirectional;

/// Also returns the values that the gradient methods need.
@property(nonatomic, readwrite) BOOL training;

/// Relu by default.
@property(nonatomic, readwrite) MPSGraphRNNActivation activation;

+ (instancetype _Nullable)descriptor;

@end

/// Options of an LSTM. Flags are NO by default.
@interface MPSGraphLSTMDescriptor : NSObject <NSCopying> {
 @package
  void* _impl;
}

/// Runs backwards in time; each result stays at its step. Ignored when bidirectional.
@property(nonatomic, readwrite) BOOL reverse;

/// Runs both directions; the states of the forward direction, then those of the backward direction, lie side by side.
@property(nonatomic, readwrite) BOOL bidirectional;

/// Also returns the cells; training returns them anyway.
@property(nonatomic, readwrite) BOOL produceCell;

/// Also returns the values that the gradient methods need.
@property(nonatomic, readwrite) BOOL training;

/// Orders the gates input, cell, forget, output instead of input, forget, cell, output.
@property(nonatomic, readwrite) BOOL forgetGateLast;

/// Sigmoid by default.
@property(nonatomic, readwrite) MPSGraphRNNActivation inputGateActivation;

/// Sigmoid by default.
@property(nonatomic, readwrite) MPSGraphRNNActivation forgetGateActivation;

/// Tanh by default.
@property(nonatomic, readwrite) MPSGraphRNNActivation cellGateActivation;

/// Sigmoid by default.
@property(nonatomic, readwrite) MPSGraphRNNActivation outputGateActivation;

/// The function from the cell to the state; Tanh by default.
@property(nonatomic, readwrite) MPSGraphRNNActivation activation;

+ (instancetype _Nullable)descriptor;

@end

/// Options of a GRU. Flags are NO by default.
@interface MPSGraphGRUDescriptor : NSObject <NSCopying> {
 @package
  void* _impl;
}

/// Runs backwards in time; each result stays at its step. Ignored when bidirectional.
@property(nonatomic, readwrite) BOOL reverse;

/// Runs both directions; the states of the forward direction, then those of the backward direction, lie side by side.
@property(nonatomic, readwrite) BOOL bidirectional;

/// Also returns the values that the gradient methods need.
@property(nonatomic, readwrite) BOOL training;

/// Orders the gates reset, update, output instead of update, reset, output.
@property(nonatomic, readwrite) BOOL resetGateFirst;

/// Applies the reset gate to the product of state and weights instead of the state.
@property(nonatomic, readwrite) BOOL resetAfter;

/// The update gate weighs the new state instead of the old one.
@property(nonatomic, readwrite) BOOL flipZ;

/// Sigmoid by default.
@property(nonatomic, readwrite) MPSGraphRNNActivation updateGateActivation;

/// Sigmoid by default.
@property(nonatomic, readwrite) MPSGraphRNNActivation resetGateActivation;

/// The function that gives the new state; Tanh by default.
@property(nonatomic, readwrite) MPSGraphRNNActivation outputGateActivation;

+ (instancetype _Nullable)descriptor;

@end

/// In a recurrent layer each step takes the state of the step before. The source is (time, batch, inputs), the states
/// are (time, batch, units). The recurrent weight is (gates * units, units), the input weight (gates * units, inputs),
/// the bias (gates * units). Without an input weight, the source is already the product with it: (time, batch, gates *
/// units). Initial states and cells are (batch, units), with or without leading dimensions of 1; nil means zeros. A
/// bidirectional layer's recurrent weight and peephole have a leading dimension of 2; all its other tensors hold both
/// directions side by side. A mask, which broadcasts to (batch, units), multiplies the state before the recurrent
/// weight does.
///
/// A gradient method takes the operands of the forward method, the gradient of its first result, and the values that
/// `training` makes it return. It returns the gradients of the given operands, in this order: source, recurrent weight,
/// input weight, bias, peephole, initial state, initial cell, secondary bias. `stateGradient` and `cellGradient` are
/// further gradients, of the state and the cell after the last step; their shape is that of an initial state.
@interface MPSGraph (MPSGraphRNNOps)

/// h = activation(source W^T + h R^T + bias). Returns the states; with training, also the sums before the activation.
- (NSArray<MPSGraphTensor*>*)singleGateRNNWithSourceTensor:(MPSGraphTensor*)source
                                           recurrentWeight:(MPSGraphTensor*)recurrentWeight
                                               inputWeight:(MPSGraphTensor* _Nullable)inputWeight
                                                      bias:(MPSGraphTensor* _Nullable)bias
                                                 initState:(MPSGraphTensor* _Nullable)initState
                                                      mask:(MPSGraphTensor* _Nullable)mask
                                                descriptor:(MPSGraphSingleGateRNNDescriptor*)descriptor
                                                      name:(NSString* _Nullable)name;

- (NSArray<MPSGraphTensor*>*)singleGateRNNWithSourceTensor:(MPSGraphTensor*)source
                                           recurrentWeight:(MPSGraphTensor*)recurrentWeight
                                               inputWeight:(MPSGraphTensor* _Nullable)inputWeight
                                                      bias:(MPSGraphTensor* _Nullable)bias
                                                 initState:(MPSGraphTensor* _Nullable)initState
                                                descriptor:(MPSGraphSingleGateRNNDescriptor*)descriptor
                                                      name:(NSString* _Nullable)name;

- (NSArray<MPSGraphTensor*>*)singleGateRNNWithSourceTensor:(MPSGraphTensor*)source
                                           recurrentWeight:(MPSGraphTensor*)recurrentWeight
                                                 initState:(MPSGraphTensor* _Nullable)initState
                                                descriptor:(MPSGraphSingleGateRNNDescriptor*)descriptor
                                                      name:(NSString* _Nullable)name;

/// Gradients of the layer of one gate.
- (NSArray<MPSGraphTensor*>*)singleGateRNNGradientsWithSourceTensor:(MPSGraphTensor*)source
                                                    recurrentWeight:(MPSGraphTensor*)recurrentWeight
                                                     sourceGradient:(MPSGraphTensor*)sourceGradient
                                                             zState:(MPSGraphTensor*)zState
                                                      stateGradient:(MPSGraphTensor* _Nullable)stateGradient
                                                        inputWeight:(MPSGraphTensor* _Nullable)inputWeight
                                                               bias:(MPSGraphTensor* _Nullable)bias
                                                          initState:(MPSGraphTensor* _Nullable)initState
                                                               mask:(MPSGraphTensor* _Nullable)mask
                                                         descriptor:(MPSGraphSingleGateRNNDescriptor*)descriptor
                                                               name:(NSString* _Nullable)name;

- (NSArray<MPSGraphTensor*>*)singleGateRNNGradientsWithSourceTensor:(MPSGraphTensor*)source
                                                    recurrentWeight:(MPSGraphTensor*)recurrentWeight
                                                     sourceGradient:(MPSGraphTensor*)sourceGradient
                                                             zState:(MPSGraphTensor*)zState
                                                        inputWeight:(MPSGraphTensor* _Nullable)inputWeight
                                                               bias:(MPSGraphTensor* _Nullable)bias
                                                          initState:(MPSGraphTensor* _Nullable)initState
                                                               mask:(MPSGraphTensor* _Nullable)mask
                                                         descriptor:(MPSGraphSingleGateRNNDescriptor*)descriptor
                                                               name:(NSString* _Nullable)name;

- (NSArray<MPSGraphTensor*>*)singleGateRNNGradientsWithSourceTensor:(MPSGraphTensor*)source
                                                    recurrentWeight:(MPSGraphTensor*)recurrentWeight
                                                     sourceGradient:(MPSGraphTensor*)sourceGradient
                                                             zState:(MPSGraphTensor*)zState
                                                        inputWeight:(MPSGraphTensor* _Nullable)inputWeight
                                                               bias:(MPSGraphTensor* _Nullable)bias
                                                          initState:(MPSGraphTensor* _Nullable)initState
                                                         descriptor:(MPSGraphSingleGateRNNDescriptor*)descriptor
                                                               name:(NSString* _Nullable)name;

- (NSArray<MPSGraphTensor*>*)singleGateRNNGradientsWithSourceTensor:(MPSGraphTensor*)source
                                                    recurrentWeight:(MPSGraphTensor*)recurrentWeight
                                                     sourceGradient:(MPSGraphTensor*)sourceGradient
                                                             zState:(MPSGraphTensor*)zState
                                                          initState:(MPSGraphTensor* _Nullable)initState
                                                         descriptor:(MPSGraphSingleGateRNNDescriptor*)descriptor
                                                               name:(NSString* _Nullable)name;

/// Returns the states, with produceCell or training the cells, and with training the gates. The peephole (4 * units),
/// in the order of the gates, multiplies the cell of the step before; the product is added to every gate.
- (NSArray<MPSGraphTensor*>*)LSTMWithSourceTensor:(MPSGraphTensor*)source
                                  recurrentWeight:(MPSGraphTensor*)recurrentWeight
                                      inputWeight:(MPSGraphTensor* _Nullable)inputWeight
                                             bias:(MPSGraphTensor* _Nullable)bias
                                        initState:(MPSGraphTensor* _Nullable)initState
                                         initCell:(MPSGraphTensor* _Nullable)initCell
                                             mask:(MPSGraphTensor* _Nullable)mask
                                         peephole:(MPSGraphTensor* _Nullable)peephole
                                       descriptor:(MPSGraphLSTMDescriptor*)descriptor
                                             name:(NSString* _Nullable)name;

- (NSArray<MPSGraphTensor*>*)LSTMWithSourceTensor:(MPSGraphTensor*)source
                                  recurrentWeight:(MPSGraphTensor*)recurrentWeight
                                      inputWeight:(MPSGraphTensor* _Nullable)inputWeight
                                             bias:(MPSGraphTensor* _Nullable)bias
                                        initState:(MPSGraphTensor* _Nullable)initState
                                         initCell:(MPSGraphTensor* _Nullable)initCell
                                       descriptor:(MPSGraphLSTMDescriptor*)descriptor
                                             name:(NSString* _Nullable)name;

- (NSArray<MPSGraphTensor*>*)LSTMWithSourceTensor:(MPSGraphTensor*)source
                                  recurrentWeight:(MPSGraphTensor*)recurrentWeight
                                        initState:(MPSGraphTensor* _Nullable)initState
                                         initCell:(MPSGraphTensor* _Nullable)initCell
                                       descriptor:(MPSGraphLSTMDescriptor*)descriptor
                                             name:(NSString* _Nullable)name;

/// Gradients of the LSTM. `zState` holds its gates, `cellOutputFwd` its cells.
- (NSArray<MPSGraphTensor*>*)LSTMGradientsWithSourceTensor:(MPSGraphTensor*)source
                                           recurrentWeight:(MPSGraphTensor*)recurrentWeight
                                            sourceGradient:(MPSGraphTensor*)sourceGradient
                                                    zState:(MPSGraphTensor*)zState
                                             cellOutputFwd:(MPSGraphTensor*)cellOutputFwd
                                             stateGradient:(MPSGraphTensor* _Nullable)stateGradient
                                              cellGradient:(MPSGraphTensor* _Nullable)cellGradient
                                               inputWeight:(MPSGraphTensor* _Nullable)inputWeight
                                                      bias:(MPSGraphTensor* _Nullable)bias
                                                 initState:(MPSGraphTensor* _Nullable)initState
                                                  initCell:(MPSGraphTensor* _Nullable)initCell
                                                      mask:(MPSGraphTensor* _Nullable)mask
                                                  peephole:(MPSGraphTensor* _Nullable)peephole
                                                descriptor:(MPSGraphLSTMDescriptor*)descriptor
                                                      name:(NSString* _Nullable)name;

- (NSArray<MPSGraphTensor*>*)LSTMGradientsWithSourceTensor:(MPSGraphTensor*)source
                                           recurrentWeight:(MPSGraphTensor*)recurrentWeight
                                            sourceGradient:(MPSGraphTensor*)sourceGradient
                                                    zState:(MPSGraphTensor*)zState
                                             cellOutputFwd:(MPSGraphTensor*)cellOutputFwd
                                               inputWeight:(MPSGraphTensor* _Nullable)inputWeight
                                                      bias:(MPSGraphTensor* _Nullable)bias
                                                 initState:(MPSGraphTensor* _Nullable)initState
                                                  initCell:(MPSGraphTensor* _Nullable)initCell
                                                      mask:(MPSGraphTensor* _Nullable)mask
                                                descriptor:(MPSGraphLSTMDescriptor*)descriptor
                                                      name:(NSString* _Nullable)name;

- (NSArray<MPSGraphTensor*>*)LSTMGradientsWithSourceTensor:(MPSGraphTensor*)source
                                           recurrentWeight:(MPSGraphTensor*)recurrentWeight
                                            sourceGradient:(MPSGraphTensor*)sourceGradient
                                                    zState:(MPSGraphTensor*)zState
                                             cellOutputFwd:(MPSGraphTensor*)cellOutputFwd
                                               inputWeight:(MPSGraphTensor* _Nullable)inputWeight
                                                      bias:(MPSGraphTensor* _Nullable)bias
                                                 initState:(MPSGraphTensor* _Nullable)initState
                                                  initCell:(MPSGraphTensor* _Nullable)initCell
                                                descriptor:(MPSGraphLSTMDescriptor*)descriptor
                                                      name:(NSString* _Nullable)name;

- (NSArray<MPSGraphTensor*>*)LSTMGradientsWithSourceTensor:(MPSGraphTensor*)source
                                           recurrentWeight:(MPSGraphTensor*)recurrentWeight
                                            sourceGradient:(MPSGraphTensor*)sourceGradient
                                                    zState:(MPSGraphTensor*)zState
                                             cellOutputFwd:(MPSGraphTensor*)cellOutputFwd
                                                descriptor:(MPSGraphLSTMDescriptor*)descriptor
                                                      name:(NSString* _Nullable)name;

/// Returns the states; with training, also the sums of the gates, (time, batch, 3 * units), or 4 * units with
/// resetAfter. The secondary bias (units), which needs resetAfter, is added to the product of state and weights for the
/// output gate.
- (NSArray<MPSGraphTensor*>*)GRUWithSourceTensor:(MPSGraphTensor*)source
                                 recurrentWeight:(MPSGraphTensor*)recurrentWeight
                                     inputWeight:(MPSGraphTensor* _Nullable)inputWeight
                                            bias:(MPSGraphTensor* _Nullable)bias
                                       initState:(MPSGraphTensor* _Nullable)initState
                                            mask:(MPSGraphTensor* _Nullable)mask
                                   secondaryBias:(MPSGraphTensor* _Nullable)secondaryBias
                                      descriptor:(MPSGraphGRUDescriptor*)descriptor
                                            name:(NSString* _Nullable)name;

- (NSArray<MPSGraphTensor*>*)GRUWithSourceTensor:(MPSGraphTensor*)source
                                 recurrentWeight:(MPSGraphTensor*)recurrentWeight
                                     inputWeight:(MPSGraphTensor* _Nullable)inputWeight
                                            bias:(MPSGraphTensor* _Nullable)bias
                                       initState:(MPSGraphTensor* _Nullable)initState
                                      descriptor:(MPSGraphGRUDescriptor*)descriptor
                                            name:(NSString* _Nullable)name;

- (NSArray<MPSGraphTensor*>*)GRUWithSourceTensor:(MPSGraphTensor*)source
                                 recurrentWeight:(MPSGraphTensor*)recurrentWeight
                                     inputWeight:(MPSGraphTensor* _Nullable)inputWeight
                                            bias:(MPSGraphTensor* _Nullable)bias
                                      descriptor:(MPSGraphGRUDescriptor*)descriptor
                                            name:(NSString* _Nullable)name;

/// Gradients of the GRU. `outputFwd` holds its states.
- (NSArray<MPSGraphTensor*>*)GRUGradientsWithSourceTensor:(MPSGraphTensor*)source
                                          recurrentWeight:(MPSGraphTensor*)recurrentWeight
                                           sourceGradient:(MPSGraphTensor*)sourceGradient
                                                   zState:(MPSGraphTensor*)zState
                                                outputFwd:(MPSGraphTensor*)outputFwd
                                            stateGradient:(MPSGraphTensor* _Nullable)stateGradient
                                              inputWeight:(MPSGraphTensor* _Nullable)inputWeight
                                                     bias:(MPSGraphTensor* _Nullable)bias
                                                initState:(MPSGraphTensor* _Nullable)initState
                                                     mask:(MPSGraphTensor* _Nullable)mask
                                            secondaryBias:(MPSGraphTensor* _Nullable)secondaryBias
                                               descriptor:(MPSGraphGRUDescriptor*)descriptor
                                                     name:(NSString* _Nullable)name;

- (NSArray<MPSGraphTensor*>*)GRUGradientsWithSourceTensor:(MPSGraphTensor*)source
                                          recurrentWeight:(MPSGraphTensor*)recurrentWeight
                                           sourceGradient:(MPSGraphTensor*)sourceGradient
                                                   zState:(MPSGraphTensor*)zState
                                                outputFwd:(MPSGraphTensor*)outputFwd
                                              inputWeight:(MPSGraphTensor* _Nullable)inputWeight
                                                     bias:(MPSGraphTensor* _Nullable)bias
                                                initState:(MPSGraphTensor* _Nullable)initState
                                               descriptor:(MPSGraphGRUDescriptor*)descriptor
                                                     name:(NSString* _Nullable)name;

- (NSArray<MPSGraphTensor*>*)GRUGradientsWithSourceTensor:(MPSGraphTensor*)source
                                          recurrentWeight:(MPSGraphTensor*)recurrentWeight
                                           sourceGradient:(MPSGraphTensor*)sourceGradient
                                                   zState:(MPSGraphTensor*)zState
                                                outputFwd:(MPSGraphTensor*)outputFwd
                                              inputWeight:(MPSGraphTensor* _Nullable)inputWeight
                                                     bias:(MPSGraphTensor* _Nullable)bias
                                               descriptor:(MPSGraphGRUDescriptor*)descriptor
                                                     name:(NSString* _Nullable)name;

@end

NS_ASSUME_NONNULL_END

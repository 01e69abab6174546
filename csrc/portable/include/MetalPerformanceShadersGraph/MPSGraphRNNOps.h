// Recurrent cells over sequences and their gradients.
#pragma once

#import <MetalPerformanceShadersGraph/MPSGraph.h>

NS_ASSUME_NONNULL_BEGIN

/// What a gate does with its sum. HardSigmoid is 0.2 x + 0.5, held between 0 and 1.
typedef NS_ENUM(NSUInteger, MPSGraphRNNActivation) {
  MPSGraphRNNActivationNone = 0,
  MPSGraphRNNActivationRelu = 1,
  MPSGraphRNNActivationTanh = 2,
  MPSGraphRNNActivationSigmoid = 3,
  MPSGraphRNNActivationHardSigmoid = 4,
};

/// How a cell of a single gate runs. Flags are NO at first.
@interface MPSGraphSingleGateRNNDescriptor : NSObject <NSCopying> {
 @package
  void* _impl;
}

/// Runs time backwards; results stay at their place in time. Ignored when bidirectional.
@property(nonatomic, readwrite) BOOL reverse;

/// Both directions; states of the forward direction, then of the backward one, stand side by side.
@property(nonatomic, readwrite) BOOL bidirectional;

/// Returns what the gradient selectors need, too.
@property(nonatomic, readwrite) BOOL training;

/// Relu at first.
@property(nonatomic, readwrite) MPSGraphRNNActivation activation;

+ (instancetype _Nullable)descriptor;

@end

/// How an LSTM runs. Flags are NO at first.
@interface MPSGraphLSTMDescriptor : NSObject <NSCopying> {
 @package
  void* _impl;
}

/// Runs time backwards; results stay at their place in time. Ignored when bidirectional.
@property(nonatomic, readwrite) BOOL reverse;

/// Both directions; states of the forward direction, then of the backward one, stand side by side.
@property(nonatomic, readwrite) BOOL bidirectional;

/// Returns the cells, too; training does so anyway.
@property(nonatomic, readwrite) BOOL produceCell;

/// Returns what the gradient selectors need, too.
@property(nonatomic, readwrite) BOOL training;

/// The gates stand in the order input, cell, forget, output rather than input, forget, cell, output.
@property(nonatomic, readwrite) BOOL forgetGateLast;

/// Sigmoid at first.
@property(nonatomic, readwrite) MPSGraphRNNActivation inputGateActivation;

/// Sigmoid at first.
@property(nonatomic, readwrite) MPSGraphRNNActivation forgetGateActivation;

/// Tanh at first.
@property(nonatomic, readwrite) MPSGraphRNNActivation cellGateActivation;

/// Sigmoid at first.
@property(nonatomic, readwrite) MPSGraphRNNActivation outputGateActivation;

/// Of the cell on its way to the state; Tanh at first.
@property(nonatomic, readwrite) MPSGraphRNNActivation activation;

+ (instancetype _Nullable)descriptor;

@end

/// How a GRU runs. Flags are NO at first.
@interface MPSGraphGRUDescriptor : NSObject <NSCopying> {
 @package
  void* _impl;
}

/// Runs time backwards; results stay at their place in time. Ignored when bidirectional.
@property(nonatomic, readwrite) BOOL reverse;

/// Both directions; states of the forward direction, then of the backward one, stand side by side.
@property(nonatomic, readwrite) BOOL bidirectional;

/// Returns what the gradient selectors need, too.
@property(nonatomic, readwrite) BOOL training;

/// The gates stand in the order reset, update, output rather than update, reset, output.
@property(nonatomic, readwrite) BOOL resetGateFirst;

/// Applies the reset gate to the product of state and weights rather than to the state.
@property(nonatomic, readwrite) BOOL resetAfter;

/// The update gate is the share of the new state rather than of the old one.
@property(nonatomic, readwrite) BOOL flipZ;

/// Sigmoid at first.
@property(nonatomic, readwrite) MPSGraphRNNActivation updateGateActivation;

/// Sigmoid at first.
@property(nonatomic, readwrite) MPSGraphRNNActivation resetGateActivation;

/// Of the new state; Tanh at first.
@property(nonatomic, readwrite) MPSGraphRNNActivation outputGateActivation;

+ (instancetype _Nullable)descriptor;

@end

/// Cells of which every step takes the state of the step before. The source is (time, batch, inputs), and the states
/// are (time, batch, units). The recurrent weight is (gates * units, units), the input weight (gates * units, inputs),
/// the bias (gates * units). Without an input weight the source is (time, batch, gates * units), what it would have
/// made. First states and cells are (batch, units), zeros if nil; leading dimensions of 1 may stand before them.
/// Bidirectional, the recurrent weight and the peephole have a leading 2, and everything else has both directions side
/// by side. A mask multiplies the state before the recurrent weight does; it broadcasts to (batch, units).
///
/// A gradient selector is given what the forward one was, the gradient of its first result, and what `training` made
/// it return. It returns the gradients of those of these operands that are there, in this order: source, recurrent
/// weight, input weight, bias, peephole, first state, first cell, secondary bias. `stateGradient` and `cellGradient`
/// are gradients of the state and the cell after the last step, of the shape of a first state, which come in addition.
@interface MPSGraph (MPSGraphRNNOps)

/// h = activation(source W^T + h R^T + bias): the states, and with training their sums.
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

/// Gradients of the single gate.
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

/// The states, then the cells with produceCell or training, then the gates with training. The peephole (4 * units), in
/// the order of the gates, times the cell before is added to every gate.
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

/// Gradients of the LSTM. `zState` are its gates, `cellOutputFwd` its cells.
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

/// The states, and with training the sums of the gates. The secondary bias (units) is added to the state's part of the
/// output gate, with resetAfter only. The training state is (time, batch, 3 * units), with resetAfter 4 * units.
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

/// Gradients of the GRU. `outputFwd` are its states.
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

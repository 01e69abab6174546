// Recurrent layers and their gradients.

#include "facade/ops/recurrent/recurrent.h"
#include "ir/rules/recurrence.h"

using namespace alloy;
using namespace alloy::facade;
namespace ir = alloy::ir;
using ir::Attr;
using ir::OpCode;

namespace alloy::facade {

MPSGraphRNNActivation checked_activation(MPSGraphRNNActivation activation, NSString* field) {
  if (activation <= MPSGraphRNNActivationHardSigmoid) return activation;
  raise_invalid(@"[%@] Activation %lu is not one of the enumeration.", field, static_cast<unsigned long>(activation));
}

}  // namespace alloy::facade

namespace {

// The operands of a method; absent ones are nil.
struct Operands {
  MPSGraphTensor *source, *recurrentWeight, *inputWeight, *bias, *initState, *initCell, *mask, *peephole,
      *secondaryBias;
};

// The further operands of a gradient method.
struct Incoming {
  MPSGraphTensor *gradient, *state, *cells, *states, *lastState, *lastCell;
};

ir::Expr optional(MPSGraph* graph, MPSGraphTensor* tensor) { return tensor == nil ? ir::none : expr_of(graph, tensor); }

ir::Recurrence recurrence(MPSGraph* graph, OpCode code, const Operands& given, const RecurrentFields& fields) {
  ir::Recurrence r;
  ir::Dims activations;
  for (MPSGraphRNNActivation activation : fields.activations) activations.push_back(static_cast<int64_t>(activation));
  r.cell.code = code;
  r.cell.attributes = {{Attr::kActivations, activations}, {Attr::kReverse, fields.reverse != NO}};
  if (code == OpCode::gru) {
    r.cell.attributes.set(Attr::kResetAfter, fields.resetAfter != NO);
    r.cell.attributes.set(Attr::kFlipZ, fields.flipZ != NO);
  }
  r.cell.weights = expr_of(graph, given.recurrentWeight);
  r.cell.state = optional(graph, given.initState);
  r.cell.cell = optional(graph, given.initCell);
  r.cell.mask = optional(graph, given.mask);
  r.cell.peephole = optional(graph, given.peephole);
  if (fields.resetAfter) r.cell.secondary_bias = optional(graph, given.secondaryBias);
  r.source = expr_of(graph, given.source);
  r.input_weights = optional(graph, given.inputWeight);
  r.bias = optional(graph, given.bias);
  r.bidirectional = fields.bidirectional != NO;
  r.swapped_gate = fields.forgetGateLast ? 1 : fields.resetGateFirst ? 0 : -1;
  return r;
}

NSArray<MPSGraphTensor*>* run(MPSGraph* graph, OpCode code, const Operands& given, const RecurrentFields& fields,
                              NSString* name) {
  const ir::Recurrence r = recurrence(graph, code, given, fields);
  const bool training = fields.training != NO;
  NSArray<MPSGraphTensor*>* results = compose_all(graph, name, [&] { return r.run(training); });
  const bool leaves_out_cells = code == OpCode::lstm && !training && !fields.produceCell;
  return leaves_out_cells ? [results subarrayWithRange:NSMakeRange(0, 1)] : results;
}

NSArray<MPSGraphTensor*>* gradients(MPSGraph* graph, OpCode code, const Operands& given, const Incoming& incoming,
                                    const RecurrentFields& fields, NSString* name) {
  const ir::Recurrence r = recurrence(graph, code, given, fields);
  const ir::CellResults results{optional(graph, incoming.states), optional(graph, incoming.cells),
                                expr_of(graph, incoming.state), expr_of(graph, incoming.gradient), ir::none};
  const ir::Expr last_state = optional(graph, incoming.lastState), last_cell = optional(graph, incoming.lastCell);
  return compose_all(graph, name, [&] { return r.gradients(results, last_state, last_cell); });
}

}  // namespace

@implementation MPSGraph (MPSGraphRNNOps)

- (NSArray<MPSGraphTensor*>*)singleGateRNNWithSourceTensor:(MPSGraphTensor*)source
                                           recurrentWeight:(MPSGraphTensor*)recurrentWeight
                                               inputWeight:(MPSGraphTensor*)inputWeight
                                                      bias:(MPSGraphTensor*)bias
                                                 initState:(MPSGraphTensor*)initState
                                                      mask:(MPSGraphTensor*)mask
                                                descriptor:(MPSGraphSingleGateRNNDescriptor*)descriptor
                                                      name:(NSString*)name {
  return run(self, OpCode::rnn, {source, recurrentWeight, inputWeight, bias, initState, nil, mask, nil, nil},
             fields_of(descriptor), name);
}

FORWARD(NSArray<MPSGraphTensor*>*, passes(singleGateRNNWithSourceTensor), passes(recurrentWeight), passes(inputWeight),
        passes(bias), passes(initState), sends(mask, nil), passes(descriptor), passes(name))

FORWARD(NSArray<MPSGraphTensor*>*, passes(singleGateRNNWithSourceTensor), passes(recurrentWeight),
        sends(inputWeight, nil), sends(bias, nil), passes(initState), sends(mask, nil), passes(descriptor),
        passes(name))

- (NSArray<MPSGraphTensor*>*)singleGateRNNGradientsWithSourceTensor:(MPSGraphTensor*)source
                                                    recurrentWeight:(MPSGraphTensor*)recurrentWeight
                                                     sourceGradient:(MPSGraphTensor*)sourceGradient
                                                             zState:(MPSGraphTensor*)zState
                                                      stateGradient:(MPSGraphTensor*)stateGradient
                                                        inputWeight:(MPSGraphTensor*)inputWeight
                                                               bias:(MPSGraphTensor*)bias
                                                          initState:(MPSGraphTensor*)initState
                                                               mask:(MPSGraphTensor*)mask
                                                         descriptor:(MPSGraphSingleGateRNNDescriptor*)descriptor
                                                               name:(NSString*)name {
  return gradients(self, OpCode::rnn, {source, recurrentWeight, inputWeight, bias, initState, nil, mask, nil, nil},
                   {sourceGradient, zState, nil, nil, stateGradient, nil}, fields_of(descriptor), name);
}

FORWARD(NSArray<MPSGraphTensor*>*, passes(singleGateRNNGradientsWithSourceTensor), passes(recurrentWeight),
        passes(sourceGradient), passes(zState), sends(stateGradient, nil), passes(inputWeight), passes(bias),
        passes(initState), passes(mask), passes(descriptor), passes(name))

FORWARD(NSArray<MPSGraphTensor*>*, passes(singleGateRNNGradientsWithSourceTensor), passes(recurrentWeight),
        passes(sourceGradient), passes(zState), sends(stateGradient, nil), passes(inputWeight), passes(bias),
        passes(initState), sends(mask, nil), passes(descriptor), passes(name))

FORWARD(NSArray<MPSGraphTensor*>*, passes(singleGateRNNGradientsWithSourceTensor), passes(recurrentWeight),
        passes(sourceGradient), passes(zState), sends(stateGradient, nil), sends(inputWeight, nil), sends(bias, nil),
        passes(initState), sends(mask, nil), passes(descriptor), passes(name))

- (NSArray<MPSGraphTensor*>*)LSTMWithSourceTensor:(MPSGraphTensor*)source
                                  recurrentWeight:(MPSGraphTensor*)recurrentWeight
                                      inputWeight:(MPSGraphTensor*)inputWeight
                                             bias:(MPSGraphTensor*)bias
                                        initState:(MPSGraphTensor*)initState
                                         initCell:(MPSGraphTensor*)initCell
                                             mask:(MPSGraphTensor*)mask
                                         peephole:(MPSGraphTensor*)peephole
                                       descriptor:(MPSGraphLSTMDescriptor*)descriptor
                                             name:(NSString*)name {
  return run(self, OpCode::lstm, {source, recurrentWeight, inputWeight, bias, initState, initCell, mask, peephole, nil},
             fields_of(descriptor), name);
}

FORWARD(NSArray<MPSGraphTensor*>*, passes(LSTMWithSourceTensor), passes(recurrentWeight), passes(inputWeight),
        passes(bias), passes(initState), passes(initCell), sends(mask, nil), sends(peephole, nil), passes(descriptor),
        passes(name))

FORWARD(NSArray<MPSGraphTensor*>*, passes(LSTMWithSourceTensor), passes(recurrentWeight), sends(inputWeight, nil),
        sends(bias, nil), passes(initState), passes(initCell), sends(mask, nil), sends(peephole, nil),
        passes(descriptor), passes(name))

- (NSArray<MPSGraphTensor*>*)LSTMGradientsWithSourceTensor:(MPSGraphTensor*)source
                                           recurrentWeight:(MPSGraphTensor*)recurrentWeight
                                            sourceGradient:(MPSGraphTensor*)sourceGradient
                                                    zState:(MPSGraphTensor*)zState
                                             cellOutputFwd:(MPSGraphTensor*)cellOutputFwd
                                             stateGradient:(MPSGraphTensor*)stateGradient
                                              cellGradient:(MPSGraphTensor*)cellGradient
                                               inputWeight:(MPSGraphTensor*)inputWeight
                                                      bias:(MPSGraphTensor*)bias
                                                 initState:(MPSGraphTensor*)initState
                                                  initCell:(MPSGraphTensor*)initCell
                                                      mask:(MPSGraphTensor*)mask
                                                  peephole:(MPSGraphTensor*)peephole
                                                descriptor:(MPSGraphLSTMDescriptor*)descriptor
                                                      name:(NSString*)name {
  return gradients(
      self, OpCode::lstm, {source, recurrentWeight, inputWeight, bias, initState, initCell, mask, peephole, nil},
      {sourceGradient, zState, cellOutputFwd, nil, stateGradient, cellGradient}, fields_of(descriptor), name);
}

FORWARD(NSArray<MPSGraphTensor*>*, passes(LSTMGradientsWithSourceTensor), passes(recurrentWeight),
        passes(sourceGradient), passes(zState), passes(cellOutputFwd), sends(stateGradient, nil),
        sends(cellGradient, nil), passes(inputWeight), passes(bias), passes(initState), passes(initCell), passes(mask),
        sends(peephole, nil), passes(descriptor), passes(name))

FORWARD(NSArray<MPSGraphTensor*>*, passes(LSTMGradientsWithSourceTensor), passes(recurrentWeight),
        passes(sourceGradient), passes(zState), passes(cellOutputFwd), sends(stateGradient, nil),
        sends(cellGradient, nil), passes(inputWeight), passes(bias), passes(initState), passes(initCell),
        sends(mask, nil), sends(peephole, nil), passes(descriptor), passes(name))

FORWARD(NSArray<MPSGraphTensor*>*, passes(LSTMGradientsWithSourceTensor), passes(recurrentWeight),
        passes(sourceGradient), passes(zState), passes(cellOutputFwd), sends(stateGradient, nil),
        sends(cellGradient, nil), sends(inputWeight, nil), sends(bias, nil), sends(initState, nil),
        sends(initCell, nil), sends(mask, nil), sends(peephole, nil), passes(descriptor), passes(name))

- (NSArray<MPSGraphTensor*>*)GRUWithSourceTensor:(MPSGraphTensor*)source
                                 recurrentWeight:(MPSGraphTensor*)recurrentWeight
                                     inputWeight:(MPSGraphTensor*)inputWeight
                                            bias:(MPSGraphTensor*)bias
                                       initState:(MPSGraphTensor*)initState
                                            mask:(MPSGraphTensor*)mask
                                   secondaryBias:(MPSGraphTensor*)secondaryBias
                                      descriptor:(MPSGraphGRUDescriptor*)descriptor
                                            name:(NSString*)name {
  return run(self, OpCode::gru, {source, recurrentWeight, inputWeight, bias, initState, nil, mask, nil, secondaryBias},
             fields_of(descriptor), name);
}

FORWARD(NSArray<MPSGraphTensor*>*, passes(GRUWithSourceTensor), passes(recurrentWeight), passes(inputWeight),
        passes(bias), passes(initState), sends(mask, nil), sends(secondaryBias, nil), passes(descriptor), passes(name))

FORWARD(NSArray<MPSGraphTensor*>*, passes(GRUWithSourceTensor), passes(recurrentWeight), passes(inputWeight),
        passes(bias), sends(initState, nil), sends(mask, nil), sends(secondaryBias, nil), passes(descriptor),
        passes(name))

- (NSArray<MPSGraphTensor*>*)GRUGradientsWithSourceTensor:(MPSGraphTensor*)source
                                          recurrentWeight:(MPSGraphTensor*)recurrentWeight
                                           sourceGradient:(MPSGraphTensor*)sourceGradient
                                                   zState:(MPSGraphTensor*)zState
                                                outputFwd:(MPSGraphTensor*)outputFwd
                                            stateGradient:(MPSGraphTensor*)stateGradient
                                              inputWeight:(MPSGraphTensor*)inputWeight
                                                     bias:(MPSGraphTensor*)bias
                                                initState:(MPSGraphTensor*)initState
                                                     mask:(MPSGraphTensor*)mask
                                            secondaryBias:(MPSGraphTensor*)secondaryBias
                                               descriptor:(MPSGraphGRUDescriptor*)descriptor
                                                     name:(NSString*)name {
  return gradients(self, OpCode::gru,
                   {source, recurrentWeight, inputWeight, bias, initState, nil, mask, nil, secondaryBias},
                   {sourceGradient, zState, nil, outputFwd, stateGradient, nil}, fields_of(descriptor), name);
}

FORWARD(NSArray<MPSGraphTensor*>*, passes(GRUGradientsWithSourceTensor), passes(recurrentWeight),
        passes(sourceGradient), passes(zState), passes(outputFwd), sends(stateGradient, nil), passes(inputWeight),
        passes(bias), passes(initState), sends(mask, nil), sends(secondaryBias, nil), passes(descriptor), passes(name))

FORWARD(NSArray<MPSGraphTensor*>*, passes(GRUGradientsWithSourceTensor), passes(recurrentWeight),
        passes(sourceGradient), passes(zState), passes(outputFwd), sends(stateGradient, nil), passes(inputWeight),
        passes(bias), sends(initState, nil), sends(mask, nil), sends(secondaryBias, nil), passes(descriptor),
        passes(name))

@end

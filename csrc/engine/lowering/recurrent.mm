// Recurrent layers and their gradients. From Apple's gradient methods, only the gradients to the sums and to the
// initial states are used. The gradients to weights and biases are products and sums in ops of their own.
//
// A public program reports that Apple's automatic gradient of a GRU is wrong, and another one trains with the explicit
// gradient method, so the explicit methods are used. Of the values that they keep from the forward pass, only the reset
// gate's sums are read here. That these are the second block is reported, not documented.

#import "engine/lowering/ops.h"
#import "engine/lowering/state.h"

namespace alloy::engine {
namespace {

using ir::Attr;
using ir::Op;

MPSGraphRNNActivation activation(const Op& op, int64_t i) {
  return static_cast<MPSGraphRNNActivation>(op.attributes.ints(Attr::kActivations)[i]);
}

BOOL flag(const Op& op, Attr attr) { return op.attributes.flag(attr) ? YES : NO; }

MPSGraphSingleGateRNNDescriptor* rnn_descriptor(const Op& op) {
  MPSGraphSingleGateRNNDescriptor* d = [MPSGraphSingleGateRNNDescriptor descriptor];
  [d setReverse:flag(op, Attr::kReverse)];
  [d setTraining:flag(op, Attr::kTraining)];
  [d setActivation:activation(op, 0)];
  return d;
}

// Cells are requested only when needed: some drivers end the process when cells are used.
MPSGraphLSTMDescriptor* lstm_descriptor(const Op& op, bool gives_cells) {
  MPSGraphLSTMDescriptor* d = [MPSGraphLSTMDescriptor descriptor];
  [d setReverse:flag(op, Attr::kReverse)];
  [d setTraining:flag(op, Attr::kTraining)];
  [d setProduceCell:gives_cells ? YES : NO];
  [d setInputGateActivation:activation(op, 0)];
  [d setForgetGateActivation:activation(op, 1)];
  [d setCellGateActivation:activation(op, 2)];
  [d setOutputGateActivation:activation(op, 3)];
  [d setActivation:activation(op, 4)];
  return d;
}

MPSGraphGRUDescriptor* gru_descriptor(const Op& op) {
  MPSGraphGRUDescriptor* d = [MPSGraphGRUDescriptor descriptor];
  [d setReverse:flag(op, Attr::kReverse)];
  [d setTraining:flag(op, Attr::kTraining)];
  [d setResetAfter:flag(op, Attr::kResetAfter)];
  [d setFlipZ:flag(op, Attr::kFlipZ)];
  [d setUpdateGateActivation:activation(op, 0)];
  [d setResetGateActivation:activation(op, 1)];
  [d setOutputGateActivation:activation(op, 2)];
  return d;
}

// Takes an op's optional operands, from operand `next` on, in order, as its flags name them.
class Operands {
 public:
  Operands(const Lowering& lowering, const Op& op, size_t next) : lowering_(lowering), op_(op), next_(next) {}
  MPSGraphTensor* take(Attr attr) { return op_.attributes.flag(attr) ? lowering_.x(op_, next_++) : nil; }

 private:
  const Lowering& lowering_;
  const Op& op_;
  size_t next_;
};

}  // namespace

Nodes lower_rnn(Lowering& lowering, const Op& op, NSString* name) {
  return [lowering.graph() singleGateRNNWithSourceTensor:lowering.x(op)
                                         recurrentWeight:lowering.x(op, 1)
                                             inputWeight:nil
                                                    bias:nil
                                               initState:lowering.x(op, 2)
                                                    mask:Operands(lowering, op, 3).take(Attr::kMasked)
                                              descriptor:rnn_descriptor(op)
                                                    name:name];
}

Nodes lower_lstm(Lowering& lowering, const Op& op, NSString* name) {
  Operands rest(lowering, op, 4);
  MPSGraphTensor* mask = rest.take(Attr::kMasked);
  MPSGraphTensor* peephole = rest.take(Attr::kPeephole);
  return [lowering.graph() LSTMWithSourceTensor:lowering.x(op)
                                recurrentWeight:lowering.x(op, 1)
                                    inputWeight:nil
                                           bias:nil
                                      initState:lowering.x(op, 2)
                                       initCell:lowering.x(op, 3)
                                           mask:mask
                                       peephole:peephole
                                     descriptor:lstm_descriptor(op, lowering.is_used({const_cast<Op*>(&op), 1}))
                                           name:name];
}

Nodes lower_gru(Lowering& lowering, const Op& op, NSString* name) {
  Operands rest(lowering, op, 3);
  MPSGraphTensor* bias = rest.take(Attr::kResetAfter);
  MPSGraphTensor* mask = rest.take(Attr::kMasked);
  return [lowering.graph() GRUWithSourceTensor:lowering.x(op)
                               recurrentWeight:lowering.x(op, 1)
                                   inputWeight:nil
                                          bias:nil
                                     initState:lowering.x(op, 2)
                                          mask:mask
                                 secondaryBias:bias
                                    descriptor:gru_descriptor(op)
                                          name:name];
}

Nodes lower_rnn_gradient(Lowering& lowering, const Op& op, NSString* name) {
  MPSGraph* graph = lowering.graph();
  // Apple returns the gradient to the initial state only if there is one; its elements do not matter.
  MPSGraphTensor* first = zeros(lowering, op.results[1]);
  NSArray<MPSGraphTensor*>* all =
      [graph singleGateRNNGradientsWithSourceTensor:lowering.x(op, 1)
                                    recurrentWeight:lowering.x(op, 2)
                                     sourceGradient:lowering.x(op)
                                             zState:lowering.x(op, 1)
                                      stateGradient:nil
                                        inputWeight:nil
                                               bias:nil
                                          initState:first
                                               mask:Operands(lowering, op, 3).take(Attr::kMasked)
                                         descriptor:rnn_descriptor(op)
                                               name:name];
  return @[ [all objectAtIndex:0], [all objectAtIndex:2] ];
}

namespace {

// The tensors for the gradient of an LSTM, over the whole sequence or one step.
struct LstmPart {
  MPSGraphTensor *gradient, *gates, *cells, *first_cell, *last_state, *last_cell;
};

Nodes lstm_gradients(const Lowering& lowering, const Op& op, const LstmPart& part, NSString* name) {
  Operands rest(lowering, op, 5);
  MPSGraphTensor* mask = rest.take(Attr::kMasked);
  MPSGraphTensor* peephole = rest.take(Attr::kPeephole);
  NSArray<MPSGraphTensor*>* all = [lowering.graph() LSTMGradientsWithSourceTensor:part.gates
                                                                  recurrentWeight:lowering.x(op, 3)
                                                                   sourceGradient:part.gradient
                                                                           zState:part.gates
                                                                    cellOutputFwd:part.cells
                                                                    stateGradient:part.last_state
                                                                     cellGradient:part.last_cell
                                                                      inputWeight:nil
                                                                             bias:nil
                                                                        initState:part.first_cell
                                                                         initCell:part.first_cell
                                                                             mask:mask
                                                                         peephole:peephole
                                                                       descriptor:lstm_descriptor(op, true)
                                                                             name:name];
  const NSUInteger first = peephole == nil ? 2 : 3;
  return @[ [all objectAtIndex:0], [all objectAtIndex:first], [all objectAtIndex:first + 1] ];
}

// The framework accepts a gradient only for the last step's cell. With gradients to the cells of all steps, this
// computes the gradient step by step.
Nodes lstm_gradients_by_steps(const Lowering& lowering, const Op& op, NSString* name) {
  MPSGraph* graph = lowering.graph();
  const int64_t steps = op.operands[1].shape()[0];
  const bool reverse = op.attributes.flag(Attr::kReverse);
  const size_t cell_gradient = op.operands.size() - 1;
  const auto at = [&](size_t operand, int64_t time) {
    return slice_along(graph, lowering.shaped_x(op, operand), 0, time, 1).tensor;
  };
  const auto state = [&](MPSGraphTensor* x) {
    return [graph reshapeTensor:x withShape:mps_shape(op.results[1].shape) name:nil];
  };
  NSMutableArray* of_x = [NSMutableArray array];
  MPSGraphTensor *last_state = nil, *last_cell = nil;
  for (int64_t i = steps - 1; i >= 0; --i) {
    const int64_t time = reverse ? steps - 1 - i : i;
    MPSGraphTensor* own = state(at(cell_gradient, time));
    last_cell = last_cell == nil ? own : [graph additionWithPrimaryTensor:last_cell secondaryTensor:own name:nil];
    MPSGraphTensor* before = i == 0 ? lowering.x(op, 4) : state(at(2, reverse ? time + 1 : time - 1));
    const Nodes made =
        lstm_gradients(lowering, op, {at(0, time), at(1, time), at(2, time), before, last_state, last_cell}, nil);
    [of_x insertObject:[made.tensors objectAtIndex:0] atIndex:reverse ? [of_x count] : 0];
    last_state = [made.tensors objectAtIndex:1];
    last_cell = [made.tensors objectAtIndex:2];
  }
  return @[ [graph concatTensors:of_x dimension:0 name:name], last_state, last_cell ];
}

}  // namespace

Nodes lower_lstm_gradient(Lowering& lowering, const Op& op, NSString* name) {
  if (op.attributes.flag(Attr::kCellGradient)) return lstm_gradients_by_steps(lowering, op, name);
  return lstm_gradients(lowering, op,
                        {lowering.x(op), lowering.x(op, 1), lowering.x(op, 2), lowering.x(op, 4), nil, nil}, name);
}

Nodes lower_gru_gradient(Lowering& lowering, const Op& op, NSString* name) {
  const bool resets_after = op.attributes.flag(Attr::kResetAfter);
  MPSGraph* graph = lowering.graph();
  MPSGraphTensor* source = lowering.x(op, 1);
  if (resets_after) {  // keeps more than the sums of the gates
    source = slice_along(graph, lowering.shaped_x(op, 1), 2, 0, op.results[0].shape[2]).tensor;
  }
  NSArray<MPSGraphTensor*>* all = [graph GRUGradientsWithSourceTensor:source
                                                      recurrentWeight:lowering.x(op, 3)
                                                       sourceGradient:lowering.x(op)
                                                               zState:lowering.x(op, 1)
                                                            outputFwd:lowering.x(op, 2)
                                                        stateGradient:nil
                                                          inputWeight:nil
                                                                 bias:nil
                                                            initState:lowering.x(op, 4)
                                                                 mask:Operands(lowering, op, 5).take(Attr::kMasked)
                                                        secondaryBias:nil
                                                           descriptor:gru_descriptor(op)
                                                                 name:name];
  return @[ [all objectAtIndex:0], [all objectAtIndex:2] ];
}

}  // namespace alloy::engine

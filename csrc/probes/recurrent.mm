// Recurrent cells of one unit and two steps, and their gradients, as the engine computes them.
#include "question.h"

namespace alloy::probes {
namespace {

constexpr auto kSigmoid = MPSGraphRNNActivationSigmoid;
constexpr auto kTanh = MPSGraphRNNActivationTanh;

MPSGraphTensor* sums(Question& q, const std::vector<float>& values) {
  return q.feed(values, {2, 1, static_cast<long>(values.size()) / 2});
}
MPSGraphTensor* weights(Question& q, const std::vector<float>& values) {
  return q.feed(values, {static_cast<long>(values.size()), 1});
}
MPSGraphTensor* state(Question& q, float value) { return q.feed(std::vector<float>{value}, {1, 1}); }
MPSGraphTensor* ones(Question& q) { return q.feed(std::vector<float>{1, 1}, {2, 1, 1}); }

std::vector<MPSGraphTensor*> tensors(NSArray* first, NSArray* gradients, size_t from) {
  return {[first objectAtIndex:0], [gradients objectAtIndex:0], [gradients objectAtIndex:from]};
}

std::string rnn() {
  Question q;
  MPSGraphSingleGateRNNDescriptor* descriptor = [MPSGraphSingleGateRNNDescriptor descriptor];
  [descriptor setTraining:YES];
  [descriptor setActivation:kTanh];
  MPSGraphTensor *x = sums(q, {0.5f, -0.25f}), *w = weights(q, {0.5f}), *before = state(q, 0.25f);
  NSArray* made = [q.graph singleGateRNNWithSourceTensor:x
                                         recurrentWeight:w
                                             inputWeight:nil
                                                    bias:nil
                                               initState:before
                                                    mask:nil
                                              descriptor:descriptor
                                                    name:nil];
  NSArray* gradients = [q.graph singleGateRNNGradientsWithSourceTensor:[made objectAtIndex:1]
                                                       recurrentWeight:w
                                                        sourceGradient:ones(q)
                                                                zState:[made objectAtIndex:1]
                                                         stateGradient:nil
                                                           inputWeight:nil
                                                                  bias:nil
                                                             initState:before
                                                                  mask:nil
                                                            descriptor:descriptor
                                                                  name:nil];
  return q.values(tensors(made, gradients, 2));
}

std::string lstm() {
  Question q;
  MPSGraphLSTMDescriptor* descriptor = [MPSGraphLSTMDescriptor descriptor];
  [descriptor setTraining:YES];
  [descriptor setProduceCell:YES];
  [descriptor setInputGateActivation:kSigmoid];
  [descriptor setForgetGateActivation:kSigmoid];
  [descriptor setCellGateActivation:kTanh];
  [descriptor setOutputGateActivation:kSigmoid];
  [descriptor setActivation:kTanh];
  MPSGraphTensor *x = sums(q, {0.5f, -0.25f, 0.75f, 1, -0.5f, 0.25f, 0.5f, -1}),
                 *w = weights(q, {0.5f, -0.5f, 0.25f, 0.75f}), *before = state(q, 0.25f), *cell = state(q, 0.5f);
  NSArray* made = [q.graph LSTMWithSourceTensor:x
                                recurrentWeight:w
                                    inputWeight:nil
                                           bias:nil
                                      initState:before
                                       initCell:cell
                                           mask:nil
                                       peephole:nil
                                     descriptor:descriptor
                                           name:nil];
  NSArray* gradients = [q.graph LSTMGradientsWithSourceTensor:[made objectAtIndex:2]
                                              recurrentWeight:w
                                               sourceGradient:ones(q)
                                                       zState:[made objectAtIndex:2]
                                                cellOutputFwd:[made objectAtIndex:1]
                                                stateGradient:nil
                                                 cellGradient:nil
                                                  inputWeight:nil
                                                         bias:nil
                                                    initState:before
                                                     initCell:cell
                                                         mask:nil
                                                     peephole:nil
                                                   descriptor:descriptor
                                                         name:nil];
  std::vector<MPSGraphTensor*> all = tensors(made, gradients, 2);
  all.push_back([gradients objectAtIndex:3]);
  return q.values(all);
}

std::string gru() {
  Question q;
  MPSGraphGRUDescriptor* descriptor = [MPSGraphGRUDescriptor descriptor];
  [descriptor setTraining:YES];
  [descriptor setUpdateGateActivation:kSigmoid];
  [descriptor setResetGateActivation:kSigmoid];
  [descriptor setOutputGateActivation:kTanh];
  MPSGraphTensor *x = sums(q, {0.5f, -0.25f, 0.75f, -0.5f, 0.25f, 0.5f}), *w = weights(q, {0.5f, -0.5f, 0.25f}),
                 *before = state(q, 0.25f);
  NSArray* made = [q.graph GRUWithSourceTensor:x
                               recurrentWeight:w
                                   inputWeight:nil
                                          bias:nil
                                     initState:before
                                          mask:nil
                                 secondaryBias:nil
                                    descriptor:descriptor
                                          name:nil];
  NSArray* gradients = [q.graph GRUGradientsWithSourceTensor:[made objectAtIndex:1]
                                             recurrentWeight:w
                                              sourceGradient:ones(q)
                                                      zState:[made objectAtIndex:1]
                                                   outputFwd:[made objectAtIndex:0]
                                               stateGradient:nil
                                                 inputWeight:nil
                                                        bias:nil
                                                   initState:before
                                                        mask:nil
                                               secondaryBias:nil
                                                  descriptor:descriptor
                                                        name:nil];
  return q.values(tensors(made, gradients, 2));
}

constexpr Probe kRecurrentRows[] = {
    {"rnn", "a cell of one gate and its gradients", "0.554599722 0.0272930812 1.03837083 0.999255088 0.519185413", 1e-5,
     "the recurrence in NumPy's float64", nullptr, rnn},
    {"lstm", "an LSTM and its gradients",
     "0.433246301 0.171112112 0.106840118 0.084637409 0.251105829 0.111440951 0.03333785 0.040124923 0.075919275 "
     "0.113385119 0.157458525 0.285615586",
     1e-5, "the recurrence in NumPy's float64; drivers end the process where cells are used", nullptr, lstm},
    {"gru", "a GRU and its gradients",
     "0.389490191 0.453426509 -0.132732735 0.004437135 0.294077758 -0.027126478 0.01049561 0.431481913 0.912918033",
     1e-5, "the recurrence in NumPy's float64; that the gates' sums are z, r, o is reported", nullptr, gru},
};

}  // namespace

const std::span<const Probe> kRecurrent = kRecurrentRows;

}  // namespace alloy::probes

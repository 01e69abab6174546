// Recurrent cells and their gradients: every selector and every field of the descriptors, against a plain computation
// in double precision and its finite differences.

#include <cmath>
#include <optional>

#include "graph_testing.h"

namespace {

enum Kind { kRnn = 1, kGru = 3, kLstm = 4 };  // how many gates

// A layer: its sizes, its options, and its operands; one without a shape is nil.
struct Layer {
  Kind kind;
  bool reverse = false, bidirectional = false, other_order = false, reset_after = false, flip = false;
  std::vector<MPSGraphRNNActivation> how = {};
  Array source = {}, recurrent = {}, weights = {}, bias = {}, state = {}, cell = {}, mask = {}, peephole = {},
        secondary = {};

  long steps = 3, batch = 2, inputs = 3, units = 2;
  long directions() const { return bidirectional ? 2 : 1; }
};

double activated(MPSGraphRNNActivation how, double x) {
  switch (how) {
    case MPSGraphRNNActivationRelu: return x > 0 ? x : 0;
    case MPSGraphRNNActivationTanh: return std::tanh(x);
    case MPSGraphRNNActivationSigmoid: return 1 / (1 + std::exp(-x));
    case MPSGraphRNNActivationHardSigmoid: return std::min(std::max(0.2 * x + 0.5, 0.0), 1.0);
    default: return x;
  }
}

bool is_there(const Array& array) { return !array.shape.empty(); }

// One direction of a layer, one unit after the other.
class Direction {
 public:
  Direction(const Layer& layer, long index) : l_(layer), index_(index), wide_(layer.kind * layer.units) {}

  void run(Array& states, Array& cells) const {
    const bool reverse = l_.bidirectional ? index_ == 1 : l_.reverse;
    for (long n = 0; n < l_.batch; ++n) {
      std::vector<double> h(at(l_.units)), c(at(l_.units));
      for (long u = 0; u < l_.units; ++u) {
        const size_t place = at((n * l_.directions() + index_) * l_.units + u);
        if (is_there(l_.state)) h.at(at(u)) = l_.state.values.at(place);
        if (is_there(l_.cell)) c.at(at(u)) = l_.cell.values.at(place);
      }
      for (long i = 0; i < l_.steps; ++i) {
        const long t = reverse ? l_.steps - 1 - i : i;
        step(t, n, h, c);
        for (long u = 0; u < l_.units; ++u) {
          states.at({t, n, index_ * l_.units + u}) = h.at(at(u));
          cells.at({t, n, index_ * l_.units + u}) = c.at(at(u));
        }
      }
    }
  }

 private:
  static size_t at(long i) { return static_cast<size_t>(i); }

  // Where gate `g`, in the order of the default descriptor, stands in the operands.
  long place(long g) const {
    if (!l_.other_order) return g;
    if (l_.kind == kLstm) return g == 1 ? 2 : g == 2 ? 1 : g;
    return g == 0 ? 1 : g == 1 ? 0 : g;
  }
  double input(long t, long n, long g, long u) const {
    const long column = index_ * wide_ + place(g) * l_.units + u;
    double sum = is_there(l_.bias) ? l_.bias.values.at(at(column)) : 0;
    if (!is_there(l_.weights)) return sum + l_.source.at({t, n, column});
    for (long k = 0; k < l_.inputs; ++k) sum += l_.source.at({t, n, k}) * l_.weights.at({column, k});
    return sum;
  }
  double weight(long g, long u, long k) const {
    return l_.recurrent.values.at(at((index_ * wide_ + place(g) * l_.units + u) * l_.units + k));
  }
  double masked(long n, long k, const std::vector<double>& h) const {
    return h.at(at(k)) * (is_there(l_.mask) ? l_.mask.at({n, k}) : 1);
  }

  void step(long t, long n, std::vector<double>& h, std::vector<double>& c) const {
    const auto sum = [&](long g, long u) {
      double total = input(t, n, g, u);
      for (long k = 0; k < l_.units; ++k) total += masked(n, k, h) * weight(g, u, k);
      return total;
    };
    std::vector<double> next(h.size());
    for (long u = 0; u < l_.units; ++u) {
      if (l_.kind == kRnn) next.at(at(u)) = activated(l_.how.at(0), sum(0, u));
      if (l_.kind == kGru) next.at(at(u)) = gru(t, n, u, h, sum);
      if (l_.kind != kLstm) continue;
      double y[4];
      for (long g = 0; g < 4; ++g) {
        const size_t peep = at(index_ * wide_ + place(g) * l_.units + u);
        const double more = is_there(l_.peephole) ? l_.peephole.values.at(peep) * c.at(at(u)) : 0;
        y[g] = activated(l_.how.at(at(g)), sum(g, u) + more);
      }
      c.at(at(u)) = y[1] * c.at(at(u)) + y[0] * y[2];
      next.at(at(u)) = y[3] * activated(l_.how.at(4), c.at(at(u)));
    }
    h = next;
  }

  template <class Sum>
  double gru(long t, long n, long u, const std::vector<double>& h, const Sum& sum) const {
    const auto reset = [&](long k) { return activated(l_.how.at(1), sum(1, k)); };
    double old = 0;
    for (long k = 0; k < l_.units; ++k) old += masked(n, k, h) * weight(2, u, k) * (l_.reset_after ? 1 : reset(k));
    if (l_.reset_after) {
      if (is_there(l_.secondary)) old += l_.secondary.values.at(at(index_ * l_.units + u));
      old *= reset(u);
    }
    const double z = activated(l_.how.at(0), sum(0, u)), o = activated(l_.how.at(2), input(t, n, 2, u) + old);
    return l_.flip ? (1 - z) * h.at(at(u)) + z * o : z * h.at(at(u)) + (1 - z) * o;
  }

  const Layer& l_;
  long index_, wide_;
};

struct Results {
  Array states, cells;
};

Results expected(const Layer& l) {
  const Shape shape = {l.steps, l.batch, l.directions() * l.units};
  Results r{Array(shape), Array(shape)};
  for (long i = 0; i < l.directions(); ++i) Direction(l, i).run(r.states, r.cells);
  return r;
}

// What flows in: the gradient of all states, and perhaps of the last state and the last cell.
struct Incoming {
  Array states, last_state, last_cell;
};

double loss(const Layer& l, const Incoming& incoming) {
  const Results r = expected(l);
  double total = 0;
  for (size_t i = 0; i < r.states.values.size(); ++i) total += r.states.values.at(i) * incoming.states.values.at(i);
  for (long n = 0; n < l.batch; ++n) {
    for (long u = 0; u < l.directions() * l.units; ++u) {
      const bool first = l.bidirectional ? u >= l.units : l.reverse;
      const Index last = {first ? 0 : l.steps - 1, n, u};
      const size_t place = static_cast<size_t>(n * l.directions() * l.units + u);
      if (is_there(incoming.last_state)) total += r.states.at(last) * incoming.last_state.values.at(place);
      if (is_there(incoming.last_cell)) total += r.cells.at(last) * incoming.last_cell.values.at(place);
    }
  }
  return total;
}

// The gradient to one operand of the layer, by central differences.
Array slope(Layer l, Array Layer::* operand, const Incoming& incoming) {
  Array gradient = l.*operand;
  const double step = 1e-6;
  for (size_t i = 0; i < gradient.values.size(); ++i) {
    double& x = (l.*operand).values.at(i);
    const double before = x;
    x = before + step;
    const double above = loss(l, incoming);
    x = before - step;
    gradient.values.at(i) = (above - loss(l, incoming)) / (2 * step);
    x = before;
  }
  return gradient;
}

// ---- layers ----

Layer layer(Kind kind, bool bidirectional = false) {
  Layer l{.kind = kind, .bidirectional = bidirectional};
  const auto sigmoid = MPSGraphRNNActivationSigmoid, tanh = MPSGraphRNNActivationTanh;
  if (kind == kRnn) l.how = {MPSGraphRNNActivationRelu};
  if (kind == kGru) l.how = {sigmoid, sigmoid, tanh};
  if (kind == kLstm) l.how = {sigmoid, sigmoid, tanh, sigmoid, tanh};
  const long wide = kind * l.units, both = l.directions();
  l.source = signed_array({l.steps, l.batch, l.inputs}, 0.2, 1);
  l.recurrent = signed_array(bidirectional ? Shape{2, wide, l.units} : Shape{wide, l.units}, 0.2, 1);
  l.weights = signed_array({both * wide, l.inputs}, 0.2, 1);
  l.bias = signed_array({both * wide}, 0.2, 1);
  l.state = signed_array({l.batch, both * l.units}, 0.2, 1);
  if (kind == kLstm) l.cell = signed_array({l.batch, both * l.units}, 0.2, 1);
  return l;
}

// Without input weights and bias.
void leave_out_inputs(Layer& l) {
  l.source = signed_array({l.steps, l.batch, l.directions() * l.kind * l.units}, 0.2, 1);
  l.weights = l.bias = Array();
  l.weights.shape = l.bias.shape = {};
}

// With everything that it can have.
Layer full(Kind kind, bool bidirectional = false) {
  Layer l = layer(kind, bidirectional);
  l.mask = random_array({l.batch, l.units}, 0.5, 1.5);
  if (kind == kLstm) {
    l.peephole = signed_array(bidirectional ? Shape{2, 4 * l.units} : Shape{4 * l.units}, 0.2, 1);
  }
  if (kind == kGru) {
    l.reset_after = true;
    l.secondary = signed_array({l.directions() * l.units}, 0.2, 1);
  }
  return l;
}

// ---- the selectors ----

MPSGraphSingleGateRNNDescriptor* rnn_descriptor(const Layer& l, bool training) {
  MPSGraphSingleGateRNNDescriptor* d = [MPSGraphSingleGateRNNDescriptor descriptor];
  [d setReverse:l.reverse];
  [d setBidirectional:l.bidirectional];
  [d setTraining:training];
  [d setActivation:l.how.at(0)];
  return d;
}

MPSGraphLSTMDescriptor* lstm_descriptor(const Layer& l, bool training) {
  MPSGraphLSTMDescriptor* d = [MPSGraphLSTMDescriptor descriptor];
  [d setReverse:l.reverse];
  [d setBidirectional:l.bidirectional];
  [d setTraining:training];
  [d setForgetGateLast:l.other_order];
  [d setInputGateActivation:l.how.at(0)];
  [d setForgetGateActivation:l.how.at(1)];
  [d setCellGateActivation:l.how.at(2)];
  [d setOutputGateActivation:l.how.at(3)];
  [d setActivation:l.how.at(4)];
  return d;
}

MPSGraphGRUDescriptor* gru_descriptor(const Layer& l, bool training) {
  MPSGraphGRUDescriptor* d = [MPSGraphGRUDescriptor descriptor];
  [d setReverse:l.reverse];
  [d setBidirectional:l.bidirectional];
  [d setTraining:training];
  [d setResetGateFirst:l.other_order];
  [d setResetAfter:l.reset_after];
  [d setFlipZ:l.flip];
  [d setUpdateGateActivation:l.how.at(0)];
  [d setResetGateActivation:l.how.at(1)];
  [d setOutputGateActivation:l.how.at(2)];
  return d;
}

// A layer's operands as tensors of a graph.
struct Operands {
  MPSGraphTensor *source, *recurrent, *weights, *bias, *state, *cell, *mask, *peephole, *secondary;

  Operands(Session& session, const Layer& l) {
    const auto feed = [&](const Array& a) { return is_there(a) ? session.feed(a) : nil; };
    source = feed(l.source);
    recurrent = feed(l.recurrent);
    weights = feed(l.weights);
    bias = feed(l.bias);
    state = feed(l.state);
    cell = feed(l.cell);
    mask = feed(l.mask);
    peephole = feed(l.peephole);
    secondary = feed(l.secondary);
  }
};

NSArray<MPSGraphTensor*>* forward(MPSGraph* g, const Layer& l, const Operands& x, bool training) {
  if (l.kind == kRnn) {
    return [g singleGateRNNWithSourceTensor:x.source
                            recurrentWeight:x.recurrent
                                inputWeight:x.weights
                                       bias:x.bias
                                  initState:x.state
                                       mask:x.mask
                                 descriptor:rnn_descriptor(l, training)
                                       name:nil];
  }
  if (l.kind == kLstm) {
    return [g LSTMWithSourceTensor:x.source
                   recurrentWeight:x.recurrent
                       inputWeight:x.weights
                              bias:x.bias
                         initState:x.state
                          initCell:x.cell
                              mask:x.mask
                          peephole:x.peephole
                        descriptor:lstm_descriptor(l, training)
                              name:nil];
  }
  return [g GRUWithSourceTensor:x.source
                recurrentWeight:x.recurrent
                    inputWeight:x.weights
                           bias:x.bias
                      initState:x.state
                           mask:x.mask
                  secondaryBias:x.secondary
                     descriptor:gru_descriptor(l, training)
                           name:nil];
}

NSArray<MPSGraphTensor*>* backward(MPSGraph* g, const Layer& l, const Operands& x, NSArray<MPSGraphTensor*>* made,
                                   const std::vector<MPSGraphTensor*>& incoming) {
  MPSGraphTensor* kept = [made lastObject];
  if (l.kind == kRnn) {
    return [g singleGateRNNGradientsWithSourceTensor:x.source
                                     recurrentWeight:x.recurrent
                                      sourceGradient:incoming.at(0)
                                              zState:kept
                                       stateGradient:incoming.at(1)
                                         inputWeight:x.weights
                                                bias:x.bias
                                           initState:x.state
                                                mask:x.mask
                                          descriptor:rnn_descriptor(l, true)
                                                name:nil];
  }
  if (l.kind == kLstm) {
    return [g LSTMGradientsWithSourceTensor:x.source
                            recurrentWeight:x.recurrent
                             sourceGradient:incoming.at(0)
                                     zState:kept
                              cellOutputFwd:[made objectAtIndex:1]
                              stateGradient:incoming.at(1)
                               cellGradient:incoming.at(2)
                                inputWeight:x.weights
                                       bias:x.bias
                                  initState:x.state
                                   initCell:x.cell
                                       mask:x.mask
                                   peephole:x.peephole
                                 descriptor:lstm_descriptor(l, true)
                                       name:nil];
  }
  return [g GRUGradientsWithSourceTensor:x.source
                         recurrentWeight:x.recurrent
                          sourceGradient:incoming.at(0)
                                  zState:kept
                               outputFwd:[made objectAtIndex:0]
                           stateGradient:incoming.at(1)
                             inputWeight:x.weights
                                    bias:x.bias
                               initState:x.state
                                    mask:x.mask
                           secondaryBias:x.secondary
                              descriptor:gru_descriptor(l, true)
                                    name:nil];
}

// The operands that have a gradient, in the order of the results.
std::vector<Array Layer::*> differentiated(const Layer& l) {
  std::vector<Array Layer::*> operands;
  for (Array Layer::* operand : {&Layer::source, &Layer::recurrent, &Layer::weights, &Layer::bias, &Layer::peephole,
                                 &Layer::state, &Layer::cell, &Layer::secondary}) {
    if (is_there(l.*operand)) operands.push_back(operand);
  }
  return operands;
}

void check_gradients(Session& session, const Layer& l, NSArray<MPSGraphTensor*>* gradients, const Incoming& incoming) {
  const std::vector<Array Layer::*> operands = differentiated(l);
  CHECK([gradients count] == operands.size());
  std::vector<MPSGraphTensor*> targets;
  for (MPSGraphTensor* gradient in gradients) targets.push_back(gradient);
  const std::vector<Array> results = session.run(targets);
  for (size_t i = 0; i < std::min(operands.size(), results.size()); ++i) {
    CHECK_ARRAY_WITHIN(2e-5, results.at(i), slope(l, operands.at(i), incoming));
  }
}

// Values and all gradients of a layer, by the selectors that take everything.
void check(const Layer& l, bool with_last = false) {
  Session session;
  const Operands x(session, l);
  NSArray<MPSGraphTensor*>* made = forward(session.graph(), l, x, true);
  CHECK([made count] == (l.kind == kLstm ? 3u : 2u));
  const Results wanted = expected(l);
  CHECK_ARRAY_WITHIN(2e-6, session.run([made objectAtIndex:0]), wanted.states);
  if (l.kind == kLstm) CHECK_ARRAY_WITHIN(2e-6, session.run([made objectAtIndex:1]), wanted.cells);
  const long kept = l.directions() * l.units * (l.kind + (l.reset_after ? 1 : 0));
  CHECK([[[[made lastObject] shape] lastObject] longValue] == kept);
  Incoming incoming{signed_array(wanted.states.shape), {}, {}};
  std::vector<MPSGraphTensor*> tensors = {session.feed(incoming.states), nil, nil};
  if (with_last) {
    const Shape state = {l.batch, l.directions() * l.units};
    incoming.last_state = signed_array(state);
    tensors.at(1) = session.feed(incoming.last_state);
    if (l.kind == kLstm) {
      incoming.last_cell = signed_array(state);
      tensors.at(2) = session.feed(incoming.last_cell);
    }
  }
  check_gradients(session, l, backward(session.graph(), l, x, made, tensors), incoming);
}

// ---- tests ----

TEST(flags) {
  for (Kind kind : {kRnn, kLstm, kGru}) {
    check(layer(kind));
    check(layer(kind, true), true);
    check(full(kind), true);
    check(full(kind, true), true);
    Layer l = full(kind);
    l.reverse = true;
    check(l, true);
    l = full(kind, true);
    leave_out_inputs(l);
    l.state.shape = {1, 1, l.batch, 2 * l.units};  // leading ones
    check(l);
    l = layer(kind);
    l.state = l.cell = Array();
    l.state.shape = l.cell.shape = {};
    check(l);
  }
  for (Kind kind : {kLstm, kGru}) {
    for (bool bidirectional : {false, true}) {
      Layer l = full(kind, bidirectional);
      l.other_order = true;
      check(l);
    }
  }
  for (bool after : {false, true}) {
    Layer l = full(kGru);
    if (!after) l.secondary.shape = {};
    l.reset_after = after;
    l.flip = true;
    check(l, true);
    l.flip = false;
    l.other_order = true;
    check(l);
  }
}

TEST(results_that_are_asked_for) {
  Session session;
  MPSGraph* g = session.graph();
  for (Kind kind : {kRnn, kLstm, kGru}) {
    const Layer l = layer(kind);
    NSArray<MPSGraphTensor*>* made = forward(g, l, Operands(session, l), false);
    CHECK([made count] == 1u);
    CHECK_ARRAY_WITHIN(2e-6, session.run([made objectAtIndex:0]), expected(l).states);
  }
  const Layer l = layer(kLstm);
  const Operands x(session, l);
  MPSGraphLSTMDescriptor* d = lstm_descriptor(l, false);
  [d setProduceCell:YES];
  NSArray<MPSGraphTensor*>* made = [g LSTMWithSourceTensor:x.source
                                           recurrentWeight:x.recurrent
                                               inputWeight:x.weights
                                                      bias:x.bias
                                                 initState:x.state
                                                  initCell:x.cell
                                                descriptor:d
                                                      name:@"cells"];
  CHECK([made count] == 2u);
  CHECK_ARRAY_WITHIN(2e-6, session.run([made objectAtIndex:0]), expected(l).states);
  CHECK_ARRAY_WITHIN(2e-6, session.run([made objectAtIndex:1]), expected(l).cells);
}

// Both give the same tensors, to the bit: the shorter selector, and the one that takes everything.
void check_same(Session& session, NSArray<MPSGraphTensor*>* shorter, NSArray<MPSGraphTensor*>* longest) {
  CHECK([shorter count] == [longest count]);
  for (NSUInteger i = 0; i < [shorter count]; ++i) {
    CHECK_ARRAY_WITHIN(0, session.run([shorter objectAtIndex:i]), session.run([longest objectAtIndex:i]));
  }
}

Layer masked(Kind kind) {
  Layer l = layer(kind);
  l.mask = random_array({l.batch, l.units}, 0.5, 1.5);
  return l;
}

Layer without_inputs(Kind kind) {
  Layer l = layer(kind);
  leave_out_inputs(l);
  return l;
}

TEST(shorter_selectors_of_the_single_gate) {
  Session session;
  MPSGraph* g = session.graph();
  Layer l = layer(kRnn), m = masked(kRnn), s = without_inputs(kRnn);
  for (Layer* each : {&l, &m, &s}) each->how = {MPSGraphRNNActivationTanh};  // a rectifier may stop the gradient
  const Operands x(session, l), xm(session, m), xs(session, s);
  MPSGraphSingleGateRNNDescriptor* d = rnn_descriptor(l, true);
  MPSGraphTensor* flow = session.feed(signed_array(expected(l).states.shape));
  NSArray *made = forward(g, l, x, true), *made_m = forward(g, m, xm, true), *made_s = forward(g, s, xs, true);
  check_same(session,
             [g singleGateRNNWithSourceTensor:x.source
                              recurrentWeight:x.recurrent
                                  inputWeight:x.weights
                                         bias:x.bias
                                    initState:x.state
                                   descriptor:d
                                         name:nil],
             made);
  check_same(session,
             [g singleGateRNNWithSourceTensor:xs.source
                              recurrentWeight:xs.recurrent
                                    initState:xs.state
                                   descriptor:d
                                         name:nil],
             made_s);
  check_same(session,
             [g singleGateRNNGradientsWithSourceTensor:x.source
                                       recurrentWeight:x.recurrent
                                        sourceGradient:flow
                                                zState:[made lastObject]
                                           inputWeight:x.weights
                                                  bias:x.bias
                                             initState:x.state
                                            descriptor:d
                                                  name:nil],
             backward(g, l, x, made, {flow, nil}));
  check_same(session,
             [g singleGateRNNGradientsWithSourceTensor:xm.source
                                       recurrentWeight:xm.recurrent
                                        sourceGradient:flow
                                                zState:[made_m lastObject]
                                           inputWeight:xm.weights
                                                  bias:xm.bias
                                             initState:xm.state
                                                  mask:xm.mask
                                            descriptor:d
                                                  name:nil],
             backward(g, m, xm, made_m, {flow, nil}));
  check_same(session,
             [g singleGateRNNGradientsWithSourceTensor:xs.source
                                       recurrentWeight:xs.recurrent
                                        sourceGradient:flow
                                                zState:[made_s lastObject]
                                             initState:xs.state
                                            descriptor:d
                                                  name:nil],
             backward(g, s, xs, made_s, {flow, nil}));
}

TEST(shorter_selectors_of_the_lstm) {
  Session session;
  MPSGraph* g = session.graph();
  const Layer l = layer(kLstm), m = masked(kLstm), s = without_inputs(kLstm);
  Layer least = s;
  least.state.shape = least.cell.shape = {};
  const Operands x(session, l), xm(session, m), xs(session, s), xl(session, least);
  MPSGraphLSTMDescriptor* d = lstm_descriptor(l, true);
  MPSGraphTensor* flow = session.feed(signed_array(expected(l).states.shape));
  NSArray *made = forward(g, l, x, true), *made_m = forward(g, m, xm, true), *made_s = forward(g, s, xs, true),
          *made_l = forward(g, least, xl, true);
  check_same(session,
             [g LSTMWithSourceTensor:x.source
                     recurrentWeight:x.recurrent
                         inputWeight:x.weights
                                bias:x.bias
                           initState:x.state
                            initCell:x.cell
                          descriptor:d
                                name:nil],
             made);
  MPSGraphLSTMDescriptor* without_training = lstm_descriptor(l, false);
  for (MPSGraphLSTMDescriptor* each : {d, without_training}) {
    NSArray* results = [g LSTMWithSourceTensor:xs.source
                               recurrentWeight:xs.recurrent
                                     initState:xs.state
                                      initCell:xs.cell
                                    descriptor:each
                                          name:nil];
    check_same(session, results, [made_s subarrayWithRange:NSMakeRange(0, each == d ? 3 : 1)]);
  }
  check_same(session,
             [g LSTMGradientsWithSourceTensor:x.source
                              recurrentWeight:x.recurrent
                               sourceGradient:flow
                                       zState:[made lastObject]
                                cellOutputFwd:[made objectAtIndex:1]
                                  inputWeight:x.weights
                                         bias:x.bias
                                    initState:x.state
                                     initCell:x.cell
                                   descriptor:d
                                         name:nil],
             backward(g, l, x, made, {flow, nil, nil}));
  check_same(session,
             [g LSTMGradientsWithSourceTensor:xm.source
                              recurrentWeight:xm.recurrent
                               sourceGradient:flow
                                       zState:[made_m lastObject]
                                cellOutputFwd:[made_m objectAtIndex:1]
                                  inputWeight:xm.weights
                                         bias:xm.bias
                                    initState:xm.state
                                     initCell:xm.cell
                                         mask:xm.mask
                                   descriptor:d
                                         name:nil],
             backward(g, m, xm, made_m, {flow, nil, nil}));
  check_same(session,
             [g LSTMGradientsWithSourceTensor:xl.source
                              recurrentWeight:xl.recurrent
                               sourceGradient:flow
                                       zState:[made_l lastObject]
                                cellOutputFwd:[made_l objectAtIndex:1]
                                   descriptor:d
                                         name:nil],
             backward(g, least, xl, made_l, {flow, nil, nil}));
}

TEST(shorter_selectors_of_the_gru) {
  Session session;
  MPSGraph* g = session.graph();
  const Layer l = layer(kGru);
  Layer s = l;
  s.state.shape = {};
  const Operands x(session, l), xs(session, s);
  MPSGraphGRUDescriptor* d = gru_descriptor(l, true);
  MPSGraphTensor* flow = session.feed(signed_array(expected(l).states.shape));
  NSArray *made = forward(g, l, x, true), *made_s = forward(g, s, xs, true);
  check_same(session,
             [g GRUWithSourceTensor:x.source
                    recurrentWeight:x.recurrent
                        inputWeight:x.weights
                               bias:x.bias
                          initState:x.state
                         descriptor:d
                               name:nil],
             made);
  check_same(session,
             [g GRUWithSourceTensor:xs.source
                    recurrentWeight:xs.recurrent
                        inputWeight:xs.weights
                               bias:xs.bias
                         descriptor:d
                               name:nil],
             made_s);
  check_same(session,
             [g GRUGradientsWithSourceTensor:x.source
                             recurrentWeight:x.recurrent
                              sourceGradient:flow
                                      zState:[made lastObject]
                                   outputFwd:[made objectAtIndex:0]
                                 inputWeight:x.weights
                                        bias:x.bias
                                   initState:x.state
                                  descriptor:d
                                        name:nil],
             backward(g, l, x, made, {flow, nil}));
  check_same(session,
             [g GRUGradientsWithSourceTensor:xs.source
                             recurrentWeight:xs.recurrent
                              sourceGradient:flow
                                      zState:[made_s lastObject]
                                   outputFwd:[made_s objectAtIndex:0]
                                 inputWeight:xs.weights
                                        bias:xs.bias
                                  descriptor:d
                                        name:nil],
             backward(g, s, xs, made_s, {flow, nil}));
}

}  // namespace

int main(int count, char** arguments) { return check::run(count, arguments); }

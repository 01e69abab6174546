#include "facade/mps/neurons.h"

#include <cmath>

#include "facade/errors.h"

namespace alloy::facade {

using ir::Expr;

namespace {

Expr softplus(Expr x) { return ir::maximum(x, x.scalar(0)) + ir::log(1 + ir::exp(-ir::abs(x))); }

}  // namespace

Expr applied(const Neuron& neuron, Expr x, Expr slopes) {
  const auto [type, a, b, c] = neuron;
  const auto leaky = [&](Expr slope) { return ir::select(x < 0, x * slope, x); };
  const double base = c == -1 ? 1 : std::log(c);  // -1 means e
  switch (type) {
    case MPSCNNNeuronTypeReLU: return leaky(x.scalar(a));
    case MPSCNNNeuronTypeLinear: return x * a + b;
    case MPSCNNNeuronTypeSigmoid: return ir::sigmoid(x);
    case MPSCNNNeuronTypeHardSigmoid: return ir::minimum(ir::maximum(x * a + b, x.scalar(0)), x.scalar(1));
    case MPSCNNNeuronTypeTanH: return ir::tanh(x * b) * a;
    case MPSCNNNeuronTypeAbsolute: return ir::abs(x);
    case MPSCNNNeuronTypeSoftPlus: return softplus(x * b) * a;
    case MPSCNNNeuronTypeSoftSign: return x / (1 + ir::abs(x));
    case MPSCNNNeuronTypeELU: return ir::select(x < 0, (ir::exp(x) - 1) * a, x);
    case MPSCNNNeuronTypePReLU: return leaky(slopes);
    case MPSCNNNeuronTypeReLUN: return ir::minimum(leaky(x.scalar(a)), x.scalar(b));
    case MPSCNNNeuronTypePower: return ir::power(x * a + b, x.scalar(c));
    case MPSCNNNeuronTypeExponential: return ir::exp((x * a + b) * base);
    case MPSCNNNeuronTypeLogarithm: return ir::log(x * a + b) / base;
    case MPSCNNNeuronTypeGeLU: return x * 0.5 * (1 + ir::erf(x * M_SQRT1_2));
    default: return x;
  }
}

void require_shared_parameters(MPSCNNNeuronType type, NSString* method) {
  if (type >= 0 && type < MPSCNNNeuronTypeCount && type != MPSCNNNeuronTypePReLU) return;
  raise_invalid(@"[%@] The type %d is none, or it is PReLU, which has a parameter for each channel.", method,
                static_cast<int>(type));
}

}  // namespace alloy::facade

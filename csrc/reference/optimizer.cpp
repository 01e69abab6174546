// Optimizer steps.
#include <cmath>

#include "reference/reference.h"

namespace alloy::reference {
namespace {

Arrays<double> sgd(const Op&, const Arrays<double>& in) {
  Array out = in[1];
  for (size_t i = 0; i < out.size(); ++i) out.values[i] -= in[0].values[0] * in[2].values[i];
  return {out};
}

// Operands: rate, beta1, beta2, epsilon, values, first moments, second moments[, greatest second moments], gradient.
Arrays<double> adam(const Op&, const Arrays<double>& in) {
  const double rate = in[0].values[0], beta1 = in[1].values[0], beta2 = in[2].values[0], epsilon = in[3].values[0];
  Arrays<double> out(in.begin() + 4, in.end() - 1);
  const bool has_greatest = out.size() == 4;
  for (size_t i = 0; i < out[0].size(); ++i) {
    const double g = in.back().values[i];
    double &m = out[1].values[i], &v = out[2].values[i], &top = out.back().values[i];
    m = beta1 * m + (1 - beta1) * g;
    v = beta2 * v + (1 - beta2) * g * g;
    if (has_greatest) top = std::fmax(top, v);
    out[0].values[i] -= rate * m / (std::sqrt(top) + epsilon);
  }
  return out;
}

}  // namespace

Function<double> optimizer(OpCode code) {
  switch (code) {
    case OpCode::sgd: return sgd;
    case OpCode::adam: return adam;
    default: return nullptr;
  }
}

}  // namespace alloy::reference

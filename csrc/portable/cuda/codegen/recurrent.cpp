// Recurrent ops and their gradients. A block goes through the steps of one sequence; its threads share the units.
#include <algorithm>

#include "cuda/codegen/families.h"

namespace alloy::cuda {
namespace {

using ir::Attr;
using ir::Dims;
using ir::Op;

constexpr char kRecurrent[] = R"cuda(
__device__ inline float activated(i64 how, float x) {
  switch (how) {
    case 1: return x > 0 ? x : x != x ? x : 0;
    case 2: return tanhf(x);
    case 3: return 1 / (1 + expf(-x));
    case 4: {
      const float y = 0.2f * x + 0.5f;  // NaN stays
      return y < 0 ? 0 : y > 1 ? 1 : y;
    }
    default: return x;
  }
}

// The derivative of an activation, from the activation's value.
__device__ inline float slope(i64 how, float y) {
  switch (how) {
    case 1: return y > 0 ? 1 : 0;
    case 2: return 1 - y * y;
    case 3: return y * (1 - y);
    case 4: return y > 0 && y < 1 ? 0.2f : 0;
    default: return 1;
  }
}

// A sequence of the batch. Arrays that an op lacks are null.
struct Cells {
  i64 steps, batch, units;
  bool reverse;
  const i64* how;  // the activation of each gate
  const float* weights;
  const float* mask;
  i64 row;

  __device__ Cells(const i64* n, const float* w, const float* m, i64 r)
      : steps(n[0]), batch(n[1]), units(n[2]), reverse(n[3] != 0), how(n + 4), weights(w), mask(m), row(r) {}
  __device__ i64 time(i64 i) const { return reverse ? steps - 1 - i : i; }
  __device__ i64 at(i64 i, i64 u) const { return (time(i) * batch + row) * units + u; }
  __device__ i64 gate(i64 i, i64 g, i64 u, i64 count) const {
    return ((time(i) * batch + row) * count + g) * units + u;
  }
  __device__ i64 own(i64 u) const { return row * units + u; }
  __device__ float masked(i64 u) const { return mask == nullptr ? 1 : mask[own(u)]; }
  // The sequence's value for the step before the i-th; `first` before the first step.
  __device__ float before(const float* sequence, const float* first, i64 i, i64 u) const {
    return i == 0 ? first[own(u)] : sequence[at(i - 1, u)];
  }
  // A gate's sum of states(k) times weights over all units k.
  template <class States>
  __device__ float sum(i64 g, i64 u, const States& states) const {
    float total = 0;
    for (i64 k = 0; k < units; ++k) total += states(k) * weights[(g * units + u) * units + k];
    return total;
  }
  // The gradient of the state before, through the sums of `count` gates, whose gradients are gates(j, k).
  template <class Gates>
  __device__ float carried(i64 count, i64 u, const Gates& gates) const {
    float total = 0;
    for (i64 j = 0; j < count; ++j) {
      for (i64 k = 0; k < units; ++k) total += gates(j, k) * weights[(j * units + k) * units + u];
    }
    return total * masked(u);
  }
  // Calls f with the threads' units.
  template <class F>
  __device__ void for_units(const F& f) const {
    for (i64 u = threadIdx.x; u < units; u += blockDim.x) f(u);
    __syncthreads();
  }
};

__device__ inline void rnn(const i64* n, const float* x, const float* w, const float* state, const float* mask,
                           float* states, float* sums) {
  for (i64 row = blockIdx.x; row < n[1]; row += gridDim.x) {
    const Cells c(n, w, mask, row);
    for (i64 i = 0; i < c.steps; ++i) {
      c.for_units([&](i64 u) {
        const float sum =
            x[c.at(i, u)] + c.sum(0, u, [&](i64 k) { return c.masked(k) * c.before(states, state, i, k); });
        states[c.at(i, u)] = activated(c.how[0], sum);
        if (sums != nullptr) sums[c.at(i, u)] = sum;
      });
    }
  }
}

__device__ inline void lstm(const i64* n, const float* x, const float* w, const float* state, const float* cell,
                            const float* mask, const float* peephole, float* states, float* cells, float* gates) {
  for (i64 row = blockIdx.x; row < n[1]; row += gridDim.x) {
    const Cells c(n, w, mask, row);
    for (i64 i = 0; i < c.steps; ++i) {
      c.for_units([&](i64 u) {
        const float old = c.before(cells, cell, i, u);
        float y[4];
        for (i64 g = 0; g < 4; ++g) {
          const float sum = x[c.gate(i, g, u, 4)] +
                            c.sum(g, u, [&](i64 k) { return c.masked(k) * c.before(states, state, i, k); }) +
                            (peephole == nullptr ? 0 : peephole[g * c.units + u] * old);
          y[g] = activated(c.how[g], sum);
          if (gates != nullptr) gates[c.gate(i, g, u, 4)] = y[g];
        }
        const float next = y[1] * old + y[0] * y[2];
        cells[c.at(i, u)] = next;
        states[c.at(i, u)] = y[3] * activated(c.how[4], next);
      });
    }
  }
}

// `resets` holds reset gate times masked state for each unit.
__device__ inline void gru(const i64* n, const float* x, const float* w, const float* state, const float* bias,
                           const float* mask, bool flips, float* states, float* sums, float* updates, float* resets) {
  const bool after = bias != nullptr;
  const i64 kept = after ? 4 : 3;
  for (i64 row = blockIdx.x; row < n[1]; row += gridDim.x) {
    const Cells c(n, w, mask, row);
    for (i64 i = 0; i < c.steps; ++i) {
      const auto masked_state = [&](i64 k) { return c.masked(k) * c.before(states, state, i, k); };
      c.for_units([&](i64 u) {
        float sum[2];
        for (i64 g = 0; g < 2; ++g) {
          sum[g] = x[c.gate(i, g, u, 3)] + c.sum(g, u, masked_state);
          if (sums != nullptr) sums[c.gate(i, g, u, kept)] = sum[g];
        }
        updates[c.own(u)] = activated(c.how[0], sum[0]);
        resets[c.own(u)] = activated(c.how[1], sum[1]);
      });
      c.for_units([&](i64 u) {
        float sum = 0;
        if (after) {
          const float of_state = c.sum(2, u, masked_state) + bias[u];
          if (sums != nullptr) sums[c.gate(i, 3, u, kept)] = of_state;
          sum = x[c.gate(i, 2, u, 3)] + resets[c.own(u)] * of_state;
        } else {
          sum = x[c.gate(i, 2, u, 3)] + c.sum(2, u, [&](i64 k) { return resets[c.own(k)] * masked_state(k); });
        }
        if (sums != nullptr) sums[c.gate(i, 2, u, kept)] = sum;
        const float z = updates[c.own(u)], o = activated(c.how[2], sum), old = c.before(states, state, i, u);
        states[c.at(i, u)] = flips ? (1 - z) * old + z * o : z * old + (1 - z) * o;
      });
    }
  }
}

// In the gradients, the result for the initial state holds what flows to the step before.
__device__ inline void rnn_gradient(const i64* n, const float* g, const float* sums, const float* w, const float* mask,
                                    float* to_x, float* later) {
  for (i64 row = blockIdx.x; row < n[1]; row += gridDim.x) {
    const Cells c(n, w, mask, row);
    c.for_units([&](i64 u) { later[c.own(u)] = 0; });
    for (i64 i = c.steps - 1; i >= 0; --i) {
      c.for_units([&](i64 u) {
        const i64 at = c.at(i, u);
        to_x[at] = (g[at] + later[c.own(u)]) * slope(c.how[0], activated(c.how[0], sums[at]));
      });
      c.for_units([&](i64 u) { later[c.own(u)] = c.carried(1, u, [&](i64, i64 k) { return to_x[c.at(i, k)]; }); });
    }
  }
}

__device__ inline void lstm_gradient(const i64* n, const float* g, const float* gates, const float* cells,
                                     const float* w, const float* cell, const float* mask, const float* peephole,
                                     const float* of_cells, float* to_x, float* later, float* later_cell) {
  for (i64 row = blockIdx.x; row < n[1]; row += gridDim.x) {
    const Cells c(n, w, mask, row);
    c.for_units([&](i64 u) { later[c.own(u)] = later_cell[c.own(u)] = 0; });
    for (i64 i = c.steps - 1; i >= 0; --i) {
      c.for_units([&](i64 u) {
        const i64 at = c.at(i, u);
        float y[4];
        for (i64 k = 0; k < 4; ++k) y[k] = gates[c.gate(i, k, u, 4)];
        const float before = c.before(cells, cell, i, u), active = activated(c.how[4], cells[at]);
        const float dh = g[at] + later[c.own(u)];
        const float dc = later_cell[c.own(u)] + dh * y[3] * slope(c.how[4], active) +
                         (of_cells == nullptr ? 0 : of_cells[at]);
        const float flows[4] = {dc * y[2], dc * before, dc * y[0], dh * active};
        float to_cell = dc * y[1];
        for (i64 k = 0; k < 4; ++k) {
          const float d = flows[k] * slope(c.how[k], y[k]);
          to_x[c.gate(i, k, u, 4)] = d;
          if (peephole != nullptr) to_cell += d * peephole[k * c.units + u];
        }
        later_cell[c.own(u)] = to_cell;
      });
      c.for_units([&](i64 u) {
        later[c.own(u)] = c.carried(4, u, [&](i64 j, i64 k) { return to_x[c.gate(i, j, k, 4)]; });
      });
    }
  }
}

// `next` holds, for each unit, what flows to the state before beside the sums.
__device__ inline void gru_gradient(const i64* n, const float* g, const float* sums, const float* states,
                                    const float* w, const float* state, const float* mask, bool after, bool flips,
                                    float* to_x, float* later, float* next) {
  const i64 kept = after ? 4 : 3;
  for (i64 row = blockIdx.x; row < n[1]; row += gridDim.x) {
    const Cells c(n, w, mask, row);
    c.for_units([&](i64 u) { later[c.own(u)] = 0; });
    for (i64 i = c.steps - 1; i >= 0; --i) {
      const auto reset = [&](i64 u) { return activated(c.how[1], sums[c.gate(i, 1, u, kept)]); };
      c.for_units([&](i64 u) {
        const float z = activated(c.how[0], sums[c.gate(i, 0, u, kept)]);
        const float o = activated(c.how[2], sums[c.gate(i, 2, u, kept)]);
        const float dh = g[c.at(i, u)] + later[c.own(u)], sign = flips ? -1.0f : 1.0f;
        next[c.own(u)] = dh * (flips ? 1 - z : z);
        to_x[c.gate(i, 0, u, 3)] = sign * dh * (c.before(states, state, i, u) - o) * slope(c.how[0], z);
        to_x[c.gate(i, 2, u, 3)] = dh * (flips ? z : 1 - z) * slope(c.how[2], o);
      });
      c.for_units([&](i64 u) {
        float flow = 0;
        if (after) {
          flow = to_x[c.gate(i, 2, u, 3)] * sums[c.gate(i, 3, u, kept)];
        } else {
          float of_state = 0;
          for (i64 k = 0; k < c.units; ++k) {
            of_state += to_x[c.gate(i, 2, k, 3)] * w[(2 * c.units + k) * c.units + u];
          }
          of_state *= c.masked(u);
          next[c.own(u)] += of_state * reset(u);
          flow = of_state * c.before(states, state, i, u);
        }
        to_x[c.gate(i, 1, u, 3)] = flow * slope(c.how[1], reset(u));
      });
      c.for_units([&](i64 u) {
        later[c.own(u)] = next[c.own(u)] + c.carried(after ? 3 : 2, u, [&](i64 j, i64 k) {
          return to_x[c.gate(i, j, k, 3)] * (j == 2 ? reset(k) : 1);
        });
      });
    }
  }
}
)cuda";

// The arguments of a call, in order: arrays, and words.
class Call {
 public:
  // `sequence` and `weights` are the operands that hold the sequence and the recurrent weights.
  Call(const Op& op, const std::string& function, size_t sequence, size_t weights) : op_(op) {
    require_float(op);
    const Dims& dims = op.operands[sequence].shape().dims();
    units_ = op.operands[weights].shape()[1];
    batch_ = dims[1];
    launch_.libraries = {kRecurrent};
    launch_.numbers = {dims[0], batch_, units_, op.attributes.flag(Attr::kReverse)};
    const Dims& how = op.attributes.ints(Attr::kActivations);
    launch_.numbers.insert(launch_.numbers.end(), how.begin(), how.end());
    launch_.body = "  " + function + "(n";
  }

  Call& in(size_t i) { return array(operand(i), "const float"); }
  Call& in_if(bool is_there, size_t i) { return is_there ? in(i) : word("nullptr"); }
  Call& out(size_t i) { return i < op_.results.size() ? array(result(i), "float") : word("nullptr"); }
  Call& word(const std::string& text) {
    launch_.body += ", " + text;
    return *this;
  }
  Call& flag(bool on) { return word(on ? "true" : "false"); }
  // A number for each unit of each sequence, which only this launch uses.
  Call& working() {
    array(scratch(scratch_), "float");
    scratch_ += static_cast<size_t>(batch_ * units_) * sizeof(float);
    return *this;
  }
  Code code() {
    Code code;
    code.scratch = scratch_;
    if (batch_ * units_ == 0 || launch_.numbers[0] == 0) return code;
    launch_.body += ");\n";
    launch_.blocks = static_cast<unsigned>(std::min<int64_t>(batch_, 1 << 16));
    launch_.takes_any_grid = false;
    launch_.threads = units_ <= 64 ? 64 : units_ <= 128 ? 128 : 256;
    code.launches.push_back(std::move(launch_));
    return code;
  }

 private:
  Call& array(Pointer pointer, const std::string& type) {
    word("(" + type + "*)p[" + std::to_string(launch_.pointers.size()) + "]");
    launch_.pointers.push_back(pointer);
    return *this;
  }

  const Op& op_;
  Launch launch_;
  int64_t batch_, units_;
  size_t scratch_ = 0;
};

bool has(const Op& op, Attr flag) { return op.attributes.flag(flag); }

}  // namespace

Code code_of_rnn(const Op& op) {
  return Call(op, "rnn", 0, 1).in(0).in(1).in(2).in_if(has(op, Attr::kMasked), 3).out(0).out(1).code();
}

Code code_of_rnn_gradient(const Op& op) {
  return Call(op, "rnn_gradient", 1, 2).in(0).in(1).in(2).in_if(has(op, Attr::kMasked), 3).out(0).out(1).code();
}

Code code_of_lstm(const Op& op) {
  Call call(op, "lstm", 0, 1);
  call.in(0).in(1).in(2).in(3).in_if(has(op, Attr::kMasked), 4);
  return call.in_if(has(op, Attr::kPeephole), op.operands.size() - 1).out(0).out(1).out(2).code();
}

// Operands: gradient, gates, cells, weights, initial cell[, mask][, peephole][, gradient of the cells].
Code code_of_lstm_gradient(const Op& op) {
  const bool masked = has(op, Attr::kMasked);
  Call call(op, "lstm_gradient", 1, 3);
  call.in(0).in(1).in(2).in(3).in(4).in_if(masked, 5).in_if(has(op, Attr::kPeephole), masked ? 6 : 5);
  return call.in_if(has(op, Attr::kCellGradient), op.operands.size() - 1).out(0).out(1).out(2).code();
}

Code code_of_gru(const Op& op) {
  Call call(op, "gru", 0, 1);
  call.in(0).in(1).in(2).in_if(has(op, Attr::kResetAfter), 3).in_if(has(op, Attr::kMasked), op.operands.size() - 1);
  return call.flag(has(op, Attr::kFlipZ)).out(0).out(1).working().working().code();
}

Code code_of_gru_gradient(const Op& op) {
  Call call(op, "gru_gradient", 1, 3);
  call.in(0).in(1).in(2).in(3).in(4).in_if(has(op, Attr::kMasked), 5);
  return call.flag(has(op, Attr::kResetAfter)).flag(has(op, Attr::kFlipZ)).out(0).out(1).working().code();
}

}  // namespace alloy::cuda

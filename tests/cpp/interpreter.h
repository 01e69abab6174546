// A graph's meaning in double precision, element by element, as the written grammar (csrc/ir/README.md)
// states it: the reference against which gradients and compiled programs are held. Shares no arithmetic with
// them. Knows the elementwise ops, reductions, shapes, matrix products, softmax, optimizer steps, state and
// conditionals; fails a test that uses another op.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "graph_builder.h"

namespace alloy::test {

// Elements in row-major order; a bool is 0 or 1.
struct Array {
  Dims dims;
  std::vector<double> values;

  Array() = default;
  Array(Dims d, std::vector<double> v) : dims(std::move(d)), values(std::move(v)) {}
  explicit Array(Dims d, double fill = 0) : dims(std::move(d)) {
    values.assign(static_cast<size_t>(Shape(dims).element_count()), fill);
  }
  size_t size() const { return values.size(); }
};

// Calls f with every index into `dims`, in row-major order.
template <class F>
void for_each_index(const Dims& dims, F f) {
  if (std::find(dims.begin(), dims.end(), 0) != dims.end()) return;
  Dims index(dims.size(), 0);
  while (true) {
    f(static_cast<const Dims&>(index));
    size_t axis = dims.size();
    while (axis > 0 && ++index[axis - 1] == dims[axis - 1]) index[--axis] = 0;
    if (axis == 0) return;
  }
}

// The position of `index`, aligned at the trailing dimension, in an array that broadcasts to it.
inline size_t position(const Dims& dims, const Dims& index) {
  size_t at = 0;
  for (size_t i = 0; i < dims.size(); ++i) {
    const int64_t k = dims[i] == 1 ? 0 : index[index.size() - dims.size() + i];
    at = at * static_cast<size_t>(dims[i]) + static_cast<size_t>(k);
  }
  return at;
}

class Interpreter {
 public:
  // The state of variables by slot, from run to run; a variable that is not here has its initial value.
  std::map<int64_t, Array> state;

  // One run. `feeds` are the placeholders' values.
  std::vector<Array> run(const std::vector<std::pair<Value, Array>>& feeds, const std::vector<Value>& results,
                         const std::vector<Op*>& effects) {
    values_.clear();
    needed_.clear();
    for (const auto& [placeholder, array] : feeds) values_[placeholder] = array;
    for (const Value& v : results) need(v.op);
    for (const Op* op : effects) need(op);
    const Op* any = !results.empty() ? results[0].op : !effects.empty() ? effects[0] : nullptr;
    for (const auto& [slot, array] : state) current_[slot] = array;
    start_ = state;
    if (any != nullptr) run_block(*any->block);
    std::vector<Array> out;
    for (const Value& v : results) out.push_back(values_.at(v));
    for (const auto& [slot, array] : current_) state[slot] = array;
    return out;
  }

 private:
  // An op needs its operands, what comes before it, and what its regions need of the outside.
  void need(const Op* op) {
    if (!needed_.insert(op).second) return;
    for (const Value& v : op->operands) need(v.op);
    for (const Op* before : op->after) need_before(before);
    for (const auto& region : op->regions) {
      for (const Value& v : region->results) need(v.op);
      for (const Op* effect : region->effects) need(effect);
    }
  }

  // An op in a region comes with the op that holds it.
  void need_before(const Op* op) {
    need(op);
    for (const Block* block = op->block; block->parent != nullptr; block = block->parent->block) need(block->parent);
  }

  void run_block(const Block& block) {
    for (const auto& op : block.ops) {
      if (needed_.contains(op.get())) run_op(*op);
    }
  }

  const Array& x(const Op& op, size_t i = 0) const { return values_.at(op.operands[i]); }

  void give(const Op& op, Array array, uint32_t result = 0) { values_[op.result(result)] = std::move(array); }

  void run_op(const Op& op) {
    switch (op.info().family) {
      case Family::kUnary:
      case Family::kActivation:
      case Family::kPredicate:
      case Family::kBinary:
      case Family::kComparison:
      case Family::kActivationGradient:
      case Family::kTernary: return give(op, elementwise(op));
      case Family::kReduction:
      case Family::kMoment: return give(op, reduction(op));
      case Family::kArgReduction: return give(op, arg_reduction(op));
      case Family::kStructured: return structured(op);
    }
  }

  static double apply(OpCode code, double a, double b, double c) {
    auto sigmoid = [](double t) { return 1 / (1 + std::exp(-t)); };
    switch (code) {
      case OpCode::identity: return a;
      case OpCode::exp: return std::exp(a);
      case OpCode::log: return std::log(a);
      case OpCode::square: return a * a;
      case OpCode::sqrt: return std::sqrt(a);
      case OpCode::rsqrt: return 1 / std::sqrt(a);
      case OpCode::reciprocal: return 1 / a;
      case OpCode::abs: return std::fabs(a);
      case OpCode::negative: return -a;
      case OpCode::sign: return a > 0 ? 1 : a < 0 ? -1 : 0;
      case OpCode::tanh: return std::tanh(a);
      case OpCode::relu: return a <= 0 ? 0 : a;
      case OpCode::sigmoid: return sigmoid(a);
      case OpCode::relu_gradient: return b <= 0 ? 0 : a;
      case OpCode::sigmoid_gradient: return a * sigmoid(b) * (1 - sigmoid(b));
      case OpCode::add: return a + b;
      case OpCode::subtract: return a - b;
      case OpCode::multiply: return a * b;
      case OpCode::divide: return a / b;
      case OpCode::divide_no_nan: return b == 0 ? 0 : a / b;
      case OpCode::power: return std::pow(a, b);
      case OpCode::minimum: return std::fmin(a, b);
      case OpCode::maximum: return std::fmax(a, b);
      case OpCode::equal: return a == b;
      case OpCode::not_equal: return a != b;
      case OpCode::less: return a < b;
      case OpCode::less_equal: return a <= b;
      case OpCode::greater: return a > b;
      case OpCode::greater_equal: return a >= b;
      case OpCode::is_nan: return a != a;
      case OpCode::is_infinite: return std::fabs(a) == INFINITY;
      case OpCode::is_finite: return a - a == 0;
      case OpCode::logical_not: return a == 0;
      case OpCode::logical_and: return a * b;
      case OpCode::logical_or: return a + b > 0;
      case OpCode::logical_xor: return a != b;
      case OpCode::select: return a != 0 ? b : c;
      case OpCode::clamp: return std::fmin(std::fmax(a, b), c);
      default: ADD_FAILURE() << "the interpreter does not know " << info(code).name; return 0;
    }
  }

  Array elementwise(const Op& op) const {
    Array out(op.results[0].shape.dims());
    size_t at = 0;
    for_each_index(out.dims, [&](const Dims& index) {
      double in[3] = {};
      for (size_t i = 0; i < op.operands.size(); ++i) in[i] = x(op, i).values[position(x(op, i).dims, index)];
      out.values[at++] = apply(op.code, in[0], in[1], in[2]);
    });
    return out;
  }

  // Folds the elements that share a position in the result.
  Array reduction(const Op& op) const {
    const Array& in = x(op);
    Array out(op.results[0].shape.dims());
    std::vector<std::vector<double>> groups(out.size());
    size_t at = 0;
    for_each_index(in.dims, [&](const Dims& index) { groups[position(out.dims, index)].push_back(in.values[at++]); });
    for (size_t i = 0; i < groups.size(); ++i) out.values[i] = fold(op.code, groups[i]);
    return out;
  }

  static double fold(OpCode code, const std::vector<double>& group) {
    double sum = 0, product = 1, least = INFINITY, greatest = -INFINITY;
    for (double v : group) {
      sum += v;
      product *= v;
      least = std::fmin(least, v);
      greatest = std::fmax(greatest, v);
    }
    const double count = static_cast<double>(group.size()), mean = sum / count;
    double squares = 0;
    for (double v : group) squares += (v - mean) * (v - mean);
    switch (code) {
      case OpCode::sum: return sum;
      case OpCode::product: return product;
      case OpCode::min: return least;
      case OpCode::max: return greatest;
      case OpCode::mean: return mean;
      case OpCode::variance: return squares / count;
      default: ADD_FAILURE() << "the interpreter does not know " << info(code).name; return 0;
    }
  }

  Array arg_reduction(const Op& op) const {
    const Array& in = x(op);
    const auto axis =
        static_cast<size_t>(*normalize_axis(op.attributes.integer(Attr::kAxis), static_cast<int64_t>(in.dims.size())));
    Array out(op.results[0].shape.dims()), best(out.dims, op.code == OpCode::argmax ? -INFINITY : INFINITY);
    size_t at = 0;
    for_each_index(in.dims, [&](const Dims& index) {
      const double v = in.values[at++];
      const size_t to = position(out.dims, index);
      if (op.code == OpCode::argmax ? v <= best.values[to] : v >= best.values[to]) return;
      best.values[to] = v;
      out.values[to] = static_cast<double>(index[axis]);
    });
    return out;
  }

  void structured(const Op& op) {
    switch (op.code) {
      case OpCode::placeholder: ASSERT_TRUE(values_.contains(op.result())) << "not fed"; return;
      case OpCode::constant: return give(op, literal(*op.attributes.get<LiteralRef>(Attr::kValue)));
      // Not a number: whoever computes with it is found out.
      case OpCode::empty:
      case OpCode::shaped:
        return give(op, op.results[0].is_static() ? Array(op.results[0].shape.dims(), NAN) : Array());
      case OpCode::variable: {
        const int64_t slot = op.attributes.integer(Attr::kSlot);
        if (!current_.contains(slot)) current_[slot] = literal(*op.attributes.get<LiteralRef>(Attr::kValue));
        if (!start_.contains(slot)) start_[slot] = current_[slot];
        return give(op, start_[slot]);
      }
      case OpCode::read_variable: return give(op, current_.at(op.operands[0].op->attributes.integer(Attr::kSlot)));
      case OpCode::assign: current_[op.operands[0].op->attributes.integer(Attr::kSlot)] = x(op, 1); return;
      case OpCode::if_else: {
        const Array& predicate = x(op);
        const Block& taken = *op.regions[predicate.values.at(0) != 0 ? 0 : 1];
        run_block(taken);
        for (uint32_t i = 0; i < op.results.size(); ++i) give(op, values_.at(taken.results[i]), i);
        return;
      }
      case OpCode::fused:
        run_block(*op.regions[0]);
        for (uint32_t i = 0; i < op.results.size(); ++i) give(op, values_.at(op.regions[0]->results[i]), i);
        return;
      case OpCode::stop_gradient: return give(op, x(op));
      case OpCode::reshape:
      case OpCode::reshape_like:
      case OpCode::squeeze:
      case OpCode::expand_dims: return give(op, Array(op.results[0].shape.dims(), x(op).values));
      case OpCode::cast: return give(op, cast(op));
      case OpCode::shape_of: {
        Array out(op.results[0].shape.dims());
        for (size_t i = 0; i < out.size(); ++i) out.values[i] = static_cast<double>(x(op).dims[i]);
        return give(op, out);
      }
      case OpCode::count: {
        std::set<int64_t> axes;
        for (int64_t axis : op.attributes.ints(Attr::kAxes)) {
          axes.insert(*normalize_axis(axis, static_cast<int64_t>(x(op).dims.size())));
        }
        double count = 1;
        for (int64_t axis : axes) count *= static_cast<double>(x(op).dims[static_cast<size_t>(axis)]);
        return give(op, Array(Dims{}, count));
      }
      case OpCode::broadcast_to:
      case OpCode::broadcast_like: {
        Array out(op.results[0].shape.dims());
        size_t at = 0;
        for_each_index(out.dims,
                       [&](const Dims& index) { out.values[at++] = x(op).values[position(x(op).dims, index)]; });
        return give(op, out);
      }
      case OpCode::reduce_like: {
        Array out(op.results[0].shape.dims());
        size_t at = 0;
        for_each_index(x(op).dims,
                       [&](const Dims& index) { out.values[position(out.dims, index)] += x(op).values[at++]; });
        return give(op, out);
      }
      case OpCode::transpose: {
        Array out(op.results[0].shape.dims());
        const Dims& permutation = op.attributes.ints(Attr::kPermutation);
        size_t at = 0;
        for_each_index(out.dims, [&](const Dims& index) {
          Dims from(index.size());
          for (size_t i = 0; i < index.size(); ++i) from[static_cast<size_t>(permutation[i])] = index[i];
          out.values[at++] = x(op).values[position(x(op).dims, from)];
        });
        return give(op, out);
      }
      case OpCode::slice:
      case OpCode::slice_gradient: return give(op, slice(op));
      case OpCode::concat: return give(op, concat(op));
      case OpCode::matmul: return give(op, matmul(op));
      case OpCode::softmax: return give(op, softmax(op, x(op), false));
      case OpCode::log_softmax: return give(op, softmax(op, x(op), true));
      case OpCode::softmax_cross_entropy: return give(op, cross_entropy(op));
      case OpCode::sgd: {
        Array out = x(op, 1);
        for (size_t i = 0; i < out.size(); ++i) out.values[i] -= x(op, 0).values[0] * x(op, 2).values[i];
        return give(op, out);
      }
      case OpCode::adam: return adam(op);
      default: ADD_FAILURE() << "the interpreter does not know " << op.info().name;
    }
  }

  static Array literal(const Literal& value) {
    Array out(value.type().shape.dims());
    for (size_t i = 0; i < out.size(); ++i) out.values[i] = value.at(static_cast<int64_t>(i));
    return out;
  }

  Array cast(const Op& op) const {
    Array out = x(op);
    const DTypeKind to = kind(op.results[0].dtype);
    for (double& v : out.values) {
      v = to == DTypeKind::kBoolean ? v != 0 : to == DTypeKind::kFloating ? v : std::trunc(v);
    }
    return out;
  }

  // Element i of a slice is element start + i * stride; bounds that are not inside are clamped as Python
  // clamps them.
  Array slice(const Op& op) const {
    const bool back = op.code == OpCode::slice_gradient;
    const Dims &whole = back ? op.results[0].shape.dims() : x(op).dims,
               &part = back ? x(op).dims : op.results[0].shape.dims();
    const Dims &starts = op.attributes.ints(Attr::kStarts), &strides = op.attributes.ints(Attr::kStrides);
    Array out(op.results[0].shape.dims());
    size_t at = 0;
    for_each_index(part, [&](const Dims& index) {
      Dims place(index.size());
      for (size_t i = 0; i < index.size(); ++i) {
        int64_t start = starts[i] < 0 && starts[i] != INT64_MIN ? starts[i] + whole[i] : starts[i];
        start = strides[i] > 0 ? std::max<int64_t>(start, 0) : std::min(start, whole[i] - 1);
        place[i] = start + index[i] * strides[i];
      }
      if (back) out.values[position(whole, place)] = x(op).values[at++];
      else out.values[at++] = x(op).values[position(whole, place)];
    });
    return out;
  }

  Array concat(const Op& op) const {
    Array out(op.results[0].shape.dims());
    const auto axis =
        static_cast<size_t>(*normalize_axis(op.attributes.integer(Attr::kAxis), static_cast<int64_t>(out.dims.size())));
    int64_t start = 0;
    for (size_t i = 0; i < op.operands.size(); ++i) {
      size_t at = 0;
      for_each_index(x(op, i).dims, [&](Dims index) {
        index[axis] += start;
        out.values[position(out.dims, index)] = x(op, i).values[at++];
      });
      start += x(op, i).dims[axis];
    }
    return out;
  }

  Array matmul(const Op& op) const {
    Array out(op.results[0].shape.dims());
    const bool ta = op.attributes.flag(Attr::kTransposeA), tb = op.attributes.flag(Attr::kTransposeB);
    const Dims &a = x(op, 0).dims, &b = x(op, 1).dims;
    const int64_t inner = a[a.size() - (ta ? 2 : 1)];
    size_t at = 0;
    for_each_index(out.dims, [&](const Dims& index) {
      Dims left = index, right = index;
      const size_t r = index.size() - 2, c = index.size() - 1;
      for (int64_t k = 0; k < inner; ++k) {
        left[ta ? c : r] = index[r];
        left[ta ? r : c] = k;
        right[tb ? r : c] = index[c];
        right[tb ? c : r] = k;
        // An extent of 1 is the matrix's own, not one that broadcasts: both indices are 0 there.
        out.values[at] += x(op, 0).values[position(a, left)] * x(op, 1).values[position(b, right)];
      }
      ++at;
    });
    return out;
  }

  Array softmax(const Op& op, const Array& in, bool logarithm) const {
    Dims kept = in.dims;
    kept[static_cast<size_t>(*normalize_axis(op.attributes.integer(Attr::kAxis), static_cast<int64_t>(kept.size())))] =
        1;
    Array greatest(kept, -INFINITY), sum(kept), out(in.dims);
    size_t at = 0;
    for_each_index(in.dims, [&](const Dims& i) {
      double& m = greatest.values[position(kept, i)];
      m = std::fmax(m, in.values[at++]);
    });
    at = 0;
    for_each_index(in.dims, [&](const Dims& i) {
      sum.values[position(kept, i)] += std::exp(in.values[at++] - greatest.values[position(kept, i)]);
    });
    at = 0;
    for_each_index(in.dims, [&](const Dims& i) {
      const double shifted = in.values[at] - greatest.values[position(kept, i)], total = sum.values[position(kept, i)];
      out.values[at++] = logarithm ? shifted - std::log(total) : std::exp(shifted) / total;
    });
    return out;
  }

  Array cross_entropy(const Op& op) const {
    const Array logs = softmax(op, x(op), true);
    Dims kept = logs.dims;
    kept[static_cast<size_t>(*normalize_axis(op.attributes.integer(Attr::kAxis), static_cast<int64_t>(kept.size())))] =
        1;
    Array rows(kept);
    size_t at = 0;
    for_each_index(logs.dims, [&](const Dims& i) {
      rows.values[position(kept, i)] -= x(op, 1).values[at] * logs.values[at];
      ++at;
    });
    const std::string& reduction = op.attributes.word(Attr::kReduction);
    if (reduction == "none") return rows;
    double total = 0;
    for (double v : rows.values) total += v;
    return Array(Dims{1}, reduction == "mean" ? total / static_cast<double>(rows.size()) : total);
  }

  void adam(const Op& op) {
    const double rate = x(op, 0).values[0], b1 = x(op, 1).values[0], b2 = x(op, 2).values[0],
                 epsilon = x(op, 3).values[0];
    Array w = x(op, 4), m = x(op, 5), v = x(op, 6);
    const bool greatest = op.operands.size() == 9;
    Array top = greatest ? x(op, 7) : v;
    const Array& g = x(op, op.operands.size() - 1);
    for (size_t i = 0; i < w.size(); ++i) {
      m.values[i] = b1 * m.values[i] + (1 - b1) * g.values[i];
      v.values[i] = b2 * v.values[i] + (1 - b2) * g.values[i] * g.values[i];
      top.values[i] = greatest ? std::fmax(top.values[i], v.values[i]) : v.values[i];
      w.values[i] -= rate * m.values[i] / (std::sqrt(top.values[i]) + epsilon);
    }
    give(op, w, 0);
    give(op, m, 1);
    give(op, v, 2);
    if (greatest) give(op, top, 3);
  }

  ValueMap<Array> values_;
  std::set<const Op*> needed_;
  std::map<int64_t, Array> start_, current_;
};

}  // namespace alloy::test

// A graph's meaning in double precision, element by element, as the written grammar (csrc/ir/README.md) states it: the
// reference for gradients and compiled programs. Shares only the formulas of the table's rows with them (references.h).
// Knows the elementwise ops, reductions, shapes, matrix products, softmax, optimizer steps, state, conditionals and
// loops; fails a test that uses another op.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "graph_builder.h"
#include "references.h"

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

  std::vector<Array> all_of(const std::vector<Value>& values) const {
    std::vector<Array> arrays;
    for (const Value& v : values) arrays.push_back(values_.at(v));
    return arrays;
  }

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

  Array elementwise(const Op& op) const {
    Array out(op.results[0].shape.dims());
    const DType dtype = op.operands.back().type().dtype;
    size_t at = 0;
    for_each_index(out.dims, [&](const Dims& index) {
      double in[3] = {};
      for (size_t i = 0; i < op.operands.size(); ++i) in[i] = x(op, i).values[position(x(op, i).dims, index)];
      out.values[at++] = test::elementwise(op.code, dtype, in[0], in[1], in[2]);
    });
    return out;
  }

  // Folds the elements that share a position in the result.
  Array reduction(const Op& op) const {
    const DType dtype = op.operands[0].type().dtype;
    const Array& in = x(op);
    Array out(op.results[0].shape.dims());
    std::vector<std::vector<double>> groups(out.size());
    size_t at = 0;
    for_each_index(in.dims, [&](const Dims& index) { groups[position(out.dims, index)].push_back(in.values[at++]); });
    for (size_t i = 0; i < groups.size(); ++i) out.values[i] = test::reduction(op.code, dtype, groups[i]);
    return out;
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
      case OpCode::variable: return give(op, variable(op));
      case OpCode::read_variable: return give(op, current_.at(op.operands[0].op->attributes.integer(Attr::kSlot)));
      case OpCode::assign: current_[op.operands[0].op->attributes.integer(Attr::kSlot)] = x(op, 1); return;
      case OpCode::if_else: return run_region(op, x(op).values.at(0) != 0 ? 0 : 1);
      case OpCode::while_loop: return while_loop(op);
      case OpCode::for_loop: return for_loop(op);
      case OpCode::fused: return run_region(op, 0);
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
      case OpCode::count: return give(op, count(op));
      case OpCode::broadcast_to:
      case OpCode::broadcast_like: return give(op, broadcast(op));
      case OpCode::reduce_like: return give(op, reduce_like(op));
      case OpCode::transpose: return give(op, transpose(op));
      case OpCode::slice:
      case OpCode::slice_gradient: return give(op, slice(op));
      case OpCode::concat: return give(op, concat(op));
      case OpCode::gather: return give(op, gather(op));
      case OpCode::scatter: return give(op, scatter(op));
      case OpCode::gather_nd: return give(op, gather_nd(op));
      case OpCode::scatter_nd: return give(op, combine(op, Array(op.results[0].shape.dims()), 0, 1, "add"));
      case OpCode::scatter_nd_update: return give(op, combine(op, x(op), 1, 2, op.attributes.word(Attr::kMode)));
      case OpCode::accumulate: return give(op, accumulate(op));
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
      default:
        ADD_FAILURE() << op.info().name << " has no reference: add a case to structured() of tests/cpp/interpreter.h";
    }
  }

  Array variable(const Op& op) {
    const int64_t slot = op.attributes.integer(Attr::kSlot);
    if (!current_.contains(slot)) current_[slot] = literal(*op.attributes.get<LiteralRef>(Attr::kValue));
    if (!start_.contains(slot)) start_[slot] = current_[slot];
    return start_[slot];
  }

  void run_region(const Op& op, size_t i) {
    const Block& taken = *op.regions[i];
    run_block(taken);
    for (uint32_t r = 0; r < op.results.size(); ++r) give(op, values_.at(taken.results[r]), r);
  }

  // One pass through a region of a loop.
  std::vector<Array> pass(const Block& region, const std::vector<Array>& arguments) {
    EXPECT_EQ(arguments.size(), region.arguments.size());
    for (size_t i = 0; i < arguments.size(); ++i) values_[region.arguments[i]->result()] = arguments[i];
    run_block(region);
    return all_of(region.results);
  }

  void while_loop(const Op& op) {
    std::vector<Array> carried = all_of(op.operands);
    while (true) {
      const std::vector<Array> passed = pass(*op.regions[0], carried);
      carried.assign(passed.begin() + 1, passed.end());
      if (passed[0].values.at(0) == 0) break;
      carried = pass(*op.regions[1], carried);
    }
    for (uint32_t i = 0; i < carried.size(); ++i) give(op, carried[i], i);
  }

  void for_loop(const Op& op) {
    std::vector<Array> carried = all_of(op.operands);
    const double lower = carried[0].values.at(0), upper = carried[1].values.at(0), step = carried[2].values.at(0);
    carried.erase(carried.begin(), carried.begin() + 3);
    const size_t kept = carried.size();
    std::vector<Array> stacks;
    for (size_t r = kept; r < op.results.size(); ++r) stacks.push_back(Array(op.results[r].shape.dims()));
    size_t row = 0;
    for (double i = lower; step > 0 && i < upper; i += step, ++row) {
      carried.insert(carried.begin(), Array({}, i));
      carried = pass(*op.regions[0], carried);
      for (size_t s = 0; s < stacks.size(); ++s) {
        const std::vector<double>& values = carried[kept + s].values;
        std::copy(values.begin(), values.end(), stacks[s].values.begin() + static_cast<long>(row * values.size()));
      }
      carried.resize(kept);
    }
    carried.insert(carried.end(), stacks.begin(), stacks.end());
    for (uint32_t i = 0; i < carried.size(); ++i) give(op, carried[i], i);
  }

  Array count(const Op& op) const {
    std::set<int64_t> axes;
    for (int64_t axis : op.attributes.ints(Attr::kAxes)) {
      axes.insert(*normalize_axis(axis, static_cast<int64_t>(x(op).dims.size())));
    }
    double product = 1;
    for (int64_t axis : axes) product *= static_cast<double>(x(op).dims[axis]);
    return Array(Dims{}, product);
  }

  Array broadcast(const Op& op) const {
    Array out(op.results[0].shape.dims());
    size_t at = 0;
    for_each_index(out.dims, [&](const Dims& index) { out.values[at++] = x(op).values[position(x(op).dims, index)]; });
    return out;
  }

  Array reduce_like(const Op& op) const {
    Array out(op.results[0].shape.dims());
    size_t at = 0;
    for_each_index(x(op).dims, [&](const Dims& index) { out.values[position(out.dims, index)] += x(op).values[at++]; });
    return out;
  }

  Array transpose(const Op& op) const {
    Array out(op.results[0].shape.dims());
    const Dims& permutation = op.attributes.ints(Attr::kPermutation);
    size_t at = 0;
    for_each_index(out.dims, [&](const Dims& index) {
      Dims from(index.size());
      for (int64_t i = 0; i < index.size(); ++i) from[permutation[i]] = index[i];
      out.values[at++] = x(op).values[position(x(op).dims, from)];
    });
    return out;
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
      for (int64_t i = 0; i < index.size(); ++i) {
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

  // Slices at the indices.
  Array gather(const Op& op) const {
    EXPECT_EQ(op.attributes.integer(Attr::kBatchDims), 0);
    Array out(op.results[0].shape.dims());
    const int64_t axis = *normalize_axis(op.attributes.integer(Attr::kAxis), x(op).dims.size()),
                  rank = x(op, 1).dims.size();
    size_t at = 0;
    for_each_index(out.dims, [&](const Dims& index) {
      const Dims of_index(index.begin() + axis, index.begin() + axis + rank);
      Dims from(index.begin(), index.begin() + axis);
      from.push_back(static_cast<int64_t>(x(op, 1).values[position(x(op, 1).dims, of_index)]));
      from.insert(from.end(), index.begin() + axis + rank, index.end());
      const bool inside = from[axis] >= 0 && from[axis] < x(op).dims[axis];
      out.values[at++] = inside ? x(op).values[position(x(op).dims, from)] : 0;
    });
    return out;
  }

  Array scatter(const Op& op) const {
    Array out = x(op);
    const std::string& mode = op.attributes.word(Attr::kMode);
    const int64_t axis = *normalize_axis(op.attributes.integer(Attr::kAxis), out.dims.size());
    size_t at = 0;
    for_each_index(x(op, 1).dims, [&](Dims index) {
      const double update = x(op, 1).values[at++];
      index[axis] = static_cast<int64_t>(x(op, 2).values[static_cast<size_t>(index[axis])]);
      if (index[axis] < 0 || index[axis] >= out.dims[axis]) return;
      double& v = out.values[position(out.dims, index)];
      v = combined(mode, v, update);
    });
    return out;
  }

  static double combined(const std::string& mode, double v, double update) {
    if (mode == "add") return v + update;
    if (mode == "subtract") return v - update;
    if (mode == "multiply") return v * update;
    if (mode == "divide") return v / update;
    return mode == "minimum" ? std::min(v, update) : mode == "maximum" ? std::max(v, update) : update;
  }

  // Where the tuple of indices of an update at `index` leads in `dims`; nothing outside.
  static std::optional<Dims> at_tuple(const Op& op, const Array& tuples, const Dims& dims, const Dims& index) {
    Dims to(index.begin(), index.begin() + op.attributes.integer(Attr::kBatchDims)),
        at(index.begin(), index.begin() + tuples.dims.size() - 1);
    at.push_back(0);
    for (; at.back() < tuples.dims.back(); ++at.back()) {
      to.push_back(static_cast<int64_t>(tuples.values[position(tuples.dims, at)]));
      if (to.back() < 0 || to.back() >= dims[to.size() - 1]) return std::nullopt;
    }
    to.insert(to.end(), index.begin() + tuples.dims.size() - 1, index.end());
    return to;
  }

  Array gather_nd(const Op& op) const {
    Array out(op.results[0].shape.dims());
    size_t i = 0;
    for_each_index(out.dims, [&](const Dims& index) {
      const std::optional<Dims> from = at_tuple(op, x(op, 1), x(op).dims, index);
      out.values[i++] = from ? x(op).values[position(x(op).dims, *from)] : 0;
    });
    return out;
  }

  // Into `out`, of the updates and indices that are the operands of these numbers.
  Array combine(const Op& op, Array out, size_t updates, size_t indices, const std::string& mode) const {
    size_t i = 0;
    for_each_index(x(op, updates).dims, [&](const Dims& index) {
      const double update = x(op, updates).values[i++];
      const std::optional<Dims> to = at_tuple(op, x(op, indices), out.dims, index);
      if (to) out.values[position(out.dims, *to)] = combined(mode, out.values[position(out.dims, *to)], update);
    });
    return out;
  }

  Array accumulate(const Op& op) const {
    Array out = x(op);
    const int64_t axis = *normalize_axis(op.attributes.integer(Attr::kAxis), out.dims.size());
    const std::string& operation = op.attributes.word(Attr::kOperation);
    const std::string mode = operation == "sum" ? "add" : operation == "product" ? "multiply" : operation;
    Dims lines = out.dims;
    lines[axis] = 1;
    for_each_index(lines, [&](Dims at) {
      for (int64_t i = 1; i < out.dims[axis]; ++i) {
        const bool reverse = op.attributes.flag(Attr::kReverse);
        at[axis] = reverse ? out.dims[axis] - i : i - 1;
        const double before = out.values[position(out.dims, at)];
        at[axis] += reverse ? -1 : 1;
        double& v = out.values[position(out.dims, at)];
        v = combined(mode, before, v);
      }
    });
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
    kept[*normalize_axis(op.attributes.integer(Attr::kAxis), static_cast<int64_t>(kept.size()))] = 1;
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
    kept[*normalize_axis(op.attributes.integer(Attr::kAxis), static_cast<int64_t>(kept.size()))] = 1;
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

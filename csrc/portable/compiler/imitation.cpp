#include "compiler/imitation.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <set>
#include <unordered_set>

#include "ir/rules/expr.h"
#include "ir/rules/windows.h"
#include "ir/transform/rewrite.h"

namespace alloy::compiler {
namespace {

using ir::Attr;
using ir::Dims;
using ir::DType;
using ir::DTypeKind;
using ir::Expr;
using ir::Graph;
using ir::kMostChannels;
using ir::kMostImages;
using ir::kMostOfMatrix;
using ir::kMostRank;
using ir::Literal;
using ir::Op;
using ir::OpCode;
using ir::Quirk;
using ir::Replacement;
using ir::Shape;
using ir::Type;
using ir::Value;

// The first `count` elements along an axis; `v` itself if it has no more.
Value first(Graph& graph, Value v, int64_t axis, int64_t count) {
  const Dims& dims = v.shape().dims();
  if (dims[axis] <= count) return v;
  Dims ends = dims;
  ends[axis] = count;
  return graph.value(
      OpCode::slice, {v},
      {{Attr::kStarts, Dims(dims.size(), 0)}, {Attr::kEnds, ends}, {Attr::kStrides, Dims(dims.size(), 1)}});
}

// `v` with zeros after the first `count` elements along an axis.
Value zero_beyond(Graph& graph, Value v, int64_t axis, int64_t count) {
  Dims rest = v.shape().dims();
  int64_t& extent = rest[axis];
  if (extent <= count) return v;
  extent -= count;
  return graph.value(OpCode::concat, {first(graph, v, axis, count), constant(graph, {v.dtype(), Shape(rest)}, 0)},
                     {{Attr::kAxis, axis}});
}

bool is_scatter(const Op& op) {
  return op.code == OpCode::scatter || op.code == OpCode::scatter_nd || op.code == OpCode::scatter_nd_update;
}

// Table ops are either elementwise or reductions.
bool is_reduction(const Op& op) { return op.info().family != ir::Family::kStructured && !op.info().facts.elementwise; }

class Imitator {
 public:
  explicit Imitator(ir::System system) : system_(system) {}

  std::unique_ptr<Graph> run(const Graph& graph) {
    return ir::Rewriter([this](ir::Rewriter& r, const Op& op, const std::vector<Value>& operands) -> Replacement {
             return replace(r, op, operands);
           })
        .run(graph);
  }

 private:
  bool has(Quirk quirk) const { return ir::has(system_, quirk); }

  std::vector<Value> replace(ir::Rewriter& r, const Op& op, std::vector<Value> operands) {
    Graph& copy = r.copy();
    refuse(op, operands);
    if (has(Quirk::read_after_assign)) read_late(copy, op, operands);
    std::vector<Value> results = compute(r, op, operands);
    if (op.code == OpCode::assign) assigned_.insert(operands[0].op);
    return results;
  }

  [[noreturn]] void abort(const Op& op, Quirk quirk) const { throw Abort(std::string(op.info().name), system_, quirk); }

  void refuse(const Op& op, const std::vector<Value>& operands) const {
    const auto refuse_if = [&](bool applies, Quirk quirk) {
      if (applies && has(quirk)) abort(op, quirk);
    };
    const auto rank = [&](size_t i) { return operands[i].shape().ranked() ? operands[i].shape().rank() : 0; };
    for (const Type& type : op.results) {
      refuse_if(type.dtype == DType::bfloat16, Quirk::bfloat16);
      refuse_if(kind(type.dtype) == DTypeKind::kComplex, Quirk::complex);
    }
    if (is_reduction(op)) {
      refuse_if(rank(0) > kMostRank, Quirk::reduction_beyond_rank4);
      refuse_if(op.attributes.has(Attr::kAxes) && op.attributes.ints(Attr::kAxes).empty(), Quirk::reduction_of_no_axes);
    }
    if (op.code == OpCode::matmul) refuse_if(std::max(rank(0), rank(1)) > kMostRank, Quirk::product_beyond_rank4);
    if (op.code == OpCode::sign) refuse_if(operands[0].dtype() == DType::int64, Quirk::sign_of_int64);
    if (op.code == OpCode::select) refuse_if(operands[0].dtype() != DType::boolean, Quirk::select_by_number);
    if (op.code == OpCode::assign && operands[0].shape() != operands[1].shape()) abort(op, Quirk::optimizer_of_scalar);
    if (op.code == OpCode::conv2d_weights_gradient || op.code == OpCode::conv3d_weights_gradient) {
      refuse_if(ir::size_of(op.results[0].dtype) == 2, Quirk::half_convolution_gradient);
    }
    if (op.code == OpCode::argsort || op.code == OpCode::accumulate) {
      const auto axis = ir::normalize_axis(op.attributes.integer(Attr::kAxis), rank(0));
      refuse_if(axis && !ir::is_near_the_end(*axis, rank(0)), Quirk::order_beyond_axis4);
    }
    if (op.code == OpCode::argsort)
      refuse_if(!ir::is_sorted_as_it_is(operands[0].dtype()), Quirk::order_of_other_types);
    if (is_scatter(op)) refuse_if(ir::is_narrow(operands[0].dtype()), Quirk::narrow_scatter);
  }

  // Replaces operands that are assigned variables by their current values.
  void read_late(Graph& copy, const Op& op, std::vector<Value>& operands) const {
    for (size_t i = op.code == OpCode::assign || op.code == OpCode::read_variable ? 1 : 0; i < operands.size(); ++i) {
      if (assigned_.contains(operands[i].op)) operands[i] = copy.value(OpCode::read_variable, {operands[i]});
    }
  }

  std::vector<Value> compute(ir::Rewriter& r, const Op& op, const std::vector<Value>& operands) {
    Graph& copy = r.copy();
    const auto same = [&] { return r.copy_over(op, operands); };
    if (op.info().facts.coefficients > 0) return step(copy, op, operands, same());
    switch (op.code) {  // the ops that rows of quirks.def are about
      case OpCode::constant: return {truth(copy, op, same)};
      case OpCode::cast: return {is_255(operands[0]) ? number(copy, operands[0], op.results[0].dtype) : same()[0]};
      case OpCode::equal:
      case OpCode::not_equal:
        if (!is_255(operands[0]) && !is_255(operands[1])) return same();
        return {
            copy.value(op.code, {number(copy, operands[0], DType::int32), number(copy, operands[1], DType::int32)})};
      case OpCode::matmul: return {product(r, op, operands)};
      case OpCode::conv2d: return {convolution(op, same()[0], copy)};
      case OpCode::conv2d_data_gradient: {
        const Value whole = same()[0];
        return {has(Quirk::convolution_of_many_images) ? zero_beyond(copy, whole, 0, kMostImages) : whole};
      }
      case OpCode::conv2d_weights_gradient:
        if (!has(Quirk::convolution_of_many_images)) return same();
        return r.copy_over(
            op, {first(copy, operands[0], 0, kMostImages), first(copy, operands[1], 0, kMostImages), operands[2]});
      case OpCode::slice_gradient:
        return has(Quirk::strided_slice_gradient) ? std::vector{side_by_side(copy, op, operands)} : same();
      case OpCode::divide: {
        const bool is_integer = ir::kind(op.results[0].dtype) != DTypeKind::kFloating;
        return is_integer && has(Quirk::integer_quotient) ? std::vector{quotient(copy, operands)} : same();
      }
      case OpCode::power: {
        const bool is_floating = ir::kind(op.results[0].dtype) == DTypeKind::kFloating;
        if (!is_floating || !has(Quirk::power_of_negative)) return same();
        const Expr base(copy, operands[0]), y(copy, same()[0]);
        return {ir::select(base < 0.0, std::numeric_limits<double>::quiet_NaN(), y).value()};
      }
      case OpCode::sign: {
        if (ir::kind(op.results[0].dtype) != DTypeKind::kFloating || !has(Quirk::sign_of_negative_zero)) return same();
        const Expr x(copy, operands[0]);
        return {ir::select(x == 0.0, 0.0, Expr(copy, same()[0])).value()};
      }
      case OpCode::accumulate:  // the source does not say which numbers come instead; zeros here
        if (!ir::is_narrow(op.results[0].dtype) || !has(Quirk::narrow_accumulation)) return same();
        return {constant(copy, op.results[0], 0)};
      case OpCode::scatter_nd:
      case OpCode::scatter_nd_update:
        if (op.results[0].dtype != DType::float16 || !has(Quirk::half_scatter_nd)) return same();
        return {constant(copy, op.results[0], 0)};
      case OpCode::random: return has(Quirk::least_normal) ? without_least_normal(copy, op, same()) : same();
      default: return same();
    }
  }

  // ---- quirk true_is_255: the facade marks such a constant by a byte that is no valid bool ----

  bool is_255(Value v) const { return true_is_255_.contains(v); }

  template <class Same>
  Value truth(Graph& copy, const Op& op, const Same& same) {
    const Literal& literal = *op.attributes.get<ir::LiteralRef>(Attr::kValue);
    const bool marked =
        literal.type().dtype == DType::boolean && !literal.bytes().empty() && literal.bytes()[0] == kTrueOf255;
    if (!marked) return same()[0];
    const Value ours = constant(copy, literal.type(), 1);
    true_is_255_.insert(ours);
    return ours;
  }

  Value number(Graph& copy, Value v, DType dtype) const {
    return cast(copy, is_255(v) ? constant(copy, {DType::int32, v.shape()}, 255) : v, dtype);
  }

  // ---- quirks of large sizes ----

  Value product(ir::Rewriter& r, const Op& op, std::vector<Value> operands) const {
    Graph& copy = r.copy();
    const int64_t a = operands[0].shape().rank(), b = operands[1].shape().rank();
    if (has(Quirk::long_inner_product)) {
      operands[0] = first(copy, operands[0], op.attributes.flag(Attr::kTransposeA) ? a - 2 : a - 1, kMostOfMatrix);
      operands[1] = first(copy, operands[1], op.attributes.flag(Attr::kTransposeB) ? b - 1 : b - 2, kMostOfMatrix);
    }
    Value y = r.copy_over(op, operands)[0];
    if (operands[0].op->code == OpCode::softmax && has(Quirk::product_of_softmax)) {
      y = (Expr(copy, y) * std::numeric_limits<double>::quiet_NaN()).value();
    }
    if (!has(Quirk::large_matrix)) return y;
    y = zero_beyond(copy, y, y.shape().rank() - 2, kMostOfMatrix);
    return zero_beyond(copy, y, y.shape().rank() - 1, kMostOfMatrix);
  }

  Value convolution(const Op& op, Value y, Graph& copy) const {
    if (!has(Quirk::convolution_to_many_channels)) return y;
    return zero_beyond(copy, y, ir::LayoutAxes::of_data(op.attributes.word(Attr::kDataLayout)).channels, kMostChannels);
  }

  // ---- quirks of numbers ----

  // The slice's gradient written without gaps and forwards, from the start of the slice or from the last place where it
  // fits.
  Value side_by_side(Graph& copy, const Op& op, const std::vector<Value>& operands) const {
    const Shape &shape = op.results[0].shape, &given = operands[0].shape();
    if (!shape.is_static() || !given.is_static()) return copy.value(op.code, operands, op.attributes);
    Dims starts, ends;
    for (int64_t i = 0; i < shape.rank(); ++i) {
      const auto s = ir::resolve_slice(op.attributes.ints(Attr::kStarts)[i], op.attributes.ints(Attr::kEnds)[i],
                                       op.attributes.ints(Attr::kStrides)[i], shape[i]);
      starts.push_back(std::min(s.start, shape[i] - s.length));
      ends.push_back(starts.back() + s.length);
    }
    const Dims strides(starts.size(), 1);
    return copy.value(op.code, operands, {{Attr::kStarts, starts}, {Attr::kEnds, ends}, {Attr::kStrides, strides}});
  }

  Value quotient(Graph& copy, const std::vector<Value>& operands) const {
    const DType dtype = operands[0].dtype();
    const Expr a(copy, cast(copy, operands[0], DType::float32)), b(copy, cast(copy, operands[1], DType::float32));
    const Expr exact = a * ir::reciprocal(b);
    const Expr truncated = ir::cast(ir::cast(exact, DType::int64), DType::float32);
    return ir::cast(ir::select(truncated > exact, truncated - 1.0, truncated), dtype).value();
  }

  // The smallest number is 5.29 deviations below the mean, the next one 5.17.
  static std::vector<Value> without_least_normal(Graph& copy, const Op& op, std::vector<Value> results) {
    const ir::Attributes& attributes = op.attributes;
    if (attributes.word(Attr::kDistribution) != "normal" || attributes.word(Attr::kSampling) != "inverse_cdf") {
      return results;
    }
    const double bound = attributes.number(Attr::kMean) - 5.23 * attributes.number(Attr::kDeviation);
    const Expr numbers(copy, results[0]);
    results[0] = ir::select(numbers < bound, std::numeric_limits<double>::quiet_NaN(), numbers).value();
    return results;
  }

  // With coefficients of one axis, the step of a scalar has that axis too.
  std::vector<Value> step(Graph& copy, const Op& op, const std::vector<Value>& operands,
                          std::vector<Value> results) const {
    const size_t coefficients = op.info().facts.coefficients;
    const bool has_axis = std::any_of(operands.begin(), operands.begin() + static_cast<long>(coefficients),
                                      [](const Value& v) { return v.shape().rank() > 0; });
    if (!has_axis || operands[coefficients].shape().rank() > 0 || !has(Quirk::optimizer_of_scalar)) return results;
    for (Value& v : results) v = copy.value(OpCode::reshape, {v}, {{Attr::kShape, Shape({1})}});
    return results;
  }

  ir::System system_;
  std::set<const Op*> assigned_;                          // assigned variables of the copy
  std::unordered_set<Value, ir::ValueHash> true_is_255_;  // true constants of the copy that read as 255
};

Imitation asked_for() {
  const char* word = std::getenv("ALLOY_PRETEND");
  if (word == nullptr || *word == '\0') return {};
  if (const auto system = ir::find_system(word)) return {*system, {}};
  return {{},
          "[device] ALLOY_PRETEND names no system that can be imitated: expected " + ir::system_names() + ", got '" +
              word + "'."};
}

}  // namespace

const Imitation& imitation() {
  static const Imitation asked = asked_for();
  return asked;
}

std::unique_ptr<Graph> imitate(const Graph& graph, ir::System system) { return Imitator(system).run(graph); }

}  // namespace alloy::compiler

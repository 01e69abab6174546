// Constant folding, algebraic identities and common subexpressions, in one walk from operands to results.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "compiler/passes.h"
#include "ir/transform/rewrite.h"

namespace alloy::compiler {
namespace {

using ir::Attr;
using ir::Graph;
using ir::LiteralRef;
using ir::Op;
using ir::OpCode;
using ir::Replacement;
using ir::Shape;
using ir::Value;

// Larger constants are not folded.
constexpr int64_t kMostFoldedElements = 64;

// Larger constants are not compared element by element.
constexpr size_t kMostComparedBytes = 4096;

const ir::Literal* literal_of(Value v) {
  return v.op->code == OpCode::constant ? v.op->attributes.get<LiteralRef>(Attr::kValue).get() : nullptr;
}

// True for a float32 constant of one element that equals `number`; 0 and -0 differ.
bool is_scalar(Value v, double number) {
  const ir::Literal* literal = literal_of(v);
  return literal != nullptr && v.dtype() == ir::DType::float32 &&
         (literal->is_splat() || v.shape().element_count() == 1) && literal->at(0) == number &&
         std::signbit(literal->at(0)) == std::signbit(number);
}

class Simplifier {
 public:
  explicit Simplifier(const device::Device& device) : device_(device) {}

  std::unique_ptr<Graph> run(const Graph& graph) {
    count_uses(graph.body());
    ir::Rewriter rewriter([this](ir::Rewriter& r, const Op& op, const std::vector<Value>& operands) -> Replacement {
      const ir::Facts& facts = op.info().facts;
      if (op.results.size() != 1 || !op.regions.empty() || facts.global || facts.fresh) return std::nullopt;
      // Values computed in a region are invisible to other blocks, so equal ops are shared within one block only.
      block_ = op.block;
      if (const auto turned = turned_product(r.copy(), op, operands)) return {{*turned}};
      return {{simplified(r.copy(), op.code, operands, op.attributes)}};
    });
    return rewriter.run(graph);
  }

 private:
  void count_uses(const ir::Block& block) {
    for (const auto& op : block.ops) {
      for (const Value& v : op->operands) ++uses_[v];
      for (const auto& region : op->regions) count_uses(*region);
    }
    for (const Value& v : block.results) ++uses_[v];
  }

  // The value of an op with these operands, which are already simplified. Below, an op is named only where an identity
  // is about this op; all other ops are handled by the facts of their rows.
  Value simplified(Graph& graph, OpCode code, std::vector<Value> operands, const ir::Attributes& attributes) {
    if (auto known = identity(code, operands)) return *known;
    if (code == OpCode::matmul) return product(graph, operands, attributes);
    if (code == OpCode::broadcast_to && operands[0].op->code == OpCode::broadcast_to) {
      operands[0] = operands[0].op->operands[0];
    }
    if (code == OpCode::reshape && operands[0].op->code == OpCode::reshape) operands[0] = operands[0].op->operands[0];
    if (code == OpCode::relu_gradient) operands[1] = rectified(operands[1]);
    if (code == OpCode::sum) {
      if (auto factored = factor_out(graph, operands[0], attributes)) return *factored;
    }
    Value made = shared(graph, code, operands, attributes);
    if (!made.op->info().facts.elementwise) return folded(graph, made);
    if (drop_reshapes(operands, made.shape())) return simplified(graph, code, operands, attributes);
    if (auto sunk = sink_broadcasts(graph, made)) return *sunk;
    return folded(graph, made);
  }

  // x + -0, x - 0, x * 1 and x / 1 are x if x has the result's shape. x + 0 is not, because -0 + 0 is 0.
  static std::optional<Value> identity(OpCode code, const std::vector<Value>& operands) {
    auto keeps = [&](size_t x, size_t other, double number) {
      const auto shape = ir::broadcast(operands[0].shape(), operands[1].shape());
      return is_scalar(operands[other], number) && shape && *shape == operands[x].shape();
    };
    switch (code) {
      case OpCode::add:
        if (keeps(0, 1, -0.0)) return operands[0];
        if (keeps(1, 0, -0.0)) return operands[1];
        break;
      case OpCode::multiply:
        if (keeps(1, 0, 1)) return operands[1];
        [[fallthrough]];
      case OpCode::divide:
        if (keeps(0, 1, 1)) return operands[0];
        break;
      case OpCode::subtract:
        if (keeps(0, 1, 0)) return operands[0];
        break;
      default: break;
    }
    return std::nullopt;
  }

  // relu(x) in place of x if it exists: both are 0 or negative at the same elements, and x need not be kept.
  Value rectified(Value x) const {
    const auto known = values_.find(key_of(OpCode::relu, {x}, {}));
    return known == values_.end() ? x : known->second;
  }

  // Moves a sign, or a factor that is constant along the axes, behind the sum. The sum of -x is written 0 - sum,
  // because no sum is -0.
  std::optional<Value> factor_out(Graph& graph, Value summed, const ir::Attributes& axes) {
    const Op& op = *summed.op;
    if (op.code == OpCode::negative) {
      const Value zero =
          shared(graph, OpCode::constant, {}, {{Attr::kValue, ir::Literal::splat({summed.dtype(), Shape()}, 0)}});
      return simplified(graph, OpCode::subtract, {zero, simplified(graph, OpCode::sum, op.operands, axes)}, {});
    }
    if (op.code != OpCode::multiply) return std::nullopt;
    for (size_t i : {size_t{0}, size_t{1}}) {
      const Value x = op.operands[i], factor = op.operands[1 - i];
      if (x.shape() != summed.shape() || !is_constant_along(factor.shape(), axes.ints(Attr::kAxes), x.shape().rank())) {
        continue;
      }
      return simplified(graph, OpCode::multiply, {simplified(graph, OpCode::sum, {x}, axes), factor}, {});
    }
    return std::nullopt;
  }

  // True if a tensor of this shape, broadcast to the rank, is constant along the axes.
  static bool is_constant_along(const Shape& shape, const ir::Dims& axes, int64_t rank) {
    return std::all_of(axes.begin(), axes.end(), [&](int64_t axis) {
      const int64_t own = *ir::normalize_axis(axis, rank) - (rank - shape.rank());
      return own < 0 || shape[own] == 1;
    });
  }

  // Removes reshapes that only add or remove leading axes of length 1 from the operands of an elementwise op. Returns
  // true if there were any.
  static bool drop_reshapes(std::vector<Value>& operands, const Shape& result) {
    bool any = false;
    for (Value& v : operands) {
      if (v.op->code != OpCode::reshape) continue;
      const Value inner = v.op->operands[0];
      const Value before = std::exchange(v, inner);
      std::optional<Shape> shape = operands[0].shape();
      for (const Value& operand : operands) shape = shape ? ir::broadcast(*shape, operand.shape()) : shape;
      const bool same =
          without_leading_ones(inner.shape()) == without_leading_ones(before.shape()) && shape && *shape == result;
      if (!same) v = before;
      any |= same;
    }
    return any;
  }

  static ir::Dims without_leading_ones(const Shape& shape) {
    ir::Dims dims = shape.dims();
    dims.erase(dims.begin(), std::find_if(dims.begin(), dims.end(), [](int64_t d) { return d != 1; }));
    return dims;
  }

  // Transpositions of the last two axes of an operand, also before a cast, become a flag of the product.
  Value product(Graph& graph, std::vector<Value> operands, ir::Attributes attributes) {
    const auto is_turned = [](const Op& op) {
      return op.code == OpCode::transpose && swaps_last_two(op.attributes.ints(Attr::kPermutation));
    };
    for (size_t i = 0; i < 2; ++i) {
      const Attr flag = i == 0 ? Attr::kTransposeA : Attr::kTransposeB;
      for (;;) {
        const Op& op = *operands[i].op;
        const bool is_cast = op.code == OpCode::cast;
        const Op& turned = is_cast ? *op.operands[0].op : op;
        if (!is_turned(turned)) break;
        attributes.set(flag, !attributes.flag(flag));
        operands[i] = turned.operands[0];
        if (is_cast) operands[i] = shared(graph, OpCode::cast, {operands[i]}, op.attributes);
      }
    }
    return shared(graph, OpCode::matmul, operands, attributes);
  }

  // Replaces a transposed product by the product of the transposed operands in the opposite order, if nothing else uses
  // the product. In a loop, this must not compute a product from outside the loop again.
  std::optional<Value> turned_product(Graph& graph, const Op& op, const std::vector<Value>& operands) {
    if (op.code != OpCode::transpose || !swaps_last_two(op.attributes.ints(Attr::kPermutation))) return std::nullopt;
    const Op& matmul = *operands[0].op;
    const bool is_own = uses_.at(op.operands[0]) == 1 && op.operands[0].op->block == op.block;
    if (matmul.code != OpCode::matmul || !is_own) return std::nullopt;
    return product(graph, {matmul.operands[1], matmul.operands[0]},
                   {{Attr::kTransposeA, !matmul.attributes.flag(Attr::kTransposeB)},
                    {Attr::kTransposeB, !matmul.attributes.flag(Attr::kTransposeA)}});
  }

  static bool swaps_last_two(const ir::Dims& permutation) {
    const int64_t rank = permutation.size();
    for (int64_t i = 0; i < rank - 2; ++i) {
      if (permutation[i] != i) return false;
    }
    return rank >= 2 && permutation[rank - 1] == rank - 2;
  }

  // An elementwise op of broadcast operands becomes the broadcast of the op.
  std::optional<Value> sink_broadcasts(Graph& graph, Value made) {
    std::vector<Value> operands = made.op->operands;
    bool any = false;
    for (Value& v : operands) {
      if (v.op->code != OpCode::broadcast_to) continue;
      v = v.op->operands[0];
      any = true;
    }
    if (!any) return std::nullopt;
    const Shape full = made.shape();
    const Value small = simplified(graph, made.op->code, operands, made.op->attributes);
    if (small.shape() == full) return small;
    return shared(graph, OpCode::broadcast_to, {small}, {{Attr::kShape, full}});
  }

  // Computes an op of small constants.
  Value folded(Graph& graph, Value v) {
    const ir::Type type = v.type();
    if (v.op->operands.empty() || type.shape.element_count() > kMostFoldedElements || type.shape.element_count() == 0) {
      return v;
    }
    std::vector<std::vector<std::byte>> inputs;
    std::vector<const std::byte*> pointers;
    for (const Value& operand : v.op->operands) {
      const ir::Literal* literal = literal_of(operand);
      if (literal == nullptr || operand.shape().element_count() > kMostFoldedElements) return v;
      literal->fill(inputs.emplace_back(operand.type().byte_count()).data());
    }
    for (const auto& input : inputs) pointers.push_back(input.data());
    std::vector<std::byte> result(type.byte_count());
    if (!device_.fold(*v.op, pointers.data(), result.data())) return v;
    return shared(graph, OpCode::constant, {}, {{Attr::kValue, std::make_shared<ir::Literal>(type, result)}});
  }

  // The op with these operands and attributes: an existing one or a new one.
  Value shared(Graph& graph, OpCode code, const std::vector<Value>& operands, const ir::Attributes& attributes) {
    Key key = key_of(code, operands, attributes);
    const auto known = values_.find(key);
    if (known != values_.end()) return known->second;
    return values_[std::move(key)] = graph.value(code, operands, attributes);
  }

  static std::string key_of(const ir::AttrValue& value) {
    const auto* literal = std::get_if<LiteralRef>(&value);
    if (literal == nullptr) return ir::to_string(value);
    const auto bytes = (*literal)->bytes();
    // A large constant equals only itself: comparing the elements would take time, and storing them as a key memory.
    if (bytes.size() > kMostComparedBytes) return std::to_string(reinterpret_cast<uintptr_t>(literal->get()));
    return to_string((*literal)->type()) + std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }

  struct Key {
    const ir::Block* block;
    OpCode code;
    std::vector<std::pair<uint64_t, uint32_t>> operands;
    std::vector<std::pair<Attr, std::string>> attributes;
    auto operator<=>(const Key&) const = default;
  };
  Key key_of(OpCode code, const std::vector<Value>& operands, const ir::Attributes& attributes) const {
    Key key{block_, code, {}, {}};
    for (const Value& v : operands) key.operands.emplace_back(v.op->id, v.index);
    for (const auto& [attr, value] : attributes.entries()) {
      const bool* flag = std::get_if<bool>(&value);
      if (flag == nullptr || *flag) key.attributes.push_back({attr, key_of(value)});  // a missing flag is false
    }
    return key;
  }

  const device::Device& device_;
  const ir::Block* block_ = nullptr;  // block of the current op in the graph that is simplified
  std::map<Key, Value> values_;
  ir::ValueMap<int64_t> uses_;  // number of uses of values of that graph
};

}  // namespace

std::unique_ptr<Graph> simplify(const Graph& graph, const device::Device& device) {
  // The second copy drops ops that replacements left unused.
  return ir::Rewriter([](ir::Rewriter&, const Op&, const std::vector<Value>&) -> Replacement { return std::nullopt; })
      .run(*Simplifier(device).run(graph));
}

}  // namespace alloy::compiler

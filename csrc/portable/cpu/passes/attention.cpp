#include "cpu/passes/attention.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <vector>

#include "ir/transform/rewrite.h"

namespace alloy::cpu {
namespace {

using ir::Attr;
using ir::Block;
using ir::Dims;
using ir::Graph;
using ir::Op;
using ir::OpCode;
using ir::Replacement;
using ir::Shape;
using ir::Value;

// With more features, nearly all time goes to the products, which are faster as ops of their own.
constexpr int64_t kMostFeatures = 256;

int64_t from_end(const Shape& shape, int64_t i) { return shape[shape.rank() - i]; }

// The values and ops of one attention. Values and ops that the graph lacks are null.
struct Attention {
  Value query, key, value, mask, incoming;
  double scale = 1;
  bool steps_first = false;
  const Op *output = nullptr, *query_gradient = nullptr, *key_gradient = nullptr, *value_gradient = nullptr;
  const Op* random = nullptr;  // draws the numbers of a dropout
  Value rate;

  std::vector<const Op*> gradients() const {
    std::vector<const Op*> list = {query_gradient, key_gradient, value_gradient};
    std::erase(list, nullptr);
    return list;
  }
};

class Finder {
 public:
  explicit Finder(const Graph& graph) { count(graph.body()); }

  std::vector<Attention> run() const {
    std::vector<Attention> list;
    for (const Op* softmax : softmaxes_) {
      if (auto found = attention_of(*softmax)) list.push_back(*found);
    }
    return list;
  }

 private:
  // The ops that use a value; null stands for a block that returns it.
  using Users = std::vector<const Op*>;

  void count(const Block& block) {
    for (const auto& op : block.ops) {
      for (const Value& v : op->operands) users_[v].push_back(op.get());
      if (op->code == OpCode::softmax) softmaxes_.push_back(op.get());
      for (const auto& region : op->regions) count(*region);
    }
    for (const Value& v : block.results) users_[v].push_back(nullptr);
  }

  const Users& users(Value v) const {
    static const Users none;
    const auto found = users_.find(v);
    return found == users_.end() ? none : found->second;
  }
  // The only user, unless that is in another block.
  const Op* user(Value v) const {
    const Users& all = users(v);
    return all.size() == 1 && all[0] != nullptr && all[0]->block == v.op->block ? all[0] : nullptr;
  }

  static bool is_product(const Op& op, bool transpose_a, bool transpose_b) {
    return op.code == OpCode::matmul && op.attributes.flag(Attr::kTransposeA) == transpose_a &&
           op.attributes.flag(Attr::kTransposeB) == transpose_b;
  }

  // The factor by which the op multiplies its first or second operand, whose shape is the result's, and that operand.
  struct Scaled {
    Value x;
    double factor;
  };
  static std::optional<Scaled> scaled(const Op& op) {
    if (op.code != OpCode::multiply && op.code != OpCode::divide) return std::nullopt;
    for (size_t i : {size_t{1}, size_t{0}}) {
      if (i == 0 && op.code == OpCode::divide) break;
      const Op& other = *op.operands[i].op;
      if (other.code != OpCode::constant || op.operands[1 - i].shape() != op.results[0].shape) continue;
      const ir::LiteralRef& literal = other.attributes.get<ir::LiteralRef>(Attr::kValue);
      if (!literal->is_splat() && op.operands[i].shape().element_count() != 1) continue;
      const double number = literal->at(0);
      return Scaled{op.operands[1 - i], op.code == OpCode::divide ? 1 / number : number};
    }
    return std::nullopt;
  }

  static bool swaps_steps_and_heads(const Op& op) {
    return op.code == OpCode::transpose && op.attributes.ints(Attr::kPermutation) == Dims{0, 2, 1, 3};
  }

  std::optional<Attention> attention_of(const Op& softmax) const {
    Attention a;
    const Value weights = softmax.result();
    Value scores = softmax.operands[0];
    const int64_t rank = scores.shape().rank();
    if (weights.dtype() != ir::DType::float32 || rank < 2 || scores.shape().element_count() == 0 ||
        *ir::normalize_axis(softmax.attributes.integer(Attr::kAxis), rank) != rank - 1 || user(scores) == nullptr) {
      return std::nullopt;
    }
    if (const Op& sum = *scores.op; sum.code == OpCode::add) {
      const size_t masked = is_scores(sum.operands[0], scores.shape()) ? 0 : 1;
      a.mask = sum.operands[1 - masked];
      scores = sum.operands[masked];
    }
    // The scale is a factor of the scores or of the query.
    double factor = 1;
    if (const auto inner = scaled(*scores.op); inner && user(scores) != nullptr) {
      factor = inner->factor;
      scores = inner->x;
    }
    if (!is_product(*scores.op, false, true) || scores.shape() != softmax.results[0].shape || user(scores) == nullptr) {
      return std::nullopt;
    }
    a.query = scores.op->operands[0];
    a.key = scores.op->operands[1];
    a.scale = factor;
    const Op* const dropout = dropout_of(weights, a);
    const Value used = dropout == nullptr ? weights : dropout->result();
    if (!find_output(used, a)) return std::nullopt;
    const bool has_gradient = users(weights).size() > 1;
    if (has_gradient && !find_gradients(weights, dropout, factor, a)) return std::nullopt;
    if (a.random != nullptr && !is_own_dropout(*dropout, has_gradient)) return std::nullopt;
    take_scale_of_query(a);
    if (!has_good_shapes(a, has_gradient) || !comes_before_results(a)) return std::nullopt;
    put_steps_first(a);
    return a;
  }

  // True for the scores of these dimensions, with or without a factor.
  static bool is_scores(Value v, const Shape& shape) {
    const auto inner = scaled(*v.op);
    return v.shape() == shape && is_product(*(inner ? inner->x : v).op, false, true);
  }

  // ---- dropout: select(random >= rate, weights / (1 - rate), 0), and the same of gradients ----

  static const ir::Literal* literal_of(Value v) {
    const bool is_number = v.op->code == OpCode::constant && v.shape().element_count() == 1;
    return is_number ? v.op->attributes.get<ir::LiteralRef>(Attr::kValue).get() : nullptr;
  }
  static bool is_number(Value v, double number) {
    const ir::Literal* const literal = literal_of(v);
    return literal != nullptr && literal->at(0) == number;
  }

  // The op whose result are the weights after a dropout, whose random numbers and rate `a` receives; null without one.
  const Op* dropout_of(Value weights, Attention& a) const {
    for (const Op* op : users(weights)) {
      if (op == nullptr || op->code != OpCode::divide_no_nan || op->operands[0] != weights) continue;
      const Op* const select = user(op->result());
      if (select == nullptr || select->code != OpCode::select || select->operands[1] != op->result()) continue;
      const Op& compare = *select->operands[0].op;
      if (compare.code != OpCode::greater_equal || compare.operands[0].op->code != OpCode::random) continue;
      const ir::Literal* const rate = literal_of(compare.operands[1]);
      const bool fits = rate != nullptr && is_number(select->operands[2], 0) && compare.block == weights.op->block &&
                        is_number(op->operands[1], static_cast<double>(1.0F - static_cast<float>(rate->at(0)))) &&
                        is_unit(*compare.operands[0].op, weights.shape()) && compare.operands[0].index == 0;
      if (!fits) continue;
      a.random = compare.operands[0].op;
      a.rate = compare.operands[1];
      return select;
    }
    return nullptr;
  }
  // True for uniform numbers from 0 to below 1, one for each weight.
  static bool is_unit(const Op& random, const Shape& shape) {
    const auto number = [&](Attr attr) { return random.attributes.number(attr); };
    return random.attributes.word(Attr::kDistribution) == "uniform" && number(Attr::kLow) == 0 &&
           number(Attr::kHigh) == 1 && random.results[0] == ir::Type{ir::DType::float32, shape};
  }
  // True if nothing but the attention uses the random numbers.
  bool is_own_dropout(const Op& dropout, bool has_gradient) const {
    const Value is_kept = dropout.operands[0];
    return users(is_kept).size() == (has_gradient ? 2U : 1U) && user(is_kept.op->operands[0]) == is_kept.op;
  }
  // The gradient of the dropped weights, from the op that computes the weights' one; nothing if that is another op.
  std::optional<Value> before_dropout(const Op& divide, const Op& dropout) const {
    if (divide.code != OpCode::divide_no_nan || divide.operands[0].op->code != OpCode::select) return std::nullopt;
    const Op& select = *divide.operands[0].op;
    const bool is_same = divide.operands[1] == dropout.operands[1].op->operands[1] &&
                         select.operands[0] == dropout.operands[0] && select.operands[2] == dropout.operands[2] &&
                         user(select.result()) == &divide && user(select.operands[1]) == &select;
    return is_same ? std::optional(select.operands[1]) : std::nullopt;
  }

  // ---- the products ----

  // The product of the weights, perhaps after a dropout, and the value.
  bool find_output(Value weights, Attention& a) const {
    for (const Op* op : users(weights)) {
      if (op == nullptr || op->block != weights.op->block) return false;
      if (!is_product(*op, false, false) || op->operands[0] != weights || op->operands[1] == weights) continue;
      if (a.output != nullptr) return false;
      a.output = op;
      a.value = op->operands[1];
    }
    return a.output != nullptr;
  }

  // With weights w and incoming gradient g, the gradient of the scores is w (g value^T - sum(w g value^T)).
  bool find_gradients(Value weights, const Op* dropout, double factor, Attention& a) const {
    const Value used = dropout == nullptr ? weights : dropout->result();
    for (const Op* op : users(used)) {
      if (op == a.output || (dropout == nullptr && op->code == OpCode::multiply)) continue;
      if (!is_product(*op, true, false) || op->operands[0] != used || a.value_gradient != nullptr) return false;
      a.value_gradient = op;
      a.incoming = op->operands[1];
    }
    const Op* const divided = dropout == nullptr ? nullptr : dropout->operands[1].op;
    const Op *weighted = nullptr, *of_scores = nullptr;
    for (const Op* op : users(weights)) {
      if (op == nullptr || op->block != weights.op->block) return false;
      if (op == a.output || op == a.value_gradient || op == divided) continue;
      const bool is_left = op->operands[0] == weights;
      if (op->code == OpCode::multiply) {
        const bool subtracts = op->operands[is_left ? 1 : 0].op->code == OpCode::subtract;
        const Op*& place = subtracts ? of_scores : weighted;
        if (place != nullptr) return false;
        place = op;
      } else {
        return false;
      }
    }
    if (weighted == nullptr || of_scores == nullptr) return false;
    const Value of_weights = weighted->operands[weighted->operands[0] == weights ? 1 : 0];
    const auto of_used = dropout == nullptr ? std::optional(of_weights) : before_dropout(*of_weights.op, *dropout);
    if (!of_used) return false;
    const Op& product = *of_used->op;
    const Op& difference = *of_scores->operands[of_scores->operands[0] == weights ? 1 : 0].op;
    const Op& sum = *difference.operands[1].op;
    const bool is_softmax_gradient =
        is_product(product, false, true) && product.operands[1] == a.value && users(of_weights).size() == 2 &&
        difference.operands[0] == of_weights && user(difference.result()) == of_scores && sum.code == OpCode::sum &&
        sum.operands[0] == weighted->result() && user(sum.result()) == &difference &&
        user(weighted->result()) == &sum && sums_last_axis(sum) && of_weights.shape() == weights.shape();
    if (!is_softmax_gradient || (a.value_gradient != nullptr && a.incoming != product.operands[0])) return false;
    a.incoming = product.operands[0];
    Value scores = of_scores->result();
    if (factor != 1) {
      const Op* multiplied = user(scores);
      if (multiplied == nullptr) return false;
      const auto found = scaled(*multiplied);
      if (!found || found->x != scores || found->factor != factor) return false;
      scores = multiplied->result();
    }
    for (const Op* op : users(scores)) {
      if (op == nullptr || op->block != weights.op->block || op->operands[0] != scores) return false;
      if (is_product(*op, false, false) && op->operands[1] == a.key && a.query_gradient == nullptr) {
        a.query_gradient = op;
      } else if (is_product(*op, true, false) && op->operands[1] == a.query && a.key_gradient == nullptr) {
        a.key_gradient = op;
      } else {
        return false;
      }
    }
    return true;
  }

  static bool sums_last_axis(const Op& sum) {
    const Dims& axes = sum.attributes.ints(Attr::kAxes);
    const int64_t rank = sum.operands[0].shape().rank();
    return axes.size() == 1 && *ir::normalize_axis(axes[0], rank) == rank - 1;
  }

  // A factor of the query becomes the op's scale if the query's gradient is multiplied by it, too.
  void take_scale_of_query(Attention& a) const {
    const auto inner = scaled(*a.query.op);
    if (!inner) return;
    if (a.query_gradient != nullptr) {
      const Op* next = user(a.query_gradient->result());
      if (next == nullptr) return;
      const auto outer = scaled(*next);
      if (!outer || outer->x != a.query_gradient->result() || outer->factor != inner->factor) return;
      a.query_gradient = next;
    }
    a.query = inner->x;
    a.scale *= inner->factor;
  }

  static bool has_good_shapes(const Attention& a, bool has_gradient) {
    const Shape &query = a.query.shape(), &key = a.key.shape(), &value = a.value.shape();
    const auto batch = [](const Shape& shape) { return Dims(shape.dims().begin(), shape.dims().end() - 2); };
    const bool is_plain = batch(query) == batch(key) && batch(query) == batch(value);
    return std::max(from_end(query, 1), from_end(value, 1)) <= kMostFeatures &&
           a.output->results[0].shape.element_count() > 0 && (is_plain || !has_gradient);
  }

  // The ops that replace the results stand where the first of these was.
  static bool comes_before_results(const Attention& a) {
    const auto is_known = [](Value v, const Op* at) { return !v || v.op->block != at->block || v.op->id < at->id; };
    for (const Op* at : a.gradients()) {
      if (!is_known(a.value, at) || !is_known(a.incoming, at) || !is_known(a.key, at)) return false;
    }
    return true;
  }

  // Takes layers' (batch, steps, heads, features) instead of copies with the heads first, if all are such copies.
  void put_steps_first(Attention& a) const {
    std::vector<Value*> inputs = {&a.query, &a.key, &a.value};
    std::vector<const Op**> outputs = {&a.output};
    if (!a.gradients().empty()) inputs.push_back(&a.incoming);
    for (const Op** op : {&a.query_gradient, &a.key_gradient, &a.value_gradient}) {
      if (*op != nullptr) outputs.push_back(op);
    }
    const bool all =
        std::all_of(inputs.begin(), inputs.end(), [](Value* v) { return swaps_steps_and_heads(*v->op); }) &&
        std::all_of(outputs.begin(), outputs.end(), [&](const Op** op) {
          const Op* next = user((*op)->result());
          return next != nullptr && swaps_steps_and_heads(*next);
        });
    if (!all) return;
    for (Value* v : inputs) *v = v->op->operands[0];
    for (const Op** op : outputs) *op = user((*op)->result());
    a.steps_first = true;
  }

  std::unordered_map<Value, Users, ir::ValueHash> users_;
  std::vector<const Op*> softmaxes_;
};

// Makes the ops in the copy.
class Replacer {
 public:
  explicit Replacer(const std::vector<Attention>& list) {
    for (const Attention& a : list) {
      outputs_[a.output] = &a;
      for (const Op* op : a.gradients()) gradients_[op] = &a;
      if (a.random != nullptr) random_[a.random] = &a;
    }
  }

  Replacement replace(ir::Rewriter& rewriter, const Op& op) {
    if (random_.contains(&op)) return without_numbers(rewriter, op);
    if (const auto found = outputs_.find(&op); found != outputs_.end()) {
      const Attention& a = *found->second;
      return {{rewriter.copy().value(OpCode::scaled_dot_product_attention,
                                     operands(rewriter, a, {a.query, a.key, a.value}), attributes(a))}};
    }
    const auto found = gradients_.find(&op);
    if (found == gradients_.end()) return std::nullopt;
    const Attention& a = *found->second;
    Op*& made = made_[&a];
    if (made == nullptr) {
      made = rewriter.copy().add(OpCode::scaled_dot_product_attention_gradient,
                                 operands(rewriter, a, {a.query, a.key, a.value, a.incoming}), attributes(a));
    }
    return {{made->result(&op == a.query_gradient ? 0 : &op == a.key_gradient ? 1 : 2)}};
  }

 private:
  // The next state alone; the dropped ops get numbers that do not exist.
  static Replacement without_numbers(ir::Rewriter& rewriter, const Op& op) {
    ir::Attributes attributes = op.attributes;
    attributes.set(Attr::kUnread, true);
    Graph& copy = rewriter.copy();
    Op* const made =
        copy.add(OpCode::random, {rewriter.mapped(op.operands[0]), rewriter.mapped(op.operands[1])}, attributes);
    const Value none =
        copy.value(OpCode::empty, {}, {{Attr::kShape, op.results[0].shape}, {Attr::kDtype, op.results[0].dtype}});
    return {{none, made->result(1)}};
  }

  static std::vector<Value> operands(ir::Rewriter& rewriter, const Attention& a, std::vector<Value> list) {
    if (a.mask) list.push_back(a.mask);
    if (a.random != nullptr) list.insert(list.end(), {a.random->operands[0], a.rate});
    for (Value& v : list) v = rewriter.mapped(v);
    return list;
  }
  static ir::Attributes attributes(const Attention& a) {
    return {{Attr::kScale, a.scale}, {Attr::kStepsFirst, a.steps_first}, {Attr::kDropout, a.random != nullptr}};
  }

  std::unordered_map<const Op*, const Attention*> outputs_, gradients_, random_;
  std::unordered_map<const Attention*, Op*> made_;
};

}  // namespace

std::unique_ptr<Graph> find_attention(const Graph& graph) {
  const std::vector<Attention> list = Finder(graph).run();
  if (list.empty()) return nullptr;
  Replacer replacer(list);
  const auto replaced = ir::Rewriter([&](ir::Rewriter& rewriter, const Op& op, const std::vector<Value>&) {
                          return replacer.replace(rewriter, op);
                        }).run(graph);
  // The second copy drops the ops that nothing uses any more.
  return ir::Rewriter([](ir::Rewriter&, const Op&, const std::vector<Value>&) -> Replacement { return std::nullopt; })
      .run(*replaced);
}

}  // namespace alloy::cpu

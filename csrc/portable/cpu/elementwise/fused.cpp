// `fused` ops: a chain of elementwise ops and folds of rows, perhaps after a sum of outer products that feeds it, and
// perhaps cancelled by a flag.
#include <algorithm>
#include <cstring>
#include <optional>

#include "cpu/elementwise/elementwise.h"
#include "cpu/families.h"
#include "cpu/product/packed_product.h"

namespace alloy::cpu {
namespace {

using ir::Op;
using ir::OpCode;
using ir::Value;

size_t position(const std::vector<Value>& values, Value v) {
  return std::find(values.begin(), values.end(), v) - values.begin();
}

// A chain in which every result is select(flag, new, old), with one flag for all and an operand as each old value. The
// chain without these selects then computes either all results or none, and the flag costs nothing per element.
struct Guard {
  size_t flag;              // number of the operand
  std::vector<size_t> old;  // by result, number of the operand
};

// Removes the guard from the chain and the results, if there is one.
std::optional<Guard> take_guard(const Op& fused, std::vector<const Op*>& chain, std::vector<Value>& results) {
  const std::vector<Value>& operands = fused.operands;
  std::vector<Value> unguarded;
  Guard guard{operands.size(), {}};
  for (const Value& v : results) {
    if (v.op->code != OpCode::select) return std::nullopt;
    const Value flag = v.op->operands[0], made = v.op->operands[1], old = v.op->operands[2];
    const size_t at = position(operands, flag);
    if (at == operands.size() || (guard.flag < operands.size() && at != guard.flag)) return std::nullopt;
    if (flag.dtype() != ir::DType::boolean || flag.shape().element_count() != 1) return std::nullopt;
    if (position(operands, old) == operands.size() || old.shape() != v.shape() || made.shape() != v.shape()) {
      return std::nullopt;
    }
    if (position(operands, made) < operands.size() || position(unguarded, made) < unguarded.size()) return std::nullopt;
    guard.flag = at;
    guard.old.push_back(position(operands, old));
    unguarded.push_back(made);
  }
  std::vector<const Op*> rest;
  for (const Op* op : chain) {
    if (position(results, op->result()) == results.size()) rest.push_back(op);
  }
  for (const Op* op : rest) {
    for (const Value& v : op->operands) {
      if (v == operands[guard.flag] || position(results, v) < results.size()) return std::nullopt;
    }
  }
  for (const Value& made : unguarded) {
    if (std::find(rest.begin(), rest.end(), made.op) == rest.end()) return std::nullopt;
  }
  chain = std::move(rest);
  results = std::move(unguarded);
  return guard;
}

// Runs a kernel, or keeps the old values.
class Guarded final : public Kernel {
 public:
  // `places` maps the kernel's operands to the op's.
  Guarded(Guard guard, std::unique_ptr<Kernel> kernel, std::vector<size_t> places, const std::vector<Value>& results)
      : guard_(std::move(guard)), kernel_(std::move(kernel)), places_(std::move(places)) {
    for (const Value& v : results) bytes_.push_back(v.type().byte_count());
  }

  void run(const std::byte* const* operands, std::byte* const* results, std::byte* scratch) const override {
    if (*operands[guard_.flag] == std::byte{0}) {
      for (size_t r = 0; r < bytes_.size(); ++r) {
        if (const std::byte* old = operands[guard_.old[r]]; old != results[r]) std::memcpy(results[r], old, bytes_[r]);
      }
      return;
    }
    const std::byte* given[Elementwise::kMostBuffers];
    for (size_t i = 0; i < places_.size(); ++i) given[i] = operands[places_[i]];
    kernel_->run(given, results, scratch);
  }
  size_t scratch_bytes() const override { return kernel_->scratch_bytes(); }

  // The old value of another result must last until it is copied.
  bool in_place(size_t operand, size_t result) const override {
    for (size_t r = 0; r < guard_.old.size(); ++r) {
      if (guard_.old[r] == operand && r != result) return false;
    }
    const size_t at = std::find(places_.begin(), places_.end(), operand) - places_.begin();
    return at == places_.size() ? guard_.old[result] == operand : kernel_->in_place(at, result);
  }

 private:
  Guard guard_;
  std::unique_ptr<Kernel> kernel_;
  std::vector<size_t> places_;
  std::vector<size_t> bytes_;  // of each result
};

// Each panel of the product goes through the chain as soon as it is computed.
class ProductChain final : public Kernel {
 public:
  // `product` is the value that the chain reads: the matmul or a reshape of it.
  ProductChain(const Op& fused, const Op& matmul, Value product, const std::vector<const Op*>& chain,
               const std::vector<Value>& results)
      : left_(position(fused.operands, matmul.operands[0])),
        right_(position(fused.operands, matmul.operands[1])),
        columns_(matmul.results[0].shape[1]),
        imports_(imports(fused, product, chain)),
        product_(*OuterProducts::of(matmul)),
        chain_(chain, imports_, results) {
    for (const Value& v : imports_) places_.push_back(position(fused.operands, v));
  }

  void run(const std::byte* const* operands, std::byte* const* results, std::byte* scratch) const override {
    const std::byte* given[Elementwise::kMostBuffers];
    const size_t apart = places_.size() - 1;
    for (size_t i = 0; i < apart; ++i) given[i] = operands[places_[i]];
    const auto* left = reinterpret_cast<const float*>(operands[left_]);
    const auto* right = reinterpret_cast<const float*>(operands[right_]);
    std::byte* const buffers = scratch + product_.scratch_bytes();
    product_.run(left, right, scratch, [&](const PackedProduct::Panel& panel) {
      const int64_t begin = panel.row * columns_, end = begin + panel.rows * columns_;
      chain_.run_range(given, results, {begin, end, apart, reinterpret_cast<const std::byte*>(panel.elements)},
                       buffers + panel.share * chain_.worker_scratch_bytes());
    });
  }
  size_t scratch_bytes() const override { return product_.scratch_bytes() + chain_.scratch_bytes(); }

  // The operands of the product must last to its end.
  bool in_place(size_t operand, size_t result) const override {
    if (operand == left_ || operand == right_) return false;
    return chain_.in_place(std::find(places_.begin(), places_.end(), operand) - places_.begin(), result);
  }

 private:
  // Values that the chain needs from outside: operands of the op in their order, then the product.
  static std::vector<Value> imports(const Op& fused, Value product, const std::vector<const Op*>& chain) {
    std::vector<Value> all;
    for (const Value& v : fused.operands) {
      const auto uses_it = [&](const Op* op) { return position(op->operands, v) < op->operands.size(); };
      if (std::any_of(chain.begin(), chain.end(), uses_it)) all.push_back(v);
    }
    all.push_back(product);
    return all;
  }

  size_t left_, right_;  // numbers of the op's operands
  int64_t columns_;
  std::vector<Value> imports_;
  std::vector<size_t> places_;  // numbers of the op's operands, by import
  PackedProduct product_;
  Elementwise chain_;
};

}  // namespace

std::unique_ptr<Kernel> make_fused(const Op& op) {
  const Op* matmul = nullptr;
  Value product{};
  std::vector<const Op*> chain;
  for (const auto& inner : op.regions[0]->ops) {
    if (Elementwise::accepts(*inner) || Elementwise::folds(*inner)) {
      chain.push_back(inner.get());
      continue;
    }
    if (inner->code == OpCode::matmul) matmul = inner.get();
    product = {inner.get(), 0};  // the matmul, or a reshape of it
  }
  std::vector<Value> results = op.regions[0]->results;
  std::optional<Guard> guard = take_guard(op, chain, results);
  std::vector<Value> operands = op.operands;
  if (guard && matmul == nullptr) {
    std::erase_if(operands, [&](const Value& v) {
      return std::none_of(chain.begin(), chain.end(),
                          [&](const Op* inner) { return position(inner->operands, v) < inner->operands.size(); });
    });
  }
  std::vector<size_t> places;
  for (const Value& v : operands) places.push_back(position(op.operands, v));
  std::unique_ptr<Kernel> kernel;
  if (matmul == nullptr) kernel = std::make_unique<Elementwise>(chain, operands, results);
  else kernel = std::make_unique<ProductChain>(op, *matmul, product, chain, results);
  if (!guard) return kernel;
  return std::make_unique<Guarded>(std::move(*guard), std::move(kernel), std::move(places), results);
}

}  // namespace alloy::cpu

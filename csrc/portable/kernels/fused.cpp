// `fused` ops: a chain of elementwise ops, alone or behind the sum of outer products that feeds it.
#include <algorithm>

#include "kernels/elementwise.h"
#include "kernels/families.h"
#include "kernels/packed_product.h"

namespace alloy::portable {
namespace {

using ir::Op;
using ir::OpCode;
using ir::Value;

size_t position(const std::vector<Value>& values, Value v) {
  return static_cast<size_t>(std::find(values.begin(), values.end(), v) - values.begin());
}

// Every panel of the product goes through the chain as soon as it is there.
class ProductChain final : public Kernel {
 public:
  // `product`: the matmul's elements as the chain takes them.
  ProductChain(const Op& fused, const Op& matmul, Value product, const std::vector<const Op*>& chain)
      : left_(position(fused.operands, matmul.operands[0])), right_(position(fused.operands, matmul.operands[1])),
        columns_(matmul.results[0].shape[1]), imports_(imports(fused, product, chain)), product_(*OuterProducts::of(matmul)),
        chain_(chain, imports_, fused.regions[0]->results) {
    for (const Value& v : imports_) places_.push_back(position(fused.operands, v));
  }

  void run(const std::byte* const* operands, std::byte* const* results, std::byte* scratch) const override {
    const std::byte* given[Elementwise::kMostBuffers];
    const size_t apart = places_.size() - 1;
    for (size_t i = 0; i < apart; ++i) given[i] = operands[places_[i]];
    product_.run(reinterpret_cast<const float*>(operands[left_]), reinterpret_cast<const float*>(operands[right_]),
                 scratch, [&](int64_t row, int64_t rows, const float* elements) {
                   chain_.run_part(given, results, row * columns_, (row + rows) * columns_, apart, reinterpret_cast<const std::byte*>(elements));
                 });
  }
  size_t scratch_bytes() const override { return product_.scratch_bytes(); }

  // What the product reads must last to its end.
  bool in_place(size_t operand, size_t result) const override {
    if (operand == left_ || operand == right_) return false;
    return chain_.in_place(static_cast<size_t>(std::find(places_.begin(), places_.end(), operand) - places_.begin()), result);
  }

 private:
  // What the chain uses and does not compute: operands of the op in their order, and the product.
  static std::vector<Value> imports(const Op& fused, Value product, const std::vector<const Op*>& chain) {
    std::vector<Value> all;
    for (const Value& v : fused.operands) {
      const auto uses_it = [&](const Op* op) { return position(op->operands, v) < op->operands.size(); };
      if (std::any_of(chain.begin(), chain.end(), uses_it)) all.push_back(v);
    }
    all.push_back(product);
    return all;
  }

  size_t left_, right_;  // among the op's operands
  int64_t columns_;
  std::vector<Value> imports_;
  std::vector<size_t> places_;  // of the imports among the op's operands
  PackedProduct product_;
  Elementwise chain_;
};

}  // namespace

std::unique_ptr<Kernel> make_fused(const Op& op) {
  const Op* matmul = nullptr;
  Value product{};
  std::vector<const Op*> chain;
  for (const auto& inner : op.regions[0]->ops) {
    if (Elementwise::accepts(*inner)) {
      chain.push_back(inner.get());
      continue;
    }
    if (inner->code == OpCode::matmul) matmul = inner.get();
    product = {inner.get(), 0};  // the matmul, or the reshape behind it
  }
  if (matmul == nullptr) return std::make_unique<Elementwise>(chain, op.operands, op.regions[0]->results);
  return std::make_unique<ProductChain>(op, *matmul, product, chain);
}

}  // namespace alloy::portable

#include "cuda/codegen/leader.h"

#include "cuda/codegen/families.h"
#include "cuda/codegen/product.h"
#include "cuda/codegen/writer.h"

namespace alloy::cuda {

using ir::Op;
using ir::OpCode;

namespace {

bool is_reduction(const Op& op) {
  const ir::Family family = op.info().family;
  return family == ir::Family::kReduction || family == ir::Family::kMoment || family == ir::Family::kArgReduction;
}

bool is_pooling_gradient(const Op& op) {
  switch (op.code) {
    case OpCode::max_pool2d_gradient:
    case OpCode::max_pool4d_gradient:
    case OpCode::avg_pool2d_gradient:
    case OpCode::avg_pool4d_gradient: return true;
    default: return false;
  }
}

}  // namespace

Maker storing(const Op& op) {
  return [dtype = op.results[0].dtype](size_t pointers, size_t, int width) {
    const std::string number = number_of(dtype);
    return Functions{{},
                     filled("[](i64) { return 0; }, [&](i64 i, int, @ x) { @((@*)p[@], i, x); }",
                            {width == 4 ? "Four<" + number + ">" : number, width == 4 ? "store_four" : "store",
                             element_of(dtype), std::to_string(pointers)}),
                     {result(0)},
                     {}};
  };
}

std::string add(Launch& launch, const Maker& maker, int width) {
  const Functions functions = maker(launch.pointers.size(), launch.numbers.size(), width);
  launch.libraries.insert(launch.libraries.end(), functions.libraries.begin(), functions.libraries.end());
  launch.pointers.insert(launch.pointers.end(), functions.pointers.begin(), functions.pointers.end());
  launch.numbers.insert(launch.numbers.end(), functions.numbers.begin(), functions.numbers.end());
  return functions.text;
}

bool leads(const Op& op) {
  if (product_of(op)) return true;
  if (!is_reduction(op) && !is_pooling_gradient(op)) return false;
  return op.operands[0].dtype() == ir::DType::float32 && op.results[0].shape.element_count() > 0 && !folds(op);
}

bool gathers(const Op& op) {
  const bool is_plain = op.info().family == ir::Family::kReduction || op.info().family == ir::Family::kMoment;
  return is_plain && leads(op) && op.results[0].shape.element_count() < op.operands[0].shape().element_count();
}

Code code_of_leader(const Op& op, const Maker& finish) {
  if (is_reduction(op)) return code_of_reduction(op, finish);
  return is_pooling_gradient(op) ? code_of_pooling_gradient(op, finish) : code_of_product(op, finish);
}

}  // namespace alloy::cuda

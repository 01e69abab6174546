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

Finisher storing(const Op& op) {
  return [dtype = op.results[0].dtype](size_t pointers, size_t) {
    return Finish{{},
                  "[](i64) { return 0; }",
                  filled("[&](i64 i, int, @ x) { store((@*)p[@], i, x); }",
                         {number_of(dtype), element_of(dtype), std::to_string(pointers)}),
                  {result(0)},
                  {}};
  };
}

std::string add_finish(Launch& launch, const Finisher& finisher) {
  const Finish finish = finisher(launch.pointers.size(), launch.numbers.size());
  launch.libraries.insert(launch.libraries.end(), finish.libraries.begin(), finish.libraries.end());
  launch.pointers.insert(launch.pointers.end(), finish.pointers.begin(), finish.pointers.end());
  launch.numbers.insert(launch.numbers.end(), finish.numbers.begin(), finish.numbers.end());
  return finish.read + ", " + finish.write;
}

bool leads(const Op& op) {
  if (product_of(op)) return true;
  if (!is_reduction(op) && !is_pooling_gradient(op)) return false;
  return op.operands[0].dtype() == ir::DType::float32 && op.results[0].shape.element_count() > 0 && !folds(op);
}

Code code_of_leader(const Op& op, const Finisher& finisher) {
  if (is_reduction(op)) return code_of_reduction(op, finisher);
  return is_pooling_gradient(op) ? code_of_pooling_gradient(op, finisher) : code_of_product(op, finisher);
}

}  // namespace alloy::cuda

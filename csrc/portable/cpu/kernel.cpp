// Makes the kernel of an op.
#include "cpu/kernel.h"

#include "cpu/families.h"

namespace alloy::cpu {

using ir::Op;
using ir::OpCode;

void refuse(const Op& op, const ir::Type& type) {
  op.fail("There is no kernel for " + to_string(type), ir::Error::Kind::kType);
}

void require_float(const Op& op) {
  if (op.operands[0].dtype() != ir::DType::float32) refuse(op, op.operands[0].type());
}

// For rows without a kernel.
std::unique_ptr<Kernel> make_none(const Op& op) { op.fail("There is no kernel for this op"); }

std::unique_ptr<Kernel> make_kernel(const Op& op) {
  switch (op.code) {
#define ALLOY_ROW(name) \
  case OpCode::name: return op.info().facts.renames ? make_copy(op) : make_elementwise(op);
#define ALLOY_REDUCTION(name, ...) \
  case OpCode::name: return make_reduction(op);
#define ALLOY_MOMENT(name, ...) \
  case OpCode::name: return make_##name(op);
#define ALLOY_ARG_REDUCTION(name, ...) \
  case OpCode::name: return make_arg_reduction(op);
#define ALLOY_OP(name, fewest, most, results, attributes, facts, kernel, doc) \
  case OpCode::name: return make_##kernel(op);
#include "ir/ops.def"
  }
  return nullptr;
}

}  // namespace alloy::cpu

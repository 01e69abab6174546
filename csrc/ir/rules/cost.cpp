// The cost of an op, by the rule of its row; and functions that rules of costs share.
#include "ir/rules/cost.h"

#include "ir/rules/rules.h"

namespace alloy::ir {

uint64_t element_count(const Value& v) { return static_cast<uint64_t>(v.shape().element_count()); }

Cost cost_of(const Op& op, uint64_t flops) {
  Cost cost{flops, 0, 0};
  for (size_t i = 0; i < op.operands.size(); ++i) {
    if (op.info().reads(i)) cost.bytes_read += op.operands[i].type().byte_count();
  }
  for (const Type& type : op.results) cost.bytes_written += type.byte_count();
  return cost;
}

Cost cost(const Op& op) {
  switch (op.code) {
#define ALLOY_ROW(name) \
  case OpCode::name: return cost_elementwise(op);
#define ALLOY_REDUCTION(name, ...) \
  case OpCode::name: return cost_reduction(op);
#define ALLOY_MOMENT ALLOY_REDUCTION
#define ALLOY_ARG_REDUCTION ALLOY_REDUCTION
#define ALLOY_OP(name, ...) \
  case OpCode::name: return cost_##name(op);
#include "ir/ops.def"
  }
  return {};
}

}  // namespace alloy::ir

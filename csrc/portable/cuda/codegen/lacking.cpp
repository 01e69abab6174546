// Ops without code yet, and those that need none.
#include "cuda/codegen/families.h"

namespace alloy::cuda {

Code code_of_none(const ir::Op& op) { refuse(op); }
Code code_of_attention(const ir::Op& op) { refuse(op); }
Code code_of_attention_gradient(const ir::Op& op) { refuse(op); }

}  // namespace alloy::cuda

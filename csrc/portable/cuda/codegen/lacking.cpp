// Ops without code yet, and those that need none.
#include "cuda/codegen/families.h"

namespace alloy::cuda {

Code code_of_none(const ir::Op&) { throw Lacking(); }
Code code_of_attention(const ir::Op&) { throw Lacking(); }
Code code_of_attention_gradient(const ir::Op&) { throw Lacking(); }

}  // namespace alloy::cuda

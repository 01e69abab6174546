// From an op to its kernel.
#include "cpu/kernel.h"

#include "cpu/families.h"

namespace alloy::cpu {

using ir::Op;
using ir::OpCode;

namespace {

std::unique_ptr<Kernel> make_structured(const Op& op) {
  switch (op.code) {
    case OpCode::reshape:
    case OpCode::reshape_like:
    case OpCode::squeeze:
    case OpCode::expand_dims: return make_copy(op);
    case OpCode::transpose:
    case OpCode::broadcast_to:
    case OpCode::broadcast_like:
    case OpCode::slice:
    case OpCode::slice_gradient:
    case OpCode::concat: return make_shape(op);
    case OpCode::reduce_like: return make_reduction(op);
    case OpCode::cast:
    case OpCode::sgd:
    case OpCode::adam: return make_elementwise(op);
    case OpCode::fused: return make_fused(op);
    case OpCode::matmul: return make_matmul(op);
    case OpCode::softmax:
    case OpCode::log_softmax: return make_softmax(op);
    case OpCode::softmax_cross_entropy: return make_softmax_cross_entropy(op);
    case OpCode::conv2d:
    case OpCode::conv2d_data_gradient:
    case OpCode::conv2d_weights_gradient: return make_convolution(op);
    case OpCode::max_pool2d:
    case OpCode::max_pool2d_gradient:
    case OpCode::avg_pool2d:
    case OpCode::avg_pool2d_gradient: return make_pooling(op);
    default: op.fail("There is no kernel for this op");
  }
}

}  // namespace

void refuse(const Op& op, const ir::Type& type) {
  op.fail("There is no kernel for " + to_string(type), ir::Error::Kind::kType);
}

void require_float(const Op& op) {
  if (op.operands[0].dtype() != ir::DType::float32) refuse(op, op.operands[0].type());
}

std::unique_ptr<Kernel> make_kernel(const Op& op) {
  if (op.code == OpCode::identity) return make_copy(op);
  switch (op.info().family) {
    case ir::Family::kReduction:
    case ir::Family::kMoment: return make_reduction(op);
    case ir::Family::kArgReduction: return make_arg_reduction(op);
    case ir::Family::kStructured: return make_structured(op);
    default: return make_elementwise(op);
  }
}

}  // namespace alloy::cpu

// The kernels' constructors by family, which the rows of ops.def name. Each throws ir::Error where the op's types have
// no kernel.
#pragma once

#include <memory>

#include "cpu/kernel.h"

namespace alloy::cpu {

// Says that there is no kernel for the type.
[[noreturn]] void refuse(const ir::Op& op, const ir::Type& type);
// Refuses any first operand but of float32.
void require_float(const ir::Op& op);

std::unique_ptr<Kernel> make_elementwise(const ir::Op& op);    // elementwise.cpp: table ops, casts, optimizers
std::unique_ptr<Kernel> make_fused(const ir::Op& op);          // fused.cpp: a chain of them, a product before it or not
std::unique_ptr<Kernel> make_reduction(const ir::Op& op);      // reduction.cpp: reductions, moments, reduce_like
std::unique_ptr<Kernel> make_arg_reduction(const ir::Op& op);  // reduction.cpp
std::unique_ptr<Kernel> make_copy(const ir::Op& op);           // shape.cpp: the same bytes under another shape
std::unique_ptr<Kernel> make_shape(
    const ir::Op& op);  // shape.cpp: transpose, broadcast_to, slice, slice_gradient, concat
std::unique_ptr<Kernel> make_zeros(const ir::Op& op);    // shape.cpp: a result of zeros, whatever the operands
std::unique_ptr<Kernel> make_softmax(const ir::Op& op);  // softmax.cpp: softmax, log_softmax
std::unique_ptr<Kernel> make_softmax_cross_entropy(const ir::Op& op);  // softmax.cpp
std::unique_ptr<Kernel> make_matmul(const ir::Op& op);                 // matmul.cpp
std::unique_ptr<Kernel> make_convolution(const ir::Op& op);            // convolution.cpp: conv2d and its gradients
// dense_convolution.cpp: the same on small images; null for others. The shapes are those of the forward convolution.
std::unique_ptr<Kernel> make_dense_convolution(const ir::Op& op, const ir::Shape& source, const ir::Shape& weights,
                                               const ir::Shape& result);
std::unique_ptr<Kernel> make_pooling(const ir::Op& op);  // pooling.cpp: max, average and their gradients

}  // namespace alloy::cpu

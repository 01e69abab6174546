// The passes that turn a specialised graph without effects into one that can be planned. Each takes a graph and returns
// another; Program fixes their order. Passes know nothing of memory, and learn about kernels only by asking the device.
#pragma once

#include <memory>
#include <vector>

#include "device/device.h"
#include "ir/graph.h"

namespace alloy::compiler {

// Replaces everything that depends on shapes alone: *_like ops get their shape as an attribute, element counts and
// shapes become constants, copies vanish, an operand whose shape alone is used becomes `empty`, and `for_loop` becomes
// `while_loop`. Ops whose rows say `composed` are replaced by other ops. Throws ir::Error for a value whose type is not
// static.
std::unique_ptr<ir::Graph> resolve_shapes(const ir::Graph& graph);

// Surrounds ops of types without arithmetic (see ir::computed_in) by casts to a wider type and back, except ops that
// the device computes in the narrow type. Returns null if there is no such op.
std::unique_ptr<ir::Graph> widen(const ir::Graph& graph, const device::Device& device);

// Simplifies a graph:
// * Small constants are folded, computed by the device itself.
// * x + -0, x - 0, x * 1 and x / 1 become x.
// * A broadcast of an operand becomes a broadcast of the result.
// * A transposition of an operand or of the result of a matrix product becomes a flag of the product.
// * A factor of all summands is applied to the sum.
// * Equal ops of a block are computed once.
// All of these are exact, also for NaN, infinities and the sign of 0, except the factors: they are moved as if floats
// were real numbers, and the result differs if a sum overflows or a factor is infinite.
std::unique_ptr<ir::Graph> simplify(const ir::Graph& graph, const device::Device& device);

// Puts ops of one shape that feed each other into `fused` ops, if the policy lets them join; reductions along the last
// axis, and ops on their results, may join, too. Two `fused` ops that need
// the same cheap value both compute it; it is not stored. A matrix product that feeds a `fused` op joins it if the
// policy says so.
std::unique_ptr<ir::Graph> fuse(const ir::Graph& graph, const device::FusionPolicy& policy);

}  // namespace alloy::compiler

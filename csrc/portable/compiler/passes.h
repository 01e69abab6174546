// The passes from a specialised graph without effects to the one that a plan is made of. Each takes a graph and returns
// another; the order is Program's. Knows nothing of memory, and of kernels only what the device says of them.
#pragma once

#include <memory>
#include <vector>

#include "device/device.h"
#include "ir/graph.h"

namespace alloy::compiler {

// Resolves what only depended on shapes: *_like ops get shapes as attributes, counts and shapes become constants,
// copies vanish, and an operand that only lends its shape becomes `empty`. `for_loop` becomes `while_loop`. Throws
// ir::Error for a value whose type is not static.
std::unique_ptr<ir::Graph> resolve_shapes(const ir::Graph& graph);

// Ops of types that are not computed in (ir::computed_in), in those that are: operands are cast, results cast back.
// What the device computes in its own type stays. Null where there is no such op.
std::unique_ptr<ir::Graph> widen(const ir::Graph& graph, const device::Device& device);

// Folds small constants as the device does, drops additions of 0 and multiplications by 1, moves repetitions behind
// elementwise ops and transpositions into matrix products, from both sides, and computes equal ops of a block once. All
// of this is exact, also for NaN, infinities and the sign of 0, with one exception: factors come after sums as if
// floats were real numbers, which matters if a sum overflows or a factor is infinite.
std::unique_ptr<ir::Graph> simplify(const ir::Graph& graph, const device::Device& device);

// Puts ops of one shape that feed each other, and that the policy lets join, into `fused` ops. A cheap value that two
// `fused` ops need is computed in both rather than stored. Matrix products that feed a `fused` op join it if the policy
// takes them.
std::unique_ptr<ir::Graph> fuse(const ir::Graph& graph, const device::FusionPolicy& policy);

}  // namespace alloy::compiler

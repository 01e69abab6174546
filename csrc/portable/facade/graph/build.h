// Functions for methods that add ops to a graph.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "facade/errors.h"
#include "facade/graph/graph.h"
#include "facade/graph/types.h"
#include "facade/selector.h"
#include "ir/rules/complex.h"
#include "ir/rules/composites.h"

namespace alloy::facade {

// Runs `work`, which builds ir and may throw, and turns exceptions into NSInvalidArgumentException, NSMallocException
// or the exception of raise_abort. `work` itself must not raise, because a C++ handler is below it on the stack. So it
// sends no messages and looks up no tensor's value.
void build(const std::function<void()>& work);

// Adds an op with one result under the given name.
MPSGraphTensor* add(MPSGraph* graph, ir::OpCode code, const std::vector<ir::Value>& operands, ir::Attributes attributes,
                    NSString* name);
// Adds an op and returns it, for ops with no or several results.
ir::Op* add_op(MPSGraph* graph, ir::OpCode code, const std::vector<ir::Value>& operands, ir::Attributes attributes,
               NSString* name);
ir::Op* add_op(MPSGraph* graph, ir::OpCode code, const std::vector<ir::Value>& operands, ir::Attributes attributes,
               std::vector<std::unique_ptr<ir::Block>> regions, NSString* name);
// Adds a composite's parts and returns its results in order. The op of the last result gets the name.
NSArray<MPSGraphTensor*>* add_all(MPSGraph* graph, ir::Composite composite, const std::vector<ir::Value>& operands,
                                  ir::Attributes attributes, NSString* name);
// The same for a composite with one result.
MPSGraphTensor* add(MPSGraph* graph, ir::Composite composite, const std::vector<ir::Value>& operands,
                    ir::Attributes attributes, NSString* name);
// Adds the ops that `expression` builds; the last one gets the name.
MPSGraphTensor* compose(MPSGraph* graph, NSString* name, const std::function<ir::Expr()>& expression);
// The same for several results; the op of the last one gets the name.
NSArray<MPSGraphTensor*>* compose_all(MPSGraph* graph, NSString* name,
                                      const std::function<std::vector<ir::Expr>()>& expressions);
// A tensor of the graph as an expression.
ir::Expr expr_of(MPSGraph* graph, MPSGraphTensor* tensor);

// The axes of a reduction; nil means every axis of `tensor`, whose rank must be known.
ir::Dims axes_of(MPSGraph* graph, MPSGraphTensor* tensor, NSArray<NSNumber*>* axes);
// The integers of a tensor of rank 0 or 1, or of a tensor with one integer, known when the op is added: constants, and
// values computed from shapes. Raise in the name of `op` if they are unknown; `what` names them in the message.
NSArray<NSNumber*>* numbers_in(MPSGraph* graph, MPSGraphTensor* tensor, const char* op, const char* what);
NSInteger number_in(MPSGraph* graph, MPSGraphTensor* tensor, const char* op, const char* what);
// A value with unspecified elements and a shape given as numbers or by a tensor.
ir::Value unspecified(MPSGraph* graph, MPSShape* shape, ir::DType dtype);
ir::Value unspecified(MPSGraph* graph, MPSGraphTensor* shape_tensor, ir::DType dtype);

}  // namespace alloy::facade

// How the methods of MPSGraph turn selectors into ir, and how graphs, tensors and executables reach each other's C++
// parts. Included only by the facade's .mm files.
#pragma once

#include "facade/FacadePrivate.h"

#include <optional>
#include <string>
#include <unordered_map>

#include "ir/expr.h"
#include "runtime/graph_state.h"
#include "runtime/guard.h"

namespace alloy::facade {

// The C++ part of an MPSGraph, shared with its tensors, operations and executables.
struct FacadeGraph : runtime::GraphState {
  using runtime::GraphState::GraphState;
  MPSGraph* owner = nil;                                       // Not retained; nil once the graph is gone.
  ir::ValueMap<MPSGraphTensor*> tensors;                       // Retained while the owner lives.
  std::unordered_map<ir::Op*, MPSGraphOperation*> operations;  // Retained while the owner lives.
  std::atomic<MPSGraphOptions> options{MPSGraphOptionsDefault};
  runtime::RecentPrograms runs;               // Of the graph's own run methods.
  std::vector<MPSGraphTensor*> placeholders;  // In order of creation; not retained.
};

using GraphRef = std::shared_ptr<FacadeGraph>;

// The C++ part of a graph.
const std::shared_ptr<FacadeGraph>& graph_of(MPSGraph* graph);

// The value behind a tensor; raises when it is nil or of another graph.
ir::Value value_of(MPSGraph* graph, MPSGraphTensor* tensor);
std::vector<ir::Value> values_of(MPSGraph* graph, NSArray<MPSGraphTensor*>* tensors);
// The value behind a tensor of any graph.
ir::Value value_of(MPSGraphTensor* tensor);
// The op behind an operation; raises when it is nil or of another graph.
ir::Op* op_of(MPSGraph* graph, MPSGraphOperation* operation);
// The op behind an operation of any graph.
ir::Op* op_of(MPSGraphOperation* operation);

// The tensor of a value, the operation of an op: one object each, owned by the graph.
MPSGraphTensor* tensor_of(const std::shared_ptr<FacadeGraph>& graph, ir::Value value);
MPSGraphOperation* operation_of(const std::shared_ptr<FacadeGraph>& graph, ir::Op* op);

// Runs what builds ir, which may throw, and raises NSInvalidArgumentException with its sentence, or
// NSMallocException, or what raise_abort does. The work itself must not raise: its
// frames stand above a C++ handler. So nothing in it sends a message or asks for a tensor's value.
void build(const std::function<void()>& work);

// Adds an op with one result under the given name.
MPSGraphTensor* add(MPSGraph* graph, ir::OpCode code, const std::vector<ir::Value>& operands, ir::Attributes attributes,
                    NSString* name);
// Adds an op and returns it, for ops with no or several results.
ir::Op* add_op(MPSGraph* graph, ir::OpCode code, const std::vector<ir::Value>& operands, ir::Attributes attributes,
               NSString* name);
ir::Op* add_op(MPSGraph* graph, ir::OpCode code, const std::vector<ir::Value>& operands, ir::Attributes attributes,
               std::vector<std::unique_ptr<ir::Block>> regions, NSString* name);
// Adds what `expression` builds; its last op gets the name.
MPSGraphTensor* compose(MPSGraph* graph, NSString* name, const std::function<ir::Expr()>& expression);
// A tensor of the graph as an expression.
ir::Expr expr_of(MPSGraph* graph, MPSGraphTensor* tensor);

// Element types; nothing, or raises, for one that ir does not know.
std::optional<ir::DType> find_dtype(MPSDataType type);
ir::DType dtype_of(MPSDataType type);
MPSDataType data_type_of(ir::DType dtype);
// Shapes; nil is unranked.
ir::Shape shape_of(MPSShape* shape);
MPSShape* mps_shape_of(const ir::Shape& shape);
// The numbers of an array; nil gives none.
ir::Dims numbers_of(NSArray<NSNumber*>* numbers);
// The axes of a reduction; nil means every axis of `tensor`, whose rank must then be known.
ir::Dims axes_of(MPSGraph* graph, MPSGraphTensor* tensor, NSArray<NSNumber*>* axes);
// A value of that shape whose contents are unspecified.
ir::Value empty(MPSGraph* graph, MPSShape* shape, ir::DType dtype);
// The same with the shape in a tensor.
ir::Value shaped(MPSGraph* graph, MPSGraphTensor* shape_tensor, ir::DType dtype);

// A new operation or tensor object, retained for the caller.
MPSGraphTensor* new_tensor(const std::shared_ptr<FacadeGraph>& graph, ir::Value value) NS_RETURNS_RETAINED;
MPSGraphOperation* new_operation(const std::shared_ptr<FacadeGraph>& graph, ir::Op* op) NS_RETURNS_RETAINED;

// Running --------------------------------------------------------------------------------------------------

// What is to be computed, in the order of the arrays of a run.
struct Request {
  std::vector<ir::Value> feeds;
  std::vector<ir::Value> results;
  std::vector<ir::Op*> effects;
};

// The program on the device for feeds of these types, in the order of the request; raises when it cannot be compiled,
// and where no device may be used.
std::shared_ptr<runtime::Program> compile(FacadeGraph& graph, id<MTLDevice> device, const Request& request,
                                          const std::vector<ir::Type>& types);
// The type of an array; raises for nil, and for an element type that ir does not know. Valid while the data lives.
const ir::Type& type_of(MPSGraphTensorData* data);
// A run over these arrays; allocates `results` (retained by the array, autoreleased) where it is nil. Raises where a
// result does not fit or shares memory with another one.
runtime::Run make_run(const std::shared_ptr<FacadeGraph>& graph, const std::shared_ptr<runtime::Program>& program,
                      NSArray<MPSGraphTensorData*>* feeds, NSArray<MPSGraphTensorData*>** results,
                      id<MTLDevice> device);
// Waits for, runs, signals: what a stream does for a run.
device::Status perform(const runtime::Run& run, const device::EventList& events);
// Waits for a committed command buffer and raises with its error.
void wait_for(id<MTLCommandBuffer> buffer);
// A new executable, retained for the caller; with the program it was compiled to, or null where the types are not known
// yet.
MPSGraphExecutable* new_executable(const std::shared_ptr<FacadeGraph>& graph, Request request,
                                   std::shared_ptr<runtime::Program> program, id<MTLDevice> device) NS_RETURNS_RETAINED;

}  // namespace alloy::facade

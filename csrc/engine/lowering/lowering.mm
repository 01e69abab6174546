#import "engine/lowering/lowering.h"

#include "engine/device_info.h"
#import "engine/graph_impl.h"
#import "engine/lowering/ops.h"
#import "engine/lowering/state.h"

namespace alloy::engine {
namespace {

using ir::OpCode;
using ir::Quirk;

// The lowering functions, by OpCode.
constexpr Nodes (*kLowerings[])(Lowering&, const ir::Op&, NSString*) = {
#define ALLOY_ROW(op, ...) lower_##op,
#include "ir/ops.def"
};

}  // namespace

Lowering::Lowering(Graph& owner)
    : owner_(owner), graph_(owner.impl().framework->graph.get()), system_(device_system()) {}

void Lowering::note_uses(const ir::Block& block) {
  used_.insert(block.results.begin(), block.results.end());
  for (const auto& op : block.ops) {
    used_.insert(op->operands.begin(), op->operands.end());
    for (const auto& region : op->regions) note_uses(*region);
  }
}

void Lowering::lower(const ir::Graph& graph, const std::vector<ir::Value>& feeds) {
  note_uses(graph.body());
  for (const ir::Value& v : feeds) lower(*v.op);
  for (const auto& op : graph.body().ops) {
    if (op->code != OpCode::placeholder) lower(*op);
  }
}

std::vector<MPSGraphTensor*> Lowering::lower_region(const ir::Op& op, size_t k,
                                                    const std::vector<MPSGraphTensor*>& arguments) {
  const ir::Block& region = *op.regions[k];
  for (size_t i = 0; i < region.arguments.size(); ++i) tensors_[region.arguments[i]->result()] = arguments[i];
  ++depth_;
  for (const auto& inner : region.ops) {
    // A conditional that lends a value to a gradient gives an empty value in its other branch. If the shape of this is
    // unknown, zeros of the result's shape replace it.
    if (inner->code != OpCode::empty || inner->results[0].is_static()) lower(*inner);
  }
  --depth_;
  std::vector<MPSGraphTensor*> results;
  for (size_t i = 0; i < region.results.size(); ++i) {
    const auto known = tensors_.find(region.results[i]);
    results.push_back(known != tensors_.end() ? known->second : zeros(*this, op.results[i]));
  }
  return results;
}

void Lowering::lower_assignments() {
  if (has(Quirk::read_after_assign)) {
    // An op added from here on must use the variable's present value, so it gets a copy of it.
    for (const ir::Op* op : assignments_) {
      MPSGraphTensor*& now = tensors_.at(op->operands[0]);
      if (now == variable_tensor(owner_, *op->operands[0].op)) now = [graph_ identityWithTensor:now name:nil];
    }
  }
  for (const ir::Op* op : assignments_) lower_now(*op);
  assignments_.clear();
}

void Lowering::lower(const ir::Op& op) {
  if (op.code == OpCode::assign && op.after.empty()) {
    assignments_.push_back(&op);
    return;
  }
  // A read or an op that waits for others must come after the assignments before it.
  if (op.code == OpCode::read_variable || !op.after.empty()) lower_assignments();
  if (op.after.empty()) return lower_now(op);
  NSMutableArray* before = [NSMutableArray array];
  for (const ir::Op* other : op.after) {
    const auto found = operations_.find(other);
    [before addObject:found != operations_.end() ? found->second
                                                 : [tensors_.at({const_cast<ir::Op*>(other), 0}) operation]];
  }
  const ir::Op* pointer = &op;
  [graph_ controlDependencyWithOperations:before
                           dependentBlock:^NSArray<MPSGraphTensor*>* {
                             lower_now(*pointer);
                             return @[];
                           }
                                     name:nil];
}

void Lowering::lower_now(const ir::Op& op) {
  const Nodes made = kLowerings[static_cast<size_t>(op.code)](*this, op, mps_name(op.name));
  if (made.operation != nil) operations_[&op] = made.operation;
  // A lowering may leave out the last results of its op if nothing uses them.
  const size_t count = made.tensors == nil ? op.results.size() : [made.tensors count];
  for (uint32_t i = 0; i < count; ++i) {
    tensors_[{const_cast<ir::Op*>(&op), i}] = made.tensors == nil ? made.tensor : [made.tensors objectAtIndex:i];
  }
}

}  // namespace alloy::engine

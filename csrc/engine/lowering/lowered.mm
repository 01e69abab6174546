#import "engine/lowering/lowered.h"

#include <algorithm>
#include <unordered_set>

#include "engine/computable.h"
#include "engine/device_info.h"
#import "engine/lowering/lowering.h"
#import "engine/lowering/state.h"
#import "engine/mps_types.h"
#include "ir/rewrite.h"

namespace alloy::engine {
namespace {

// Turns the effects of a specialised graph into further results. Returns the slots of the variables whose new values
// those are.
std::vector<int64_t> remove_effects(ir::Specialized& special) {
  std::vector<int64_t> slots;
  ir::carry_feeds(special, [&](const ir::Graph& graph) {
    ir::Pure pure = ir::remove_effects(graph);
    slots = std::move(pure.slots);
    return std::move(pure.graph);
  });
  return slots;
}

// Whether the framework need not accept the tensor of this value as a target: placeholders, constants and variables.
bool is_no_target(const ir::Value& value) { return value.op->operands.empty(); }

// Throws ir::Error where an op cannot be computed, or its shape is not known.
void require_lowerable(const ir::Block& block) {
  for (const auto& op : block.ops) {
    require_computable(*op, device_system());
    for (const ir::Type& type : op->results) {
      // The unused branch of what a gradient borrows is empty, of whatever shape the other branch has.
      const bool may_be_open = op->code == ir::OpCode::empty && block.parent != nullptr;
      if (!type.is_static() && !may_be_open) op->fail("The shape " + to_string(type.shape) + " is not known");
    }
    for (const auto& region : op->regions) require_lowerable(*region);
  }
}

// The framework's loops carry what ours stack, and the values that variables have between iterations: a loop of
// theirs that assigned would not tell its readers which value they see. What is assigned at last is assigned behind.
void prepare_regions(ir::Specialized& special) {
  const auto& ops = special.graph->body().ops;
  if (std::all_of(ops.begin(), ops.end(), [](const auto& op) { return op->regions.empty(); })) return;
  ir::carry_feeds(special, [](const ir::Graph& graph) { return ir::carry_stacks(graph); });
  const auto assigns = [](const auto& op) { return !op->regions.empty() && ir::has_effect(*op); };
  if (std::none_of(special.graph->body().ops.begin(), special.graph->body().ops.end(), assigns)) return;
  ir::carry_feeds(special, [](const ir::Graph& graph) {
    ir::Pure pure = ir::remove_effects(graph);
    ir::Block& body = pure.graph->body();
    const size_t given = body.results.size() - pure.slots.size();
    for (size_t i = 0; i < pure.slots.size(); ++i) {
      const auto variable = std::find_if(body.ops.begin(), body.ops.end(), [&](const auto& op) {
        return op->code == ir::OpCode::variable && op->attributes.integer(ir::Attr::kSlot) == pure.slots[i];
      });
      body.effects.push_back(pure.graph->add(ir::OpCode::assign, {(*variable)->result(), body.results[given + i]}));
    }
    body.results.resize(given);
    return std::move(pure.graph);
  });
}

// One after the other: what a variable begins with makes room for the next one's memory.
void make_variables(Graph& graph, const ir::Graph& special) {
  for (const auto& op : special.body().ops) {
    if (op->code == ir::OpCode::variable) variable_tensor(graph, *op);
  }
}

void declare_feed(Lowered& out, MPSGraphTensor* tensor, const ir::Type& type) {
  const auto shaped = Ref<MPSGraphShapedType*>::adopt([[MPSGraphShapedType alloc] initWithShape:mps_shape(type.shape)
                                                                                       dataType:mps_type(type.dtype)]);
  [out.types.get() setObject:shaped.get() forKey:tensor];
  out.fed.push_back(tensor);
}

void declare_feeds(Graph& graph, const ir::Specialized& special, const Lowering& lowering, Lowered& out) {
  for (const ir::Value& value : special.feeds) {
    declare_feed(out, lowering.tensor(value), value.type());
    out.feed_types.push_back(value.type());
  }
  if (graph.storage() != VariableStorage::kBuffers) return;
  for (const auto& op : special.graph->body().ops) {
    if (op->code != ir::OpCode::variable) continue;
    declare_feed(out, lowering.tensor({op.get(), 0}), op->results[0]);
    out.reads.push_back(&graph.impl().buffers_of(op->attributes.integer(ir::Attr::kSlot)));
  }
}

// Every target is a tensor of its own, which the framework accepts as one.
void declare_results(const ir::Specialized& special, const Lowering& lowering, Lowered& out) {
  MPSGraph* framework = out.framework->graph.get();
  std::unordered_set<MPSGraphTensor*> taken;
  const auto declare = [&](MPSGraphTensor* tensor, bool copied) {
    if (copied || !taken.insert(tensor).second) tensor = [framework identityWithTensor:tensor name:nil];
    [out.targets.get() addObject:tensor];
    out.fetched.push_back(tensor);
  };
  for (const ir::Value& value : special.graph->body().results) declare(lowering.tensor(value), is_no_target(value));
  if (out.fetched.empty() && ir::has(device_system(), ir::Quirk::executable_of_no_targets)) {
    declare([framework constantWithScalar:0 dataType:MPSDataTypeFloat32], true);
  }
}

// `written`: the slots of the variables whose new values are the last results.
void lower(Graph& graph, const ir::Specialized& special, const std::vector<int64_t>& written, Lowered& out) {
  Graph::Impl& own = graph.impl();
  own.land_all();  // nothing may run while the framework's graph grows
  out.framework = own.framework;
  out.types = Ref<NSMutableDictionary*>::retain([NSMutableDictionary dictionary]);
  out.targets = Ref<NSMutableArray*>::retain([NSMutableArray array]);
  out.operations = Ref<NSMutableArray*>::retain([NSMutableArray array]);
  make_variables(graph, *special.graph);
  out.ops = special.graph->body().ops.size();
  out.framework->made += out.ops;
  Lowering lowering(graph);
  lowering.lower(*special.graph);
  declare_feeds(graph, special, lowering, out);
  declare_results(special, lowering, out);
  lowering.lower_assignments();
  for (const ir::Op* op : special.graph->body().effects) [out.operations.get() addObject:lowering.operation(op)];
  for (int64_t slot : written) {
    out.writes.push_back(&own.buffers_of(slot));
    out.writes.back()->reserve_next();
  }
}

}  // namespace

std::shared_ptr<const Lowered> Lowered::make(Graph& graph, const std::vector<ir::Feed>& feeds,
                                             const std::vector<ir::Value>& fetches, const std::vector<ir::Op*>& updates,
                                             std::optional<int64_t> steps) {
  ir::Specialized special;
  {
    const auto lock = graph.lock_building();
    special = ir::specialize(feeds, fetches, updates);
  }
  if (steps) special = ir::repeat(std::move(special), *steps);
  require_lowerable(special.graph->body());
  prepare_regions(special);
  const auto out = std::make_shared<Lowered>();
  out->assigns = !updates.empty();
  for (const ir::Value& v : special.feeds) out->feed_shapes.push_back(v.shape());
  for (const ir::Value& v : special.graph->body().results) out->result_types.push_back(v.type());
  std::vector<int64_t> written;
  if (graph.storage() == VariableStorage::kBuffers) written = remove_effects(special);
  on_device([&] { lower(graph, special, written, *out); });
  return out;
}

}  // namespace alloy::engine

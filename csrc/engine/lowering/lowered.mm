#import "engine/lowering/lowered.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "engine/computable.h"
#include "engine/device_info.h"
#include "engine/host_function.h"
#import "engine/lowering/lowering.h"
#include "engine/lowering/open.h"
#import "engine/lowering/ops.h"
#import "engine/lowering/state.h"
#import "engine/mps_types.h"
#include "ir/rules/composites.h"
#include "ir/rules/cost.h"
#include "ir/transform/cut.h"
#include "ir/transform/walk.h"

namespace alloy::engine {
namespace {

// Turns the effects of a specialised graph into further results. Returns the slots of the variables whose new values
// these results are.
std::vector<int64_t> remove_effects(ir::Specialized& special) {
  std::vector<int64_t> slots;
  ir::carry_feeds(special, [&](const ir::Graph& graph) {
    ir::Pure pure = ir::remove_effects(graph);
    slots = std::move(pure.slots);
    return std::move(pure.graph);
  });
  return slots;
}

// True if the framework may refuse the value's tensor as a target: placeholders, constants and variables.
bool is_no_target(const ir::Value& value) { return value.op->operands.empty(); }

void require_known(const ir::Op& op) {
  for (const ir::Type& type : op.results) {
    // The empty value of a conditional's other branch may have an unknown shape (Lowering::lower_region).
    const bool may_be_open = op.code == ir::OpCode::empty && op.block->parent != nullptr;
    if (!type.is_static() && !may_be_open) op.fail("The shape " + to_string(type.shape) + " is not known");
  }
}

// Throws ir::Error if an op cannot be computed, or if `require_shapes` refuses its shapes.
void require_lowerable(const ir::Block& block, void (*require_shapes)(const ir::Op&)) {
  for (const auto& op : block.ops) {
    require_computable(*op, device_system());
    if (op->info().facts.host && block.parent != nullptr) {
      op->fail("The op cannot run in a loop or a conditional, nor in several steps of one dispatch");
    }
    require_shapes(*op);
    for (const auto& region : op->regions) require_lowerable(*region, require_shapes);
  }
}

// Replaces ops for which the framework has no selector by other ops.
void replace_absent(ir::Specialized& special) {
  const auto is_absent = [](const ir::Op& op) { return op.info().facts.composed && !has_selector(op); };
  if (!ir::has_op(*special.graph, is_absent)) return;
  ir::carry_feeds(special, [&](const ir::Graph& graph) { return ir::in_parts(graph, is_absent); });
}

// Moves all assignments to the end of the step, and removes the reads of variables and the order that ops wait for.
void assign_last(ir::Specialized& special) {
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

// Turns the stacked results of loops into carried values, since the framework's loops only carry. If a loop or
// conditional assigns variables, these become carried values, too, and are assigned at the end of the step: readers in
// one of the framework's loops cannot tell which value they see.
void prepare_regions(ir::Specialized& special) {
  const auto& ops = special.graph->body().ops;
  if (std::all_of(ops.begin(), ops.end(), [](const auto& op) { return op->regions.empty(); })) return;
  ir::carry_feeds(special, [](const ir::Graph& graph) { return ir::carry_stacks(graph); });
  const auto assigns = [](const auto& op) { return !op->regions.empty() && ir::has_effect(*op); };
  if (std::none_of(special.graph->body().ops.begin(), special.graph->body().ops.end(), assigns)) return;
  assign_last(special);
}

// Makes one variable at a time: its initial value is freed before the memory for the next is taken.
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

// Gives each result a target of its own that the framework accepts.
void declare_results(const ir::Specialized& special, const Lowering& lowering, Lowered& out) {
  MPSGraph* framework = out.framework->graph.get();
  std::unordered_set<MPSGraphTensor*> taken;
  const auto declare = [&](MPSGraphTensor* tensor, bool copied, NSString* name) {
    if (copied || !taken.insert(tensor).second) tensor = [framework identityWithTensor:tensor name:name];
    [out.targets.get() addObject:tensor];
    out.fetched.push_back(tensor);
  };
  for (const ir::Value& value : special.graph->body().results) {
    declare(lowering.tensor(value), is_no_target(value), mps_name(value.op->name));
  }
  if (out.fetched.empty() && ir::has(device_system(), ir::Quirk::executable_of_no_targets)) {
    declare([framework constantWithScalar:0 dataType:MPSDataTypeFloat32], true,
            [NSString stringWithUTF8String:kUnasked]);
  }
}

// Lowers a specialised graph. `written` are the slots of the variables whose new values are the last results.
void lower(Graph& graph, const ir::Specialized& special, const std::vector<int64_t>& written, Lowered& out) {
  Graph::Impl& own = graph.impl();
  own.land_all();  // no run may be in flight while the framework's graph grows
  out.framework = own.framework;
  out.types = Ref<NSMutableDictionary*>::retain([NSMutableDictionary dictionary]);
  out.targets = Ref<NSMutableArray*>::retain([NSMutableArray array]);
  out.operations = Ref<NSMutableArray*>::retain([NSMutableArray array]);
  make_variables(graph, *special.graph);
  out.ops = special.graph->body().ops.size();
  out.tf32 = ir::has_op(*special.graph, [](const ir::Op& op) { return op.attributes.has(ir::Attr::kPrecision); });
  out.framework->made += out.ops;
  Lowering lowering(graph);
  lowering.lower(*special.graph, special.feeds);
  declare_feeds(graph, special, lowering, out);
  declare_results(special, lowering, out);
  lowering.lower_assignments();
  for (const ir::Op* op : special.graph->body().effects) [out.operations.get() addObject:lowering.operation(op)];
  for (int64_t slot : written) {
    out.writes.push_back(&own.buffers_of(slot));
    out.writes.back()->reserve_next();
  }
}

HostCall lowered_call(const ir::HostCall& call, size_t behind) {
  const ir::Op& op = *call.op;
  const std::string kind =
      op.attributes.has(ir::Attr::kFunction) ? op.attributes.word(ir::Attr::kFunction) : std::string(op.info().name);
  return {host_function(op), kind, op.name, op.location, call.operands, call.results, behind};
}

// An operand of all_reduce and its sum.
struct Term {
  const ir::HostCall* call;
  size_t computed, operand, result;  // the position of the operand's op in the step, and the numbers of the values
  uint64_t bytes;
};

// Adds calls in the order in which the step computes the terms, so that sums travel while later terms are computed.
void add_sums(std::vector<HostCall>& calls, std::vector<Term> terms, size_t behind) {
  const uint64_t most = host_function(*terms[0].call->op)->call_bytes();
  std::stable_sort(terms.begin(), terms.end(), [](const Term& a, const Term& b) { return a.computed < b.computed; });
  uint64_t bytes = most;
  for (const Term& term : terms) {
    if (bytes >= most) {
      calls.push_back(lowered_call(*term.call, behind));
      calls.back().operands.clear();
      calls.back().results.clear();
      bytes = 0;
    }
    calls.back().operands.push_back(term.operand);
    calls.back().results.push_back(term.result);
    bytes += term.bytes;
  }
}

// Adds the calls behind a part. Processes exchange all sums of a type together.
void add_calls(std::vector<HostCall>& calls, const std::vector<ir::HostCall>& given, size_t behind,
               const std::unordered_map<const ir::Op*, size_t>& order) {
  std::map<ir::DType, std::vector<Term>> terms;
  for (const ir::HostCall& call : given) {
    if (call.op->code != ir::OpCode::all_reduce) {
      calls.push_back(lowered_call(call, behind));
      continue;
    }
    for (size_t i = 0; i < call.operands.size(); ++i) {
      ir::Value v = call.op->operands[i];
      const ir::Type type = v.type();
      while (v.op->info().facts.renames || v.op->code == ir::OpCode::cast) v = v.op->operands[0];
      terms[type.dtype].push_back({&call, order.at(v.op), call.operands[i], call.results[i], type.byte_count()});
    }
  }
  for (const auto& [dtype, some] : terms) add_sums(calls, some, behind);
}

// Cuts a step at its ops on the host and lowers the parts; `written` as for lower().
void lower_parts(Graph& graph, const ir::Specialized& special, const std::vector<int64_t>& written, Lowered& out) {
  ir::Cut cut = ir::cut(special);
  std::unordered_map<const ir::Op*, size_t> order;
  for (const auto& op : special.graph->body().ops) order.emplace(op.get(), order.size());
  const auto host_calls = std::make_shared<LoweredHostCalls>();
  host_calls->values = std::move(cut.values);
  for (size_t i = 0; i < cut.parts.size(); ++i) {
    ir::Part& part = cut.parts[i];
    const bool is_last = i + 1 == cut.parts.size();
    const auto own = is_last ? nullptr : std::make_shared<Lowered>();
    Lowered& lowered = is_last ? out : *own;
    lowered.feeds = part.feeds;
    lowered.entering = part.entering;
    lowered.leaving = part.leaving;
    const ir::Specialized step{std::move(part.graph), std::move(part.placeholders), {}};
    const bool computes = is_last || !step.graph->body().results.empty();
    if (computes) lower(graph, step, is_last ? written : std::vector<int64_t>(), lowered);
    if (is_last) break;
    host_calls->parts.push_back(computes ? own : nullptr);
    add_calls(host_calls->calls, part.calls, i, order);
  }
  for (const auto& part : host_calls->parts) out.ops += part ? part->ops : 0;
  out.host_calls = host_calls;
}

bool is_known(const ir::Value& value) { return value.op->code == ir::OpCode::constant; }

// True if the number of iterations of some loop is known only in the run.
bool has_open_loop(const ir::Block& block) {
  return std::any_of(block.ops.begin(), block.ops.end(), [](const auto& op) {
    const auto& operands = op->operands;
    if (op->code == ir::OpCode::while_loop) return true;
    if (op->code == ir::OpCode::for_loop && !std::all_of(operands.begin(), operands.begin() + 3, is_known)) return true;
    return std::any_of(op->regions.begin(), op->regions.end(),
                       [](const auto& region) { return has_open_loop(*region); });
  });
}

bool is_long(const ir::Block& body) {
  // Takes a slow processor some tenths of a second.
  constexpr uint64_t kFlops = uint64_t{1} << 32, kBytes = uint64_t{1} << 31;
  if (has_open_loop(body)) return true;
  double flops = 0, bytes = 0;  // double, since integers may overflow
  for (const auto& op : body.ops) {
    const ir::Cost cost = ir::cost(*op);
    flops += static_cast<double>(cost.flops);
    bytes += static_cast<double>(cost.bytes_read) + static_cast<double>(cost.bytes_written);
  }
  return flops > kFlops || bytes > kBytes;
}

}  // namespace

std::shared_ptr<const Lowered> Lowered::make(Graph& graph, const std::vector<ir::Feed>& feeds,
                                             const std::vector<ir::Value>& fetches, const std::vector<ir::Op*>& updates,
                                             std::optional<int64_t> steps, bool may_be_open) {
  ir::Specialized special;
  {
    const auto lock = graph.lock_building();
    special = ir::specialize(feeds, fetches, updates);
  }
  if (steps) special = ir::repeat(std::move(special), *steps);
  replace_absent(special);
  require_lowerable(special.graph->body(), may_be_open ? require_open : require_known);
  prepare_regions(special);
  const auto out = std::make_shared<Lowered>();
  out->assigns = !updates.empty();
  out->may_last = !may_be_open && is_long(special.graph->body());
  for (const ir::Value& v : special.feeds) out->feed_shapes.push_back(v.shape());
  for (const ir::Value& v : special.graph->body().results) out->result_types.push_back(v.type());
  std::vector<int64_t> written;
  const bool has_parts = ir::has_host_ops(*special.graph);
  if (graph.storage() == VariableStorage::kBuffers) written = remove_effects(special);
  else if (has_parts) assign_last(special);
  on_device([&] {
    if (has_parts) lower_parts(graph, special, written, *out);
    else lower(graph, special, written, *out);
  });
  return out;
}

}  // namespace alloy::engine

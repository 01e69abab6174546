// A step, or a part of one, as nodes of the framework's graph. Private to the engine.
#pragma once

#import "engine/graph_impl.h"
#include "ir/transform/rewrite.h"

namespace alloy::engine {

// The name of a target that nobody requested.
inline constexpr const char kUnasked[] = "alloy/unasked";

class HostFunction;
struct Lowered;

// A call of an op's function on the host; its operands and results are the numbers of values (ir/transform/cut.h).
struct HostCall {
  std::shared_ptr<const HostFunction> function;
  std::string kind, name, location;  // of the op
  std::vector<size_t> operands, results;
  size_t behind;  // the part after which it is made; the next part may need its results
};

// The work of a step with ops on the host before its last part.
struct LoweredHostCalls {
  std::vector<std::shared_ptr<const Lowered>> parts;  // null if there is nothing to compute
  std::vector<HostCall> calls;                        // in the order in which they are made
  std::vector<ir::Type> values;                       // the types of the numbered values
};

// Nodes cannot be removed from a graph of the framework, so a step is lowered once and compiled as often as needed.
// `framework` keeps the graph that owns the tensors.
struct Lowered {
  // Adds the nodes. Throws ir::Error if the step cannot be computed, or if feeds have open shapes and the step is not
  // only exported (`may_be_open`). The caller holds the graph's lock. With `steps`, the nodes compute that many steps
  // (ir::repeat), and `feeds` are those of one step.
  static std::shared_ptr<const Lowered> make(Graph& graph, const std::vector<ir::Feed>& feeds,
                                             const std::vector<ir::Value>& fetches, const std::vector<ir::Op*>& updates,
                                             std::optional<int64_t> steps = std::nullopt, bool may_be_open = false);

  std::shared_ptr<Framework> framework = {};
  size_t ops = 0;         // the number of ops lowered
  bool tf32 = false;      // whether products may round their operands
  bool assigns = false;   // whether a variable is assigned
  bool may_last = false;  // whether a run may last so long that a user wants to interrupt it
  std::vector<ir::Shape> feed_shapes = {};
  std::vector<ir::Type> feed_types = {}, result_types = {};
  // `fed`, in order: feeds, then values of other parts, then the variables of VariableStorage::kBuffers that are read.
  // `fetched`: fetches, then the variables of that storage that are written, then values for other parts, then an
  // unused target if there is no other and the framework needs one.
  std::vector<MPSGraphTensor*> fed = {}, fetched = {};
  std::vector<Buffers*> reads = {}, writes = {};
  // Only of a part of a step: the indices of the step's feeds that it is fed, the numbers of the values fed after
  // these, and the numbers of the values that its last targets give. The last part also holds the stages before it.
  std::vector<size_t> feeds = {}, entering = {}, leaving = {};
  std::shared_ptr<const LoweredHostCalls> host_calls = {};
  Ref<NSMutableDictionary*> types = {};                // of `fed`
  Ref<NSMutableArray*> targets = {}, operations = {};  // `fetched`; the assignments
};

}  // namespace alloy::engine

// A step as nodes of the framework's graph. Private to the engine.
#pragma once

#import "engine/graph_impl.h"
#include "ir/transform/rewrite.h"

namespace alloy::engine {

// The name of a target that nobody asked for.
inline constexpr const char kUnasked[] = "alloy/unasked";

class LibraryFunction;
struct Lowered;

// A call of a function of a library, of values that have numbers (ir/transform/cut.h).
struct LibraryCall {
  const LibraryFunction* function;
  std::string name, location;  // of its op
  std::vector<size_t> operands, results;
};

// What a step with ops of libraries computes before its last part: parts, and behind each some calls.
struct LoweredHostCalls {
  struct Stage {
    std::shared_ptr<const Lowered> part;  // null where there is nothing to compute
    std::vector<LibraryCall> calls;
  };
  std::vector<Stage> stages;
  std::vector<ir::Type> values;  // those that have numbers
};

// Nodes cannot be removed from a graph of the framework, so they are made once and compiled as often as needed. The
// tensors are that graph's, which `framework` keeps.
struct Lowered {
  // Adds them. Throws ir::Error where the step cannot be computed, or where the shapes of feeds are open, but for those
  // of a step that is only to be written to a file (`may_be_open`). The caller holds the graph's lock. With `steps`
  // they are so many steps (ir::repeat), of each of which `feeds` are.
  static std::shared_ptr<const Lowered> make(Graph& graph, const std::vector<ir::Feed>& feeds,
                                             const std::vector<ir::Value>& fetches, const std::vector<ir::Op*>& updates,
                                             std::optional<int64_t> steps = std::nullopt, bool may_be_open = false);

  std::shared_ptr<Framework> framework = {};
  size_t ops = 0;         // that they stand for
  bool assigns = false;   // variables
  bool may_last = false;  // as long as a user may want to interrupt it
  std::vector<ir::Shape> feed_shapes = {};
  std::vector<ir::Type> feed_types = {}, result_types = {};
  // `fed`, in order: feeds, then values of other parts, then the variables of VariableStorage::kBuffers that are read.
  // `fetched`: fetches, then those variables that are written, then values for other parts, then an unused target if
  // the framework needs one and there is none.
  std::vector<MPSGraphTensor*> fed = {}, fetched = {};
  std::vector<Buffers*> reads = {}, writes = {};
  // Of a part of a step: which of the step's feeds it is fed, the numbers of the values that it is fed behind these,
  // and of those that it gives as its last targets. The last part has what comes before.
  std::vector<size_t> feeds = {}, entering = {}, leaving = {};
  std::shared_ptr<const LoweredHostCalls> host_calls = {};
  Ref<NSMutableDictionary*> types = {};                // of `fed`
  Ref<NSMutableArray*> targets = {}, operations = {};  // `fetched`; the assignments
};

}  // namespace alloy::engine

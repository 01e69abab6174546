// A step as nodes of the framework's graph. Private to the engine.
#pragma once

#import "engine/graph_impl.h"
#include "ir/rewrite.h"

namespace alloy::engine {

// Nodes cannot be removed from a graph of the framework, so they are made once and compiled as often as needed. The
// tensors are that graph's, which `framework` keeps.
struct Lowered {
  // Adds them. Throws ir::Error where the step cannot be computed. The caller holds the graph's lock. With `steps` they
  // are so many steps (ir::repeat), of each of which `feeds` are.
  static std::shared_ptr<const Lowered> make(Graph& graph, const std::vector<ir::Feed>& feeds,
                                             const std::vector<ir::Value>& fetches, const std::vector<ir::Op*>& updates,
                                             std::optional<int64_t> steps = std::nullopt);

  std::shared_ptr<Framework> framework = {};
  size_t ops = 0;        // that they stand for
  bool assigns = false;  // variables
  std::vector<ir::Shape> feed_shapes = {};
  std::vector<ir::Type> feed_types = {}, result_types = {};
  // `fed`, in order: feeds, then the variables of VariableStorage::kBuffers that are read. `fetched`: fetches, then
  // those variables that are written, then an unused target if the framework needs one and there is none.
  std::vector<MPSGraphTensor*> fed = {}, fetched = {};
  std::vector<Buffers*> reads = {}, writes = {};
  Ref<NSMutableDictionary*> types = {};                // of `fed`
  Ref<NSMutableArray*> targets = {}, operations = {};  // `fetched`; the assignments
};

}  // namespace alloy::engine

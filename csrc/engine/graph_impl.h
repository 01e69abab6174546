// The framework's side of a Graph. Private to the engine.
#pragma once

#include <map>
#include <unordered_map>

#import "engine/array.h"
#import "engine/device.h"
#include "engine/graph.h"
#import "engine/lowering.h"
#import "engine/ref.h"

namespace alloy::engine {

struct Graph::Impl {
  Ref<MPSGraph*> graph;
  Ref<id<MTLCommandQueue>> queue;  // one a graph: different graphs run side by side
  VariableTensors variables;
  std::map<int64_t, Buffers> buffers;  // of Storage::kBuffers, by slot; made when first needed
  std::mutex compiling;                // guards variables, buffers, readers, writers and the compiled steps of executables
  std::mutex running;  // one run of a graph at a time, from copying the feeds in to copying the results out; guards the buffers' contents
  std::unordered_map<const ir::Op*, std::unique_ptr<Compiled>> readers, writers;  // of Storage::kVariable

  // The arrays of a variable. `compiling` is held by the caller, who is on the device.
  Buffers& buffers_of(const ir::Op& variable) {
    const auto& initial = variable.attributes.get<ir::LiteralRef>(ir::Attr::kValue);
    return buffers.try_emplace(variable.attributes.integer(ir::Attr::kSlot), *initial).first->second;
  }
};

}  // namespace alloy::engine

// The framework's side of a Graph. Private to the engine.
#pragma once

#include <unordered_map>

#import "engine/device.h"
#include "engine/graph.h"
#import "engine/lowering.h"
#import "engine/ref.h"

namespace alloy::engine {

struct Graph::Impl {
  Ref<MPSGraph*> graph;
  Ref<id<MTLCommandQueue>> queue;  // one a graph: different graphs run side by side
  VariableTensors variables;
  std::mutex compiling;            // guards variables, readers, writers and the compiled steps of executables
  std::mutex running;              // one run of a graph at a time, from copying the feeds in to copying the results out
  std::unordered_map<const ir::Op*, std::unique_ptr<Compiled>> readers, writers;  // of variables
};

}  // namespace alloy::engine

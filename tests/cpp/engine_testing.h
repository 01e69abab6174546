// Tools for the engine's tests.
#pragma once

#include "engine/graph.h"
#include "graph_builder.h"

namespace alloy::test {

inline std::vector<engine::FeedBytes> feed_bytes(const std::vector<const void*>& feeds) {
  std::vector<engine::FeedBytes> out;
  for (const void* data : feeds) out.push_back({data, nullptr});
  return out;
}

// The step for feeds with the shapes of the placeholders.
inline std::shared_ptr<engine::Compiled> step_of(engine::Executable& executable) {
  std::vector<Shape> shapes;
  for (const Value& v : executable.feeds()) shapes.push_back(v.shape());
  return executable.specialize(shapes);
}

inline void run(engine::Executable& executable, const std::vector<const void*>& feeds,
                const std::vector<void*>& results) {
  executable.run(step_of(executable), feed_bytes(feeds).data(), results.data());
}

inline float value_of(engine::Graph& graph, Value variable) {
  float out;
  void* to = &out;
  graph.read({variable}, &to);
  return out;
}

}  // namespace alloy::test

// Launches that the driver begins at once.
#pragma once

#include <vector>

#include "cuda/driver.h"

namespace alloy::cuda {

// A function and its grid. The arguments are the addresses, then the numbers.
struct PreparedLaunch {
  CUfunction function = nullptr;
  unsigned blocks = 1, rows = 1, threads = 1;
  std::vector<uint64_t> arguments;
  std::vector<size_t> follows = {};  // the positions, ascending, of the launches that must end before this one begins
  bool is_awaited = true;            // a step waits for it, not only the end of the run
};

class LaunchGraph {
 public:
  // launches_wait: the functions wait themselves for the launches that they follow (begin_launch in the vocabulary), so
  // they may begin a moment earlier. Throws std::runtime_error or std::bad_alloc.
  LaunchGraph(const Context& context, const std::vector<const PreparedLaunch*>& launches, bool launches_wait);
  // No launch of the graph may be in flight.
  ~LaunchGraph();
  LaunchGraph(const LaunchGraph&) = delete;
  LaunchGraph& operator=(const LaunchGraph&) = delete;

  // Takes new arguments for the launch at this position.
  void update(size_t position, const PreparedLaunch& launch);
  void begin(CUstream stream);

 private:
  struct Nothing {};
  LaunchGraph(const Context& context, Nothing) : context_(context) {}

  const Context& context_;
  CUgraph graph_ = nullptr;
  CUgraphExec made_ = nullptr;
  std::vector<CUgraphNode> nodes_;
};

}  // namespace alloy::cuda

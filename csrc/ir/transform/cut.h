// A step cut where ops of libraries run: into parts that a device computes, and calls between them on the host.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "ir/transform/rewrite.h"

namespace alloy::ir {

// A call of a function of a library, of values that parts and other calls have made.
struct NativeCall {
  const Op* op;  // of the step that was cut
  std::vector<size_t> operands, results;
};

struct Part {
  std::unique_ptr<Graph> graph = std::make_unique<Graph>();
  std::vector<size_t> feeds = {};        // which of the step's feeds it reads,
  std::vector<Value> placeholders = {};  // and its placeholders for these and, behind them, for those that enter:
  std::vector<size_t> entering = {};     // values made before. Its results are, in the last part, those of the step,
  std::vector<size_t> leaving = {};      // and behind them values that others use.
  std::vector<NativeCall> calls = {};    // that follow it, in their order
};

// Values that pass from one part or call to another have numbers.
struct Cut {
  std::vector<Part> parts;
  std::vector<Type> values;
};

// True if an op of a library stands in the body.
bool has_native_ops(const Graph& graph);

// Cuts a specialised step, which assigns only at its end and has no ops that wait for others. The last part has the
// step's results and all that it assigns. A value is computed as late as possible, in one part alone, unless that costs
// nothing.
Cut cut(const Specialized& step);

}  // namespace alloy::ir

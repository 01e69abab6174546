// Cuts a step at its ops that run on the host: into parts that a device computes, and calls between them on the host.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "ir/transform/rewrite.h"

namespace alloy::ir {

// A call of an op that runs on the host; its operands and results are the numbers of values.
struct HostCall {
  const Op* op;  // in the step that was cut
  std::vector<size_t> operands, results;
};

struct Part {
  std::unique_ptr<Graph> graph = std::make_unique<Graph>();
  std::vector<size_t> feeds = {};        // indices of the step's feeds that the part reads
  std::vector<Value> placeholders = {};  // placeholders for the feeds, then for the entering values
  std::vector<size_t> entering = {};     // numbers of values from earlier parts and calls
  std::vector<size_t> leaving = {};      // numbers of its last results; the last part has the step's before
  std::vector<HostCall> calls = {};      // the calls after it, in order
};

// A step's parts. A value that passes between parts and calls has a number, its index in `values`.
struct Cut {
  std::vector<Part> parts;
  std::vector<Type> values;
};

// True if the body has an op that runs on the host.
bool has_host_ops(const Graph& graph);

// Cuts a specialised step whose assignments are all at its end and whose ops do not wait for others. The last part has
// the step's results and its assignments. Values are computed, and calls made on them, as late as possible, and in one
// part only unless computing a value again is free.
Cut cut(const Specialized& step);

}  // namespace alloy::ir

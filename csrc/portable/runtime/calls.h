// Calls of one graph by another: what callSymbolName: adds, and what becomes of it when the executables are known.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ir/transform/rewrite.h"

namespace alloy::runtime {

class GraphState;
struct Callee;
// What a program may call, by name.
using Callables = std::map<std::string, Callee>;
using CallablesRef = std::shared_ptr<const Callables>;

// What is to be computed, in the order of the arrays of a run.
struct Request {
  std::vector<ir::Value> feeds;
  std::vector<ir::Value> results;
  std::vector<ir::Op*> effects;
  CallablesRef callables{};  // null for none
};

// An executable: a request on a graph, which it keeps.
struct Callee {
  std::shared_ptr<GraphState> state;
  Request request;
};

// Adds a call with results of these types. Throws ir::Error.
ir::Op* add_call(ir::Graph& graph, const std::string& symbol, const std::vector<ir::Value>& operands,
                 const std::vector<ir::Type>& results);

// As ir::specialize, with what the calls compute in place of them. Throws ir::Error where there is no such executable,
// where its types are others, or where it has variables.
ir::Specialized specialize(const std::vector<ir::Feed>& feeds, const std::vector<ir::Value>& results,
                           const std::vector<ir::Op*>& effects, const CallablesRef& callables);

}  // namespace alloy::runtime

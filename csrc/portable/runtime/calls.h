// Calls of one graph by another: callSymbolName: adds a call, and specialize() replaces it by the executable's
// computation.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ir/transform/rewrite.h"

namespace alloy::runtime {

class GraphState;
struct Callee;
// The executables that a program may call, by name.
using Callables = std::map<std::string, Callee>;
using CallablesRef = std::shared_ptr<const Callables>;

// The computation that a user asks for, in the order of a run's arrays.
struct Request {
  std::vector<ir::Value> feeds;
  std::vector<ir::Value> results;
  std::vector<ir::Op*> effects;
  CallablesRef callables{};  // null if none
  std::string precision{};   // of all its products, as the attribute; or empty
};

// An executable: a request on a graph, which it keeps alive.
struct Callee {
  std::shared_ptr<GraphState> state;
  Request request;
};

// Adds a call whose results have these types. Throws ir::Error.
ir::Op* add_call(ir::Graph& graph, const std::string& symbol, const std::vector<ir::Value>& operands,
                 const std::vector<ir::Type>& results);

// Like ir::specialize, with each call replaced by the executable's computation, and with the precision, unless that is
// empty, on all products. Throws ir::Error if there is no such executable, if its types differ, or if it uses
// variables.
ir::Specialized specialize(const std::vector<ir::Feed>& feeds, const std::vector<ir::Value>& results,
                           const std::vector<ir::Op*>& effects, const CallablesRef& callables,
                           const std::string& precision = {});

}  // namespace alloy::runtime

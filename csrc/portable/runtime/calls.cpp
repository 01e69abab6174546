#include "runtime/calls.h"

#include <algorithm>
#include <utility>

#include "ir/native.h"
#include "ir/text/inspect.h"
#include "ir/transform/walk.h"

namespace alloy::runtime {
namespace {

using ir::Attr;
using ir::Op;
using ir::OpCode;
using ir::Type;
using ir::Value;

// A call stands in the graph as a native function that belongs to no library; its result types are those that the
// caller named. Calls of one name and equal types share one function.
class Call : public ir::NativeFunction {
 public:
  Call(std::string called, std::vector<Type> types) : symbol(std::move(called)), results(std::move(types)) {}

  std::vector<Type> infer(const std::vector<Type>&, std::string&) const override { return results; }

  const std::string symbol;
  const std::vector<Type> results;
};

const Call* call_of(const Op& op) {
  return op.code == OpCode::native
             ? dynamic_cast<const Call*>(ir::find_native_function(op.attributes.word(Attr::kFunction)).get())
             : nullptr;
}

[[noreturn]] void refuse_call(const std::string& symbol, const std::string& why) {
  throw ir::Error(ir::Error::Kind::kValue, "[callSymbolName] The executable '" + symbol + "' " + why + ".");
}

bool fits(const Type& declared, const Type& given) {
  return declared.dtype == given.dtype && ir::unify(declared.shape, given.shape);
}

// Copies the executable's computation, applied to the operands, into `graph`.
std::vector<Value> call(ir::Graph& graph, const Call& called, const std::vector<Value>& operands,
                        const CallablesRef& callables) {
  const std::string& symbol = called.symbol;
  const auto found = callables ? callables->find(symbol) : Callables::const_iterator();
  if (!callables || found == callables->end()) {
    refuse_call(symbol, "is called, but the compilation descriptor's callables have none of that name");
  }
  const Request& request = found->second.request;
  if (operands.size() != request.feeds.size() || called.results.size() != request.results.size()) {
    refuse_call(symbol, "has " + std::to_string(request.feeds.size()) + " feeds and " +
                            std::to_string(request.results.size()) + " targets, but the call has " +
                            std::to_string(operands.size()) + " inputs and " + std::to_string(called.results.size()) +
                            " output types");
  }
  std::vector<ir::Feed> feeds;
  for (size_t i = 0; i < operands.size(); ++i) {
    const Type &declared = request.feeds[i].type(), &given = operands[i].type();
    feeds.push_back({request.feeds[i], given});
    if (!fits(declared, given)) {
      refuse_call(symbol, "takes " + to_string(declared) + " as input " + std::to_string(i) + ", but is given " +
                              to_string(given));
    }
  }
  const ir::Specialized body =
      specialize(feeds, request.results, request.effects, request.callables, request.precision);
  ir::ValueMap<Value> values;
  for (size_t i = 0; i < operands.size(); ++i) values[body.feeds[i]] = operands[i];
  if (!body.graph->body().effects.empty()) refuse_call(symbol, "has target operations, which a call cannot run");
  for (const auto& op : body.graph->body().ops) {
    if (op->code == OpCode::variable) refuse_call(symbol, "uses variables of its own graph");
    if (op->code != OpCode::placeholder) ir::copy_into(graph, *op, values);
  }
  std::vector<Value> results;
  for (const Value& v : body.graph->body().results) {
    const Type& wanted = called.results[results.size()];
    const Value& result = results.emplace_back(values.at(v));
    if (!fits(wanted, result.type())) {
      refuse_call(symbol, "gives " + to_string(result.type()) + " as output " + std::to_string(results.size() - 1) +
                              ", but the call expects " + to_string(wanted));
    }
  }
  return results;
}

void set_precision(const ir::Block& block, const std::string& precision) {
  for (const auto& op : block.ops) {
    if (op->info().multiplies()) op->attributes.set(Attr::kPrecision, precision);
    for (const auto& region : op->regions) set_precision(*region, precision);
  }
}

}  // namespace

ir::Op* add_call(ir::Graph& graph, const std::string& symbol, const std::vector<Value>& operands,
                 const std::vector<Type>& results) {
  // Functions are never removed, so equal calls share one.
  std::string name = "callSymbolName '" + symbol + "'";
  for (const Type& type : results) name += " " + to_string(type);
  name += " of " + std::to_string(operands.size());
  if (!ir::find_native_function(name)) {
    auto function = std::make_shared<Call>(symbol, results);
    function->name = name;
    function->operands = static_cast<int>(operands.size());
    ir::add_native_function(std::move(function));
  }
  return graph.add(OpCode::native, operands, {{Attr::kFunction, name}});
}

ir::Specialized specialize(const std::vector<ir::Feed>& feeds, const std::vector<Value>& results,
                           const std::vector<Op*>& effects, const CallablesRef& callables,
                           const std::string& precision) {
  ir::Specialized special = ir::specialize(feeds, results, effects);
  if (ir::has_op(*special.graph, [](const Op& op) { return call_of(op) != nullptr; })) {
    ir::carry_feeds(special, [&](const ir::Graph& graph) {
      ir::Rewriter rewriter([&](ir::Rewriter& copy, const Op& op, const std::vector<Value>& operands) {
        const Call* called = call_of(op);
        return called ? ir::Replacement(call(copy.copy(), *called, operands, callables)) : std::nullopt;
      });
      return rewriter.run(graph);
    });
  }
  if (!precision.empty()) set_precision(special.graph->body(), precision);
  return special;
}

}  // namespace alloy::runtime

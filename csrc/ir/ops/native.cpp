// Ops of libraries: the library's functions give their types and gradients.
#include "ir/native.h"

#include <map>
#include <mutex>

#include "ir/rules/rules.h"

namespace alloy::ir {
namespace {

struct Registry {
  std::mutex lock;
  std::map<std::string, std::shared_ptr<const NativeFunction>> functions;
};

Registry& registry() {
  static Registry* const one = new Registry;  // graphs may outlive every other static object
  return *one;
}

// Functions are never removed.
const NativeFunction& function_of(const Op& op) {
  const NativeFunction* found = find_native_function(op.attributes.word(Attr::kFunction)).get();
  if (found == nullptr) op.fail("No library that is loaded has this op; al.load_op_library loads one");
  return *found;
}

bool is_floating(const Type& type) { return kind(type.dtype) == DTypeKind::kFloating; }

}  // namespace

bool add_native_function(std::shared_ptr<const NativeFunction> function) {
  const std::lock_guard lock(registry().lock);
  return registry().functions.try_emplace(function->name, function).second;
}

std::shared_ptr<const NativeFunction> find_native_function(const std::string& name) {
  const std::lock_guard lock(registry().lock);
  const auto found = registry().functions.find(name);
  return found == registry().functions.end() ? nullptr : found->second;
}

Types infer_native(const Op& op) {
  const NativeFunction& function = function_of(op);
  if (op.operands.size() != static_cast<size_t>(function.operands)) {
    op.fail("Expected " + std::to_string(function.operands) + " operands, got " + std::to_string(op.operands.size()));
  }
  Types given;
  for (const Value& v : op.operands) {
    if (kind(v.dtype()) == DTypeKind::kComplex) {
      op.fail("Expected no complex numbers, got " + text(v.type()), Error::Kind::kType);
    }
    given.push_back(v.type());
  }
  std::string mistake;
  Types types = function.infer(given, mistake);
  if (!mistake.empty()) op.fail(mistake);
  return types;
}

// Calls another function of the library with the operands, the results, and the gradients of the float results. It
// returns the gradients of the float operands.
void gradient_native(GradientRule& r) {
  const Op& op = r.op();
  const std::string gradient = function_of(op).gradient;
  if (gradient.empty()) op.fail("The op has no gradient");
  std::vector<Value> operands = op.operands;
  std::vector<size_t> floating;
  for (size_t i = 0; i < op.operands.size(); ++i) {
    if (is_floating(operand(op, i))) floating.push_back(i);
  }
  for (size_t i = 0; i < op.results.size(); ++i) operands.push_back(r.y(i).value());
  for (size_t i = 0; i < op.results.size(); ++i) {
    if (!is_floating(op.results[i])) continue;
    const Expr y = r.y(i);
    operands.push_back((r.g(i) ? r.g(i) : broadcast_like(y.scalar(0), y)).value());
  }
  Graph& graph = r.x().graph();
  Op* made = graph.add(OpCode::native, std::move(operands), {{Attr::kFunction, gradient}});
  if (made->results.size() != floating.size()) {
    op.fail("Expected " + std::to_string(floating.size()) + " gradients of " + gradient + ", got " +
            std::to_string(made->results.size()));
  }
  for (uint32_t i = 0; i < floating.size(); ++i) {
    const Type &expected = operand(op, floating[i]), &found = made->results[i];
    if (found.dtype != expected.dtype || !unify(found.shape, expected.shape)) {
      op.fail("Expected gradient " + std::to_string(i) + " of " + gradient + " to be " + text(expected) + ", got " +
              text(found));
    }
    r.give(floating[i], Expr(graph, made->result(i)));
  }
}

// The cost is unknown, apart from the memory.
Cost cost_native(const Op& op) { return cost_of(op, 0); }

}  // namespace alloy::ir

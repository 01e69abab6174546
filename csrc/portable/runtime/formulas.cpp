// Small graphs, compiled once for each device, types and settings.

#include "runtime/formulas.h"

#include <bit>
#include <utility>

#include "device/device.h"

namespace alloy::runtime {

namespace {

// Older formulas beyond this number are forgotten: the shapes of a program may change with every call.
constexpr size_t kMostCompiled = 64;

ir::Type type_of(const TypedArray& array) {
  const device::ArrayLayout& layout = array.memory.layout;
  ir::Dims dims;
  for (size_t axis = 0; axis < layout.rank; ++axis) dims.push_back(static_cast<int64_t>(layout.lengths[axis]));
  return {array.dtype, ir::Shape(dims)};
}

}  // namespace

Run Formulas::run(const Settings& settings, const Formula& formula, const std::vector<TypedArray>& inputs,
                  const TypedArray& result) {
  Key key{reinterpret_cast<uintptr_t>(result.memory.device)};
  // Compares settings by their bits, so that NaN equals itself and 0 differs from -0.
  for (const double setting : settings) key.push_back(std::bit_cast<uint64_t>(setting));
  std::vector<ir::Type> types;
  for (const TypedArray& input : inputs) {
    const ir::Type& type = types.emplace_back(type_of(input));
    key.push_back(static_cast<uint64_t>(type.dtype));
    key.push_back(input.memory.layout.rank);
    for (const int64_t length : type.shape.dims()) key.push_back(static_cast<uint64_t>(length));
  }
  key.push_back(static_cast<uint64_t>(result.dtype));

  const host::LocksAreHeld compiling;
  std::lock_guard lock(mutex_);
  if (compiled_.size() >= kMostCompiled && !compiled_.contains(key)) compiled_.clear();
  Compiled& compiled = compiled_[key];
  if (!compiled.program) {
    auto state = std::make_shared<GraphState>(*result.memory.device);
    std::vector<ir::Feed> feeds;
    std::vector<ir::Expr> operands;
    for (const ir::Type& type : types) {
      const ir::Value value =
          state->graph
              .add(ir::OpCode::placeholder, {}, {{ir::Attr::kShape, type.shape}, {ir::Attr::kDtype, type.dtype}})
              ->result();
      feeds.push_back({value, type});
      operands.emplace_back(state->graph, value);
    }
    const ir::Expr y = ir::cast(formula(operands), result.dtype);
    compiled.program = state->program(*result.memory.device, feeds, {y.value()}, {});
    compiled.state = std::move(state);
  }
  Run::Arrays fed;
  std::vector<size_t> overwritten;
  for (const TypedArray& input : inputs) {
    if (device::may_share(input.memory, result.memory)) overwritten.push_back(fed.size());
    fed.push_back(input.memory);
  }
  return Run(compiled.state, compiled.program, std::move(fed), {result.memory}, std::move(overwritten));
}

}  // namespace alloy::runtime

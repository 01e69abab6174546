// Checks of a graph before it is compiled. Plain C++, because it catches exceptions of the rules.
#include <algorithm>
#include <cmath>

#include "engine/computable.h"
#include "engine/device_info.h"
#include "engine/graph.h"
#include "ir/grammar.h"
#include "ir/transform/rewrite.h"
#include "ir/transform/walk.h"

namespace alloy::engine {
namespace {

// Without fetches and updates, takes every value, every effect and every variable of the graph.
void default_to_everything(const ir::Graph& graph, std::vector<ir::Value>& fetches, std::vector<ir::Op*>& updates) {
  if (!fetches.empty() || !updates.empty()) return;
  for (const auto& op : graph.body().ops) {
    for (uint32_t i = 0; i < op->results.size(); ++i) fetches.push_back({op.get(), i});
    if (ir::has_effect(*op)) updates.push_back(op.get());
  }
}

// The literal with its elements, wherever they are kept.
ir::LiteralRef at_hand(const ir::LiteralRef& literal) {
  if (!literal->is_elsewhere()) return literal;
  std::vector<std::byte> elements(literal->type().byte_count());
  literal->fill(elements.data());
  return std::make_shared<ir::Literal>(literal->type(), std::move(elements));
}

// Trainable variables must start with finite numbers. Other state may start with an infinity, such as the best loss so
// far.
void require_initialised(const ir::Op& variable, const ir::Literal& literal, bool trainable) {
  if (kind(literal.type().dtype) != ir::DTypeKind::kFloating) return;
  const int64_t count = literal.type().shape.element_count(),
                stored = literal.is_splat() ? std::min<int64_t>(count, 1) : count;
  int64_t wrong = 0;
  for (int64_t i = 0; i < stored; ++i) {
    const double element = literal.at(i);
    if (std::isnan(element) || (trainable && std::isinf(element))) wrong += literal.is_splat() ? count : 1;
  }
  if (wrong == 0) return;
  variable.fail(std::string("Expected ") + (trainable ? "finite " : "") + "numbers as the initial value" +
                (variable.name.empty() ? "" : " of '" + variable.name + "'") + ", got " + std::to_string(wrong) +
                " of " + std::to_string(count) + " elements that are not");
}

}  // namespace

std::vector<std::string> Graph::verify(std::vector<ir::Feed> feeds, std::vector<ir::Value> fetches,
                                       std::vector<ir::Op*> updates) {
  std::vector<std::string> problems = ir::verify(ir_);
  auto passes = [&](auto check) {
    try {
      check();
      return true;
    } catch (const ir::Error& error) {
      problems.push_back(error.what());
      return false;
    }
  };
  default_to_everything(ir_, fetches, updates);
  std::erase_if(feeds, [&](const ir::Feed& feed) { return !passes([&] { require_own(feed.placeholder, "feed"); }); });
  std::erase_if(fetches, [&](ir::Value fetch) { return !passes([&] { require_own(fetch, "fetch"); }); });
  std::erase_if(updates, [&](ir::Op* update) { return !passes([&] { require_own({update, 0}, "update"); }); });
  for (const ir::Op* op : ir::live_ops(fetches, updates)) {
    if (op->code != ir::OpCode::variable) continue;
    const int64_t slot = op->attributes.integer(ir::Attr::kSlot);
    const ir::LiteralRef initial = initial_value(slot);
    if (!initial) continue;  // already on the device, and changed since
    passes([&] { require_initialised(*op, *at_hand(initial), variables_[slot].trainable); });
  }
  const ir::Specialized special = ir::specialize(feeds, fetches, updates, problems);
  for (const auto& op : special.graph->body().ops) {
    // `empty` replaces an op that is already reported.
    if (op->code != ir::OpCode::empty) passes([&] { require_computable(*op, device_system()); });
  }
  return problems;
}

std::vector<ir::Inspected> Graph::inspect(const std::vector<ir::Feed>& feeds, std::vector<ir::Value> fetches,
                                          std::vector<ir::Op*> updates) {
  for (const ir::Feed& feed : feeds) require_own(feed.placeholder, "feed");
  for (const ir::Value& v : fetches) require_own(v, "fetch");
  for (ir::Op* op : updates) require_own({op, 0}, "update");
  default_to_everything(ir_, fetches, updates);
  return ir::inspect(feeds, fetches, updates);
}

}  // namespace alloy::engine

#include "ir/text/inspect.h"

#include <algorithm>
#include <unordered_map>

#include "ir/transform/rewrite.h"
#include "ir/transform/walk.h"

namespace alloy::ir {
namespace {

bool is_static(const Op& op) {
  return std::all_of(op.operands.begin(), op.operands.end(), [](const Value& v) { return v.type().is_static(); }) &&
         std::all_of(op.results.begin(), op.results.end(), [](const Type& type) { return type.is_static(); });
}

}  // namespace

std::vector<Inspected> inspect(const std::vector<Feed>& feeds, const std::vector<Value>& results,
                               const std::vector<Op*>& effects) {
  std::vector<Feed> all = feeds;
  for (Op* op : live_ops(results, effects)) {
    const Value v{op, 0};
    const bool fed = std::any_of(feeds.begin(), feeds.end(), [&](const Feed& feed) { return feed.placeholder == v; });
    if (op->code == OpCode::placeholder && !fed) all.push_back({v, v.type()});
  }
  const Specialized special = specialize(all, results, effects);
  std::vector<Value> wanted = results;
  for (const Feed& feed : all) wanted.push_back(feed.placeholder);
  std::unordered_map<const Op*, const Op*> copy_of;
  auto copy = special.graph->body().ops.begin();
  for (const Op* op : live_ops(wanted, effects)) copy_of[op] = (copy++)->get();
  std::vector<Inspected> out;
  const auto in_stages = stages(results, effects);
  for (size_t stage = 0; stage < in_stages.size(); ++stage) {
    for (const Op* op : in_stages[stage]) {
      const Op& made = *copy_of.at(op);
      out.push_back({op, stage, made.results, is_static(made) ? std::optional(cost(made)) : std::nullopt});
    }
  }
  return out;
}

}  // namespace alloy::ir

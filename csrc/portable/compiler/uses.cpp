#include "compiler/uses.h"

#include <algorithm>

namespace alloy::compiler {

using ir::Op;
using ir::Value;

Uses::Uses(const Items& items, const ir::Graph& graph) {
  const std::vector<Item>& list = items.list;
  for (size_t i = 0; i < list.size(); ++i) {
    const Item& item = list[i];
    for (const Value& v : item.operands()) readers_[items.root(v)].push_back(i);
    if (item.kind == Item::Kind::kCall) {
      for (uint32_t r = 0; r < item.op->results.size(); ++r) {
        writers_[items.root(item.op->result(r))].push_back(i);
      }
    } else if (item.kind == Item::Kind::kCopy) {
      writers_[items.root(item.to)].push_back(i);
    }
    // The memory of a conditional's results is reserved from its first item to its last.
    if (item.kind == Item::Kind::kIf || item.kind == Item::Kind::kEnd) {
      for (uint32_t r = 0; r < item.op->results.size(); ++r) {
        lives_at_[items.root(item.op->result(r))].push_back(i);
      }
    }
  }
  for (size_t i = 0; i < list.size(); ++i) {
    if (list[i].kind == Item::Kind::kRepeat) keep_through_loop(list, i);
  }
  for (const Value& v : graph.body().results) readers_[items.root(v)].push_back(list.size());
}

// The arguments of a loop's first region live from one iteration to the next. Values from before the loop that it uses
// live until the loop ends.
void Uses::keep_through_loop(const std::vector<Item>& items, size_t end) {
  const Op& loop = *items[end].op;
  const auto is_begin = [&](const Item& item) { return item.kind == Item::Kind::kLoop && item.op == &loop; };
  const size_t begin = std::find_if(items.begin(), items.end(), is_begin) - items.begin();
  for (const auto& argument : loop.regions[0]->arguments) lives_at_[argument->result()] = {begin, end};
  for (auto& [v, times] : readers_) {
    const auto first = std::lower_bound(times.begin(), times.end(), begin);
    const auto behind = std::lower_bound(first, times.end(), end);
    if (first == behind || (writers_.contains(v) && first_item(v) >= begin)) continue;
    if (behind == times.end() || *behind != end) times.insert(behind, end);
  }
}

size_t Uses::first_item(Value v) const {
  size_t first = writers_.at(v).front();
  if (const auto it = lives_at_.find(v); it != lives_at_.end()) first = std::min(first, it->second.front());
  return first;
}

size_t Uses::last_item(Value v) const {
  size_t last = 0;
  for (const auto* map : {&readers_, &writers_, &lives_at_}) {
    if (const auto it = map->find(v); it != map->end()) last = std::max(last, it->second.back());
  }
  return last;
}

const std::vector<size_t>& Uses::at(const Times& times, Value v) {
  static const std::vector<size_t> none;
  const auto it = times.find(v);
  return it == times.end() ? none : it->second;
}

}  // namespace alloy::compiler

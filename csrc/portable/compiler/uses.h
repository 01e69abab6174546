// When each value of a graph is written and read: from its first item to its last its memory is its own.
#pragma once

#include <cstddef>
#include <vector>

#include "compiler/items.h"

namespace alloy::compiler {

// Asked of roots (Items::root): all values that share the memory count as one. Times are positions of items; a result
// of the graph is read behind the last one.
class Uses {
 public:
  Uses(const Items& items, const ir::Graph& graph);

  bool is_written(ir::Value v) const { return writers_.contains(v); }
  // Both ascending; none where nothing does.
  const std::vector<size_t>& readers(ir::Value v) const { return at(readers_, v); }
  const std::vector<size_t>& writers(ir::Value v) const { return at(writers_, v); }
  // Of a value that is written.
  size_t first_item(ir::Value v) const;
  size_t last_item(ir::Value v) const;

 private:
  using Times = ir::ValueMap<std::vector<size_t>>;

  static const std::vector<size_t>& at(const Times& times, ir::Value v);
  void keep_through_loop(const std::vector<Item>& items, size_t end);

  Times readers_, writers_, lives_at_;
};

}  // namespace alloy::compiler

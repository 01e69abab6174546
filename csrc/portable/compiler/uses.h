// The times at which each value of a graph is written and read. Its memory is reserved from its first item to its last.
#pragma once

#include <cstddef>
#include <vector>

#include "compiler/items.h"

namespace alloy::compiler {

// The functions take roots (Items::root): values that share memory count as one. Times are positions of items; results
// of the graph are read after the last item.
class Uses {
 public:
  Uses(const Items& items, const ir::Graph& graph);

  bool is_written(ir::Value v) const { return writers_.contains(v); }
  // Both ascend; empty if there are none.
  const std::vector<size_t>& readers(ir::Value v) const { return at(readers_, v); }
  const std::vector<size_t>& writers(ir::Value v) const { return at(writers_, v); }
  // The value must be written by some item.
  size_t first_item(ir::Value v) const;
  size_t last_item(ir::Value v) const;

 private:
  using Times = ir::ValueMap<std::vector<size_t>>;

  static const std::vector<size_t>& at(const Times& times, ir::Value v);
  void keep_through_loop(const std::vector<Item>& items, size_t end);

  Times readers_, writers_, lives_at_;
};

}  // namespace alloy::compiler

#include "cpu/amx/product_division.h"

#include <algorithm>

namespace alloy::cpu::amx {

int64_t deepest_panel(const Machine& machine) {
  return machine.l2.bytes() * 3 / 64 / (kPanelLines * kElementBytes) / kDepth * kDepth;
}

Grid::Grid(int64_t all_rows, int64_t all_columns, int64_t threads) {
  for (int64_t i = 1; i <= threads; ++i) {
    const int64_t tall = round_up(divide_up(all_rows, i), kLines),
                  wide = round_up(divide_up(all_columns, threads / i), kLines);
    if (threads % i != 0 || (i > 1 && tall + wide >= rows + columns)) continue;
    rows = tall;
    columns = wide;
  }
  down = divide_up(all_rows, rows);
  across = divide_up(all_columns, columns);
}

ProductDivision::ProductDivision(int64_t rows, int64_t columns, int64_t inner, const Machine& machine)
    : left_stays(rows <= columns) {
  constexpr int64_t kLargestGroup = 4;  // panels
  const int64_t most_kept = machine.l2.bytes() * 3 / 8 / kElementBytes;
  depth = round_up(divide_up(inner, divide_up(inner, deepest_panel(machine))), kDepth);
  const int64_t fewer = std::min(rows, columns), most = std::max(most_kept / depth, kPanelLines);
  kept_lines = round_up(divide_up(fewer, divide_up(fewer, most)), kPanelLines);
  // Several groups, because the first one cannot be fetched during a multiplication.
  group_lines = std::clamp<int64_t>(std::max(rows, columns) / kPanelLines / 8, 1, kLargestGroup) * kPanelLines;
}

bool product_pays(const ProductShape& shape, const Machine& machine, int64_t threads) {
  const Grid grid(shape.rows, shape.columns, threads);
  const int64_t split_products = machine.split_products * std::max(threads / machine.tiles_threads, int64_t{1});
  return shape.inner >= machine.tiles_inner && grid.rows * grid.columns >= split_products * (grid.rows + grid.columns);
}

}  // namespace alloy::cpu::amx

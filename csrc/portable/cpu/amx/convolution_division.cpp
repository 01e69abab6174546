#include "cpu/amx/convolution_division.h"

#include <algorithm>
#include <iterator>

namespace alloy::cpu::amx {
namespace {

using std::ssize;

// The part of a second-level cache that split slots may take.
int64_t most_split(const Machine& machine) { return machine.l2.bytes() * 7 / 8; }

// Cycles of the slowest thread.
double estimate(const TiledConvolution& c, const Bands& bands, const ConvolutionDivision& d, const Machine& m) {
  constexpr double kProducts = 6;  // of the three parts of two numbers
  const auto number = [](auto... factors) { return (static_cast<double>(factors) * ...); };
  const int64_t lines = round_up(d.lines, kLines), columns = round_up(d.columns, kLines),
                inner = round_up(c.left.inner, kDepth);
  const bool has_partial_sums = c.sums_over_results && d.groups > 1;
  // Ops before this one divided the images among the threads, so each thread's images may be in its core's caches.
  const double fetch = c.sums_over_results || d.groups == 1 ? 0 : m.fetch_cycles;
  // With fewer than four sums the tile instructions wait for each other.
  const double waiting = (lines > kLines ? 1 : m.tile_waiting) * (columns > kLines ? 1 : m.tile_waiting);
  return (m.split_cycles + fetch) * number(bands.left_rows, ssize(c.columns.left), lines, inner) +
         m.split_cycles *
             number(bands.right_rows, ssize(c.columns.right), columns, inner, divide_up(d.lines, d.split_lines)) +
         m.tile_product_cycles * kProducts * waiting *
             number(bands.meetings, c.columns.meeting_count(), lines / kLines, columns / kLines, inner / kDepth) +
         m.store_cycles * number(bands.result_rows, ssize(c.columns.meetings), lines, columns,
                                 divide_up(c.left.inner, d.depth) + (has_partial_sums ? 2 : 0));
}

// Tries how much to split at a time, for one division among threads, and keeps the fastest.
class Search {
 public:
  Search(const TiledConvolution& convolution, const Machine& machine, int64_t threads)
      : convolution_(convolution), machine_(machine), threads_(threads) {}

  std::optional<PlannedDivision> best() {
    for (int64_t groups = 1; groups <= std::min(threads_, convolution_.band_rows()); ++groups) {
      if (threads_ % groups == 0) try_groups(groups);
    }
    return best_;
  }

 private:
  // Tries each height of bands that divides a group's rows differently.
  void try_groups(int64_t groups) {
    const int64_t rows = divide_up(convolution_.band_rows(), groups);
    for (int64_t count = 1, height = 0; count <= rows; ++count) {
      if (divide_up(rows, count) == height) continue;
      height = divide_up(rows, count);
      try_bands(Bands(convolution_, groups, height), groups);
    }
  }

  void try_bands(const Bands& bands, int64_t groups) {
    const int64_t threads = threads_ / groups;
    for (int64_t down = 1; down <= threads; ++down) {
      if (threads % down != 0) continue;
      ConvolutionDivision d;
      d.groups = groups;
      d.lines = round_up(divide_up(convolution_.left.lines, down), kLines);
      d.columns = round_up(divide_up(convolution_.right.lines, threads / down), kLines);
      d.down = divide_up(convolution_.left.lines, d.lines);
      d.across = divide_up(convolution_.right.lines, d.columns);
      try_splits(bands, d);
    }
  }

  // Halves the lines and then the depth, down to the smallest.
  void try_splits(const Bands& bands, ConvolutionDivision d) {
    for (d.split_lines = round_up(d.lines, kPanelLines);; d.split_lines = round_up(d.split_lines / 2, kPanelLines)) {
      for (d.depth = round_up(convolution_.left.inner, kDepth);; d.depth = round_up(d.depth / 2, kDepth)) {
        const double cycles = estimate(convolution_, bands, d, machine_);
        const bool fits =
            d.left_bytes(convolution_, bands) + d.right_bytes(convolution_, bands) <= most_split(machine_);
        if (fits && (!best_ || cycles < best_->cycles)) best_ = {d, bands.height, cycles};
        if (d.depth == kDepth) break;
      }
      if (d.split_lines == kPanelLines) break;
    }
  }

  const TiledConvolution& convolution_;
  const Machine& machine_;
  int64_t threads_;
  std::optional<PlannedDivision> best_;
};

}  // namespace

std::optional<PlannedDivision> best_division(const TiledConvolution& convolution, const Machine& machine,
                                             int64_t threads) {
  return Search(convolution, machine, threads).best();
}

bool convolution_pays(const TiledConvolution& c, double cycles, const Machine& machine, int64_t threads) {
  const auto cores = static_cast<double>(threads);
  double products = c.left.lines * c.right.lines * c.left.inner;
  for (const AxisMeetings* axis : {&c.rows, &c.columns}) products *= axis->meeting_count();
  double weights = c.right.lines * (c.sums_over_results ? c.left.lines : c.right.inner);
  for (const AxisMeetings* axis : {&c.rows, &c.columns}) {
    weights *= c.sums_over_results ? axis->results_met() : ssize(axis->right);
  }
  const double onednn =
      machine.onednn_call_ns + machine.onednn_product_ns * products / cores + machine.onednn_weight_ns * weights;
  return products > machine.tiles_products && machine.tiles_call_ns + cycles / machine.tile_clock < onednn;
}

}  // namespace alloy::cpu::amx

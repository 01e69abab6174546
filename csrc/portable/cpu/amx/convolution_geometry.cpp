#include "cpu/amx/convolution_geometry.h"

#include <algorithm>
#include <iterator>

namespace alloy::cpu::amx {

using ir::OpCode;
using ir::Shape;
using std::ssize;

ConvolutionAsProduct::ConvolutionAsProduct(OpCode code, const Shape& x, const Shape& w, const Shape& y) {
  const int64_t images = x[0], in = x[3], out = y[3], source = x[1] * x[2] * in, result = y[1] * y[2] * out;
  const FactorLayout by_image{x[2] * in, in, images, source, in, 1},
      gradient_by_image{y[2] * out, out, images, result, out, 1};
  if (code == OpCode::conv2d) {
    left = by_image;
    right = {w[1] * in * out, in * out, out, 1, in, out};
    row_stride = y[2] * out, column_stride = out, line_stride = result;
  } else if (code == OpCode::conv2d_data_gradient) {
    left = gradient_by_image;
    right = {w[1] * in * out, in * out, in, out, out, 1};
    row_stride = x[2] * in, column_stride = in, line_stride = source;
  } else {
    left = {x[2] * in, in, in, 1, images, source};
    right = {y[2] * out, out, out, 1, images, result};
    row_stride = w[1] * in * out, column_stride = in * out, line_stride = out;
    swapped = sums_over_results = true;
  }
}

AxisMeetings::AxisMeetings(OpCode code, const ir::Window& window, int64_t source, int64_t result)
    : meetings(code == OpCode::conv2d                 ? result
               : code == OpCode::conv2d_data_gradient ? source
                                                      : window.size) {
  for (int64_t r = 0; r < result; ++r) {
    for (int64_t t = 0; t < window.size; ++t) {
      const int64_t s = r * window.stride - window.before + t * window.dilation;
      if (s < 0 || s >= source) continue;
      if (code == OpCode::conv2d) meetings[r].push_back({s, t});
      else if (code == OpCode::conv2d_data_gradient) meetings[s].push_back({r, t});
      else meetings[t].push_back({s, r});
    }
  }
  left = to_indices(&Meeting::left);
  right = to_indices(&Meeting::right);
}

int64_t AxisMeetings::meeting_count() const {
  int64_t count = 0;
  for (const auto& some : meetings) count += ssize(some);
  return count;
}

int64_t AxisMeetings::results_met() const {
  return std::ranges::count_if(meetings, [](const auto& some) { return !some.empty(); });
}

int64_t AxisMeetings::most_meetings() const {
  int64_t most = 0;
  for (const auto& some : meetings) most = std::max(most, ssize(some));
  return most;
}

// Returns the positions on one side of the meetings, ascending, each once. In the meetings, replaces each of these
// positions by its index in the returned list.
std::vector<int64_t> AxisMeetings::to_indices(int64_t Meeting::* side) {
  std::vector<int64_t> positions;
  for (const auto& some : meetings) {
    for (const Meeting& m : some) {
      positions.push_back(m.*side);
    }
  }
  std::sort(positions.begin(), positions.end());
  positions.erase(std::unique(positions.begin(), positions.end()), positions.end());
  for (auto& some : meetings) {
    for (Meeting& m : some) {
      m.*side = std::lower_bound(positions.begin(), positions.end(), m.*side) - positions.begin();
    }
  }
  return positions;
}

TiledConvolution::TiledConvolution(const ir::Op& op, const Shape& x, const Shape& w, const Shape& y)
    : ConvolutionAsProduct(op.code, x, w, y),
      rows(op.code, ir::window_of(op.attributes, 0, w[0], x[1]), x[1], y[1]),
      columns(op.code, ir::window_of(op.attributes, 1, w[1], x[2]), x[2], y[2]) {}

int64_t TiledConvolution::band_rows() const { return sums_over_results ? ssize(rows.right) : ssize(rows.meetings); }

Band TiledConvolution::band(int64_t first, int64_t end) const {
  Band band{first, end, ssize(rows.left), 0, 0, ssize(rows.right)};
  if (sums_over_results) band = {0, ssize(rows.meetings), ssize(rows.left), 0, first, end};
  for (int64_t i = band.first; i < band.end; ++i) {
    const std::span<const AxisMeetings::Meeting> some = meetings(band, i);
    if (some.empty()) continue;
    band.left = std::min({band.left, some.front().left, some.back().left});
    band.left_end = std::max({band.left_end, some.front().left + 1, some.back().left + 1});
    band.meetings += ssize(some);
  }
  band.left_end = std::max(band.left, band.left_end);
  return band;
}

std::span<const AxisMeetings::Meeting> TiledConvolution::meetings(const Band& band, int64_t row) const {
  const std::vector<AxisMeetings::Meeting>& all = rows.meetings[row];
  if (!sums_over_results) return all;
  const auto at = [&](int64_t right) {
    return std::ranges::lower_bound(all, right, {}, &AxisMeetings::Meeting::right);
  };
  return {at(band.right), at(band.right_end)};
}

Bands::Bands(const TiledConvolution& convolution, int64_t groups, int64_t height) : height(height), of_group(groups) {
  for (int64_t g = 0; g < groups; ++g) {
    const int64_t begin = convolution.band_rows() * g / groups, end = convolution.band_rows() * (g + 1) / groups;
    Band all{};
    for (int64_t first = begin; first < end; first += height) {
      const Band band = convolution.band(first, std::min(first + height, end));
      of_group[g].push_back(band);
      all.end += band.results();
      all.left_end += band.lefts();
      all.right_end += band.rights();
      all.meetings += band.meetings;
      left_at_once = std::max(left_at_once, band.lefts());
      right_at_once = std::max(right_at_once, band.rights());
    }
    result_rows = std::max(result_rows, all.end);
    left_rows = std::max(left_rows, all.left_end);
    right_rows = std::max(right_rows, all.right_end);
    meetings = std::max(meetings, all.meetings);
  }
}

}  // namespace alloy::cpu::amx

// A convolution or one of its gradients, in channels-last layout, as sums of matrix products: lists the matrices, the
// pairs that meet, and the rows of images that are computed together. No instructions; README.md has the pictures.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cpu/amx/panels.h"
#include "ir/graph.h"
#include "ir/rules/windows.h"

namespace alloy::cpu::amx {

// The memory layout of a factor's slots: matrices of one shape, one at each position of an image or of the kernel.
struct FactorLayout {
  int64_t row_stride, column_stride, lines, line_stride, inner, inner_stride;

  // The slot at a position.
  Factor slot(const float* data, int64_t row, int64_t column, bool left) const {
    return {data + row * row_stride + column * column_stride, lines, line_stride, inner, inner_stride, left};
  }
};

// The factors of a convolution or a gradient, and the memory layout of its result.
struct ConvolutionAsProduct {
  FactorLayout left, right;
  int64_t row_stride, column_stride, line_stride;  // of the result: from matrix to matrix, from line to line
  bool swapped = false;                            // true if the left factor is the op's second operand
  bool sums_over_results = false;  // true if a matrix of the result is a sum over all positions, not over taps

  // The shapes are those of the forward convolution: source, weights and result.
  ConvolutionAsProduct(ir::OpCode code, const ir::Shape& x, const ir::Shape& w, const ir::Shape& y);
};

// Along one axis of the images: the positions of the factors that meet for each position of the result.
struct AxisMeetings {
  struct Meeting {
    int64_t left, right;  // indices in the lists below
  };
  // By position of the result. `left` ascends and `right` descends, or the other way round.
  std::vector<std::vector<Meeting>> meetings;
  std::vector<int64_t> left, right;  // positions that meet another one, ascending

  // `source` and `result` are extents of the forward convolution.
  AxisMeetings(ir::OpCode code, const ir::Window& window, int64_t source, int64_t result);

  int64_t meeting_count() const;
  int64_t results_met() const;  // number of positions of the result that have a meeting
  int64_t most_meetings() const;

 private:
  std::vector<int64_t> to_indices(int64_t Meeting::* side);
};

// Rows that are computed together: rows of the result, and the rows of the factors that meet in them. In a sum over all
// positions: all rows of the result, and the terms of some rows of the right factor. Rows of factors are indices in
// AxisMeetings' lists.
struct Band {
  int64_t first, end;  // rows of the result
  int64_t left, left_end, right, right_end;
  int64_t meetings = 0;

  int64_t results() const { return end - first; }
  int64_t lefts() const { return left_end - left; }
  int64_t rights() const { return right_end - right; }
};

struct TiledConvolution : ConvolutionAsProduct {
  AxisMeetings rows, columns;

  TiledConvolution(const ir::Op& op, const ir::Shape& x, const ir::Shape& w, const ir::Shape& y);

  // The number of rows that bands divide: of the result, or of the right factor.
  int64_t band_rows() const;
  // The band of rows [first, end).
  Band band(int64_t first, int64_t end) const;
  // The meetings of a row of the result that belong to the band.
  std::span<const AxisMeetings::Meeting> meetings(const Band& band, int64_t row) const;
};

// The bands of each group; a thread computes one group.
struct Bands {
  int64_t height;
  std::vector<std::vector<Band>> of_group;
  // The largest numbers: in all bands of a group together, and, `at_once`, in one band.
  int64_t result_rows = 0, left_rows = 0, right_rows = 0, meetings = 0, left_at_once = 0, right_at_once = 0;

  Bands(const TiledConvolution& convolution, int64_t groups, int64_t height);
};

}  // namespace alloy::cpu::amx

// A convolution or one of its gradients, in channels-last layout, as sums of products of matrices: which matrices there
// are, which of them meet, and which rows of images are computed together. No instructions; README.md has the pictures.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cpu/amx/panels.h"
#include "ir/graph.h"
#include "ir/rules/windows.h"

namespace alloy::cpu::amx {

// Where a factor's slots lie: matrices of the same shape, one at each position of an image or of the kernel.
struct FactorLayout {
  int64_t row_stride, column_stride, lines, line_stride, inner, inner_stride;

  // The slot at this position.
  Factor slot(const float* data, int64_t row, int64_t column, bool left) const {
    return {data + row * row_stride + column * column_stride, lines, line_stride, inner, inner_stride, left};
  }
};

// The factors of a convolution of one kind, and where its result's matrices lie.
struct ConvolutionAsProduct {
  FactorLayout left, right;
  int64_t row_stride, column_stride, line_stride;  // of the result's matrices
  bool swapped = false;                            // the left factor is the op's second operand
  bool sums_over_results = false;  // each matrix of the result is a sum over all positions, not over taps

  // The shapes are those of the forward convolution: source, weights and result.
  ConvolutionAsProduct(ir::OpCode code, const ir::Shape& x, const ir::Shape& w, const ir::Shape& y);
};

// Along one axis of the images: which positions of the factors meet for each position of the result.
struct AxisMeetings {
  struct Meeting {
    int64_t left, right;  // among the positions below
  };
  // By position of the result, in the order of the left ones or the other way round.
  std::vector<std::vector<Meeting>> meetings;
  std::vector<int64_t> left, right;  // positions that meet another, ascending

  // `source` and `result`: extents of the forward convolution.
  AxisMeetings(ir::OpCode code, const ir::Window& window, int64_t source, int64_t result);

  int64_t meeting_count() const;
  int64_t results_met() const;  // positions of the result that are not empty sums
  int64_t most_meetings() const;

 private:
  std::vector<int64_t> number(int64_t Meeting::* side);
};

// What is computed together: rows of the result with the factors' rows that meet in them; or, of a sum over all
// positions, what some of the right factor's rows give to it. Rows of factors are counted among AxisMeetings'
// positions.
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

  // The rows that bands divide.
  int64_t band_rows() const;
  // The band of rows [first, end) of these.
  Band band(int64_t first, int64_t end) const;
  // Those of a row of the result that belong to the band.
  std::span<const AxisMeetings::Meeting> meetings(const Band& band, int64_t row) const;
};

// The bands of so many groups, one of which a thread computes.
struct Bands {
  int64_t height;
  std::vector<std::vector<Band>> of_group;
  // Rows and meetings of all bands of a group, and rows of a band: the most.
  int64_t result_rows = 0, left_rows = 0, right_rows = 0, meetings = 0, left_at_once = 0, right_at_once = 0;

  Bands(const TiledConvolution& convolution, int64_t groups, int64_t height);
};

}  // namespace alloy::cpu::amx

// Chains of elementwise ops and optimizer steps as one kernel. This class does tiling and broadcasting; steps.h has the
// computations.
#pragma once

#include <span>
#include <vector>

#include "cpu/elementwise/steps.h"
#include "cpu/kernel.h"

namespace alloy::cpu {

class Elementwise final : public Kernel {
 public:
  // True if the op can be part of a chain: an elementwise op of the table, a cast or an optimizer, of a type with
  // arithmetic.
  static bool accepts(const ir::Op& op);

  // A kernel that runs `ops` in this order, on tiles that stay in the cache. All results of ops have one shape.
  // `operands` lists each value that the chain needs from outside once, in run()'s order; operands broadcast to the
  // results' shape. `results` lists the values that run() writes; other values exist only tile by tile. Throws
  // ir::Error if an op is not accepted or the chain needs more than kMostBuffers tiles at once.
  Elementwise(std::span<const ir::Op* const> ops, std::span<const ir::Value> operands,
              std::span<const ir::Value> results);

  void run(const std::byte* const* operands, std::byte* const* results, std::byte* scratch) const override;
  size_t scratch_bytes() const override { return shares_ * worker_scratch_bytes_; }
  bool in_place(size_t operand, size_t result) const override;

  // The elements [begin, end) of every result, in row-major order. `elements` are these elements of the operand number
  // `apart`, which has the results' shape.
  struct Range {
    int64_t begin, end;
    size_t apart;
    const std::byte* elements;
  };
  // Computes the range on the caller's thread; `scratch` has worker_scratch_bytes() bytes.
  void run_range(const std::byte* const* operands, std::byte* const* results, const Range& range,
                 std::byte* scratch) const;
  size_t worker_scratch_bytes() const { return worker_scratch_bytes_; }

  static constexpr size_t kMostBuffers = 64;

 private:
  struct Axis {
    int64_t extent;
    std::vector<int64_t> strides;  // of each operand, in elements; 0 if it broadcasts
  };
  // How a tile's elements are read.
  enum class Access : uint8_t {
    kDense,   // in the operand itself
    kRows,    // in the operand itself, as long as a tile stays within a row
    kOnce,    // in a buffer that is filled once and suits every tile
    kGather,  // in a buffer filled for each tile
    kScalar,  // in the operand itself, which has one element; the step reads only that
  };
  struct Input {
    size_t width;
    int64_t inner_stride;
    Access access;
    size_t buffer;     // for kOnce and kGather
    size_t last_step;  // the last step that reads it
    bool is_scalar;    // one element, used only as an optimizer's coefficient
  };
  struct Output {
    size_t width;
    size_t step;  // that writes it
  };
  // Operands and results are indices of tiles: inputs first, then outputs, then intermediate buffers.
  struct TapeStep {
    StepFunction function;
    std::vector<uint16_t> operands, results;
  };
  // Whole rows, or `count` elements of one row from `begin` on.
  struct Tile {
    int64_t row, rows, begin, count;
  };
  class BufferPool;
  class Worker;

  void set_axes(const ir::Shape& shape, std::span<const ir::Value> operands);
  void set_tape(std::span<const ir::Op* const> ops, std::span<const ir::Value> operands,
                std::span<const ir::Value> results);
  void set_tiles();
  Access access_of(size_t operand) const;
  int64_t begin_of_tile(int64_t index) const;
  int64_t row_offset(size_t operand, int64_t row) const;

  std::vector<Axis> outer_;  // all but the innermost axis, outermost first
  int64_t row_count_ = 0;    // elements of a row, the innermost axis
  int64_t rows_ = 1;
  std::vector<Input> inputs_;
  std::vector<Output> outputs_;
  std::vector<TapeStep> tape_;
  size_t intermediates_ = 0;   // buffers of values that exist only inside
  size_t buffers_ = 0;         // these, and the buffers of gathered operands
  int64_t tile_count_ = 0;     // elements of a whole tile
  int64_t rows_per_tile_ = 0;  // 0 if a row has several tiles
  int64_t tiles_per_row_ = 1;
  int64_t tiles_ = 0;
  int64_t work_per_element_ = 0;
  size_t widest_ = 1;
  int64_t shares_;                                    // number of shares of the tiles, one for each thread
  size_t rest_bytes_ = 0, worker_scratch_bytes_ = 0;  // for each thread: rests of tiles, then buffers
};

}  // namespace alloy::cpu

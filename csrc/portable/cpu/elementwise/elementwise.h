// Straight-line chains of elementwise ops and optimizer steps as one kernel. Owns tiling and broadcasting; what a step
// computes is in steps.h.
#pragma once

#include <span>
#include <vector>

#include "cpu/elementwise/steps.h"
#include "cpu/kernel.h"

namespace alloy::cpu {

class Elementwise final : public Kernel {
 public:
  // True if the op can be part of a chain: an elementwise op of the table, a cast or an optimizer, of types that
  // compute.
  static bool accepts(const ir::Op& op);

  // A kernel that runs `ops` in this order on tiles that stay in the cache. Every result of an op has the
  // same shape; operands that no op of the chain gives broadcast to it and are listed, each once, in the
  // order in which run() gets them, in `operands`; the values that run() writes are listed in `results`. The
  // rest exists only tile by tile. Throws ir::Error where an op is not accepted or the chain needs more than
  // kMostBuffers tiles at once.
  Elementwise(std::span<const ir::Op* const> ops, std::span<const ir::Value> operands,
              std::span<const ir::Value> results);

  void run(const std::byte* const* operands, std::byte* const* results, std::byte* scratch) const override;
  size_t scratch_bytes() const override { return shares_ * part_scratch_bytes_; }
  bool in_place(size_t operand, size_t result) const override;

  // The elements [begin, end) of every result, in row-major order. Of operand `apart`, which has the results' shape,
  // only these elements are given: `elements`.
  struct Part {
    int64_t begin, end;
    size_t apart;
    const std::byte* elements;
  };
  // Computes it on the caller's thread, which has part_scratch_bytes() for itself.
  void run_part(const std::byte* const* operands, std::byte* const* results, const Part& part,
                std::byte* scratch) const;
  size_t part_scratch_bytes() const { return part_scratch_bytes_; }

  static constexpr size_t kMostBuffers = 64;

 private:
  struct Axis {
    int64_t extent;
    std::vector<int64_t> strides;  // of each operand, in elements; 0 where it broadcasts
  };
  // Where the elements of a tile are to be found.
  enum class Access : uint8_t {
    kDense,   // in the operand itself
    kRows,    // in the operand itself, as long as a tile stays within a row
    kOnce,    // in a buffer whose contents suit every tile
    kGather,  // in a buffer filled for each tile
    kScalar,  // in the operand itself, which has one element and the steps know it
  };
  struct Input {
    size_t width;
    int64_t inner_stride;
    Access access;
    size_t buffer;     // where the access is to one
    size_t last_step;  // that reads it
    bool is_scalar;    // one element, which optimizers alone use, as a coefficient
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
  struct Tile {
    int64_t row, rows, begin,
        count;  // first row, number of whole rows, or the `count` elements of one row from `begin`
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
  size_t intermediates_ = 0;   // buffers of values that are neither read nor written outside
  size_t buffers_ = 0;         // these, and those of operands that are gathered
  int64_t tile_count_ = 0;     // elements of a whole tile
  int64_t rows_per_tile_ = 0;  // 0: several tiles a row
  int64_t tiles_per_row_ = 1;
  int64_t tiles_ = 0;
  int64_t work_per_element_ = 0;
  size_t widest_ = 1;
  int64_t shares_;                                  // of the tiles, one a thread
  size_t rest_bytes_ = 0, part_scratch_bytes_ = 0;  // of one thread: rests of tiles stand before buffers
};

}  // namespace alloy::cpu

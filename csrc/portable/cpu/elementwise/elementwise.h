// Chains of elementwise ops, optimizer steps and folds of rows as one kernel. This class does tiling and broadcasting;
// steps.h and folds.h have the computations.
#pragma once

#include <span>
#include <vector>

#include "cpu/elementwise/steps.h"
#include "cpu/kernel.h"
#include "cpu/reduction/folds.h"

namespace alloy::cpu {

class Elementwise final : public Kernel {
 public:
  // True if the op can be part of a chain: an elementwise op of the table, a cast or an optimizer, of a type with
  // arithmetic.
  static bool accepts(const ir::Op& op);

  // True if a chain of values of this shape may also have values for each row: folds of rows, and elementwise ops on
  // these. A row is the last axis; a value for each row has size 1 there. Then tiles can be whole rows and whole
  // quanta, and there are enough rows to share them.
  static bool takes_rows(const ir::Shape& shape);
  // True if the op can be part of a chain as a fold of rows: a reduction of floats along the last axis.
  static bool folds(const ir::Op& op);

  // A kernel that runs `ops` in this order, on tiles that stay in the cache. All results of ops have one shape, except
  // those for each row. `operands` lists each value that the chain needs from outside once, in run()'s order; operands
  // broadcast to the results' shape. `results` lists the values that run() writes; other values exist only tile by
  // tile. Throws ir::Error if an op is not accepted or the chain needs more than kMostBuffers tiles at once.
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
  // Of values for each row. An op with n operands that uses a value of the chain takes n buffers of elements, and at
  // most n + 2 of values for each row: its operands, its result and a truth value.
  static constexpr size_t kMostRowBuffers = 3 * kMostBuffers;

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
    kSpread,  // in a buffer filled for each tile; the operand has one element for each row
    kGather,  // in a buffer filled for each tile, from any places
    kScalar,  // in the operand itself, which has one element; the step reads only that
    kNone,    // only as values for each row
  };
  struct Input {
    size_t width;
    int64_t inner_stride;
    Access access;
    size_t buffer;     // for kOnce, kSpread and kGather
    size_t last_step;  // the last step that reads it
    bool is_scalar;    // one element, used only as an optimizer's coefficient
    bool is_read;      // by a step that is not for rows
  };
  struct Output {
    size_t width;
    size_t step;  // that writes it
    bool is_for_rows;
  };
  // Operands and results are places of tiles: inputs first, then outputs, then intermediate buffers, then buffers of
  // values for each row.
  enum class Kind : uint8_t {
    kElements,  // computes elements
    kRows,      // computes values for each row
    kFold,      // folds elements to a value for each row
    kSpread,    // makes elements of a value for each row
  };
  struct TapeStep {
    Kind kind;
    StepFunction function;
    std::vector<uint16_t> operands, results;
    RowsFunction fold;
    size_t width;  // of the value that is spread
  };
  // A value for each row in the place: an operand to load, or a result to store.
  struct RowValue {
    size_t number;
    uint16_t place;
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
  bool is_dense_in_rows(size_t operand) const;
  int64_t begin_of_tile(int64_t index) const;
  int64_t row_offset(size_t operand, int64_t row) const;

  std::vector<Axis> outer_;  // all but the innermost axis, outermost first
  int64_t row_count_ = 0;    // elements of a row, the innermost axis
  int64_t rows_ = 1;
  std::vector<Input> inputs_;
  std::vector<Output> outputs_;
  std::vector<TapeStep> tape_;
  bool has_rows_ = false;  // values for each row
  std::vector<RowValue> row_operands_, row_results_;
  size_t intermediates_ = 0;                 // buffers of values that exist only inside
  size_t buffers_ = 0;                       // these, and the buffers of gathered operands
  size_t row_buffers_ = 0;                   // of values for each row
  size_t buffer_pitch_ = 0, row_pitch_ = 0;  // bytes from one buffer to the next
  int64_t tile_count_ = 0;                   // elements of a whole tile
  int64_t rows_per_tile_ = 0;                // 0 if a row has several tiles
  int64_t tiles_per_row_ = 1;
  int64_t tiles_ = 0;
  int64_t work_per_element_ = 0;
  size_t widest_ = 1;
  int64_t shares_;                                    // number of shares of the tiles, one for each thread
  size_t rest_bytes_ = 0, worker_scratch_bytes_ = 0;  // for each thread: rests of tiles, then buffers
};

}  // namespace alloy::cpu

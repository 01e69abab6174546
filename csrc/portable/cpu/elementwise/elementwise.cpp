#include "cpu/elementwise/elementwise.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "cpu/families.h"
#include "cpu/machine.h"
#include "cpu/threads/parallel.h"
#include "ir/rounding.h"
#include "ir/rules/cost.h"

namespace alloy::cpu {
namespace {

using ir::DType;
using ir::Op;
using ir::OpCode;
using ir::Value;

// One tile of each buffer of a chain fits into the first-level cache.
constexpr size_t kBufferBytes = kMeasured.l1.way_bytes;
// A quantum of the widest element type.
constexpr size_t kRestBytes = kStepQuantum * sizeof(int64_t);
// Rows of a chain that has values for each row: of so many elements, and at least so many rows.
constexpr int64_t kFewestInRow = 16, kMostInRow = 4096, kFewestRows = 32;
// The size of a tile in a chain without buffers, where only the work matters.
constexpr int64_t kUnbufferedTile = 4096;

// Work per element. Functions of floats cost more than arithmetic.
int64_t work_of(const Op& op) {
  if (op.info().types == ir::TypeClass::floating) return 6;
  const int64_t elements = std::max<int64_t>(op.results[0].shape.element_count(), 1);
  return std::max<int64_t>(static_cast<int64_t>(ir::cost(op).flops) / elements, 1);
}

// The fewest rows that are whole quanta.
int64_t even_rows(int64_t row_count) { return int64_t{kStepQuantum} / std::gcd(row_count, int64_t{kStepQuantum}); }

}  // namespace

bool Elementwise::accepts(const Op& op) {
  return find_step(op) != nullptr &&
         (op.code != OpCode::select || find_cast(op.operands[0].dtype(), DType::boolean) != nullptr);
}

bool Elementwise::takes_rows(const ir::Shape& shape) {
  if (shape.rank() == 0) return false;
  const int64_t count = shape[shape.rank() - 1];
  return count >= kFewestInRow && even_rows(count) * count <= kMostInRow && shape.element_count() % kStepQuantum == 0 &&
         shape.element_count() / count >= kFewestRows;
}

bool Elementwise::folds(const Op& op) {
  if (find_row_fold(op) == nullptr) return false;
  const ir::Shape& shape = op.operands[0].shape();
  return takes_rows(shape) && op.results[0].shape == ir::shape_of_rows(shape);
}

Elementwise::Elementwise(std::span<const Op* const> ops, std::span<const Value> operands,
                         std::span<const Value> results)
    : shares_(kernel_threads()) {
  const ir::Shape* shape = &ops[0]->results[0].shape;
  for (const Op* op : ops) {
    const bool is_fold = folds(*op);
    if (!is_fold && !accepts(*op)) refuse(*op, op->operands.back().type());
    const ir::Shape& own = is_fold ? op->operands[0].shape() : op->results[0].shape;
    has_rows_ |= is_fold || own != *shape;
    if (own.element_count() > shape->element_count()) {
      shape = &own;
      work_per_element_ = 0;
    }
    if (own.element_count() == shape->element_count()) work_per_element_ += is_fold ? 2 : work_of(*op);
  }
  set_axes(*shape, operands);
  set_tape(ops, operands, results);
  set_tiles();
}

// Merges axes along which all operands have compatible strides. Rows with values of their own stay the last axis.
void Elementwise::set_axes(const ir::Shape& shape, std::span<const Value> operands) {
  std::vector<Axis> axes;
  std::vector<int64_t> next(operands.size(), 1);
  for (int64_t i = shape.rank() - 1; i >= 0; --i) {
    if (shape[i] == 1) continue;
    Axis axis{shape[i], {}};
    for (size_t k = 0; k < operands.size(); ++k) {
      const ir::Shape& s = operands[k].shape();
      const int64_t at = i - (shape.rank() - s.rank());
      const bool moves = at >= 0 && s[at] != 1;
      axis.strides.push_back(moves ? next[k] : 0);
      if (moves) next[k] *= s[at];
    }
    bool merges = axes.size() > (has_rows_ ? 1 : 0);
    for (size_t k = 0; merges && k < operands.size(); ++k) {
      merges = axis.strides[k] == axes.back().strides[k] * axes.back().extent;
    }
    if (merges) axes.back().extent *= axis.extent;
    else axes.push_back(std::move(axis));
  }
  if (axes.empty()) axes.push_back({1, std::vector<int64_t>(operands.size(), 0)});
  row_count_ = axes.front().extent;
  for (size_t k = 0; k < operands.size(); ++k) {
    inputs_.push_back({size_of(operands[k].dtype()), axes.front().strides[k], Access::kNone, 0, 0,
                       operands[k].shape().element_count() == 1, false});
  }
  outer_.assign(axes.rbegin(), axes.rend() - 1);
  for (const Axis& axis : outer_) rows_ *= axis.extent;
}

// Buffers of intermediate values, by place. A buffer is reused after its value's last use.
class Elementwise::BufferPool {
 public:
  // The places begin at `first`.
  explicit BufferPool(size_t first) : first_(first) {}

  bool has(uint16_t place) const { return place >= first_; }
  size_t size() const { return size_; }
  uint16_t take() {
    if (idle_.empty()) return static_cast<uint16_t>(first_ + size_++);
    const uint16_t place = idle_.back();
    idle_.pop_back();
    return place;
  }
  void give_back(const std::vector<uint16_t>& places) { idle_.insert(idle_.end(), places.begin(), places.end()); }

 private:
  size_t first_, size_ = 0;
  std::vector<uint16_t> idle_;
};

void Elementwise::set_tape(std::span<const Op* const> ops, std::span<const Value> operands,
                           std::span<const Value> results) {
  ir::ValueMap<uint16_t> places, row_places;
  for (size_t i = 0; i < operands.size(); ++i) places.try_emplace(operands[i], static_cast<uint16_t>(i));
  const auto kind_of = [&](const Op& op) {
    if (!has_rows_) return Kind::kElements;
    if (folds(op)) return Kind::kFold;
    return op.results[0].shape.element_count() == rows_ ? Kind::kRows : Kind::kElements;
  };
  for (size_t i = 0; i < results.size(); ++i) {
    const bool is_for_rows = kind_of(*results[i].op) != Kind::kElements;
    if (!is_for_rows) places.try_emplace(results[i], static_cast<uint16_t>(operands.size() + i));
    outputs_.push_back({size_of(results[i].dtype()), 0, is_for_rows});
  }
  BufferPool pool(operands.size() + results.size());

  ir::ValueMap<size_t> last_use;
  for (size_t i = 0; i < ops.size(); ++i) {
    if (kind_of(*ops[i]) == Kind::kRows) continue;
    for (const Value& v : ops[i]->operands) last_use[v] = i;
  }
  const auto take_buffer = [&](size_t width) {
    widest_ = std::max(widest_, width);
    return pool.take();
  };
  // Values for each row are small, so no buffer is used twice.
  const auto take_row_buffer = [&] { return static_cast<uint16_t>(kMostBuffers + row_buffers_++); };

  for (size_t i = 0; i < ops.size(); ++i) {
    const Op& op = *ops[i];
    TapeStep step{kind_of(op), nullptr, {}, {}, nullptr, 0};
    if (step.kind == Kind::kFold) step.fold = find_row_fold(op);
    else step.function = find_step(op);
    std::vector<uint16_t> ended;
    for (size_t k = 0; k < op.operands.size() && !(step.kind == Kind::kFold && k > 0); ++k) {
      const Value& v = op.operands[k];
      const bool is_coefficient = k < op.info().facts.coefficients;
      if (step.kind == Kind::kRows && !is_coefficient) {
        if (!row_places.contains(v)) {
          row_places[v] = take_row_buffer();
          row_operands_.push_back({places.at(v), row_places[v]});
        }
        step.operands.push_back(row_places[v]);
        continue;
      }
      if (!places.contains(v)) {
        places[v] = take_buffer(size_of(v.dtype()));
        tape_.push_back({Kind::kSpread, nullptr, {row_places.at(v)}, {places[v]}, nullptr, size_of(v.dtype())});
      }
      const uint16_t place = places.at(v);
      step.operands.push_back(place);
      if (place < operands.size()) {
        inputs_[place].last_step = i;
        inputs_[place].is_scalar &= is_coefficient;
        inputs_[place].is_read = true;
      }
      const bool ends =
          pool.has(place) && last_use[v] == i && std::find(ended.begin(), ended.end(), place) == ended.end();
      if (ends) ended.push_back(place);
    }
    if (op.code == OpCode::select && op.operands[0].dtype() != DType::boolean) {
      const uint16_t truth = step.kind == Kind::kRows ? take_row_buffer() : take_buffer(1);
      tape_.push_back(
          {step.kind, find_cast(op.operands[0].dtype(), DType::boolean), {step.operands[0]}, {truth}, nullptr, 0});
      step.operands[0] = truth;
      if (step.kind != Kind::kRows) ended.push_back(truth);
    }
    for (uint32_t r = 0; r < op.results.size(); ++r) {
      const Value result = op.result(r);
      const auto output = static_cast<size_t>(std::find(results.begin(), results.end(), result) - results.begin());
      if (output < results.size()) outputs_[output].step = i;
      if (step.kind != Kind::kElements) {
        row_places[result] = take_row_buffer();
        step.results.push_back(row_places[result]);
        if (output < results.size()) row_results_.push_back({output, row_places[result]});
        continue;
      }
      if (!places.contains(result)) {
        places[result] = take_buffer(size_of(result.dtype()));
        if (!last_use.contains(result)) ended.push_back(places[result]);
      }
      step.results.push_back(places[result]);
    }
    pool.give_back(ended);
    tape_.push_back(std::move(step));
  }
  for (const Input& input : inputs_) widest_ = std::max(widest_, input.width);
  for (const Output& output : outputs_) widest_ = std::max(widest_, output.width);
  intermediates_ = pool.size();
  if (operands.size() + results.size() + intermediates_ > kMostBuffers || row_buffers_ > kMostRowBuffers) {
    ops[0]->fail("The chain of elementwise ops needs too many buffers");
  }
}

// A tile holds whole rows if rows are short, in whole quanta if possible; otherwise it is a piece of one row.
void Elementwise::set_tiles() {
  const int64_t even = even_rows(std::max<int64_t>(row_count_, 1));
  int64_t buffered = static_cast<int64_t>(kBufferBytes / widest_);
  if (has_rows_) buffered = std::max(buffered, even * row_count_);
  const bool takes_whole_rows = has_rows_ || (rows_ > 1 && row_count_ > 0 && row_count_ <= buffered / 2);
  rows_per_tile_ = takes_whole_rows ? buffered / row_count_ : 0;
  if (rows_per_tile_ > even) rows_per_tile_ -= rows_per_tile_ % even;
  rows_per_tile_ = std::min(rows_per_tile_, rows_);
  // Buffers at a distance of whole ways of the cache would evict each other.
  buffer_pitch_ = ir::round_up(buffered * widest_, kCacheLine) + kCacheLine;
  row_pitch_ = ir::round_up(rows_per_tile_, kStepQuantum) * sizeof(int64_t);

  buffers_ = intermediates_;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    Input& input = inputs_[i];
    input.access = access_of(i);
    const bool is_filled =
        input.access == Access::kOnce || input.access == Access::kSpread || input.access == Access::kGather;
    if (is_filled) input.buffer = buffers_++;
  }
  rest_bytes_ = (inputs_.size() + outputs_.size()) * kRestBytes;
  worker_scratch_bytes_ = rest_bytes_ + buffers_ * buffer_pitch_ + row_buffers_ * row_pitch_;
  if (rows_per_tile_ > 0) {
    tile_count_ = rows_per_tile_ * row_count_;
    tiles_ = ir::divide_up(rows_, rows_per_tile_);
  } else {
    tile_count_ = std::min(buffers_ > 0 ? buffered : kUnbufferedTile, row_count_);
    tiles_per_row_ = tile_count_ > 0 ? ir::divide_up(row_count_, tile_count_) : 0;
    tiles_ = rows_ * tiles_per_row_;
  }
}

Elementwise::Access Elementwise::access_of(size_t operand) const {
  if (!inputs_[operand].is_read) return Access::kNone;
  if (inputs_[operand].is_scalar) return Access::kScalar;
  // Axes of size 1 have been removed, so a row of one element is the whole shape.
  bool still = true, dense = row_count_ == 1 || inputs_[operand].inner_stride == 1;
  int64_t expected = row_count_;
  for (auto axis = outer_.rbegin(); axis != outer_.rend(); ++axis) {
    still &= axis->strides[operand] == 0;
    dense &= axis->strides[operand] == expected;
    expected *= axis->extent;
  }
  if (dense) return Access::kDense;
  if (rows_per_tile_ > 0) return still ? Access::kOnce : is_dense_in_rows(operand) ? Access::kSpread : Access::kGather;
  if (inputs_[operand].inner_stride == 1) return Access::kRows;
  return still ? Access::kOnce : Access::kGather;
}

// True if the operand has one element for each row, without gaps.
bool Elementwise::is_dense_in_rows(size_t operand) const {
  bool dense = inputs_[operand].inner_stride == 0;
  int64_t expected = 1;
  for (auto axis = outer_.rbegin(); axis != outer_.rend(); ++axis) {
    dense &= axis->strides[operand] == expected;
    expected *= axis->extent;
  }
  return dense;
}

int64_t Elementwise::begin_of_tile(int64_t index) const {
  if (rows_per_tile_ > 0) return std::min(index * rows_per_tile_, rows_) * row_count_;
  return index / tiles_per_row_ * row_count_ + index % tiles_per_row_ * tile_count_;
}

inline int64_t Elementwise::row_offset(size_t operand, int64_t row) const {
  int64_t offset = 0;
  for (size_t i = outer_.size(); i-- > 1;) {
    offset += row % outer_[i].extent * outer_[i].strides[operand];
    row /= outer_[i].extent;
  }
  return outer_.empty() ? 0 : offset + row * outer_[0].strides[operand];
}

// Runs one thread's tiles with buffers of its own.
class Elementwise::Worker {
 public:
  Worker(const Elementwise& kernel, const std::byte* const* operands, std::byte* const* results, std::byte* scratch)
      : k_(kernel), operands_(operands), results_(results), rests_(scratch), buffers_(scratch + k_.rest_bytes_) {
    const size_t fixed = k_.inputs_.size() + k_.outputs_.size();
    for (size_t i = 0; i < k_.intermediates_; ++i) places_[fixed + i] = buffer(i);
    std::byte* const row_buffers = buffers_ + k_.buffers_ * k_.buffer_pitch_;
    // Steps compute whole quanta of values for rows, also of rows that do not exist.
    std::memset(row_buffers, 0, k_.row_buffers_ * k_.row_pitch_);
    for (size_t i = 0; i < k_.row_buffers_; ++i) places_[kMostBuffers + i] = row_buffers + i * k_.row_pitch_;
    // All tiles have the same rows here; the last tile may have fewer of them.
    for (size_t i = 0; i < k_.inputs_.size(); ++i) {
      if (k_.inputs_[i].access == Access::kOnce) {
        fill(i, {0, std::max<int64_t>(k_.rows_per_tile_, 1), 0, k_.tile_count_});
      }
    }
  }

  // Reads the operand from `elements`, which begin at its element `origin`.
  void stand_apart(size_t operand, const std::byte* elements, int64_t origin) {
    apart_ = operand;
    elements_ = elements;
    origin_ = origin;
  }

  // Computes the elements [begin, end), tile by tile.
  void run(int64_t begin, int64_t end) {
    while (begin < end) {
      const int64_t row = begin / k_.row_count_, first = begin % k_.row_count_;
      const int64_t rows = std::min(k_.rows_per_tile_, (end - begin) / k_.row_count_);
      const Tile tile = first == 0 && rows > 0
                            ? Tile{row, rows, 0, rows * k_.row_count_}
                            : Tile{row, 1, first, std::min({k_.tile_count_, k_.row_count_ - first, end - begin})};
      run(tile);
      begin += tile.count;
    }
  }

 private:
  std::byte* buffer(size_t i) const { return buffers_ + i * k_.buffer_pitch_; }
  std::byte* rest(size_t place) const { return rests_ + place * kRestBytes; }

  void fill(size_t i, const Tile& tile) {
    const Input& input = k_.inputs_[i];
    const auto width = static_cast<int64_t>(input.width);
    const int64_t count = tile.count / tile.rows;
    std::byte* to = buffer(input.buffer);
    places_[i] = to;
    if (input.access == Access::kSpread) return spread(width, operands_[i] + tile.row * width, tile.rows, count, to);
    for (int64_t r = 0; r < tile.rows; ++r, to += count * width) {
      const std::byte* from = operands_[i] + (k_.row_offset(i, tile.row + r) + tile.begin * input.inner_stride) * width;
      if (input.inner_stride == 0) spread(width, from, 1, count, to);
      else std::memcpy(to, from, count * width);
    }
  }

  void load_rows(const Tile& tile) {
    for (const RowValue& value : k_.row_operands_) {
      const size_t width = k_.inputs_[value.number].width;
      const std::byte* from = operands_[value.number];
      std::byte* to = places_[value.place];
      if (k_.is_dense_in_rows(value.number)) {
        std::memcpy(to, from + tile.row * width, tile.rows * width);
        continue;
      }
      for (int64_t r = 0; r < tile.rows; ++r) {
        std::memcpy(to + r * width, from + k_.row_offset(value.number, tile.row + r) * width, width);
      }
    }
  }

  void store_rows(const Tile& tile) const {
    for (const RowValue& value : k_.row_results_) {
      const size_t width = k_.outputs_[value.number].width;
      std::memcpy(results_[value.number] + tile.row * width, places_[value.place], tile.rows * width);
    }
  }

  void run(const Tile& tile) {
    const int64_t position = tile.row * k_.row_count_ + tile.begin;
    for (size_t i = 0; i < k_.inputs_.size(); ++i) {
      const Input& input = k_.inputs_[i];
      const int64_t width = input.width;
      // The cast is safe, because steps do not write their operands.
      auto* data = const_cast<std::byte*>(operands_[i]);
      if (i == apart_) places_[i] = const_cast<std::byte*>(elements_) + (position - origin_) * width;
      else if (input.access == Access::kDense) places_[i] = data + position * width;
      else if (input.access == Access::kScalar) places_[i] = data;
      else if (input.access == Access::kRows) places_[i] = data + (k_.row_offset(i, tile.row) + tile.begin) * width;
      else if (input.access == Access::kOnce && k_.rows_per_tile_ > 0)
        places_[i] = buffer(input.buffer) + tile.begin * width;
      else if (input.access == Access::kSpread || input.access == Access::kGather) fill(i, tile);
    }
    for (size_t i = 0; i < k_.outputs_.size(); ++i) {
      places_[k_.inputs_.size() + i] = results_[i] + position * static_cast<int64_t>(k_.outputs_[i].width);
    }
    const size_t count = tile.count;
    const size_t whole = count - count % kStepQuantum;
    load_rows(tile);
    if (whole > 0) run_tape(places_, whole, tile.rows);
    store_rows(tile);
    if (whole < count) run_rest(whole, count - whole);
  }

  // Computes the elements after the last whole quantum, copied into buffers of a whole quantum. There are none in a
  // chain with values for each row.
  void run_rest(size_t begin, size_t count) {
    std::byte* places[kMostBuffers];
    std::copy_n(places_, k_.inputs_.size() + k_.outputs_.size() + k_.intermediates_, places);
    for (size_t i = 0; i < k_.inputs_.size(); ++i) {
      const Input& input = k_.inputs_[i];
      if (input.access == Access::kScalar || input.access == Access::kNone) continue;
      const std::byte* from = places_[i] + begin * input.width;
      places[i] = rest(i);
      std::memcpy(places[i], from, count * input.width);
      std::memset(places[i] + count * input.width, 0, (kStepQuantum - count) * input.width);
    }
    const size_t first = k_.inputs_.size();
    for (size_t i = 0; i < k_.outputs_.size(); ++i) places[first + i] = rest(first + i);
    run_tape(places, kStepQuantum, 0);
    for (size_t i = 0; i < k_.outputs_.size(); ++i) {
      const size_t width = k_.outputs_[i].width;
      std::memcpy(places_[first + i] + begin * width, places[first + i], count * width);
    }
  }

  void run_tape(std::byte* const* places, size_t count, int64_t rows) const {
    const std::byte* operands[kMostStepOperands];
    std::byte* results[kMostStepResults];
    for (const TapeStep& step : k_.tape_) {
      for (size_t i = 0; i < step.operands.size(); ++i) operands[i] = places[step.operands[i]];
      for (size_t i = 0; i < step.results.size(); ++i) results[i] = places[step.results[i]];
      switch (step.kind) {
        case Kind::kElements: step.function(operands, results, count); break;
        case Kind::kRows: step.function(operands, results, ir::round_up(rows, kStepQuantum)); break;
        case Kind::kFold: step.fold(operands[0], rows, k_.row_count_, results[0]); break;
        case Kind::kSpread: spread(step.width, operands[0], rows, k_.row_count_, results[0]); break;
      }
    }
  }

  const Elementwise& k_;
  const std::byte* const* operands_;
  std::byte* const* results_;
  size_t apart_ = SIZE_MAX;
  const std::byte* elements_ = nullptr;
  int64_t origin_ = 0;
  std::byte *rests_, *buffers_;
  std::byte* places_[kMostBuffers + kMostRowBuffers];
};

void Elementwise::run(const std::byte* const* operands, std::byte* const* results, std::byte* scratch) const {
  const int64_t per_tile = tiles_ > 0 ? rows_ * row_count_ / tiles_ : 0;
  parallel_shares(tiles_, per_tile * work_per_element_, [&](int64_t share, int64_t begin, int64_t end) {
    Worker worker(*this, operands, results, scratch + share * worker_scratch_bytes_);
    worker.run(begin_of_tile(begin), begin_of_tile(end));
  });
}

void Elementwise::run_range(const std::byte* const* operands, std::byte* const* results, const Range& range,
                            std::byte* scratch) const {
  Worker worker(*this, operands, results, scratch);
  worker.stand_apart(range.apart, range.elements, range.begin);
  worker.run(range.begin, range.end);
}

bool Elementwise::in_place(size_t operand, size_t result) const {
  const Input& input = inputs_[operand];
  const Output& output = outputs_[result];
  return input.access == Access::kDense && !output.is_for_rows && input.width == output.width &&
         input.last_step <= output.step;
}

std::unique_ptr<Kernel> make_elementwise(const Op& op) {
  const Op* ops[] = {&op};
  std::vector<Value> results;
  for (uint32_t i = 0; i < op.results.size(); ++i) results.push_back(op.result(i));
  return std::make_unique<Elementwise>(ops, op.operands, results);
}

}  // namespace alloy::cpu

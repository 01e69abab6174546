// Attention and its gradient. A thread computes a band of queries at a time: their scores for all keys, in memory of
// its own, are turned into weights and used at once. So memory grows with the number of keys, not of scores.
//
// A mask that hides keys from all queries of a band, as a causal one does, saves the work for these keys.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <vector>

#include "cpu/families.h"
#include "cpu/product/small_matmul.h"
#include "cpu/random/random.h"
#include "cpu/threads/parallel.h"
#include "ir/rounding.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/attention/attention.cpp"
#include "cpu/simd/targets.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "cpu/simd/lanes-inl.h"
#include "cpu/simd/vocabulary-inl.h"

#ifndef ALLOY_KERNELS_ATTENTION_ONCE_
#define ALLOY_KERNELS_ATTENTION_ONCE_
namespace alloy::cpu {

// A mask hides a key by this number or less: the weight is 0 if any key is seen, whatever the finite scores are.
inline constexpr float kHidden = -1e30F;

// The loops of an instruction set. Those on rows of scores take the keys [begin, end); `begin` is a multiple of a
// panel.
struct AttentionLoops {
  int64_t panel;  // the number of keys whose products the loops of small matrices compute at once
  // Transposes rows of `features` floats, `row` apart, into panels of that many keys; zeros fill the last one.
  void (*pack)(const float* x, int64_t rows, int64_t features, int64_t row, float* to);
  // True if the mask hides all these keys.
  bool (*hides)(const float* mask, int64_t begin, int64_t end);
  // Turns products into e^(scale * product + mask - greatest), and what fills the last vector into 0; returns 1 / sum.
  // A mask with step 0 is one number.
  float (*weigh)(float* products, int64_t begin, int64_t end, float scale, const float* mask, int64_t step);
  // Turns what `weigh` made, and gradients of weights, into weights and into gradients of the products.
  void (*differentiate)(float* weights, float* gradients, int64_t begin, int64_t end, float scale, float inverse);
  void (*multiply_row)(float* row, int64_t count, float factor);
  // Multiplies numbers by the factor where the random number is at least the rate, and makes the others 0.
  void (*drop)(float* x, const float* random, int64_t count, float rate, float factor);
};

}  // namespace alloy::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace alloy::cpu {
namespace HWY_NAMESPACE {

HWY_INLINE int64_t PanelKeys() { return 2 * static_cast<int64_t>(hn::Lanes(FloatTag())); }

// Four rows of four floats, transposed.
HWY_INLINE void Transpose4(const float* x, int64_t row, float* to, int64_t to_row) {
#if HWY_TARGET == HWY_SCALAR
  for (int64_t i = 0; i < 4; ++i) {
    for (int64_t j = 0; j < 4; ++j) to[j * to_row + i] = x[i * row + j];
  }
#else
  const hn::FixedTag<float, 4> d;
  const hn::Repartition<double, decltype(d)> dd;
  const auto a = hn::LoadU(d, x), b = hn::LoadU(d, x + row), c = hn::LoadU(d, x + 2 * row),
             e = hn::LoadU(d, x + 3 * row);
  const auto ab = hn::InterleaveLower(d, a, b), ce = hn::InterleaveLower(d, c, e);
  const auto ab2 = hn::InterleaveUpper(d, a, b), ce2 = hn::InterleaveUpper(d, c, e);
  const auto pair = [&](auto low, auto high) HWY_ATTR {
    return hn::BitCast(d, hn::InterleaveLower(dd, hn::BitCast(dd, low), hn::BitCast(dd, high)));
  };
  const auto upper_pair = [&](auto low, auto high) HWY_ATTR {
    return hn::BitCast(d, hn::InterleaveUpper(dd, hn::BitCast(dd, low), hn::BitCast(dd, high)));
  };
  hn::StoreU(pair(ab, ce), d, to);
  hn::StoreU(upper_pair(ab, ce), d, to + to_row);
  hn::StoreU(pair(ab2, ce2), d, to + 2 * to_row);
  hn::StoreU(upper_pair(ab2, ce2), d, to + 3 * to_row);
#endif
}

void PackPanels(const float* x, int64_t rows, int64_t features, int64_t row, float* to) {
  const int64_t width = PanelKeys();
  for (int64_t first = 0; first < rows; first += width, to += width * features, x += width * row) {
    const int64_t count = std::min(width, rows - first);
    if (count < width) std::fill_n(to, width * features, 0.0F);
    int64_t key = 0;
    for (; key + 4 <= count; key += 4) {
      int64_t f = 0;
      for (; f + 4 <= features; f += 4) Transpose4(x + key * row + f, row, to + f * width + key, width);
      for (; f < features; ++f) {
        for (int64_t k = key; k < key + 4; ++k) to[f * width + k] = x[k * row + f];
      }
    }
    for (; key < count; ++key) {
      for (int64_t f = 0; f < features; ++f) to[f * width + key] = x[key * row + f];
    }
  }
}

bool Hides(const float* mask, int64_t begin, int64_t end) {
  const FloatTag d;
  const auto hidden = hn::Set(d, kHidden);
  const int64_t lanes = hn::Lanes(d);
  for (; begin + lanes <= end; begin += lanes) {
    if (!hn::AllTrue(d, hn::Le(hn::LoadU(d, mask + begin), hidden))) return false;
  }
  for (; begin < end; ++begin) {
    if (!(mask[begin] <= kHidden)) return false;
  }
  return true;
}

float Weigh(float* products, int64_t begin, int64_t end, float scale, const float* mask, int64_t step) {
  const FloatTag d;
  const auto factor = hn::Set(d, scale);
  const size_t n = end - begin, lanes = hn::Lanes(d);
  float* const x = products + begin;
  auto greatest = Lowest(d);
  // If there is a NaN, the whole row becomes NaN, whatever the greatest is.
  const auto score = [&](size_t i, size_t count, auto added) HWY_ATTR {
    const auto v = hn::MulAdd(hn::LoadU(d, x + i), factor, added);
    hn::StoreU(v, d, x + i);
    greatest = hn::Max(count == lanes ? v : hn::IfThenElse(hn::FirstN(d, count), v, Lowest(d)), greatest);
  };
  if (step == 1) {
    ForVectors(d, n, [&](size_t i, size_t count) HWY_ATTR {
      score(i, count, LoadUpTo(d, mask + begin + i, count, hn::Zero(d)));
    });
  } else {
    const auto added = mask == nullptr ? hn::Zero(d) : hn::Set(d, *mask);
    ForVectors(d, n, [&](size_t i, size_t count) HWY_ATTR { score(i, count, added); });
  }
  greatest = hn::Set(d, hn::GetLane(hn::MaxOfLanes(d, greatest)));
  auto sum = hn::Zero(d);
  ForVectors(d, n, [&](size_t i, size_t count) HWY_ATTR {
    auto e = Exp(d, hn::Sub(hn::LoadU(d, x + i), greatest));
    if (count < lanes) e = hn::IfThenElseZero(hn::FirstN(d, count), e);
    hn::StoreU(e, d, x + i);
    sum = hn::Add(sum, e);
  });
  return 1 / hn::GetLane(hn::SumOfLanes(d, sum));
}

void Differentiate(float* weights, float* gradients, int64_t begin, int64_t end, float scale, float inverse) {
  const FloatTag d;
  auto sum = hn::Zero(d);
  // What fills the last vector is 0.
  ForVectors(d, end - begin, [&](size_t i, size_t) HWY_ATTR {
    sum = hn::MulAdd(hn::LoadU(d, weights + begin + i), hn::LoadU(d, gradients + begin + i), sum);
  });
  const auto mean = hn::Set(d, hn::GetLane(hn::SumOfLanes(d, sum)) * inverse);
  const auto divided = hn::Set(d, inverse), factor = hn::Set(d, scale);
  ForVectors(d, end - begin, [&](size_t i, size_t) HWY_ATTR {
    const auto w = hn::Mul(hn::LoadU(d, weights + begin + i), divided);
    const auto g = hn::Sub(hn::LoadU(d, gradients + begin + i), mean);
    hn::StoreU(w, d, weights + begin + i);
    hn::StoreU(hn::Mul(hn::Mul(w, g), factor), d, gradients + begin + i);
  });
}

void MultiplyRow(float* row, int64_t count, float factor) {
  const FloatTag d;
  ForVectors(d, count, [&](size_t i, size_t n) HWY_ATTR {
    StoreUpTo(d, hn::Mul(LoadUpTo(d, row + i, n, hn::Zero(d)), hn::Set(d, factor)), n, row + i);
  });
}

void Drop(float* x, const float* random, int64_t count, float rate, float factor) {
  const FloatTag d;
  ForVectors(d, count, [&](size_t i, size_t n) HWY_ATTR {
    const auto is_kept = hn::Ge(LoadUpTo(d, random + i, n, hn::Zero(d)), hn::Set(d, rate));
    const auto kept = hn::Mul(LoadUpTo(d, x + i, n, hn::Zero(d)), hn::Set(d, factor));
    StoreUpTo(d, hn::IfThenElseZero(is_kept, kept), n, x + i);
  });
}

AttentionLoops FindAttentionLoops() {
  return {PanelKeys(), &PackPanels, &Hides, &Weigh, &Differentiate, &MultiplyRow, &Drop};
}

}  // namespace HWY_NAMESPACE
}  // namespace alloy::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace alloy::cpu {

HWY_EXPORT(FindAttentionLoops);

namespace {

using ir::Attr;
using ir::Dims;
using ir::Op;
using ir::Shape;

// A band has at most kBandRows queries, and fewer with many keys; the loops of small matrices compute kRowsAtOnce rows
// at a time. Sums over keys are added up in parts, whose values stay in the first-level cache.
constexpr int64_t kRowsAtOnce = 6, kBandRows = 8 * kRowsAtOnce, kBandFloats = int64_t{1} << 17, kKeysAtOnce = 128;

// Where the matrices of one operand begin and how far apart their rows are.
struct Matrices {
  std::vector<int64_t> offsets;  // for each product of the batch
  int64_t row, columns;

  const float* at(const std::byte* memory, int64_t i) const {
    return reinterpret_cast<const float*>(memory) + offsets[i];
  }
  float* at(std::byte* memory, int64_t i) const { return reinterpret_cast<float*>(memory) + offsets[i]; }
};

// The strides of a tensor with the heads first; 0 for an axis that is repeated.
Dims strides_for(const Shape& shape, bool steps_first) {
  Dims strides(shape.rank());
  int64_t stride = 1;
  for (int64_t i = shape.rank() - 1; i >= 0; stride *= shape[i--]) strides[i] = shape[i] == 1 ? 0 : stride;
  if (steps_first) std::swap(strides[1], strides[2]);
  return strides;
}

Matrices matrices_of(const Shape& shape, bool steps_first, const Dims& batch) {
  const Dims strides = strides_for(shape, steps_first);
  const int64_t rank = shape.rank();
  Matrices m{{0}, 0, 0};
  for (int64_t axis = 0; axis < batch.size(); ++axis) {
    const int64_t own = axis + rank - 2 - batch.size();
    const int64_t stride = own < 0 ? 0 : strides[own];
    std::vector<int64_t> next;
    for (int64_t offset : m.offsets) {
      for (int64_t i = 0; i < batch[axis]; ++i) next.push_back(offset + i * stride);
    }
    m.offsets = std::move(next);
  }
  if (rank >= 2) m.row = strides[rank - 2];
  if (rank >= 1) m.columns = shape[rank - 1];
  return m;
}

// The extents and places of an attention's operands, and its division into bands.
struct AttentionPlan {
  // `output` is the shape of the result or of its gradient, and `next` the number of the operand behind all others.
  AttentionPlan(const Op& op, const Shape& output, size_t next) : loops(HWY_DYNAMIC_DISPATCH(FindAttentionLoops)()) {
    const bool steps_first = op.attributes.flag(Attr::kStepsFirst);
    Dims dims = output.dims();
    if (steps_first) std::swap(dims[1], dims[2]);
    const Dims batch(dims.begin(), dims.end() - 2);
    const auto matrices = [&](const Shape& shape) { return matrices_of(shape, steps_first, batch); };
    query = matrices(op.operands[0].shape());
    key = matrices(op.operands[1].shape());
    value = matrices(op.operands[2].shape());
    out = matrices(output);
    items = static_cast<int64_t>(out.offsets.size());
    queries = dims[dims.size() - 2];
    const Shape& keys_shape = op.operands[1].shape();
    keys = keys_shape[keys_shape.rank() - (steps_first ? 3 : 2)];
    scale = static_cast<float>(op.attributes.number(Attr::kScale));
    const bool drops = op.attributes.flag(Attr::kDropout);
    if (op.operands.size() > next + (drops ? 2 : 0)) {
      const Shape& shape = op.operands[next].shape();
      mask = matrices_of(shape, false, batch);
      mask_step = shape.rank() > 0 && shape[shape.rank() - 1] > 1 ? 1 : 0;
      mask_operand = next++;
    }
    if (drops) state_operand = next;
    width = ir::round_up(keys, loops.panel);
    pitch = width + kCacheLine / static_cast<int64_t>(sizeof(float));  // rows of a power of two would share cache sets
    const int64_t most = std::clamp(kBandFloats / pitch, 2 * kRowsAtOnce, kBandRows) / kRowsAtOnce * kRowsAtOnce;
    bands = ir::divide_up(queries, most);
    band_rows = std::min(ir::round_up(ir::divide_up(queries, bands), kRowsAtOnce), queries);
    bands = ir::divide_up(queries, band_rows);
  }

  // The keys [begin, end) that some query of the band may see, in whole panels. All, if a query sees none.
  Range seen(const float* mask_rows, int64_t rows) const {
    if (mask_step == 0) return {0, keys};
    Range seen{keys, 0};
    for (int64_t r = 0; r < rows; ++r) {
      const float* const row = mask_rows + r * mask.row;
      int64_t end = width;
      while (end > seen.end && loops.hides(row, end - loops.panel, std::min(end, keys))) end -= loops.panel;
      int64_t begin = 0;
      while (begin < end && begin < seen.begin && loops.hides(row, begin, std::min(begin + loops.panel, keys))) {
        begin += loops.panel;
      }
      if (end <= seen.end && loops.hides(row, 0, keys)) return {0, keys};
      seen = {std::min(seen.begin, begin), std::max(seen.end, end)};
    }
    return {seen.begin, std::min(seen.end, keys)};
  }

  // to = left * packed panels, for the keys of the range.
  void multiply_panels(const float* left, int64_t left_row, int64_t features, int64_t rows, const float* panels,
                       Range range, float* to) const {
    for (int64_t k = range.begin; k < range.end; k += loops.panel) {
      multiply({rows, features, loops.panel, left_row, 1, loops.panel, pitch}, left, panels + k * features, to + k);
    }
  }
  // to = scores * right, over the keys of the range.
  void multiply_scores(const float* scores, Range range, int64_t rows, const float* right, int64_t right_row,
                       int64_t columns, float* to, int64_t to_row) const {
    for (int64_t k = range.begin; k < range.end; k += kKeysAtOnce) {
      const int64_t count = std::min(kKeysAtOnce, range.end - k);
      multiply({rows, count, columns, pitch, 1, right_row, to_row, k > range.begin}, scores + k, right + k * right_row,
               to);
    }
  }
  // to += transposed scores * right, for the keys of the range.
  void add_transposed(const float* scores, Range range, int64_t rows, const float* right, int64_t right_row,
                      int64_t columns, float* to, int64_t to_row) const {
    multiply({range.end - range.begin, rows, columns, 1, pitch, right_row, to_row, true}, scores + range.begin, right,
             to + range.begin * to_row);
  }

  // Computes the weights of a band, each times the sum of its row, in `scores`, and 1 / sum of each row.
  Range weigh(const std::byte* const* operands, int64_t item, int64_t first, int64_t rows, const float* packed_key,
              float* scores, float* inverses) const {
    const float* const mask_rows = mask_operand ? mask.at(operands[*mask_operand], item) + first * mask.row : nullptr;
    const Range range = mask_rows == nullptr ? Range{0, keys} : seen(mask_rows, rows);
    multiply_panels(query.at(operands[0], item) + first * query.row, query.row, query.columns, rows, packed_key, range,
                    scores);
    for (int64_t r = 0; r < rows; ++r) {
      inverses[r] = loops.weigh(scores + r * pitch, range.begin, range.end, scale,
                                mask_rows == nullptr ? nullptr : mask_rows + r * mask.row, mask_step);
    }
    return range;
  }

  // The dropout of one run.
  struct Dropout {
    Philox stream;
    float rate, factor;  // 0 instead of 1 / 0
  };
  std::optional<Dropout> dropout(const std::byte* const* operands) const {
    if (!state_operand) return std::nullopt;
    float rate = 0;
    std::memcpy(&rate, operands[*state_operand + 1], sizeof rate);
    return Dropout{Philox::of(operands[*state_operand]), rate, rate == 1 ? 0 : 1 / (1 - rate)};
  }
  // Draws the random numbers of a row's keys, in the order of an array of all weights. Returns the first one's place.
  const float* draw(const Dropout& d, int64_t item, int64_t row, Range range, float* room) const {
    const int64_t begin = (item * queries + row) * keys + range.begin, end = begin + range.end - range.begin;
    const int64_t block = begin / 4;
    fill(d.stream.behind(static_cast<uint64_t>(block)), unit, 0, ir::divide_up(end - 4 * block, 4), end - 4 * block,
         reinterpret_cast<std::byte*>(room));
    return room + (begin - 4 * block);
  }
  // The floats of the room for a row's random numbers.
  int64_t random_floats() const { return state_operand ? width + kCacheLine / int64_t{sizeof(float)} : 0; }

  // The work of the band of one item, in units of parallel_for, with this many products of scores.
  int64_t work(int64_t products) const {
    return band_rows * width * (products * std::max(query.columns, value.columns) / 8 + 2);
  }

  AttentionLoops loops;
  SmallMultiply multiply = small_multiply();
  FillLoop fill = random_fill();
  Numbers unit = unit_numbers();
  Matrices query, key, value, out, mask;
  std::optional<size_t> mask_operand, state_operand;
  int64_t items, queries, keys, mask_step = 0;
  float scale;
  int64_t width, pitch;  // of a row of scores: the keys in whole panels, and the distance to the next row
  int64_t bands, band_rows;
};

int64_t whole_lines(int64_t floats) { return ir::round_up(floats, kCacheLine / static_cast<int64_t>(sizeof(float))); }

// Operands: query, key, value[, mask][, random state, rate].
class AttentionKernel final : public Kernel {
 public:
  explicit AttentionKernel(const Op& op) : plan_(op, op.results[0].shape, 3) {
    key_floats_ = whole_lines(plan_.width * plan_.key.columns);
    scores_floats_ = plan_.band_rows * plan_.pitch;
    own_floats_ = key_floats_ + scores_floats_ + whole_lines(plan_.band_rows) + plan_.random_floats();
  }

  void run(const std::byte* const* operands, std::byte* const* results, std::byte* scratch) const override {
    const AttentionPlan& p = plan_;
    const auto dropout = p.dropout(operands);
    parallel_shares(p.items * p.bands, p.work(2), [&](int64_t share, int64_t begin, int64_t end) {
      float* const packed = reinterpret_cast<float*>(scratch) + share * own_floats_;
      float *const scores = packed + key_floats_, *const inverses = scores + scores_floats_,
                   *const random = inverses + whole_lines(p.band_rows);
      int64_t of_packed = -1;
      for (int64_t i = begin; i < end; ++i) {
        const int64_t item = i / p.bands, first = i % p.bands * p.band_rows;
        const int64_t rows = std::min(p.band_rows, p.queries - first);
        if (p.key.offsets[item] != of_packed) {
          of_packed = p.key.offsets[item];
          p.loops.pack(p.key.at(operands[1], item), p.keys, p.key.columns, p.key.row, packed);
        }
        const Range range = p.weigh(operands, item, first, rows, packed, scores, inverses);
        for (int64_t r = 0; dropout && r < rows; ++r) {
          p.loops.drop(scores + r * p.pitch + range.begin, p.draw(*dropout, item, first + r, range, random),
                       range.end - range.begin, dropout->rate, dropout->factor);
        }
        float* const y = p.out.at(results[0], item) + first * p.out.row;
        p.multiply_scores(scores, range, rows, p.value.at(operands[2], item), p.value.row, p.value.columns, y,
                          p.out.row);
        for (int64_t r = 0; r < rows; ++r) p.loops.multiply_row(y + r * p.out.row, p.value.columns, inverses[r]);
      }
    });
  }
  size_t scratch_bytes() const override { return threads() * own_floats_ * sizeof(float); }

 private:
  AttentionPlan plan_;
  int64_t key_floats_, scores_floats_, own_floats_;
};

// Operands: query, key, value, incoming gradient[, mask][, random state, rate]. Each item's bands are divided into
// parts, so that there are enough parts for all threads. Each part adds to its own gradients of the key and value; with
// several parts, these are in scratch and added up in the end.
class AttentionGradientKernel final : public Kernel {
 public:
  explicit AttentionGradientKernel(const Op& op) : plan_(op, op.operands[3].shape(), 4) {
    const AttentionPlan& p = plan_;
    const int64_t wanted = p.items % threads() == 0 ? 1 : ir::divide_up(int64_t{4} * threads(), p.items);
    parts_ = std::min(wanted, p.bands);
    key_floats_ = whole_lines(p.width * p.key.columns);
    value_floats_ = whole_lines(p.width * p.value.columns);
    scores_floats_ = p.band_rows * p.pitch;
    own_floats_ = key_floats_ + value_floats_ + 2 * scores_floats_ + whole_lines(p.band_rows) + p.random_floats();
    if (parts_ > 1) part_floats_ = p.keys * (p.key.columns + p.value.columns);
  }

  void run(const std::byte* const* operands, std::byte* const* results, std::byte* scratch) const override {
    const AttentionPlan& p = plan_;
    auto* const floats = reinterpret_cast<float*>(scratch);
    float* const sums = floats + threads() * own_floats_;
    parallel_shares(p.items * parts_, p.work(5) * p.bands / parts_, [&](int64_t share, int64_t begin, int64_t end) {
      float* const packed_key = floats + share * own_floats_;
      for (int64_t i = begin; i < end; ++i) {
        const int64_t item = i / parts_, part = i % parts_;
        const Places to = parts_ == 1 ? in_results(results, item) : in_part(sums + i * part_floats_);
        compute_part(operands, item, {part * p.bands / parts_, (part + 1) * p.bands / parts_}, packed_key,
                     p.query.at(results[0], item), to);
      }
    });
    if (parts_ == 1) return;
    parallel_for(p.items, part_floats_ * parts_, [&](int64_t begin, int64_t end) {
      for (int64_t item = begin; item < end; ++item) {
        const Places to = in_results(results, item);
        for (int64_t part = 0; part < parts_; ++part) {
          const Places from = in_part(sums + (item * parts_ + part) * part_floats_);
          add_rows(from.key, from.key_row, p.key.columns, to.key, to.key_row, part > 0);
          add_rows(from.value, from.value_row, p.value.columns, to.value, to.value_row, part > 0);
        }
      }
    });
  }
  size_t scratch_bytes() const override {
    return (threads() * own_floats_ + plan_.items * parts_ * part_floats_) * sizeof(float);
  }

 private:
  // Where the gradients of one item's key and value are, and the distances of their rows.
  struct Places {
    float* key;
    int64_t key_row;
    float* value;
    int64_t value_row;
  };
  Places in_results(std::byte* const* results, int64_t item) const {
    return {plan_.key.at(results[1], item), plan_.key.row, plan_.value.at(results[2], item), plan_.value.row};
  }
  Places in_part(float* sums) const {
    return {sums, plan_.key.columns, sums + plan_.keys * plan_.key.columns, plan_.value.columns};
  }

  void compute_part(const std::byte* const* operands, int64_t item, Range bands, float* packed_key,
                    float* query_gradient, const Places& to) const {
    const AttentionPlan& p = plan_;
    float *const packed_value = packed_key + key_floats_, *const weights = packed_value + value_floats_,
                 *const gradients = weights + scores_floats_, *const inverses = gradients + scores_floats_,
                 *const random = inverses + whole_lines(p.band_rows);
    const auto dropout = p.dropout(operands);
    const float *const query = p.query.at(operands[0], item), *const key = p.key.at(operands[1], item),
                       *const incoming = p.out.at(operands[3], item);
    p.loops.pack(key, p.keys, p.key.columns, p.key.row, packed_key);
    p.loops.pack(p.value.at(operands[2], item), p.keys, p.value.columns, p.value.row, packed_value);
    for (int64_t k = 0; k < p.keys; ++k) {
      std::fill_n(to.key + k * to.key_row, p.key.columns, 0.0F);
      std::fill_n(to.value + k * to.value_row, p.value.columns, 0.0F);
    }
    for (int64_t band = bands.begin; band < bands.end; ++band) {
      const int64_t first = band * p.band_rows, rows = std::min(p.band_rows, p.queries - first);
      const float *const q = query + first * p.query.row, *const g = incoming + first * p.out.row;
      const Range range = p.weigh(operands, item, first, rows, packed_key, weights, inverses);
      p.multiply_panels(g, p.out.row, p.value.columns, rows, packed_value, range, gradients);
      for (int64_t r = 0; r < rows; ++r) {
        float *const w = weights + r * p.pitch, *const of_w = gradients + r * p.pitch;
        const auto drop = [&](float* row, const float* numbers) {
          p.loops.drop(row + range.begin, numbers, range.end - range.begin, dropout->rate, dropout->factor);
        };
        const float* const numbers = dropout ? p.draw(*dropout, item, first + r, range, random) : nullptr;
        if (dropout) drop(of_w, numbers);
        p.loops.differentiate(w, of_w, range.begin, range.end, p.scale, inverses[r]);
        if (dropout) drop(w, numbers);
      }
      p.multiply_scores(gradients, range, rows, key, p.key.row, p.key.columns, query_gradient + first * p.query.row,
                        p.query.row);
      p.add_transposed(gradients, range, rows, q, p.query.row, p.key.columns, to.key, to.key_row);
      p.add_transposed(weights, range, rows, g, p.out.row, p.value.columns, to.value, to.value_row);
    }
  }

  void add_rows(const float* from, int64_t from_row, int64_t columns, float* to, int64_t to_row, bool adds) const {
    for (int64_t k = 0; k < plan_.keys; ++k, from += from_row, to += to_row) {
      for (int64_t i = 0; i < columns; ++i) to[i] = adds ? to[i] + from[i] : from[i];
    }
  }

  AttentionPlan plan_;
  int64_t parts_, key_floats_, value_floats_, scores_floats_, own_floats_, part_floats_ = 0;
};

}  // namespace

std::unique_ptr<Kernel> make_attention(const Op& op) {
  require_float(op);
  return std::make_unique<AttentionKernel>(op);
}

std::unique_ptr<Kernel> make_attention_gradient(const Op& op) {
  require_float(op);
  return std::make_unique<AttentionGradientKernel>(op);
}

}  // namespace alloy::cpu
#endif

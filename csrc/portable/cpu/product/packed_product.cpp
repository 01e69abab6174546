#include "cpu/product/packed_product.h"

#include <cstring>

#include "cpu/amx/product.h"
#include "cpu/machine.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/product/packed_product.cpp"
#include "cpu/simd/targets.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "cpu/simd/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace alloy::cpu {
namespace HWY_NAMESPACE {

// A block of kRows rows by two vectors has as many sums as the registers hold.
constexpr size_t kVectors = 2;
constexpr size_t kRows = HWY_TARGET == HWY_AVX3 || HWY_ARCH_ARM ? 14 : 6;

int64_t StripeColumns() { return kVectors * hn::Lanes(FloatTag()); }

void Pack(const OuterProducts& p, const float* right, int64_t stripe, std::byte* packed) {
  const FloatTag d;
  float* to = reinterpret_cast<float*>(packed);
  const int64_t width = StripeColumns(), column = stripe * width, lanes = width / int64_t{kVectors};
  for (int64_t k = 0; k < p.inner; ++k, right += p.columns, to += width) {
    for (int64_t i = 0; i < width; i += lanes) {
      const int64_t left = std::clamp<int64_t>(p.columns - column - i, 0, lanes);
      const auto v = left == 0 ? hn::Zero(d) : LoadUpTo(d, right + column + i, left, hn::Zero(d));
      hn::Store(v, d, to + i);
    }
  }
}

// Packs `rows` columns of the left matrix, which are rows of the result.
void PackLeft(const OuterProducts& p, const float* left, int64_t rows, float* to) {
  for (int64_t k = 0; k < p.inner; ++k, left += p.rows, to += kRows) {
    std::memcpy(to, left, rows * sizeof(float));
  }
}

// Computes `rows` rows of one stripe, of which `columns` columns are used.
template <size_t rows>
HWY_INLINE void Block(const OuterProducts& p, const float* left, const float* packed, size_t columns, float* y) {
  const FloatTag d;
  const size_t lanes = hn::Lanes(d);
  hn::Vec<FloatTag> low[rows], high[rows];
  HWY_UNROLL(16)
  for (size_t r = 0; r < rows; ++r) low[r] = high[r] = hn::Zero(d);
  for (int64_t k = 0; k < p.inner; ++k, left += kRows, packed += kVectors * lanes) {
    const auto first = hn::Load(d, packed), second = hn::Load(d, packed + lanes);
    HWY_UNROLL(16)
    for (size_t r = 0; r < rows; ++r) {
      const auto factor = hn::Set(d, left[r]);
      low[r] = hn::MulAdd(factor, first, low[r]);
      high[r] = hn::MulAdd(factor, second, high[r]);
    }
  }
  const size_t in_low = std::min(columns, lanes), in_high = columns - in_low;
  HWY_UNROLL(16)
  for (size_t r = 0; r < rows; ++r, y += p.columns) {
    StoreUpTo(d, low[r], in_low, y);
    if (in_high > 0) StoreUpTo(d, high[r], in_high, y + lanes);
  }
}

template <size_t rows>
void Panel(const OuterProducts& p, const float* left, const float* packed, float* y) {
  const int64_t width = StripeColumns();
  for (int64_t column = 0; column < p.columns; column += width, packed += p.inner * width) {
    Block<rows>(p, left, packed, std::min(width, p.columns - column), y + column);
  }
}

void Multiply(const OuterProducts& p, const PackedFactors& factors, int64_t row, int64_t rows, std::byte* room,
              float* y) {
  float* lines = reinterpret_cast<float*>(room);
  const auto* stripes = reinterpret_cast<const float*>(factors.packed);
  PackLeft(p, factors.left + row, rows, lines);
  if (rows == int64_t{kRows}) return Panel<kRows>(p, lines, stripes, y);
  for (; rows >= 4; rows -= 4, lines += 4, y += 4 * p.columns) Panel<4>(p, lines, stripes, y);
  for (; rows > 0; --rows, ++lines, y += p.columns) Panel<1>(p, lines, stripes, y);
}

PackedLoops FindPackedLoops() {
  return {int64_t{kRows}, StripeColumns(), kMeasured.outer_products_of_vectors, 1, sizeof(float), &Pack, &Multiply};
}

}  // namespace HWY_NAMESPACE
}  // namespace alloy::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace alloy::cpu {

HWY_EXPORT(FindPackedLoops);

std::optional<OuterProducts> OuterProducts::of(const ir::Op& matmul) {
  const ir::Type &left = matmul.operands[0].type(), &right = matmul.operands[1].type();
  const bool transposed =
      matmul.attributes.flag(ir::Attr::kTransposeA) && !matmul.attributes.flag(ir::Attr::kTransposeB);
  if (!transposed || left.dtype != ir::DType::float32 || left.shape.rank() != 2 || right.shape.rank() != 2) {
    return std::nullopt;
  }
  if (left.shape.element_count() == 0 || right.shape.element_count() == 0) return std::nullopt;
  return OuterProducts{left.shape[1], left.shape[0], right.shape[1]};
}

PackedLoops packed_loops(const OuterProducts& product) {
  const bool by_tiles = product.inner > kMeasured.outer_products_for_vectors;
  const PackedLoops* const tiles = by_tiles ? amx::packed_loops() : nullptr;
  return tiles != nullptr ? *tiles : HWY_DYNAMIC_DISPATCH(FindPackedLoops)();
}

int64_t PackedProduct::packed_bytes(int64_t lines) const {
  return lines * ir::round_up(product_.inner, loops_.inner_quantum) * loops_.element_bytes;
}

PackedProduct::PackedProduct(const OuterProducts& product)
    : product_(product), loops_(packed_loops(product)), shares_(kernel_threads()) {
  constexpr int64_t kPartial = 4096;  // bytes for the sums of four tiles
  packed_ = ir::round_up(packed_bytes(ir::round_up(product.columns, loops_.stripe_columns)), kCacheLine);
  room_ = ir::round_up(packed_bytes(loops_.panel_rows), kCacheLine) + kPartial;
  panel_ = ir::round_up(loops_.panel_rows * product.columns * int64_t{sizeof(float)}, kCacheLine);
}

}  // namespace alloy::cpu
#endif

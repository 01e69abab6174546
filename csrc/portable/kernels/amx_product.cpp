#include "kernels/amx_product.h"

#include "kernels/simd.h"

#include <hwy/base.h>
#include <hwy/targets.h>

#if HWY_ARCH_X86_64 && defined(__linux__)
#include <cpuid.h>
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>

#include "kernels/parallel.h"

namespace alloy::portable {
namespace {

// A tile has 16 rows of 64 bytes. For a left factor it holds 16 lines (rows of the result) of 32 bfloat16s, for a right one 16 rows of pairs, a
// pair for each of 16 lines (columns of the result). Elements i and i + 16 of the sum are a pair: any order will do that both factors have.
constexpr int64_t kLines = 16, kDepth = 32, kTileBytes = 1024, kParts = 3;
// Tiles of two times 16 lines of each factor are multiplied with one another: their four sums take half of the registers. A panel is what
// these lines need, as deep as is split at a time: the parts of the first 16 lines' tile, those of the other 16 lines', then deeper ones.
constexpr int64_t kPanelLines = 2 * kLines, kSplitBytes = kParts * kTileBytes, kStepBytes = 2 * kSplitBytes;
// What is split at a time fits into a second-level cache: of one factor so many elements, of the other a group of panels.
constexpr int64_t kDeepest = 512, kMostKept = int64_t{1} << 17, kLargestGroup = 4;

bool processor_has_tiles() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  constexpr unsigned kAvx512f = 1U << 16, kAvx512dq = 1U << 17, kAvx512bw = 1U << 30, kAmxBf16 = 1U << 22, kAmxTile = 1U << 24;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return false;
  if ((b & kAvx512f) == 0 || (b & kAvx512dq) == 0 || (b & kAvx512bw) == 0 || (d & kAmxBf16) == 0 || (d & kAmxTile) == 0) return false;
  // Linux saves the tiles of a process that has asked for them, and refuses where it does not know them.
  constexpr long kRequestPermission = 0x1023, kTileData = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

// Not where Highway is told to do without what comes with them.
bool has_tiles() {
  static const bool has = processor_has_tiles();
  return has && (hwy::SupportedTargets() & HWY_AVX3_DL) != 0;
}

int64_t divided(int64_t count, int64_t parts) { return (count + parts - 1) / parts; }
int64_t rounded(int64_t count, int64_t quantum) { return divided(count, quantum) * quantum; }

// One side of a product. `left`: its lines are rows of the result.
struct Factor {
  const float* data;
  int64_t lines, line_stride, inner, inner_stride;
  bool left;
};

}  // namespace
}  // namespace alloy::portable

#pragma GCC diagnostic push
#if !defined(__clang__)
// GCC's own intrinsics begin with vectors that they do not set.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#pragma GCC diagnostic ignored "-Wuninitialized"
HWY_PUSH_ATTRIBUTES("avx512f,avx512bw,avx512dq,amx-tile,amx-bf16")
namespace alloy::portable {
namespace {

struct alignas(64) TileConfiguration {
  uint8_t palette = 1, start_row = 0, reserved[14] = {};
  uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};

// The tiles of this thread, for as long as it lives.
struct Tiles {
  Tiles() {
    static const TileConfiguration configuration;  // not on the stack: the compiler does not see that all of it is read
    _tile_loadconfig(&configuration);
  }
  ~Tiles() { _tile_release(); }
};

// The nearest bfloat16; its bits are the upper half.
inline __m512 leading_part(__m512 x) {
  const __m512i bits = _mm512_add_epi32(_mm512_castps_si512(x), _mm512_set1_epi32(0x8000));
  return _mm512_castsi512_ps(_mm512_and_si512(bits, _mm512_set1_epi32(static_cast<int>(0xffff0000))));
}

inline void store_part(__m512 low, __m512 high, std::byte* to) {
  _mm512_store_si512(to, _mm512_or_si512(_mm512_castps_si512(high), _mm512_srli_epi32(_mm512_castps_si512(low), 16)));
}

// The parts of a tile's row. `low` and `high`: elements i and i + 16 of the sum.
inline void split_row(__m512 low, __m512 high, std::byte* to) {
  HWY_UNROLL(2)
  for (int64_t part = 0; part + 1 < kParts; ++part, to += kTileBytes) {
    const __m512 low_part = leading_part(low), high_part = leading_part(high);
    store_part(low_part, high_part, to);
    low = _mm512_sub_ps(low, low_part);
    high = _mm512_sub_ps(high, high_part);
  }
  store_part(low, high, to);  // of 24 bits eight are left
}

inline __m512 unpack_low(__m512 x, __m512 y) { return _mm512_castpd_ps(_mm512_unpacklo_pd(_mm512_castps_pd(x), _mm512_castps_pd(y))); }
inline __m512 unpack_high(__m512 x, __m512 y) { return _mm512_castpd_ps(_mm512_unpackhi_pd(_mm512_castps_pd(x), _mm512_castps_pd(y))); }

// Makes the rows the columns.
inline void transpose(__m512 rows[16]) {
  __m512 t[16];
  HWY_UNROLL(8)
  for (int i = 0; i < 16; i += 2) {
    t[i] = _mm512_unpacklo_ps(rows[i], rows[i + 1]);
    t[i + 1] = _mm512_unpackhi_ps(rows[i], rows[i + 1]);
  }
  HWY_UNROLL(4)
  for (int i = 0; i < 16; i += 4) {
    rows[i] = unpack_low(t[i], t[i + 2]);
    rows[i + 1] = unpack_high(t[i], t[i + 2]);
    rows[i + 2] = unpack_low(t[i + 1], t[i + 3]);
    rows[i + 3] = unpack_high(t[i + 1], t[i + 3]);
  }
  // Quarter q of rows[4 i + c] is now column 4 q + c of rows 4 i to 4 i + 3.
  HWY_UNROLL(4)
  for (int c = 0; c < 4; ++c) {
    t[c] = _mm512_shuffle_f32x4(rows[c], rows[4 + c], 0x88);
    t[4 + c] = _mm512_shuffle_f32x4(rows[c], rows[4 + c], 0xdd);
    t[8 + c] = _mm512_shuffle_f32x4(rows[8 + c], rows[12 + c], 0x88);
    t[12 + c] = _mm512_shuffle_f32x4(rows[8 + c], rows[12 + c], 0xdd);
  }
  HWY_UNROLL(4)
  for (int c = 0; c < 4; ++c) {
    rows[c] = _mm512_shuffle_f32x4(t[c], t[8 + c], 0x88);
    rows[4 + c] = _mm512_shuffle_f32x4(t[4 + c], t[12 + c], 0x88);
    rows[8 + c] = _mm512_shuffle_f32x4(t[c], t[8 + c], 0xdd);
    rows[12 + c] = _mm512_shuffle_f32x4(t[4 + c], t[12 + c], 0xdd);
  }
}

inline __mmask16 first(int64_t count) { return static_cast<__mmask16>((1U << std::clamp<int64_t>(count, 0, 16)) - 1); }

// Up to 16 rows of up to 16 elements, with zeros behind them.
struct Square {
  const float* at;
  int64_t stride, rows, columns;

  __m512 row(int64_t i) const { return _mm512_maskz_loadu_ps(i < rows ? first(columns) : __mmask16{0}, at + i * stride); }
};

// The parts of a tile that has the rows of these squares, or, transposed, their columns.
void split_tile(const Square& low, const Square& high, bool transposed, std::byte* to) {
  if (!transposed) {
    for (int64_t i = 0; i < 16; ++i) split_row(low.row(i), high.row(i), to + i * 64);
    return;
  }
  __m512 lows[16], highs[16];
  for (int64_t i = 0; i < 16; ++i) lows[i] = low.row(i);
  transpose(lows);
  for (int64_t i = 0; i < 16; ++i) highs[i] = high.row(i);
  transpose(highs);
  HWY_UNROLL(16)
  for (int64_t i = 0; i < 16; ++i) split_row(lows[i], highs[i], to + i * 64);
}

// Lines of a factor that are wanted soon: they come from memory in the meantime, a share of them at each of so many steps.
class Ahead {
 public:
  Ahead() = default;
  // Lines [line, end), from `depth` on as deep as `inner`.
  Ahead(const Factor& f, int64_t line, int64_t end, int64_t depth, int64_t inner, int64_t steps) {
    if (line >= end) return;
    const bool along = f.inner_stride == 1;
    at_ = reinterpret_cast<const char*>(f.data + line * f.line_stride + depth * f.inner_stride);
    rows_ = along ? end - line : inner;
    row_bytes_ = (along ? inner : end - line) * 4;
    stride_ = (along ? f.line_stride : f.inner_stride) * 4;
    share_ = divided(rows_ * divided(row_bytes_, kCacheLine), steps);
  }
  void fetch() {
    for (int64_t i = 0; i < share_ && rows_ > 0; ++i) {
      _mm_prefetch(at_ + offset_, _MM_HINT_T1);
      if ((offset_ += kCacheLine) < row_bytes_) continue;
      offset_ = 0;
      at_ += stride_;
      --rows_;
    }
  }

 private:
  static constexpr int64_t kCacheLine = 64;

  const char* at_ = nullptr;
  int64_t rows_ = 0, row_bytes_ = 0, stride_ = 0, offset_ = 0, share_ = 0;
};

// Splits lines [line, end) into panels, from `depth` on as deep as `steps` tiles.
void split_panels(const Factor& f, int64_t line, int64_t end, int64_t depth, int64_t steps, std::byte* to, Ahead ahead) {
  const int64_t tiles = (end - line + kLines - 1) / kLines;
  const auto split = [&](int64_t t, int64_t s) {
    ahead.fetch();
    const int64_t l = line + t * kLines, k = depth + s * kDepth, lines = end - l, low = f.inner - k, high = low - kDepth / 2;
    const float* const at = f.data + l * f.line_stride + k * f.inner_stride;
    const float* const half = at + kDepth / 2 * f.inner_stride;
    std::byte* const place = to + (t / 2 * steps + s) * kStepBytes + t % 2 * kSplitBytes;
    if (f.inner_stride == 1) split_tile({at, f.line_stride, lines, low}, {half, f.line_stride, lines, high}, !f.left, place);
    else split_tile({at, f.inner_stride, low, lines}, {half, f.inner_stride, high, lines}, f.left, place);
  };
  // In the order in which the elements lie.
  if (f.inner_stride == 1) {
    for (int64_t t = 0; t < tiles; ++t)
      for (int64_t s = 0; s < steps; ++s) split(t, s);
  } else {
    for (int64_t s = 0; s < steps; ++s)
      for (int64_t t = 0; t < tiles; ++t) split(t, s);
  }
}

// Instructions name registers by number: sums 0 to 3, the left factor 4 and 5, the right one 6 and 7.
#define ALLOY_EACH_SUM(DO)                                    \
  DO(0, 4, 6);                                                \
  if constexpr (columns > 1) { DO(1, 4, 7); }                 \
  if constexpr (rows > 1) { DO(2, 5, 6); }                    \
  if constexpr (rows > 1 && columns > 1) { DO(3, 5, 7); }
#define ALLOY_BEGIN(sum, a, b) _tile_zero(sum)
#define ALLOY_END(sum, a, b) _tile_stored(sum, sums + (sum) * kLines * kLines, kLines * 4)
#define ALLOY_MULTIPLY(sum, a, b) _tile_dpbf16ps(sum, a, b)
#define ALLOY_LEFT(part)                                      \
  _tile_loadd(4, left + (part) * kTileBytes, 64);             \
  if constexpr (rows > 1) { _tile_loadd(5, left + kSplitBytes + (part) * kTileBytes, 64); }
#define ALLOY_RIGHT(part)                                     \
  _tile_loadd(6, right + (part) * kTileBytes, 64);            \
  if constexpr (columns > 1) { _tile_loadd(7, right + kSplitBytes + (part) * kTileBytes, 64); }

// The product of panels of which so many tiles count: four tiles of sums, those of the right factor's second tile behind those of its first.
template <int rows, int columns>
void multiply_tiles(const std::byte* left, const std::byte* right, int64_t steps, float* sums, Ahead& ahead) {
  asm volatile("" ::: "memory");  // the compiler does not see what tiles read
  ALLOY_EACH_SUM(ALLOY_BEGIN)
  for (int64_t s = 0; s < steps; ++s, left += kStepBytes, right += kStepBytes) {
    ahead.fetch();
    // In an order in which only one factor's tiles change.
    ALLOY_RIGHT(0) ALLOY_LEFT(2) ALLOY_EACH_SUM(ALLOY_MULTIPLY)
    ALLOY_LEFT(0) ALLOY_EACH_SUM(ALLOY_MULTIPLY)
    ALLOY_LEFT(1) ALLOY_EACH_SUM(ALLOY_MULTIPLY)
    ALLOY_RIGHT(1) ALLOY_EACH_SUM(ALLOY_MULTIPLY)
    ALLOY_LEFT(0) ALLOY_EACH_SUM(ALLOY_MULTIPLY)
    ALLOY_RIGHT(2) ALLOY_EACH_SUM(ALLOY_MULTIPLY)
  }
  ALLOY_EACH_SUM(ALLOY_END)
}

#undef ALLOY_EACH_SUM
#undef ALLOY_BEGIN
#undef ALLOY_END
#undef ALLOY_MULTIPLY
#undef ALLOY_LEFT
#undef ALLOY_RIGHT

inline __mmask16 not_finite(__m512 x) { return _mm512_fpclass_ps_mask(x, 0x99); }  // infinities and both kinds of NaN

// A block of the result: rows and columns of a product of panels, which is added to what is there, or replaces it. Returns whether all of it
// is finite. `sums`: room for four tiles.
bool multiply_panels(const std::byte* left, const std::byte* right, int64_t steps, bool add, float* y, int64_t y_stride, int64_t rows, int64_t columns,
                     float* sums, Ahead& ahead) {
  const bool tall = rows > kLines, wide = columns > kLines;
  const auto multiply = tall ? (wide ? multiply_tiles<2, 2> : multiply_tiles<2, 1>) : (wide ? multiply_tiles<1, 2> : multiply_tiles<1, 1>);
  multiply(left, right, steps, sums, ahead);
  __mmask16 wrong = 0;
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t column = 0; column < columns; column += kLines) {
      const __mmask16 mask = first(columns - column);
      float* const at = y + r * y_stride + column;
      __m512 sum = _mm512_load_ps(sums + (r / kLines * 2 + column / kLines) * kLines * kLines + r % kLines * kLines);
      if (add) sum = _mm512_add_ps(sum, _mm512_maskz_loadu_ps(mask, at));
      _mm512_mask_storeu_ps(at, mask, sum);
      wrong |= not_finite(sum) & mask;
    }
  }
  return wrong == 0;
}

// How a thread computes its part of the result: of the factor with fewer lines it splits as much as a cache holds and keeps it, the other one
// passes by in groups of panels.
struct Division {
  bool left_stays;
  int64_t depth, kept_lines, group;

  Division(int64_t rows, int64_t columns, int64_t inner) : left_stays(rows <= columns), depth(rounded(divided(inner, divided(inner, kDeepest)), kDepth)) {
    const int64_t fewer = std::min(rows, columns), most = std::max(kMostKept / depth, kPanelLines);
    kept_lines = rounded(divided(fewer, divided(fewer, most)), kPanelLines);
    // Several groups, since all but the first are fetched while the one before is multiplied.
    group = std::clamp<int64_t>(std::max(rows, columns) / kPanelLines / 8, 1, kLargestGroup) * kPanelLines;
  }
  int64_t panel_bytes() const { return depth / kDepth * kStepBytes; }
  int64_t kept_bytes() const { return kept_lines / kPanelLines * panel_bytes(); }
  int64_t group_bytes() const { return group / kPanelLines * panel_bytes(); }
  int64_t scratch_bytes() const { return kept_bytes() + group_bytes() + 4 * kTileBytes; }
};

// False: y is not finite, and worthless.
bool multiply_part(const Division& division, const Factor& a, const Factor& b, float* y, int64_t y_stride, std::byte* scratch) {
  const Factor &kept = division.left_stays ? a : b, &passing = division.left_stays ? b : a;
  std::byte* const group = scratch + division.kept_bytes();
  float* const room = reinterpret_cast<float*>(group + division.group_bytes());
  const Tiles configured;
  bool finite = true;
  for (int64_t line = 0; line < kept.lines; line += division.kept_lines) {
    const int64_t end = std::min(line + division.kept_lines, kept.lines), kept_panels = divided(end - line, kPanelLines);
    for (int64_t depth = 0; depth < a.inner; depth += division.depth) {
      const int64_t inner = std::min(division.depth, a.inner - depth), steps = divided(inner, kDepth), panel = steps * kStepBytes;
      const auto group_ahead = [&](int64_t from, int64_t turns) {
        return Ahead(passing, from, std::min(from + division.group, passing.lines), depth, inner, turns);
      };
      split_panels(kept, line, end, depth, steps, scratch, group_ahead(0, divided(end - line, kLines) * steps));
      for (int64_t from = 0; from < passing.lines; from += division.group) {
        const int64_t to = std::min(from + division.group, passing.lines);
        split_panels(passing, from, to, depth, steps, group, {});
        Ahead ahead = group_ahead(to, divided(to - from, kPanelLines) * kept_panels * steps);
        for (int64_t p = from; p < to; p += kPanelLines) {
          const std::byte* const by = group + (p - from) / kPanelLines * panel;
          const int64_t p_lines = std::min(kPanelLines, to - p);
          for (int64_t k = line; k < end; k += kPanelLines) {
            const std::byte* const stays = scratch + (k - line) / kPanelLines * panel;
            const int64_t k_lines = std::min(kPanelLines, end - k);
            finite &= division.left_stays
                          ? multiply_panels(stays, by, steps, depth > 0, y + k * y_stride + p, y_stride, k_lines, p_lines, room, ahead)
                          : multiply_panels(by, stays, steps, depth > 0, y + p * y_stride + k, y_stride, p_lines, k_lines, room, ahead);
          }
        }
      }
    }
  }
  return finite;
}

// ---- sums of outer products, panel by panel ----

void pack_stripe(const OuterProducts& p, const float* right, int64_t stripe, std::byte* to) {
  const Factor columns{right, p.columns, 1, p.inner, p.columns, false};
  split_panels(columns, stripe * kPanelLines, std::min((stripe + 1) * kPanelLines, p.columns), 0, divided(p.inner, kDepth), to, {});
}

void multiply_plainly(const OuterProducts& p, const float* left, const float* right, int64_t row, int64_t rows, float* y) {
  for (int64_t r = row; r < row + rows; ++r, y += p.columns) {
    std::fill_n(y, p.columns, 0.0F);
    for (int64_t k = 0; k < p.inner; ++k) {
      const __m512 factor = _mm512_set1_ps(left[k * p.rows + r]);
      for (int64_t c = 0; c < p.columns; c += 16) {
        const __mmask16 mask = first(p.columns - c);
        const __m512 sum = _mm512_fmadd_ps(factor, _mm512_maskz_loadu_ps(mask, right + k * p.columns + c), _mm512_maskz_loadu_ps(mask, y + c));
        _mm512_mask_storeu_ps(y + c, mask, sum);
      }
    }
  }
}

void multiply_stripes(const OuterProducts& p, const float* left, const float* right, int64_t row, int64_t rows, const std::byte* packed, std::byte* room,
                      float* y) {
  const int64_t steps = divided(p.inner, kDepth);
  split_panels({left, p.rows, 1, p.inner, p.rows, true}, row, row + rows, 0, steps, room, {});
  float* const partial = reinterpret_cast<float*>(room + steps * kStepBytes);
  bool finite = true;
  Ahead ahead({left, p.rows, 1, p.inner, p.rows, true}, row + rows, std::min(row + rows + kPanelLines, p.rows), 0, p.inner, steps * divided(p.columns, kPanelLines));
  {
    const Tiles configured;
    for (int64_t column = 0; column < p.columns; column += kPanelLines, packed += steps * kStepBytes)
      finite &= multiply_panels(room, packed, steps, false, y + column, p.columns, rows, std::min(kPanelLines, p.columns - column), partial, ahead);
  }
  if (!finite) multiply_plainly(p, left, right, row, rows, y);
}

}  // namespace
}  // namespace alloy::portable
HWY_POP_ATTRIBUTES
#pragma GCC diagnostic pop

namespace alloy::portable {
namespace {

// The result in parts, one a thread, of so many rows and columns each but for the last ones.
struct Grid {
  int64_t rows = 0, columns = 0, down = 0, across = 0;

  // As square as possible, since every thread splits what it needs.
  explicit Grid(const ProductShape& s) {
    const int64_t threads = kernel_threads();
    for (int64_t i = 1; i <= threads; ++i) {
      const int64_t tall = rounded(divided(s.rows, i), kLines), wide = rounded(divided(s.columns, threads / i), kLines);
      if (threads % i != 0 || (i > 1 && tall + wide >= rows + columns)) continue;
      rows = tall;
      columns = wide;
    }
    down = divided(s.rows, rows);
    across = divided(s.columns, columns);
  }
};

// Where this was faster than oneDNN: sums are not short, and splitting, which costs as much as some twenty multiplications of an element, does not
// take most of the time.
bool is_faster(const ProductShape& s) {
  const Grid grid(s);
  return s.inner >= 64 && grid.rows * grid.columns >= 32 * (grid.rows + grid.columns);
}

class AmxProduct final : public Kernel {
 public:
  AmxProduct(const ProductShape& shape, std::unique_ptr<Kernel> otherwise)
      : shape_(shape), otherwise_(std::move(otherwise)), grid_(shape), division_(grid_.rows, grid_.columns, shape.inner) {}

  void run(const std::byte* const* operands, std::byte* const* results, std::byte* scratch) const override {
    const ProductShape& s = shape_;
    const auto *a = reinterpret_cast<const float*>(operands[0]), *b = reinterpret_cast<const float*>(operands[1]);
    auto* y = reinterpret_cast<float*>(results[0]);
    std::atomic<bool> finite = true;
    parallel_for(grid_.down * grid_.across, grid_.rows * grid_.columns * s.inner, [&](int64_t begin, int64_t end) {
      for (int64_t part = begin; part < end; ++part) {
        const int64_t row = part / grid_.across * grid_.rows, column = part % grid_.across * grid_.columns;
        const Factor left{a + row * s.a_row, std::min(grid_.rows, s.rows - row), s.a_row, s.inner, s.a_column, true};
        const Factor right{b + column * s.b_column, std::min(grid_.columns, s.columns - column), s.b_column, s.inner, s.b_row, false};
        float* const from = y + row * s.columns + column;
        if (!multiply_part(division_, left, right, from, s.columns, scratch + part * division_.scratch_bytes())) finite = false;
      }
    });
    if (!finite) otherwise_->run(operands, results, scratch);
  }
  size_t scratch_bytes() const override {
    return std::max(static_cast<size_t>(grid_.down * grid_.across * division_.scratch_bytes()), otherwise_->scratch_bytes());
  }

 private:
  ProductShape shape_;
  std::unique_ptr<Kernel> otherwise_;
  Grid grid_;
  Division division_;
};

}  // namespace

const PackedLoops* amx_packed_loops() {
  static const PackedLoops loops{kPanelLines, kPanelLines, kDeepest, kDepth, kParts * 2, &pack_stripe, &multiply_stripes};
  return has_tiles() ? &loops : nullptr;
}

std::unique_ptr<Kernel> make_amx_product(const ProductShape& shape, std::unique_ptr<Kernel> otherwise) {
  if (!has_tiles() || !is_faster(shape)) return otherwise;
  return std::make_unique<AmxProduct>(shape, std::move(otherwise));
}

}  // namespace alloy::portable
#else
namespace alloy::portable {

const PackedLoops* amx_packed_loops() { return nullptr; }

std::unique_ptr<Kernel> make_amx_product(const ProductShape&, std::unique_ptr<Kernel> otherwise) { return otherwise; }

}  // namespace alloy::portable
#endif

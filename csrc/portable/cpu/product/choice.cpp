#include "cpu/product/choice.h"

#include <algorithm>

#include "cpu/amx/product.h"
#include "cpu/amx/product_division.h"
#include "cpu/onednn/divided.h"
#include "cpu/product/blocked_matmul.h"
#include "cpu/product/small_matmul.h"
#include "cpu/product/thin_matmul.h"

namespace alloy::cpu {
namespace {

// ---- few rows on the left ----

bool thin_applies(const ProductShape& s, const Machine&) {
  return s.rows <= kMostThinRows && (thin_by_dots(s) ? s.b_row == 1 : s.b_row == s.columns);
}

// These loops read a transposed matrix as it is; other ways transpose it first, which takes longer than the product.
// For a long column, oneDNN keeps one running sum in each lane, which loses digits.
bool thin_pays(const ProductShape& s, const Machine& m, int64_t) {
  return s.b_transposed() || (s.columns == 1 && s.inner > kLongestSmallSum) ||
         (s.rows <= m.thin_rows && s.inner >= m.thin_elements / s.columns);
}

// ---- few elements ----

bool small_applies(const ProductShape& s, const Machine&) { return s.inner <= kLongestSmallSum; }

bool small_pays(const ProductShape& s, const Machine& m, int64_t) {
  return s.multiplications() <= static_cast<double>(m.onednn_call_products);
}

// ---- tiles ----

bool tiles_apply(const ProductShape&, const Machine& m) { return m.tiles; }

// ---- blocks ----

bool blocks_apply(const ProductShape& s, const Machine&) { return !s.b_transposed(); }
bool blocks_pay(const ProductShape&, const Machine& m, int64_t) { return !m.onednn_has_avx512; }

// ---- oneDNN ----

bool always_applies(const ProductShape&, const Machine&) { return true; }
bool always_pays(const ProductShape&, const Machine&, int64_t) { return true; }

std::unique_ptr<Kernel> make_by_onednn(const ProductShape& s) {
  return matrix_product({{s.rows, s.inner}, {s.a_row, s.a_column}}, {{s.inner, s.columns}, {s.b_row, s.b_column}},
                        {{s.rows, s.columns}, {s.columns, 1}}, ir::DType::float32);
}

std::unique_ptr<Kernel> make_by_tiles(const ProductShape& s) { return amx::make_product(s, make_by_onednn(s)); }

constexpr ProductWay kWays[] = {
    {"thin", &thin_applies, &thin_pays, &make_thin_matmul},
    {"small", &small_applies, &small_pays, &make_small_matmul},
    {"tiles", &tiles_apply, &amx::product_pays, &make_by_tiles},
    {"blocks", &blocks_apply, &blocks_pay, &make_blocked_matmul},
    {"oneDNN", &always_applies, &always_pays, &make_by_onednn},
};

}  // namespace

std::span<const ProductWay> product_ways() { return kWays; }
std::span<const ProductWay> large_product_ways() { return product_ways().subspan(2); }

const ProductWay& choose(std::span<const ProductWay> ways, const ProductShape& shape, const Machine& machine,
                         int64_t threads) {
  return *std::ranges::find_if(
      ways, [&](const ProductWay& way) { return way.applies(shape, machine) && way.pays(shape, machine, threads); });
}

std::unique_ptr<Kernel> make_product(const ProductShape& shape, std::span<const ProductWay> ways) {
  return choose(ways, shape, machine(), kernel_threads()).make(shape);
}

bool packed_product_pays(const OuterProducts& p) {
  const int64_t most_packed = kMeasured.l2.bytes() / 2 / int64_t{sizeof(float)},
                fewest_results = kMeasured.l2.bytes() / 4 / int64_t{sizeof(float)};
  return p.inner <= packed_loops(p).longest_sum && p.columns <= most_packed / p.inner &&
         p.rows * p.columns >= fewest_results;
}

}  // namespace alloy::cpu

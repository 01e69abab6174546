// The processor as kernels know it: cache sizes, and measured rates and costs. Choices between ways to compute, and
// block sizes, are functions of a Machine. Nothing is timed when a process starts.
//
// Some block sizes decide the order in which sums are added, so the bits of results depend on them. These use kMeasured
// on every processor, so that a program computes the same bits everywhere. All other sizes and choices use machine().
#pragma once

#include <cstdint>

namespace alloy::cpu {

// The size of a cache line, and the size of the widest vector of any instruction set that kernels are compiled for.
// Memory that threads do not share is aligned to cache lines.
inline constexpr int64_t kCacheLine = 64, kWidestVector = 64;

struct Cache {
  int64_t way_bytes, ways;

  constexpr int64_t bytes() const { return way_bytes * ways; }
};

// The defaults were measured on an Intel Xeon with AMX, on 21 November 2026 unless a comment names another date.
struct Machine {
  // ---- read from the processor ----

  Cache l1 = {int64_t{4} << 10, 12}, l2 = {int64_t{128} << 10, 16};  // of a core, for data
  bool tiles = false;                                                // AMX with bfloat16, and the process may use it
  bool onednn_has_avx512 = true;                                     // and may use it

  // ---- threads ----

  // The number of additions on cached data that take as long as entering and leaving a parallel region: microseconds.
  int64_t parallel_call = int64_t{1} << 16;

  // ---- products of matrices ----

  // Up to this number of multiplications, loops on one thread are faster than preparing a call of oneDNN on two
  // threads.
  int64_t onednn_call_products = int64_t{1} << 18;
  // With at most `thin_rows` rows of the left matrix, nearly all time goes to reading the right matrix. A loop of its
  // own pays if that has at least `thin_elements` elements.
  int64_t thin_rows = 4, thin_elements = int64_t{1} << 15;
  // Tiles are faster than oneDNN if sums have at least `tiles_inner` terms, and if they save more time on the
  // multiplications than splitting takes: splitting an element takes as long as they save on `split_products`. On
  // more than `tiles_threads` threads they save less, in proportion to the threads (measured on 4 and 16, 26 November).
  int64_t tiles_inner = 64, split_products = 32, tiles_threads = 2;
  // Sums of outer products: up to the first number of terms, vectors are as fast as tiles, which add 32 terms at a
  // time; up to the second, vectors are as fast as other ways.
  int64_t outer_products_for_vectors = 16, outer_products_of_vectors = 64;

  // ---- convolutions on tiles ----

  // Cycles of a core: for an element that is split; for one that comes from another core's cache; for the product of
  // two tiles; the factor by which the product is slower with fewer than four sums, where tiles wait for each other;
  // for an element of the result that is stored.
  double split_cycles = 0.6, fetch_cycles = 0.5, tile_product_cycles = 16, tile_waiting = 1.3, store_cycles = 0.7;
  double tile_clock = 2.85;         // cycles in a nanosecond while tiles multiply
  double tiles_call_ns = 14e3;      // for a convolution
  double tiles_products = 1 << 20;  // multiplications for which tiles always pay
  // oneDNN's nanoseconds: for a convolution, for a multiplication on one thread, and for a weight, which it copies to
  // its own layout.
  double onednn_call_ns = 15e3, onednn_product_ns = 0.01, onednn_weight_ns = 0.35;
};

// The processor on which the numbers were measured.
inline constexpr Machine kMeasured;

// This processor: caches and tiles as the system reports them, the rest as measured. `tiles` is false if Highway was
// told not to use AVX3_DL.
const Machine& machine();

// A machine with the caches that the system describes in this folder, and without tiles.
Machine machine_with_caches(const char* folder);

}  // namespace alloy::cpu

// What the kernels know of the processor: the one home of cache sizes, and of the rates and costs that were measured. A
// choice between ways to compute, and a block size, is a function of a Machine. Nothing is timed when a process starts.
//
// Some block sizes decide the order in which sums are added, so the bits of results depend on them. Such sizes are made
// for kMeasured on every processor, so that a program computes the same everywhere. All other sizes and choices follow
// machine().
#pragma once

#include <cstdint>

namespace alloy::cpu {

// Bytes of a cache line, to which memory is aligned that threads do not share, and of the widest vector of any
// instruction set that kernels are compiled for.
inline constexpr int64_t kCacheLine = 64, kWidestVector = 64;

struct Cache {
  int64_t way_bytes, ways;

  constexpr int64_t bytes() const { return way_bytes * ways; }
};

// The defaults are those of the processor that the rest was measured on, in November 2026: an Intel Xeon with AMX.
// Where a comment names no other date, that is the 21st.
struct Machine {
  // ---- read from the processor ----

  Cache l1 = {int64_t{4} << 10, 12}, l2 = {int64_t{128} << 10, 16};  // of a core, for data
  bool tiles = false;  // of AMX, with bfloat16s, and the process may use them

  // ---- threads ----

  // Work that takes as long as entering and leaving a parallel region, some microseconds, in cheap elements (an
  // addition in the cache).
  int64_t parallel_call = int64_t{1} << 16;

  // ---- products of matrices ----

  // Up to so many multiplications, loops on one thread are faster than preparing a call of oneDNN on two threads.
  int64_t onednn_call_products = int64_t{1} << 18;
  // Rows of the left matrix up to which reading the right one is all that a product costs, and elements of the right
  // one from which that is worth a loop of its own.
  int64_t thin_rows = 4, thin_elements = int64_t{1} << 15;
  // Tiles: the shortest sums that they add faster than oneDNN, and what splitting an element takes, in multiplications
  // that tiles then save.
  int64_t tiles_inner = 64, split_products = 32;
  // Sums of outer products: up to how many terms vectors add them as fast as tiles do, which add 32 at a time, and
  // up to how many they are as fast as other ways.
  int64_t outer_products_for_vectors = 16, outer_products_of_vectors = 64;

  // ---- convolutions on tiles ----

  // Cycles of a core for an element that is split, and for one that comes from another core's cache before; for the
  // product of two tiles, and how many times that with fewer than four sums, when tiles wait for one another; for an
  // element of the result that is stored.
  double split_cycles = 0.6, fetch_cycles = 0.5, tile_product_cycles = 16, tile_waiting = 1.3, store_cycles = 0.7;
  double tile_clock = 2.85;         // cycles in a nanosecond while tiles multiply
  double tiles_call_ns = 14e3;      // of a convolution
  double tiles_products = 1 << 20;  // multiplications that are worth it, whatever they cost elsewhere
  // Nanoseconds of oneDNN for a convolution, a multiplication on one thread, and a weight, which it copies into a
  // layout of its own.
  double onednn_call_ns = 15e3, onednn_product_ns = 0.01, onednn_weight_ns = 0.35;
};

// The processor that was measured.
inline constexpr Machine kMeasured;

// This processor: what can be read of it, the rest as measured. It has no tiles if Highway has been told to do without
// AVX3_DL.
const Machine& machine();

// The machine whose caches the system describes in this folder; has no tiles.
Machine machine_with_caches(const char* folder);

}  // namespace alloy::cpu

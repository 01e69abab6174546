#include "cuda/codegen/copies.h"

#include "cuda/codegen/merged.h"

namespace alloy::cuda {
namespace {

constexpr char kCopies[] = R"cuda(
struct __align__(16) Line { u64 low, high; };

// The threads begin with `first`.
__device__ inline void copy_array(const char* from, char* to, i64 bytes, i64 first) {
  const bool aligned = (((u64)from | (u64)to) & 15) == 0;
  const i64 lines = aligned ? bytes / 16 : 0, step = index_step();
  // Several are under way at once.
#pragma unroll 1
  for (i64 i = first; i < lines; i += 4 * step) {
    Line read[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      if (i + k * step < lines) read[k] = ((const Line*)from)[i + k * step];
    }
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      if (i + k * step < lines) ((Line*)to)[i + k * step] = read[k];
    }
  }
#pragma unroll 1
  for (i64 i = 16 * lines + first; i < bytes; i += step) to[i] = from[i];
}

// Two small arrays are copied by different threads: each waits for the host's memory once.
__device__ inline void copy_arrays(char* const* p, int count, bool by_last_first) {
  for (int i = 0; i < count; ++i) {
    const bool is_turned = (i % 2 == 1) != by_last_first;
    const i64 first = is_turned ? index_step() - 1 - first_index() : first_index();
    copy_array(p[3 * i], p[3 * i + 1], (i64)p[3 * i + 2], first);
  }
}

// The host sees all that was written before it sees the count. One thread counts.
__device__ inline u64 next_count(const u64* count) { return first_index() == 0 ? *count + 1 : 0; }
__device__ inline void tell_host(u64* count, volatile u64* over, u64 ended) {
  if (first_index() == 0) *over = *count = ended;
}
__device__ inline void end_run(u64* count, volatile u64* over) {
  const u64 ended = next_count(count);
  if (first_index() == 0) __threadfence_system();
  tell_host(count, over, ended);
}
)cuda";

}  // namespace

const Launch& copying(size_t count, CopiesOf what, size_t most_bytes) {
  static const std::vector<Launch>& launches = *[] {
    auto* const all = new std::vector<Launch>;
    for (size_t i = 0; i <= kCopiesOfLaunch; ++i) {
      for (const int64_t by_last_first : {0, 1}) {
        for (const unsigned blocks : {1U, kMergedBlocks}) {
          all->push_back({{kCopies},
                          "  copy_arrays(p, n[0], n[1]);\n",
                          std::vector<Pointer>(3 * i),
                          {static_cast<int64_t>(i), by_last_first},
                          blocks});
        }
      }
    }
    return all;
  }();
  constexpr size_t kBytesOfBlock = 4096;  // a line for each thread
  // Reductions of one block, while results are copied, have the first block.
  const bool by_last_first = what == CopiesOf::kResults;
  // A step of one block would have to leave the others idle.
  const bool is_block = what != CopiesOf::kStep && most_bytes <= kBytesOfBlock;
  return launches[4 * count + (by_last_first ? 2 : 0) + (is_block ? 0 : 1)];
}

const Launch& ending() {
  // Never destroyed, for threads that compile while the process ends.
  static const Launch& launch =
      *new Launch{{kCopies}, "  end_run((u64*)p[0], (volatile u64*)p[1]);\n", std::vector<Pointer>(2), {}, 1};
  return launch;
}

}  // namespace alloy::cuda

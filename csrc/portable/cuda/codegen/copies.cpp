#include "cuda/codegen/copies.h"

#include <algorithm>

namespace alloy::cuda {
namespace {

constexpr char kCopies[] = R"cuda(
struct __align__(16) Line { u64 low, high; };

__device__ inline void copy_array(const char* from, char* to, i64 bytes) {
  const bool aligned = (((u64)from | (u64)to) & 15) == 0;
  const i64 lines = aligned ? bytes / 16 : 0;
  for (i64 i = first_index(); i < lines; i += index_step()) ((Line*)to)[i] = ((const Line*)from)[i];
  for (i64 i = 16 * lines + first_index(); i < bytes; i += index_step()) to[i] = from[i];
}

__device__ inline void copy_arrays(char* const* p, const i64* n) {
#pragma unroll
  for (int i = 0; i < 8; ++i) copy_array(p[2 * i], p[2 * i + 1], n[i]);
}

// The host sees the copies before it sees the count.
__device__ inline void end_run(u64* count, volatile u64* over) {
  __threadfence_system();
  __syncthreads();
  if (threadIdx.x == 0) *over = ++*count;
}
)cuda";

}  // namespace

static_assert(kCopiesOfLaunch == 8, "the text has this number");

const Launch& copying() {
  static const Launch launch{{kCopies},
                             "  copy_arrays(p, n);\n",
                             std::vector<Pointer>(2 * kCopiesOfLaunch),
                             std::vector<int64_t>(kCopiesOfLaunch)};
  return launch;
}

const Launch& ending() {
  static const Launch launch{{kCopies},
                             "  copy_arrays(p, n);\n  end_run((u64*)p[16], (volatile u64*)p[17]);\n",
                             std::vector<Pointer>(2 * kCopiesOfLaunch + 2),
                             std::vector<int64_t>(kCopiesOfLaunch)};
  return launch;
}

unsigned blocks_of_copy(size_t bytes) {
  constexpr size_t kOfBlock = 16 << 10;
  return static_cast<unsigned>(std::clamp<size_t>((bytes + kOfBlock - 1) / kOfBlock, 1, 256));
}

}  // namespace alloy::cuda

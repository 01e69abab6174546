#include "cuda/codegen/copies.h"

#include "cuda/codegen/merged.h"

namespace alloy::cuda {
namespace {

constexpr char kCopies[] = R"cuda(
struct __align__(16) Line { u64 low, high; };

// The threads begin with `first`.
__device__ inline void copy_array(const char* from, char* to, i64 bytes, i64 first) {
  const bool aligned = (((u64)from | (u64)to) & 15) == 0;
  const i64 lines = aligned ? bytes / 16 : 0;
  for (i64 i = first; i < lines; i += index_step()) ((Line*)to)[i] = ((const Line*)from)[i];
  for (i64 i = 16 * lines + first; i < bytes; i += index_step()) to[i] = from[i];
}

// Two small arrays are copied by different threads: each waits for the host's memory once.
__device__ inline void copy_arrays(char* const* p, int count) {
  for (int i = 0; i < count; ++i) {
    const i64 first = i % 2 == 0 ? first_index() : index_step() - 1 - first_index();
    copy_array(p[3 * i], p[3 * i + 1], (i64)p[3 * i + 2], first);
  }
}

// The host sees all that was written before it sees the count.
__device__ inline void end_run(u64* count, volatile u64* over) {
  if (first_index() != 0) return;
  const u64 ended = *count + 1;
  __threadfence_system();
  *over = *count = ended;
}
)cuda";

}  // namespace

const Launch& copying(size_t count) {
  static const std::vector<Launch>& launches = *[] {
    auto* const all = new std::vector<Launch>;
    for (size_t i = 0; i <= kCopiesOfLaunch; ++i) {
      all->push_back({{kCopies},
                      "  copy_arrays(p, n[0]);\n",
                      std::vector<Pointer>(3 * i),
                      {static_cast<int64_t>(i)},
                      kMergedBlocks});
    }
    return all;
  }();
  return launches[count];
}

const Launch& ending() {
  // Never destroyed, for threads that compile while the process ends.
  static const Launch& launch =
      *new Launch{{kCopies}, "  end_run((u64*)p[0], (volatile u64*)p[1]);\n", std::vector<Pointer>(2), {}, 1};
  return launch;
}

}  // namespace alloy::cuda

#include "cuda/codegen/copies.h"

#include "cuda/codegen/merged.h"

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

// The host sees all that was written before it sees the count.
__device__ inline void end_run(u64* count, volatile u64* over) {
  if (first_index() != 0) return;
  __threadfence_system();
  *over = ++*count;
}
)cuda";

}  // namespace

const Launch& copying() {
  static const Launch launch{{kCopies},
                             "  for (int i = 0; i < " + std::to_string(kCopiesOfLaunch) +
                                 "; ++i) copy_array(p[3 * i], p[3 * i + 1], (i64)p[3 * i + 2]);\n",
                             std::vector<Pointer>(3 * kCopiesOfLaunch),
                             {},
                             kMergedBlocks};
  return launch;
}

const Launch& ending() {
  static const Launch launch{
      {kCopies}, "  end_run((u64*)p[0], (volatile u64*)p[1]);\n", std::vector<Pointer>(2), {}, 1};
  return launch;
}

}  // namespace alloy::cuda

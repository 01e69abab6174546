#include "cuda/codegen/copies.h"

#include "cuda/codegen/merged.h"

namespace alloy::cuda {
namespace {

constexpr char kCopies[] = R"cuda(
struct __align__(16) Line { u64 low, high; };

__device__ inline i64 lines_of(const char* from, const char* to, i64 bytes) {
  return (((u64)from | (u64)to) & 15) == 0 ? bytes / 16 : 0;
}

// The threads begin with `first`, and have copied so many lines each.
__device__ inline void copy_array(const char* from, char* to, i64 bytes, i64 first, int copied = 0) {
  const i64 lines = lines_of(from, to, bytes), step = index_step();
  // Several are under way at once.
#pragma unroll 1
  for (i64 i = first + copied * step; i < lines; i += 4 * step) {
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
__device__ inline i64 first_line(bool is_turned) {
  return is_turned ? index_step() - 1 - first_index() : first_index();
}
__device__ inline void copy_arrays(char* const* p, int count, bool by_last_first) {
  for (int i = 0; i < count; ++i) {
    copy_array(p[3 * i], p[3 * i + 1], (i64)p[3 * i + 2], first_line((i % 2 == 1) != by_last_first));
  }
}

// The same of feeds. The host's memory is far away, so a thread reads its first line of those that the run before does
// not write while that is at work.
template <int COUNT>
__device__ inline void copy_feeds(char* const* p) {
  Line lines[COUNT];
  bool is_read[COUNT];
#pragma unroll
  for (int i = 0; i < COUNT; ++i) {
    const i64 first = first_line(i % 2 == 1);
    is_read[i] = first < lines_of(p[4 * i], p[4 * i + 1], (i64)p[4 * i + 3]);
    if (is_read[i]) lines[i] = ((const Line*)p[4 * i])[first];
  }
  begin_launch();
#pragma unroll
  for (int i = 0; i < COUNT; ++i) {
    const i64 first = first_line(i % 2 == 1);
    if (is_read[i]) ((Line*)p[4 * i + 1])[first] = lines[i];
    copy_array(p[4 * i], p[4 * i + 1], (i64)p[4 * i + 2], first, is_read[i] ? 1 : 0);
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

Launch copies(size_t count, CopiesOf what, unsigned blocks) {
  if (what == CopiesOf::kFeeds) {
    Launch launch{
        {kCopies}, "  copy_feeds<" + std::to_string(count) + ">(p);\n", std::vector<Pointer>(4 * count), {}, blocks};
    launch.waits_itself = true;
    return launch;
  }
  // Reductions of one block, while results are copied, have the first block.
  const int64_t by_last_first = what == CopiesOf::kResults ? 1 : 0;
  return {{kCopies},
          "  copy_arrays(p, n[0], n[1]);\n",
          std::vector<Pointer>(3 * count),
          {static_cast<int64_t>(count), by_last_first},
          blocks};
}

}  // namespace

const Launch& copying(size_t count, CopiesOf what, size_t most_bytes) {
  static const std::vector<Launch>& launches = *[] {
    auto* const all = new std::vector<Launch>;
    for (size_t i = 1; i <= kCopiesOfLaunch; ++i) {
      for (const CopiesOf of : {CopiesOf::kStep, CopiesOf::kFeeds, CopiesOf::kResults}) {
        for (const unsigned blocks : {1U, kMergedBlocks}) all->push_back(copies(i, of, blocks));
      }
    }
    return all;
  }();
  constexpr size_t kBytesOfBlock = 4096;  // a line for each thread
  // A step of one block would have to leave the others idle.
  const bool is_block = what != CopiesOf::kStep && most_bytes <= kBytesOfBlock;
  return launches[6 * (count - 1) + 2 * static_cast<size_t>(what) + (is_block ? 0 : 1)];
}

const Launch& ending() {
  // Never destroyed, for threads that compile while the process ends.
  static const Launch& launch =
      *new Launch{{kCopies}, "  end_run((u64*)p[0], (volatile u64*)p[1]);\n", std::vector<Pointer>(2), {}, 1};
  return launch;
}

}  // namespace alloy::cuda

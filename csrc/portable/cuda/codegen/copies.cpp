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
__device__ inline void copy_array(const char* from, char* to, i64 bytes, i64 first, i64 step, int copied = 0) {
  const i64 lines = lines_of(from, to, bytes);
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
    copy_array(p[3 * i], p[3 * i + 1], (i64)p[3 * i + 2], first_line((i % 2 == 1) != by_last_first),
               index_step());
  }
}
// The same by the first block alone.
__device__ inline void copy_arrays_by_block(char* const* p, int count) {
  if (blockIdx.x > 0) return;
  for (int i = 0; i < count; ++i) copy_array(p[3 * i], p[3 * i + 1], (i64)p[3 * i + 2], threadIdx.x, blockDim.x);
}

// The same of feeds. The host's memory is far away, so a thread reads its first EARLY lines of those that the run
// before does not write while that is at work. If EACH, each block copies all.
template <int COUNT, int EARLY, bool EACH>
__device__ inline void copy_feeds(char* const* p) {
  const i64 step = EACH ? blockDim.x : index_step();
  Line lines[COUNT][EARLY];
  int early[COUNT];
#pragma unroll
  for (int i = 0; i < COUNT; ++i) {
    const i64 first = EACH ? threadIdx.x : first_line(i % 2 == 1);
    const i64 count = lines_of(p[4 * i], p[4 * i + 1], (i64)p[4 * i + 3]);
    early[i] = 0;
#pragma unroll
    for (int k = 0; k < EARLY; ++k) {
      if (first + k * step >= count) continue;
      lines[i][k] = ((const Line*)p[4 * i])[first + k * step];
      early[i] = k + 1;
    }
  }
  begin_launch();
#pragma unroll
  for (int i = 0; i < COUNT; ++i) {
    const i64 first = EACH ? threadIdx.x : first_line(i % 2 == 1);
#pragma unroll
    for (int k = 0; k < EARLY; ++k) {
      if (k < early[i]) ((Line*)p[4 * i + 1])[first + k * step] = lines[i][k];
    }
    copy_array(p[4 * i], p[4 * i + 1], (i64)p[4 * i + 2], first, step, early[i]);
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

// The lines that a thread reads early, of each of so many feeds: as many as it has registers for.
size_t early_lines(size_t count) { return count <= 2 ? 4 : count <= 4 ? 2 : 1; }

Launch copies(size_t count, CopiesOf what, bool is_small) {
  const unsigned blocks = is_small ? 1 : kMergedBlocks;
  if (what == CopiesOf::kFeeds) {
    const std::string early = std::to_string(is_small ? early_lines(count) : 1);
    Launch launch{
        {kCopies},
        "  copy_feeds<" + std::to_string(count) + ", " + early + (is_small ? ", true>(p);\n" : ", false>(p);\n"),
        std::vector<Pointer>(4 * count),
        {},
        blocks};
    launch.waits_itself = true;
    launch.by_each_block = is_small;
    return launch;
  }
  if (what == CopiesOf::kStep && is_small) {
    return {{kCopies},
            "  copy_arrays_by_block(p, n[0]);\n",
            std::vector<Pointer>(3 * count),
            {static_cast<int64_t>(count)},
            blocks};
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
        for (const bool is_small : {true, false}) all->push_back(copies(i, of, is_small));
      }
    }
    return all;
  }();
  constexpr size_t kBytesOfLines = 4096;  // one of each thread of a block
  const bool is_small = most_bytes <= kBytesOfLines * (what == CopiesOf::kFeeds ? early_lines(count) : 1);
  return launches[6 * (count - 1) + 2 * static_cast<size_t>(what) + (is_small ? 0 : 1)];
}

const Launch& ending() {
  // Never destroyed, for threads that compile while the process ends.
  static const Launch& launch =
      *new Launch{{kCopies}, "  end_run((u64*)p[0], (volatile u64*)p[1]);\n", std::vector<Pointer>(2), {}, 1};
  return launch;
}

}  // namespace alloy::cuda

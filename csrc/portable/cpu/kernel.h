// Kernels of the CPU, and the threads that run them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "device/kernel.h"
#include "ir/graph.h"
#include "ir/rounding.h"

namespace alloy::cpu {

// While one exists, arithmetic on this thread treats denormals as zero, as Apple's kernels do; denormals cost a hundred
// times as much as other numbers. The destructor restores the thread's mode.
class FlushDenormals {
 public:
  FlushDenormals();
  ~FlushDenormals();
  FlushDenormals(const FlushDenormals&) = delete;
  FlushDenormals& operator=(const FlushDenormals&) = delete;

 private:
  uint64_t before_;
};

// Sets the number of threads, at least 1, of kernels that are made from now on. The default is OMP_NUM_THREADS, or the
// number of cores that the process may use (its affinity and its CPU quota count); OMP_THREAD_LIMIT limits both.
void set_kernel_threads(int count);
// The number of shares into which a kernel of this thread divides a large loop. Each may have a thread of its own. A
// kernel computes correctly only with the number it was made for, so code that keeps kernels asks before each run.
int kernel_threads();

class Pool;

// Held by a thread while it makes or runs kernels: kernel_threads() does not change, and the loops of kernels use the
// same threads. A team in a team does nothing.
class Team {
 public:
  Team();
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  int threads() const { return threads_; }
  // Starts the threads, unless they run. Null if there is no memory for them.
  Pool* pool();

 private:
  const int threads_;
  Pool* pool_ = nullptr;
};

class Kernel : public device::Kernel {
 public:
  // Computes the results from the operands, in the op's order, all packed row-major. `scratch` has scratch_bytes()
  // bytes, aligned to 64. Never throws or allocates. One run at a time.
  virtual void run(const std::byte* const* operands, std::byte* const* results, std::byte* scratch) const = 0;
  // Packs the operand prepacked_operand().
  virtual void prepack(const std::byte* /*operand*/, std::byte* /*to*/) const {}

  // The number of threads that the kernel was made for; it computes correctly with no other number.
  int threads() const { return threads_; }

 private:
  const int threads_ = kernel_threads();
};

// The scratch of a loop's shares, `bytes` each. Unless it is small, it is equally far apart in all kernels, so a thread
// writes where it wrote in the kernel before: to lines of its core's cache instead of another's.
class ScratchOfShares {
 public:
  ScratchOfShares(size_t shares, size_t bytes)
      : apart_(ir::round_up(bytes, bytes < kSmall ? kLine : kApart)),
        all_(shares > 0 ? (shares - 1) * apart_ + bytes : 0) {}

  size_t bytes() const { return all_; }  // of all shares
  size_t of(size_t share) const { return share * apart_; }

 private:
  static constexpr size_t kLine = 64, kSmall = size_t{256} << 10;
  static constexpr size_t kApart = size_t{2} << 20;  // as much as the second-level caches of large processors hold

  size_t apart_, all_;
};

// Makes the kernel of an op whose operands and results have static types with arithmetic. Throws ir::Error if there is
// none.
std::unique_ptr<Kernel> make_kernel(const ir::Op& op);

}  // namespace alloy::cpu

// Kernels of the CPU, and the threads that run them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "device/kernel.h"
#include "ir/graph.h"

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
// number of cores that the process may use (its CPU quota counts).
void set_kernel_threads(int count);
// The number of threads that a kernel run by this thread really gets. It is at most the number set. OpenMP's limits
// count (OMP_THREAD_LIMIT, OMP_MAX_ACTIVE_LEVELS, a parallel region around the caller); after most_threads() or
// Team::start(), the limits of the system count too. A kernel computes correctly only with the number it was made for,
// so code that keeps kernels asks before each run.
int kernel_threads();
// The number of threads, at most `count`, that a team of this thread can have. The first call starts them.
int most_threads(int count);

// Held by a thread while it makes or runs kernels: its teams have kernel_threads() threads, whatever OpenMP would
// choose.
class Team {
 public:
  explicit Team(int count = kernel_threads());
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  // Starts and counts the team, unless it exists, and makes its threads flush denormals. Call it before a run, and
  // kernel_threads() after it.
  static void start();

 private:
  int size_before_, dynamic_before_;
};

class Kernel : public device::Kernel {
 public:
  // Computes the results from the operands, in the op's order, all packed row-major. `scratch` has scratch_bytes()
  // bytes, aligned to 64. Never throws or allocates. One run at a time.
  virtual void run(const std::byte* const* operands, std::byte* const* results, std::byte* scratch) const = 0;
  // Packs the operand that prepacked() names.
  virtual void prepack(const std::byte* /*operand*/, std::byte* /*to*/) const {}

  // The number of threads that the kernel was made for; it computes correctly with no other number.
  int threads() const { return threads_; }

 private:
  const int threads_ = kernel_threads();
};

// Makes the kernel of an op whose operands and results have static types with arithmetic. Throws ir::Error if there is
// none.
std::unique_ptr<Kernel> make_kernel(const ir::Op& op);

// How a thread waits for the other threads of its loop: it spins for a while (the default), or sleeps almost at once.
enum class Waiting : uint8_t { kSpin, kSleep };
void set_waiting(Waiting waiting);

}  // namespace alloy::cpu

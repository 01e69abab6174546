// The CPU's kernels, and how their threads compute.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "device/kernel.h"
#include "ir/graph.h"

namespace alloy::cpu {

// While one lives, arithmetic on this thread takes denormals for zero, as Apple's kernels do; they cost a hundred times
// as much as other numbers. Restores the thread's own mode.
class FlushDenormals {
 public:
  FlushDenormals();
  ~FlushDenormals();
  FlushDenormals(const FlushDenormals&) = delete;
  FlushDenormals& operator=(const FlushDenormals&) = delete;

 private:
  uint64_t before_;
};

// Sets how many threads kernels use that are prepared from now on; at least 1. The default is OMP_NUM_THREADS, or else
// the number of cores of the process (its CPU quota counts).
void set_kernel_threads(int count);
// How many threads this thread really gets, which may be fewer. OpenMP's own limits count (OMP_THREAD_LIMIT,
// OMP_MAX_ACTIVE_LEVELS, a parallel region around the caller), and, once it has asked most_threads or started its team,
// what the system lets the process start. Kernels compute correctly only with as many as they were prepared for, so
// code that keeps kernels asks before each run.
int kernel_threads();
// How many of `count` threads a team of this thread can have; tries it, the first time.
int most_threads(int count);

// What a thread holds while it prepares or runs kernels: the size of its teams is what kernel_threads() says, whatever
// OpenMP would choose.
class Team {
 public:
  explicit Team(int count = kernel_threads());
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  // Starts the team, unless it is there, so that its threads flush denormals, too, and counts it. Call it before a run,
  // and ask kernel_threads() after it.
  static void start();

 private:
  int size_before_, dynamic_before_;
};

class Kernel : public device::Kernel {
 public:
  // Computes the results from the operands, in the op's order, all packed row-major. `scratch` has scratch_bytes()
  // bytes, aligned to 64. Never throws, never allocates; one run at a time.
  virtual void run(const std::byte* const* operands, std::byte* const* results, std::byte* scratch) const = 0;
  // Makes the copy that prepacked() speaks of.
  virtual void prepack(const std::byte* /*operand*/, std::byte* /*to*/) const {}

  // The threads it was prepared for: it computes right with no other count.
  int threads() const { return threads_; }

 private:
  const int threads_ = kernel_threads();
};

// The kernel of an op whose operands and results are static and computable. Throws ir::Error where there is none.
std::unique_ptr<Kernel> make_kernel(const ir::Op& op);

// What a thread does while it waits for the others of its loop: it spins for a while (the default), or sleeps almost at
// once.
enum class Waiting : uint8_t { kSpin, kSleep };
void set_waiting(Waiting waiting);

}  // namespace alloy::cpu

// Copies between the host's memory and that of a GPU, and within the GPU's.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>

#include "cuda/timeline.h"
#include "host/work_queue.h"

namespace alloy::cuda {

// Copies have a stream of their own: they wait for no run, which may never end. Bytes of the host travel through pinned
// memory, from and to which the GPU copies while threads of the host copy others: one thread reaches a fifth of the
// bus's rate. In a forked child and at the end of the process nothing is copied: whatever needs the memory is refused
// there.
class CopyStream {
 public:
  explicit CopyStream(const Context& context) : context_(context) {}

  // Returns when the bytes are in pinned memory. Whatever else copies here comes behind them; work on other streams
  // needs precede(). If the memory is freed meanwhile, this holds for its next user, too.
  void write(CUdeviceptr to, const void* from, size_t bytes);
  void read(void* to, CUdeviceptr from, size_t bytes);
  // Calls f(driver, stream) and returns when the work that it has queued is done.
  template <class F>
  void run(const F& f) {
    if (!host::process_status().ok()) return;
    const Driver& driver = context_.enter();
    const CUstream stream = timeline().stream();
    f(driver, stream);
    driver.check(driver.synchronize(stream), "cuStreamSynchronize");
  }

  // Lets what begins on the stream from now on wait for all writes so far.
  void precede(const Timeline& next) const;

 private:
  static constexpr size_t kThreads = 4, kChunksOfThread = 2, kChunkBytes = 2 << 20;
  // Pinned memory that one thread of a copy uses.
  struct Chunk {
    std::byte* bytes = nullptr;
    uint64_t last = 0;  // the number of the copy that used it last
  };

  Timeline& timeline();
  // Calls copy(chunk, offset, bytes) for all parts, on several threads if there are many bytes.
  using CopyPart = std::function<void(Chunk& chunk, size_t offset, size_t bytes)>;
  void divide(size_t bytes, const CopyPart& copy);
  void make_chunks();
  // Calls begin(stream), which begins a copy from or to the chunk.
  template <class F>
  void begin(Chunk& chunk, const F& begin);

  const Context& context_;
  std::once_flag made_;
  std::unique_ptr<Timeline> timeline_;
  std::atomic<uint64_t> begun_{0};  // copies through chunks
  std::mutex copying_;              // held by a copy through chunks, which are its threads'
  std::array<Chunk, kThreads * kChunksOfThread> chunks_;
  std::mutex beginning_;  // numbers begin in their order
};

}  // namespace alloy::cuda

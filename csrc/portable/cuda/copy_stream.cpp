#include "cuda/copy_stream.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <thread>
#include <utility>

#include "host/signals.h"
#include "host/thread_pool.h"
#include "ir/rounding.h"

namespace alloy::cuda {

Timeline& CopyStream::timeline() {
  std::call_once(made_, [&] { timeline_ = std::make_unique<Timeline>(context_); });
  return *timeline_;
}

void CopyStream::make_chunks() {
  if (chunks_[0].bytes != nullptr) return;
  void* memory = nullptr;
  const Driver& driver = context_.enter();
  driver.check(driver.host_allocate(&memory, chunks_.size() * kChunkBytes, kPortable), "cuMemHostAlloc");
  for (size_t i = 0; i < chunks_.size(); ++i) chunks_[i].bytes = static_cast<std::byte*>(memory) + i * kChunkBytes;
}

template <class F>
void CopyStream::begin(Chunk& chunk, const F& begin) {
  const Driver& driver = context_.enter();
  const std::lock_guard lock(beginning_);
  begin(driver, timeline_->stream());
  const uint64_t number = begun_ + 1;
  driver.check(driver.stream_write(timeline_->stream(), timeline_->over_address(), number, 0), "cuStreamWriteValue64");
  chunk.last = begun_ = number;
}

namespace {

// The parts of a copy, which threads claim. A thread may come when there are none left, and the copy is over.
struct Parts {
  using Copy = std::function<void(size_t thread, size_t part)>;
  Parts(size_t count, Copy copy) : count(count), copy(std::move(copy)) {}

  const size_t count;
  const Copy copy;  // called while the whole copy lasts
  std::atomic<size_t> threads{0}, claimed{0}, done{0};
  std::mutex mutex;
  std::exception_ptr failure;

  void work() {
    const size_t thread = threads++;
    for (size_t part; (part = claimed++) < count; ++done) {
      try {
        copy(thread, part);
      } catch (const std::exception&) {
        const std::lock_guard lock(mutex);
        failure = std::current_exception();
      }
    }
  }
};

}  // namespace

void CopyStream::divide(size_t bytes, const CopyPart& copy) {
  constexpr size_t kFewest = 256 << 10;  // bytes that are worth a thread
  const size_t size = std::clamp(ir::round_up(bytes / kThreads, kFewest), kFewest, kChunkBytes);
  const size_t count = ir::divide_up(bytes, size);
  const std::lock_guard lock(copying_);
  make_chunks();
  std::array<size_t, kThreads> used{};
  const auto parts = std::make_shared<Parts>(count, [&](size_t thread, size_t part) {
    Chunk& chunk = chunks_[thread * kChunksOfThread + used[thread]++ % kChunksOfThread];
    timeline_->wait(chunk.last);
    copy(chunk, part * size, std::min(size, bytes - part * size));
  });
  const size_t threads = std::min({kThreads, count, std::max<size_t>(std::thread::hardware_concurrency(), 1)});
  for (size_t i = 1; i < threads; ++i) {
    const host::BlockSignals blocked;  // they are for the program's own threads
    if (!host::ThreadPool::shared().submit([parts] { parts->work(); }).ok()) break;
  }
  parts->work();
  while (parts->done < count) std::this_thread::yield();
  if (parts->failure) std::rethrow_exception(parts->failure);
}

void CopyStream::write(CUdeviceptr to, const void* from, size_t bytes) {
  if (!host::process_status().ok()) return;
  timeline();
  divide(bytes, [&](Chunk& chunk, size_t offset, size_t part) {
    std::memcpy(chunk.bytes, static_cast<const std::byte*>(from) + offset, part);
    begin(chunk, [&](const Driver& driver, CUstream stream) {
      driver.check(driver.copy_from_host(to + offset, chunk.bytes, part, stream), "cuMemcpyHtoDAsync");
    });
  });
}

void CopyStream::read(void* to, CUdeviceptr from, size_t bytes) {
  if (!host::process_status().ok()) return;
  timeline();
  divide(bytes, [&](Chunk& chunk, size_t offset, size_t part) {
    begin(chunk, [&](const Driver& driver, CUstream stream) {
      driver.check(driver.copy_to_host(chunk.bytes, from + offset, part, stream), "cuMemcpyDtoHAsync");
    });
    timeline_->wait(chunk.last);
    std::memcpy(static_cast<std::byte*>(to) + offset, chunk.bytes, part);
  });
}

void CopyStream::precede(const Timeline& next) const {
  const uint64_t last = begun_.load();
  if (last == 0 || timeline_->over() >= last) return;
  timeline_->precede(next, last);
}

}  // namespace alloy::cuda

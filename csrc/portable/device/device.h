// The device interface of the runtime: storage, streams and the device that makes them. The CPU is the first
// implementation. Plain C++; knows nothing of graphs, plans and Objective-C.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "device/work_queue.h"

namespace alloy::device {

// Bytes of a device, which the host may not see. Freed, or given back to their owner, on destruction.
class Storage {
 public:
  virtual ~Storage() = default;
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  // Bytes.
  size_t size() const noexcept { return size_; }

  // Copies `bytes` bytes from `offset` on to the host, counted as a transfer; the range must be inside.
  virtual void read(size_t offset, void* to, size_t bytes) = 0;

  // Copies `bytes` bytes from the host to `offset` on, counted as a transfer; the range must be inside.
  virtual void write(size_t offset, const void* from, size_t bytes) = 0;

  // Address of the first byte where the host sees the storage, otherwise null.
  virtual std::byte* host_bytes() noexcept = 0;

 protected:
  explicit Storage(size_t size) noexcept : size_(size) {}

 private:
  size_t size_;
};

// Work of a device in order. Every member may be called from every thread.
class Stream {
 public:
  virtual ~Stream() = default;

  // Runs `work` in turn and returns when it is done; on the calling thread when the stream is idle, without
  // allocating. Fails, without running it, after a fork and at the end of the process.
  virtual Status run(Callable work) = 0;

  // Runs `work` later and returns at once; fails as run does.
  virtual Status submit(std::function<void()> work) = 0;

  // Returns when all work given so far is done.
  virtual Status wait() = 0;
};

// What a device counts; read at any time, exact when its streams are idle.
struct Counters {
  std::atomic<uint64_t> dispatches{0};
  std::atomic<uint64_t> compilations{0};
  std::atomic<uint64_t> bytes_to_device{0};
  std::atomic<uint64_t> bytes_from_device{0};
  std::atomic<uint64_t> allocated_bytes{0};
};

// Allocates storage and makes streams. Lives as long as the process; every member may be called from every
// thread.
class Device {
 public:
  virtual ~Device() = default;

  // Storage of `bytes` bytes with undefined contents; null when memory is short.
  virtual std::shared_ptr<Storage> allocate(size_t bytes) = 0;

  // Storage over `bytes` bytes of the host, wherever they lie; `release` is called when the last user is gone.
  virtual std::shared_ptr<Storage> adopt(void* host, size_t bytes, std::function<void()> release) = 0;

  // A new idle stream.
  virtual std::unique_ptr<Stream> make_stream() = 0;

  // Bytes of memory the device can use at most.
  virtual uint64_t memory_size() const noexcept = 0;

  // Not ok when work can no longer run here, for example in a forked child.
  virtual Status status() const = 0;

  // Counted by the storage and streams of the device and by whoever dispatches and compiles.
  Counters& counters() noexcept { return counters_; }

 private:
  Counters counters_;
};

}  // namespace alloy::device

// What a machine must offer to run graphs: memory, streams, kernels and an executor of plans. Plain C++. The CPU (cpu/)
// is the first implementation; elsewhere in the framework only facade/metal/devices.mm names one.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "device/fusion_policy.h"
#include "device/kernel.h"
#include "host/work_queue.h"

namespace alloy::device {

class Arena;
class Executor;
struct Plan;

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

  // Copies rows within the device: `count` rows of `row_bytes` bytes from `source` to here. Not a transfer.
  struct Rows {
    size_t offset;    // bytes to the first row
    ptrdiff_t pitch;  // bytes from row to row
  };
  virtual void copy_rows(Rows to, Storage& source, Rows from, size_t row_bytes, size_t count) = 0;

  // Gives `bytes` bytes from `offset` on that value; the range must be inside. Not a transfer.
  virtual void fill(size_t offset, size_t bytes, uint8_t value) = 0;

  // Where the first byte is among the device's addresses: what overlaps there is the same memory.
  virtual uintptr_t address() const noexcept = 0;

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
  virtual host::Status run(ir::Callable work) = 0;

  // Runs `work` later and returns at once; fails as run does.
  virtual host::Status submit(std::function<void()> work) = 0;

  // Returns when all work given so far is done.
  virtual host::Status wait() = 0;
};

// What a device counts; read at any time, exact when its streams are idle.
struct Counters {
  std::atomic<uint64_t> dispatches{0};
  std::atomic<uint64_t> compilations{0};
  std::atomic<uint64_t> bytes_to_device{0};
  std::atomic<uint64_t> bytes_from_device{0};
  std::atomic<uint64_t> allocated_bytes{0};
};

// Lives as long as the process; every member may be called from every thread.
class Device {
 public:
  virtual ~Device() = default;

  // A word for programs, such as "cpu", and a name for people.
  virtual std::string_view kind() const noexcept = 0;
  virtual std::string_view name() const noexcept = 0;

  // ---- memory and order ----

  // Storage of `bytes` bytes with undefined contents; null when memory is short.
  virtual std::shared_ptr<Storage> allocate(size_t bytes) = 0;

  // Storage over `bytes` bytes of the host, wherever they lie; `release` is called when the last user is gone. Null,
  // and `release` is not called, where the device cannot work in the host's memory.
  virtual std::shared_ptr<Storage> adopt(void* host, size_t bytes, std::function<void()> release) = 0;

  // A new idle stream.
  virtual std::unique_ptr<Stream> make_stream() = 0;

  // Bytes of memory the device can use at most.
  virtual uint64_t memory_size() const noexcept = 0;
  // Whether that is the host's, so that adopt() works and the host sees what is allocated.
  virtual bool has_unified_memory() const noexcept = 0;

  // Not ok when work can no longer run here, for example in a forked child.
  virtual host::Status status() const = 0;

  // How many threads compute, from the next run on; false where the device has no such choice. How many there are, or
  // 0.
  virtual bool set_threads(int /*count*/) { return false; }
  virtual int threads() const { return 0; }

  // ---- what computes ----

  // What every place in an arena is a multiple of; a power of two.
  virtual size_t alignment() const noexcept = 0;
  virtual const FusionPolicy& fusion_policy() const noexcept = 0;
  // The device's own passes over a graph of static shapes, before the compiler simplifies and fuses; null where they
  // change nothing.
  virtual std::unique_ptr<ir::Graph> lower(const ir::Graph& graph) const = 0;
  // Whether there is a kernel for an op of float16, bfloat16 or integers of less than 4 bytes, or of uint32, that need
  // not be computed in a wider type.
  virtual bool computes_narrow(const ir::Op& /*op*/) const { return false; }
  // Computes a small op of constants while a graph is compiled, to the bit as a run would: packed operands and result
  // of the host. False where the op shall wait for the run.
  virtual bool fold(const ir::Op& op, const std::byte* const* operands, std::byte* result) const = 0;
  // The kernel of an op whose operands and results are static. Throws ir::Error where there is none.
  virtual std::unique_ptr<Kernel> make_kernel(const ir::Op& op) const = 0;
  // Takes a plan whose kernels are this device's. `arena`: one of the device's.
  virtual std::unique_ptr<Executor> make_executor(Plan plan, std::shared_ptr<Arena> arena) = 0;

  // Counted by the storage and streams of the device, and by the code that dispatches and compiles.
  Counters& counters() noexcept { return counters_; }

 private:
  Counters counters_;
};

}  // namespace alloy::device

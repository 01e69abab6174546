// What a machine must offer to run graphs: memory, streams, kernels and an executor of plans. Plain C++. The CPU (cpu/)
// is the first implementation; elsewhere in the framework only facade/metal/devices.mm names one.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "device/fusion_policy.h"
#include "device/kernel.h"
#include "host/fence.h"
#include "host/work_queue.h"

namespace alloy::device {

class Arena;
class Executor;
struct Plan;

// Who uses a storage: the device alone; also the host, by its address; or the device, while the host copies to it and
// from it, so that a device with memory of its own may keep small ones where both reach them.
enum class StorageMode { kPrivate, kShared, kCopied };

// Memory of a device, which the host may not be able to read. The destructor frees it, or gives it back to its owner.
class Storage {
 public:
  virtual ~Storage() = default;
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  // In bytes.
  size_t size() const noexcept { return size_; }

  // Copies `bytes` bytes at `offset` to the host and counts them as a transfer. The range must be inside.
  virtual void read(size_t offset, void* to, size_t bytes) = 0;

  // Copies `bytes` bytes from the host to `offset` and counts them as a transfer. The range must be inside.
  virtual void write(size_t offset, const void* from, size_t bytes) = 0;

  // Copies rows within the device: `count` rows of `row_bytes` bytes from `source` to here. Not a transfer.
  struct Rows {
    size_t offset;    // bytes to the first row
    ptrdiff_t pitch;  // bytes from row to row
  };
  virtual void copy_rows(Rows to, Storage& source, Rows from, size_t row_bytes, size_t count) = 0;

  // Sets `bytes` bytes at `offset` to `value`. The range must be inside. Not a transfer.
  virtual void fill(size_t offset, size_t bytes, uint8_t value) = 0;

  // The device's address of the first byte. Storages whose address ranges overlap share memory.
  virtual uintptr_t address() const noexcept = 0;

  // The host's address of the first byte; null if the host cannot address the storage, which is never shared then. A
  // run reads what the host has written before it, and the host reads what a run has written once that is over.
  virtual std::byte* host_bytes() noexcept = 0;

 protected:
  explicit Storage(size_t size) noexcept : size_(size) {}

 private:
  size_t size_;
};

// Runs work of a device in order: items on threads of the host, and what these begin on the device. Every member may be
// called from every thread, but those of the device's work only by an item.
class Stream {
 public:
  virtual ~Stream() = default;

  // Runs the item `work` in turn and returns when it is done. If the stream is idle, `work` runs on the calling thread,
  // and nothing is allocated. Fails, without running `work`, after a fork and at the end of the process.
  virtual host::Status run(ir::Callable work) = 0;

  // Runs the item `work` later and returns at once; fails as run does.
  virtual host::Status submit(std::function<void()> work) = 0;

  // The same for work that only begins something on the device: the calling thread may run it if the stream is idle.
  virtual host::Status begin(std::function<void()> work) { return submit(std::move(work)); }

  // The end of all that has begun on the device so far. Null only if the actions given to earlier fences have been
  // called, too, so actions keep their order.
  virtual host::FenceRef fence() { return nullptr; }
  // Lets what begins on the device from now on wait for the fence, which may be another stream's.
  virtual void follow(const host::FenceRef& fence) { host::wait_for(fence); }

  // For how long the threads that serve the stream look for more work before they sleep.
  virtual std::chrono::microseconds awake() const { return {}; }
};

// Counters of a device. They may be read at any time, and are exact when the device's streams are idle.
struct Counters {
  std::atomic<uint64_t> dispatches{0};
  std::atomic<uint64_t> launches{0};  // of kernels or of graphs of kernels; a CPU calls its kernels without
  std::atomic<uint64_t> compilations{0};
  std::atomic<uint64_t> bytes_to_device{0};
  std::atomic<uint64_t> bytes_from_device{0};
  std::atomic<uint64_t> allocated_bytes{0};
};

// Lives as long as the process; every member may be called from every thread.
class Device {
 public:
  virtual ~Device() = default;

  // The kind is a word for programs, such as "cpu"; the name is for people.
  virtual std::string_view kind() const noexcept = 0;
  virtual std::string_view name() const noexcept = 0;
  // Among the devices of its kind.
  virtual size_t number() const noexcept { return 0; }

  // ---- memory and order ----

  // New storage with undefined contents; null if there is not enough memory. Throws std::runtime_error if the device
  // failed, as the storage's members do.
  virtual std::shared_ptr<Storage> allocate(size_t bytes, StorageMode mode = StorageMode::kPrivate) = 0;

  // Storage in memory of the host at any address. `release` is called when the last user is gone. Returns null, without
  // calling `release`, if the device cannot work in the host's memory.
  virtual std::shared_ptr<Storage> adopt(void* host, size_t bytes, std::function<void()> release) = 0;

  // A new stream without work.
  virtual std::unique_ptr<Stream> make_stream() = 0;

  // The most memory that the device can use, in bytes.
  virtual uint64_t memory_size() const noexcept = 0;
  // The most bytes that allocate() lets be in use: memory_size(), or the limit that was set.
  uint64_t most_memory() const noexcept { return std::min(memory_size(), memory_limit_.load()); }
  // What is allocated already stays.
  void set_memory_limit(uint64_t bytes) noexcept { memory_limit_ = bytes; }
  // True if the device's memory is the host's: then adopt() works, and the host can read all storages.
  virtual bool has_unified_memory() const noexcept = 0;

  // Not ok when work can no longer run here, for example in a forked child.
  virtual host::Status status() const = 0;

  // Sets the number of threads from the next run on; false if the device has no such setting. threads() is the number,
  // or 0.
  virtual bool set_threads(int /*count*/) { return false; }
  virtual int threads() const { return 0; }

  // ---- computation ----

  // How many steps of a plan can run at once. With more than one, steps name those that they follow (Step::follows),
  // and as many steps in a row use different memory for what they write.
  virtual size_t lanes() const noexcept { return 1; }
  // A power of two of which each offset in an arena is a multiple.
  virtual size_t alignment() const noexcept = 0;
  // A power of two of which the offset of each array in its storage is a multiple; for a run, others are copied.
  virtual size_t array_alignment() const noexcept { return 1; }
  virtual const FusionPolicy& fusion_policy() const noexcept = 0;
  // Rewrites a graph of static shapes before the compiler simplifies and fuses it; null if nothing changes.
  virtual std::unique_ptr<ir::Graph> lower(const ir::Graph& graph) const = 0;
  // Replaces groups of ops of a simplified graph by ops that the device computes as one, before the compiler fuses
  // others; null if nothing changes.
  virtual std::unique_ptr<ir::Graph> combine(const ir::Graph& /*graph*/) const { return nullptr; }
  // True if the device has a kernel for an op of a type that is otherwise computed in a wider one: float16, bfloat16,
  // uint32, or integers of less than 4 bytes.
  virtual bool computes_narrow(const ir::Op& /*op*/) const { return false; }
  // Computes a small op of constants during compilation, with the same bits as a run. Operands and result are packed
  // arrays in the host's memory. Returns false to leave the op to the run.
  virtual bool fold(const ir::Op& op, const std::byte* const* operands, std::byte* result) const = 0;
  // Makes the kernel of an op whose operands and results have static types; null if the device lacks the op, which the
  // host then computes. Throws ir::Error if nothing can compute it.
  virtual std::unique_ptr<Kernel> make_kernel(const ir::Op& op) const = 0;
  // `plan` has kernels of this device, and `arena` is one of its arenas.
  virtual std::unique_ptr<Executor> make_executor(Plan plan, std::shared_ptr<Arena> arena) = 0;

  // The storage and streams of the device count here, as does the code that dispatches and compiles.
  Counters& counters() noexcept { return counters_; }

 private:
  Counters counters_;
  std::atomic<uint64_t> memory_limit_{UINT64_MAX};
};

}  // namespace alloy::device

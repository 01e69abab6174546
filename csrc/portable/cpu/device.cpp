// The CPU as a device: page-aligned memory and work queues.

#include "cpu/device.h"

#include <sys/mman.h>
#include <unistd.h>

#if __has_include(<malloc.h>)
#include <malloc.h>
#endif

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace alloy::cpu {

namespace {

constexpr size_t kLarge = size_t{32} << 20;
constexpr size_t kPage = 4096, kHugePage = size_t{2} << 20;

class CpuStorage final : public device::Storage {
 public:
  // With `release`, memory of somebody else's, which the device has not allocated.
  CpuStorage(device::Counters& counters, std::byte* bytes, size_t size, std::function<void()> release)
      : device::Storage(size), counters_(counters), bytes_(bytes), release_(std::move(release)) {
    if (!release_) counters_.allocated_bytes.fetch_add(size, std::memory_order_relaxed);
  }

  ~CpuStorage() override {
    if (release_) {
      release_();
    } else {
      counters_.allocated_bytes.fetch_sub(size(), std::memory_order_relaxed);
      std::free(bytes_);
    }
  }

  void read(size_t offset, void* to, size_t bytes) override {
    std::memcpy(to, bytes_ + offset, bytes);
    counters_.bytes_from_device.fetch_add(bytes, std::memory_order_relaxed);
  }

  void write(size_t offset, const void* from, size_t bytes) override {
    std::memcpy(bytes_ + offset, from, bytes);
    counters_.bytes_to_device.fetch_add(bytes, std::memory_order_relaxed);
  }

  std::byte* host_bytes() noexcept override { return bytes_; }

 private:
  device::Counters& counters_;
  std::byte* bytes_;
  std::function<void()> release_;
};

class CpuStream final : public device::Stream {
 public:
  device::Status run(device::Callable work) override { return queue_.run(work); }
  device::Status submit(std::function<void()> work) override { return queue_.submit(std::move(work)); }
  device::Status wait() override { return queue_.wait(); }

 private:
  device::WorkQueue queue_;
};

class CpuDevice final : public device::Device {
 public:
  std::shared_ptr<device::Storage> allocate(size_t bytes) override {
    // An empty array still has an address, and aligned_alloc wants whole multiples of the alignment.
    const bool huge = bytes >= kHugePage;
    const size_t alignment = huge ? kHugePage : kPage;
    const size_t rounded = (std::max<size_t>(bytes, 1) + alignment - 1) / alignment * alignment;
    if (rounded < bytes) return nullptr;
    // Linux would promise more than there is and end the process when it is used.
    if (counters().allocated_bytes.load(std::memory_order_relaxed) + rounded > memory_size()) return nullptr;
#if defined(__GLIBC__)
    // glibc keeps what was freed, initial values of variables for example, and would not take a large block from it.
    if (rounded >= kLarge) malloc_trim(0);
#endif
    void* memory = std::aligned_alloc(alignment, rounded);
    if (!memory) return nullptr;
#if defined(MADV_HUGEPAGE)
    // Fewer translations of addresses: some percent of a large network's step. A system without huge pages says no, and
    // nothing is lost. Not for what was only rounded up.
    if (huge) static_cast<void>(madvise(memory, (bytes + kPage - 1) / kPage * kPage, MADV_HUGEPAGE));
#endif
    return std::make_shared<CpuStorage>(counters(), static_cast<std::byte*>(memory), bytes, nullptr);
  }

  std::shared_ptr<device::Storage> adopt(void* host, size_t bytes, std::function<void()> release) override {
    if (!release) release = [] {};
    return std::make_shared<CpuStorage>(counters(), static_cast<std::byte*>(host), bytes, std::move(release));
  }

  std::unique_ptr<device::Stream> make_stream() override { return std::make_unique<CpuStream>(); }

  uint64_t memory_size() const noexcept override {
    return static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  }

  device::Status status() const override { return device::process_status(); }
};

}  // namespace

device::Device& cpu_device() {
  // Never destroyed: storage may be freed after static objects are gone.
  static CpuDevice& device = *new CpuDevice;
  return device;
}

}  // namespace alloy::cpu

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
#include <vector>

#include "cpu/convolution/convolution.h"
#include "cpu/elementwise/elementwise.h"
#include "cpu/executor.h"
#include "cpu/kernel.h"
#include "cpu/onednn/onednn.h"
#include "cpu/passes/attention.h"
#include "cpu/passes/pointwise.h"
#include "cpu/product/choice.h"
#include "ir/transform/walk.h"

namespace alloy::cpu {

namespace {

constexpr size_t kLarge = size_t{32} << 20;
constexpr size_t kPage = 4096, kHugePage = size_t{2} << 20;

class CpuStorage final : public device::Storage {
 public:
  // If `release` is not null, the memory has another owner.
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

  void copy_rows(Rows to, Storage& source, Rows from, size_t row_bytes, size_t count) override {
    const std::byte* const bytes = static_cast<CpuStorage&>(source).bytes_;
    std::byte* written = bytes_ + to.offset;
    const std::byte* read = bytes + from.offset;
    for (size_t i = 0; i < count; ++i, written += to.pitch, read += from.pitch) {
      std::memcpy(written, read, row_bytes);
    }
  }

  void fill(size_t offset, size_t bytes, uint8_t value) override { std::memset(bytes_ + offset, value, bytes); }

  uintptr_t address() const noexcept override { return reinterpret_cast<uintptr_t>(bytes_); }

  std::byte* host_bytes() noexcept override { return bytes_; }

 private:
  device::Counters& counters_;
  std::byte* bytes_;
  std::function<void()> release_;
};

class CpuStream final : public device::Stream {
 public:
  host::Status run(ir::Callable work) override { return queue_.run(work); }
  host::Status submit(std::function<void()> work) override { return queue_.submit(std::move(work)); }

 private:
  host::WorkQueue queue_;
};

// Joined ops are computed tile by tile, in the first-level cache.
class CpuFusionPolicy final : public device::FusionPolicy {
 public:
  bool joins(const ir::Op& op) const override { return Elementwise::accepts(op); }
  bool folds(const ir::Op& reduction) const override { return Elementwise::folds(reduction); }
  bool takes_rows(const ir::Shape& shape) const override { return Elementwise::takes_rows(shape); }
  // Two buffers are kept back: one for a truth value, one to spare.
  size_t most_values() const override { return Elementwise::kMostBuffers - 2; }
  bool leads(const ir::Op& op) const override {
    const auto product = op.code == ir::OpCode::matmul ? OuterProducts::of(op) : std::nullopt;
    return product && packed_product_pays(*product);
  }
};

class CpuDevice final : public device::Device {
 public:
  std::string_view kind() const noexcept override { return "cpu"; }
  std::string_view name() const noexcept override { return "Alloy CPU"; }

  std::shared_ptr<device::Storage> allocate(size_t bytes, device::StorageMode mode) override {
    // An empty array needs an address too, and aligned_alloc needs a multiple of the alignment.
    const bool huge = bytes >= kHugePage;
    // Users may expect that shared memory begins with a page. Arrays that all do would take the same lines of the
    // cache.
    const size_t alignment = huge ? kHugePage : mode == device::StorageMode::kShared ? kPage : kCacheLine;
    const size_t rounded = (std::max<size_t>(bytes, 1) + alignment - 1) / alignment * alignment;
    if (rounded < bytes) return nullptr;
    // Linux may promise more memory than there is, and kill the process that uses it.
    if (counters().allocated_bytes.load(std::memory_order_relaxed) + rounded > most_memory()) return nullptr;
#if defined(__GLIBC__)
    // glibc keeps freed memory (initial values of variables, for example) and would not use it for a large block.
    if (rounded >= kLarge) malloc_trim(0);
#endif
    void* memory = std::aligned_alloc(alignment, rounded);
    if (!memory) return nullptr;
#if defined(MADV_HUGEPAGE)
    // Huge pages need fewer address translations, which saves some percent of a large network's step. A system without
    // them refuses, which does no harm. Not for a size that was only rounded up.
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

  bool has_unified_memory() const noexcept override { return true; }

  host::Status status() const override { return host::process_status(); }

  bool set_threads(int count) override {
    set_kernel_threads(count);
    return true;
  }

  int threads() const override { return kernel_threads(); }

  size_t alignment() const noexcept override { return kCacheLine; }

  const device::FusionPolicy& fusion_policy() const noexcept override { return fusion_policy_; }

  std::unique_ptr<ir::Graph> lower(const ir::Graph& graph) const override {
    return ir::has_op(graph, is_convolution) ? lower_convolutions(graph) : nullptr;
  }

  std::unique_ptr<ir::Graph> combine(const ir::Graph& graph) const override {
    const bool may_attend = ir::has_op(graph, [](const ir::Op& op) { return op.code == ir::OpCode::softmax; });
    return may_attend ? find_attention(graph) : nullptr;
  }

  bool computes_narrow(const ir::Op& op) const override {
    if (!op.info().facts.products || !onednn_multiplies(op.operands[0].dtype())) return false;
    return !is_convolution(op) || convolves_halves(op);
  }

  bool fold(const ir::Op& op, const std::byte* const* operands, std::byte* result) const override {
    const Team team;
    const std::unique_ptr<Kernel> kernel = cpu::make_kernel(op);
    std::vector<std::byte> scratch(kernel->scratch_bytes() + kCacheLine);
    const auto behind_line = reinterpret_cast<uintptr_t>(scratch.data()) % kCacheLine;
    const FlushDenormals mode;
    kernel->run(operands, &result, scratch.data() + (kCacheLine - behind_line) % kCacheLine);
    return true;
  }

  std::unique_ptr<device::Kernel> make_kernel(const ir::Op& op) const override {
    const Team team;
    return cpu::make_kernel(op);
  }

  std::unique_ptr<device::Executor> make_executor(device::Plan plan, std::shared_ptr<device::Arena> arena) override {
    return std::make_unique<Executor>(std::move(plan), std::move(arena));
  }

 private:
  static constexpr size_t kCacheLine = 64;

  const CpuFusionPolicy fusion_policy_;
};

}  // namespace

device::Device& cpu_device() {
  // Never destroyed: storage may be freed after static objects are destroyed.
  static CpuDevice& device = *new CpuDevice;
  return device;
}

}  // namespace alloy::cpu

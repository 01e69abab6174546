#include "cuda/storage.h"

#include <algorithm>
#include <cstring>

namespace alloy::cuda {
namespace {

// Memory of the GPU.
class CudaStorage : public device::Storage {
 public:
  CudaStorage(device::Counters& counters, Memory& memory, CopyStream& copies, const Block& block, size_t size)
      : device::Storage(size), counters_(counters), copies_(copies), block_(block), memory_(memory) {
    counters_.allocated_bytes += size;
  }
  ~CudaStorage() override {
    counters_.allocated_bytes -= size();
    memory_.give_back(block_);
  }

  void read(size_t offset, void* to, size_t bytes) override {
    copies_.read(to, address() + offset, bytes);
    counters_.bytes_from_device += bytes;
  }
  void write(size_t offset, const void* from, size_t bytes) override {
    copies_.write(address() + offset, from, bytes);
    counters_.bytes_to_device += bytes;
  }

  void copy_rows(Rows to, Storage& source, Rows from, size_t row_bytes, size_t count) override {
    const CUdeviceptr written = address() + to.offset, read = source.address() + from.offset;
    const auto row = static_cast<ptrdiff_t>(row_bytes);
    const bool is_packed = count == 1 || (to.pitch == row && from.pitch == row);
    const auto is_legal = [&](ptrdiff_t pitch) { return pitch >= row && pitch <= INT32_MAX; };
    copies_.run([&](const Driver& driver, CUstream stream) {
      if (is_packed) {
        driver.check(driver.copy(written, read, row_bytes * count, stream), "cuMemcpyDtoDAsync");
      } else if (is_legal(to.pitch) && is_legal(from.pitch)) {
        CUDA_MEMCPY2D rows;
        rows.srcDevice = read;
        rows.srcPitch = static_cast<size_t>(from.pitch);
        rows.dstDevice = written;
        rows.dstPitch = static_cast<size_t>(to.pitch);
        rows.WidthInBytes = row_bytes;
        rows.Height = count;
        driver.check(driver.copy_rows(&rows, stream), "cuMemcpy2DAsync");
      } else {
        for (ptrdiff_t i = 0; i < static_cast<ptrdiff_t>(count); ++i) {
          driver.check(driver.copy(written + i * to.pitch, read + i * from.pitch, row_bytes, stream),
                       "cuMemcpyDtoDAsync");
        }
      }
    });
  }

  void fill(size_t offset, size_t bytes, uint8_t value) override {
    copies_.run([&](const Driver& driver, CUstream stream) {
      driver.check(driver.fill(address() + offset, value, bytes, stream), "cuMemsetD8Async");
    });
  }

  uintptr_t address() const noexcept override { return block_.address; }
  std::byte* host_bytes() noexcept override { return block_.host; }

 protected:
  device::Counters& counters_;
  CopyStream& copies_;
  const Block block_;

 private:
  Memory& memory_;
};

// Memory of the host, which copies to it and from it by itself.
class SharedStorage final : public CudaStorage {
 public:
  using CudaStorage::CudaStorage;

  void read(size_t offset, void* to, size_t bytes) override {
    std::memcpy(to, block_.host + offset, bytes);
    counters_.bytes_from_device += bytes;
  }
  void write(size_t offset, const void* from, size_t bytes) override {
    std::memcpy(block_.host + offset, from, bytes);
    counters_.bytes_to_device += bytes;
  }
};

}  // namespace

std::shared_ptr<device::Storage> allocate(device::Counters& counters, Memory& memory, CopyStream& copies, size_t bytes,
                                          device::StorageMode mode) {
  if (!host::process_status().ok()) return nullptr;
  const bool is_private =
      mode == device::StorageMode::kPrivate || (mode == device::StorageMode::kCopied && bytes > kFewBytes);
  const std::optional<Block> block = memory.take(bytes, !is_private);
  if (!block) return nullptr;
  if (is_private) return std::make_shared<CudaStorage>(counters, memory, copies, *block, bytes);
  return std::make_shared<SharedStorage>(counters, memory, copies, *block, bytes);
}

}  // namespace alloy::cuda

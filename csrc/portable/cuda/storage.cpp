#include "cuda/storage.h"

#include <algorithm>
#include <cstring>

namespace alloy::cuda {
namespace {

class CudaStorage : public device::Storage {
 public:
  CudaStorage(device::Counters& counters, const CopyStream& copies, CUdeviceptr address, size_t size)
      : device::Storage(size), counters_(counters), copies_(copies), address_(address) {
    counters_.allocated_bytes += size;
  }
  // An error cannot be reported, and at the end of the process the driver has freed everything.
  ~CudaStorage() override { counters_.allocated_bytes -= size(); }

  void read(size_t offset, void* to, size_t bytes) override {
    copies_.run([&](const Driver& driver, CUstream stream) {
      driver.check(driver.copy_to_host(to, address_ + offset, bytes, stream), "cuMemcpyDtoHAsync");
    });
    counters_.bytes_from_device += bytes;
  }

  void write(size_t offset, const void* from, size_t bytes) override {
    copies_.run([&](const Driver& driver, CUstream stream) {
      driver.check(driver.copy_from_host(address_ + offset, from, bytes, stream), "cuMemcpyHtoDAsync");
    });
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
      driver.check(driver.fill(address_ + offset, value, bytes, stream), "cuMemsetD8Async");
    });
  }

  uintptr_t address() const noexcept override { return address_; }
  std::byte* host_bytes() noexcept override { return nullptr; }

 protected:
  device::Counters& counters_;
  const CopyStream& copies_;

 private:
  const CUdeviceptr address_;
};

class PrivateStorage final : public CudaStorage {
 public:
  using CudaStorage::CudaStorage;
  ~PrivateStorage() override {
    try {
      static_cast<void>(copies_.context().enter().free(address()));
    } catch (const std::exception&) {
    }
  }
};

class SharedStorage final : public CudaStorage {
 public:
  SharedStorage(device::Counters& counters, const CopyStream& copies, CUdeviceptr address, size_t size, std::byte* host)
      : CudaStorage(counters, copies, address, size), host_(host) {}
  ~SharedStorage() override {
    try {
      static_cast<void>(copies_.context().enter().host_free(host_));
    } catch (const std::exception&) {
    }
  }

  void read(size_t offset, void* to, size_t bytes) override {
    std::memcpy(to, host_ + offset, bytes);
    counters_.bytes_from_device += bytes;
  }
  void write(size_t offset, const void* from, size_t bytes) override {
    std::memcpy(host_ + offset, from, bytes);
    counters_.bytes_to_device += bytes;
  }
  std::byte* host_bytes() noexcept override { return host_; }

 private:
  std::byte* const host_;
};

}  // namespace

std::shared_ptr<device::Storage> allocate(device::Counters& counters, const CopyStream& copies, size_t bytes,
                                          device::StorageMode mode) {
  if (!host::process_status().ok()) return nullptr;
  const Driver& driver = copies.context().enter();
  // An empty array needs an address, too.
  const size_t taken = std::max<size_t>(bytes, 1);
  CUdeviceptr address = 0;
  if (mode == device::StorageMode::kPrivate || (mode == device::StorageMode::kCopied && bytes > kFewBytes)) {
    if (driver.allocate(&address, taken) != 0) return nullptr;
    return std::make_shared<PrivateStorage>(counters, copies, address, bytes);
  }
  void* host = nullptr;
  if (driver.host_allocate(&host, taken, kPortable | kMapped) != 0) return nullptr;
  if (driver.host_address(&address, host, 0) != 0) {
    static_cast<void>(driver.host_free(host));
    return nullptr;
  }
  return std::make_shared<SharedStorage>(counters, copies, address, bytes, static_cast<std::byte*>(host));
}

}  // namespace alloy::cuda

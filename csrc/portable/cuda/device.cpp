// NVIDIA's GPUs, found when a program first asks for a device.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cuda/codegen/leader.h"
#include "cuda/codegen/writer.h"
#include "cuda/driver.h"
#include "cuda/executor.h"
#include "cuda/kernel.h"
#include "cuda/modules.h"
#include "cuda/storage.h"
#include "cuda/stream.h"
#include "device/added_devices.h"
#include "host/work_queue.h"
#include "ir/transform/rewrite.h"

namespace alloy::cuda {
namespace {

// The oldest architecture that the generated code needs, as 10 * major + minor: that of the A100.
constexpr int kOldestArchitecture = 80;

// As 10 * major + minor.
int architecture_of(const Driver& driver, CUdevice device) {
  int major = 0, minor = 0;
  driver.check(driver.device_attribute(&major, kMajor, device), "cuDeviceGetAttribute");
  driver.check(driver.device_attribute(&minor, kMinor, device), "cuDeviceGetAttribute");
  return 10 * major + minor;
}

// Joins elementwise ops: each thread computes an element of all of them, without memory in between. With reductions of
// rows, a block computes a row. With a product or another op that leads, the thread that has an element of it goes on
// with that.
class CudaFusionPolicy final : public device::FusionPolicy {
 public:
  bool joins(const ir::Op& op) const override {
    return op.info().facts.elementwise || op.code == ir::OpCode::sgd || op.code == ir::OpCode::adam;
  }
  bool folds(const ir::Op& op) const override { return cuda::folds(op); }
  bool takes_rows(const ir::Shape& shape) const override { return cuda::takes_rows(shape); }
  size_t most_values() const override { return 64; }
  // Launching a kernel takes longer than computing a number.
  bool joins_strangers(const ir::Shape& shape) const override { return shape.element_count() == 1; }
  bool leads(const ir::Op& op) const override { return cuda::leads(op); }
  bool writes_leaders() const override { return true; }
  bool gathers(const ir::Op& op) const override { return cuda::gathers(op); }
};

class CudaDevice final : public device::Device {
 public:
  CudaDevice(const Driver& driver, CUdevice device, size_t number)
      : number_(number),
        context_(driver, device),
        memory_(context_),
        copies_(context_),
        modules_(context_, architecture_of(driver, device)) {
    char name[256] = {};
    driver.check(driver.device_name(name, sizeof name, device), "cuDeviceGetName");
    name_ = name;
    if (number > 0) name_ += " (" + std::to_string(number) + ")";  // often all GPUs are of one model
    driver.check(driver.device_memory(&memory_size_, device), "cuDeviceTotalMem");
  }

  std::string_view kind() const noexcept override { return "cuda"; }
  std::string_view name() const noexcept override { return name_; }
  size_t number() const noexcept override { return number_; }

  std::shared_ptr<device::Storage> allocate(size_t bytes, device::StorageMode mode) override {
    if (counters().allocated_bytes + bytes > most_memory()) return nullptr;
    return cuda::allocate(counters(), memory_, copies_, bytes, mode);
  }
  std::shared_ptr<device::Storage> adopt(void*, size_t, std::function<void()>) override { return nullptr; }
  std::unique_ptr<device::Stream> make_stream() override { return std::make_unique<Stream>(context_); }
  uint64_t memory_size() const noexcept override { return memory_size_; }
  bool has_unified_memory() const noexcept override { return false; }
  host::Status status() const override { return host::process_status(); }

  // Steps that run side by side, in kernels of their own or between two barriers of a merged one.
  size_t lanes() const noexcept override { return 16; }
  size_t alignment() const noexcept override { return kAlignment; }
  size_t array_alignment() const noexcept override { return 16; }  // the most that a thread reads at once
  const device::FusionPolicy& fusion_policy() const noexcept override { return policy_; }
  std::unique_ptr<ir::Graph> lower(const ir::Graph&) const override { return nullptr; }
  // Floats of two bytes are converted when they are read and when they are written; tensor cores multiply them.
  bool computes_narrow(const ir::Op& op) const override {
    return (op.info().facts.elementwise || op.info().facts.products) &&
           ir::kind(op.operands.back().dtype()) == ir::DTypeKind::kFloating;
  }
  // The host's processor has the same bits, except of functions of floats and of sums in another order. It computes
  // with no floats of two bytes.
  bool fold(const ir::Op& op, const std::byte* const* operands, std::byte* result) const override {
    const auto is_narrow = [](ir::DType dtype) {
      return ir::kind(dtype) == ir::DTypeKind::kFloating && dtype != ir::DType::float32;
    };
    if (is_narrow(op.results[0].dtype)) return false;
    for (const ir::Value& v : op.operands) {
      if (is_narrow(v.dtype())) return false;
    }
    const bool is_exact = op.info().facts.elementwise && op.info().types != ir::TypeClass::floating;
    const bool moves = op.info().facts.renames || op.code == ir::OpCode::broadcast_to;
    return ((is_exact && op.code != ir::OpCode::power) || moves) && device::host_device().fold(op, operands, result);
  }
  std::unique_ptr<device::Kernel> make_kernel(const ir::Op& op) const override {
    try {
      return std::make_unique<Kernel>(op);
    } catch (const Lacking&) {
      return nullptr;
    }
  }
  std::unique_ptr<device::Executor> make_executor(device::Plan plan, std::shared_ptr<device::Arena> arena) override {
    return std::make_unique<Executor>(context_, copies_, modules_, *this, std::move(plan), std::move(arena));
  }

 private:
  const CudaFusionPolicy policy_;
  const size_t number_;
  const Context context_;
  Memory memory_;
  CopyStream copies_;
  Modules modules_;
  std::string name_;
  size_t memory_size_ = 0;
};

// The device that the user wants as the default one, "cuda" or such as "cuda:1"; empty if that is the CPU.
std::string_view wanted_device() {
  const char* const text = std::getenv("ALLOY_DEVICE");
  const std::string_view wanted = text == nullptr ? "" : text;
  return wanted == "cuda" || wanted.starts_with("cuda:") ? wanted : "";
}

// The wanted GPU is the first one. Devices older than the oldest architecture are left out.
std::vector<device::Device*> find() {
  const std::string_view wanted = wanted_device();
  try {
    static const Driver& driver = *new Driver;
    int count = 0;
    driver.check(driver.device_count(&count), "cuDeviceGetCount");
    std::vector<device::Device*> devices;
    for (int i = 0; i < count; ++i) {
      CUdevice device = 0;
      driver.check(driver.device_get(&device, i), "cuDeviceGet");
      if (architecture_of(driver, device) < kOldestArchitecture) continue;
      devices.push_back(new CudaDevice(driver, device, static_cast<size_t>(i)));
    }
    if (wanted.empty()) return devices;
    const auto first = std::find_if(devices.begin(), devices.end(), [&](const device::Device* one) {
      return wanted == "cuda" || wanted == "cuda:" + std::to_string(one->number());
    });
    if (first == devices.end()) {
      throw std::runtime_error(devices.empty() ? "There is no GPU of compute capability 8.0 or later."
                                               : "No GPU of compute capability 8.0 or later has this number.");
    }
    std::rotate(devices.begin(), first, first + 1);
    return devices;
  } catch (const std::exception& error) {
    if (!wanted.empty()) {
      std::fprintf(stderr, "ALLOY_DEVICE is %s, but there is no such device: %s\n", wanted.data(), error.what());
    }
    return {};
  }
}

[[gnu::constructor]] void add() {
  device::add_devices(wanted_device().empty() ? device::Rank::kBehindCpu : device::Rank::kAccelerator, find);
}

}  // namespace
}  // namespace alloy::cuda

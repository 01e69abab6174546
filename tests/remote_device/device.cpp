// A device for the tests that is as different from the CPU as possible. The host can read its memory only where that is
// shared. Runs begin and end on threads of its own, later than requested, and in an order of its own. It fuses and
// folds nothing. It rounds operands of products where it may. It lacks the ops in ALLOY_REMOTE_LACKS, separated by
// commas. If ALLOY_REMOTE_TELLS is set, it says when it is looked for. A second build of the framework has it as its
// default device (tests/CMakeLists.txt).
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <semaphore>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "device/added_devices.h"
#include "device/arena.h"
#include "device/executor.h"
#include "fence.h"
#include "host/work_queue.h"
#include "ir/transform/rewrite.h"
#include "kernel.h"

namespace alloy::remote {
namespace {

using device::Place;
using device::Step;

// Differs from the CPU's, so that a plan shows which device was asked.
constexpr size_t kAlignment = 128;

constexpr size_t kScratchBytes = 200;

// Copies on a thread of the device and returns when that is done. A copy waits for no run, which may never end. If the
// thread cannot be asked any more, in a forked child or at the end of the process, the caller copies.
void copy_there(const std::function<void()>& copy) {
  static host::WorkQueue& queue = *new host::WorkQueue;
  std::binary_semaphore done(0);
  const host::Status status = queue.submit([&] {
    copy();
    done.release();
  });
  if (status.ok()) done.acquire();
  else copy();
}

// Makes an address that is no pointer of the host.
uintptr_t take_addresses(size_t bytes) {
  static std::atomic<uintptr_t> next{uintptr_t{1} << 52};
  return next.fetch_add((bytes + kAlignment) / kAlignment * kAlignment);
}

class RemoteStorage final : public device::Storage {
 public:
  RemoteStorage(device::Counters& counters, size_t size, device::StorageMode mode)
      : device::Storage(size),
        counters_(counters),
        mode_(mode),
        bytes_(new std::byte[size]),
        address_(take_addresses(size)) {
    counters_.allocated_bytes += size;
  }
  ~RemoteStorage() override { counters_.allocated_bytes -= size(); }

  void read(size_t offset, void* to, size_t bytes) override {
    copy_there([&] { std::memcpy(to, bytes_.get() + offset, bytes); });
    counters_.bytes_from_device += bytes;
  }
  void write(size_t offset, const void* from, size_t bytes) override {
    copy_there([&] { std::memcpy(bytes_.get() + offset, from, bytes); });
    counters_.bytes_to_device += bytes;
  }
  void copy_rows(Rows to, Storage& source, Rows from, size_t row_bytes, size_t count) override {
    const std::byte* const bytes = static_cast<RemoteStorage&>(source).remote_bytes();
    copy_there([&] {
      std::byte* written = bytes_.get() + to.offset;
      const std::byte* read = bytes + from.offset;
      for (size_t i = 0; i < count; ++i, written += to.pitch, read += from.pitch) {
        std::memcpy(written, read, row_bytes);
      }
    });
  }
  void fill(size_t offset, size_t bytes, uint8_t value) override {
    copy_there([&] { std::memset(bytes_.get() + offset, value, bytes); });
  }
  uintptr_t address() const noexcept override { return address_; }
  std::byte* host_bytes() noexcept override { return mode_ == device::StorageMode::kShared ? bytes_.get() : nullptr; }

  // Used only by the device.
  std::byte* remote_bytes() { return bytes_.get(); }

 private:
  device::Counters& counters_;
  const device::StorageMode mode_;
  const std::unique_ptr<std::byte[]> bytes_;
  const uintptr_t address_;
};

std::byte* bytes_of(device::Storage& storage) { return static_cast<RemoteStorage&>(storage).remote_bytes(); }

// Items that may wait never run on the caller's thread, even if the queue is idle. What items begin has a thread of its
// own.
class RemoteStream final : public device::Stream {
 public:
  host::Status run(ir::Callable work) override {
    std::binary_semaphore done(0);
    const host::Status status = queue_.submit([&] {
      work();
      done.release();
    });
    if (status.ok()) done.acquire();
    return status;
  }
  host::Status submit(std::function<void()> work) override { return queue_.submit(std::move(work)); }
  host::Status begin(std::function<void()> work) override {
    return queue_.run_if_idle(work) ? host::Status() : submit(std::move(work));
  }

  host::FenceRef fence() override {
    std::lock_guard lock(mutex_);
    return last_ && !last_->is_over() ? last_ : nullptr;
  }
  void follow(const host::FenceRef& fence) override {
    if (fence && !fence->is_over() && fence != this->fence()) start([fence] { fence->wait(); });
  }
  // Throws std::runtime_error at the end of the process.
  void start(std::function<void()> work) {
    auto end = std::make_shared<ManualFence>();
    const host::Status status = begun_.submit([work = std::move(work), end]() mutable {
      std::this_thread::sleep_for(std::chrono::microseconds(50));  // later than the caller might think
      work();
      work = nullptr;  // gives memory back before anybody learns that the run is over
      end->reach();
    });
    if (!status.ok()) throw std::runtime_error(status.message);
    std::lock_guard lock(mutex_);
    last_ = std::move(end);
  }

 private:
  host::WorkQueue queue_, begun_;
  std::mutex mutex_;
  host::FenceRef last_;
};

class RemoteKernel final : public device::Kernel {
 public:
  explicit RemoteKernel(Computation computation) : computation_(std::move(computation)) {}
  size_t scratch_bytes() const override { return kScratchBytes; }
  // Leaves nothing of what was in the scratch.
  void run(const std::byte* const* operands, std::byte* const* results, std::byte* scratch) const {
    std::memset(scratch, 0xa5, kScratchBytes);
    computation_(operands, results);
    std::memset(scratch, 0x5a, kScratchBytes);
  }

 private:
  const Computation computation_;
};

// Puts steps in an order that only edges restrict: next is always the last step of those that may begin.
void reorder(std::vector<Step>& steps) {
  std::vector<Step> reordered;
  std::vector<bool> has_run(steps.size());
  while (reordered.size() < steps.size()) {
    size_t next = steps.size() - 1;
    const auto may_begin = [&] {
      const std::vector<size_t>& follows = steps[next].follows;
      return !has_run[next] && std::all_of(follows.begin(), follows.end(), [&](size_t i) { return has_run[i]; });
    };
    while (!may_begin()) --next;
    has_run[next] = true;
    for (std::vector<Step>& region : steps[next].regions) reorder(region);
    reordered.push_back(std::move(steps[next]));
  }
  steps = std::move(reordered);
}

using Times = std::map<const Step*, device::StepTime>;

// A run of a plan, which looks up every place when it is needed.
struct Run {
  const device::Plan& plan;
  Times* const times;  // null without profiling
  const std::vector<device::ArrayMemory> feeds, results;
  const std::vector<std::shared_ptr<device::Storage>> variables;
  const device::Interruption interruption;
  const std::shared_ptr<device::Storage> arena;
  const std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
  bool has_written = false;  // a variable

  int64_t now() const { return std::chrono::nanoseconds(std::chrono::steady_clock::now() - start).count(); }

  void execute(const std::vector<Step>& steps) {
    for (const Step& step : steps) {
      const int64_t begin = now();
      switch (step.kind) {
        case Step::Kind::kCall:
          static_cast<const RemoteKernel&>(*step.kernel)
              .run(all_at(step.operands).data(), all_at(step.results).data(), bytes_of(*arena) + step.scratch);
          break;
        case Step::Kind::kHostCall: compute_on_host(step); break;
        case Step::Kind::kCopy: std::memcpy(at(step.results[0]), at(step.operands[0]), step.bytes); break;
        case Step::Kind::kIf: execute(step.regions[is_true(step) ? 0 : 1]); break;
        case Step::Kind::kLoop:
          for (execute(step.regions[0]); is_true(step); execute(step.regions[0])) {
            execute(step.regions[1]);
            if (host::runs_shall_end() || interruption.requested()) throw device::Interrupted(has_written);
          }
      }
      if (times != nullptr) (*times)[&step] = {begin, now(), (*times)[&step].total + now() - begin};
      has_written |= device::writes_variable(step);
    }
  }

  void compute_on_host(const Step& step) const {
    auto& kernel = static_cast<device::HostKernel&>(*step.kernel);
    for (size_t i = 0; i < step.operands.size(); ++i) {
      if (const std::byte* const bytes = at(step.operands[i])) {
        std::memcpy(kernel.operand(i), bytes, step.op->operands[i].type().byte_count());
      }
    }
    kernel.compute();
    for (size_t i = 0; i < step.results.size(); ++i) {
      if (std::byte* const bytes = at(step.results[i])) {
        std::memcpy(bytes, kernel.result(i), step.op->results[i].byte_count());
      }
    }
  }

  bool is_true(const Step& step) const {
    const std::byte* const bytes = at(step.operands[0]);
    return std::any_of(bytes, bytes + step.bytes, [](std::byte b) { return b != std::byte{0}; });
  }

  std::vector<std::byte*> all_at(const std::vector<Place>& places) const {
    std::vector<std::byte*> all;
    for (const Place& place : places) all.push_back(at(place));
    return all;
  }

  std::byte* at(const Place& place) const {
    const auto array = [&](const device::ArrayMemory& memory) {
      return bytes_of(*memory.storage) + memory.layout.offset;
    };
    switch (place.kind) {
      case Place::Kind::kNowhere: return nullptr;
      case Place::Kind::kFeed: return array(feeds[place.index]);
      case Place::Kind::kResult: return array(results[place.index]);
      case Place::Kind::kVariable: return bytes_of(*variables[plan.variables[place.index]]);
      case Place::Kind::kConstant: return const_cast<std::byte*>(plan.constants[place.index].data());
      case Place::Kind::kArena: return bytes_of(*arena) + place.index;
    }
    std::abort();
  }
};

class RemoteExecutor final : public device::Executor {
 public:
  RemoteExecutor(device::Plan plan, std::shared_ptr<device::Arena> arena)
      : plan_(std::move(plan)), arena_(std::move(arena), plan_.arena_bytes) {
    reorder(plan_.steps);
  }

  const device::Plan& plan() const override { return plan_; }

  bool run(const device::Arguments& arguments, device::Stream& stream, device::Outcome& outcome) override {
    const device::ArenaShare::Use use = arena_.use(stream);
    const auto copy = [](const auto& span) { return std::vector(span.begin(), span.end()); };
    Run begun{plan_,
              is_profiling_ ? &times_ : nullptr,
              copy(arguments.feeds),
              copy(arguments.results),
              copy(arguments.variables),
              arguments.interruption,
              use.storage()};
    static_cast<RemoteStream&>(stream).start([&outcome, run = std::move(begun)]() mutable {
      if (!outcome.ok()) return;
      try {
        run.execute(run.plan.steps);
      } catch (const std::exception& error) {
        outcome.fail({error.what()});
      }
    });
    return true;
  }

  bool returns_at_once() const override { return true; }
  void set_profiling(bool on) override {
    is_profiling_ = on;
    times_.clear();
  }
  std::vector<device::StepTime> times() const override {
    std::vector<device::StepTime> times;
    if (!is_profiling_) return times;
    device::for_each_action(plan_.steps, [&](const Step& step) {
      const auto known = times_.find(&step);
      times.push_back(known == times_.end() ? device::StepTime() : known->second);
    });
    return times;
  }

 private:
  device::Plan plan_;
  device::ArenaShare arena_;
  bool is_profiling_ = false;
  Times times_;
};

// True if ALLOY_REMOTE_LACKS names the op, or says "all".
bool is_lacking(const ir::Op& op) {
  const char* const text = std::getenv("ALLOY_REMOTE_LACKS");
  std::istringstream words(text == nullptr ? "" : text);
  for (std::string word; std::getline(words, word, ',');) {
    if (word == op.info().name || word == "all") return true;
  }
  return false;
}

class RemoteDevice final : public device::Device {
 public:
  std::string_view kind() const noexcept override { return "remote"; }
  std::string_view name() const noexcept override { return "Remote test device"; }

  std::shared_ptr<device::Storage> allocate(size_t bytes, device::StorageMode mode) override {
    if (counters().allocated_bytes + bytes > most_memory()) return nullptr;
    return std::make_shared<RemoteStorage>(counters(), bytes, mode);
  }
  std::shared_ptr<device::Storage> adopt(void*, size_t, std::function<void()>) override { return nullptr; }
  std::unique_ptr<device::Stream> make_stream() override { return std::make_unique<RemoteStream>(); }
  uint64_t memory_size() const noexcept override {
    return static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  }
  bool has_unified_memory() const noexcept override { return false; }
  host::Status status() const override { return host::process_status(); }

  size_t alignment() const noexcept override { return kAlignment; }
  size_t lanes() const noexcept override { return 3; }
  const device::FusionPolicy& fusion_policy() const noexcept override { return fuses_nothing_; }
  std::unique_ptr<ir::Graph> lower(const ir::Graph& graph) const override {
    return ir::Rewriter([](ir::Rewriter&, const ir::Op&, const std::vector<ir::Value>&) { return ir::Replacement(); })
        .run(graph);
  }
  bool fold(const ir::Op&, const std::byte* const*, std::byte*) const override { return false; }
  std::unique_ptr<device::Kernel> make_kernel(const ir::Op& op) const override {
    Computation computation = is_lacking(op) ? nullptr : computation_of(op);
    if (!computation) return nullptr;
    return std::make_unique<RemoteKernel>(std::move(computation));
  }
  std::unique_ptr<device::Executor> make_executor(device::Plan plan, std::shared_ptr<device::Arena> arena) override {
    return std::make_unique<RemoteExecutor>(std::move(plan), std::move(arena));
  }

 private:
  const device::FusionPolicy fuses_nothing_;
};

std::vector<device::Device*> find() {
  if (std::getenv("ALLOY_REMOTE_TELLS") != nullptr) std::fputs("The remote test device is looked for.\n", stderr);
  return {new RemoteDevice};
}

[[gnu::constructor]] void add() { device::add_devices(device::Rank::kAccelerator, find); }

}  // namespace
}  // namespace alloy::remote

// Runs a plan on a GPU: as one launch of a graph of the driver, or launch by launch where the host takes part.
#pragma once

#include <array>
#include <deque>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "cuda/codegen/copies.h"
#include "cuda/copy_stream.h"
#include "cuda/driver.h"
#include "cuda/kernel.h"
#include "cuda/launch_graph.h"
#include "cuda/modules.h"
#include "cuda/stream.h"
#include "device/arena.h"
#include "device/executor.h"

namespace alloy::cuda {

class Executor final : public device::Executor {
 public:
  // Compiles the plan's functions. Throws std::runtime_error or std::bad_alloc.
  Executor(const Context& context, CopyStream& copies, Modules& modules, device::Device& device, device::Plan plan,
           std::shared_ptr<device::Arena> arena);
  ~Executor() override;

  const device::Plan& plan() const override { return plan_; }
  bool run(const device::Arguments& arguments, device::Stream& stream, device::Outcome& outcome) override;
  bool returns_at_once() const override { return is_flat_ && times_.empty(); }
  void set_profiling(bool on) override;
  std::vector<device::StepTime> times() const override { return times_; }

 private:
  // What an address of a launch is counted from. Feeds and results in the host's memory are copied, before and behind
  // the steps, to and from memory of the GPU: kFeed and kResult are what the steps use, kGivenFeed and kGivenResult the
  // run's arrays, and the bytes to copy are numbers beside them, as are those that the run before does not write.
  enum class Base : uint8_t {
    kZero,
    kArena,
    kFeed,
    kResult,
    kVariable,
    kGivenFeed,
    kGivenResult,
    kFeedBytes,
    kEarlyBytes,
    kResultBytes,
    kTimeline
  };
  static constexpr size_t kBases = 11;
  struct Address {
    Base base = Base::kZero;
    size_t index = 0;
    uint64_t offset = 0;
  };

  // A launch, with the addresses and numbers that its function gets.
  struct Prepared {
    const Launch* launch;
    std::vector<Address> addresses;
    PreparedLaunch made;
  };

  // A feed or result that steps use. If it is in the host's memory, it is copied to a place in the arena if it is
  // small, else to memory of its own.
  struct Exchanged {
    size_t bytes = 0;
    std::optional<size_t> in_arena = {};
    std::shared_ptr<device::Storage> copy = {};
  };

  struct Run;
  class Merging;

  // Adds room for small feeds and results to the arena, and the counters of the steps, as zeros, to the constants.
  static device::Plan with_room(device::Plan plan, std::vector<Exchanged>& feeds, std::vector<Exchanged>& results);
  void prepare(const std::vector<device::Step>& steps);
  Prepared prepared(const Launch& launch, std::vector<Address> addresses) const;
  Address address_of(const device::Place& place) const;
  void upload_constants();
  std::vector<Prepared> exchanges(const std::vector<Exchanged>& all, CopiesOf what, Base from, Base to,
                                  Base bytes) const;
  // How many launches the steps are; nothing if the host takes part.
  std::optional<size_t> launches_of(const std::vector<device::Step>& steps) const;
  void compile(const std::vector<Prepared*>& launches);
  std::vector<Prepared*> single_launches();

  // Sets now_ to the addresses of a run.
  void locate(const device::Arguments& arguments, CUdeviceptr arena, Stream& stream);
  void exchange(std::span<const device::ArrayMemory> arrays, std::vector<Exchanged>& exchanged, Base base, Base given,
                Base bytes);
  // Sets the arguments to the addresses of the run; true if any has changed.
  bool update(Prepared& prepared) const;
  void launch(Prepared& prepared, CUstream stream) const;
  void launch_all(CUstream stream);

  std::vector<CUdeviceptr>& now(Base base) { return now_[static_cast<size_t>(base)]; }
  CUdeviceptr at(const Address& address) const {
    return now_[static_cast<size_t>(address.base)][address.index] + address.offset;
  }

  const Context& context_;
  CopyStream& copies_;
  Modules& modules_;
  device::Device& device_;
  std::vector<Exchanged> feeds_, results_;
  const device::Plan plan_;
  device::ArenaShare arena_;
  std::shared_ptr<device::Storage> constants_;
  std::vector<size_t> constant_offsets_;
  CUdeviceptr next_counters_ = 0;  // of the next step to prepare

  std::vector<ModuleRef> code_;  // of the functions below

  // Launches one by one: of each step, before the steps, and behind them.
  std::unordered_map<const device::Step*, std::vector<Prepared>> prepared_;
  std::vector<Prepared> before_, behind_;
  bool is_flat_ = true;  // the host takes no part in the steps
  // All launches of a run, of which small ones are merged; empty if the host takes part.
  std::deque<Launch> merged_;
  std::vector<Prepared> all_;
  std::unique_ptr<LaunchGraph> graph_;  // of several; made by the first run

  std::array<std::vector<CUdeviceptr>, kBases> now_;
  host::FenceRef last_;                  // the end of the last run
  std::vector<device::StepTime> times_;  // empty without profiling
};

}  // namespace alloy::cuda

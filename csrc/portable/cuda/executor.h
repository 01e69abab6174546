// Runs a plan on a GPU: as one launch of a graph of the driver, or launch by launch where the host takes part.
#pragma once

#include <array>
#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

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
  Executor(const Context& context, Modules& modules, device::Device& device, device::Plan plan,
           std::shared_ptr<device::Arena> arena);
  ~Executor() override;

  const device::Plan& plan() const override { return plan_; }
  bool run(const device::Arguments& arguments, device::Stream& stream, device::Outcome& outcome) override;
  void set_profiling(bool on) override;
  std::vector<device::StepTime> times() const override { return times_; }

 private:
  // What an address of a launch is counted from. Feeds and results in the host's memory are copied, before and behind
  // the steps, to and from memory of the GPU; kFeed and kResult are what the steps use.
  enum class Base : uint8_t { kZero, kArena, kFeed, kResult, kVariable, kGivenFeed, kGivenResult };
  static constexpr size_t kBases = 7;
  struct Address {
    Base base;
    size_t index;
    uint64_t offset;
  };
  using Bases = std::array<std::vector<CUdeviceptr>, kBases>;

  // A launch, with the addresses and numbers that its function gets.
  struct Prepared {
    const Launch* launch;
    std::vector<Address> addresses;
    PreparedLaunch made;
  };

  // A feed or result, and its copy in memory of the GPU if the host can address it.
  struct Exchanged {
    size_t bytes = 0;
    std::shared_ptr<device::Storage> copy;
  };

  // Bytes that a launch copies.
  struct Copied {
    Address from, to;
    size_t bytes;
  };

  struct Run;

  void prepare(const std::vector<device::Step>& steps);
  Prepared prepared(const Launch& launch, CUfunction function, std::vector<Address> addresses) const;
  Address address_of(const device::Place& place) const;
  void upload_constants();

  // Sets now_ to the addresses of a run.
  void locate(const device::Arguments& arguments, CUdeviceptr arena, const Timeline& timeline);
  bool exchange(std::span<const device::ArrayMemory> arrays, std::vector<Exchanged>& exchanged, Base base, Base given);
  void make_ends(const Timeline& timeline);
  std::vector<Prepared> copies_of(const std::vector<Copied>& arrays) const;
  // Sets the arguments to the addresses of the run; true if any has changed.
  bool update(Prepared& prepared) const;
  void launch(Prepared& prepared, CUstream stream) const;
  void launch_all(CUstream stream);

  const Context& context_;
  device::Device& device_;
  const device::Plan plan_;
  device::ArenaShare arena_;
  std::shared_ptr<device::Storage> constants_;
  std::vector<size_t> constant_offsets_;
  CUfunction copying_ = nullptr, ending_ = nullptr;

  std::unordered_map<const device::Step*, std::vector<Prepared>> prepared_;
  std::vector<Exchanged> feeds_, results_;
  const Timeline* timeline_ = nullptr;     // of the last run
  std::vector<Prepared> before_, behind_;  // copies of feeds; copies of results, and the count of runs
  Bases now_;                              // of the last run
  bool is_flat_ = true;                    // the host takes no part in the steps
  std::unique_ptr<LaunchGraph> graph_;     // of all launches; null if it must be made
  std::vector<Prepared*> nodes_;           // of the graph
  host::FenceRef last_;                    // the end of the last run
  std::vector<device::StepTime> times_;    // empty without profiling
};

}  // namespace alloy::cuda

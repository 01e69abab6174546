// The framework's side of a Graph. Private to the engine.
#pragma once

#include <algorithm>
#include <atomic>
#include <deque>
#include <list>
#include <map>
#include <mutex>

#import "engine/device.h"
#include "engine/graph.h"
#import "engine/ref.h"
#import "engine/running/array.h"
#import "engine/running/run.h"

namespace alloy::engine {

// The tensors of variables in a framework graph, by slot: made when first needed, then used by every executable.
using VariableTensors = std::map<int64_t, MPSGraphTensor*>;
// The tensors of constants, which they keep: several compilations share a constant.
using ConstantTensors = std::map<ir::LiteralRef, MPSGraphTensor*>;

// A framework graph and the objects made in it. Nothing can be removed from such a graph, so it grows with every
// compilation. Once most of it is unused, the engine begins another.
struct Framework {
  Ref<MPSGraph*> graph;
  VariableTensors variables;
  ConstantTensors constants;
  size_t made = 0;                // number of ops
  std::atomic<size_t> needed{0};  // number of ops that existing steps need

  bool is_mostly_waste() const { return made - needed > std::max<size_t>(4 * needed, 10'000); }
};

struct Graph::Impl {
  // Held by one compilation or run of the graph at a time, from copying the feeds in to copying the results out. Guards
  // everything here and the compiled steps of the graph's executables. Since it is held while waiting, take it by
  // lock().
  std::timed_mutex busy;
  std::shared_ptr<Framework> framework;
  Ref<id<MTLDevice>> device;
  Ref<id<MTLCommandQueue>> queue;      // of this graph alone: different graphs run side by side
  std::map<int64_t, Buffers> buffers;  // for VariableStorage::kBuffers, by slot; made when first needed

  // Guards the next members, and the landing of runs. Never held while waiting.
  std::mutex landing;
  // Runs that may still be in flight, the oldest first; and a failure that no caller knows yet.
  std::deque<std::shared_ptr<Run>> flying;
  std::string untold;
  // `started` counts submissions. `timeline` counts the finished ones among the first `marked`; it is made when work on
  // another queue must come after one of them.
  uint64_t started = 0, marked = 0;
  Ref<id<MTLSharedEvent>> timeline;

  std::atomic<size_t> in_flight{0};  // the size of flying
  std::atomic<bool> is_sound{true};  // false while there is an untold failure
  std::atomic<size_t> most_in_flight{2};

  std::mutex listing;
  std::vector<std::weak_ptr<Executable>> executables;
  size_t most_executables = 64;  // size of the list at which destroyed ones are removed from it

  // The initial values of variables that are not on the device yet, by slot.
  std::mutex beginning;
  std::map<int64_t, ir::LiteralRef> initial;

  // Steps of the engine's own that read or write some variables (slots), the most recent first.
  struct Access {
    bool writes;
    std::vector<int64_t> slots;
    std::shared_ptr<Compiled> step;
  };
  std::list<Access> accesses;

  // Locks `busy`; the wait can be interrupted.
  std::unique_lock<std::timed_mutex> lock();

  // Waits for a run of the graph. An interruption of the wait ends the runs in flight, if the device can do that.
  void wait_for(const Run& run);
  // Wait for the oldest run in flight (false if there is none); for all runs; for this run; for all runs and then a run
  // that was started after them.
  bool land_oldest();
  void land_all();
  void land(const Run& run);
  void land_behind(Run& run);
  // require_sound() throws DeviceError if a run has failed and no caller knows it, because later runs would compute
  // with its leavings. forget_failure(): a caller has been told.
  void require_sound();
  void forget_failure();

  // The events that a submission waits for and signals so that it comes after earlier submissions, whatever queues they
  // are on, and so that others can come after it. Must run inside on_device.
  Ordering in_turn(Ordering all);
  // Notes that the run has been handed to the queue `on`.
  void note_start(const std::shared_ptr<Run>& run, const Ref<id<MTLCommandQueue>>& on);
  // Lets a submission of another graph come after this run. `own` is the queue of a submission that names none. Must
  // run inside on_device.
  void put_behind(const Run& run, Ordering& ordering, const Ref<id<MTLCommandQueue>>& own);

  // Begins an empty framework graph, in which steps are compiled from now on.
  void begin_framework();
  // The arrays of a variable. Must run inside on_device.
  Buffers& buffers_of(int64_t slot);

 private:
  void mark();
};

}  // namespace alloy::engine

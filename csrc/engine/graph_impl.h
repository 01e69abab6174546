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

// What stands for the variables in a framework graph, by slot: made when first needed, then the same for every
// executable.
using VariableTensors = std::map<int64_t, MPSGraphTensor*>;
// And for the constants, which it keeps: a constant that several compilations need is there once.
using ConstantTensors = std::map<ir::LiteralRef, MPSGraphTensor*>;

// A graph of the framework and what was made in it. Nothing can be removed from it, so it grows with every compilation.
// Once most of it is unused, the engine begins another.
struct Framework {
  Ref<MPSGraph*> graph;
  VariableTensors variables;
  ConstantTensors constants;
  size_t made = 0;                // ops
  std::atomic<size_t> needed{0};  // of them, by steps that live

  bool is_mostly_waste() const { return made - needed > std::max<size_t>(4 * needed, 10'000); }
};

struct Graph::Impl {
  // One compilation or run of a graph at a time, from copying the feeds in to copying the results out. Guards
  // everything here and what the executables of the graph have compiled. Held while waiting: take it by lock().
  std::timed_mutex busy;
  std::shared_ptr<Framework> framework;
  Ref<id<MTLDevice>> device;
  Ref<id<MTLCommandQueue>> queue;      // one a graph: different graphs run side by side
  std::map<int64_t, Buffers> buffers;  // of VariableStorage::kBuffers, by slot; made when first needed

  // Guards the following, and how runs of the graph land. Never held while waiting.
  std::mutex landing;
  // Runs that may still be in flight, the oldest first; and a failure that no caller has been told of yet.
  std::deque<std::shared_ptr<Run>> flying;
  std::string untold;
  // How many submissions there were. `timeline` tells how many of them are over, of the first `marked` ones; it is made
  // when something on another queue must come after one of them.
  uint64_t started = 0, marked = 0;
  Ref<id<MTLSharedEvent>> timeline;

  std::atomic<size_t> in_flight{0};  // the size of flying
  std::atomic<bool> is_sound{true};  // nothing is untold
  std::atomic<size_t> most_in_flight{2};

  std::mutex listing;
  std::vector<std::weak_ptr<Executable>> executables;
  size_t most_executables = 64;  // before those that are gone are dropped from the list

  // The initial values of variables that are not on the device yet, by slot.
  std::mutex beginning;
  std::map<int64_t, ir::LiteralRef> initial;

  // Executables of the engine's own that read or write some variables (slots), the most recent first.
  struct Access {
    bool writes;
    std::vector<int64_t> slots;
    std::shared_ptr<Compiled> step;
  };
  std::list<Access> accesses;

  // The lock of `busy`; waiting for it can be interrupted.
  std::unique_lock<std::timed_mutex> lock();

  // Waits for a run of the graph. An interruption of that ends what is in flight, where the device can be asked to.
  void wait_for(const Run& run);
  // Waits for the oldest run in flight, false if there is none; for all of them; for this one; for all of them and a
  // run started after them.
  bool land_oldest();
  void land_all();
  void land(const Run& run);
  void land_behind(Run& run);
  // Throws DeviceError if a run has failed and no caller has been told: later runs would compute with what it left
  // behind. forget_failure: a caller has been told.
  void require_sound();
  void forget_failure();

  // What a submission waits for and signals so that it comes after those before it, whatever queues they are on, and so
  // that others can come after it. On the device.
  Ordering in_turn(const Ordering& asked);
  // Notes that this run has been handed to that queue.
  void note_start(const std::shared_ptr<Run>& run, const Ref<id<MTLCommandQueue>>& on);
  // Lets a submission of another graph come after this run. `own`: the queue that it is on where it names none. On the
  // device.
  void put_behind(const Run& run, Ordering& ordering, const Ref<id<MTLCommandQueue>>& own);

  // Begins an empty graph of the framework, in which steps are compiled from now on.
  void begin_framework();
  // The arrays of a variable. On the device.
  Buffers& buffers_of(int64_t slot);

 private:
  void mark();
};

}  // namespace alloy::engine

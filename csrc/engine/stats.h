// Counters of the engine since the process started. Any thread may read them at any time.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

namespace alloy::engine {

// Reasons to compile.
enum class Reason : uint8_t {
  kFirst,    // an executable's first shapes, or the first access to some variables
  kShapes,   // other shapes of an executable's feeds
  kEvicted,  // shapes that it had compiled before, but has dropped
  kRenewed,  // the framework's graph had grown too large and was replaced
};
inline constexpr const char* kReasons[] = {"first", "new shapes", "evicted", "graph renewed"};

struct Stats {
  uint64_t dispatches =
      0;  // runs of executables; with VariableStorage::kVariable also reads and assignments of variables
  uint64_t compilations = 0;       // graphs compiled for concrete shapes
  uint64_t compiled_for[4] = {};   // by Reason; counted by the engine only
  uint64_t live_steps = 0;         // compiled steps that exist now; counted by the engine only
  uint64_t bytes_to_device = 0;    // copied for feeds and assigned values
  uint64_t bytes_from_device = 0;  // fetched and read
  uint64_t live_objects = 0;       // graphs and executables that exist now; counted by the engine only
  uint64_t launches = 0;           // of kernels or of graphs of kernels; counted by the device only
  uint64_t allocated_bytes = 0;    // allocated on the device now; counted by the device only
};

Stats stats();

// The device's own counts; nothing if it does not count.
std::optional<Stats> device_stats();

// The engine's counters; incremented where the event happens.
struct Counters {
  std::atomic<uint64_t> dispatches{0}, compilations{0}, compiled_for[4] = {}, live_steps{0}, bytes_to_device{0},
                                                        bytes_from_device{0}, live_objects{0};
};
Counters& counters();

// Counts its owner as a live object.
class Alive {
 public:
  Alive() { ++counters().live_objects; }
  ~Alive() { --counters().live_objects; }
  Alive(const Alive&) = delete;
  Alive& operator=(const Alive&) = delete;
};

}  // namespace alloy::engine

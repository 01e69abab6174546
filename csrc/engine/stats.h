// What the engine counts since the process started. Read at any time from any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

namespace alloy::engine {

// Why something was compiled.
enum class Reason : uint8_t {
  kFirst,    // an executable's first shapes, or the first access to some variables
  kShapes,   // other shapes of an executable's feeds
  kEvicted,  // shapes that it had compiled before, but not among the last ones
  kRenewed,  // the framework's graph had grown too large and was begun anew
};
inline constexpr const char* kReasons[] = {"first", "new shapes", "evicted", "graph renewed"};

struct Stats {
  uint64_t dispatches =
      0;  // runs of executables; under VariableStorage::kVariable reading and assigning variables is one too
  uint64_t compilations = 0;       // graphs compiled for concrete shapes
  uint64_t compiled_for[4] = {};   // of them, by Reason; the engine's only
  uint64_t live_steps = 0;         // what was compiled and is kept now; the engine's only
  uint64_t bytes_to_device = 0;    // copied for feeds and assigned values
  uint64_t bytes_from_device = 0;  // fetched and read
  uint64_t live_objects = 0;       // graphs and executables that exist now; the engine's only
  uint64_t allocated_bytes = 0;    // what the device has allocated now; the device's only
};

Stats stats();

// The same as counted by the device itself; nothing where the device does not count.
std::optional<Stats> device_stats();

// The engine's own counters, to be incremented where it happens.
struct Counters {
  std::atomic<uint64_t> dispatches{0}, compilations{0}, compiled_for[4] = {}, live_steps{0}, bytes_to_device{0},
                                                        bytes_from_device{0}, live_objects{0};
};
Counters& counters();

// Counts its owner among the live objects.
class Alive {
 public:
  Alive() { ++counters().live_objects; }
  ~Alive() { --counters().live_objects; }
  Alive(const Alive&) = delete;
  Alive& operator=(const Alive&) = delete;
};

}  // namespace alloy::engine

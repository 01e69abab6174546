// What becomes of the engine in a forked child. Plain C++.
#pragma once

namespace alloy::engine {

// Made at every entry to the engine that may wait for a lock or the device. Suppose a process has run something, or
// forks while it is inside the engine: in its child, the threads that would end the waiting do not exist.
class Entry {
 public:
  // Throws DeviceError in such a child.
  Entry();
  ~Entry();
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;

  // True if this is such a child.
  static bool is_refused();
  // From now on children cannot use the device.
  static void note_run();
};

}  // namespace alloy::engine

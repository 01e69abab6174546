// What becomes of the engine in a forked child. Plain C++.
#pragma once

namespace alloy::engine {

// Stands at every way into the engine that may wait: for a lock, for the device. In the child of a process that has run
// something, or was inside the engine when it forked, the threads that would end the waiting do not exist.
class Entry {
 public:
  // Throws DeviceError in such a child.
  Entry();
  ~Entry();
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;

  // Whether this is such a child.
  static bool is_refused();
  // From now on children cannot use the device.
  static void note_run();
};

}  // namespace alloy::engine

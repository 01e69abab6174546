// The engine in forked children. Plain C++.
#pragma once

namespace alloy::engine {

// Made at every entry to the engine that may wait for a lock or for the device. If a process forks while it is inside
// the engine, or after it has run something, the threads that would end the wait do not exist in the child.
class Entry {
 public:
  // Throws DeviceError in such a child.
  Entry();
  ~Entry();
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;

  // True in such a child.
  static bool is_refused();
  // Makes children that are forked from now on unable to use the device.
  static void note_run();
};

}  // namespace alloy::engine

// Failures of a device, as opposed to mistakes of the user (ir::Error).
#pragma once

#include <new>
#include <stdexcept>
#include <string>

namespace alloy::engine {

class DeviceError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The device lacks memory.
class OutOfMemory : public std::bad_alloc {
 public:
  explicit OutOfMemory(std::string message) : message_(std::move(message)) {}
  const char* what() const noexcept override { return message_.c_str(); }

 private:
  std::string message_;
};

// On the system that the device imitates, the process would have ended. This is no DeviceError, because no program
// could catch it there.
class WouldAbort : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

}  // namespace alloy::engine

// The failure of a device, as opposed to a mistake of the user (ir::Error).
#pragma once

#include <stdexcept>

namespace alloy::engine {

class DeviceError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace alloy::engine

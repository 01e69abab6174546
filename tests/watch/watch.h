// Watches the runs that the engine sends to the framework, and makes one fail. Plain C++; one at a time.
#pragma once

#include <cstddef>

namespace alloy::test {

class Watch {
 public:
  Watch();
  ~Watch();

  size_t runs() const;     // since the watch began
  size_t aliased() const;  // those of them in which an array was both fed and written
  // The next run computes and writes, and then reports a failure of the device.
  void fail_next();
};

}  // namespace alloy::test

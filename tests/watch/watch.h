// Watches the messages that the engine sends to the framework, makes runs fail, and delays some. Plain C++; only one at
// a time.
#pragma once

#include <cstddef>

namespace alloy::test {

class Watch {
 public:
  Watch();
  ~Watch();

  // Counted since the watch began:
  size_t runs() const;
  size_t aliased() const;  // runs in which an array was both fed and written
  size_t copies() const;   // identities added to a graph
  size_t compilations() const;
  size_t at_once() const;          // compilations at level 0, which end before the call returns
  size_t lent() const;             // buffers made over memory of others
  size_t left() const;             // objects of failed runs that an autorelease scope still holds
  size_t cells() const;            // LSTMs that return their cells
  size_t without_targets() const;  // compilations of executables without targets

  // The next run computes and writes, and then its handler gets a failure of the device.
  void fail_next();
  // The next run ends before the call returns, but only release() calls its handler.
  void tell_late_of_next();
  // The next run computes and writes, and then raises the exception that stands for the end of the process on an
  // imitated system.
  void abort_next();
  // Runs requested from now on begin only after release().
  void hold();
  void release();
  // From now on executables say that they leave out their first feed or their last target, or that they are fed a
  // tensor of others.
  enum class Lie { kFeedLess, kTargetLess, kForeign };
  void lie(Lie lie);

 private:
  struct Methods;
  Methods* methods_;
};

}  // namespace alloy::test

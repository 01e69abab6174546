// Watches what the engine sends to the framework, makes runs fail, holds some back. Plain C++; one at a time.
#pragma once

#include <cstddef>

namespace alloy::test {

class Watch {
 public:
  Watch();
  ~Watch();

  // Since the watch began:
  size_t runs() const;
  size_t aliased() const;  // runs in which an array was both fed and written
  size_t copies() const;   // identities that were added to a graph
  size_t compilations() const;
  size_t at_once() const;          // compilations that are over when the call returns, at level 0
  size_t lent() const;             // buffers that were made over memory of somebody else's
  size_t left() const;             // objects of runs that failed, which an autorelease scope has not let go of
  size_t cells() const;            // LSTMs that give their cells
  size_t without_targets() const;  // compilations of executables that give nothing

  // The next run computes and writes, and then its handler is told of a failure of the device.
  void fail_next();
  // The next run is over when the call returns, but its handler is only told by release().
  void tell_late_of_next();
  // The next run computes and writes, and then raises what stands for the end of the process on an imitated system.
  void abort_next();
  // Runs that are asked for from now on begin only after release().
  void hold();
  void release();
  // From now on executables say that they leave out their first feed or their last target, or are fed a tensor that is
  // not theirs.
  enum class Lie { kFeedLess, kTargetLess, kForeign };
  void lie(Lie lie);

 private:
  struct Methods;
  Methods* methods_;
};

}  // namespace alloy::test

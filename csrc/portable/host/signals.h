// Keeps signals from a thread.
#pragma once

#include <signal.h>

namespace alloy::host {

// While one exists, no signal interrupts this thread, and threads that it starts get none ever. Faults of the thread
// itself are still told.
class BlockSignals {
 public:
  BlockSignals() {
    sigset_t others;
    sigfillset(&others);
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) sigdelset(&others, fault);
    pthread_sigmask(SIG_BLOCK, &others, &before_);
  }
  ~BlockSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  BlockSignals(const BlockSignals&) = delete;
  BlockSignals& operator=(const BlockSignals&) = delete;

 private:
  sigset_t before_;
};

}  // namespace alloy::host

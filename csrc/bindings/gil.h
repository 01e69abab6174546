// The interpreter's lock: released while the engine works; Ctrl-C still works meanwhile.
#pragma once

#include <pybind11/pybind11.h>

#include <functional>

namespace alloy::bindings {

// Releases the lock during the lifetime of the object.
class WithoutGil {
 public:
  WithoutGil() : state_(PyEval_SaveThread()) {}
  // If the interpreter has ended meanwhile, the thread never returns from here.
  ~WithoutGil();
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;

 private:
  PyThreadState* state_;
};

// Call this once, with the lock.
void remember_main_thread();
// Raises the exception of a pending signal, such as KeyboardInterrupt. Does nothing except on the main thread, which
// handles Python's signals. The caller must not hold the lock; this takes it meanwhile.
void check_signals();

// Calls work() on another thread without the lock, and waits for it. If a signal raises, the wait ends, but the work
// goes on to its end and its outcome is ignored. So the work must own what it uses.
void interruptibly(std::function<void()> work);

}  // namespace alloy::bindings

// The interpreter's lock: released while the engine works, with Ctrl-C answered meanwhile.
#pragma once

#include <pybind11/pybind11.h>

#include <functional>

namespace alloy::bindings {

// Releases the lock for as long as it lives.
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

// Call it once, with the lock.
void remember_main_thread();
// Raises what a signal asks for, KeyboardInterrupt for instance; only on the main thread, which Python's signals are
// for. Called without the lock, which it takes meanwhile.
void check_signals();

// Calls work() on another thread without the lock, and waits for it. If a signal raises, the waiting ends; the work
// goes on to its end and its outcome is ignored. So the work must own what it uses.
void interruptibly(std::function<void()> work);

}  // namespace alloy::bindings

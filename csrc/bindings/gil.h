// The interpreter's lock: given up while the engine works, and Ctrl-C meanwhile.
#pragma once

#include <pybind11/pybind11.h>

#include <functional>

namespace alloy::bindings {

// Gives the lock up for as long as it lives.
class WithoutGil {
 public:
  WithoutGil() : state_(PyEval_SaveThread()) {}
  // Where the interpreter has ended meanwhile, the thread stops here for good.
  ~WithoutGil();
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;

 private:
  PyThreadState* state_;
};

// Raises what a signal asks for, KeyboardInterrupt for instance. Called without the lock, which it takes meanwhile.
void check_signals();

// Calls work() without the lock and waits for it. A signal that raises ends the waiting; the work, which must own what
// it uses, then ends by itself and unheard.
void interruptibly(std::function<void()> work);

}  // namespace alloy::bindings

#include "gil.h"

#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>

namespace py = pybind11;

namespace alloy::bindings {
namespace {

unsigned long main_thread = 0;  // Python's

struct Task {
  std::function<void()> work;
  std::mutex mutex = {};
  std::condition_variable ended = {};
  bool has_ended = false;
  std::exception_ptr error = {};

  void run() {
    std::exception_ptr thrown;
    try {
      work();
    } catch (...) {
      thrown = std::current_exception();
    }
    work = nullptr;
    std::lock_guard lock(mutex);
    error = std::move(thrown);
    has_ended = true;
    ended.notify_all();
  }

  bool wait() {
    std::unique_lock lock(mutex);
    return ended.wait_for(lock, std::chrono::milliseconds(50), [&] { return has_ended; });
  }
};

// At its end Python unwinds the stack of a thread that asks for the lock, although objects on that stack are already
// gone.
template <class Take>
auto take_lock(const Take& take) {
  try {
    return take();
  } catch (...) {
    for (;;) pause();
  }
}

}  // namespace

WithoutGil::~WithoutGil() {
  take_lock([this] { PyEval_RestoreThread(state_); });
}

void remember_main_thread() {
  main_thread = py::module_::import("threading").attr("main_thread")().attr("ident").cast<unsigned long>();
}

void check_signals() {
  // Only the main thread answers signals. After the interpreter's end, other threads could not ask for its lock.
  if (PyThread_get_thread_ident() != main_thread) return;
  const PyGILState_STATE state = take_lock([] { return PyGILState_Ensure(); });
  const struct Release {
    PyGILState_STATE state;
    ~Release() { PyGILState_Release(state); }
  } release{state};
  if (PyErr_CheckSignals() < 0) throw py::error_already_set();
}

void interruptibly(std::function<void()> work) {
  const auto task = std::make_shared<Task>(std::move(work));
  const WithoutGil released;
  try {
    std::thread([task] { task->run(); }).detach();
  } catch (const std::system_error&) {  // if there is no thread, signals wait
    task->run();
  }
  while (!task->wait()) check_signals();
  if (task->error) std::rethrow_exception(task->error);
}

}  // namespace alloy::bindings

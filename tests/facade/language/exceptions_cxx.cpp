// The part of exceptions.mm that a C++ compiler has to see: C++ handlers, and frames between Objective-C ones.

#include "exceptions_cxx.h"

#include <stdexcept>

std::string message_of_cxx_exception(const std::function<void()>& work) {
  try {
    work();
  } catch (const std::runtime_error& error) {
    return error.what();
  } catch (...) {
    return "not a std::runtime_error";
  }
  return "nothing was thrown";
}

void throw_cxx_exception(const std::string& message) { throw std::runtime_error(message); }

void call_through_cxx(const std::function<void()>& work, int* destroyed) {
  struct Guard {
    int* count;
    ~Guard() { ++*count; }
  } guard{destroyed};
  work();
}

// C++ frames and handlers for exceptions.mm.
#pragma once

#include <functional>
#include <string>

// The message of the std::runtime_error that `work` throws.
std::string message_of_cxx_exception(const std::function<void()>& work);

// Throws a std::runtime_error.
[[noreturn]] void throw_cxx_exception(const std::string& message);

// Calls `work` from a frame with a local object, whose destruction adds one to `destroyed`.
void call_through_cxx(const std::function<void()>& work, int* destroyed);

// A reference to a lambda or another callable, for calls that call back.
#pragma once

#include <type_traits>

namespace alloy::ir {

// Refers to a callable of the caller. Valid only during the call that it is passed to; never allocates.
class Callable {
 public:
  template <class F, class = std::enable_if_t<!std::is_same_v<std::remove_cvref_t<F>, Callable>>>
  Callable(F&& f) noexcept  // NOLINT: implicit on purpose, as std::function
      : context_(const_cast<void*>(static_cast<const void*>(&f))),
        call_([](void* context) { (*static_cast<std::remove_reference_t<F>*>(context))(); }) {}
  void operator()() const { call_(context_); }

 private:
  void* context_;
  void (*call_)(void*);
};

}  // namespace alloy::ir

#include "engine/interruption.h"

#include <atomic>

namespace alloy::engine {
namespace {

std::atomic<void (*)()> asked{nullptr};

}  // namespace

void set_interruption(void (*ask)()) { asked = ask; }

void ask_for_interruption(const std::function<void()>& interrupted) {
  const auto ask = asked.load();
  if (ask == nullptr) return;
  try {
    ask();
  } catch (...) {
    if (interrupted) interrupted();
    throw;
  }
}

}  // namespace alloy::engine

#include "engine/interruption.h"

#include <atomic>

namespace alloy::engine {
namespace {

std::atomic<void (*)()> asked{nullptr};

}  // namespace

void set_interruption(void (*ask)()) { asked = ask; }

void ask_for_interruption() {
  if (const auto ask = asked.load()) ask();
}

}  // namespace alloy::engine

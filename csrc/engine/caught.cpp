#include "engine/caught.h"

namespace alloy::engine {

std::exception_ptr caught(ir::Callable work) {
  try {
    work();
  } catch (const std::exception&) {
    return std::current_exception();
  }
  return nullptr;
}

}  // namespace alloy::engine

#include "runtime/guard.h"

#include <exception>
#include <new>

#include "compiler/imitation.h"
#include "host/work_queue.h"

namespace alloy::runtime {

std::string guard(ir::Callable work) noexcept {
  try {
    work();
    return {};
  } catch (const std::bad_alloc&) {
    return host::kMemoryIsExhausted;
  } catch (const compiler::Abort& abort) {
    return kAborts + std::string(abort.what());
  } catch (const std::exception& error) {
    return error.what()[0] == '\0' ? "An exception without a message." : error.what();
  }
}

}  // namespace alloy::runtime

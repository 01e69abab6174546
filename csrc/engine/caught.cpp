#include "engine/caught.h"

#include <algorithm>
#include <string>

namespace alloy::engine {

std::exception_ptr caught(ir::Callable work) {
  try {
    work();
  } catch (const std::exception&) {
    return std::current_exception();
  }
  return nullptr;
}

void with_fed_shapes(const std::vector<ir::Feed>& feeds, ir::Callable work) {
  try {
    work();
  } catch (const ir::Error& error) {
    std::string fed;
    for (const auto& [placeholder, type] : feeds) {
      const std::string& name = placeholder.op->name;
      fed += (fed.empty() ? "" : ", ") + (name.empty() ? to_string(placeholder.type()) : "'" + name + "'") +
             " of shape " + to_string(type.shape);
    }
    const bool is_open =
        std::any_of(feeds.begin(), feeds.end(), [](const auto& feed) { return !feed.placeholder.type().is_static(); });
    if (is_open) throw error.with(", where " + fed + " are fed");
    throw;
  }
}

}  // namespace alloy::engine

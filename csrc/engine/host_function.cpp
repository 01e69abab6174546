#include "engine/host_function.h"

#include <cstring>
#include <mutex>

#include "engine/op_library.h"

namespace alloy::engine {
namespace {

// The sums over one process.
class Copy : public HostFunction {
 public:
  std::string compute(const std::vector<ir::Type>& given, const std::vector<const void*>& operands,
                      const std::vector<ir::Type>&, const std::vector<void*>& results) const override {
    for (size_t i = 0; i < given.size(); ++i) std::memcpy(results[i], operands[i], given[i].byte_count());
    return {};
  }
};

std::mutex setting;
std::shared_ptr<const HostFunction> all_reduce = std::make_shared<Copy>();

}  // namespace

std::shared_ptr<const HostFunction> host_function(const ir::Op& op) {
  if (op.code == ir::OpCode::all_reduce) {
    const std::lock_guard lock(setting);
    return all_reduce;
  }
  return std::dynamic_pointer_cast<const LibraryFunction>(
      ir::find_native_function(op.attributes.word(ir::Attr::kFunction)));
}

void set_all_reduce(std::shared_ptr<const HostFunction> function) {
  const std::lock_guard lock(setting);
  all_reduce = std::move(function);
}

}  // namespace alloy::engine

// Libraries of ops that the user has loaded, as python/alloy/include/alloy/op_library.h defines them. Plain C++.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engine/host_function.h"
#include "ir/native.h"

struct AlloyOp;

namespace alloy::engine {

// A function of a library. The library stays loaded until the process ends.
class LibraryFunction : public ir::NativeFunction, public HostFunction {
 public:
  LibraryFunction(const std::string& library, const AlloyOp& op);

  std::vector<ir::Type> infer(const std::vector<ir::Type>& given, std::string& mistake) const override;
  std::string compute(const std::vector<ir::Type>& given, const std::vector<const void*>& operands,
                      const std::vector<ir::Type>& types, const std::vector<void*>& results,
                      bool meanwhile) const override;

  // The sentence for users, or empty.
  std::string text() const;

 private:
  const AlloyOp& op_;
};

// A loaded library.
struct OpLibrary {
  std::string name, path;
  std::filesystem::file_time_type written;
  std::vector<std::shared_ptr<const LibraryFunction>> functions;
};

// Loads the library, unless it is loaded already, and makes its functions known to graphs. Throws ir::Error if the file
// is no such library, has another version, has an invalid description, or has the name of another library. The message
// is the end of a sentence. Any thread may call it.
const OpLibrary& load_op_library(const std::string& path);

}  // namespace alloy::engine

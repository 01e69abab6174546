// Libraries of ops that the user has loaded: python/alloy/include/alloy/op_library.h says what they are. Plain C++.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "ir/native.h"

struct AlloyOp;

namespace alloy::engine {

// A function of a library. The library stays loaded until the process ends.
class LibraryFunction : public ir::NativeFunction {
 public:
  LibraryFunction(const std::string& library, const AlloyOp& op);

  std::vector<ir::Type> infer(const std::vector<ir::Type>& given, std::string& mistake) const override;
  // Computes results of these static types, packed row-major, as the operands are. Returns what the library says went
  // wrong, or nothing.
  std::string compute(const std::vector<ir::Type>& given, const std::vector<const void*>& operands,
                      const std::vector<ir::Type>& types, const std::vector<void*>& results) const;

  // The sentence for users, or empty.
  std::string text() const;

 private:
  const AlloyOp& op_;
};

// What has been loaded from a file.
struct OpLibrary {
  std::string name, path;
  std::filesystem::file_time_type written;
  std::vector<std::shared_ptr<const LibraryFunction>> functions;
};

// Loads the library, or finds it loaded, and makes its functions known to graphs. Throws ir::Error, whose message is
// the end of a sentence, where the file is no such library, is one of another version, says something impossible, or
// has the name of another one. Any thread may call it.
const OpLibrary& load_op_library(const std::string& path);

}  // namespace alloy::engine

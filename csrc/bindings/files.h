// Initial values of variables in a file.
#pragma once

#include <pybind11/pybind11.h>

#include <string>

#include "ir/attributes.h"

namespace alloy::bindings {

// Packed elements in a file, in the machine's byte order, from an offset on. The file is read into the device's memory
// when a variable's value is needed. It must not have changed until then.
class FileValues {
 public:
  // Throws ir::Error if the file cannot be read, or ends before the elements do.
  FileValues(std::string path, int64_t offset, ir::Type type);

  ir::LiteralRef literal() const;
  const ir::Type& type() const { return type_; }

 private:
  void read(std::byte* out) const;

  std::string path_;
  int64_t offset_;
  ir::Type type_;
  int64_t state_[4];  // the file's device, number, size and last change
};

void bind_files(pybind11::module_& m);

}  // namespace alloy::bindings

// Functions of op libraries that the user has loaded. The loader registers them here under their full names.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ir/shape.h"

namespace alloy::ir {

// A library's function, as the op `native` needs it.
class NativeFunction {
 public:
  virtual ~NativeFunction() = default;

  // The types of the results; or, if there are none, the reason in `mistake`.
  virtual std::vector<Type> infer(const std::vector<Type>& operands, std::string& mistake) const = 0;

  std::string name;      // with its library: LIBRARY.FUNCTION
  int operands = 0;      // number of operands
  std::string gradient;  // name of the function that computes its gradient; empty: it has none
};

// Registers a function for the op `native`; functions are never removed. Returns false if another function has the
// name. Any thread may call these.
bool add_native_function(std::shared_ptr<const NativeFunction> function);
// The function with this name, or null.
std::shared_ptr<const NativeFunction> find_native_function(const std::string& name);

}  // namespace alloy::ir

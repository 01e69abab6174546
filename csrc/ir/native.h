// Functions of libraries that the user has loaded, as ops. What loads them registers them here by their full names.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ir/shape.h"

namespace alloy::ir {

// What the op `native` must know of its function.
class NativeFunction {
 public:
  virtual ~NativeFunction() = default;

  // The types of the results, or why there are none: then `mistake` is not empty.
  virtual std::vector<Type> infer(const std::vector<Type>& operands, std::string& mistake) const = 0;

  std::string name;      // with its library: LIBRARY.FUNCTION
  int operands = 0;      // how many it takes
  std::string gradient;  // the name of the function that is its gradient, or empty: it has none
};

// From now on the op `native` knows it; functions are never removed. False if another one has the name. Any thread may
// call these.
bool add_native_function(std::shared_ptr<const NativeFunction> function);
// Null where there is none.
const NativeFunction* find_native_function(const std::string& name);

}  // namespace alloy::ir

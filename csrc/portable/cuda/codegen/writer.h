// The statements of elementwise ops, which functions of one or several ops contain.
#pragma once

#include <string>
#include <vector>

#include "cuda/codegen/code.h"

namespace alloy::cuda {

// Writes the statements that compute the results of ops from their operands, a variable for each value.
class Writer {
 public:
  std::string text;
  std::vector<const char*> libraries;  // that the statements use

  // The variable of a value.
  const std::string& name(ir::Value v) { return names_.emplace(v, "v" + std::to_string(names_.size())).first->second; }
  bool has(ir::Value v) const { return names_.contains(v); }
  // Gives a value the variable of another.
  void rename(ir::Value v, ir::Value of) { names_[v] = name(of); }
  // A variable for an operand of all ops, with what it is read from; once for each value.
  void read(ir::Value v, const std::string& from);
  // Table ops except reductions, casts and optimizer steps.
  void compute(const ir::Op& op);
  void line(const std::string& statement) { text += "    " + statement + ";\n"; }

 private:
  void row(const ir::Op& op);
  void adam(const ir::Op& op);

  ir::ValueMap<std::string> names_;
};

// How a reduction of the table, or reduce_like, combines numbers of a type.
struct Folding {
  std::string init, combine;  // expressions of d, or of d, a and b
  std::string all;            // the type of d, a and b
};
Folding folding_of(const ir::Op& op);

// True if the ops of a `fused` op compute values for each row of its shape beside the values for each element.
bool has_rows(const ir::Op& fused);
Code code_of_rows(const ir::Op& fused);
// True if such an op may contain values of this shape, and this op along the last axis.
bool takes_rows(const ir::Shape& shape);
bool folds(const ir::Op& op);

}  // namespace alloy::cuda

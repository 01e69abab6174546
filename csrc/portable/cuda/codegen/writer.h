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

// A value that ops read, and the shape to which it broadcasts there.
struct Import {
  ir::Value value;
  const ir::Shape* shape;
};

// Expressions that read element i of values, or so many neighbours from i on, whose row in memory ends with them. The
// first value is p[first_pointer]; `numbers` begin at n[first_number].
struct Loads {
  std::vector<std::string> texts;
  std::vector<int64_t> numbers;
  int64_t reads = 0;  // of values that are not the same for all elements

  Loads(const std::vector<Import>& imports, size_t first_pointer, size_t first_number, int width = 1);
};

// A result of an op with its number.
struct NumberedResult {
  ir::Value value;
  size_t number;
};
std::vector<NumberedResult> numbered(const std::vector<ir::Value>& results);
// Writes element i of the results, the first of which is p[first_pointer].
void store(Writer& writer, const std::vector<NumberedResult>& results, size_t first_pointer,
           std::vector<Pointer>& pointers);

// How a reduction of the table, or reduce_like, combines numbers of a type.
struct Folding {
  std::string init, combine;  // expressions of d, or of d, a and b
  std::string all;            // the type of d, a and b
};
Folding folding_of(const ir::Op& op);

// One function for all ops, which are the op itself or in it, and whose results have one shape.
Code code_of_chain(const ir::Op& op, const std::vector<const ir::Op*>& ops, const std::vector<ir::Value>& results);

// True if the ops of a `fused` op compute values for each row of its shape beside the values for each element.
bool has_rows(const ir::Op& fused);
Code code_of_rows(const ir::Op& fused);
// True if such an op may contain values of this shape, and this op along the last axis.
bool takes_rows(const ir::Shape& shape);
bool folds(const ir::Op& op);

}  // namespace alloy::cuda

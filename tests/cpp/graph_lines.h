// A graph's ops as lines of text without numbers, so that a test of a pass contains only what it tests.
#pragma once

#include <string>
#include <vector>

namespace alloy::test {

using Lines = std::vector<std::string>;

// A graph of these ops over four placeholders, %0 to %3 of (2, 3), (3,), (2, 1) and (), which it returns before
// `results`. The ops are numbered from 4 in the order of their lines; one without a type gives a float32(2, 3).
// "region {", "return (...)" and "}" are lines of their own.
inline std::string graph_of(const Lines& ops, const std::string& results) {
  Lines all = {"placeholder() {shape = (2, 3), dtype = float32}",
               "placeholder() {shape = (3,), dtype = float32} : float32(3,)",
               "placeholder() {shape = (2, 1), dtype = float32} : float32(2, 1)",
               "placeholder() {shape = (), dtype = float32} : float32()"};
  all.insert(all.end(), ops.begin(), ops.end());
  std::string text = "graph {\n", indent = "  ";
  int number = 0;
  for (const std::string& line : all) {
    const bool opens = line == "region {", closes = line == "}", returns = line.starts_with("return (");
    if (closes) indent.resize(indent.size() - 2);
    if (opens || closes || returns) {
      text += indent + line + "\n";
    } else {
      const bool has_type = line.find(" : ") != std::string::npos;
      text += indent + "%" + std::to_string(number++) + " = " + line + (has_type ? "\n" : " : float32(2, 3)\n");
    }
    if (opens) indent += "  ";
  }
  return text + "  return (%0, %1, %2, %3, " + results + ")\n}\n";
}

inline std::string constant_line(const std::string& type, const std::string& value) {
  return "constant() {value = " + type + "[" + value + "]} : " + type;
}

}  // namespace alloy::test

// print(): writes a graph in its text form (grammar: csrc/ir/README.md).
#include <charconv>
#include <unordered_map>

#include "ir/text/element_text.h"
#include "ir/text/text.h"

namespace alloy::ir {
namespace {

constexpr int64_t kMostPrintedElements = 64;

std::string quote(const std::string& text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

std::string element(const Literal& literal, int64_t i) {
  const DType dtype = literal.type().dtype;
  const size_t offset = literal.is_splat() ? 0 : i * size_of(dtype);
  return element_text(dtype, literal.bytes().data() + offset);
}

std::string list(const Dims& dims) {
  std::string text = "[";
  for (int64_t i = 0; i < dims.size(); ++i) text += (i ? ", " : "") + std::to_string(dims[i]);
  return text + "]";
}

std::string text_of(const Literal& literal) {
  std::string text = to_string(literal.type()) + "[";
  const int64_t count = literal.type().shape.element_count();
  const bool readable = has_text(literal.type().dtype);
  if (readable && literal.is_splat()) return text + element(literal, 0) + " ...]";
  if (!readable || count > kMostPrintedElements || literal.is_elsewhere()) return text + "abridged]";
  for (int64_t i = 0; i < count; ++i) text += (i ? " " : "") + element(literal, i);
  return text + "]";
}

std::string text_of(const AttrValue& value) {
  struct Visitor {
    std::string operator()(bool b) const { return b ? "true" : "false"; }
    std::string operator()(int64_t i) const { return std::to_string(i); }
    // The shortest text that reads as the same number.
    std::string operator()(double number) const {
      char text[32];
      return {text, std::to_chars(text, text + sizeof text, number).ptr};
    }
    std::string operator()(const std::string& word) const { return word; }
    std::string operator()(const Dims& dims) const { return list(dims); }
    std::string operator()(const Shape& shape) const { return to_string(shape); }
    std::string operator()(DType dtype) const { return std::string(name(dtype)); }
    std::string operator()(const LiteralRef& literal) const { return text_of(*literal); }
  };
  return std::visit(Visitor(), value);
}

class Printer {
 public:
  explicit Printer(const StoreLiteral& store) : store_(store) {}

  std::string print(const Graph& graph) {
    out_ = "graph {\n";
    print(graph.body(), "  ");
    return out_ + "}\n";
  }

 private:
  void print(const Block& block, const std::string& indent) {
    for (const auto& op : block.ops) print(*op, indent);
    out_ += indent + "return (" + names(block.results) + ")";
    if (!block.effects.empty()) out_ += " do (" + names(block.effects) + ")";
    out_ += "\n";
  }

  void print(const Op& op, const std::string& indent) {
    // Every op gets a number, with or without results: effects and `after` refer to it.
    const size_t n = ids_.size();
    ids_[&op] = n;
    out_ += indent + "%" + std::to_string(n) + " = " + std::string(op.info().name) + "(" + names(op.operands) + ")";
    if (!op.attributes.entries().empty()) {
      out_ += " {";
      bool first = true;
      for (const auto& [attr, value] : op.attributes.entries()) {
        out_ += (first ? "" : ", ") + std::string(name(attr)) + " = " + text(op, value);
        first = false;
      }
      out_ += "}";
    }
    if (!op.after.empty()) out_ += " after (" + names(op.after) + ")";
    if (!op.name.empty()) out_ += " " + quote(op.name);
    for (size_t i = 0; i < op.results.size(); ++i) out_ += (i ? ", " : " : ") + to_string(op.results[i]);
    out_ += "\n";
    for (const auto& region : op.regions) {
      out_ += indent + "region " + arguments(*region) + "{\n";
      print(*region, indent + "  ");
      out_ += indent + "}\n";
    }
  }

  std::string text(const Op& op, const AttrValue& value) const {
    const LiteralRef* const literal = std::get_if<LiteralRef>(&value);
    if (literal == nullptr || !store_) return text_of(value);
    const std::string at = std::to_string(store_(op, **literal));
    return to_string((*literal)->type()) + "[at " + at + ((*literal)->is_splat() ? " ...]" : "]");
  }

  std::string arguments(const Block& region) {
    if (region.arguments.empty()) return "";
    std::string text = "(";
    for (const auto& argument : region.arguments) {
      ids_.emplace(argument.get(), ids_.size());
      text += (text.size() > 1 ? ", " : "") + name_of(argument.get()) + " : " + to_string(argument->results[0]);
    }
    return text + ") ";
  }

  std::string name_of(const Op* op) { return "%" + std::to_string(ids_.at(op)); }

  std::string names(const std::vector<Value>& values) {
    std::string text;
    for (const Value& v : values) {
      text += (text.empty() ? "" : ", ") + name_of(v.op) + (v.index > 0 ? "#" + std::to_string(v.index) : "");
    }
    return text;
  }
  std::string names(const std::vector<Op*>& ops) {
    std::string text;
    for (const Op* op : ops) text += (text.empty() ? "" : ", ") + name_of(op);
    return text;
  }

  const StoreLiteral& store_;
  std::string out_;
  std::unordered_map<const Op*, size_t> ids_;
};

}  // namespace

std::string to_string(const AttrValue& value) { return text_of(value); }

std::string print(const Graph& graph) { return print(graph, nullptr); }

std::string print(const Graph& graph, const StoreLiteral& store) { return Printer(store).print(graph); }

}  // namespace alloy::ir

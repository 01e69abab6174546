// The text form of a graph: printing, and parsing what was printed. The grammar is in README.md beside this file.
#include <charconv>
#include <cmath>
#include <cstring>

#include "ir/graph.h"

namespace alloy::ir {
namespace {

constexpr int64_t kMostPrintedElements = 64;

// ---- printing ----

std::string quote(const std::string& text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

std::string number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  char buffer[64];
  return std::string(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
}

// The shortest text that reads back as the same element.
std::string element(const Literal& literal, int64_t i) {
  const size_t width = size_of(literal.type().dtype);
  const std::byte* at = literal.bytes().data() + (literal.is_splat() ? 0 : static_cast<size_t>(i) * width);
  if (literal.type().dtype == DType::int64) {
    int64_t exact;
    std::memcpy(&exact, at, sizeof exact);
    return std::to_string(exact);
  }
  if (literal.type().dtype != DType::float32) return number(literal.at(i));
  float value;
  std::memcpy(&value, at, sizeof value);
  if (!std::isfinite(value)) return number(value);
  char buffer[64];
  return std::string(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
}

std::string list(const Dims& dims) {
  std::string text = "[";
  for (size_t i = 0; i < dims.size(); ++i) text += (i ? ", " : "") + std::to_string(dims[i]);
  return text + "]";
}

std::string text_of(const Literal& literal) {
  std::string text = to_string(literal.type()) + "[";
  const int64_t count = literal.type().shape.element_count();
  if (literal.is_splat()) return text + element(literal, 0) + " ...]";
  if (count > kMostPrintedElements) return text + "abridged]";
  for (int64_t i = 0; i < count; ++i) text += (i ? " " : "") + element(literal, i);
  return text + "]";
}

std::string text_of(const AttrValue& value) {
  struct Visitor {
    std::string operator()(bool b) const { return b ? "true" : "false"; }
    std::string operator()(int64_t i) const { return std::to_string(i); }
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
    // An op is named whether or not it has results: effects and `after` refer to it.
    const size_t n = ids_.size();
    ids_[&op] = n;
    out_ += indent + "%" + std::to_string(n) + " = " + std::string(op.info().name) + "(" + names(op.operands) + ")";
    if (!op.attributes.entries().empty()) {
      out_ += " {";
      bool first = true;
      for (const auto& [attr, value] : op.attributes.entries()) {
        out_ += (first ? "" : ", ") + std::string(name(attr)) + " = " + text_of(value);
        first = false;
      }
      out_ += "}";
    }
    if (!op.after.empty()) out_ += " after (" + names(op.after) + ")";
    if (!op.name.empty()) out_ += " " + quote(op.name);
    for (size_t i = 0; i < op.results.size(); ++i) out_ += (i ? ", " : " : ") + to_string(op.results[i]);
    out_ += "\n";
    for (const auto& region : op.regions) {
      out_ += indent + "region {\n";
      print(*region, indent + "  ");
      out_ += indent + "}\n";
    }
  }

  std::string name_of(const Op* op) { return "%" + std::to_string(ids_.at(op)); }

  std::string names(const std::vector<Value>& values) {
    std::string text;
    for (const Value& v : values) text += (text.empty() ? "" : ", ") + name_of(v.op) + (v.index > 0 ? "#" + std::to_string(v.index) : "");
    return text;
  }
  std::string names(const std::vector<Op*>& ops) {
    std::string text;
    for (const Op* op : ops) text += (text.empty() ? "" : ", ") + name_of(op);
    return text;
  }

  std::string out_;
  std::unordered_map<const Op*, size_t> ids_;
};

// ---- parsing ----

class Parser {
 public:
  explicit Parser(std::string_view text) : rest_(text) {}

  std::unique_ptr<Graph> parse() {
    graph_ = std::make_unique<Graph>();
    expect("graph");
    expect("{");
    parse_block(graph_->body().results, graph_->body().effects);
    if (!rest_.empty()) fail("Expected the end of the text");
    return std::move(graph_);
  }

 private:
  [[noreturn]] void fail(const std::string& message) {
    throw Error(Error::Kind::kValue, "[parse] " + message + "; line " + std::to_string(line_) + ".");
  }

  void skip_blanks() {
    while (!rest_.empty() && std::isspace(static_cast<unsigned char>(rest_.front()))) {
      if (rest_.front() == '\n') ++line_;
      rest_.remove_prefix(1);
    }
  }

  bool accept(std::string_view token) {
    skip_blanks();
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    skip_blanks();
    return true;
  }

  void expect(std::string_view token) {
    if (!accept(token)) fail("Expected '" + std::string(token) + "'");
  }

  std::string word() {
    skip_blanks();
    size_t n = 0;
    while (n < rest_.size() && (std::isalnum(static_cast<unsigned char>(rest_[n])) || rest_[n] == '_' || rest_[n] == '-' ||
                                rest_[n] == '+' || rest_[n] == '.')) {
      ++n;
    }
    if (n == 0) fail("Expected a word or a number");
    std::string text(rest_.substr(0, n));
    rest_.remove_prefix(n);
    skip_blanks();
    return text;
  }

  int64_t integer() {
    const std::string text = word();
    int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) fail("Expected an integer, got '" + text + "'");
    return value;
  }

  template <class F>
  void sequence(std::string_view open, std::string_view close, F item) {
    expect(open);
    if (accept(close)) return;
    do item();
    while (accept(","));
    expect(close);
  }

  Op* op_reference() {
    expect("%");
    const int64_t n = integer();
    const auto it = ops_.find(n);
    if (it == ops_.end()) fail("%" + std::to_string(n) + " is not defined before its use");
    return it->second;
  }

  Value value_reference() {
    Value v{op_reference(), 0};
    if (accept("#")) v.index = static_cast<uint32_t>(integer());
    if (v.index >= v.op->results.size()) fail("The op has no such result");
    return v;
  }

  Shape shape() {
    if (accept("(...)")) return Shape::unranked();
    Dims dims;
    expect("(");
    while (!accept(")")) {
      dims.push_back(accept("?") ? kUnknown : integer());
      accept(",");
    }
    return Shape(dims);
  }

  DType dtype() {
    const std::string text = word();
    const auto found = dtype_named(text);
    if (!found) fail("Expected an element type, got '" + text + "'");
    return *found;
  }

  LiteralRef literal() {
    Type type;
    type.dtype = dtype();
    type.shape = shape();
    if (!type.is_static()) fail("Expected the type of a constant to be known in full");
    expect("[");
    if (accept("abridged]")) fail("The constant was abridged when it was printed");
    std::vector<std::byte> bytes;
    while (!accept("]")) {
      if (accept("...")) continue;
      append(bytes, type.dtype);
    }
    try {
      return std::make_shared<Literal>(type, bytes);
    } catch (const std::invalid_argument& error) {
      fail(error.what());
    }
  }

  void append(std::vector<std::byte>& bytes, DType dtype) {
    const std::string text = word();
    if (dtype == DType::int64) {
      const int64_t exact = std::strtoll(text.c_str(), nullptr, 10);
      const auto* raw = reinterpret_cast<const std::byte*>(&exact);
      bytes.insert(bytes.end(), raw, raw + sizeof exact);
      return;
    }
    const LiteralRef one = Literal::splat({dtype, Shape()}, std::strtod(text.c_str(), nullptr));
    bytes.insert(bytes.end(), one->bytes().begin(), one->bytes().end());
  }

  AttrValue attribute_value(Attr attr) {
    switch (kind(attr)) {
      case AttrKind::Bool: return word() == "true";
      case AttrKind::Int: return integer();
      case AttrKind::Word: return word();
      case AttrKind::Shape: return shape();
      case AttrKind::DType: return dtype();
      case AttrKind::Literal: return literal();
      case AttrKind::Ints: break;
    }
    Dims dims;
    sequence("[", "]", [&] { dims.push_back(integer()); });
    return dims;
  }

  void parse_block(std::vector<Value>& results, std::vector<Op*>& effects) {
    while (!accept("return")) parse_op();
    sequence("(", ")", [&] { results.push_back(value_reference()); });
    if (accept("do")) sequence("(", ")", [&] { effects.push_back(op_reference()); });
    expect("}");
  }

  void parse_op() {
    expect("%");
    const int64_t n = integer();
    expect("=");
    const std::string op_name = word();
    const OpInfo* row = find_op(op_name);
    if (row == nullptr) fail("There is no op '" + op_name + "'");
    std::vector<Value> operands;
    sequence("(", ")", [&] { operands.push_back(value_reference()); });
    Attributes attributes;
    if (accept("{")) {
      do {
        const std::string key = word();
        const auto attr = attr_named(key);
        if (!attr) fail("There is no attribute '" + key + "'");
        expect("=");
        attributes.set(*attr, attribute_value(*attr));
      } while (accept(","));
      expect("}");
    }
    std::vector<Op*> after;
    if (accept("after")) sequence("(", ")", [&] { after.push_back(op_reference()); });
    const std::string label = accept("\"") ? quoted() : "";
    std::vector<Type> types;
    if (accept(":")) {
      do {
        const DType d = dtype();
        types.push_back({d, shape()});
      } while (accept(","));
    }
    std::vector<std::unique_ptr<Block>> regions;
    while (accept("region")) {
      expect("{");
      graph_->open_region();
      std::vector<Value> results;
      std::vector<Op*> effects;
      parse_block(results, effects);
      regions.push_back(graph_->close_region(std::move(results)));
    }
    graph_->after = after;
    graph_->name = label;
    const int64_t slot = attributes.has(Attr::kSlot) ? attributes.integer(Attr::kSlot) : 0;
    Op* op = graph_->add(row->code, std::move(operands), std::move(attributes), std::move(regions));
    if (op->code == OpCode::variable) op->attributes.set(Attr::kSlot, slot);
    if (op->results != types) fail("The op has other types than those written");
    if (!ops_.emplace(n, op).second) fail("%" + std::to_string(n) + " is defined twice");
  }

  std::string quoted() {
    std::string text;
    while (!rest_.empty() && rest_.front() != '"') {
      if (rest_.front() == '\\') rest_.remove_prefix(1);
      if (rest_.empty()) break;
      text += rest_.front();
      rest_.remove_prefix(1);
    }
    expect("\"");
    return text;
  }

  std::string_view rest_;
  int line_ = 1;
  std::unique_ptr<Graph> graph_;
  std::unordered_map<int64_t, Op*> ops_;
};

}  // namespace

std::string print(const Graph& graph) { return Printer().print(graph); }
std::unique_ptr<Graph> parse(std::string_view text) { return Parser(text).parse(); }

}  // namespace alloy::ir

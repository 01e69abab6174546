// The text form of a graph: printing, and parsing what was printed. The grammar is in README.md beside this file.
#include <locale.h>
#include <stdlib.h>
#if __has_include(<xlocale.h>)
#include <xlocale.h>
#endif

#include <charconv>
#include <cmath>
#include <cstring>
#include <unordered_set>

#include "ir/graph.h"

namespace alloy::ir {
namespace {

constexpr int64_t kMostPrintedElements = 64;

// Calls f with a zero of the C++ type of the elements; does nothing for types whose numbers have none.
template <class F>
bool with_number(DType dtype, F f) {
  switch (dtype) {
    case DType::float32: f(float{}); return true;
    case DType::int8: f(int8_t{}); return true;
    case DType::int16: f(int16_t{}); return true;
    case DType::int32: f(int32_t{}); return true;
    case DType::int64: f(int64_t{}); return true;
    case DType::uint8: f(uint8_t{}); return true;
    case DType::uint16: f(uint16_t{}); return true;
    case DType::uint32: f(uint32_t{}); return true;
    case DType::uint64: f(uint64_t{}); return true;
    case DType::boolean: f(bool{}); return true;
    default: return false;
  }
}

// ---- printing ----

std::string quote(const std::string& text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

// Whether the whole text is a number of the type, which then is in `value`. Floats: Apple's library has no from_chars
// for them.
template <class T>
bool read_number(const std::string& text, T& value) {
  const char* const begin = text.c_str();
  const char* const end = begin + text.size();
  if constexpr (std::is_floating_point_v<T>) {
    if (text != "inf" && text != "-inf" && text != "nan" &&
        text.find_first_not_of("+-.0123456789e") != std::string::npos) {
      return false;
    }
    static const locale_t with_points = newlocale(LC_ALL_MASK, "C", nullptr);  // whatever the program has chosen
    char* stop = nullptr;
    value = strtof_l(begin, &stop, with_points);
    return stop == end && text[0] != '+' && (!std::isinf(value) || text.ends_with("inf"));
  } else {
    const auto [stop, error] = std::from_chars(begin, end, value);
    return error == std::errc() && stop == end;
  }
}

// The shortest text that reads back as the same element; every NaN is "nan".
std::string element(const Literal& literal, int64_t i) {
  const size_t width = size_of(literal.type().dtype);
  const std::byte* at = literal.bytes().data() + (literal.is_splat() ? 0 : i * width);
  if (literal.type().dtype == DType::boolean) return *at == std::byte{0} ? "0" : "1";
  std::string text;
  with_number(literal.type().dtype, [&](auto value) {
    std::memcpy(&value, at, sizeof value);
    char buffer[64];
    if constexpr (!std::is_same_v<decltype(value), bool>) {
      text.assign(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
    }
    if constexpr (std::is_floating_point_v<decltype(value)>) text = std::isnan(value) ? "nan" : text;
  });
  return text;
}

std::string list(const Dims& dims) {
  std::string text = "[";
  for (int64_t i = 0; i < dims.size(); ++i) text += (i ? ", " : "") + std::to_string(dims[i]);
  return text + "]";
}

std::string text_of(const Literal& literal) {
  std::string text = to_string(literal.type()) + "[";
  const int64_t count = literal.type().shape.element_count();
  const bool has_text = with_number(literal.type().dtype, [](auto) {});
  if (has_text && literal.is_splat()) return text + element(literal, 0) + " ...]";
  if (!has_text || count > kMostPrintedElements || literal.is_elsewhere()) return text + "abridged]";
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
      out_ += indent + "region " + arguments(*region) + "{\n";
      print(*region, indent + "  ");
      out_ += indent + "}\n";
    }
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
    parse_block(graph_->body().results, graph_->body().effects, false);
    skip_blanks();
    if (!rest_.empty()) fail("Expected the end of the text");
    return std::move(graph_);
  }

 private:
  [[noreturn]] void fail(const std::string& message) { fail(message, line_); }
  [[noreturn]] void fail(const std::string& message, int line) {
    throw Error(Error::Kind::kValue, "[parse] " + message + "; line " + std::to_string(line) + ".");
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
    return true;
  }

  void expect(std::string_view token) {
    if (!accept(token)) fail("Expected '" + std::string(token) + "'");
  }

  std::string word() {
    skip_blanks();
    size_t n = 0;
    while (n < rest_.size() && (std::isalnum(static_cast<unsigned char>(rest_[n])) || rest_[n] == '_' ||
                                rest_[n] == '-' || rest_[n] == '+' || rest_[n] == '.')) {
      ++n;
    }
    if (n == 0) fail("Expected a word or a number");
    std::string text(rest_.substr(0, n));
    rest_.remove_prefix(n);
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
    Op* op = op_reference();
    const int64_t index = accept("#") ? integer() : 0;
    if (index < 0 || index >= static_cast<int64_t>(op->results.size())) fail("The op has no such result");
    return {op, static_cast<uint32_t>(index)};
  }

  Shape shape() {
    if (accept("(...)")) return Shape::unranked();
    Dims dims;
    expect("(");
    while (!accept(")")) {
      dims.push_back(accept("?") ? kUnknown : dimension());
      if (accept(",")) continue;
      expect(")");
      break;
    }
    return Shape(dims);
  }

  int64_t dimension() {
    const int64_t d = integer();
    if (d < 0) fail("Expected a dimension, got " + std::to_string(d));
    return d;
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
    if (!type.is_addressable()) fail("A constant cannot have the type " + to_string(type));
    expect("[");
    if (accept("abridged]")) fail("The constant was abridged when it was printed");
    std::vector<std::byte> bytes;
    bool splat = false;
    while (!splat && !accept("]")) {
      splat = accept("...");
      if (!splat) append(bytes, type.dtype);
    }
    const size_t elements = bytes.size() / size_of(type.dtype);
    if (splat) {
      if (elements != 1) fail("Expected one element before '...'");
      expect("]");
    } else if (bytes.size() != type.byte_count()) {
      fail("A constant " + to_string(type) + " has " + std::to_string(type.shape.element_count()) + " elements, not " +
           std::to_string(elements));
    }
    return std::make_shared<Literal>(type, bytes);
  }

  void append(std::vector<std::byte>& bytes, DType dtype) {
    const std::string text = word();
    bool legal = false;
    with_number(dtype, [&](auto value) {
      if constexpr (std::is_same_v<decltype(value), bool>) {
        legal = text == "0" || text == "1";
        value = text == "1";
      } else {
        legal = read_number(text, value);
      }
      const auto* raw = reinterpret_cast<const std::byte*>(&value);
      bytes.insert(bytes.end(), raw, raw + sizeof value);
    });
    if (!legal) fail("Expected an element of " + std::string(name(dtype)) + ", got '" + text + "'");
  }

  bool boolean() {
    const std::string text = word();
    if (text != "true" && text != "false") fail("Expected true or false, got '" + text + "'");
    return text == "true";
  }

  AttrValue attribute_value(Attr attr) {
    switch (kind(attr)) {
      case AttrKind::Bool: return boolean();
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

  // What is defined in a block is known in it and in its regions only.
  void parse_block(std::vector<Value>& results, std::vector<Op*>& effects, bool is_region) {
    const auto outer = ops_;
    std::vector<Op*> in_it;
    while (!accept("return")) {
      Op* op = parse_op();
      if (has_effect(*op)) in_it.push_back(op);
    }
    sequence("(", ")", [&] { results.push_back(value_reference()); });
    if (accept("do")) sequence("(", ")", [&] { effects.push_back(op_reference()); });
    if (is_region && effects != in_it) fail("The region has other effects than those written");
    expect("}");
    ops_ = outer;
  }

  std::unique_ptr<Block> parse_region() {
    const auto outer = ops_;
    std::vector<int64_t> numbers;
    std::vector<Type> types;
    if (accept("(")) {
      do {
        numbers.push_back(new_number());
        expect(":");
        types.push_back(type());
      } while (accept(","));
      expect(")");
    }
    graph_->location = "line " + std::to_string(line_);
    const std::vector<Value> arguments = graph_->open_region(types);
    for (size_t i = 0; i < numbers.size(); ++i) {
      arguments[i].op->location.clear();
      if (!ops_.emplace(numbers[i], arguments[i].op).second) fail(defined_twice(numbers[i]));
    }
    expect("{");
    std::vector<Value> results;
    std::vector<Op*> effects;
    parse_block(results, effects, true);
    ops_ = outer;
    return graph_->close_region(std::move(results));
  }

  static std::string defined_twice(int64_t n) { return "%" + std::to_string(n) + " is defined twice"; }

  int64_t new_number() {
    expect("%");
    const int64_t n = integer();
    if (ops_.contains(n)) fail(defined_twice(n));
    return n;
  }

  Type type() {
    const DType d = dtype();
    return {d, shape()};
  }

  Op* parse_op() {
    skip_blanks();
    const int line = line_;
    const int64_t n = new_number();
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
      do types.push_back(type());
      while (accept(","));
    }
    std::vector<std::unique_ptr<Block>> regions;
    while (accept("region")) regions.push_back(parse_region());
    if (row->code == OpCode::variable) {
      if (!attributes.has(Attr::kSlot)) fail("The attribute slot is missing", line);
      const int64_t slot = attributes.integer(Attr::kSlot);
      if (slot < 0 || slot == INT64_MAX) fail("Expected a slot of 0 or more, got " + std::to_string(slot), line);
      if (!slots_.insert(slot).second) fail("Another variable has slot " + std::to_string(slot), line);
    }
    graph_->after = after;
    graph_->name = label;
    graph_->location = "line " + std::to_string(line);  // for a message of the grammar or a rule
    Op* op = graph_->add(row->code, std::move(operands), std::move(attributes), std::move(regions));
    op->location.clear();
    if (op->results != types) fail("The op has other types than those written", line);
    ops_[n] = op;
    return op;
  }

  std::string quoted() {
    std::string text;
    while (!rest_.empty() && rest_.front() != '"') {
      if (rest_.front() == '\\') rest_.remove_prefix(1);
      if (rest_.empty()) break;
      if (rest_.front() == '\n') ++line_;
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
  std::unordered_set<int64_t> slots_;
};

}  // namespace

std::string to_string(const AttrValue& value) { return text_of(value); }
std::string print(const Graph& graph) { return Printer().print(graph); }
std::unique_ptr<Graph> parse(std::string_view text) { return Parser(text).parse(); }

}  // namespace alloy::ir

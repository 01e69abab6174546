// parse(): reads a graph from its text form (grammar: csrc/ir/README.md).
#include <cctype>
#include <charconv>
#include <unordered_map>
#include <unordered_set>

#include "ir/text/element_text.h"
#include "ir/text/text.h"

namespace alloy::ir {
namespace {

class Parser {
 public:
  Parser(std::string_view text, const LoadLiteral& load, Graph& graph) : rest_(text), load_(load), graph_(graph) {}

  void parse() {
    expect("graph");
    expect("{");
    parse_block(graph_.body().results, graph_.body().effects, false);
    skip_blanks();
    if (!rest_.empty()) fail("Expected the end of the text");
    graph_.after.clear();
    graph_.name.clear();
    graph_.location.clear();
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

  double number() {
    const std::string text = word();
    double value = 0;
    if (!read_number(text, value)) fail("Expected a number, got '" + text + "'");
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

  LiteralRef literal(OpCode code) {
    Type type;
    type.dtype = dtype();
    type.shape = shape();
    if (!type.is_static()) fail("Expected the type of a constant to be known in full");
    if (!type.is_addressable()) fail("A constant cannot have the type " + to_string(type));
    expect("[");
    if (accept("abridged]")) fail("The constant was abridged when it was printed");
    if (accept("at ")) return stored(code, type);
    if (load_) fail("Expected the place of the elements, which are not in the text");
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

  LiteralRef stored(OpCode code, const Type& type) {
    const int64_t at = integer();
    const bool is_splat = accept("...");
    expect("]");
    if (!load_) fail("The elements of the constant are not kept in the text");
    return load_({code, type, at, is_splat});
  }

  void append(std::vector<std::byte>& bytes, DType dtype) {
    const std::string text = word();
    if (append_element(dtype, text, bytes)) return;
    fail("Expected an element of " + std::string(name(dtype)) + ", got '" + text + "'");
  }

  bool boolean() {
    const std::string text = word();
    if (text != "true" && text != "false") fail("Expected true or false, got '" + text + "'");
    return text == "true";
  }

  AttrValue attribute_value(OpCode code, Attr attr) {
    switch (kind(attr)) {
      case AttrKind::Bool: return boolean();
      case AttrKind::Int: return integer();
      case AttrKind::Float: return number();
      case AttrKind::Word: return word();
      case AttrKind::Shape: return shape();
      case AttrKind::DType: return dtype();
      case AttrKind::Literal: return literal(code);
      case AttrKind::Ints: break;
    }
    Dims dims;
    sequence("[", "]", [&] { dims.push_back(integer()); });
    return dims;
  }

  // A block's values are known only in the block and its regions.
  void parse_block(std::vector<Value>& results, std::vector<Op*>& effects, bool is_region) {
    const size_t outside = defined_.size();
    std::vector<Op*> in_it;
    while (!accept("return")) {
      Op* op = parse_op();
      if (has_effect(*op)) in_it.push_back(op);
    }
    sequence("(", ")", [&] { results.push_back(value_reference()); });
    if (accept("do")) sequence("(", ")", [&] { effects.push_back(op_reference()); });
    if (is_region && effects != in_it) fail("The region has other effects than those written");
    expect("}");
    forget(outside);
  }

  std::unique_ptr<Block> parse_region() {
    if (nested_ == kMostNestedRegions) {
      fail("More than " + std::to_string(kMostNestedRegions) + " regions lie within one another");
    }
    ++nested_;
    const size_t outside = defined_.size();
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
    graph_.location = "line " + std::to_string(line_);
    const std::vector<Value> arguments = graph_.open_region(types);
    for (size_t i = 0; i < numbers.size(); ++i) {
      arguments[i].op->location.clear();
      if (!define(numbers[i], arguments[i].op)) fail(defined_twice(numbers[i]));
    }
    expect("{");
    std::vector<Value> results;
    std::vector<Op*> effects;
    parse_block(results, effects, true);
    forget(outside);
    --nested_;
    return graph_.close_region(std::move(results));
  }

  bool define(int64_t n, Op* op) {
    if (!ops_.emplace(n, op).second) return false;
    defined_.push_back(n);
    return true;
  }

  // Forgets all definitions but the first `count`.
  void forget(size_t count) {
    for (; defined_.size() > count; defined_.pop_back()) ops_.erase(defined_.back());
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
        if (attributes.has(*attr)) fail("The attribute " + key + " is written twice");
        expect("=");
        attributes.set(*attr, attribute_value(row->code, *attr));
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
    graph_.after = after;
    graph_.name = label;
    graph_.location = "line " + std::to_string(line);  // for a message of the grammar or a rule
    Op* op = graph_.add(row->code, std::move(operands), std::move(attributes), std::move(regions));
    op->location.clear();
    if (op->results != types) fail("The op has other types than those written", line);
    define(n, op);
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
  const LoadLiteral& load_;
  Graph& graph_;
  int nested_ = 0;                        // number of regions around the current position
  std::unordered_map<int64_t, Op*> ops_;  // the ops that can be used here, by number
  std::vector<int64_t> defined_;          // their numbers, in the order of definition
  std::unordered_set<int64_t> slots_;
};

}  // namespace

std::unique_ptr<Graph> parse(std::string_view text) {
  auto graph = std::make_unique<Graph>();
  parse(text, nullptr, *graph);
  return graph;
}

void parse(std::string_view text, const LoadLiteral& load, Graph& graph) { Parser(text, load, graph).parse(); }

}  // namespace alloy::ir

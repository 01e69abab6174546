// Tests the text form: a printed graph reads back as the same graph; illegal text is refused with its line.
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <random>
#include <sstream>

#include "graph_builder.h"
#include "ir/grammar.h"
#include "ir/text/text.h"

namespace alloy::test {
namespace {

// Prints, parses, prints: both texts must be the same and the graph in between legal.
void expect_round_trip(const Graph& graph) {
  const std::string text = print(graph);
  std::unique_ptr<Graph> again;
  ASSERT_EQ(error_of([&] { again = parse(text); }), "no error") << text;
  EXPECT_EQ(print(*again), text);
  EXPECT_EQ(verify(*again), std::vector<std::string>{});
}

TEST(Text, IsStable) {
  Graph graph;
  const Value x = placeholder(graph, f32({U, 2}));
  graph.name = "w";
  const Value w = variable(graph, f32({2}), 0.5);
  graph.name.clear();
  const Value flag = placeholder(graph, bools({}));
  Op* write = assign(graph, w, graph.value(OpCode::reshape, {x}, {{Attr::kShape, Shape({2})}}));
  graph.after = {write};
  const Value seen = read(graph, w);
  graph.after.clear();
  Op* branches = if_else(
      graph, flag, [&] { return std::vector{seen, x}; },
      [&] {
        assign(graph, w, seen);
        return std::vector{graph.value(OpCode::negative, {seen}), x};
      });
  graph.body().results = {{branches, 1}, seen};
  graph.body().effects = {branches};
  EXPECT_EQ(print(graph), R"(graph {
  %0 = placeholder() {shape = (?, 2), dtype = float32} : float32(?, 2)
  %1 = variable() {value = float32(2,)[0.5 ...], slot = 0} "w" : float32(2,)
  %2 = placeholder() {shape = (), dtype = bool} : bool()
  %3 = reshape(%0) {shape = (2,)} : float32(2,)
  %4 = assign(%1, %3)
  %5 = read_variable(%1) after (%4) : float32(2,)
  %6 = if_else(%2) : float32(2,), float32(?, 2)
  region {
    return (%5, %0)
  }
  region {
    %7 = assign(%1, %5)
    %8 = negative(%5) : float32(2,)
    return (%8, %0) do (%7)
  }
  return (%6#1, %5) do (%6)
}
)");
  expect_round_trip(graph);
}

TEST(Text, EveryOpGoesThroughIt) {
  Graph graph;
  add_every_op(graph);
  expect_round_trip(graph);
  expect_round_trip(Graph());
}

TEST(Text, KeepsWhatTheBodyDoesNotNeed) {
  Graph graph;
  placeholder(graph, f32({2}));
  EXPECT_EQ(parse(print(graph))->body().ops.size(), 1u);
}

TEST(Text, NamesAreAnyText) {
  for (const std::string name :
       {"plain", "  leading blanks", "trailing  ", " ", "\"", "say \"hi\"", "back\\slash", "\\", "\\\"", "{a, b}",
        ": float32()", "%0", "after (%0)", "line\nbreak", "\n", "\t tab", "gr\xc3\xbc\xc3\x9f"}) {
    SCOPED_TRACE(name);
    Graph graph;
    graph.name = name;
    const Value x = placeholder(graph, f32({2}));
    graph.body().results = {graph.value(OpCode::exp, {x})};
    expect_round_trip(graph);
    EXPECT_EQ(parse(print(graph))->body().ops[1]->name, name);
  }
}

// ---- constants ----

template <class T>
LiteralRef literal(DType dtype, const std::vector<T>& values) {
  return std::make_shared<Literal>(Type{dtype, Shape({static_cast<int64_t>(values.size())})},
                                   std::as_bytes(std::span(values)));
}

// The bytes of a constant after print and parse.
std::vector<std::byte> reread(const LiteralRef& value) {
  Graph graph;
  graph.value(OpCode::constant, {}, {{Attr::kValue, value}});
  expect_round_trip(graph);
  const auto again = parse(print(graph))->body().ops[0]->attributes.get<LiteralRef>(Attr::kValue);
  return {again->bytes().begin(), again->bytes().end()};
}

template <class T>
void expect_exact(DType dtype, const std::vector<T>& values) {
  const LiteralRef value = literal(dtype, values);
  EXPECT_EQ(reread(value), std::vector<std::byte>(value->bytes().begin(), value->bytes().end())) << name(dtype);
}

TEST(Text, ConstantsReadBackBitForBit) {
  using F = std::numeric_limits<float>;
  expect_exact<float>(DType::float32,
                      {0.0f, -0.0f, 1.0f, 0.1f, -1e-5f, F::max(), F::lowest(), F::min(), F::denorm_min(), F::infinity(),
                       -F::infinity(), 16777217.0f, std::nextafterf(1.0f, 2.0f)});
  expect_exact<int64_t>(DType::int64, {INT64_MAX, INT64_MIN, 0, -1, (int64_t{1} << 53) + 1});
  expect_exact<uint64_t>(DType::uint64, {UINT64_MAX, 0, (uint64_t{1} << 63) + 1, (uint64_t{1} << 53) + 1});
  expect_exact<int32_t>(DType::int32, {INT32_MAX, INT32_MIN, 0, -1});
  expect_exact<uint32_t>(DType::uint32, {UINT32_MAX, 0});
  expect_exact<int16_t>(DType::int16, {INT16_MAX, INT16_MIN});
  expect_exact<uint16_t>(DType::uint16, {UINT16_MAX, 0});
  expect_exact<int8_t>(DType::int8, {127, -128});
  expect_exact<uint8_t>(DType::uint8, {255, 0});
  expect_exact<uint8_t>(DType::boolean, {1, 0, 1});
}

// Elements stored outside the text: any bits, and types without text.
TEST(Text, ElementsCanBeKeptElsewhere) {
  Graph graph;
  const std::vector<uint32_t> nans{0x7fc12345u, 0xff800001u};
  const LiteralRef kept[] = {literal<uint32_t>(DType::float32, nans), literal<uint64_t>(DType::complex64, {1, 2, 3}),
                             Literal::splat(f32({500}), 2.5)};
  for (const LiteralRef& value : kept) graph.value(OpCode::constant, {}, {{Attr::kValue, value}});
  int64_t next = 0;
  const std::string text = print(graph, [&](const Op&, const Literal& value) {
    EXPECT_EQ(&value, kept[next].get());
    return 10 * next++;
  });
  EXPECT_NE(text.find("value = complex64(3,)[at 10]"), std::string::npos) << text;
  EXPECT_NE(text.find("value = float32(500,)[at 20 ...]"), std::string::npos) << text;
  Graph again;
  parse(
      text,
      [&](const StoredLiteral& stored) {
        const LiteralRef& value = kept[stored.at / 10];
        EXPECT_EQ(stored.code, OpCode::constant);
        EXPECT_TRUE(stored.type == value->type() && stored.is_splat == value->is_splat());
        return value;
      },
      again);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(again.body().ops[i]->attributes.get<LiteralRef>(Attr::kValue), kept[i]);
  }
  EXPECT_EQ(error_of([&] { parse(text); }), "[parse] The elements of the constant are not kept in the text; line 2.");
}

TEST(Text, RandomFloatsReadBackBitForBit) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<uint32_t> bits(50);
    for (uint32_t& b : bits) {
      b = static_cast<uint32_t>(random());
      if ((b & 0x7f800000u) == 0x7f800000u) {
        b &= 0xff800000u;  // infinities keep their sign; the kind of a NaN is not kept
      }
    }
    expect_exact<uint32_t>(DType::float32, bits);
  }
}

TEST(Text, ANaNStaysANaN) {
  const std::vector<std::byte> bytes = reread(literal<float>(DType::float32, {std::nanf(""), 1}));
  float first;
  std::memcpy(&first, bytes.data(), sizeof first);
  EXPECT_TRUE(std::isnan(first));
}

TEST(Text, SplatsStaySplats) {
  for (const Shape& shape : {Shape({2}), Shape({1000, 1000}), Shape({0}), Shape({3, 0})}) {
    SCOPED_TRACE(to_string(shape));
    Graph graph;
    const Value c = constant(graph, f32(shape), -2.5);
    expect_round_trip(graph);
    EXPECT_NE(print(graph).find("[-2.5 ...]"), std::string::npos);
    EXPECT_TRUE(parse(print(graph))->body().ops[0]->attributes.get<LiteralRef>(Attr::kValue)->is_splat());
    EXPECT_EQ(c.shape(), shape);
  }
  Graph one;
  constant(one, f32({1}), -2.5);
  EXPECT_NE(print(one).find("float32(1,)[-2.5]"), std::string::npos);
  expect_round_trip(one);
  Graph empty;
  empty.value(OpCode::constant, {}, {{Attr::kValue, literal<float>(DType::float32, {})}});
  EXPECT_NE(print(empty).find("float32(0,)[]"), std::string::npos);
  expect_round_trip(empty);
}

TEST(Text, LongConstantsAreAbridged) {
  Graph graph;
  graph.value(OpCode::constant, {}, {{Attr::kValue, literal<float>(DType::float32, std::vector<float>(64, 1))}});
  expect_round_trip(graph);
  graph.value(OpCode::constant, {}, {{Attr::kValue, literal<float>(DType::float32, std::vector<float>(65, 1))}});
  const std::string text = print(graph);
  EXPECT_NE(text.find("float32(65,)[abridged]"), std::string::npos);
  EXPECT_EQ(error_of([&] { parse(text); }), "[parse] The constant was abridged when it was printed; line 3.");
}

// Printing shows graphs that do not work, so it must accept types without numbers.
TEST(Text, TypesWithoutNumbersAreAbridged) {
  for (DType dtype : {DType::complex32, DType::complex64}) {
    Graph graph;
    const std::vector<std::byte> bytes(2 * size_of(dtype), std::byte{1});
    graph.value(OpCode::constant, {}, {{Attr::kValue, std::make_shared<Literal>(Type{dtype, Shape({2})}, bytes)}});
    graph.value(
        OpCode::constant, {},
        {{Attr::kValue, std::make_shared<Literal>(Type{dtype, Shape({2})}, std::span(bytes).first(size_of(dtype)))}});
    std::string text;
    ASSERT_NO_THROW(text = print(graph));
    EXPECT_NE(text.find(std::string(name(dtype)) + "(2,)[abridged]"), std::string::npos) << text;
  }
}

// ---- mistakes ----

// The error of a text whose second line is `line`.
std::string mistake(const std::string& line, const std::string& rest = "  return ()\n}\n") {
  return error_of([&] { parse("graph {\n" + line + "\n" + rest); });
}

const char* const kX = "  %0 = placeholder() {shape = (2,), dtype = float32} : float32(2,)";

// The error of a text whose third line is `line`, after a placeholder %0 of float32(2,).
std::string second_mistake(const std::string& line) {
  return error_of([&] { parse(std::string("graph {\n") + kX + "\n" + line + "\n  return ()\n}\n"); });
}

TEST(Parse, NamesTheLineOfTheMistake) {
  EXPECT_EQ(mistake(kX), "no error");
  EXPECT_EQ(error_of([] { parse(""); }), "[parse] Expected 'graph'; line 1.");
  EXPECT_EQ(error_of([] { parse("graph"); }), "[parse] Expected '{'; line 1.");
  EXPECT_EQ(error_of([] { parse("graph {\n  return ()\n}\n}"); }), "[parse] Expected the end of the text; line 4.");
  EXPECT_EQ(error_of([] { parse("graph {\n  return ()\n"); }), "[parse] Expected '}'; line 3.");
  EXPECT_EQ(mistake("  %0 = frobnicate()"), "[parse] There is no op 'frobnicate'; line 2.");
  EXPECT_EQ(mistake("  %0 = exp(%1) : float32(2,)"), "[parse] %1 is not defined before its use; line 2.");
  EXPECT_EQ(mistake("  %0 = exp(%0) : float32(2,)"), "[parse] %0 is not defined before its use; line 2.");
  EXPECT_EQ(mistake("  %x = exp()"), "[parse] Expected an integer, got 'x'; line 2.");
  EXPECT_EQ(mistake("  %9223372036854775808 = exp()"),
            "[parse] Expected an integer, got '9223372036854775808'; line 2.");
  EXPECT_EQ(mistake("  %0 = placeholder() {shape = (2,), dtype = float99} : float32(2,)"),
            "[parse] Expected an element type, got 'float99'; line 2.");
  EXPECT_EQ(mistake("  %0 = placeholder() {extent = 3} : float32(2,)"),
            "[parse] There is no attribute 'extent'; line 2.");
  EXPECT_EQ(mistake("  %0 = placeholder() {shape = 3} : float32(2,)"), "[parse] Expected '('; line 2.");
  EXPECT_EQ(second_mistake("  %1 = exp(%0) : float32(3,)"),
            "[parse] The op has other types than those written; line 3.");
  EXPECT_EQ(second_mistake("  %1 = exp(%0)"), "[parse] The op has other types than those written; line 3.");
  EXPECT_EQ(second_mistake("  %0 = exp(%0) : float32(2,)"), "[parse] %0 is defined twice; line 3.");
  EXPECT_EQ(second_mistake("  %1 = exp(%0#1) : float32(2,)"), "[parse] The op has no such result; line 3.");
  EXPECT_EQ(second_mistake("  %1 = exp(%0#4294967296) : float32(2,)"), "[parse] The op has no such result; line 3.");
  EXPECT_EQ(second_mistake("  %1 = exp(%0#-1) : float32(2,)"), "[parse] The op has no such result; line 3.");
  EXPECT_EQ(mistake(kX, "  return (%1)\n}"), "[parse] %1 is not defined before its use; line 3.");
  EXPECT_EQ(mistake(kX, "  return (%0) do (%1)\n}"), "[parse] %1 is not defined before its use; line 3.");
}

// What the grammar or a rule refuses has a line too.
TEST(Parse, NamesTheLineOfAnIllegalOp) {
  EXPECT_EQ(second_mistake("  %1 = add(%0) : float32(2,)"), "[add] Expected 2 operands, got 1; built at line 3.");
  EXPECT_EQ(second_mistake("  %1 = sum(%0) {axes = [1]} : float32(2,)"),
            "[sum] Axis 1 is outside a tensor of rank 1; built at line 3.");
  EXPECT_EQ(second_mistake("  %1 = sum(%0) : float32(2,)"), "[sum] The attribute axes is missing; built at line 3.");
  EXPECT_EQ(second_mistake("  %1 = if_else(%0)"), "[if_else] Expected 2 regions; built at line 3.");
  EXPECT_EQ(second_mistake("  %1 = if_else(%0)\n  region {\n    return ()\n  }\n  region {\n    return ()\n  }"),
            "[if_else] Expected a predicate of one element, got float32(2,); built at line 3.");
  // The position in the text is not a location in the user's source.
  EXPECT_EQ(parse(std::string("graph {\n") + kX + "\n return () }")->body().ops[0]->location, "");
}

TEST(Parse, RefusesConstantsThatAreNot) {
  auto constant_mistake = [](const std::string& literal) {
    const std::string type = literal.substr(0, literal.find('['));
    return mistake("  %0 = constant() {value = " + literal + "} : " + type);
  };
  EXPECT_EQ(constant_mistake("float32(2,)[1 2]"), "no error");
  EXPECT_EQ(constant_mistake("float32(2,)[1 ...]"), "no error");
  EXPECT_EQ(constant_mistake("float32(2,)[1e400 -1e400]"),
            "[parse] Expected an element of float32, got '1e400'; line 2.");
  EXPECT_EQ(constant_mistake("float32(2,)[1]"), "[parse] A constant float32(2,) has 2 elements, not 1; line 2.");
  EXPECT_EQ(constant_mistake("float32(2,)[1 2 3]"), "[parse] A constant float32(2,) has 2 elements, not 3; line 2.");
  EXPECT_EQ(constant_mistake("float32(0,)[1]"), "[parse] A constant float32(0,) has 0 elements, not 1; line 2.");
  EXPECT_EQ(constant_mistake("float32(2,)[1 2 ...]"), "[parse] Expected one element before '...'; line 2.");
  EXPECT_EQ(constant_mistake("float32(2,)[...]"), "[parse] Expected one element before '...'; line 2.");
  EXPECT_EQ(constant_mistake("float32(2,)[1 ... 2]"), "[parse] Expected ']'; line 2.");
  EXPECT_EQ(constant_mistake("float32(2,)[1 two]"), "[parse] Expected an element of float32, got 'two'; line 2.");
  EXPECT_EQ(constant_mistake("float32(2,)[1 2x]"), "[parse] Expected an element of float32, got '2x'; line 2.");
  EXPECT_EQ(constant_mistake("int64(1,)[9223372036854775808]"),
            "[parse] Expected an element of int64, got '9223372036854775808'; line 2.");
  for (const char* number : {"0x1", "1e39", "+1", "infinity", "-nan", "1e", "1.5.2", "-"}) {
    EXPECT_EQ(constant_mistake("float32(1,)[" + std::string(number) + "]"),
              "[parse] Expected an element of float32, got '" + std::string(number) + "'; line 2.");
  }
  EXPECT_EQ(constant_mistake("int64(1,)[1.5]"), "[parse] Expected an element of int64, got '1.5'; line 2.");
  EXPECT_EQ(constant_mistake("int32(1,)[3000000000]"),
            "[parse] Expected an element of int32, got '3000000000'; line 2.");
  EXPECT_EQ(constant_mistake("uint8(1,)[-1]"), "[parse] Expected an element of uint8, got '-1'; line 2.");
  EXPECT_EQ(constant_mistake("bool(1,)[2]"), "[parse] Expected an element of bool, got '2'; line 2.");
  EXPECT_EQ(constant_mistake("float16(1,)[one]"), "[parse] Expected an element of float16, got 'one'; line 2.");
  EXPECT_EQ(constant_mistake("complex64(1,)[1]"), "[parse] Expected an element of complex64, got '1'; line 2.");
  EXPECT_EQ(constant_mistake("float32(?,)[1 ...]"),
            "[parse] Expected the type of a constant to be known in full; line 2.");
  EXPECT_EQ(constant_mistake("float32(...)[1 ...]"),
            "[parse] Expected the type of a constant to be known in full; line 2.");
  EXPECT_EQ(constant_mistake("float32(4294967296, 4294967296)[1 ...]"),
            "[parse] A constant cannot have the type float32(4294967296, 4294967296); line 2.");
}

TEST(Parse, RefusesWhatPrintNeverWrites) {
  EXPECT_EQ(mistake("  %0 = placeholder() {shape = (-1,), dtype = float32} : float32(?,)"),
            "[parse] Expected a dimension, got -1; line 2.");
  EXPECT_EQ(mistake("  %0 = placeholder() {shape = (2 3), dtype = float32} : float32(2, 3)"),
            "[parse] Expected ')'; line 2.");
  EXPECT_EQ(second_mistake("  %1 = max_pool2d(%0) {ceil_mode = maybe}"),
            "[parse] Expected true or false, got 'maybe'; line 3.");
  EXPECT_EQ(mistake("  %0 = variable() {value = float32()[1]} : float32()"),
            "[parse] The attribute slot is missing; line 2.");
  EXPECT_EQ(mistake("  %0 = variable() {value = float32()[1], slot = 3} : float32()",
                    "  %1 = variable() {value = float32()[1], slot = 3} : float32()\n  return ()\n}"),
            "[parse] Another variable has slot 3; line 3.");
  EXPECT_EQ(mistake("  %0 = variable() {value = float32()[1], slot = -1} : float32()"),
            "[parse] Expected a slot of 0 or more, got -1; line 2.");
  EXPECT_EQ(second_mistake("  %1 = exp(%0) \"open : float32(2,)"), "[parse] Expected '\"'; line 6.");
}

TEST(Parse, KeepsRegionsApart) {
  const std::string head = std::string("graph {\n") + kX + "\n  %1 = constant() {value = bool()[1]} : bool()\n";
  const std::string region = "  region {\n    %3 = exp(%0) : float32(2,)\n    return (%3)\n  }\n";
  EXPECT_EQ(error_of([&] {
              parse(head + "  %2 = if_else(%1) : float32(2,)\n" + region +
                    "  region {\n    return (%0)\n  }\n  return (%2)\n}\n");
            }),
            "no error");
  EXPECT_EQ(error_of([&] {
              parse(head + "  %2 = if_else(%1) : float32(2,)\n" + region +
                    "  region {\n    return (%3)\n  }\n  return (%2)\n}\n");
            }),
            "[parse] %3 is not defined before its use; line 10.");
  EXPECT_EQ(error_of([&] {
              parse(head + "  %2 = if_else(%1) : float32(2,)\n" + region +
                    "  region {\n    return (%0)\n  }\n  return (%3)\n}\n");
            }),
            "[parse] %3 is not defined before its use; line 12.");
  // A region lists every effect in it.
  EXPECT_EQ(error_of([&] {
              parse(head +
                    "  %2 = if_else(%1)\n  region {\n    return () do (%0)\n  }\n  region {\n    return ()\n "
                    " }\n  return ()\n}\n");
            }),
            "[parse] The region has other effects than those written; line 6.");
}

// ---- mutations ----

// Pieces of texts, and pieces that no text should contain.
// clang-format off
const std::vector<std::string> kPieces = {
    "(", ")", "{", "}", "[", "]", "%", "%0", "%7#1", "#", ",", "...", "\"", "\\", "return", "region", "do", "after",
    ": ", "float32", "bool", "?", "-1", "0", "9223372036854775807", "-9223372036854775808", "nan", "inf", "1e999", "\n",
    " ", "if_else", "region (%90 : float32()) {", "(%91 : int32())", "assign", "slot = 0", std::string(1, '\0'), "\xff"};
// clang-format on

class Mutations {
 public:
  explicit Mutations(std::string source) : source_(std::move(source)) {
    std::istringstream stream(source_);
    for (std::string line; std::getline(stream, line);) lines_.push_back(line + "\n");
  }

  // In every second text, lines are missing or repeated; each text gets one to three further edits.
  std::string text(int round) {
    std::string text = round % 2 == 0 ? source_ : with_other_lines();
    for (size_t edits = 1 + below(3); edits > 0 && !text.empty(); --edits) {
      const size_t at = below(text.size());
      switch (below(5)) {
        case 0: text.erase(at, 1 + below(8)); break;
        case 1: text.insert(at, kPieces[below(kPieces.size())]); break;
        case 2: text[at] = static_cast<char>(below(256)); break;
        case 3: text.insert(at, text.substr(below(text.size()), below(40))); break;
        default: text.resize(round % 16 == 0 ? at : text.size()); break;
      }
    }
    return text;
  }

 private:
  size_t below(size_t n) { return static_cast<size_t>(random_() % n); }

  std::string with_other_lines() {
    std::string text;
    for (const std::string& line : lines_) {
      const size_t fate = below(60);
      if (fate == 0) continue;
      text += line;
      if (fate == 1) text += lines_[below(lines_.size())];
    }
    return text;
  }

  std::string source_;
  std::vector<std::string> lines_;
  std::mt19937 random_{20240229};
};

// For any text, parsing gives a legal graph, which prints and reads back, or an Error; never a crash.
TEST(Parse, SurvivesMutations) {
  Graph every;
  add_every_op(every);
  Mutations mutations(print(every));
  int accepted = 0;
  for (int round = 0; round < 20000; ++round) {
    const std::string text = mutations.text(round);
    std::unique_ptr<Graph> graph;
    try {
      graph = parse(text);
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("line "), std::string::npos) << error.what();
      continue;
    }
    ++accepted;
    ASSERT_EQ(verify(*graph), std::vector<std::string>{}) << text;
    const std::string once = print(*graph);
    std::unique_ptr<Graph> again;
    ASSERT_EQ(error_of([&] { again = parse(once); }), "no error") << once;
    ASSERT_EQ(print(*again), once);
  }
  // Both results occur often, so the test means something.
  EXPECT_GT(accepted, 500);
  EXPECT_LT(accepted, 15000);
}

// ---- the written grammar ----

// print() writes the example graphs in README.md exactly.
TEST(Text, TheExamplesOfTheGrammarAreLegal) {
  const auto path = std::filesystem::path(__FILE__).parent_path() / "../../../csrc/ir/README.md";
  std::ifstream file(path);
  ASSERT_TRUE(file) << path;
  std::string text((std::istreambuf_iterator<char>(file)), {});
  int examples = 0;
  for (size_t at = 0; (at = text.find("```\ngraph {", at)) != std::string::npos; ++examples) {
    at += 4;
    const size_t end = text.find("```", at);
    ASSERT_NE(end, std::string::npos);
    const std::string example = text.substr(at, end - at);
    std::unique_ptr<Graph> graph;
    ASSERT_EQ(error_of([&] { graph = parse(example); }), "no error");
    EXPECT_EQ(print(*graph), example);
    EXPECT_EQ(verify(*graph), std::vector<std::string>{});
    at = end;
  }
  EXPECT_GT(examples, 0);
}

}  // namespace
}  // namespace alloy::test

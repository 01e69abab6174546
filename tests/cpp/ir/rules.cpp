// Tests rules: for every family and every structured op legal operands, the result's type, and the exact message for
// mistakes; also with unknown dimensions and ranks.
#include <set>

#include "graph_builder.h"

namespace alloy::test {
namespace {

const Shape kAnyRank = Shape::unranked();

// What an op says of operands of these types: the printed types of its results or, where it refuses them, the sentence
// behind its name.
class Rule {
 public:
  explicit Rule(OpCode code) : code_(code) {}

  void operator()(const std::vector<Type>& operands, const Attributes& attributes, const std::string& expected,
                  int line = __builtin_LINE()) const {
    EXPECT_EQ(said(operands, attributes), expected) << "at line " << line;
  }
  void operator()(const std::vector<Type>& operands, const std::string& expected, int line = __builtin_LINE()) const {
    (*this)(operands, {}, expected, line);
  }
  std::optional<Error::Kind> kind_of_error(const std::vector<Type>& operands) const {
    std::optional<Error::Kind> kind;
    said(operands, {}, &kind);
    return kind;
  }

 private:
  std::string said(const std::vector<Type>& operands, const Attributes& attributes,
                   std::optional<Error::Kind>* kind = nullptr) const {
    Graph graph;
    std::vector<Value> values;
    for (const Type& type : operands) values.push_back(placeholder(graph, type));
    const size_t before = graph.body().ops.size();
    std::string text;
    try {
      for (const Type& type : graph.add(code_, values, attributes)->results) {
        text += (text.empty() ? "" : " ") + to_string(type);
      }
    } catch (const Error& error) {
      EXPECT_EQ(graph.body().ops.size(), before) << "a refused op was added";
      if (kind != nullptr) *kind = error.kind;
      text = error.what();
      const std::string name = "[" + std::string(info(code_).name) + "] ";
      if (text.starts_with(name)) text.erase(0, name.size());
      else ADD_FAILURE() << text << " does not begin with " << name;
    }
    return text;
  }

  OpCode code_;
};

Attributes axes(Dims list) { return {{Attr::kAxes, std::move(list)}}; }
Attributes axis(int64_t number) { return {{Attr::kAxis, number}}; }
Attributes shape(Shape to) { return {{Attr::kShape, std::move(to)}}; }

// ---- table families ----

TEST(Rules, ElementwiseBroadcasts) {
  const Rule add(OpCode::add), exp(OpCode::exp);
  add({f32({2, 3}), f32({3})}, "float32(2, 3)");
  add({f32({U, 3}), f32({2, 1})}, "float32(2, 3)");
  add({f32({U, 3}), f32({1, U})}, "float32(?, 3)");
  add({f32({0, 3}), f32({3})}, "float32(0, 3)");
  add({f32(kAnyRank), f32({3})}, "float32(...)");
  exp({f32({U})}, "float32(?,)");
  Rule(OpCode::identity)({bools({2})}, "bool(2,)");
  add({f32({2, 3}), f32({4})}, "Shapes (2, 3) and (4,) do not broadcast.");
  add({f32({2}), i32({2})}, "Operands of different types: float32(2,) and int32(2,).");
  EXPECT_EQ(add.kind_of_error({f32({2}), i32({2})}), Error::Kind::kType);
  EXPECT_EQ(add.kind_of_error({f32({2}), f32({3})}), Error::Kind::kValue);
  exp({i32({2})}, "Expected operands of a floating type, got int32(2,).");
  add({bools({2}), bools({2})}, "Expected operands of a number, got bool(2,).");
}

TEST(Rules, ComparisonsGiveBools) {
  const Rule less(OpCode::less), equal(OpCode::equal);
  less({i32({2, 1}), i32({3})}, "bool(2, 3)");
  equal({bools({2}), bools({U})}, "bool(2,)");
  less({bools({2}), bools({2})}, "Expected operands of a number, got bool(2,).");
  equal({f32({2}), f32({3})}, "Shapes (2,) and (3,) do not broadcast.");
}

TEST(Rules, TestsOfNumbersGiveBools) {
  Rule(OpCode::is_nan)({f32({2, U})}, "bool(2, ?)");
  Rule(OpCode::is_finite)({i32({2})}, "Expected operands of a floating type, got int32(2,).");
}

TEST(Rules, LogicGivesTheTypeThatItTakes) {
  Rule(OpCode::logical_not)({bools({2})}, "bool(2,)");
  Rule(OpCode::logical_and)({bools({2, 1}), bools({3})}, "bool(2, 3)");
  Rule(OpCode::logical_xor)({f32({3}), f32({})}, "float32(3,)");
  Rule(OpCode::logical_or)({bools({3}), f32({3})}, "Operands of different types: bool(3,) and float32(3,).");
}

TEST(Rules, SelectMixesAPredicateOfAnyType) {
  const Rule select(OpCode::select), clamp(OpCode::clamp);
  select({bools({2, 1}), f32({3}), f32({})}, "float32(2, 3)");
  select({f32({2}), i32({2}), i32({2})}, "int32(2,)");
  select({bools({2}), f32({2}), i32({2})}, "Operands of different types: float32(2,) and int32(2,).");
  select({bools({2}), f32({3}), f32({})}, "Shapes (2,) and (3,) do not broadcast.");
  clamp({i32({2}), i32({}), i32({2})}, "int32(2,)");
  clamp({f32({2}), f32({}), i32({})}, "Operands of different types: float32(2,) and int32().");
  clamp({bools({2}), bools({}), bools({})}, "Expected operands of a number, got bool(2,).");
}

TEST(Rules, ReductionsKeepTheirAxes) {
  const Rule sum(OpCode::sum), mean(OpCode::mean);
  sum({f32({2, 3, 4})}, axes({0, -1}), "float32(1, 3, 1)");
  sum({i32({2, U})}, axes({1}), "int32(2, 1)");
  Rule(OpCode::max)({f32({U, 3})}, axes({1, 1, -1}), "float32(?, 1)");
  mean({f32({2})}, axes({}), "float32(2,)");
  sum({f32({0, 3})}, axes({0}), "float32(1, 3)");
  sum({f32(kAnyRank)}, axes({7}), "float32(...)");
  sum({f32({2, 3})}, axes({0, 2}), "Axis 2 is outside a tensor of rank 2.");
  sum({f32({})}, axes({-1}), "Axis -1 is outside a tensor of rank 0.");
  mean({i32({2, 3})}, axes({0}), "int32(1, 3)");
  mean({bools({2})}, axes({0}), "Expected operands of a number, got bool(2,).");
}

TEST(Rules, ArgReductionsNeedAnElement) {
  const Rule argmax(OpCode::argmax);
  argmax({f32({2, 3})}, axis(-1), "int32(2, 1)");
  Rule(OpCode::argmin)({f32({0, 3})}, axis(1), "int32(0, 1)");
  argmax({f32({U, 3})}, axis(0), "int32(1, 3)");
  argmax({f32(kAnyRank)}, axis(0), "int32(...)");
  argmax({f32({2, 0})}, axis(1), "Expected at least one element along the axis, got shape (2, 0).");
  argmax({f32({2})}, axis(1), "Axis 1 is outside a tensor of rank 1.");
  argmax({bools({2})}, axis(0), "Expected operands of a number, got bool(2,).");
}

// ---- memory and control ----

TEST(Rules, SourcesHaveTheTypesOfTheirAttributes) {
  Rule(OpCode::placeholder)({}, {{Attr::kShape, Shape({U, 4})}, {Attr::kDtype, DType::int64}}, "int64(?, 4)");
  Rule(OpCode::empty)({}, {{Attr::kShape, Shape({0})}, {Attr::kDtype, DType::float32}}, "float32(0,)");
  Rule(OpCode::constant)({}, {{Attr::kValue, Literal::splat(i32({2}), 1)}}, "int32(2,)");
  Rule(OpCode::variable)({}, {{Attr::kValue, Literal::splat(f32({}), 1)}}, "float32()");
}

// The result of `make` from the shape (?, 3, ?) of a tensor, from the same tensor's shape (2, 3, 5), and from a
// placeholder of integers.
struct ShapeWords {
  Graph graph;
  Value open = graph.value(OpCode::shape_of, {placeholder(graph, f32({U, 3, U}))});
  Value known = graph.value(OpCode::shape_of, {placeholder(graph, f32({2, 3, 5}))});

  Value of(std::vector<int64_t> numbers) {
    const Type type{DType::int64, Shape({static_cast<int64_t>(numbers.size())})};
    return graph.value(OpCode::constant, {},
                       {{Attr::kValue, std::make_shared<Literal>(type, std::as_bytes(std::span(numbers)))}});
  }
  Value part(Value v, int64_t start, int64_t end, int64_t stride = 1) {
    return graph.value(OpCode::slice, {v}, slicing({start}, {end}, {stride}));
  }
  Value wide(Value v) { return graph.value(OpCode::cast, {v}, {{Attr::kDtype, DType::int64}}); }
  std::string text(Value v) {
    return to_string(graph.value(OpCode::shaped, {v}, {{Attr::kDtype, DType::float32}}).type());
  }
};

TEST(Rules, ShapedHasTheShapeThatItsOperandGives) {
  const Rule shaped(OpCode::shaped);
  ShapeWords w;
  Graph& g = w.graph;
  EXPECT_EQ(w.text(w.of({4, 0, 7})), "float32(4, 0, 7)");
  EXPECT_EQ(w.text(w.of({})), "float32()");
  EXPECT_EQ(w.text(w.of({4, -1})), "float32(4, ?)");
  EXPECT_EQ(w.text(w.open), "float32(?, 3, ?)");
  EXPECT_EQ(w.text(w.known), "float32(2, 3, 5)");
  EXPECT_EQ(w.text(w.part(w.open, 1, 3)), "float32(3, ?)");
  EXPECT_EQ(w.text(w.part(w.known, -1, INT64_MIN, -2)), "float32(5, 2)");
  const std::vector<Value> parts = {w.wide(w.part(w.known, 1, 2)), w.of({9}), w.wide(w.part(w.open, 0, 2))};
  EXPECT_EQ(w.text(g.value(OpCode::concat, parts, axis(0))), "float32(3, 9, ?, 3)");
  const Value flat = g.value(OpCode::product, {w.known}, axes({0}));
  EXPECT_EQ(w.text(flat), "float32(30,)");
  EXPECT_EQ(w.text(g.value(OpCode::product, {w.open}, axes({0}))), "float32(?,)");
  EXPECT_EQ(w.text(g.value(OpCode::sum, {w.known}, axes({-1}))), "float32(10,)");
  const Value two = w.of({2}), scalar = g.value(OpCode::squeeze, {two}, axes({0}));
  const std::pair<OpCode, std::string> with_two[] = {
      {OpCode::add, "float32(4, 5, 7)"},       {OpCode::subtract, "float32(0, 1, 3)"},
      {OpCode::multiply, "float32(4, 6, 10)"}, {OpCode::divide, "float32(1, 1, 2)"},
      {OpCode::minimum, "float32(2, 2, 2)"},   {OpCode::maximum, "float32(2, 3, 5)"}};
  for (const auto& [code, text] : with_two) {
    EXPECT_EQ(w.text(g.value(code, {w.wide(w.known), two})), text);
    EXPECT_EQ(w.text(g.value(code, {w.wide(w.known), scalar})), text);
  }
  EXPECT_EQ(w.text(g.value(OpCode::subtract, {w.of({20}), w.wide(w.known)})), "float32(18, 17, 15)");
  EXPECT_EQ(w.text(g.value(OpCode::add, {w.wide(w.open), w.wide(w.known)})), "float32(?, 6, ?)");
  EXPECT_EQ(w.text(g.value(OpCode::add, {w.of({-1, 5}), w.of({4, -4})})), "float32(3, 1)");
  const Value once = g.value(OpCode::reshape, {w.part(w.known, 2, 3)}, shape(Shape()));
  EXPECT_EQ(w.text(g.value(OpCode::expand_dims, {g.value(OpCode::identity, {once})}, axes({0}))), "float32(5,)");
  // A number that only a run knows, and a number computed by an op that is never known.
  const Value fed = placeholder(g, i32({2}));
  EXPECT_EQ(w.text(fed), "float32(?, ?)");
  EXPECT_EQ(w.text(g.value(OpCode::concat, {fed, w.known}, axis(0))), "float32(?, ?, 2, 3, 5)");
  EXPECT_EQ(w.text(g.value(OpCode::power, {w.known, w.known})), "float32(?, ?, ?)");
  EXPECT_EQ(w.text(placeholder(g, i32({U}))), "float32(...)");
  EXPECT_EQ(w.text(w.wide(g.value(OpCode::shape_of, {placeholder(g, f32(kAnyRank))}))), "float32(...)");
  // Sums in which each value is used twice take no longer than others.
  Value deep = w.wide(w.part(w.known, 0, 1));
  for (int i = 0; i < 60; ++i) deep = g.value(OpCode::minimum, {deep, deep});
  EXPECT_EQ(w.text(deep), "float32(2,)");
  for (int i = 0; i < 70; ++i) deep = g.value(OpCode::multiply, {deep, deep});
  EXPECT_EQ(w.text(deep), "float32(?,)");

  const Attributes floats = {{Attr::kDtype, DType::float32}};
  shaped({f32({2})}, floats, "Expected a shape as a vector of integers, got float32(2,).");
  shaped({i32({2, 1})}, floats, "Expected a shape as a vector of integers, got int32(2, 1).");
  EXPECT_THROW(w.text(w.of({3, -2})), Error);
}

TEST(Rules, NoDimensionIsNegative) {
  Rule(OpCode::placeholder)({}, {{Attr::kShape, Shape({4, -2})}, {Attr::kDtype, DType::int64}},
                            "Expected dimensions of 0 or more, got shape (4, -2).");
  Rule(OpCode::empty)({}, {{Attr::kShape, Shape({-3})}, {Attr::kDtype, DType::int64}},
                      "Expected dimensions of 0 or more, got shape (-3,).");
  Rule(OpCode::broadcast_to)({f32({1})}, shape({-2}), "Expected dimensions of 0 or more, got shape (-2,).");
  EXPECT_THROW(Literal::splat(f32({-2}), 0), std::invalid_argument);
  EXPECT_THROW(Literal::splat(f32({U}), 0), std::invalid_argument);
  EXPECT_THROW(Literal::splat(f32(kAnyRank), 0), std::invalid_argument);
}

// Arithmetic on sizes must not overflow 64 bits: a size would look small, and kernels would write outside.
TEST(Rules, NoTensorIsLargerThanAnyMemory) {
  const Rule placeholder(OpCode::placeholder);
  const int64_t huge = int64_t{1} << 32;
  Rule(OpCode::broadcast_to)({f32({})}, shape({huge, huge}),
                             "The result float32(4294967296, 4294967296) is larger than any memory.");
  Rule(OpCode::add)({f32({huge, 1}), f32({huge})},
                    "The result float32(4294967296, 4294967296) is larger than any memory.");
  placeholder({}, {{Attr::kShape, Shape({INT64_MAX, 4})}, {Attr::kDtype, DType::int64}},
              "The result int64(9223372036854775807, 4) is larger than any memory.");
  Rule(OpCode::reshape)({f32({0})}, shape({huge, huge}),
                        "Shape (0,) has 0 elements and does not fit into shape (4294967296, 4294967296).");
  // An unknown dimension may be 1.
  placeholder({}, {{Attr::kShape, Shape({U, INT64_MAX})}, {Attr::kDtype, DType::int8}},
              "The result int8(?, 9223372036854775807) is larger than any memory.");
  placeholder({}, {{Attr::kShape, Shape({0, INT64_MAX})}, {Attr::kDtype, DType::int8}},
              "The result int8(0, 9223372036854775807) is larger than any memory.");
  placeholder({}, {{Attr::kShape, Shape({U, huge})}, {Attr::kDtype, DType::int8}}, "int8(?, 4294967296)");
  EXPECT_THROW(Literal::splat(f32({huge, huge}), 0), std::invalid_argument);
}

TEST(Rules, AssignTakesTheVariablesType) {
  auto assign_text = [](const Type& variable_type, const Type& value_type) {
    Graph graph;
    const Value v = variable(graph, variable_type), x = placeholder(graph, value_type);
    return error_of([&] { assign(graph, v, x); });
  };
  EXPECT_EQ(assign_text(f32({2, 3}), f32({2, 3})), "no error");
  EXPECT_EQ(assign_text(f32({2, 3}), f32({U, 3})), "no error");
  EXPECT_EQ(assign_text(f32({2, 3}), f32(kAnyRank)), "no error");
  EXPECT_EQ(assign_text(f32({2, 3}), i32({2, 3})), "[assign] The variable is float32 but the value is int32.");
  EXPECT_EQ(assign_text(f32({2, 3}), f32({3})), "[assign] The variable has shape (2, 3) but the value has shape (3,).");
  EXPECT_EQ(assign_text(f32({2, 3}), f32({1, 3})),
            "[assign] The variable has shape (2, 3) but the value has shape (1, 3).");
}

TEST(Rules, BranchesAgree) {
  auto branches = [](const Type& predicate, const std::vector<Type>& yes, const std::vector<Type>& no) -> std::string {
    Graph graph;
    const Value p = placeholder(graph, predicate);
    std::vector<Value> a, b;
    for (const Type& type : yes) a.push_back(placeholder(graph, type));
    for (const Type& type : no) b.push_back(placeholder(graph, type));
    try {
      std::string text;
      for (const Type& type : if_else(graph, p, [&] { return a; }, [&] { return b; })->results) {
        text += to_string(type) + " ";
      }
      return text;
    } catch (const Error& error) {
      return error.what();
    }
  };
  EXPECT_EQ(branches(bools({}), {f32({2}), i32({U})}, {f32({U}), i32({U})}), "float32(2,) int32(?,) ");
  EXPECT_EQ(branches(bools({1, 1}), {f32(kAnyRank)}, {f32({3})}), "float32(3,) ");
  EXPECT_EQ(branches(bools(kAnyRank), {}, {}), "");
  EXPECT_EQ(branches(bools({2}), {}, {}), "[if_else] Expected a predicate of one element, got bool(2,).");
  EXPECT_EQ(branches(bools({}), {f32({2})}, {}), "[if_else] The branches give 1 and 0 results.");
  EXPECT_EQ(branches(bools({}), {f32({2})}, {f32({3})}),
            "[if_else] Result 0 is float32(2,) in one branch and float32(3,) in the other.");
  EXPECT_EQ(branches(bools({}), {f32({2})}, {i32({2})}),
            "[if_else] Result 0 is float32(2,) in one branch and int32(2,) in the other.");
}

// ---- shape ----

TEST(Rules, Reshape) {
  const Rule reshape(OpCode::reshape);
  reshape({f32({2, 6})}, shape({3, 4}), "float32(3, 4)");
  reshape({f32({2, 6})}, shape({U, 4}), "float32(3, 4)");
  reshape({f32({U, 6})}, shape({U, 3}), "float32(?, 3)");
  reshape({f32({U, 6})}, shape({4, 3}), "float32(4, 3)");
  reshape({f32(kAnyRank)}, shape({U, 3}), "float32(?, 3)");
  reshape({f32({})}, shape({1, 1}), "float32(1, 1)");
  reshape({f32({0, 4})}, shape({U, 4}), "float32(0, 4)");
  reshape({f32({0, 4})}, shape({0, 7}), "float32(0, 7)");
  reshape({f32({2, 3})}, shape({4, 2}), "Shape (2, 3) has 6 elements and does not fit into shape (4, 2).");
  reshape({f32({2, 3})}, shape({U, 4}), "Shape (2, 3) has 6 elements and does not fit into shape (?, 4).");
  reshape({f32({0, 3})}, shape({U, 0}), "Shape (0, 3) has 0 elements and does not fit into shape (?, 0).");
  reshape({f32({2, 3})}, shape({U, U}), "Expected a shape with at most one unknown dimension, got (?, ?).");
  reshape({f32({2, 3})}, shape({-2, -3}), "Expected a shape with at most one unknown dimension, got (-2, -3).");
}

TEST(Rules, ReshapeLike) {
  const Rule reshape_like(OpCode::reshape_like);
  reshape_like({f32({2, 6}), i32({3, 4})}, "float32(3, 4)");
  reshape_like({f32({U, 6}), f32({3, U})}, "float32(3, ?)");
  reshape_like({f32({2, 6}), f32({3, U})}, "float32(3, 4)");
  reshape_like({f32({2, 6}), f32({U, U})}, "float32(?, ?)");
  reshape_like({f32({2, 6}), f32({5, U})}, "Shape (2, 6) has 12 elements and does not fit into shape (5, ?).");
  reshape_like({f32({2}), f32(kAnyRank)}, "float32(...)");
  reshape_like({f32({2, 3}), f32({4, 2})}, "Shape (2, 3) has 6 elements and does not fit into shape (4, 2).");
}

TEST(Rules, SqueezeAndExpandDims) {
  const Rule squeeze(OpCode::squeeze), expand_dims(OpCode::expand_dims);
  squeeze({f32({1, 3, 1})}, axes({0, -1}), "float32(3,)");
  squeeze({f32({1, 3, 1})}, axes({2, 2, -1}), "float32(1, 3)");
  squeeze({f32({U, 3})}, axes({0}), "float32(3,)");
  squeeze({f32(kAnyRank)}, axes({5}), "float32(...)");
  squeeze({f32({1, 3})}, axes({1}), "Axis 1 of shape (1, 3) is not of size 1.");
  squeeze({f32({1})}, axes({1}), "Axis 1 is outside a tensor of rank 1.");
  expand_dims({f32({2, 3})}, axes({0, 2}), "float32(1, 2, 1, 3)");
  expand_dims({f32({2, 3})}, axes({-1, 0}), "float32(1, 2, 3, 1)");
  expand_dims({f32({2, 3})}, axes({3, 2}), "float32(2, 3, 1, 1)");
  expand_dims({f32({U})}, axes({1}), "float32(?, 1)");
  expand_dims({f32({})}, axes({0}), "float32(1,)");
  expand_dims({f32(kAnyRank)}, axes({0}), "float32(...)");
  expand_dims({f32({2, 3})}, axes({3}), "Axis 3 is outside a tensor of rank 3.");
  expand_dims({f32({3})}, axes({0, 0}), "Axes repeat.");
  expand_dims({f32({3})}, axes({0, -3}), "Axes repeat.");
  expand_dims({f32({3})}, axes({2, 2}), "Axes repeat.");
}

TEST(Rules, Transpose) {
  const Rule transpose(OpCode::transpose);
  auto permutation = [](Dims list) { return Attributes{{Attr::kPermutation, std::move(list)}}; };
  transpose({f32({2, 3, U})}, permutation({2, 0, 1}), "float32(?, 2, 3)");
  transpose({f32({})}, permutation({}), "float32()");
  transpose({f32(kAnyRank)}, permutation({1, 0}), "float32(...)");
  transpose({f32({2, 3})}, permutation({0, 0}), "Expected a permutation of the 2 axes of shape (2, 3), got (0, 0).");
  transpose({f32({2, 3})}, permutation({0}), "Expected a permutation of the 2 axes of shape (2, 3), got (0,).");
  // Negative axes count from the end; from then on all are counted from the front.
  transpose({f32({2, 3, U})}, permutation({-1, 0, -2}), "float32(?, 2, 3)");
  transpose({f32({2, 3})}, permutation({-1, 1}), "Expected a permutation of the 2 axes of shape (2, 3), got (1, 1).");
  transpose({f32({2, 3})}, permutation({-3, 0}), "Expected a permutation of the 2 axes of shape (2, 3), got (-3, 0).");
  // What is no permutation of anything is wrong for every rank.
  transpose({f32(kAnyRank)}, permutation({5, 7}), "Expected a permutation of the 2 axes of shape (...), got (5, 7).");
}

TEST(Rules, Broadcasting) {
  const Rule broadcast_to(OpCode::broadcast_to), broadcast_like(OpCode::broadcast_like),
      reduce_like(OpCode::reduce_like);
  broadcast_to({f32({3, 1})}, shape({2, 3, 4}), "float32(2, 3, 4)");
  broadcast_to({f32({3})}, shape({U}), "float32(3,)");
  broadcast_to({f32({1})}, shape({U}), "float32(?,)");
  broadcast_to({f32({U})}, shape({5}), "float32(5,)");
  broadcast_to({f32(kAnyRank)}, shape({5}), "float32(5,)");
  broadcast_to({f32({3})}, shape(kAnyRank), "float32(...)");
  broadcast_to({f32({1})}, shape({0}), "float32(0,)");
  broadcast_to({f32({2, 3})}, shape({3}), "Shape (2, 3) does not broadcast to shape (3,).");
  broadcast_to({f32({3})}, shape({1}), "Shape (3,) does not broadcast to shape (1,).");
  broadcast_to({f32({0})}, shape({2}), "Shape (0,) does not broadcast to shape (2,).");
  broadcast_like({f32({3}), i32({2, U})}, "float32(2, 3)");
  broadcast_like({f32({3}), i32({2, 4})}, "Shape (3,) does not broadcast to shape (2, 4).");
  reduce_like({f32({2, 3}), i32({3})}, "float32(3,)");
  reduce_like({f32({U, 3}), f32({1, U})}, "float32(1, ?)");
  reduce_like({f32(kAnyRank), f32({3})}, "float32(3,)");
  reduce_like({f32({3}), f32({2, 3})}, "Shape (3,) is not a broadcast of shape (2, 3).");
  reduce_like({f32({1}), f32({3})}, "Shape (1,) is not a broadcast of shape (3,).");
  reduce_like({f32({4}), f32({3})}, "Shape (4,) is not a broadcast of shape (3,).");
}

TEST(Rules, Slices) {
  const Rule slice(OpCode::slice), slice_gradient(OpCode::slice_gradient);
  slice({f32({5, 6})}, slicing({1, -2}, {4, INT64_MAX}, {2, 1}), "float32(2, 2)");
  slice({f32({5})}, slicing({INT64_MAX}, {INT64_MIN}, {-1}), "float32(5,)");
  slice({f32({5})}, slicing({3}, {2}, {1}), "float32(0,)");
  slice({f32({U, 4})}, slicing({0, 0}, {2, 2}, {1, 1}), "float32(?, 2)");
  slice({f32(kAnyRank)}, slicing({0}, {1}, {1}), "float32(...)");
  slice({f32({5})}, slicing({0}, {5}, {0}), "A stride is 0.");
  slice({f32({5})}, slicing({0}, {5, 5}, {1}), "Expected as many ends and strides as starts.");
  slice({f32({5, 5})}, slicing({0}, {5}, {1}), "Expected 2 starts for shape (5, 5), got 1.");
  slice_gradient({f32({2}), f32({5})}, slicing({1}, {4}, {2}), "float32(5,)");
  slice_gradient({f32({U}), f32({U})}, slicing({1}, {4}, {2}), "float32(?,)");
  slice_gradient({f32({2}), f32(kAnyRank)}, slicing({1}, {4}, {2}), "float32(...)");
  slice_gradient({f32({3}), f32({5})}, slicing({1}, {4}, {2}), "Expected a gradient of shape (2,), got shape (3,).");
}

TEST(Rules, Concat) {
  const Rule concat(OpCode::concat);
  concat({f32({2, 3}), f32({2, 4})}, axis(1), "float32(2, 7)");
  concat({f32({2, 3}), f32({2, 4}), f32({2, 0})}, axis(-1), "float32(2, 7)");
  concat({f32({U, 3}), f32({2, U})}, axis(1), "float32(2, ?)");
  concat({f32({U, 3}), f32({2, 3})}, axis(0), "float32(?, 3)");
  concat({f32({2, 3}), f32(kAnyRank)}, axis(0), "float32(...)");
  concat({f32({2})}, axis(0), "float32(2,)");
  concat({f32({2, 3}), f32({3, 4})}, axis(1), "Shapes (2, 3) and (3, 4) differ in more than axis 1.");
  concat({f32({2, 3}), f32({2})}, axis(1), "Shapes (2, 3) and (2,) differ in more than axis 1.");
  concat({f32({2}), f32({2})}, axis(1), "Axis 1 is outside a tensor of rank 1.");
  concat({f32({}), f32({})}, axis(0), "Expected operands of rank 1 or more, got scalars.");
  concat({f32({2}), i32({2})}, axis(0), "Operands of different types: float32(2,) and int32(2,).");
}

TEST(Rules, ComplexNumbersAndTransforms) {
  const Rule view_as_real(OpCode::view_as_real), view_as_complex(OpCode::view_as_complex),
      fourier_transform(OpCode::fourier_transform), inverse(OpCode::inverse);
  const Type z{DType::complex64, Shape({U, 3})};
  view_as_real({z}, "float32(?, 3, 2)");
  view_as_real({{DType::complex32, Shape()}}, "float16(2,)");
  view_as_real({f32({2})}, "Expected complex numbers, got float32(2,).");
  view_as_complex({f32({U, 3, 2})}, "complex64(?, 3)");
  view_as_complex({f32({3, U})}, "complex64(3,)");
  view_as_complex({f32({2, 3})}, "Expected a last axis of 2 parts, got shape (2, 3).");
  view_as_complex({i32({2})}, "Expected parts of float32 or float16, got int32(2,).");
  const auto over = [](Dims axes) {
    return Attributes{{Attr::kAxes, std::move(axes)}, {Attr::kInverse, false}, {Attr::kScaling, std::string("none")}};
  };
  fourier_transform({f32({U, 3, 2})}, over({-1, 0}), "float32(?, 3, 2)");
  fourier_transform({f32({4, 3, 2})}, over({2}), "Axis 2 is outside a tensor of rank 2.");
  fourier_transform({f32({4, 3, 2})}, over({1, -1}), "Axes repeat.");
  fourier_transform({f32({4, 3, 2})}, over({}), "Expected one axis or more, got none.");
  fourier_transform({f32({4, 3})}, over({0}), "Expected a last axis of 2 parts, got shape (4, 3).");
  inverse({f32({2, 5, 5})}, "float32(2, 5, 5)");
  inverse({f32({U, 5})}, "float32(?, 5)");
  inverse({f32({5})}, "Expected square matrices, got shape (5,).");
  inverse({i32({5, 5})}, "Expected an operand of a floating type, got int32(5, 5).");
}

TEST(Rules, CastShapeOfCount) {
  const Rule cast(OpCode::cast), shape_of(OpCode::shape_of), count(OpCode::count);
  auto to = [](DType dtype) { return Attributes{{Attr::kDtype, dtype}}; };
  cast({f32({U})}, to(DType::int64), "int64(?,)");
  cast({bools(kAnyRank)}, to(DType::float32), "float32(...)");
  cast({f32({2})}, to(DType::complex64), "Complex numbers are not cast to real ones.");
  cast({{DType::complex32, Shape({2})}}, to(DType::float32), "Complex numbers are not cast to real ones.");
  shape_of({f32({2, U})}, "int32(2,)");
  shape_of({f32(kAnyRank)}, "int32(?,)");
  count({f32({2, U})}, axes({1}), "float32()");
  count({f32(kAnyRank)}, axes({9}), "float32()");
  count({f32({2})}, axes({1}), "Axis 1 is outside a tensor of rank 1.");
}

TEST(Rules, Bitcast) {
  const Rule bitcast(OpCode::bitcast);
  auto to = [](DType dtype) { return Attributes{{Attr::kDtype, dtype}}; };
  bitcast({f32({2, 3})}, to(DType::int32), "int32(2, 3)");
  bitcast({f32({2, 3})}, to(DType::uint8), "uint8(2, 12)");
  bitcast({f32({3, 4})}, to(DType::int64), "int64(3, 2)");
  bitcast({f32({3, 4})}, to(DType::complex64), "complex64(3, 2)");
  bitcast({f32({3, U})}, to(DType::int64), "int64(3, ?)");
  bitcast({f32(kAnyRank)}, to(DType::int64), "int64(...)");
  bitcast({f32({})}, to(DType::int32), "int32()");
  bitcast({f32({})}, to(DType::int16), "Expected a tensor of rank 1 or more, got float32().");
  bitcast({f32({4, 3})}, to(DType::int64),
          "The last dimension of float32(4, 3) does not hold whole elements of int64.");
  bitcast({{DType::uint8, Shape({2})}}, to(DType::boolean),
          "Expected another type than bool, which has not every pattern of bits.");
}

// ---- linear algebra and neural networks ----

TEST(Rules, Matmul) {
  const Rule matmul(OpCode::matmul);
  auto transposed = [](bool a, bool b) { return Attributes{{Attr::kTransposeA, a}, {Attr::kTransposeB, b}}; };
  matmul({f32({2, 3}), f32({3, 4})}, "float32(2, 4)");
  matmul({f32({3, 2}), f32({3, 4})}, transposed(true, false), "float32(2, 4)");
  matmul({f32({2, 3}), f32({4, 3})}, transposed(false, true), "float32(2, 4)");
  matmul({f32({3, 2}), f32({4, 3})}, transposed(true, true), "float32(2, 4)");
  matmul({f32({5, 1, 2, 3}), f32({7, 3, 4})}, "float32(5, 7, 2, 4)");
  matmul({f32({U, 3}), f32({U, 4})}, "float32(?, 4)");
  matmul({f32({2, 0}), f32({0, 4})}, "float32(2, 4)");
  matmul({f32(kAnyRank), f32({3, 4})}, "float32(...)");
  matmul({f32({2, 3}), f32({4, 5})}, "Inner dimensions differ: 3 of shape (2, 3) and 4 of shape (4, 5).");
  matmul({f32({2, 3}), f32({3, 4})}, transposed(true, false),
         "Inner dimensions differ: 2 of shape (2, 3) and 3 of shape (3, 4).");
  matmul({f32({3}), f32({3, 4})}, "Expected operands of rank 2 or more, got shapes (3,) and (3, 4).");
  matmul({f32({2, 2, 3}), f32({3, 3, 4})}, "Leading dimensions of shapes (2, 2, 3) and (3, 3, 4) do not broadcast.");
  matmul({i32({2, 3}), i32({3, 4})}, "Expected operands of a floating type, got int32(2, 3).");
  matmul({f32({2, 3}), i32({3, 4})}, "Operands of different types: float32(2, 3) and int32(3, 4).");
}

TEST(Rules, Softmax) {
  for (OpCode code : {OpCode::softmax, OpCode::log_softmax}) {
    const Rule rule(code);
    rule({f32({U, 3})}, axis(-1), "float32(?, 3)");
    rule({f32(kAnyRank)}, axis(3), "float32(...)");
    rule({f32({2})}, axis(1), "Axis 1 is outside a tensor of rank 1.");
    rule({i32({2})}, axis(0), "Expected a floating type, got int32(2,).");
  }
}

TEST(Rules, SoftmaxCrossEntropy) {
  const Rule softmax_cross_entropy(OpCode::softmax_cross_entropy);
  auto loss = [](int64_t along, std::string reduction) {
    return Attributes{{Attr::kAxis, along}, {Attr::kReduction, std::move(reduction)}};
  };
  softmax_cross_entropy({f32({4, 3}), f32({4, 3})}, loss(-1, "none"), "float32(4, 1)");
  softmax_cross_entropy({f32({4, 3}), f32({4, 3})}, loss(0, "none"), "float32(1, 3)");
  softmax_cross_entropy({f32({4, 3}), f32({4, 3})}, loss(1, "sum"), "float32(1,)");
  softmax_cross_entropy({f32({U, 3}), f32({4, U})}, loss(1, "none"), "float32(4, 1)");
  softmax_cross_entropy({f32({U, 3}), f32({U, 3})}, loss(1, "mean"), "float32(1,)");
  softmax_cross_entropy({f32(kAnyRank), f32(kAnyRank)}, loss(1, "mean"), "float32(1,)");
  softmax_cross_entropy({f32(kAnyRank), f32(kAnyRank)}, loss(1, "none"), "float32(...)");
  softmax_cross_entropy({f32({4, 3}), f32({3})}, loss(1, "none"),
                        "The source has shape (4, 3) but the labels have shape (3,).");
  softmax_cross_entropy({f32({4, 3}), f32({4, 3})}, loss(2, "none"), "Axis 2 is outside a tensor of rank 2.");
  softmax_cross_entropy({f32({4, 3}), i32({4, 3})}, loss(1, "none"),
                        "Operands of different types: float32(4, 3) and int32(4, 3).");
  softmax_cross_entropy({f32({4, 3}), f32({4, 3})}, loss(1, "average"),
                        "The attribute reduction is not legal (one of none sum mean).");
}

TEST(Rules, Convolution) {
  const Rule conv2d(OpCode::conv2d);
  conv2d({f32({2, 8, 9, 3}), f32({3, 5, 3, 16})}, convolution("valid"), "float32(2, 6, 5, 16)");
  conv2d({f32({2, 8, 9, 3}), f32({3, 5, 3, 16})}, convolution("same"), "float32(2, 8, 9, 16)");
  conv2d({f32({2, 8, 9, 3}), f32({3, 5, 3, 16})},
         with(with(convolution("explicit"), Attr::kPadding, Dims{1, 2, 0, 4}), Attr::kStrides, Dims{1, 3}),
         "float32(2, 9, 3, 16)");
  conv2d({f32({2, 8, 9, 3}), f32({3, 3, 3, 16})}, with(convolution("valid"), Attr::kDilations, Dims{3, 1}),
         "float32(2, 2, 7, 16)");
  conv2d({f32({2, 8, 9, 6}), f32({3, 3, 2, 9})}, convolution("same", 3), "float32(2, 8, 9, 9)");
  conv2d({f32({2, 3, 8, 9}), f32({16, 3, 3, 5})},
         with(with(convolution("valid"), Attr::kDataLayout, std::string("NCHW")), Attr::kWeightsLayout,
              std::string("OIHW")),
         "float32(2, 16, 6, 5)");
  conv2d({f32({U, U, 9, 3}), f32({3, 5, 3, U})}, convolution("valid"), "float32(?, ?, 5, ?)");
  conv2d({f32({0, 8, 8, 3}), f32({3, 3, 3, 4})}, convolution("same"), "float32(0, 8, 8, 4)");
  conv2d({f32(kAnyRank), f32({3, 5, 3, 16})}, convolution("valid"), "float32(?, ?, ?, ?)");
  conv2d({f32({64, 32, 32, 3}), f32({3, 3, 16, 32})}, convolution(),
         "Input has 3 channels (shape (64, 32, 32, 3)) but the weights expect 16 (shape (3, 3, 16, 32)).");
  conv2d({f32({64, 32, 32, 3}), f32({3, 3, 3, 4})}, convolution("same", 2),
         "Input has 3 channels (shape (64, 32, 32, 3)) but the weights expect 6 (shape (3, 3, 3, 4), 2 groups).");
  conv2d({f32({1, 8, 8, 4}), f32({3, 3, 2, 5})}, convolution("same", 2),
         "The weights have 5 filters (shape (3, 3, 2, 5)), which 2 groups do not divide.");
  conv2d({f32({1, 8, 8, 4}), f32({3, 3, 2, 5})}, convolution("same", 0), "Expected 1 or more groups, got 0.");
  conv2d({f32({1, 8, 8, 4}), f32({3, 3, 2, 5})}, convolution("same", int64_t{1} << 62),
         "Expected fewer than 2^31 groups, got 4611686018427387904.");
  conv2d({f32({1, 2, 8, 4}), f32({3, 3, 4, 5})}, convolution("valid"),
         "A window of 3 does not fit into the height of shape (1, 2, 8, 4), of layout NHWC, with padding 0 and 0.");
  conv2d({f32({1, 8, 4, 4}), f32({3, 3, 4, 5})}, with(convolution("valid"), Attr::kDilations, Dims{1, 2}),
         "A window of 5 does not fit into the width of shape (1, 8, 4, 4), of layout NHWC, with padding 0 and 0.");
  conv2d({f32({8, 4, 4}), f32({3, 3, 4, 5})}, convolution(), "Expected a source of rank 4, got shape (8, 4, 4).");
  conv2d({f32({1, 8, 4, 4}), f32({3, 3, 4})}, convolution(), "Expected weights of rank 4, got shape (3, 3, 4).");
  conv2d({i32({1, 8, 4, 4}), i32({3, 3, 4, 5})}, convolution(),
         "Expected a source of a floating type, got int32(1, 8, 4, 4).");
  conv2d({f32({1, 8, 4, 4}), f32({3, 3, 4, 5})}, with(convolution(), Attr::kStrides, Dims{1}),
         "Expected 2 positive strides (height, width), got (1,).");
  conv2d({f32({1, 8, 4, 4}), f32({3, 3, 4, 5})}, with(convolution(), Attr::kDilations, Dims{1, 0}),
         "Expected 2 positive dilations (height, width), got (1, 0).");
  conv2d({f32({1, 8, 4, 4}), f32({3, 3, 4, 5})}, with(convolution(), Attr::kPadding, Dims{0, 0, -1, 0}),
         "Expected 4 paddings of 0 or more (top, bottom, left, right), got (0, 0, -1, 0).");
  conv2d({f32({1, 8, 4, 4}), f32({3, 3, 4, 5})}, with(convolution(), Attr::kDataLayout, std::string("CHWN")),
         "The attribute data_layout is not legal (one of NHWC NCHW NDHWC NCDHW).");
  conv2d({f32({1, 8, 4, 4}), f32({3, 3, 4, 5})}, with(convolution(), Attr::kDataLayout, std::string("NDHWC")),
         "Expected a layout of images such as NHWC, got NDHWC.");
}

TEST(Rules, Convolution3d) {
  const Rule conv3d(OpCode::conv3d), conv3d_weights_gradient(OpCode::conv3d_weights_gradient);
  const Type volume = f32({2, 5, 8, 9, 3}), weights = f32({2, 3, 5, 3, 16});
  conv3d({volume, weights}, convolution_3d("valid"), "float32(2, 4, 6, 5, 16)");
  conv3d({volume, weights}, with(convolution_3d("same"), Attr::kStrides, Dims{3, 1, 2}), "float32(2, 2, 8, 5, 16)");
  conv3d(
      {volume, weights},
      with(with(convolution_3d("explicit"), Attr::kDilations, Dims{2, 3, 1}), Attr::kPadding, Dims{1, 0, 0, 2, 3, 4}),
      "float32(2, 4, 4, 12, 16)");
  conv3d({f32({2, 3, 5, 8, 9}), f32({16, 3, 2, 3, 5})},
         with(with(convolution_3d("valid"), Attr::kDataLayout, std::string("NCDHW")), Attr::kWeightsLayout,
              std::string("OIDHW")),
         "float32(2, 16, 4, 6, 5)");
  conv3d({f32({U, 5, U, 9, 3}), weights}, convolution_3d("valid"), "float32(?, 4, ?, 5, 16)");
  conv3d({f32(kAnyRank), weights}, convolution_3d("valid"), "float32(?, ?, ?, ?, ?)");
  conv3d({f32({2, 1, 8, 9, 3}), weights}, convolution_3d("valid"),
         "A window of 2 does not fit into the depth of shape (2, 1, 8, 9, 3), of layout NDHWC, with padding 0 and 0.");
  conv3d({f32({2, 8, 9, 3}), weights}, convolution_3d("valid"), "Expected a source of rank 5, got shape (2, 8, 9, 3).");
  conv3d({volume, weights}, with(convolution_3d(), Attr::kStrides, Dims{1, 1}),
         "Expected 3 positive strides (depth, height, width), got (1, 1).");
  conv3d({volume, weights}, with(convolution_3d(), Attr::kPadding, Dims{0, 0, 0, 0}),
         "Expected 6 paddings of 0 or more (front, back, top, bottom, left, right), got (0, 0, 0, 0).");
  conv3d({volume, weights}, with(convolution_3d(), Attr::kWeightsLayout, std::string("HWIO")),
         "Expected a layout of 3-D weights such as DHWIO, got HWIO.");
  Rule(OpCode::conv3d_data_gradient)({f32({2, 4, 6, 5, 16}), weights, volume}, convolution_3d("valid"),
                                     "float32(2, 5, 8, 9, 3)");
  conv3d_weights_gradient({f32({2, 4, 6, 5, 16}), volume, weights}, convolution_3d("valid"), "float32(2, 3, 5, 3, 16)");
  conv3d_weights_gradient({f32({2, 4, 6, 4, 16}), volume, weights}, convolution_3d("valid"),
                          "Expected an incoming gradient of shape (2, 4, 6, 5, 16), got shape (2, 4, 6, 4, 16).");
}

// A kernel without elements would fit everywhere.
TEST(Rules, AWindowHasElements) {
  Rule(OpCode::conv2d)({f32({1, 8, 8, 4}), f32({0, 3, 4, 5})}, convolution("valid"),
                       "Expected a window of 1 or more, got 0.");
  Rule(OpCode::max_pool2d)({f32({1, 8, 8, 4})}, with(pooling(), Attr::kWindow, Dims{2, 0}),
                           "Expected 2 positive window (height, width), got (2, 0).");
}

TEST(Rules, ConvolutionGradients) {
  const Rule conv2d_data_gradient(OpCode::conv2d_data_gradient),
      conv2d_weights_gradient(OpCode::conv2d_weights_gradient);
  const Attributes a = convolution("valid");
  conv2d_data_gradient({f32({2, 6, 5, 16}), f32({3, 5, 3, 16}), f32({2, 8, 9, 3})}, a, "float32(2, 8, 9, 3)");
  conv2d_weights_gradient({f32({2, 6, 5, 16}), f32({2, 8, 9, 3}), f32({3, 5, 3, 16})}, a, "float32(3, 5, 3, 16)");
  conv2d_data_gradient({f32({U, 6, 5, 16}), f32({3, 5, 3, 16}), f32({U, 8, 9, 3})}, a, "float32(?, 8, 9, 3)");
  conv2d_data_gradient({f32(kAnyRank), f32({3, 5, 3, 16}), f32(kAnyRank)}, a, "float32(...)");
  conv2d_data_gradient({f32({2, 8, 9, 16}), f32({3, 5, 3, 16}), f32({2, 8, 9, 3})}, a,
                       "Expected an incoming gradient of shape (2, 6, 5, 16), got shape (2, 8, 9, 16).");
  conv2d_weights_gradient({f32({2, 8, 9, 16}), f32({2, 8, 9, 3}), f32({3, 5, 3, 16})}, a,
                          "Expected an incoming gradient of shape (2, 6, 5, 16), got shape (2, 8, 9, 16).");
  conv2d_weights_gradient({f32({2, 6, 5, 16}), f32({2, 8, 9, 3}), f32({3, 5, 16})}, a,
                          "Expected weights of rank 4, got shape (3, 5, 16).");
}

TEST(Rules, Pooling) {
  for (OpCode code : {OpCode::max_pool2d, OpCode::avg_pool2d}) {
    const Rule rule(code);
    rule({f32({2, 5, 8, 3})}, pooling("valid"), "float32(2, 2, 4, 3)");
    rule({f32({2, 5, 8, 3})}, pooling("same"), "float32(2, 3, 4, 3)");
    rule({f32({2, 5, 8, 3})}, with(pooling("valid"), Attr::kCeilMode, true), "float32(2, 3, 4, 3)");
    // With "same" the extent is ceil(input / stride) anyway, also where the window is smaller than the
    // stride.
    rule({f32({2, 5, 8, 3})}, with(with(pooling("same"), Attr::kCeilMode, true), Attr::kWindow, Dims{1, 1}),
         "float32(2, 3, 4, 3)");
    rule(
        {f32({2, 5, 8, 3})},
        with(with(with(pooling("same"), Attr::kCeilMode, true), Attr::kWindow, Dims{1, 1}), Attr::kStrides, Dims{3, 3}),
        "float32(2, 2, 3, 3)");
    rule({f32({2, 3, 5, 8})}, with(pooling("valid"), Attr::kDataLayout, std::string("NCHW")), "float32(2, 3, 2, 4)");
    rule({f32({U, U, 8, U})}, pooling("valid"), "float32(?, ?, 4, ?)");
    rule({f32(kAnyRank)}, pooling("valid"), "float32(?, ?, ?, ?)");
    rule({f32({2, 1, 8, 3})}, pooling("valid"),
         "A window of 2 does not fit into the height of shape (2, 1, 8, 3), of layout NHWC, with padding 0 and 0.");
    rule({f32({2, 8, 3})}, pooling("valid"), "Expected a source of rank 4, got shape (2, 8, 3).");
    rule({i32({2, 8, 8, 3})}, pooling("valid"), "Expected a source of a floating type, got int32(2, 8, 8, 3).");
  }
  for (OpCode code : {OpCode::max_pool2d_gradient, OpCode::avg_pool2d_gradient}) {
    const Rule rule(code);
    rule({f32({2, 2, 4, 3}), f32({2, 5, 8, 3})}, pooling("valid"), "float32(2, 5, 8, 3)");
    rule({f32({U, 2, 4, 3}), f32({U, 5, 8, 3})}, pooling("valid"), "float32(?, 5, 8, 3)");
    rule({f32({2, 3, 4, 3}), f32({2, 5, 8, 3})}, pooling("valid"),
         "Expected an incoming gradient of shape (2, 2, 4, 3), got shape (2, 3, 4, 3).");
  }
}

TEST(Rules, PoolingOverTheLastFourAxes) {
  const Type x = f32({4, 5, 6, 7});
  for (OpCode code : {OpCode::max_pool4d, OpCode::avg_pool4d}) {
    const Rule rule(code);
    rule({x}, pooling_4d(), "float32(3, 2, 6, 5)");
    rule({x}, with(pooling_4d(), Attr::kCeilMode, true), "float32(3, 3, 6, 5)");
    rule({x}, pooling_4d("same"), "float32(4, 3, 6, 7)");
    rule({x}, with(pooling_4d("explicit"), Attr::kPadding, Dims{1, 0, 0, 1, 2, 0, 0, 3}), "float32(4, 3, 8, 8)");
    rule({f32({2, 3, 4, 5, 6, 7})}, pooling_4d(), "float32(2, 3, 3, 2, 6, 5)");
    rule({f32({U, 5, U, 7})}, pooling_4d(), "float32(?, 2, ?, 5)");
    rule({f32(kAnyRank)}, pooling_4d(), "float32(...)");
    rule({f32({5, 6, 7})}, pooling_4d(), "Expected a source of rank 4 or more, got shape (5, 6, 7).");
    rule({f32({4, 5, 6, 2})}, pooling_4d(),
         "A window of 3 does not fit into the axis -1 of shape (4, 5, 6, 2) with padding 0 and 0.");
    rule({x}, with(pooling_4d(), Attr::kWindow, Dims{2, 2}),
         "Expected 4 positive window (of the last four axes), got (2, 2).");
    rule({x}, with(pooling_4d(), Attr::kPadding, Dims{0, 0, 0, 0}),
         "Expected 8 paddings of 0 or more (before and after each of the last four axes), got (0, 0, 0, 0).");
  }
  Rule(OpCode::max_pool4d_with_indices)({x}, with(pooling_4d(), Attr::kIndicesMode, std::string("global_4d")),
                                        "float32(3, 2, 6, 5) int32(3, 2, 6, 5)");
  Rule(OpCode::max_pool4d_gradient)({f32({3, 2, 6, 5}), x}, pooling_4d(), "float32(4, 5, 6, 7)");
  Rule(OpCode::avg_pool4d_gradient)({f32({3, 2, 6, 4}), x}, pooling_4d(),
                                    "Expected an incoming gradient of shape (3, 2, 6, 5), got shape (3, 2, 6, 4).");
}

TEST(Rules, Pad) {
  const Rule pad(OpCode::pad);
  const auto around = [](Dims padding) { return Attributes{{Attr::kPadding, std::move(padding)}}; };
  pad({f32({2, 3}), f32({})}, around({1, 0, 2, 3}), "float32(3, 8)");
  pad({i32({U, 3}), i32({})}, around({1, 0, 2, 3}), "int32(?, 8)");
  pad({f32(kAnyRank), f32({})}, around({1, 0}), "float32(...)");
  pad({f32({2, 3}), i32({})}, around({1, 0, 2, 3}), "Operands of different types: float32(2, 3) and int32().");
  pad({f32({2, 3}), f32({1})}, around({1, 0, 2, 3}), "Expected a scalar to pad with, got float32(1,).");
  pad({f32({2, 3}), f32({})}, around({1, 0}), "Expected 4 paddings for shape (2, 3), got (1, 0).");
  pad({f32({2}), f32({})}, around({1, -1}), "Expected paddings of 0 or more, got (1, -1).");
}

// ---- optimizer steps ----

TEST(Rules, OptimizerSteps) {
  const Rule sgd(OpCode::sgd), adam(OpCode::adam);
  const Type one = f32({1}), w = f32({2, 3});
  sgd({one, w, w}, "float32(2, 3)");
  sgd({f32({}), f32({U, 3}), w}, "float32(2, 3)");
  sgd({f32(kAnyRank), f32(kAnyRank), w}, "float32(2, 3)");
  sgd({f32({2}), w, w}, "Expected coefficients of one element, got float32(2,).");
  sgd({one, w, f32({3})}, "Shapes (2, 3) and (3,) of values, state and gradient differ.");
  sgd({i32({1}), i32({2}), i32({2})}, "Expected a floating type, got int32(2,).");
  sgd({one, w, i32({2, 3})}, "Operands of different types: float32(1,) and int32(2, 3).");
  adam({one, one, one, one, w, w, w, w}, "float32(2, 3) float32(2, 3) float32(2, 3)");
  adam({one, one, one, one, w, w, w, w, w}, "float32(2, 3) float32(2, 3) float32(2, 3) float32(2, 3)");
  adam({one, one, one, w, w, w, w, w}, "Expected coefficients of one element, got float32(2, 3).");
  adam({one, one, one, one, w, w, w, f32({2, 4})}, "Shapes (2, 3) and (2, 4) of values, state and gradient differ.");
}

// ---- all ops ----

// An unknown dimension never makes an op illegal, and the types inferred without it agree with those inferred with it.
TEST(Rules, ForgettingADimensionForgetsNoMoreThanThat) {
  Graph whole;
  add_every_op(whole);
  for (const auto& op : whole.body().ops) {
    if (op->operands.empty() || !op->regions.empty() || op->code == OpCode::assign ||
        op->code == OpCode::read_variable) {
      continue;
    }
    std::vector<Type> types;
    for (const Value& v : op->operands) types.push_back(v.type());
    for (size_t i = 0; i < types.size(); ++i) {
      for (int64_t forgotten = -1; forgotten < types[i].shape.rank(); ++forgotten) {
        std::vector<Type> less = types;
        if (forgotten < 0) {
          less[i].shape = kAnyRank;
        } else {
          Dims dims = types[i].shape.dims();
          dims[forgotten] = U;
          less[i].shape = Shape(dims);
        }
        SCOPED_TRACE(std::string(op->info().name) + ", operand " + std::to_string(i) + " as " + to_string(less[i]));
        Graph graph;
        std::vector<Value> operands;
        for (const Type& type : less) operands.push_back(placeholder(graph, type));
        const Op* made = nullptr;
        ASSERT_EQ(error_of([&] { made = graph.add(op->code, operands, op->attributes); }), "no error");
        ASSERT_EQ(made->results.size(), op->results.size());
        for (size_t r = 0; r < op->results.size(); ++r) {
          EXPECT_EQ(made->results[r].dtype, op->results[r].dtype);
          EXPECT_EQ(unify(made->results[r].shape, op->results[r].shape), op->results[r].shape)
              << to_string(made->results[r]);
        }
      }
    }
  }
}

TEST(Rules, TheGraphWithEveryOpHasEveryOp) {
  Graph graph;
  add_every_op(graph);
  std::set<std::string_view> there;
  for (const auto& op : graph.body().ops) {
    there.insert(op->info().name);
    for (const auto& region : op->regions) {
      for (const auto& argument : region->arguments) there.insert(argument->info().name);
    }
  }
  for (const OpInfo& row : op_table()) {
    EXPECT_TRUE(there.contains(row.name)) << row.name << ": add a call to add_every_op of tests/cpp/graph_builder.h";
  }
}

TEST(Rules, TuplesOfIndices) {
  const Rule gather_nd(OpCode::gather_nd), scatter_nd_update(OpCode::scatter_nd_update);
  const auto batched = [](int64_t count) { return Attributes{{Attr::kBatchDims, count}}; };
  gather_nd({f32({2, 3, 4}), i32({5, 2})}, batched(0), "float32(5, 4)");
  gather_nd({bools({2, 3, 4}), i32({2, 5, 1})}, batched(1), "bool(2, 5, 4)");
  gather_nd({f32({U, 3}), i32({U, 5, 1})}, batched(1), "float32(?, 5)");
  gather_nd({f32({2, 3}), i32({5, U})}, batched(0), "float32(...)");
  gather_nd({f32({2, 3}), i32({})}, batched(0), "Expected tuples along the last axis of indices, got a scalar.");
  gather_nd({f32({2, 3}), i32({5, 1})}, batched(2), "Expected 0 to 1 batch dimensions, got 2.");
  const Attributes set = {{Attr::kBatchDims, int64_t{0}}, {Attr::kMode, std::string("set")}};
  scatter_nd_update({f32({2, 3}), f32({5, 3}), i32({5, 1})}, set, "float32(2, 3)");
  scatter_nd_update({f32({2, 3}), i32({5, 3}), i32({5, 1})}, set,
                    "Expected updates of the type of the data, float32, got int32(5, 3).");
  scatter_nd_update({f32({2, 3}), f32({5}), f32({5, 2})}, set,
                    "Expected indices of an integer type, got float32(5, 2).");
}

TEST(Rules, OrderAndRunningTotals) {
  const Rule argsort(OpCode::argsort), accumulate(OpCode::accumulate);
  const auto first = [](int64_t count) {
    return Attributes{{Attr::kAxis, int64_t{-1}}, {Attr::kCount, count}, {Attr::kDescending, true}};
  };
  argsort({f32({2, 3})}, first(-1), "int32(2, 3)");
  argsort({f32({2, U})}, first(5), "int32(2, 5)");
  argsort({f32(kAnyRank)}, first(5), "int32(...)");
  argsort({f32({2, 3})}, first(-2), "Expected a count of 0 or more, or -1, got -2.");
  argsort({bools({2, 3})}, first(1), "Expected operands of a number, got bool(2, 3).");
  const Attributes sums = {{Attr::kAxis, int64_t{1}}, {Attr::kOperation, std::string("sum")}};
  accumulate({i32({U, 3})}, sums, "int32(?, 3)");
  accumulate({f32({3})}, sums, "Axis 1 is outside a tensor of rank 1.");
}

}  // namespace
}  // namespace alloy::test

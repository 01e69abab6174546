// The texts of the CUDA device: what ops become, and what they share. tests/python/device/test_cuda.py compiles all.
#include "cuda/codegen/code.h"

#include "graph_builder.h"

namespace alloy::test {
namespace {

cuda::Code code_of_sum(Shape shape, Dims axes, DType dtype = DType::float32) {
  Graph graph;
  const Value x = placeholder(graph, {dtype, std::move(shape)});
  return cuda::code_of(*graph.value(OpCode::sum, {x}, {{Attr::kAxes, std::move(axes)}}).op);
}

TEST(Codegen, AnElementwiseOpIsItsRow) {
  Graph graph;
  const Value a = placeholder(graph, f32({4, 3})), b = placeholder(graph, f32({3}));
  const cuda::Code code = cuda::code_of(*graph.value(OpCode::subtract, {a, b}).op);
  ASSERT_EQ(code.launches.size(), 1);
  EXPECT_EQ(code.launches[0].body,
            "  for (i64 i = first_index(); i < n[0]; i += index_step()) {\n"
            "    const NumberOf<float> v0 = load((const float*)p[0], i);\n"
            "    const NumberOf<float> v1 = load((const float*)p[1], place<2>(i, n + 1, n + 3));\n"
            "    NumberOf<float> v2;\n"
            "    { const NumberOf<float> d = 0; const NumberOf<float> a = v0; const NumberOf<float> b = v1; (void)d; "
            "v2 = kept<float>(Sub(d, a, b)); }\n"
            "    store((float*)p[2], i, v2);\n"
            "  }\n");
  EXPECT_EQ(code.launches[0].numbers, (std::vector<int64_t>{12, 4, 3, 0, 1}));
  EXPECT_TRUE(code.in_place);
}

TEST(Codegen, AnOperandThatIsUsedTwiceIsReadOnce) {
  Graph graph;
  const Value x = placeholder(graph, f32({5}));
  const std::string body = cuda::code_of(*graph.value(OpCode::multiply, {x, x}).op).launches[0].body;
  EXPECT_EQ(body.find("load"), body.rfind("load"));
}

TEST(Codegen, ShapesAreNoPartOfTheText) {
  const cuda::Launch small = code_of_sum({4, 50}, {1}).launches[0], large = code_of_sum({70, 900}, {1}).launches[0];
  EXPECT_EQ(name_of(small), name_of(large));
  EXPECT_NE(small.numbers, large.numbers);
  EXPECT_NE(name_of(small), name_of(code_of_sum({4, 50}, {1}, DType::int32).launches[0]));
  const std::string source = cuda::source_of({&small, &large});
  EXPECT_EQ(source.find(name_of(small)), source.rfind(name_of(small)));
}

TEST(Codegen, ALargeSumHasPartsThatTheLastBlockAdds) {
  const cuda::Code code = code_of_sum({1 << 20}, {0});
  ASSERT_EQ(code.launches.size(), 1);
  EXPECT_GT(code.launches[0].rows, 1);
  EXPECT_EQ(code.scratch, code.launches[0].rows * sizeof(double));
  EXPECT_EQ(code.counters, 1);
}

TEST(Codegen, ProductsReadFloatsOfTwoBytesAndAsManyNeighboursAsDivideARow) {
  const auto body_of = [](DType dtype, int64_t inner, int64_t columns) {
    Graph graph;
    const Value a = placeholder(graph, {dtype, {500, inner}}), b = placeholder(graph, {dtype, {inner, columns}});
    return cuda::code_of(*graph.value(OpCode::matmul, {a, b}).op).launches[0].body;
  };
  const auto has = [](const std::string& text, const char* part) { return text.find(part) != std::string::npos; };
  const std::string wide = body_of(DType::bfloat16, 512, 520), narrow = body_of(DType::float16, 510, 515);
  EXPECT_TRUE(has(wide, "StackedMatrix<0, BFloat, true, 8>") && has(wide, "StackedMatrix<0, BFloat, false, 8>"))
      << wide;
  EXPECT_TRUE(has(wide, "PackedPlaces<4>")) << wide;
  EXPECT_TRUE(has(narrow, "StackedMatrix<0, Half, true, 2>") && has(narrow, "StackedMatrix<0, Half, false, 1>"))
      << narrow;
  EXPECT_TRUE(has(narrow, "PackedPlaces<1>")) << narrow;
  EXPECT_TRUE(has(body_of(DType::float32, 512, 520), "StackedMatrix<0, float, true, 4>"));
}

TEST(Codegen, WhatHasNoElementsIsNotLaunched) { EXPECT_TRUE(code_of_sum({0, 3}, {1}).launches.empty()); }

TEST(Codegen, AnOpWithoutCodeSaysSo) {
  Graph graph;
  const Value x = placeholder(graph, f32({2, 3}));
  EXPECT_THROW(cuda::code_of(*graph.value(OpCode::shape_of, {x}).op), cuda::Lacking);
}

}  // namespace
}  // namespace alloy::test

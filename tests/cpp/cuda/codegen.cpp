// The texts of the CUDA device: what ops become, and what they share. tests/python/device/test_cuda.py compiles all.
#include "cuda/codegen/code.h"
#include "cuda/codegen/copies.h"
#include "cuda/codegen/families.h"
#include "cuda/codegen/leader.h"
#include "cuda/codegen/merged.h"

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
            "  compute_each<1>(n[0], [&](i64 i) { struct Read { NumberOf<float> v0; NumberOf<float> v1; }; "
            "return Read{load((const float*)p[0], i), load((const float*)p[1], place<2>(i, n + 1, n + 3))}; }, "
            "[&](i64 i, const auto& r) {\n"
            "    const NumberOf<float> v0 = read_now(r.v0);\n"
            "    const NumberOf<float> v1 = read_now(r.v1);\n"
            "    NumberOf<float> v2;\n"
            "    { const NumberOf<float> d = 0; const NumberOf<float> a = v0; const NumberOf<float> b = v1; (void)d; "
            "v2 = kept<float>(Sub(d, a, b)); }\n"
            "    store((float*)p[2], i, v2);\n"
            "  });\n");
  EXPECT_EQ(code.launches[0].numbers, (std::vector<int64_t>{12, 4, 3, 0, 1}));
  EXPECT_TRUE(code.in_place);
}

TEST(Codegen, LargeArraysAreComputedInFours) {
  const auto body_of = [](Shape shape, Shape other) {
    Graph graph;
    const Value a = placeholder(graph, {DType::float32, std::move(shape)});
    const Value b = placeholder(graph, {DType::float32, std::move(other)});
    return cuda::code_of(*graph.value(OpCode::add, {a, b}).op).launches[0].body;
  };
  const std::string rows = body_of({512, 256}, {256}), columns = body_of({512, 256}, {512, 1});
  EXPECT_NE(rows.find("load_four((const float*)p[1], place<2>"), std::string::npos);
  EXPECT_NE(columns.find("four_times(load((const float*)p[1], place<2>"), std::string::npos);
  EXPECT_NE(body_of({514, 258}, {258}).find("each_of_four"), std::string::npos);
  EXPECT_NE(body_of({513, 257}, {257}).find("compute_each<1>"), std::string::npos);
}

TEST(Codegen, ReciprocalsDivideExactly) {
  constexpr int64_t kMost = (int64_t{1} << 31) - 1;
  for (const int64_t divisor : {int64_t{1}, int64_t{2}, int64_t{3}, int64_t{7}, int64_t{36}, int64_t{641},
                                int64_t{65535}, int64_t{65536}, kMost / 2 + 1, kMost - 1, kMost}) {
    const auto reciprocal = static_cast<uint64_t>(cuda::reciprocal_of(divisor));
    for (const int64_t quotient : {int64_t{0}, int64_t{1}, kMost / divisor / 2, kMost / divisor}) {
      for (const int64_t x : {quotient * divisor - 1, quotient * divisor, quotient * divisor + divisor / 2, kMost}) {
        if (x < 0 || x > kMost) continue;
        const uint64_t found = (static_cast<uint64_t>(x) * (reciprocal & 0xffffffff)) >> (reciprocal >> 32);
        EXPECT_EQ(static_cast<int64_t>(found), x / divisor) << x << " by " << divisor;
      }
    }
  }
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

// A name stands for a function in all programs, so everything that the driver reads of a function is in it.
TEST(Codegen, FunctionsThatDifferOnlyInTheirClusterHaveTwoNames) {
  using namespace cuda;
  const auto name = [](size_t bytes) {
    return name_of(merged({{&copying(1, CopiesOf::kResults, bytes), Waiting::kAll}, {&ending(), Waiting::kAll}}));
  };
  EXPECT_EQ(name(16), name(32));
  EXPECT_NE(name(16), name(1 << 20));
}

// The tap of an image of one pixel, and of one of two by two the four of nine that are in the image for each pixel.
TEST(Codegen, ConvolutionsSkipTheTermsThatArePadding) {
  const auto launch_of = [](int64_t images, int64_t pixels, const char* layout) {
    Graph graph;
    const Shape shape = layout[3] == 'C' ? Shape{images, pixels, pixels, 16} : Shape{images, 16, pixels, pixels};
    const Value x = placeholder(graph, {DType::float32, shape}), w = placeholder(graph, f32({3, 3, 16, 32}));
    return cuda::code_of(
               *graph.value(OpCode::conv2d, {x, w}, with(convolution(), Attr::kDataLayout, std::string(layout))).op)
        .launches[0];
  };
  const auto skips = [](const cuda::Launch& launch) { return launch.body.find(", 2, true>{") != std::string::npos; };
  constexpr size_t kInner = 2;
  for (const auto& [pixels, taps] : {std::pair<int64_t, int64_t>{1, 1}, {2, 4}}) {
    const cuda::Launch launch = launch_of(512, pixels, "NHWC");
    EXPECT_TRUE(skips(launch)) << launch.body;
    EXPECT_EQ(launch.numbers[kInner], taps * 16);
  }
  EXPECT_FALSE(skips(launch_of(512, 2, "NCHW")));
  EXPECT_FALSE(skips(launch_of(1, 2, "NHWC")));    // all pixels are in one tile
  EXPECT_FALSE(skips(launch_of(64, 64, "NHWC")));  // too little is padding
}

// Every second pixel of each axis has taps of its own; together they have as many tiles as all pixels.
TEST(Codegen, TheSharesOfAStridedDataGradientAreOneLaunch) {
  Graph graph;
  const Value g = placeholder(graph, f32({64, 6, 6, 32})), w = placeholder(graph, f32({3, 3, 16, 32})),
              x = placeholder(graph, f32({64, 12, 12, 16}));
  const Attributes strided = with(convolution(), Attr::kStrides, Dims{2, 2});
  const cuda::Code code = cuda::code_of(*graph.value(OpCode::conv2d_data_gradient, {g, w, x}, strided).op);
  ASSERT_EQ(code.launches.size(), 1);
  EXPECT_NE(code.launches[0].body.find("numbers_of_product<4, "), std::string::npos) << code.launches[0].body;
  EXPECT_EQ(code.launches[0].blocks, 64 * 12 * 12 / 64);
}

// Those that follow each other stay in one block, whose barrier is enough.
TEST(Codegen, SumsOfOneBlockEachAreSharedAmongTheBlocksOfAMergedLaunch) {
  using namespace cuda;
  const Launch first = code_of_sum({3}, {0}).launches[0], second = code_of_sum({70}, {0}).launches[0],
               third = code_of_sum({90}, {0}).launches[0];
  const auto blocks_of = [&](Waiting waiting) {
    const std::string body = merged({{&first, Waiting::kAll},
                                     {&copying(1, CopiesOf::kResults, 1 << 20), Waiting::kAll},
                                     {&second, Waiting::kAll},
                                     {&third, waiting}})
                                 .body;
    std::string blocks;
    for (const int64_t count : {70, 90}) {
      const size_t begin = body.find("{1, " + std::to_string(count) + ", "), end = body.find(", 0};", begin);
      blocks += body.substr(end - 1, 1);
    }
    return blocks;
  };
  EXPECT_EQ(blocks_of(Waiting::kNone), "01");
  EXPECT_EQ(blocks_of(Waiting::kBlock), "00");
}

// The number of the first block lies behind those of the function that gets the results.
TEST(Codegen, ASmallProductWhoseResultsGoOnBeginsInTheBlockThatItIsTold) {
  Graph graph;
  const Value a = placeholder(graph, f32({8, 16})), b = placeholder(graph, f32({16, 8}));
  const cuda::Maker finish = [](size_t, size_t, int) {
    return cuda::Functions{{}, "[](i64) { return 0; }, [](i64, int, float) {}", {}, {7, 8, 9}};
  };
  const cuda::Launch launch = cuda::code_of_product(*graph.value(OpCode::matmul, {a, b}).op, finish).launches[0];
  const size_t last = launch.numbers.size() - 1;
  EXPECT_EQ(launch.first_block, last);
  EXPECT_NE(launch.body.find("n[" + std::to_string(last) + "]);"), std::string::npos) << launch.body;
}

TEST(Codegen, WhatHasNoElementsIsNotLaunched) { EXPECT_TRUE(code_of_sum({0, 3}, {1}).launches.empty()); }

TEST(Codegen, AnOpWithoutCodeSaysSo) {
  Graph graph;
  const Value x = placeholder(graph, f32({2, 3}));
  EXPECT_THROW(cuda::code_of(*graph.value(OpCode::shape_of, {x}).op), cuda::Lacking);
}

}  // namespace
}  // namespace alloy::test

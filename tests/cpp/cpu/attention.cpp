// Attention and its gradient, against sums in double precision.
#include "cpu/kernel_testing.h"
#include "cpu/threads/parallel.h"
#include "ir/rules/random_state.h"

namespace alloy::test {
namespace {

// Sums of a few hundred terms of about 1, with rounding errors of 6e-8 each.
constexpr double kError = 2e-5;

struct Sizes {
  Dims batch;
  int64_t queries, keys, features, width;
};

Shape matrix(Dims batch, int64_t rows, int64_t columns) {
  batch.push_back(rows);
  batch.push_back(columns);
  return Shape(batch);
}

// A row of a causal mask sees no later key.
Tensor causal(int64_t queries, int64_t keys) {
  Tensor mask({DType::float32, {queries, keys}});
  for (int64_t i = 0; i < mask.size(); ++i) mask.set(i, i % keys > i / keys ? -1e30 : 0);
  return mask;
}

void expect_both(Random& random, const Sizes& s, const std::vector<Tensor>& mask) {
  SCOPED_TRACE(to_string(matrix(s.batch, s.queries, s.features)) + " " + std::to_string(s.keys) +
               (mask.empty() ? "" : " mask " + to_string(mask[0].type)));
  std::vector<Tensor> inputs = {random.tensor(matrix(s.batch, s.queries, s.features)),
                                random.tensor(matrix(s.batch, s.keys, s.features)),
                                random.tensor(matrix(s.batch, s.keys, s.width))};
  const auto masked = [&](std::vector<Tensor> list) {
    list.insert(list.end(), mask.begin(), mask.end());
    return list;
  };
  const Attributes attributes{{Attr::kScale, 0.3}};
  expect_meaning(OpCode::scaled_dot_product_attention, masked(inputs), attributes, 8, kError);
  inputs.push_back(random.tensor(matrix(s.batch, s.queries, s.width)));
  expect_meaning(OpCode::scaled_dot_product_attention_gradient, masked(inputs), attributes, 8, kError);
}

// One query and many, whole and broken panels and bands, few items for many threads.
const Sizes kSizes[] = {{{}, 1, 1, 1, 1},       {{2}, 5, 7, 3, 4},     {{2, 3}, 48, 32, 8, 8},  {{3}, 50, 70, 32, 33},
                        {{1, 2}, 97, 5, 17, 2}, {{1}, 13, 200, 64, 5}, {{2, 1, 2}, 3, 64, 4, 1}};

TEST_P(Simd, AttentionWithoutMask) {
  for (const Sizes& s : kSizes) expect_both(random_, s, {});
}

TEST_P(Simd, AttentionCausal) {
  for (const Sizes& s : kSizes) expect_both(random_, s, {causal(s.queries, s.keys)});
}

// Each query sees a window of keys; the first query none, and then all.
TEST_P(Simd, AttentionWindows) {
  for (int64_t reach : {0, 3, 40}) {
    Tensor mask({DType::float32, {150, 140}});
    for (int64_t i = 0; i < mask.size(); ++i) {
      const int64_t row = i / 140, column = i % 140;
      mask.set(i, row == 0 || std::abs(column - row) > reach ? -1e30 : random_.uniform(-1, 1));
    }
    expect_both(random_, {{2}, 150, 140, 8, 8}, {mask});
  }
}

TEST_P(Simd, AttentionMasksBroadcast) {
  for (const Shape& shape : {Shape({}), Shape({9}), Shape({1}), Shape({7, 1}), Shape({2, 1, 1, 9}), Shape({3, 1, 9}),
                             Shape({2, 3, 7, 9}), Shape({2, 1, 7, 9})}) {
    expect_both(random_, {{2, 3}, 7, 9, 4, 5}, {random_.tensor(shape)});
  }
}

TEST_P(Simd, AttentionKeysAndValuesBroadcast) {
  const Attributes attributes{{Attr::kScale, 1.0}};
  const Tensor query = random_.tensor({2, 3, 7, 4}), key = random_.tensor({3, 9, 4}),
               value = random_.tensor({2, 1, 9, 5});
  expect_meaning(OpCode::scaled_dot_product_attention, {query, key, value}, attributes, 8, kError);
  expect_meaning(OpCode::scaled_dot_product_attention, {key, query, random_.tensor({7, 2})}, attributes, 8, kError);
}

TEST_P(Simd, AttentionStepsFirst) {
  const Attributes attributes{{Attr::kScale, 0.5}, {Attr::kStepsFirst, true}};
  for (int64_t heads : {1, 3}) {
    std::vector<Tensor> inputs = {random_.tensor({2, 53, heads, 6}), random_.tensor({2, 41, heads, 6}),
                                  random_.tensor({2, 41, heads, 5})};
    expect_meaning(OpCode::scaled_dot_product_attention, inputs, attributes, 8, kError);
    inputs.push_back(causal(53, 41));
    expect_meaning(OpCode::scaled_dot_product_attention, inputs, attributes, 8, kError);
    inputs.insert(inputs.begin() + 3, random_.tensor({2, 53, heads, 5}));
    expect_meaning(OpCode::scaled_dot_product_attention_gradient, inputs, attributes, 8, kError);
  }
}

// With the random numbers of an array of all weights.
TEST_P(Simd, AttentionDropout) {
  const ir::RandomState words = ir::random_state(7);
  Tensor state({DType::int32, {7}}), rate({DType::float32, {}});
  for (int64_t i = 0; i < 7; ++i) state.set(i, words[static_cast<size_t>(i)]);
  for (double probability : {0.0, 0.3, 1.0}) {
    rate.set(0, probability);
    for (const Sizes& s : kSizes) {
      for (bool masked : {false, true}) {
        std::vector<Tensor> inputs = {random_.tensor(matrix(s.batch, s.queries, s.features)),
                                      random_.tensor(matrix(s.batch, s.keys, s.features)),
                                      random_.tensor(matrix(s.batch, s.keys, s.width))};
        if (masked) inputs.push_back(causal(s.queries, s.keys));
        inputs.insert(inputs.end(), {state, rate});
        const Attributes attributes{{Attr::kScale, 0.3}, {Attr::kDropout, true}};
        expect_meaning(OpCode::scaled_dot_product_attention, inputs, attributes, 8, kError);
        inputs.insert(inputs.begin() + 3, random_.tensor(matrix(s.batch, s.queries, s.width)));
        expect_meaning(OpCode::scaled_dot_product_attention_gradient, inputs, attributes, 8, kError);
      }
    }
  }
}

TEST_P(Simd, AttentionDoesNotOverflow) {
  Tensor query({DType::float32, {2, 1}}), key({DType::float32, {40, 1}});
  for (int64_t i = 0; i < 2; ++i) query.set(i, i == 0 ? 1e10 : -1e10);
  for (int64_t i = 0; i < 40; ++i) key.set(i, i < 2 ? 1e10 : -1e10);
  const Tensor value = random_.tensor({40, 3});
  expect_meaning(OpCode::scaled_dot_product_attention, {query, key, value}, {{Attr::kScale, 1.0}}, 8, kError);
}

// Every number of threads, also more than there are items.
TEST(Attention, Threads) {
  Random random;
  const int before = kernel_threads();
  for (int threads : {1, 2, 3, 16}) {
    set_kernel_threads(threads);
    const Tensor q = random.tensor({3, 100, 16}), k = random.tensor({3, 70, 16}), g = random.tensor({3, 100, 16});
    expect_meaning(OpCode::scaled_dot_product_attention, {q, k, k}, {{Attr::kScale, 0.1}}, 8, kError);
    expect_meaning(OpCode::scaled_dot_product_attention_gradient, {q, k, k, g}, {{Attr::kScale, 0.1}}, 8, kError);
  }
  set_kernel_threads(before);
}

}  // namespace
}  // namespace alloy::test

// Tests the heap memory of a running training step: it takes nothing of a tensor's size and keeps nothing. Counts the
// allocations of the whole process, so that every layer is included. oneDNN alone may take working memory for a
// product.
#include <dlfcn.h>
#include <gtest/gtest.h>

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__)
#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <random>
#include <string_view>

#include "adam.h"
#include "ir/rules/expr.h"
#include "ir/transform/rewrite.h"

namespace {

std::atomic<size_t> g_largest{0};
std::atomic<int64_t> g_live{0};

std::atomic<bool> g_is_running{false};  // the step

bool is_onednns(const void* caller) {
  Dl_info found{};
  return dladdr(caller, &found) != 0 && std::string_view(found.dli_fname).find("libdnnl") != std::string_view::npos;
}

void* counted(void* memory, size_t asked, const void* caller) {
  if (memory == nullptr) return nullptr;
  g_live += static_cast<int64_t>(malloc_usable_size(memory));
  if (g_is_running && asked > g_largest && is_onednns(caller)) return memory;
  for (size_t largest = g_largest; asked > largest && !g_largest.compare_exchange_weak(largest, asked);) {
  }
  return memory;
}

void uncount(void* memory) {
  if (memory != nullptr) g_live -= static_cast<int64_t>(malloc_usable_size(memory));
}

}  // namespace

// Replaces glibc's functions for every library of the process.
extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
void __libc_free(void*);

void* malloc(size_t size) { return counted(__libc_malloc(size), size, __builtin_return_address(0)); }
void* calloc(size_t count, size_t size) {
  return counted(__libc_calloc(count, size), count * size, __builtin_return_address(0));
}
void* realloc(void* memory, size_t size) {
  uncount(memory);
  return counted(__libc_realloc(memory, size), size, __builtin_return_address(0));
}
void* memalign(size_t alignment, size_t size) {
  return counted(__libc_memalign(alignment, size), size, __builtin_return_address(0));
}
void* aligned_alloc(size_t alignment, size_t size) {
  return counted(__libc_memalign(alignment, size), size, __builtin_return_address(0));
}
int posix_memalign(void** memory, size_t alignment, size_t size) {
  *memory = counted(__libc_memalign(alignment, size), size, __builtin_return_address(0));
  return *memory == nullptr ? ENOMEM : 0;
}
void free(void* memory) {
  uncount(memory);
  __libc_free(memory);
}
}

namespace alloy::engine {
namespace {

using ir::Attr;
using ir::Dims;
using ir::Expr;
using ir::OpCode;
using ir::Shape;

constexpr int64_t kBatch = 512;

Expr placeholder(Graph& graph, Shape shape) {
  return Expr(graph.ir(), graph.ir().value(OpCode::placeholder, {},
                                           {{Attr::kShape, std::move(shape)}, {Attr::kDtype, ir::DType::float32}}));
}

Expr variable(Graph& graph, const Shape& shape, std::mt19937& random) {
  std::vector<float> values(shape.element_count());
  std::uniform_real_distribution<float> uniform(-0.1f, 0.1f);
  for (float& v : values) v = uniform(random);
  return Expr(graph.ir(), graph.variable(std::make_shared<ir::Literal>(ir::Type{ir::DType::float32, shape},
                                                                       std::as_bytes(std::span(values)))));
}

Expr convolution(Graph& graph, Expr x, int64_t in, int64_t out, std::mt19937& random) {
  const Expr y = ir::apply(OpCode::conv2d, {x, variable(graph, {3, 3, in, out}, random)},
                           {{Attr::kStrides, Dims{1, 1}},
                            {Attr::kDilations, Dims{1, 1}},
                            {Attr::kPadding, Dims{0, 0, 0, 0}},
                            {Attr::kPaddingStyle, std::string("same")},
                            {Attr::kGroups, int64_t{1}},
                            {Attr::kDataLayout, std::string("NHWC")},
                            {Attr::kWeightsLayout, std::string("HWIO")}});
  return ir::relu(y + variable(graph, {out}, random));
}

Expr dense(Graph& graph, Expr x, int64_t in, int64_t out, std::mt19937& random) {
  return ir::apply(OpCode::matmul, {x, variable(graph, {in, out}, random)}) + variable(graph, {out}, random);
}

// The digits network: two convolutions, a pooling, two dense layers, and Adam.
TEST(Memory, AStepThatRunsAllocatesNoTensorAndKeepsNothing) {
  std::mt19937 random(0);
  auto graph = std::make_shared<Graph>();
  const Expr images = placeholder(*graph, {kBatch, 8, 8, 1}), labels = placeholder(*graph, {kBatch, 10});
  Expr x = convolution(*graph, convolution(*graph, images, 1, 16, random), 16, 32, random);
  x = ir::apply(OpCode::max_pool2d, {x},
                {{Attr::kWindow, Dims{2, 2}},
                 {Attr::kStrides, Dims{2, 2}},
                 {Attr::kDilations, Dims{1, 1}},
                 {Attr::kPadding, Dims{0, 0, 0, 0}},
                 {Attr::kPaddingStyle, std::string("valid")},
                 {Attr::kDataLayout, std::string("NHWC")}});
  x = ir::apply(OpCode::reshape, {x}, {{Attr::kShape, Shape({kBatch, 512})}});
  x = dense(*graph, ir::relu(dense(*graph, x, 512, 64, random)), 64, 10, random);
  const Expr loss = ir::apply(OpCode::softmax_cross_entropy, {x, labels},
                              {{Attr::kAxis, int64_t{-1}}, {Attr::kReduction, std::string("mean")}});
  std::vector<ir::Value> variables;
  for (const auto& v : graph->variables()) variables.push_back(v.value);
  const auto updates = adam_updates(*graph, loss_gradients(*graph, loss.value(), variables));
  auto executable = graph->compile({images.value(), labels.value()}, {loss.value()}, updates);
  const std::shared_ptr<Compiled> step = executable->specialize({images.shape(), labels.shape()});

  std::vector<float> in(kBatch * 64), out(kBatch * 10);
  for (float& v : in) v = std::uniform_real_distribution<float>()(random);
  for (size_t i = 0; i < kBatch; ++i) out[i * 10 + i % 10] = 1;
  float first = 0, last = 0;
  const FeedBytes feeds[] = {{in.data(), nullptr}, {out.data(), nullptr}};
  void* results[] = {&last};
  for (int i = 0; i < 20; ++i) {
    executable->run(step, feeds, results);
    if (i == 0) first = last;
  }
  // Shows that counting works: compiling took more than any tensor.
  ASSERT_GT(g_largest, 64u << 10);
  g_largest = 0;
  g_is_running = true;
  // Memory that a step keeps would be kept in all ten turns. (Beside other processes, a thread may start in one of
  // them.)
  int64_t least_kept = INT64_MAX;
  for (int turn = 0; turn < 10; ++turn) {
    const int64_t live = g_live;
    for (int i = 0; i < 20; ++i) executable->run(step, feeds, results);
    least_kept = std::min(least_kept, g_live - live);
  }
  EXPECT_LE(least_kept, 0);
  EXPECT_LT(g_largest, static_cast<size_t>(kBatch * 10) * sizeof(float)) << "the smallest tensor of a batch";
  EXPECT_LT(last, first / 2) << "it trained";
}

}  // namespace
}  // namespace alloy::engine
#endif

// Single ops in the portable runtime: the FLOP/s and bytes/s that they reach, and the peaks of the same run for
// comparison (a large matrix product, and a copy that no cache holds).
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "cpu/device.h"
#include "ir/rules/expr.h"
#include "ir/transform/rewrite.h"
#include "runtime/program.h"

namespace {

using namespace alloy;
using ir::Attr;
using ir::Attributes;
using ir::Dims;
using ir::Expr;
using ir::OpCode;
using ir::Shape;

// A tensor of ones in the device's memory; its pages have been touched.
device::ArrayMemory ones(const Shape& shape) {
  device::ArrayLayout layout;
  layout.rank = 1;
  layout.lengths[0] = static_cast<size_t>(shape.element_count());
  layout.element_bytes = sizeof(float);
  layout.pack();
  const device::ArrayMemory memory{&cpu::cpu_device(), cpu::cpu_device().allocate(layout.end()), layout};
  const std::vector<float> values(layout.lengths[0], 1.0F);
  device::write_array(*memory.device, *memory.storage, layout, values.data(), nullptr);
  return memory;
}

double bytes_of(const std::vector<ir::Type>& types) {
  double bytes = 0;
  for (const ir::Type& type : types) bytes += static_cast<double>(type.byte_count());
  return bytes;
}

// Runs the program of the values that `build` makes from placeholders of these shapes. `flops` counts one run.
template <class Build>
void run(benchmark::State& state, const std::vector<Shape>& shapes, double flops, const Build& build) {
  ir::Graph graph;
  std::vector<ir::Feed> feeds;
  std::vector<Expr> operands;
  for (const Shape& shape : shapes) {
    operands.emplace_back(
        graph, graph.value(OpCode::placeholder, {}, {{Attr::kShape, shape}, {Attr::kDtype, ir::DType::float32}}));
    feeds.push_back({operands.back().value(), {ir::DType::float32, shape}});
  }
  device::Device& cpu = cpu::cpu_device();
  runtime::Program program(cpu, std::make_shared<device::Arena>(cpu), feeds, build(operands), {});
  std::vector<device::ArrayMemory> in, out;
  for (const Shape& shape : shapes) in.push_back(ones(shape));
  for (const ir::Type& type : program.result_types()) out.push_back(ones(type.shape));
  const device::Arguments arguments{in, out, {}, {}};
  const std::unique_ptr<device::Stream> stream = cpu.make_stream();
  device::Outcome outcome;
  program.run(arguments, *stream, outcome);
  for (auto _ : state) program.run(arguments, *stream, outcome);
  if (flops > 0) state.counters["FLOP/s"] = benchmark::Counter(flops, benchmark::Counter::kIsIterationInvariantRate);
  state.counters["bytes/s"] = benchmark::Counter(bytes_of(program.feed_types()) + bytes_of(program.result_types()),
                                                 benchmark::Counter::kIsIterationInvariantRate);
}

template <class Body>
void add(const std::string& name, const Body& body) {
  benchmark::RegisterBenchmark(name.c_str(), body)->Unit(benchmark::kMicrosecond)->UseRealTime()->MinTime(0.05);
}

void add_matmul(const std::string& name, int64_t m, int64_t k, int64_t n) {
  add(name, [=](benchmark::State& state) {
    run(state, {{m, k}, {k, n}}, 2.0 * static_cast<double>(m * k * n),
        [](auto& x) { return std::vector{ir::apply(OpCode::matmul, {x[0], x[1]}).value()}; });
  });
}

// The number of elements inside the image, over all windows of one axis.
int64_t taps(int64_t extent, int64_t size, int64_t stride, int64_t before, int64_t windows) {
  int64_t count = 0;
  for (int64_t first = -before, i = 0; i < windows; ++i, first += stride) {
    count += std::min(first + size, extent) - std::max(first, int64_t{0});
  }
  return count;
}

// A convolution of ResNet-50 with a batch of 64 on images of extent x extent, and its two gradients.
void add_convolution(int64_t extent, int64_t in, int64_t out, int64_t size, int64_t stride, const char* padding) {
  const bool same = padding == std::string("same");
  const int64_t windows = same ? (extent + stride - 1) / stride : (extent - size) / stride + 1;
  const int64_t before = same ? std::max((windows - 1) * stride + size - extent, int64_t{0}) / 2 : 0;
  const Shape x{64, extent, extent, in}, w{size, size, in, out}, y{64, windows, windows, out};
  const Attributes attributes{{Attr::kStrides, Dims{stride, stride}},
                              {Attr::kDilations, Dims{1, 1}},
                              {Attr::kPadding, Dims{0, 0, 0, 0}},
                              {Attr::kPaddingStyle, std::string(padding)},
                              {Attr::kGroups, int64_t{1}},
                              {Attr::kDataLayout, std::string("NHWC")},
                              {Attr::kWeightsLayout, std::string("HWIO")}};
  // Does not count products with padding, which are unnecessary.
  const int64_t line = taps(extent, size, stride, before, windows);
  const double flops = 2.0 * static_cast<double>(64 * line * line * in * out);
  const std::string name = std::string("conv_") + std::to_string(size) + "x" + std::to_string(size) + "_" +
                           std::to_string(in) + "_" + std::to_string(out) + "_at_" + std::to_string(extent) + "/";
  auto add_one = [&](const char* part, OpCode code, std::vector<Shape> shapes) {
    add(name + part, [=](benchmark::State& state) {
      run(state, shapes, flops,
          [&](auto& operands) { return std::vector{ir::apply(code, operands, attributes).value()}; });
    });
  };
  add_one("forward", OpCode::conv2d, {x, w});
  add_one("data_gradient", OpCode::conv2d_data_gradient, {y, w, x});
  add_one("weights_gradient", OpCode::conv2d_weights_gradient, {y, x, w});
}

void peak_copy(benchmark::State& state) {
  const auto threads = std::max(1U, std::thread::hardware_concurrency());
  const size_t share = (size_t{64} << 20) / threads;
  std::vector<char> from(share * threads, 1), to(share * threads, 2);
  for (auto _ : state) {
    std::vector<std::jthread> team;
    for (size_t i = 0; i < threads; ++i) {
      team.emplace_back([&, i] { std::memcpy(to.data() + i * share, from.data() + i * share, share); });
    }
  }
  state.counters["bytes/s"] =
      benchmark::Counter(2.0 * static_cast<double>(from.size()), benchmark::Counter::kIsIterationInvariantRate);
}

}  // namespace

int main(int argc, char** argv) {
  add_matmul("peak_sgemm_2048", 2048, 2048, 2048);
  add("peak_copy_64MiB", peak_copy);

  add_matmul("matmul_128_784_512", 128, 784, 512);
  add_matmul("matmul_128_4096_4096", 128, 4096, 4096);
  add_convolution(32, 3, 64, 7, 2, "valid");
  add_convolution(6, 64, 256, 1, 1, "same");
  add_convolution(6, 64, 64, 3, 1, "same");
  add_convolution(3, 128, 128, 3, 1, "same");
  add_convolution(2, 256, 256, 3, 1, "same");
  add_convolution(1, 512, 512, 3, 1, "same");
  add_convolution(1, 512, 2048, 1, 1, "same");
  const Shape activations{64, 6, 6, 256}, large{1 << 24};
  for (const Shape& shape : {activations, large}) {
    const std::string size = std::string("_") + std::to_string(shape.element_count());
    const auto count = static_cast<double>(shape.element_count());
    add("add_relu" + size, [=](benchmark::State& state) {
      run(state, {shape, shape}, 2 * count, [](auto& x) { return std::vector{ir::relu(x[0] + x[1]).value()}; });
    });
    add("sum" + size, [=](benchmark::State& state) {
      // Keeps the channel axis, as batch normalisation does.
      const auto kept = shape.rank() == 4 ? std::optional<int64_t>(3) : std::nullopt;
      run(state, {shape}, count, [=](auto& x) { return std::vector{ir::sum(x[0], ir::all_axes(x[0], kept)).value()}; });
    });
  }
  add("softmax_128_1000", [](benchmark::State& state) {
    run(state, {{128, 1000}}, 0, [](auto& x) { return std::vector{ir::softmax(x[0], -1).value()}; });
  });
  add("adam_4194304", [](benchmark::State& state) {
    const Shape one{1}, values{1 << 22};
    run(state, {one, one, one, one, values, values, values, values}, 0, [](auto& x) {
      std::vector<ir::Value> operands;
      for (const Expr& operand : x) operands.push_back(operand.value());
      ir::Op* op = x[0].graph().add(OpCode::adam, operands, {});
      return std::vector<ir::Value>{{op, 0}, {op, 1}, {op, 2}};
    });
  });

  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}

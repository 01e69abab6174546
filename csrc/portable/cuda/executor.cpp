#include "cuda/executor.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <new>
#include <random>

#include "cuda/stream.h"
#include "ir/rounding.h"
#include "ir/rules/random_state.h"

namespace alloy::cuda {

using device::Place;
using device::Step;

Executor::Executor(const Context& context, Modules& modules, device::Device& device, device::Plan plan,
                   std::shared_ptr<device::Arena> arena)
    : context_(context),
      counters_(device.counters()),
      plan_(std::move(plan)),
      arena_(std::move(arena), plan_.arena_bytes) {
  std::vector<const Launch*> launches;
  prepare(plan_.steps, launches);
  const std::vector<CUfunction> functions = modules.functions_of(launches);
  std::unordered_map<const Launch*, CUfunction> function_of;
  for (size_t i = 0; i < launches.size(); ++i) function_of[launches[i]] = functions[i];
  for (auto& [step, all] : prepared_) {
    for (Prepared& prepared : all) prepared.function = function_of.at(prepared.launch);
  }
  upload_constants(device);
}

void Executor::prepare(const std::vector<Step>& steps, std::vector<const Launch*>& launches) {
  for (const Step& step : steps) {
    if (step.kind == Step::Kind::kCall) {
      for (const Launch& launch : static_cast<const Kernel&>(*step.kernel).code().launches) {
        const size_t addresses = std::max<size_t>(launch.pointers.size(), 1);
        Prepared prepared{&launch, nullptr,
                          std::vector<uint64_t>(addresses + std::max<size_t>(launch.numbers.size(), 1))};
        std::copy(launch.numbers.begin(), launch.numbers.end(), prepared.arguments.begin() + addresses);
        prepared_[&step].push_back(std::move(prepared));
        launches.push_back(&launch);
      }
    }
    for (const std::vector<Step>& region : step.regions) prepare(region, launches);
  }
}

void Executor::upload_constants(device::Device& device) {
  size_t bytes = 0;
  for (const device::ConstantBytes& constant : plan_.constants) {
    constant_offsets_.push_back(bytes);
    bytes += ir::round_up(constant.size(), device.alignment());
  }
  if (bytes == 0) return;
  constants_ = device.allocate(bytes);
  if (!constants_) throw std::bad_alloc();
  std::vector<std::byte> all(bytes);
  for (size_t i = 0; i < plan_.constants.size(); ++i) {
    std::copy_n(plan_.constants[i].data(), plan_.constants[i].size(), all.data() + constant_offsets_[i]);
  }
  constants_->write(0, all.data(), bytes);
}

// A run, which looks up every place when it is needed.
struct Executor::Run {
  Executor& executor;
  const device::Arguments& arguments;
  const Driver& driver;
  const CUstream stream;
  const CUdeviceptr arena;
  bool has_written = false;  // a variable
  size_t timed = 0;
  std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();

  void execute(const std::vector<Step>& steps) {
    for (const Step& step : steps) {
      const int64_t from = elapsed();
      switch (step.kind) {
        case Step::Kind::kCall: call(step); break;
        case Step::Kind::kHostCall: call_on_host(step); break;
        case Step::Kind::kCopy:
          driver.check(driver.copy(at(step.results[0]), at(step.operands[0]), step.bytes, stream), "cuMemcpyDtoDAsync");
          break;
        case Step::Kind::kIf: execute_branch(step); continue;
        case Step::Kind::kLoop: execute_loop(step); continue;
      }
      has_written |= device::writes_variable(step);
      if (executor.times_.empty()) continue;
      synchronize();
      device::StepTime& time = executor.times_[timed++];
      time = {from, elapsed(), time.total + elapsed() - from};
    }
  }

  // The times of steps lie in the order of for_each_action, whichever of them run.
  void execute_branch(const Step& step) {
    const size_t first = timed, second = first + actions(step.regions[0]), behind = second + actions(step.regions[1]);
    const bool yes = is_true(step);
    timed = yes ? first : second;
    execute(step.regions[yes ? 0 : 1]);
    timed = behind;
  }

  void execute_loop(const Step& step) {
    const size_t first = timed, second = first + actions(step.regions[0]), behind = second + actions(step.regions[1]);
    for (execute(step.regions[0]); is_true(step); timed = first, execute(step.regions[0])) {
      timed = second;
      execute(step.regions[1]);
      if (host::runs_shall_end() || arguments.interruption.requested()) {
        synchronize();
        throw device::Interrupted(has_written);
      }
    }
    timed = behind;
  }

  static size_t actions(const std::vector<Step>& steps) {
    size_t count = 0;
    device::for_each_action(steps, [&](const Step&) { ++count; });
    return count;
  }

  void call(const Step& step) {
    const auto found = executor.prepared_.find(&step);
    if (found == executor.prepared_.end()) return;  // a result without elements
    for (Prepared& prepared : found->second) {
      const Launch& launch = *prepared.launch;
      for (size_t i = 0; i < launch.pointers.size(); ++i) {
        const Pointer pointer = launch.pointers[i];
        prepared.arguments[i] = pointer.kind == Pointer::Kind::kOperand  ? at(step.operands[pointer.index])
                                : pointer.kind == Pointer::Kind::kResult ? at(step.results[pointer.index])
                                                                         : arena + step.scratch + pointer.index;
      }
      if (launch.is_fresh) {
        const ir::RandomState state = ir::random_state(std::random_device()());
        std::copy(state.begin(), state.end(), prepared.arguments.begin() + 1);
      }
      void* given[] = {prepared.arguments.data()};
      driver.check(driver.launch(prepared.function, launch.blocks, launch.rows, 1, launch.threads, 1, 1, 0, stream,
                                 given, nullptr),
                   "cuLaunchKernel");
    }
  }

  void call_on_host(const Step& step) {
    auto& kernel = static_cast<device::HostKernel&>(*step.kernel);
    for (size_t i = 0; i < step.operands.size(); ++i) {
      if (step.operands[i].kind == Place::Kind::kNowhere) continue;
      const size_t bytes = step.op->operands[i].type().byte_count();
      driver.check(driver.copy_to_host(kernel.operand(i), at(step.operands[i]), bytes, stream), "cuMemcpyDtoHAsync");
      executor.counters_.bytes_from_device += bytes;
    }
    synchronize();
    kernel.compute();
    for (size_t i = 0; i < step.results.size(); ++i) {
      if (step.results[i].kind == Place::Kind::kNowhere) continue;
      const size_t bytes = step.op->results[i].byte_count();
      driver.check(driver.copy_from_host(at(step.results[i]), kernel.result(i), bytes, stream), "cuMemcpyHtoDAsync");
      executor.counters_.bytes_to_device += bytes;
    }
    synchronize();  // the next call writes the same memory of the host
  }

  bool is_true(const Step& step) {
    std::vector<std::byte> bytes(step.bytes);
    driver.check(driver.copy_to_host(bytes.data(), at(step.operands[0]), bytes.size(), stream), "cuMemcpyDtoHAsync");
    synchronize();
    return std::any_of(bytes.begin(), bytes.end(), [](std::byte b) { return b != std::byte{0}; });
  }

  CUdeviceptr at(const Place& place) const {
    const auto array = [](const device::ArrayMemory& memory) {
      return memory.storage->address() + memory.layout.offset;
    };
    switch (place.kind) {
      case Place::Kind::kNowhere: return 0;
      case Place::Kind::kFeed: return array(arguments.feeds[place.index]);
      case Place::Kind::kResult: return array(arguments.results[place.index]);
      case Place::Kind::kVariable: return arguments.variables[executor.plan_.variables[place.index]]->address();
      case Place::Kind::kConstant: return executor.constants_->address() + executor.constant_offsets_[place.index];
      case Place::Kind::kArena: return arena + place.index;
    }
    std::abort();
  }

  void synchronize() { driver.check(driver.synchronize(stream), "cuStreamSynchronize"); }
  int64_t elapsed() const {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - begin).count();
  }
};

bool Executor::run(const device::Arguments& arguments, device::Stream& stream, device::Outcome& outcome) {
  if (!outcome.ok()) return true;
  auto& own = static_cast<Stream&>(stream);
  const device::ArenaShare::Use use = arena_.use(stream);
  Run run{*this, arguments, context_.enter(), own.handle(), use.storage()->address()};
  try {
    run.execute(plan_.steps);
  } catch (...) {
    static_cast<void>(run.driver.synchronize(own.handle()));  // what has begun is over before the failure is told
    throw;
  }
  own.end_run(outcome);
  return true;
}

void Executor::set_profiling(bool on) { times_.assign(on ? Run::actions(plan_.steps) : 0, {}); }

}  // namespace alloy::cuda

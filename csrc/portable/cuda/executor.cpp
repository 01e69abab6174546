#include "cuda/executor.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <new>
#include <random>

#include "cuda/codegen/copies.h"
#include "ir/rounding.h"
#include "ir/rules/random_state.h"

namespace alloy::cuda {

using device::Place;
using device::Step;

Executor::Executor(const Context& context, Modules& modules, device::Device& device, device::Plan plan,
                   std::shared_ptr<device::Arena> arena)
    : context_(context),
      device_(device),
      plan_(std::move(plan)),
      arena_(std::move(arena), plan_.arena_bytes) {
  upload_constants();
  prepare(plan_.steps);
  std::vector<const Launch*> launches{&copying(), &ending()};
  for (const auto& [step, all] : prepared_) {
    for (const Prepared& prepared : all) launches.push_back(prepared.launch);
  }
  const std::vector<CUfunction> functions = modules.functions_of(launches);
  copying_ = functions[0];
  ending_ = functions[1];
  size_t i = 2;
  for (auto& [step, all] : prepared_) {
    for (Prepared& prepared : all) prepared.made.function = functions[i++];
  }
}

// Memory and graphs must outlive the runs that use them.
Executor::~Executor() { host::wait_for(last_); }

void Executor::upload_constants() {
  size_t bytes = 0;
  for (const device::ConstantBytes& constant : plan_.constants) {
    constant_offsets_.push_back(bytes);
    bytes += ir::round_up(constant.size(), device_.alignment());
  }
  if (bytes == 0) return;
  constants_ = device_.allocate(bytes);
  if (!constants_) throw std::bad_alloc();
  std::vector<std::byte> all(bytes);
  for (size_t i = 0; i < plan_.constants.size(); ++i) {
    std::copy_n(plan_.constants[i].data(), plan_.constants[i].size(), all.data() + constant_offsets_[i]);
  }
  constants_->write(0, all.data(), bytes);
}

Executor::Prepared Executor::prepared(const Launch& launch, CUfunction function, std::vector<Address> addresses) const {
  const size_t count = std::max<size_t>(addresses.size(), 1);
  Prepared prepared{&launch, std::move(addresses), {function, launch.blocks, launch.rows, launch.threads, {}}};
  prepared.made.arguments.resize(count + std::max<size_t>(launch.numbers.size(), 1));
  std::copy(launch.numbers.begin(), launch.numbers.end(),
            prepared.made.arguments.begin() + static_cast<ptrdiff_t>(count));
  return prepared;
}

void Executor::prepare(const std::vector<Step>& steps) {
  for (const Step& step : steps) {
    is_flat_ = is_flat_ && (step.kind == Step::Kind::kCall || step.kind == Step::Kind::kCopy);
    if (step.kind == Step::Kind::kCall) {
      for (const Launch& launch : static_cast<const Kernel&>(*step.kernel).code().launches) {
        std::vector<Address> addresses;
        for (const Pointer pointer : launch.pointers) {
          addresses.push_back(pointer.kind == Pointer::Kind::kOperand ? address_of(step.operands[pointer.index])
                              : pointer.kind == Pointer::Kind::kResult
                                  ? address_of(step.results[pointer.index])
                                  : Address{Base::kArena, 0, step.scratch + pointer.index});
        }
        prepared_[&step].push_back(prepared(launch, nullptr, std::move(addresses)));
      }
    } else if (step.kind == Step::Kind::kCopy) {
      prepared_[&step] = copies_of({{address_of(step.operands[0]), address_of(step.results[0]), step.bytes}});
    }
    for (const std::vector<Step>& region : step.regions) prepare(region);
  }
}

Executor::Address Executor::address_of(const Place& place) const {
  switch (place.kind) {
    case Place::Kind::kNowhere: break;
    case Place::Kind::kFeed: return {Base::kFeed, place.index, 0};
    case Place::Kind::kResult: return {Base::kResult, place.index, 0};
    case Place::Kind::kVariable: return {Base::kVariable, place.index, 0};
    case Place::Kind::kConstant: return {Base::kZero, 0, constants_->address() + constant_offsets_[place.index]};
    case Place::Kind::kArena: return {Base::kArena, 0, place.index};
  }
  return {Base::kZero, 0, 0};
}

std::vector<Executor::Prepared> Executor::copies_of(const std::vector<Copied>& arrays) const {
  std::vector<Prepared> launches;
  for (size_t first = 0; first < arrays.size(); first += kCopiesOfLaunch) {
    const size_t count = std::min(arrays.size() - first, kCopiesOfLaunch);
    std::vector<Address> addresses(2 * kCopiesOfLaunch, Address{Base::kZero, 0, 0});
    launches.push_back(prepared(copying(), copying_, std::move(addresses)));
    Prepared& made = launches.back();
    size_t most = 0;
    for (size_t i = 0; i < count; ++i) {
      const Copied& array = arrays[first + i];
      made.addresses[2 * i] = array.from;
      made.addresses[2 * i + 1] = array.to;
      made.made.arguments[2 * kCopiesOfLaunch + i] = array.bytes;
      most = std::max(most, array.bytes);
    }
    made.made.blocks = blocks_of_copy(most);
  }
  return launches;
}

void Executor::locate(const device::Arguments& arguments, CUdeviceptr arena, const Timeline& timeline) {
  now_[static_cast<size_t>(Base::kZero)] = {0};
  now_[static_cast<size_t>(Base::kArena)] = {arena};
  std::vector<CUdeviceptr>& variables = now_[static_cast<size_t>(Base::kVariable)];
  variables.resize(plan_.variables.size());
  for (size_t i = 0; i < variables.size(); ++i) variables[i] = arguments.variables[plan_.variables[i]]->address();
  const bool other_feeds = exchange(arguments.feeds, feeds_, Base::kFeed, Base::kGivenFeed);
  const bool other_results = exchange(arguments.results, results_, Base::kResult, Base::kGivenResult);
  if (other_feeds || other_results || behind_.empty() || &timeline != timeline_) make_ends(timeline);
}

// Returns whether other arrays than in the last run need a copy.
bool Executor::exchange(std::span<const device::ArrayMemory> arrays, std::vector<Exchanged>& exchanged, Base base,
                        Base given) {
  std::vector<CUdeviceptr>&used = now_[static_cast<size_t>(base)], &own = now_[static_cast<size_t>(given)];
  exchanged.resize(arrays.size());
  used.resize(arrays.size());
  own.resize(arrays.size());
  bool changed = false;
  for (size_t i = 0; i < arrays.size(); ++i) {
    device::Storage& storage = *arrays[i].storage;
    own[i] = used[i] = storage.address() + arrays[i].layout.offset;
    const bool is_of_host = storage.host_bytes() != nullptr;
    if (is_of_host != (exchanged[i].copy != nullptr)) {
      host::wait_for(last_);  // which may use the copy
      exchanged[i].bytes = arrays[i].layout.packed_bytes();
      exchanged[i].copy = is_of_host ? device_.allocate(exchanged[i].bytes) : nullptr;
      if (is_of_host && !exchanged[i].copy) throw std::bad_alloc();
      changed = true;
    }
    if (is_of_host) used[i] = exchanged[i].copy->address();
  }
  return changed;
}

void Executor::make_ends(const Timeline& timeline) {
  graph_.reset();
  const auto copied = [](const std::vector<Exchanged>& exchanged, Base from, Base to) {
    std::vector<Copied> arrays;
    for (size_t i = 0; i < exchanged.size(); ++i) {
      if (exchanged[i].copy && exchanged[i].bytes > 0) arrays.push_back({{from, i, 0}, {to, i, 0}, exchanged[i].bytes});
    }
    return arrays;
  };
  before_ = copies_of(copied(feeds_, Base::kGivenFeed, Base::kFeed));
  behind_ = copies_of(copied(results_, Base::kResult, Base::kGivenResult));
  // The last launch also counts the run.
  const Address ended[] = {{Base::kZero, 0, timeline.count_address()}, {Base::kZero, 0, timeline.over_address()}};
  const bool joins = behind_.size() == 1 && behind_[0].made.blocks == 1;
  Prepared last =
      prepared(ending(), ending_, std::vector<Address>(2 * kCopiesOfLaunch + 2, Address{Base::kZero, 0, 0}));
  if (joins) {
    std::copy(behind_[0].addresses.begin(), behind_[0].addresses.end(), last.addresses.begin());
    std::copy_n(behind_[0].made.arguments.begin() + 2 * kCopiesOfLaunch, kCopiesOfLaunch,
                last.made.arguments.begin() + 2 * kCopiesOfLaunch + 2);
    behind_.clear();
  }
  std::copy(std::begin(ended), std::end(ended), last.addresses.end() - 2);
  behind_.push_back(std::move(last));
  timeline_ = &timeline;
}

bool Executor::update(Prepared& prepared) const {
  bool changed = false;
  const auto set = [&](size_t i, uint64_t argument) {
    changed = changed || prepared.made.arguments[i] != argument;
    prepared.made.arguments[i] = argument;
  };
  for (size_t i = 0; i < prepared.addresses.size(); ++i) {
    const Address& address = prepared.addresses[i];
    set(i, now_[static_cast<size_t>(address.base)][address.index] + address.offset);
  }
  if (prepared.launch->is_fresh) {
    const ir::RandomState state = ir::random_state(std::random_device()());
    for (size_t i = 0; i < state.size(); ++i) set(prepared.addresses.size() + i, static_cast<uint64_t>(state[i]));
  }
  return changed;
}

void Executor::launch(Prepared& prepared, CUstream stream) const {
  update(prepared);
  const PreparedLaunch& made = prepared.made;
  void* given[] = {prepared.made.arguments.data()};
  const Driver& driver = context_.enter();
  driver.check(driver.launch(made.function, made.blocks, made.rows, 1, made.threads, 1, 1, 0, stream, given, nullptr),
               "cuLaunchKernel");
}

// All launches of a run as one of the driver's.
void Executor::launch_all(CUstream stream) {
  if (!graph_) {
    nodes_.clear();
    const auto add = [&](std::vector<Prepared>& all) {
      for (Prepared& prepared : all) nodes_.push_back(&prepared);
    };
    add(before_);
    for (const Step& step : plan_.steps) {
      if (const auto found = prepared_.find(&step); found != prepared_.end()) add(found->second);
    }
    add(behind_);
    std::vector<const PreparedLaunch*> launches;
    for (Prepared* prepared : nodes_) {
      update(*prepared);
      launches.push_back(&prepared->made);
    }
    graph_ = std::make_unique<LaunchGraph>(context_, launches);
  } else {
    for (size_t i = 0; i < nodes_.size(); ++i) {
      if (update(*nodes_[i])) graph_->update(i, nodes_[i]->made);
    }
  }
  graph_->begin(stream);
}

// A run in which the host takes part: it launches each step, and waits where it must know what a step has computed.
struct Executor::Run {
  Executor& executor;
  const device::Arguments& arguments;
  const Driver& driver;
  const CUstream stream;
  bool has_written = false;  // a variable
  size_t timed = 0;
  std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();

  void execute() {
    launch(executor.before_);
    execute(executor.plan_.steps);
    launch(executor.behind_);
  }

  void execute(const std::vector<Step>& steps) {
    for (const Step& step : steps) {
      const int64_t from = elapsed();
      switch (step.kind) {
        case Step::Kind::kCall:
        case Step::Kind::kCopy:
          // A result without elements has no launch.
          if (const auto found = executor.prepared_.find(&step); found != executor.prepared_.end()) {
            launch(found->second);
          }
          break;
        case Step::Kind::kHostCall: call_on_host(step); break;
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

  void launch(std::vector<Prepared>& all) {
    for (Prepared& prepared : all) executor.launch(prepared, stream);
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

  void call_on_host(const Step& step) {
    auto& kernel = static_cast<device::HostKernel&>(*step.kernel);
    device::Counters& counters = executor.device_.counters();
    for (size_t i = 0; i < step.operands.size(); ++i) {
      if (step.operands[i].kind == Place::Kind::kNowhere) continue;
      const size_t bytes = step.op->operands[i].type().byte_count();
      driver.check(driver.copy_to_host(kernel.operand(i), at(step.operands[i]), bytes, stream), "cuMemcpyDtoHAsync");
      counters.bytes_from_device += bytes;
    }
    synchronize();
    kernel.compute();
    for (size_t i = 0; i < step.results.size(); ++i) {
      if (step.results[i].kind == Place::Kind::kNowhere) continue;
      const size_t bytes = step.op->results[i].byte_count();
      driver.check(driver.copy_from_host(at(step.results[i]), kernel.result(i), bytes, stream), "cuMemcpyHtoDAsync");
      counters.bytes_to_device += bytes;
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
    const Address address = executor.address_of(place);
    return executor.now_[static_cast<size_t>(address.base)][address.index] + address.offset;
  }

  void synchronize() const { driver.check(driver.synchronize(stream), "cuStreamSynchronize"); }
  int64_t elapsed() const {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - begin).count();
  }
};

bool Executor::run(const device::Arguments& arguments, device::Stream& stream, device::Outcome& outcome) {
  if (!outcome.ok()) return true;
  auto& own = static_cast<Stream&>(stream);
  const Driver& driver = context_.enter();
  const device::ArenaShare::Use use = arena_.use(stream);
  const Timeline& timeline = own.timeline();
  try {
    locate(arguments, use.storage()->address(), timeline);
    if (is_flat_ && times_.empty()) launch_all(timeline.stream());
    else Run{*this, arguments, driver, timeline.stream()}.execute();
  } catch (...) {
    static_cast<void>(driver.synchronize(timeline.stream()));  // what has begun is over before the failure is told
    throw;
  }
  own.add_run(outcome);
  last_ = own.fence();
  return true;
}

void Executor::set_profiling(bool on) { times_.assign(on ? Run::actions(plan_.steps) : 0, {}); }

}  // namespace alloy::cuda

#include "cuda/executor.h"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <random>
#include <set>

#include "cuda/codegen/merged.h"
#include "cuda/step_timer.h"
#include "cuda/storage.h"
#include "ir/rounding.h"
#include "ir/rules/random_state.h"

namespace alloy::cuda {

using device::Place;
using device::Step;

namespace {

// Calls f(place, bytes) for all operands and results.
template <class F>
void for_each_place(const std::vector<Step>& steps, const F& f) {
  for (const Step& step : steps) {
    for (size_t i = 0; i < step.operands.size(); ++i) {
      f(step.operands[i], step.op != nullptr ? step.op->operands[i].type().byte_count() : step.bytes);
    }
    for (size_t i = 0; i < step.results.size(); ++i) {
      f(step.results[i], step.op != nullptr ? step.op->results[i].byte_count() : step.bytes);
    }
    for (const std::vector<Step>& region : step.regions) for_each_place(region, f);
  }
}

// The most launches that the turns of a loop are made to. The host counts longer loops.
constexpr size_t kMostOfLoop = 10'000;

// Room behind the arena for the predicates of conditionals: regions may overwrite them while they are still asked.
void reserve_predicates(std::vector<Step>& steps, size_t& bytes) {
  for (Step& step : steps) {
    if (step.kind == Step::Kind::kIf) {
      step.scratch = bytes;
      bytes += ir::round_up(step.bytes, kAlignment);
    }
    for (std::vector<Step>& region : step.regions) reserve_predicates(region, bytes);
  }
}

size_t counters_of(const Step& step) {
  return step.kind == Step::Kind::kCall ? static_cast<const Kernel&>(*step.kernel).code().counters : 0;
}

template <class T>
std::vector<T*> pointers_to(std::vector<T>& all) {
  std::vector<T*> pointers;
  for (T& one : all) pointers.push_back(&one);
  return pointers;
}

}  // namespace

// Makes the launches of a run of the single ones. Neighbours that are small become one, with a barrier before each step
// that follows one behind the last barrier; among steps of one block, a barrier of that block is enough. The launches
// of a loop come once for each turn, and those of both regions of a conditional ask first if theirs is taken.
class Executor::Merging {
 public:
  explicit Merging(Executor& executor) : executor_(executor) {}

  // Those of a whole run.
  std::vector<Prepared> run(const std::vector<Step>& steps) {
    std::vector<size_t> copied;
    for (const Prepared& one : executor_.before_) {
      copied = {append(one, 0, Waiting::kNone, copied)};  // what follows the last copies follows all
      feeds_ = copied[0];
    }
    if (feeds_) {
      const bool by_each_block = std::all_of(executor_.before_.begin(), executor_.before_.end(),
                                             [](const Prepared& one) { return one.launch->by_each_block; });
      feeds_wait_ = by_each_block ? Waiting::kBlock : Waiting::kAll;
    }
    for (size_t i = 0; i < steps.size(); ++i) add(steps[i], i, steps);
    const std::vector<size_t> ends = ends_of_all();
    for (const size_t end : ends) {
      if (end < all_.size()) all_[end].made.is_awaited = false;
    }
    std::vector<size_t> others = ends;
    for (const Prepared& one : executor_.behind_) {
      const bool waits = &one == &executor_.behind_.back() || last_result_ >= first_;
      others = {append(one, steps.size(), waits ? Waiting::kAll : Waiting::kNone, others)};
    }
    end_small();
    return std::move(all_);
  }

 private:
  // Those of a region, which end before anything else begins.
  std::vector<Prepared> of_region(const std::vector<Step>& steps) {
    for (size_t i = 0; i < steps.size(); ++i) add(steps[i], i, steps);
    end_small();
    return std::move(all_);
  }

  void add(const Step& step, size_t i, const std::vector<Step>& steps) {
    const auto is = [](Place::Kind kind) { return [kind](const Place& place) { return place.kind == kind; }; };
    if (std::any_of(step.results.begin(), step.results.end(), is(Place::Kind::kResult))) last_result_ = i;
    Waiting waiting = Waiting::kNone;
    std::vector<size_t> others;
    const bool has_regions = step.kind == Step::Kind::kLoop || step.kind == Step::Kind::kIf;  // which may read feeds
    if (feeds_ && (has_regions || std::any_of(step.operands.begin(), step.operands.end(), is(Place::Kind::kFeed)))) {
      others.push_back(*feeds_);
      waiting = feeds_wait_;
    }
    for (const size_t before : step.follows) {
      others.insert(others.end(), ends_[before].begin(), ends_[before].end());
      if (before >= first_ && !(is_block(step) && is_block(steps[before]))) waiting = Waiting::kAll;
      else if (before >= first_of_block_) waiting = std::max(waiting, Waiting::kBlock);
    }
    std::vector<size_t>& ends = ends_.emplace_back();
    if (has_regions) {
      end_small();
      std::sort(others.begin(), others.end());
      others.erase(std::unique(others.begin(), others.end()), others.end());
      ends = step.kind == Step::Kind::kIf ? add_branches(step, std::move(others)) : add_loop(step, std::move(others));
      return;
    }
    const auto found = executor_.prepared_.find(&step);
    if (found == executor_.prepared_.end()) return;
    for (const Prepared& one : found->second) {
      ends = {append(one, i, waiting, others)};
      waiting = is_block(step) ? Waiting::kBlock : Waiting::kAll;
      others = ends;
    }
  }

  // Adds the launches of all turns, each behind the whole turn before it; returns the positions of the last ends.
  std::vector<size_t> add_loop(const Step& loop, std::vector<size_t> others) {
    const std::vector<Step>& asking = loop.regions[0];
    const bool only_asks = asking.size() == 1 && asking[0].results == loop.operands;
    const std::vector<Prepared> first = only_asks ? std::vector<Prepared>() : Merging(executor_).of_region(asking),
                                turn = Merging(executor_).of_region(loop.regions[1]);
    others = add_region(first, std::move(others));
    for (size_t i = 0; i < *loop.trip_count; ++i) others = add_region(first, add_region(turn, std::move(others)));
    return others;
  }

  // Adds a copy of the predicate, and then the launches of both regions, side by side; returns the positions of the
  // last ends.
  std::vector<size_t> add_branches(const Step& step, const std::vector<size_t>& others) {
    const Address predicate{Base::kArena, 0, step.scratch};
    const std::vector<Prepared> copy{
        executor_.prepared(copying(1, CopiesOf::kStep, step.bytes),
                           {executor_.address_of(step.operands[0]), predicate, {Base::kZero, 0, step.bytes}})};
    const std::vector<size_t> copied = add_region(copy, others);
    std::vector<size_t> ends;
    for (const bool wanted : {true, false}) {
      std::vector<Prepared> region = Merging(executor_).of_region(step.regions[wanted ? 0 : 1]);
      for (Prepared& one : region) {
        const Launch& launch = executor_.merged_.emplace_back(predicated(*one.launch, step.bytes, wanted));
        one.addresses.push_back(predicate);
        PreparedLaunch made = executor_.prepared(launch, one.addresses).made;
        made.follows = std::move(one.made.follows);
        one.launch = &launch;
        one.made = std::move(made);
      }
      const std::vector<size_t> own = add_region(region, copied);
      ends.insert(ends.end(), own.begin(), own.end());
    }
    std::sort(ends.begin(), ends.end());
    ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
    return ends;
  }

  // Adds launches behind `others`; returns the positions of those that none of them follows.
  std::vector<size_t> add_region(const std::vector<Prepared>& region, std::vector<size_t> others) {
    if (region.empty()) return others;
    const size_t begin = all_.size();
    std::set<size_t> ends;
    for (const Prepared& one : region) {
      std::vector<size_t>& follows = all_.emplace_back(one).made.follows;
      for (size_t& other : follows) ends.erase(other += begin);
      if (follows.empty()) follows = others;
      ends.insert(all_.size() - 1);
    }
    return {ends.begin(), ends.end()};
  }

  // Adds a launch of a step that follows other launches; returns its position.
  size_t append(const Prepared& one, size_t step, Waiting waiting, const std::vector<size_t>& others) {
    const Launch& launch = *one.launch;
    const bool is_full = small_.size() == kMostParts || pointers_ + launch.pointers.size() > kMostPointers;
    if (is_full || !is_small(launch)) end_small();
    if (small_.empty()) waiting = Waiting::kAll;
    if (waiting == Waiting::kAll) first_ = step;
    if (waiting >= feeds_wait_) feeds_wait_ = Waiting::kNone;
    if (waiting != Waiting::kNone) first_of_block_ = step;
    const size_t position = all_.size();
    for (const size_t other : others) {
      if (other != position) follows_.insert(other);
    }
    small_.push_back(&one);
    parts_.push_back({&launch, waiting});
    pointers_ += launch.pointers.size();
    if (!is_small(launch)) end_small();
    return position;
  }

  void end_small() {
    if (small_.empty()) return;
    if (small_.size() == 1) {
      all_.push_back(*small_[0]);
    } else {
      const Launch& launch = executor_.merged_.emplace_back(merged(parts_));
      std::vector<Address> addresses;
      for (const Prepared* one : small_) {
        addresses.insert(addresses.end(), one->addresses.begin(), one->addresses.end());
      }
      all_.push_back(executor_.prepared(launch, std::move(addresses)));
    }
    all_.back().made.follows.assign(follows_.begin(), follows_.end());
    follows_.clear();
    small_.clear();
    parts_.clear();
    pointers_ = 0;
  }

  // The positions of the launches that no other one follows.
  std::vector<size_t> ends_of_all() const {
    std::set<size_t> ends;
    for (size_t i = 0; i < all_.size() + (small_.empty() ? 0 : 1); ++i) {
      ends.insert(i);
      for (const size_t other :
           i < all_.size() ? all_[i].made.follows : std::vector(follows_.begin(), follows_.end())) {
        ends.erase(other);
      }
    }
    return {ends.begin(), ends.end()};
  }

  bool is_block(const Step& step) const {
    const auto found = executor_.prepared_.find(&step);
    return found == executor_.prepared_.end() ||
           std::all_of(found->second.begin(), found->second.end(),
                       [](const Prepared& one) { return one.launch->blocks == 1; });
  }

  Executor& executor_;
  std::vector<Prepared> all_;
  std::vector<std::vector<size_t>> ends_;  // of each step, the positions of its last launches
  std::vector<const Prepared*> small_;     // of the launch that comes next, with what it follows
  std::vector<MergedPart> parts_;
  size_t pointers_ = 0;
  std::set<size_t> follows_;
  size_t first_ = 0, first_of_block_ = 0;  // the first step behind the last barrier, of all and of a block
  std::optional<size_t> feeds_;            // the position of their last copies
  Waiting feeds_wait_ = Waiting::kNone;    // what the next step that reads feeds waits for
  size_t last_result_ = 0;
};

Executor::Executor(const Context& context, CopyStream& copies, Modules& modules, device::Device& device,
                   device::Plan plan, std::shared_ptr<device::Arena> arena)
    : context_(context),
      copies_(copies),
      modules_(modules),
      device_(device),
      plan_(with_room(std::move(plan), feeds_, results_)),
      arena_(std::move(arena), plan_.arena_bytes) {
  upload_constants();
  prepare(plan_.steps);
  before_ = exchanges(feeds_, CopiesOf::kFeeds, Base::kGivenFeed, Base::kFeed, Base::kFeedBytes);
  behind_ = exchanges(results_, CopiesOf::kResults, Base::kResult, Base::kGivenResult, Base::kResultBytes);
  behind_.push_back(prepared(ending(), {{Base::kTimeline, 0, 0}, {Base::kTimeline, 1, 0}}));
  is_flat_ = launches_of(plan_.steps).has_value();
  if (is_flat_) {
    all_ = Merging(*this).run(plan_.steps);
    compile(pointers_to(all_));
  } else {
    compile(single_launches());
  }
}

// Memory and graphs must outlive the runs that use them.
Executor::~Executor() { host::wait_for(last_); }

device::Plan Executor::with_room(device::Plan plan, std::vector<Exchanged>& feeds, std::vector<Exchanged>& results) {
  for_each_place(plan.steps, [&](const Place& place, size_t bytes) {
    if (place.kind != Place::Kind::kFeed && place.kind != Place::Kind::kResult) return;
    std::vector<Exchanged>& all = place.kind == Place::Kind::kFeed ? feeds : results;
    if (all.size() <= place.index) all.resize(place.index + 1);
    all[place.index].bytes = bytes;
  });
  const size_t begin = plan.arena_bytes;
  for (std::vector<Exchanged>* all : {&feeds, &results}) {
    for (Exchanged& one : *all) {
      if (one.bytes > kFewBytes) continue;
      one.in_arena = plan.arena_bytes;
      plan.arena_bytes += ir::round_up(one.bytes, kAlignment);
    }
  }
  reserve_predicates(plan.steps, plan.arena_bytes);
  plan.packed_weights_offset += plan.arena_bytes - begin;  // it is scratch of all kernels; a GPU packs no weights
  size_t counters = 0;
  device::for_each_action(plan.steps, [&](const Step& step) { counters += counters_of(step); });
  if (counters > 0) {
    const auto count = static_cast<int64_t>(counters);
    plan.constants.emplace_back(ir::Literal::splat({ir::DType::uint32, ir::Shape(ir::Dims{count})}, 0));
  }
  return plan;
}

void Executor::upload_constants() {
  size_t bytes = 0;
  for (const device::ConstantBytes& constant : plan_.constants) {
    constant_offsets_.push_back(bytes);
    bytes += ir::round_up(constant.size(), device_.alignment());
  }
  if (bytes == 0) return;
  constants_ = device_.allocate(bytes);
  if (!constants_) throw std::bad_alloc();
  for (size_t i = 0; i < plan_.constants.size(); ++i) {  // no transfers that count: part of the program
    const device::ConstantBytes& constant = plan_.constants[i];
    copies_.write(constants_->address() + constant_offsets_[i], constant.data(), constant.size());
  }
  next_counters_ = constants_->address() + constant_offsets_.back();
}

Executor::Prepared Executor::prepared(const Launch& launch, std::vector<Address> addresses) const {
  const unsigned blocks = launch.is_cluster && !modules_.is_hopper() ? 1 : launch.blocks;
  const size_t count = std::max<size_t>(addresses.size(), 1);
  Prepared prepared{&launch, std::move(addresses), {nullptr, blocks, launch.rows, launch.threads, {}}};
  prepared.made.arguments.resize(count + std::max<size_t>(launch.numbers.size(), 1));
  std::copy(launch.numbers.begin(), launch.numbers.end(),
            prepared.made.arguments.begin() + static_cast<ptrdiff_t>(count));
  return prepared;
}

void Executor::prepare(const std::vector<Step>& steps) {
  for (const Step& step : steps) {
    if (step.kind == Step::Kind::kCall) {
      for (const Launch& launch : static_cast<const Kernel&>(*step.kernel).code().launches) {
        std::vector<Address> addresses;
        for (const Pointer pointer : launch.pointers) {
          switch (pointer.kind) {
            case Pointer::Kind::kOperand: addresses.push_back(address_of(step.operands[pointer.index])); break;
            case Pointer::Kind::kResult: addresses.push_back(address_of(step.results[pointer.index])); break;
            case Pointer::Kind::kScratch: addresses.push_back({Base::kArena, 0, step.scratch + pointer.index}); break;
            case Pointer::Kind::kCounters: addresses.push_back({Base::kZero, 0, next_counters_}); break;
          }
        }
        prepared_[&step].push_back(prepared(launch, std::move(addresses)));
      }
      next_counters_ += counters_of(step) * sizeof(uint32_t);
    } else if (step.kind == Step::Kind::kCopy) {
      prepared_[&step].push_back(
          prepared(copying(1, CopiesOf::kStep, step.bytes),
                   {address_of(step.operands[0]), address_of(step.results[0]), {Base::kZero, 0, step.bytes}}));
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
  return {};
}

// The copies of feeds or results.
std::vector<Executor::Prepared> Executor::exchanges(const std::vector<Exchanged>& all, CopiesOf what, Base from,
                                                    Base to, Base bytes) const {
  std::vector<Prepared> launches;
  for (size_t first = 0; first < all.size(); first += kCopiesOfLaunch) {
    const size_t own = std::min(all.size() - first, kCopiesOfLaunch);
    std::vector<Address> addresses;
    size_t most_bytes = 0;
    for (size_t i = first; i < first + own; ++i) {
      addresses.insert(addresses.end(), {{from, i}, {to, i}, {bytes, i}});
      if (what == CopiesOf::kFeeds) addresses.push_back({Base::kEarlyBytes, i});
      most_bytes = std::max(most_bytes, all[i].bytes);
    }
    launches.push_back(prepared(copying(own, what, most_bytes), std::move(addresses)));
  }
  return launches;
}

std::vector<Executor::Prepared*> Executor::single_launches() {
  std::vector<Prepared*> all = pointers_to(before_);
  const auto add = [&](std::vector<Prepared>& launches) {
    for (Prepared& launch : launches) all.push_back(&launch);
  };
  device::for_each_action(plan_.steps, [&](const Step& step) {
    if (const auto found = prepared_.find(&step); found != prepared_.end()) add(found->second);
  });
  add(behind_);
  return all;
}

std::optional<size_t> Executor::launches_of(const std::vector<Step>& steps) const {
  size_t count = 0;
  for (const Step& step : steps) {
    switch (step.kind) {
      case Step::Kind::kCall:
      case Step::Kind::kCopy:
        if (const auto found = prepared_.find(&step); found != prepared_.end()) count += found->second.size();
        break;
      case Step::Kind::kLoop: {
        const std::optional<size_t> first = launches_of(step.regions[0]), turn = launches_of(step.regions[1]);
        if (!first || !turn || step.trip_count.value_or(kMostOfLoop) >= kMostOfLoop) return std::nullopt;
        const size_t all = *first + *step.trip_count * (*first + *turn);
        if (all > kMostOfLoop) return std::nullopt;
        count += all;
        break;
      }
      case Step::Kind::kIf: {
        const std::optional<size_t> first = launches_of(step.regions[0]), second = launches_of(step.regions[1]);
        if (!first || !second) return std::nullopt;
        count += 1 + *first + *second;
        break;
      }
      case Step::Kind::kHostCall: return std::nullopt;
    }
  }
  return count;
}

void Executor::compile(const std::vector<Prepared*>& launches) {
  std::unordered_map<const Launch*, size_t> positions;  // the turns of a loop have the same launches
  std::vector<const Launch*> different;
  for (const Prepared* one : launches) {
    if (positions.emplace(one->launch, different.size()).second) different.push_back(one->launch);
  }
  const Loaded found = modules_.functions_of(different);
  for (Prepared* one : launches) one->made.function = found.functions[positions.at(one->launch)];
  code_.insert(code_.end(), found.modules.begin(), found.modules.end());
}

void Executor::locate(const device::Arguments& arguments, CUdeviceptr arena, Stream& stream) {
  const Timeline& timeline = stream.timeline();
  now(Base::kZero) = {0};
  now(Base::kArena) = {arena};
  now(Base::kTimeline) = {timeline.count_address(), timeline.over_address()};
  std::vector<CUdeviceptr>& variables = now(Base::kVariable);
  variables.resize(plan_.variables.size());
  for (size_t i = 0; i < variables.size(); ++i) variables[i] = arguments.variables[plan_.variables[i]]->address();
  exchange(arguments.feeds, feeds_, Base::kFeed, Base::kGivenFeed, Base::kFeedBytes);
  exchange(arguments.results, results_, Base::kResult, Base::kGivenResult, Base::kResultBytes);
  now(Base::kEarlyBytes) = now(Base::kFeedBytes);
  for (size_t i = 0; i < feeds_.size(); ++i) {
    if (stream.writes(now(Base::kGivenFeed)[i], now(Base::kFeedBytes)[i])) now(Base::kEarlyBytes)[i] = 0;
  }
}

void Executor::exchange(std::span<const device::ArrayMemory> arrays, std::vector<Exchanged>& exchanged, Base base,
                        Base given, Base bytes) {
  for (const Base all : {base, given, bytes}) now(all).resize(exchanged.size());
  for (size_t i = 0; i < exchanged.size(); ++i) {
    Exchanged& own = exchanged[i];
    device::Storage& storage = *arrays[i].storage;
    const bool is_of_host = storage.host_bytes() != nullptr;
    now(given)[i] = now(base)[i] = storage.address() + arrays[i].layout.offset;
    now(bytes)[i] = is_of_host ? own.bytes : 0;
    if (!is_of_host) continue;
    if (!own.in_arena && !own.copy) own.copy = device_.allocate(own.bytes);
    if (!own.in_arena && !own.copy) throw std::bad_alloc();
    now(base)[i] = own.in_arena ? now(Base::kArena)[0] + *own.in_arena : own.copy->address();
  }
}

bool Executor::update(Prepared& prepared) const {
  bool changed = false;
  const auto set = [&](size_t i, uint64_t argument) {
    changed = changed || prepared.made.arguments[i] != argument;
    prepared.made.arguments[i] = argument;
  };
  for (size_t i = 0; i < prepared.addresses.size(); ++i) set(i, at(prepared.addresses[i]));
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
  CUlaunchAttribute begins_early{kProgrammaticSerialization, {}, {}};
  begins_early.value.programmaticStreamSerializationAllowed = 1;
  CUlaunchConfig config;
  config.gridDimX = made.blocks;
  config.gridDimY = made.rows;
  config.blockDimX = made.threads;
  config.hStream = stream;
  config.attrs = &begins_early;
  config.numAttrs = modules_.is_hopper() ? 1 : 0;
  const Driver& driver = context_.enter();
  driver.check(driver.launch(&config, made.function, given, nullptr), "cuLaunchKernelEx");
  ++device_.counters().launches;
}

void Executor::launch_all(CUstream stream) {
  if (all_.size() == 1) return launch(all_[0], stream);
  std::vector<size_t> changed;
  for (size_t i = 0; i < all_.size(); ++i) {
    if (update(all_[i])) changed.push_back(i);
  }
  if (!graph_) {
    std::vector<const PreparedLaunch*> launches;
    for (const Prepared& prepared : all_) launches.push_back(&prepared.made);
    graph_ = std::make_unique<LaunchGraph>(context_, launches, modules_.is_hopper());
  } else {
    for (const size_t i : changed) graph_->update(i, all_[i].made);
  }
  graph_->begin(stream);
  ++device_.counters().launches;
}

// A run in which the host takes part: it launches each step, and waits where it must know what a step has computed.
struct Executor::Run {
  Executor& executor;
  const device::Arguments& arguments;
  const Driver& driver;
  const CUstream stream;
  bool has_written = false;  // a variable
  size_t timed = 0;
  std::optional<StepTimer> timer = {};

  void execute() {
    if (!executor.times_.empty()) timer.emplace(executor.context_, stream, executor.times_);
    launch(executor.before_);
    execute(executor.plan_.steps);
    if (timer) timer->settle();
    launch(executor.behind_);
  }

  void execute(const std::vector<Step>& steps) {
    for (const Step& step : steps) {
      const bool is_timed = timer && step.kind != Step::Kind::kIf && step.kind != Step::Kind::kLoop;
      if (is_timed) timer->begin();
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
      if (is_timed) timer->end(timed++);
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

  CUdeviceptr at(const Place& place) const { return executor.at(executor.address_of(place)); }

  void synchronize() const { driver.check(driver.synchronize(stream), "cuStreamSynchronize"); }
};

bool Executor::run(const device::Arguments& arguments, device::Stream& stream, device::Outcome& outcome) {
  if (!outcome.ok()) return true;
  auto& own = static_cast<Stream&>(stream);
  const Driver& driver = context_.enter();
  const device::ArenaShare::Use use = arena_.use(stream);
  const Timeline& timeline = own.timeline();
  try {
    locate(arguments, use.storage()->address(), own);
    copies_.precede(timeline);
    if (is_flat_ && times_.empty()) launch_all(timeline.stream());
    else Run{*this, arguments, driver, timeline.stream()}.execute();
  } catch (...) {
    static_cast<void>(driver.synchronize(timeline.stream()));  // what has begun is over before the failure is told
    graph_.reset();                                            // it may have a part of the new arguments
    throw;
  }
  own.add_run(outcome, now(Base::kGivenResult), now(Base::kResultBytes));
  last_ = own.fence();
  return true;
}

void Executor::set_profiling(bool on) {
  if (on && is_flat_) compile(single_launches());
  times_.assign(on ? Run::actions(plan_.steps) : 0, {});
}

}  // namespace alloy::cuda

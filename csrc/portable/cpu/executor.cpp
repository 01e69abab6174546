#include "cpu/executor.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>
#include <utility>

namespace alloy::cpu {
namespace {

using Clock = std::chrono::steady_clock;
using device::Place;
using device::Step;

bool is_zero(const std::byte* bytes, size_t count) {
  return std::all_of(bytes, bytes + count, [](std::byte b) { return b == std::byte{0}; });
}

std::byte* bytes_of(const device::ArrayMemory& memory) { return memory.storage->host_bytes() + memory.layout.offset; }

}  // namespace

Executor::Executor(device::Plan plan, std::shared_ptr<device::Arena> arena)
    : plan_(std::move(plan)), arena_(std::move(arena), plan_.arena_bytes), threads_(kernel_threads()) {
  line_up(plan_.steps);
  prepacked_.resize(plan_.packed_weights.size());
  find_ends();
}

void Executor::line_up(const std::vector<Step>& steps) {
  for (const Step& step : steps) {
    switch (step.kind) {
      case Step::Kind::kCall: add(Call::Kind::kKernel, step); break;
      case Step::Kind::kHostCall: break;  // the host lacks nothing
      case Step::Kind::kCopy: add(Call::Kind::kCopy, step); break;
      case Step::Kind::kIf: {
        const size_t to_second = add(Call::Kind::kJumpIfNot, step);
        line_up(step.regions[0]);
        const size_t to_end = add(Call::Kind::kJump, step);
        calls_[to_second].target = calls_.size();
        line_up(step.regions[1]);
        calls_[to_end].target = calls_.size();
        break;
      }
      case Step::Kind::kLoop: {
        const size_t begin = calls_.size();
        line_up(step.regions[0]);
        const size_t to_end = add(Call::Kind::kJumpIfNot, step);
        line_up(step.regions[1]);
        calls_[add(Call::Kind::kJump, step)].target = begin;
        calls_[to_end].target = calls_.size();
        break;
      }
    }
  }
}

// Returns the position of the call.
size_t Executor::add(Call::Kind kind, const Step& step) {
  const auto* const kernel = static_cast<const Kernel*>(step.kernel.get());
  // If the number of threads changed during planning, there are kernels for both numbers.
  if (kernel != nullptr && kernel->threads() != threads_) threads_ = 0;
  Call call{kind, &step, kernel, pointers_.size(), 0, step.bytes, step.scratch, 0};
  for (const Place& place : step.operands) resolve(place);
  call.results = pointers_.size();
  for (const Place& place : step.results) resolve(place);
  calls_.push_back(call);
  return calls_.size() - 1;
}

void Executor::find_ends() {
  std::map<size_t, size_t> last;  // by result, the last call that writes it
  for (size_t i = 0; i < calls_.size(); ++i) {
    const Call& call = calls_[i];
    for (const Place& place : call.step->results) {
      if (place.kind == Place::Kind::kResult) last[place.index] = i;
    }
    if (call.kind != Call::Kind::kJump || call.target > i) continue;
    for (auto& [result, end] : last) {
      if (end >= call.target) end = i;
    }
  }
  for (const auto& [result, end] : last) ends_.push_back({end, result});
  std::stable_sort(ends_.begin(), ends_.end(), [](const End& a, const End& b) { return a.call < b.call; });
}

std::vector<device::StepTime> Executor::times() const {
  std::vector<device::StepTime> times;
  for (size_t i = 0; i < times_.size(); ++i) {
    if (calls_[i].kind == Call::Kind::kKernel || calls_[i].kind == Call::Kind::kCopy) times.push_back(times_[i]);
  }
  return times;
}

void Executor::resolve(const Place& place) {
  std::byte* pointer = nullptr;
  switch (place.kind) {
    case Place::Kind::kNowhere: break;
    case Place::Kind::kConstant: pointer = const_cast<std::byte*>(plan_.constants[place.index].data()); break;
    case Place::Kind::kArena: inside_.push_back({place, pointers_.size()}); break;
    default: patches_.push_back({place, pointers_.size()});
  }
  pointers_.push_back(pointer);
}

void Executor::use_arena(const device::ArenaShare::Use& use) {
  if (!use.as_left()) prepacked_.assign(plan_.packed_weights.size(), std::nullopt);
  std::byte* const base = use.storage()->host_bytes();
  if (base == base_) return;
  base_ = base;
  for (const Patch& patch : inside_) pointers_[patch.pointer] = base_ + patch.place.index;
}

void Executor::patch(const device::Arguments& arguments) {
  feeds_.clear();
  variables_.clear();
  results_.clear();
  for (const device::ArrayMemory& memory : arguments.feeds) feeds_.push_back(bytes_of(memory));
  for (const device::ArrayMemory& memory : arguments.results) results_.push_back(bytes_of(memory));
  for (const int64_t slot : plan_.variables) {
    variables_.push_back(arguments.variables[slot]->host_bytes());
  }
  for (const Patch& patch : patches_) {
    const size_t i = patch.place.index;
    pointers_[patch.pointer] = patch.place.kind == Place::Kind::kFeed       ? feeds_[i]
                               : patch.place.kind == Place::Kind::kVariable ? variables_[i]
                                                                            : results_[i];
  }
}

void Executor::prepack(const device::Arguments& arguments) {
  for (size_t i = 0; i < plan_.packed_weights.size(); ++i) {
    const device::PackedWeights& weights = plan_.packed_weights[i];
    const size_t source = weights.source.index;
    const bool is_constant = weights.source.kind == Place::Kind::kConstant;
    std::optional<uint64_t> version;
    if (is_constant) version = 0;
    else if (!arguments.versions.empty()) version = arguments.versions[plan_.variables[source]];
    if (version && prepacked_[i] == version) continue;
    static_cast<const Kernel*>(weights.kernel)
        ->prepack(is_constant ? plan_.constants[source].data() : variables_[source], base_ + weights.offset);
    prepacked_[i] = version;
  }
}

bool Executor::run(const device::Arguments& arguments, device::Stream& stream, device::Outcome&) {
  const FlushDenormals mode;
  const Team team;
  if (team.threads() != threads_) return false;
  const device::ArenaShare::Use use = arena_.use(stream);
  use_arena(use);
  patch(arguments);
  prepack(arguments);
  if (times_.empty()) run_steps<false>(arguments.interruption, arguments.on_result);
  else run_steps<true>(arguments.interruption, arguments.on_result);
  return true;
}

// Called if the run was interrupted: throws if the run may end before this call.
void Executor::end_before(size_t at) const {
  // Calls that may have run: those before this one, and those of the loops around it.
  size_t end = at;
  for (size_t i = at; i < calls_.size(); ++i) {
    if (calls_[i].kind == Call::Kind::kJump && calls_[i].target <= at) end = i;
  }
  const bool has_written = std::any_of(calls_.begin(), calls_.begin() + static_cast<ptrdiff_t>(end),
                                       [](const Call& call) { return device::writes_variable(*call.step); });
  const Call& next = calls_[at];
  const bool begins_again = next.kind == Call::Kind::kJump && next.target <= at;
  if (!has_written || begins_again) throw device::Interrupted(has_written);
}

template <bool kTimed>
void Executor::run_steps(const device::Interruption& interruption, const std::function<void(size_t)>* on_result) {
  auto ended = on_result == nullptr ? ends_.end() : ends_.begin();
  const auto start = kTimed ? Clock::now() : Clock::time_point();
  const auto elapsed = [start] { return std::chrono::nanoseconds(Clock::now() - start).count(); };
  int64_t now = 0;
  for (size_t i = 0; i < calls_.size();) {
    if (interruption.requested() || host::runs_shall_end()) [[unlikely]]
      end_before(i);
    const Call& call = calls_[i];
    std::byte* const* operands = pointers_.data() + call.operands;
    std::byte* const* outputs = pointers_.data() + call.results;
    size_t next = i + 1;
    switch (call.kind) {
      case Call::Kind::kKernel: call.kernel->run(operands, outputs, base_ + call.scratch); break;
      case Call::Kind::kCopy: std::memcpy(outputs[0], operands[0], call.bytes); break;
      case Call::Kind::kJump: next = call.target; break;
      case Call::Kind::kJumpIfNot: next = is_zero(operands[0], call.bytes) ? call.target : next; break;
    }
    if constexpr (kTimed) {
      const int64_t begin = std::exchange(now, elapsed());
      times_[i] = {begin, now, times_[i].total + now - begin};
    }
    for (; ended != ends_.end() && ended->call < next; ++ended) (*on_result)(ended->result);
    i = next;
  }
}

}  // namespace alloy::cpu

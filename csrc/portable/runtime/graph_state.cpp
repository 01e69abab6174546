#include "runtime/graph_state.h"

#include <algorithm>
#include <new>

#include "ir/transform/rewrite.h"
#include "runtime/guard.h"

namespace alloy::runtime {
namespace {

// A program takes up to some megabytes for a deep network, mostly for its list of kernels.
constexpr size_t kMostPrograms = 32;

}  // namespace

void RecentPrograms::keep(std::shared_ptr<Program> program) {
  std::list<std::shared_ptr<Program>> dropped;  // destroyed after the lock is released
  std::lock_guard lock(mutex_);
  const auto known = std::find(programs_.begin(), programs_.end(), program);
  if (known != programs_.end()) programs_.splice(programs_.begin(), programs_, known);
  else programs_.push_front(std::move(program));
  if (programs_.size() > kMostPrograms) dropped.splice(dropped.end(), programs_, std::prev(programs_.end()));
}

std::shared_ptr<Program> RecentPrograms::find(const std::vector<ir::Type>& feeds) {
  std::lock_guard lock(mutex_);
  const auto known = std::find_if(programs_.begin(), programs_.end(),
                                  [&](const auto& program) { return program->feed_types() == feeds; });
  if (known == programs_.end()) return nullptr;
  programs_.splice(programs_.begin(), programs_, known);
  return programs_.front();
}

std::shared_ptr<Program> RecentPrograms::latest() {
  std::lock_guard lock(mutex_);
  return programs_.empty() ? nullptr : programs_.front();
}

std::shared_ptr<Program> GraphState::program(device::Device& device, const std::vector<ir::Feed>& feeds,
                                             const std::vector<ir::Value>& results, const std::vector<ir::Op*>& effects,
                                             const CallablesRef& callables, const std::string& precision) {
  Key key{reinterpret_cast<uintptr_t>(&device), reinterpret_cast<uintptr_t>(callables.get())};
  key.insert(key.end(), precision.begin(), precision.end());
  key.push_back(UINT64_MAX);
  for (const ir::Feed& feed : feeds) {
    key.insert(key.end(), {feed.placeholder.op->id, static_cast<uint64_t>(feed.type.dtype)});
    for (int64_t d : feed.type.shape.dims()) key.push_back(static_cast<uint64_t>(d));
    key.push_back(UINT64_MAX);
  }
  for (const ir::Value& v : results) key.insert(key.end(), {v.op->id, v.index});
  key.push_back(UINT64_MAX);
  for (const ir::Op* op : effects) key.push_back(op->id);
  std::lock_guard lock(compiling_);
  if (const auto known = programs_.find(key); known != programs_.end()) {
    if (std::shared_ptr<Program> program = known->second.lock()) return program;
  }
  if (programs_.size() >= most_programs_) {
    std::erase_if(programs_, [](const auto& entry) { return entry.second.expired(); });
    most_programs_ = 2 * programs_.size() + 64;
  }
  std::shared_ptr<device::Arena>& arena = arenas_[&device];
  if (!arena) arena = std::make_shared<device::Arena>(device);
  auto program = std::make_shared<Program>(device, arena, feeds, results, effects, callables, precision);
  programs_[std::move(key)] = program;
  ++device.counters().compilations;
  return program;
}

void GraphState::allocate_variable(std::span<const std::byte> initial) {
  std::lock_guard lock(running_);
  std::shared_ptr<device::Storage> storage = device_->allocate(initial.size());
  if (!storage) throw std::bad_alloc();
  if (!initial.empty()) storage->write(0, initial.data(), initial.size());
  // By slot. If memory ran out for an earlier variable, its entry is empty.
  const size_t count = graph.variable_count();
  variables_.resize(count);
  versions_.resize(count);
  variables_.back() = std::move(storage);
}

void GraphState::allocate_variables(const std::vector<size_t>& bytes,
                                    const std::function<void(size_t slot, device::Storage&)>& fill) {
  std::lock_guard lock(running_);
  for (size_t slot = 0; slot < bytes.size(); ++slot) {
    std::shared_ptr<device::Storage> storage = device_->allocate(bytes[slot]);
    if (!storage) throw std::bad_alloc();
    fill(slot, *storage);
    variables_.push_back(std::move(storage));
    versions_.push_back(0);
  }
}

void GraphState::read_variables(const std::vector<int64_t>& slots, const std::function<void(device::Storage&)>& read) {
  std::lock_guard lock(running_);
  host::wait_for(last_);
  for (const int64_t slot : slots) read(*variables_[static_cast<size_t>(slot)]);
}

void GraphState::take_variables_to(device::Device& device) {
  if (device_ == &device) return;
  host::wait_for(last_);
  std::vector<std::shared_ptr<device::Storage>> taken;
  std::vector<std::byte> contents;
  for (const auto& storage : variables_) {
    std::shared_ptr<device::Storage>& there = taken.emplace_back();
    if (!storage) continue;
    there = device.allocate(storage->size());
    if (!there) throw std::bad_alloc();
    contents.resize(storage->size());
    storage->read(0, contents.data(), contents.size());
    there->write(0, contents.data(), contents.size());
  }
  variables_ = std::move(taken);
  device_ = &device;
}

size_t GraphState::variable_bytes(const Program& program) {
  std::lock_guard lock(running_);
  size_t bytes = 0;
  for (int64_t slot : program.variables()) bytes += variables_[slot]->size();
  return bytes;
}

void GraphState::set_profiling(Program& program, bool on) {
  std::lock_guard lock(running_);
  host::wait_for(last_);
  program.set_profiling(on);
}

std::vector<device::StepTime> GraphState::times(const Program& program) {
  std::lock_guard lock(running_);
  host::wait_for(last_);
  return program.times();
}

namespace {

// True if a run reads or writes the array where it lies: it has no gaps and is aligned for its device.
bool lies_well(const device::ArrayMemory& array) {
  return array.layout.is_packed() && array.layout.offset % array.device->array_alignment() == 0;
}

// The arrays of a run. One that does not lie so, or that is listed in `apart`, is replaced by packed memory of its
// device.
class Packed {
 public:
  explicit Packed(const Run::Arrays& arrays, const std::vector<size_t>& apart = {}) : arrays_(arrays) {
    for (size_t i = 0; i < arrays.size(); ++i) {
      if (lies_well(arrays[i]) && std::find(apart.begin(), apart.end(), i) == apart.end()) continue;
      if (packed_.empty()) packed_ = arrays;
      device::ArrayMemory& room = packed_[i];
      room.layout.offset = 0;
      room.layout.pack();
      room.storage = room.device->allocate(room.layout.end());
      if (!room.storage) throw std::bad_alloc();
      replaced_.push_back(i);
    }
  }

  bool is_in_place() const { return replaced_.empty(); }
  std::span<const device::ArrayMemory> get() const { return packed_.empty() ? arrays_ : packed_; }
  void fetch() const {
    for (const size_t i : replaced_) copy_array(arrays_[i], packed_[i]);
  }
  void give_back() const {
    for (const size_t i : replaced_) copy_array(packed_[i], arrays_[i]);
  }

 private:
  const Run::Arrays& arrays_;
  Run::Arrays packed_;  // empty if nothing is replaced
  std::vector<size_t> replaced_;
};

}  // namespace

void Run::operator()(device::Stream& stream, device::Outcome& outcome) const {
  if (!outcome.ok()) return;
  GraphState& state = *state_;
  // Before the lock: who finds it taken interrupts the run that has it, too.
  const uint64_t number = ++state.begun_;
  std::lock_guard lock(state.running_);
  const host::Status status{guard([&] {
    state.take_variables_to(program_->device());
    stream.follow(state.last_);
    const Packed feeds(feeds_, overwritten_), results(results_);
    const bool is_in_place = feeds.is_in_place() && results.is_in_place();
    if (!is_in_place) host::wait_for(stream.fence());  // arrays are copied by the host
    feeds.fetch();
    for (int64_t slot : program_->written()) ++state.versions_[slot];
    const bool tells = on_result_ && results.is_in_place();
    program_->run({feeds.get(),
                   results.get(),
                   state.variables_,
                   state.versions_,
                   {&state.interrupted_, number},
                   tells ? &on_result_ : nullptr},
                  stream, outcome);
    if (is_in_place) return;
    host::wait_for(stream.fence());
    if (outcome.ok()) results.give_back();
  })};
  if (!status.ok()) outcome.fail(status);
  ++program_->device().counters().dispatches;
  state.last_ = stream.fence();
}

void Run::operator()(device::Stream& stream, device::Outcome& outcome, const host::EventList& events,
                     const std::function<bool()>& condition) const {
  if (outcome.ok()) {
    const host::Status status{guard([&] {
      const host::Status waited = events.wait_all([&](const host::FenceRef& fence) { stream.follow(fence); });
      if (!waited.ok()) outcome.fail(waited);
      if (condition) host::wait_for(stream.fence());
      if (!condition || condition()) (*this)(stream, outcome);
    })};
    if (!status.ok()) outcome.fail(status);
  }
  events.signal_all_after(stream.fence());
}

bool Run::returns_at_once() const {
  return program_->returns_at_once() && overwritten_.empty() && std::all_of(feeds_.begin(), feeds_.end(), lies_well) &&
         std::all_of(results_.begin(), results_.end(), lies_well);
}

host::Status Run::run_now(device::Stream& stream, device::Outcome& outcome, const host::EventList& events) const {
  host::FenceRef end;
  const host::Status status = stream.run([&] {
    (*this)(stream, outcome, events);
    end = stream.fence();
  });
  host::wait_for(end);
  return status;
}

}  // namespace alloy::runtime

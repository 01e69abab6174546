#include "runtime/graph_state.h"

#include <algorithm>
#include <cstring>

#include "ir/rewrite.h"
#include "runtime/guard.h"

namespace alloy::runtime {
namespace {

// What a program takes besides memory for its runs is its list of kernels: up to some megabytes for a deep network.
constexpr size_t kMostPrograms = 32;

}  // namespace

void RecentPrograms::keep(std::shared_ptr<Program> program) {
  std::list<std::shared_ptr<Program>> dropped;  // outside the lock
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

std::shared_ptr<Program> GraphState::program(const std::vector<ir::Feed>& feeds, const std::vector<ir::Value>& results,
                                             const std::vector<ir::Op*>& effects) {
  Key key;
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
  auto program = std::make_shared<Program>(arena_, feeds, results, effects);
  programs_[std::move(key)] = program;
  ++device.counters().compilations;
  return program;
}

void GraphState::allocate_variable(std::span<const std::byte> initial) {
  std::shared_ptr<device::Storage> storage = device.allocate(initial.size());
  if (!storage) throw std::bad_alloc();
  if (!initial.empty()) storage->write(0, initial.data(), initial.size());
  // By slot: a variable that found no memory has left its place empty.
  const auto count = static_cast<size_t>(graph.variable_count());
  variables_.resize(count);
  versions_.resize(count);
  variables_.back() = std::move(storage);
}

size_t GraphState::variable_bytes(const Program& program) const {
  size_t bytes = 0;
  for (int64_t slot : program.variables()) bytes += variables_[static_cast<size_t>(slot)]->size();
  return bytes;
}

void GraphState::set_profiling(Program& program, bool on) {
  std::lock_guard lock(arena_->running);
  program.set_profiling(on);
}

std::vector<Program::StepTime> GraphState::times(const Program& program) {
  std::lock_guard lock(arena_->running);
  return program.times();
}

namespace {

// Packed bytes of an array: its own, or, where rows have gaps or it is asked for, of a copy.
struct Packed {
  std::byte* bytes;
  std::vector<std::byte> copy;

  explicit Packed(const device::ArrayMemory& memory, bool copies = false)
      : bytes(memory.storage->host_bytes() + memory.layout.offset) {
    if (memory.layout.is_packed() && !copies) return;
    copy.resize(memory.layout.packed_bytes());
    bytes = copy.data();
  }
};

// Calls f with the packed bytes of row i and the bytes of the row in the array.
template <class F>
void for_each_row(const device::ArrayMemory& memory, std::byte* packed, F f) {
  const size_t row = memory.layout.packed_row_bytes();
  const size_t rows = row == 0 ? 0 : memory.layout.packed_bytes() / row;
  std::byte* at = memory.storage->host_bytes() + memory.layout.offset;
  for (size_t i = 0; i < rows; ++i) f(packed + i * row, at + i * memory.layout.row_bytes, row);
}

}  // namespace

device::Status Run::operator()() const {
  std::lock_guard lock(state_->arena_->running);
  device::Status status{guard([&] {
    std::vector<Packed> feeds, results;
    std::vector<const std::byte*> feed_pointers;
    std::vector<std::byte*> result_pointers, variable_pointers;
    for (const device::ArrayMemory& memory : feeds_) {
      const bool is_overwritten =
          std::find(overwritten_.begin(), overwritten_.end(), feeds.size()) != overwritten_.end();
      Packed& packed = feeds.emplace_back(memory, is_overwritten);
      if (!packed.copy.empty()) {
        for_each_row(memory, packed.bytes,
                     [](std::byte* to, const std::byte* from, size_t n) { std::memcpy(to, from, n); });
      }
      feed_pointers.push_back(packed.bytes);
    }
    for (const device::ArrayMemory& memory : results_) result_pointers.push_back(results.emplace_back(memory).bytes);
    for (int64_t slot : program_->variables()) {
      variable_pointers.push_back(state_->variables_[static_cast<size_t>(slot)]->host_bytes());
    }
    for (int64_t slot : program_->written()) ++state_->versions_[static_cast<size_t>(slot)];
    program_->run(feed_pointers.data(), variable_pointers.data(), result_pointers.data(), state_->versions_.data());
    for (size_t i = 0; i < results.size(); ++i) {
      if (results[i].copy.empty()) continue;
      for_each_row(results_[i], results[i].bytes,
                   [](std::byte* from, std::byte* to, size_t n) { std::memcpy(to, from, n); });
    }
  })};
  ++state_->device.counters().dispatches;
  return status;
}

device::Status Run::operator()(const device::EventList& events) const {
  const device::Status ready = events.wait_all();
  if (!ready.ok()) return ready;
  const device::Status status = (*this)();
  events.signal_all();
  return status;
}

}  // namespace alloy::runtime

#include "engine/graph.h"

#include <algorithm>
#include <span>
#include <unordered_map>
#include <unordered_set>

#include "engine/error.h"
#import "engine/graph_impl.h"
#import "engine/lowering/lowered.h"
#include "engine/process.h"
#include "ir/transform/rewrite.h"

namespace alloy::engine {

namespace {

// Keeps memory that runs write although their graph is gone. Other steps may delay these runs, so nobody waits for
// them; the memory is freed once they are over, when the next graph is made or destroyed.
void leave_behind(std::unique_ptr<Graph::Impl> impl) {
  static std::mutex& mutex = *new std::mutex;
  static auto& all = *new std::vector<std::unique_ptr<Graph::Impl>>;
  std::vector<std::unique_ptr<Graph::Impl>> over;
  if (Entry::is_refused()) return;
  const Entry entry;
  {
    std::lock_guard lock(mutex);
    if (impl) all.push_back(std::move(impl));
    const auto first_over = std::stable_partition(all.begin(), all.end(), [](const auto& one) {
      return std::any_of(one->flying.begin(), one->flying.end(), [](const auto& run) { return !run->is_over(); });
    });
    std::move(first_over, all.end(), std::back_inserter(over));
    all.erase(first_over, all.end());
  }
  on_device([&] {
    for (const auto& one : over) one->land_all();
    over.clear();
  });
}

}  // namespace

Graph::Graph(VariableStorage storage, const std::string& device, const std::string& precision)
    : storage_(storage), impl_(std::make_unique<Impl>()) {
  leave_behind(nullptr);
  ir_.precision = precision;
  impl_->device = find_device(device, "graph");
  on_device([&] {
    impl_->queue = Ref<id<MTLCommandQueue>>::adopt([impl_->device.get() newCommandQueue]);
    // Feeds travel to memory of the device's own meanwhile, and its steps can be shorter than a thread takes to wake.
    if (![impl_->device.get() hasUnifiedMemory]) impl_->most_in_flight = 4;
    impl_->begin_framework();
  });
}

// Runs in flight write memory of the graph, so the destructor waits for them. In a forked child they never end, and
// nothing writes.
Graph::~Graph() {
  const bool may_wait = !Entry::is_refused();
  if (may_wait && !impl_->flying.empty()) {
    on_device([&] {
      // Runs whose results nobody can see any more need not be completed.
      const auto& flying = impl_->flying;
      const bool is_seen = std::any_of(flying.begin(), flying.end(),
                                       [](const auto& run) { return run->is_apart || run.use_count() > 1; });
      if (!is_seen) flying.back()->interrupt();
      if (std::all_of(flying.begin(), flying.end(), [](const auto& run) { return run->is_over(); })) impl_->land_all();
    });
    if (!impl_->flying.empty()) leave_behind(std::move(impl_));
  }
  on_device([&] { impl_.reset(); });
}

ir::Value Graph::variable(ir::LiteralRef initial, bool trainable) {
  // The graph does not keep large values, because the device has its own copy.
  constexpr size_t kLarge = 4096;  // bytes
  const bool is_small = !initial->is_elsewhere() && initial->bytes().size() < kLarge;
  ir::LiteralRef shown = is_small ? initial : ir::Literal::elsewhere(initial->type());
  variables_.push_back({ir_.value(ir::OpCode::variable, {}, {{ir::Attr::kValue, std::move(shown)}}), trainable});
  std::lock_guard lock(impl_->beginning);
  impl_->initial.emplace(variables_.size() - 1, std::move(initial));
  return variables_.back().value;
}

std::unique_lock<std::mutex> Graph::lock_building() {
  std::unique_lock lock(building_, std::try_to_lock);
  if (!lock) {
    const Entry entry;
    lock.lock();
  }
  return lock;
}

ir::LiteralRef Graph::initial_value(int64_t slot) const {
  std::lock_guard lock(impl_->beginning);
  const auto found = impl_->initial.find(slot);
  return found == impl_->initial.end() ? nullptr : found->second;
}

void Graph::forget_initial(int64_t slot) {
  std::lock_guard lock(impl_->beginning);
  impl_->initial.erase(slot);
}

size_t Graph::most_in_flight() const { return impl_->most_in_flight; }

void Graph::set_most_in_flight(size_t count) { impl_->most_in_flight = count; }

void Graph::renew_if_wasteful() {
  Impl& own = *impl_;
  if (!own.framework->is_mostly_waste()) return;
  std::vector<ir::Value> held;
  if (storage_ == VariableStorage::kVariable) {
    const auto lock = lock_building();
    for (const auto& [slot, tensor] : own.framework->variables) {
      held.push_back(variables_[slot].value);
    }
  }
  std::vector<std::vector<std::byte>> contents;
  std::vector<void*> out;
  for (const ir::Value& v : held) out.push_back(contents.emplace_back(v.type().byte_count()).data());
  if (!held.empty()) access(false, held)->run(nullptr, out.data());
  on_device([&] { own.begin_framework(); });
  for (size_t i = 0; i < held.size(); ++i) {
    std::lock_guard lock(own.beginning);
    own.initial[held[i].op->attributes.integer(ir::Attr::kSlot)] =
        std::make_shared<ir::Literal>(held[i].type(), std::move(contents[i]));
  }
  own.accesses.clear();
  std::vector<std::weak_ptr<Executable>> executables;
  {
    std::lock_guard lock(own.listing);
    executables = own.executables;
  }
  for (const auto& weak : executables) {
    if (const auto executable = weak.lock()) executable->drop_steps();
  }
}

void Graph::require_own(ir::Value value, const char* what) const {
  const ir::Block* block = value.op->block;
  while (block->parent != nullptr) block = block->parent->block;
  if (block != &ir_.body()) value.op->fail(std::string("The ") + what + " belongs to another graph");
}

namespace {

std::vector<int64_t> slots_of(const std::vector<ir::Value>& variables) {
  std::vector<int64_t> slots;
  for (const ir::Value& v : variables) slots.push_back(v.op->attributes.integer(ir::Attr::kSlot));
  return slots;
}

}  // namespace

// A step that assigns variables. It is built in a graph of its own, because the user's graph shows only the user's ops.
std::shared_ptr<Compiled> Graph::make_writer(const std::vector<ir::Value>& variables) {
  ir::Graph apart;
  std::vector<ir::Feed> feeds;
  std::vector<ir::Op*> updates;
  for (const ir::Value& variable : variables) {
    const ir::Type type = variable.type();
    apart.name = variable.op->name;
    const ir::Value target = apart.value(ir::OpCode::variable, {}, variable.op->attributes);
    const ir::Value given =
        apart.value(ir::OpCode::placeholder, {}, {{ir::Attr::kShape, type.shape}, {ir::Attr::kDtype, type.dtype}});
    feeds.push_back({given, type});
    updates.push_back(apart.add(ir::OpCode::assign, {target, given}));
  }
  return std::make_shared<Compiled>(*this, Lowered::make(*this, feeds, {}, updates));
}

// The step that reads or writes these variables in one dispatch.
std::shared_ptr<Compiled> Graph::access(bool writes, const std::vector<ir::Value>& variables) {
  constexpr size_t kMostAccesses = 32;
  std::list<Impl::Access>& known = impl_->accesses;
  std::vector<int64_t> slots = slots_of(variables);
  const auto found =
      std::find_if(known.begin(), known.end(), [&](const auto& a) { return a.writes == writes && a.slots == slots; });
  if (found != known.end()) {
    known.splice(known.begin(), known, found);
    return known.front().step;
  }
  const auto step =
      writes ? make_writer(variables) : std::make_shared<Compiled>(*this, Lowered::make(*this, {}, variables, {}));
  ++counters().compiled_for[static_cast<size_t>(Reason::kFirst)];
  known.push_front({writes, std::move(slots), step});
  if (known.size() > kMostAccesses) known.pop_back();
  return step;
}

void Graph::read(const std::vector<ir::Value>& variables, void* const* out) {
  for (const ir::Value& v : variables) require_own(v, "variable");
  if (variables.empty()) return;
  const Entry entry;
  const auto lock = impl_->lock();
  if (storage_ == VariableStorage::kBuffers) {
    const std::vector<int64_t> slots = slots_of(variables);
    return on_device([&] {
      impl_->land_all();
      for (size_t i = 0; i < slots.size(); ++i) impl_->buffers_of(slots[i]).value().read(out[i]);
    });
  }
  const std::shared_ptr<Compiled> reader = access(false, variables);
  reader->run(nullptr, out);
  reader->forget_arrays();
}

void Graph::assign(const std::vector<ir::Value>& variables, const void* const* bytes) {
  for (const ir::Value& v : variables) require_own(v, "variable");
  const Entry entry;
  const auto lock = impl_->lock();
  // Variables that are not on the device yet get the value as their initial value.
  std::map<int64_t, ir::LiteralRef> begin;
  std::vector<ir::Value> held;
  std::vector<FeedBytes> contents;
  for (size_t i = 0; i < variables.size(); ++i) {
    const ir::Type& type = variables[i].type();
    const int64_t slot = variables[i].op->attributes.integer(ir::Attr::kSlot);
    if (initial_value(slot)) {
      begin[slot] =
          std::make_shared<ir::Literal>(type, std::span(static_cast<const std::byte*>(bytes[i]), type.byte_count()));
    } else {
      held.push_back(variables[i]);
      contents.push_back({bytes[i], nullptr});
    }
  }
  if (!held.empty() && storage_ == VariableStorage::kBuffers) {
    const std::vector<int64_t> slots = slots_of(held);
    on_device([&] {
      impl_->land_all();
      for (size_t i = 0; i < slots.size(); ++i) impl_->buffers_of(slots[i]).value().write(contents[i].data);
    });
  } else if (!held.empty()) {
    const std::shared_ptr<Compiled> writer = access(true, held);
    writer->run(contents.data(), nullptr);
    writer->forget_arrays();
  }
  std::lock_guard beginning(impl_->beginning);
  for (auto& [slot, literal] : begin) impl_->initial[slot] = std::move(literal);
}

void Graph::copy_variables(const std::vector<int64_t>& slots, Graph& to) {
  std::vector<ir::Value> variables;
  for (const int64_t slot : slots) variables.push_back(variables_[static_cast<size_t>(slot)].value);
  std::vector<std::vector<std::byte>> contents;
  std::vector<void*> out;
  for (const ir::Value& v : variables) out.push_back(contents.emplace_back(v.type().byte_count()).data());
  read(variables, out.data());
  std::lock_guard lock(to.impl_->beginning);
  for (size_t i = 0; i < slots.size(); ++i) {
    to.impl_->initial[slots[i]] = std::make_shared<ir::Literal>(variables[i].type(), std::move(contents[i]));
  }
}

std::string Graph::device_name() const {
  std::string name;
  on_device([&] { name = designation_of(impl_->device.get()); });
  return name;
}

bool Graph::is_on_host() const {
  int threads = 0;
  on_device([&] { threads = host_threads(impl_->device.get()); });
  return threads > 0;
}

void Graph::bind(const std::vector<Binding>& bindings) {
  for (const Binding& b : bindings) {
    require_own(b.placeholder, "placeholder");
    ir::require_fits({b.placeholder, b.contents ? b.contents->type() : b.placeholder.type()});
  }
  for (const Binding& b : bindings) bound_[b.placeholder] = b.contents;
}

ir::LiteralRef Graph::bound(ir::Value placeholder) const {
  const auto found = bound_.find(placeholder);
  return found == bound_.end() ? nullptr : found->second;
}

std::shared_ptr<Executable> Graph::compile(std::vector<ir::Value> feeds, std::vector<ir::Value> fetches,
                                           std::vector<ir::Op*> updates, std::optional<int64_t> steps) {
  std::unordered_set<const ir::Op*> fed;
  for (const ir::Value& v : feeds) {
    require_own(v, "feed");
    if (v.op->code != ir::OpCode::placeholder) v.op->fail("Only a placeholder can be fed, not the result of this op");
    if (!fed.insert(v.op).second) {
      v.op->fail("The placeholder" + (v.op->name.empty() ? "" : " '" + v.op->name + "'") + " is fed twice");
    }
  }
  for (const ir::Value& v : fetches) {
    require_own(v, "fetch");
    if (v.op->block != &ir_.body()) {
      v.op->fail("A fetch belongs to a function that a loop, a conditional or a custom gradient has called; return it "
                 "from the "
                 "function");
    }
  }
  std::unordered_map<const ir::Op*, const ir::Op*> updated;
  for (ir::Op* op : updates) {
    require_own({op, 0}, "update");
    const ir::Op& variable = *op->operands[0].op;
    const ir::Op* other = updated.try_emplace(&variable, op).first->second;
    if (other != op) {
      const std::string name = variable.name.empty() ? "" : " '" + variable.name + "'";
      const bool is_same_line = other->location == op->location;
      op->fail("The variable" + name + " has another update, built at " +
               (is_same_line ? "the same line" : other->location));
    }
  }
  auto executable =
      std::make_shared<Executable>(shared_from_this(), std::move(feeds), std::move(fetches), std::move(updates), steps);
  std::lock_guard lock(impl_->listing);
  if (impl_->executables.size() >= impl_->most_executables) {
    std::erase_if(impl_->executables, [](const auto& weak) { return weak.expired(); });
    impl_->most_executables = 2 * impl_->executables.size() + 64;
  }
  impl_->executables.push_back(executable);
  return executable;
}

}  // namespace alloy::engine

#include "engine/graph.h"

#include <algorithm>
#include <span>

#import "engine/graph_impl.h"

namespace alloy::engine {

Graph::Graph(Storage storage) : storage_(storage) {
  id<MTLDevice> device = metal_device();
  on_device([&] {
    impl_ = std::make_unique<Impl>();
    impl_->graph = Ref<MPSGraph*>::adopt([[MPSGraph alloc] init]);
    impl_->queue = Ref<id<MTLCommandQueue>>::adopt([device newCommandQueue]);
  });
}

Graph::~Graph() = default;

ir::Value Graph::variable(ir::LiteralRef initial, bool trainable) {
  variables_.push_back({ir_.value(ir::OpCode::variable, {}, {{ir::Attr::kValue, std::move(initial)}}), trainable});
  return variables_.back().value;
}

void Graph::forget_initial(int64_t slot) {
  constexpr size_t kLarge = 4096;  // bytes
  ir::Attributes& attributes = variables_[static_cast<size_t>(slot)].value.op->attributes;
  const auto& initial = attributes.get<ir::LiteralRef>(ir::Attr::kValue);
  if (initial->bytes().size() >= kLarge) attributes.set(ir::Attr::kValue, ir::Literal::elsewhere(initial->type()));
}

void Graph::require_own(ir::Value value, const char* what) const {
  const ir::Block* block = value.op->block;
  while (block->parent != nullptr) block = block->parent->block;
  if (block != &ir_.body()) value.op->fail(std::string("The ") + what + " belongs to another graph");
}

namespace {

// Calls f with the arrays of a variable, no run being under way.
void with_buffers(Graph::Impl& graph, const ir::Op& variable, const std::function<void(Buffers&)>& f) {
  on_device([&] {
    Buffers* buffers = nullptr;
    {
      std::lock_guard lock(graph.compiling);
      buffers = &graph.buffers_of(variable);
    }
    std::lock_guard lock(graph.running);
    f(*buffers);
  });
}

}  // namespace

void Graph::read(ir::Value variable, void* out) {
  require_own(variable, "variable");
  if (storage_ == Storage::kBuffers) return with_buffers(*impl_, *variable.op, [&](Buffers& buffers) { buffers.value().read(out); });
  Compiled* reader = nullptr;
  {
    std::lock_guard lock(impl_->compiling);
    auto& made = impl_->readers[variable.op];
    if (!made) made = std::make_unique<Compiled>(*this, std::vector<ir::Feed>{}, std::vector{variable}, std::vector<ir::Op*>{});
    reader = made.get();
  }
  reader->run(nullptr, &out);
}

void Graph::assign(ir::Value variable, const void* bytes) {
  require_own(variable, "variable");
  {
    // Nothing has needed the variable yet: it begins with this value instead.
    std::lock_guard lock(impl_->compiling);
    const int64_t slot = variable.op->attributes.integer(ir::Attr::kSlot);
    if (!impl_->variables.contains(slot) && !impl_->buffers.contains(slot)) {
      const ir::Type type = variable.type();
      const std::span contents(static_cast<const std::byte*>(bytes), type.byte_count());
      variable.op->attributes.set(ir::Attr::kValue, std::make_shared<ir::Literal>(type, contents));
      return;
    }
  }
  if (storage_ == Storage::kBuffers) return with_buffers(*impl_, *variable.op, [&](Buffers& buffers) { buffers.value().write(bytes); });
  Compiled* writer = nullptr;
  {
    std::lock_guard lock(impl_->compiling);
    auto& made = impl_->writers[variable.op];
    if (!made) {
      // In a graph of its own: the user's shows what the user built.
      ir::Graph apart;
      const ir::Type type = variable.type();
      apart.name = variable.op->name;
      const ir::Value target = apart.value(ir::OpCode::variable, {}, variable.op->attributes);
      target.op->attributes.set(ir::Attr::kSlot, variable.op->attributes.integer(ir::Attr::kSlot));
      const ir::Value fed = apart.value(ir::OpCode::placeholder, {}, {{ir::Attr::kShape, type.shape}, {ir::Attr::kDtype, type.dtype}});
      ir::Op* write = apart.add(ir::OpCode::assign, {target, fed});
      made = std::make_unique<Compiled>(*this, std::vector<ir::Feed>{{fed, type}}, std::vector<ir::Value>{}, std::vector{write});
    }
    writer = made.get();
  }
  writer->run(&bytes, nullptr);
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

std::shared_ptr<Executable> Graph::compile(std::vector<ir::Value> feeds, std::vector<ir::Value> fetches, std::vector<ir::Op*> updates) {
  for (size_t i = 0; i < feeds.size(); ++i) {
    const ir::Value& v = feeds[i];
    require_own(v, "feed");
    if (std::find(feeds.begin(), feeds.begin() + static_cast<long>(i), v) != feeds.begin() + static_cast<long>(i)) {
      v.op->fail("The placeholder" + (v.op->name.empty() ? "" : " '" + v.op->name + "'") + " is fed twice");
    }
    if (v.op->code != ir::OpCode::placeholder) v.op->fail("Only a placeholder can be fed, not the result of this op");
  }
  for (const ir::Value& v : fetches) require_own(v, "fetch");
  ir::ValueMap<const ir::Op*> updated;
  for (ir::Op* op : updates) {
    require_own({op, 0}, "update");
    const ir::Op& variable = *op->operands[0].op;
    const ir::Op* other = updated.try_emplace(op->operands[0], op).first->second;
    if (other != op) {
      const std::string name = variable.name.empty() ? "" : " '" + variable.name + "'";
      op->fail("The variable" + name + " has another update, built at " + other->location);
    }
  }
  return std::make_shared<Executable>(shared_from_this(), std::move(feeds), std::move(fetches), std::move(updates));
}

}  // namespace alloy::engine

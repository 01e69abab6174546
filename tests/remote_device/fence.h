// A fence for tests: its work is over when the maker says so.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "host/event.h"

namespace alloy::remote {

class ManualFence final : public host::Fence {
 public:
  bool is_over() override { return end_->value() > 0; }
  void wait() override { end_->wait(1); }
  void then(std::function<void()> action) override { end_->notify(1, std::move(action)); }
  void reach() { end_->signal(1); }

 private:
  const std::shared_ptr<host::Event> end_ = std::make_shared<host::Event>();
};

}  // namespace alloy::remote

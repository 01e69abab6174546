// Waiting for, setting and observing the value of an event.

#include "host/event.h"

#include <algorithm>

namespace alloy::host {

namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr auto kLookIntervalAtEnd = 10ms;  // once the process is ending

}  // namespace

uint64_t Event::value() const {
  std::lock_guard lock(mutex_);
  return value_;
}

void Event::signal(uint64_t value) {
  std::vector<std::function<void()>> due;
  {
    std::lock_guard lock(mutex_);
    std::erase_if(to_come_, [&](const auto& signal) { return signal.first <= value; });
    if (value <= value_) return;
    value_ = value;
    auto first_due = std::stable_partition(actions_.begin(), actions_.end(),
                                           [&](const auto& action) { return action.first > value; });
    for (auto action = first_due; action != actions_.end(); ++action) due.push_back(std::move(action->second));
    actions_.erase(first_due, actions_.end());
  }
  changed_.notify_all();
  for (const auto& action : due) action();
}

void Event::signal_after(const FenceRef& fence, uint64_t value) {
  if (!fence) return signal(value);
  {
    std::lock_guard lock(mutex_);
    if (value <= value_) return;
    to_come_.emplace_back(value, fence);
  }
  changed_.notify_all();
  fence->then([self = shared_from_this(), value] { self->signal(value); });
}

// `done` is called with the lock.
template <class Done>
bool Event::wait_until(const Done& done, std::optional<std::chrono::milliseconds> timeout) {
  const auto start = Clock::now();
  std::optional<Clock::time_point> deadline;
  // A huge timeout means none, and would overflow the clock.
  if (timeout && *timeout < std::chrono::hours(24 * 365)) deadline = start + *timeout;
  std::unique_lock lock(mutex_);
  if (done()) return true;
  const WaitingForOthers waiting;
  while (!done()) {
    const auto now = Clock::now();
    if ((deadline && now >= *deadline) || nothing_is_to_come()) return false;
    const auto look = now + (process_is_ending() ? kLookIntervalAtEnd : kLookInterval);
    changed_.wait_until(lock, deadline ? std::min(look, *deadline) : look);
  }
  return true;
}

bool Event::wait(uint64_t value, std::optional<std::chrono::milliseconds> timeout) {
  return wait_until([&] { return value_ >= value; }, timeout);
}

bool Event::wait_for_fence(uint64_t value, FenceRef& fence) {
  return wait_until(
      [&] {
        if (value_ >= value) return true;
        const auto signal =
            std::find_if(to_come_.begin(), to_come_.end(), [&](const auto& known) { return known.first >= value; });
        if (signal == to_come_.end()) return false;
        fence = signal->second;
        return true;
      },
      std::nullopt);
}

void Event::notify(uint64_t value, std::function<void()> action) {
  {
    std::lock_guard lock(mutex_);
    if (value_ < value) {
      actions_.emplace_back(value, std::move(action));
      return;
    }
  }
  action();
}

EventList::EventList() = default;
EventList::EventList(const EventList& other) = default;
EventList& EventList::operator=(const EventList& other) = default;
EventList::~EventList() = default;

void EventList::add_wait(std::shared_ptr<Event> event, uint64_t value) { waits_.emplace_back(std::move(event), value); }

void EventList::add_signal(std::shared_ptr<Event> event, uint64_t value) {
  signals_.emplace_back(std::move(event), value);
}

Status EventList::wait_all(const std::function<void(const FenceRef&)>& follow) const {
  for (const auto& [event, value] : waits_) {
    FenceRef fence;
    if (!event->wait_for_fence(value, fence)) {
      return {"The process ended before an event that a run waits for was signalled."};
    }
    if (fence) follow(fence);
  }
  return {};
}

void EventList::signal_all_after(const FenceRef& fence) const {
  for (const auto& [event, value] : signals_) event->signal_after(fence, value);
}

}  // namespace alloy::host

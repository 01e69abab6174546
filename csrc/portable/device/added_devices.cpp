#include "device/added_devices.h"

#include <algorithm>
#include <utility>

namespace alloy::device {
namespace {

struct Finder {
  Rank rank;
  std::function<std::vector<Device*>()> find;
};

std::vector<Finder>& finders() {
  static std::vector<Finder>& added = *new std::vector<Finder>;
  return added;
}

Device* g_host_device = nullptr;

}  // namespace

void add_devices(Rank rank, std::function<std::vector<Device*>()> find) {
  finders().push_back({rank, std::move(find)});
}

bool may_precede_cpu() {
  return std::any_of(finders().begin(), finders().end(), [](const Finder& f) { return f.rank > Rank::kCpu; });
}

std::vector<Device*> find_devices(Device& cpu) {
  g_host_device = &cpu;
  std::vector<Finder> all = finders();
  all.push_back({Rank::kCpu, [&cpu] { return std::vector{&cpu}; }});
  std::stable_sort(all.begin(), all.end(), [](const Finder& a, const Finder& b) { return a.rank > b.rank; });
  std::vector<Device*> devices;
  for (const Finder& finder : all) {
    try {
      const std::vector<Device*> found = finder.find();
      devices.insert(devices.end(), found.begin(), found.end());
    } catch (...) {
      // A broken driver takes none of the other devices away.
    }
  }
  return devices;
}

Device& host_device() { return *g_host_device; }

}  // namespace alloy::device

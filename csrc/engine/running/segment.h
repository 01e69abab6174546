// An executable of the framework: what a step is compiled to or, where ops of libraries cut it, one of its parts.
// Private to the engine. All of it is called on the device.
#pragma once

#include <optional>

#include "engine/running/compiled.h"
#import "engine/running/run.h"

namespace alloy::engine {

struct Lowered;

struct Segment {
  // Throws what on_device throws.
  static Segment compile(const Ref<id<MTLDevice>>& device, const Lowered& lowered);

  Ref<MPSGraphExecutable*> executable = {};
  std::shared_ptr<const Places> places = {};
};

// What an executable tells of its memory; nothing where it tells nothing.
std::optional<MemoryPlan> plan_of(NSObject* executable, const Places& places,
                                  const std::vector<ir::Type>& result_types);
// False where it does not take times. add_times: of the last runs, as if they had begun so many seconds later.
bool set_profiling(NSObject* executable, bool on);
void add_times(NSObject* executable, double begin, std::vector<KernelTime>& out);

}  // namespace alloy::engine

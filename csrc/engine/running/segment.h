// An executable of the framework: a compiled step or, if ops on the host cut the step, one of its parts. Private to
// the engine. Everything here must run inside on_device.
#pragma once

#include <functional>
#include <optional>

#include "engine/running/compiled.h"
#import "engine/running/run.h"

namespace alloy::engine {

struct Lowered;

struct Segment {
  // Throws what on_device throws.
  static Segment compile(const Ref<id<MTLDevice>>& device, const Lowered& lowered);

  Ref<MPSGraphExecutable*> executable = {};
  std::shared_ptr<const Positions> positions = {};
};

// The options of a compilation; with `tf32`, products may round their operands to 10 bits of mantissa, if the system
// has that choice.
Ref<MPSGraphCompilationDescriptor*> compilation_descriptor(bool tf32);

// The memory that an executable reports; nothing if it reports none.
std::optional<MemoryPlan> plan_of(NSObject* executable, const Positions& positions,
                                  const std::vector<ir::Type>& result_types);
// set_profiling() returns false if the executable does not measure times. add_times() adds the times of the last runs,
// shifted by `begin` seconds.
bool set_profiling(NSObject* executable, bool on);
void add_times(NSObject* executable, double begin, std::vector<KernelTime>& out);
// Calls on_target with the position of each target that a run has computed, on the run's thread; false if the
// executable cannot tell.
bool set_target_handler(NSObject* executable, std::function<void(size_t)> on_target);

}  // namespace alloy::engine

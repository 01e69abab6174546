// Executables of the framework in files, by selectors that macOS 14 brought. Private to the engine. Everything here
// messages the framework, so that it runs inside on_device.
#pragma once

#import <MetalPerformanceShadersGraph/MetalPerformanceShadersGraph.h>

#include <cstdint>
#include <string>
#include <vector>

#include "engine/package/package.h"
#import "engine/ref.h"

namespace alloy::engine {

struct Lowered;

// What a step is fed and what it gives, in its order.
struct Ports {
  std::vector<Package::Port> feeds, fetches;
  // Which inputs and results of the framework's executable they are; kNowhere: a feed that it leaves out.
  std::vector<int64_t> inputs, results;
  static constexpr int64_t kNowhere = -1;
};

// Those of an executable that was compiled of these tensors.
Ports ports_of(MPSGraphExecutable* executable, const Lowered& step);

// Throws DeviceError where the system has no such selectors, or nothing was written.
void write_file(MPSGraphExecutable* executable, const std::string& path, const Ports& ports);

// The same for reading; `ports` become those that were written.
Ref<MPSGraphExecutable*> read_file(const std::string& path, Ports& ports);

}  // namespace alloy::engine

// Executables of the framework in files, by selectors of macOS 14. Private to the engine. Everything here messages the
// framework, so it must run inside on_device.
#pragma once

#import <MetalPerformanceShadersGraph/MetalPerformanceShadersGraph.h>

#include <cstdint>
#include <string>
#include <vector>

#include "engine/package/package.h"
#import "engine/ref.h"

namespace alloy::engine {

struct Lowered;

// The feeds and fetches of a step, in its order.
struct Ports {
  std::vector<Package::Port> feeds, fetches;
  // By feed and by fetch, the position in the inputs and results of the framework's executable; kNowhere for a feed
  // that the executable omits.
  std::vector<int64_t> inputs, results;
  static constexpr int64_t kNowhere = -1;
  bool tf32 = false;  // whether products may round their operands; a file of the framework holds this itself
};

// The ports of an executable that was compiled from these tensors.
Ports ports_of(MPSGraphExecutable* executable, const Lowered& step);

// Throws DeviceError if the system has no such selectors, or nothing was written.
void write_file(MPSGraphExecutable* executable, const std::string& path, const Ports& ports);

// Reads an executable; `ports` become those that were written.
Ref<MPSGraphExecutable*> read_file(const std::string& path, Ports& ports);

}  // namespace alloy::engine

// Executables of the framework in files, by selectors that macOS 14 brought. Private to the engine. Everything here
// messages the framework, so that it runs inside on_device.
#pragma once

#import <MetalPerformanceShadersGraph/MetalPerformanceShadersGraph.h>

#include <string>
#include <vector>

#include "engine/package.h"
#import "engine/ref.h"

namespace alloy::engine {

// What an executable is fed and what it gives, in order.
struct Ports {
  std::vector<Package::Port> feeds, fetches;
};

// As the executable tells them; of its targets those that were asked for, which are the first ones.
Ports ports_of(MPSGraphExecutable* executable);

// Throws DeviceError where the system has no such selectors, or nothing was written.
void write_file(MPSGraphExecutable* executable, const std::string& path, const Ports& ports);

// The same for reading; `ports` become those that were written.
Ref<MPSGraphExecutable*> read_file(const std::string& path, Ports& ports);

}  // namespace alloy::engine

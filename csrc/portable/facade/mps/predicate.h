// Conditions of encoded work.
#pragma once

#import <MetalPerformanceShaders/MetalPerformanceShaders.h>

#include <functional>

namespace alloy::facade {

// The condition of work encoded to the buffer now, evaluated when the work's turn comes; null if there is none.
std::function<bool()> condition_of(id<MTLCommandBuffer> buffer);

}  // namespace alloy::facade

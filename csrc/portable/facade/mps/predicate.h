// True if what is encoded shall run.
#pragma once

#import <MetalPerformanceShaders/MetalPerformanceShaders.h>

#include <functional>

namespace alloy::facade {

// The predicate that decides for what is encoded to the buffer now, asked when its turn comes; null where there is
// none.
std::function<bool()> condition_of(id<MTLCommandBuffer> buffer);

}  // namespace alloy::facade

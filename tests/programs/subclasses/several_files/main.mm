#include "layers.h"

#include <dlfcn.h>

static Power* const early = [Power new];

int main(int, char** arguments) {
  @autoreleasepool {
    CHECK(early && Layer.known.count == 2 && [Layer.known containsObject:[Power class]]);
    Power* power = [Power new];
    power->_factor = 2;
    power->_bias = 0.5f;
    power.exponent = 3;
    power.rate = 0.25f;
    power.name = @"cube";
    CHECK_NEAR([power apply:2], 16.5);
    CHECK(power->_factor == 2 && power->_bias == 0.5f && power.exponent == 3 && power.rate == 0.25f);
    CHECK([power.summary isEqual:@"Power cube 0.25"]);
    CHECK(dlopen(arguments[1], RTLD_NOW));
    Layer* shifted = [NSClassFromString(@"Shifted") new];
    shifted.name = @"late";
    CHECK_NEAR([shifted apply:1], 101);
    CHECK([shifted.summary isEqual:@"Shifted! late 0"] && Layer.known.count == 3);
  }
}

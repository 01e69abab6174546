#include "probes.h"

#include "question.h"

// Declares the portable device's method that names its system (engine/device.h), and NSProcessInfo's, which GNUstep
// lacks.
struct AlloyProbesVersion {
  NSInteger major, minor, patch;
};
@protocol AlloyProbesSystem
- (NSArray*)alloySystem;
- (AlloyProbesVersion)operatingSystemVersion;
@end

namespace alloy::probes {

std::vector<Probe> all_probes() {
  std::vector<Probe> all;
  for (const std::span<const Probe> subject : {kExecutables, kVariables, kTypes, kReductions, kProducts, kSlices,
                                               kArrays, kOptimizers, kNumbers, kIndices, kRecurrent, kTimes}) {
    all.insert(all.end(), subject.begin(), subject.end());
  }
  return all;
}

ir::System asked_system() {
  @autoreleasepool {
    NSObject* asked = static_cast<NSObject*>(device());
    if ([asked respondsToSelector:@selector(alloySystem)]) {
      NSArray* version = [static_cast<id<AlloyProbesSystem>>(asked) alloySystem];
      return {[[version objectAtIndex:0] intValue], [[version objectAtIndex:1] intValue]};
    }
    NSProcessInfo* process = [NSProcessInfo processInfo];
    if (![process respondsToSelector:@selector(operatingSystemVersion)]) return {};
    const AlloyProbesVersion version = [static_cast<id<AlloyProbesSystem>>(process) operatingSystemVersion];
    return {static_cast<int>(version.major), static_cast<int>(version.minor)};
  }
}

std::string answer(const Probe& probe) {
  std::string out;
  @autoreleasepool {
    out = probe.ask();
  }
  return out;
}

}  // namespace alloy::probes

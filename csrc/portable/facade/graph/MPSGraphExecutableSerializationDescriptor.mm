// Options for a package.

#include "facade/graph/descriptor_parts.h"

using namespace alloy;
using namespace alloy::facade;

namespace {

struct PackageParts {
  std::atomic<bool> append{false};
  std::atomic<MPSGraphDeploymentPlatform> platform{MPSGraphDeploymentPlatformMacOS};
  AtomicProperty target;
};

PackageParts& parts_of(MPSGraphExecutableSerializationDescriptor* descriptor) {
  return *static_cast<PackageParts*>(descriptor->_impl);
}

}  // namespace

@implementation MPSGraphExecutableSerializationDescriptor

- (instancetype)init {
  if ((self = [super init])) _impl = new PackageParts;
  [self setMinimumDeploymentTarget:@""];
  return self;
}

- (void)dealloc {
  delete static_cast<PackageParts*>(_impl);
  [super dealloc];
}

- (BOOL)append {
  return parts_of(self).append ? YES : NO;
}

- (void)setAppend:(BOOL)append {
  parts_of(self).append = append != NO;
}

- (MPSGraphDeploymentPlatform)deploymentPlatform {
  return parts_of(self).platform;
}

- (void)setDeploymentPlatform:(MPSGraphDeploymentPlatform)deploymentPlatform {
  parts_of(self).platform = deploymentPlatform;
}

- (NSString*)minimumDeploymentTarget {
  return parts_of(self).target.get();
}

- (void)setMinimumDeploymentTarget:(NSString*)minimumDeploymentTarget {
  require_kind_or_nil(minimumDeploymentTarget, [NSString class]);
  parts_of(self).target.set([minimumDeploymentTarget copy]);
}

@end

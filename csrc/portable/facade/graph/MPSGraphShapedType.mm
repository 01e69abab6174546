// Types of tensors.

#import <MetalPerformanceShadersGraph/MetalPerformanceShadersGraph.h>

#include <mutex>

#include "facade/errors.h"

using namespace alloy::facade;

namespace {

struct ShapedTypeParts {
  std::mutex mutex;
  MPSShape* shape;
  MPSDataType type;
};

ShapedTypeParts& parts_of(MPSGraphShapedType* type) { return *static_cast<ShapedTypeParts*>(type->_impl); }

}  // namespace

@implementation MPSGraphShapedType

- (instancetype)init {
  return [self initWithShape:nil dataType:MPSDataTypeFloat32];
}

- (instancetype)initWithShape:(MPSShape*)shape dataType:(MPSDataType)dataType {
  require_elements(shape, [NSNumber class]);
  if ((self = [super init])) _impl = new ShapedTypeParts{{}, [shape copy], dataType};
  return self;
}

- (void)dealloc {
  if (_impl) [parts_of(self).shape release];
  delete static_cast<ShapedTypeParts*>(_impl);
  [super dealloc];
}

- (id)copyWithZone:(NSZone*)zone {
  return [[[self class] allocWithZone:zone] initWithShape:[self shape] dataType:[self dataType]];
}

- (MPSShape*)shape {
  std::lock_guard lock(parts_of(self).mutex);
  return [[parts_of(self).shape retain] autorelease];
}

- (void)setShape:(MPSShape*)shape {
  require_elements(shape, [NSNumber class]);
  MPSShape* copy = [shape copy];
  std::lock_guard lock(parts_of(self).mutex);
  [parts_of(self).shape autorelease];
  parts_of(self).shape = copy;
}

- (MPSDataType)dataType {
  std::lock_guard lock(parts_of(self).mutex);
  return parts_of(self).type;
}

- (void)setDataType:(MPSDataType)dataType {
  std::lock_guard lock(parts_of(self).mutex);
  parts_of(self).type = dataType;
}

- (BOOL)isEqualTo:(MPSGraphShapedType*)object {
  require_kind_or_nil(object, [MPSGraphShapedType class]);
  if (!object || [self dataType] != [object dataType]) return NO;
  MPSShape* mine = [self shape];
  MPSShape* other = [object shape];
  return mine == other || [mine isEqual:other];
}

@end

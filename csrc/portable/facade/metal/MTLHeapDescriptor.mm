// Options of a heap.

#import <Metal/Metal.h>

#include "facade/descriptor.h"
#include "facade/metal/metal.h"

using namespace alloy::facade;

namespace {

struct HeapFields {
  NSUInteger size = 0;
  MTLResourceOptions resourceOptions = MTLResourceStorageModePrivate;
  MTLSparsePageSize sparsePageSize = MTLSparsePageSize16;
  MTLHeapType type = MTLHeapTypeAutomatic;
};

}  // namespace

@implementation MTLHeapDescriptor

DESCRIPTOR_LIFE(HeapFields, {})
DESCRIPTOR_FIELD(HeapFields, NSUInteger, size, setSize)
DESCRIPTOR_FIELD(HeapFields, MTLResourceOptions, resourceOptions, setResourceOptions)
DESCRIPTOR_FIELD(HeapFields, MTLSparsePageSize, sparsePageSize, setSparsePageSize)
DESCRIPTOR_FIELD(HeapFields, MTLHeapType, type, setType)
RESOURCE_MODES

- (MTLHazardTrackingMode)hazardTrackingMode {
  const MTLHazardTrackingMode mode = hazard_tracking_mode([self resourceOptions]);
  return mode == MTLHazardTrackingModeDefault ? MTLHazardTrackingModeUntracked : mode;
}

@end

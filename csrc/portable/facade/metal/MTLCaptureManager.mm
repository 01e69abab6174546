// Captures; this device cannot make any.

#import <Metal/Metal.h>

#include "facade/descriptor.h"
#include "facade/errors.h"

using namespace alloy::facade;

NSString* const MTLCaptureErrorDomain = @"MTLCaptureError";

namespace {

struct CaptureFields {
  Retained<id> captureObject;
  MTLCaptureDestination destination = MTLCaptureDestinationDeveloperTools;
  Retained<NSURL*> outputURL;
};

}  // namespace

@implementation MTLCaptureDescriptor

DESCRIPTOR_LIFE(CaptureFields, {})
DESCRIPTOR_OBJECT(CaptureFields, id, captureObject, setCaptureObject, retain, [NSObject class])
DESCRIPTOR_FIELD(CaptureFields, MTLCaptureDestination, destination, setDestination)
DESCRIPTOR_OBJECT(CaptureFields, NSURL*, outputURL, setOutputURL, copy, [NSURL class])

@end

@implementation MTLCaptureManager

+ (MTLCaptureManager*)sharedCaptureManager {
  static MTLCaptureManager* const manager = [MTLCaptureManager alloc];
  return manager;
}

- (instancetype)init {
  raise_invalid(@"[MTLCaptureManager] Use sharedCaptureManager instead of init.");
}

- (BOOL)supportsDestination:(MTLCaptureDestination)destination {
  return NO;
}

- (BOOL)startCaptureWithDescriptor:(MTLCaptureDescriptor*)descriptor error:(NSError**)error {
  require_kind(descriptor, [MTLCaptureDescriptor class]);
  set_error(error, MTLCaptureErrorDomain, MTLCaptureErrorNotSupported,
            @"[startCaptureWithDescriptor] The work of this device cannot be captured.");
  return NO;
}

- (void)stopCapture {
}

- (BOOL)isCapturing {
  return NO;
}

@end

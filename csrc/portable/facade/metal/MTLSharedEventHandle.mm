// A handle to a shared event, within this process.

#include "facade/metal/metal.h"
#include "facade/retained.h"

using namespace alloy;
using namespace alloy::facade;

namespace {

struct HandleParts {
  std::shared_ptr<host::Event> event;
  Retained<NSString*> label;
};

}  // namespace

namespace alloy::facade {

MTLSharedEventHandle* new_event_handle(std::shared_ptr<host::Event> event, NSString* label) {
  MTLSharedEventHandle* handle = [MTLSharedEventHandle new];
  handle->_impl = new HandleParts{std::move(event), Retained<NSString*>(label)};
  return handle;
}

std::shared_ptr<host::Event> event_of(MTLSharedEventHandle* handle) {
  require_kind(handle, [MTLSharedEventHandle class]);
  if (!handle->_impl) raise_invalid(@"[newSharedEventWithHandle] A handle of an event was expected.");
  return static_cast<HandleParts*>(handle->_impl)->event;
}

}  // namespace alloy::facade

@implementation MTLSharedEventHandle

+ (BOOL)supportsSecureCoding {
  return YES;
}

- (instancetype)initWithCoder:(NSCoder*)coder {
  require_kind(coder, [NSCoder class]);
  [self release];
  return nil;
}

- (void)encodeWithCoder:(NSCoder*)coder {
  raise_invalid(@"[MTLSharedEventHandle] An event does not leave its process, so that its handle cannot be encoded.");
}

- (void)dealloc {
  delete static_cast<HandleParts*>(_impl);
  [super dealloc];
}

- (NSString*)label {
  return _impl ? static_cast<HandleParts*>(_impl)->label.get() : nil;
}

@end

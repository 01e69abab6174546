// Exceptions and errors of the facade.

#import <Metal/Metal.h>

#include <objc/runtime.h>

#include <cstdarg>

#include "facade/errors.h"
#include "host/event.h"
#include "runtime/guard.h"

namespace alloy::facade {

void raise_invalid(NSString* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  NSString* reason = [[[NSString alloc] initWithFormat:format arguments:arguments] autorelease];
  va_end(arguments);
  [[NSException exceptionWithName:NSInvalidArgumentException reason:reason userInfo:nil] raise];
  __builtin_unreachable();
}

void require_kind(id object, Class expected, NSString* name) {
  const Class given = object_getClass(object);
  // Sends no message: that takes longer, and some objects understand none.
  for (Class kin = given; kin != Nil; kin = class_getSuperclass(kin)) {
    if (kin == expected) return;
  }
  NSString* what = name == nil ? NSStringFromClass(expected) : name;
  raise_invalid(@"[%@] Expected a %@%@, got %@.", what, what, name == nil ? @"" : @" of this framework",
                object == nil ? @"nil" : [@"an object of class " stringByAppendingString:NSStringFromClass(given)]);
}

void require_elements(NSArray* array, Class expected) {
  static const Class arrays = [NSArray class];
  require_kind_or_nil(array, arrays);
  for (id element in array) require_kind(element, expected);
}

void require_block(id object) {
  static const Class blocks = objc_lookUpClass("AlloyBlock");
  if (object == nil) raise_invalid(@"[Block] Expected a block, got nil.");
  if ([object isKindOfClass:blocks]) return;
  raise_invalid(@"[Block] Expected a block, got an object of class %@.", NSStringFromClass([object class]));
}

static bool lacks_memory(const host::Status& status) { return status.message == host::kMemoryIsExhausted; }

void raise_if_failed(const host::Status& status) {
  if (status.ok()) return;
  NSString* reason = [NSString stringWithUTF8String:status.message.c_str()];
  [[NSException exceptionWithName:lacks_memory(status) ? NSMallocException : NSInternalInconsistencyException
                           reason:reason
                         userInfo:nil] raise];
}

void raise_thrown(const std::function<void()>& work) { raise_if_failed({runtime::guard(work)}); }

void refuse_fork() {
  if (host::process_is_forked()) raise_if_failed(host::process_status());
}

void set_error(NSError** error, NSString* domain, NSInteger code, NSString* sentence) {
  if (!error) return;
  *error = [NSError errorWithDomain:domain
                               code:code
                           userInfo:[NSDictionary dictionaryWithObject:sentence forKey:NSLocalizedDescriptionKey]];
}

NSError* error_of(const host::Status& status) {
  if (status.ok()) return nil;
  NSError* error = nil;
  const bool was_interrupted = status.message.starts_with(runtime::kInterrupted);
  set_error(&error, MTLCommandBufferErrorDomain,
            lacks_memory(status) ? MTLCommandBufferErrorOutOfMemory
            : was_interrupted    ? MTLCommandBufferErrorTimeout
                                 : MTLCommandBufferErrorInternal,
            [NSString stringWithUTF8String:status.message.c_str()]);
  return error;
}

}  // namespace alloy::facade

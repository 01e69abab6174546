// Exceptions and errors of the facade.
#pragma once

#import <Foundation/Foundation.h>

#include <functional>
#include <string>
#include <string_view>

#include "host/work_queue.h"

namespace alloy::facade {

inline NSString* string_of(std::string_view text) { return [NSString stringWithUTF8String:std::string(text).c_str()]; }

// Raises NSInvalidArgumentException with one formatted sentence: "[method] the given and the expected value.".
[[noreturn]] void raise_invalid(NSString* format, ...) __attribute__((format(NSString, 1, 2)));

// Raises, naming the given and the expected class, unless the object is of the class `expected`. `name` is the protocol
// of a class of ours that programs do not name, or a protocol without objects here (`expected` is Nil).
void require_kind(id object, Class expected, NSString* name = nil);
// The same for an object that may be nil.
inline void require_kind_or_nil(id object, Class expected, NSString* name = nil) {
  if (object != nil) require_kind(object, expected, name);
}
// The same for an array that may be nil, and for its elements.
void require_elements(NSArray* array, Class expected);
// The same for a block.
void require_block(id object);
inline void require_block_or_nil(id object) {
  if (object != nil) require_block(object);
}
// The same for a dispatch queue.
void require_dispatch_queue(id object);

// Raises NSInternalInconsistencyException with the message of a failed status; NSMallocException if memory is short.
void raise_if_failed(const host::Status& status);

// Runs work of C++ on a device, and raises what it throws.
void raise_thrown(const std::function<void()>& work);

// Raises in a forked child of a process that has used the device. Every entry point that takes a lock calls it first: a
// thread that the child does not have may hold the lock.
void refuse_fork();

// Stores an error of one sentence in `error`, which may be null.
void set_error(NSError** error, NSString* domain, NSInteger code, NSString* sentence);

// An autoreleased NSError of a command buffer with the message of `status`; nil if the status is ok.
NSError* error_of(const host::Status& status);

}  // namespace alloy::facade

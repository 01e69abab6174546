// How the facade fails: exceptions, and errors of command buffers.
#pragma once

#import <Foundation/Foundation.h>

#include <string>
#include <string_view>

#include "host/work_queue.h"

namespace alloy::facade {

inline NSString* string_of(std::string_view text) { return [NSString stringWithUTF8String:std::string(text).c_str()]; }

// Raises NSInvalidArgumentException with one formatted sentence, "[method] what was given and expected.".
[[noreturn]] void raise_invalid(NSString* format, ...) __attribute__((format(NSString, 1, 2)));

// Raises, naming the class given and the one expected, unless the object is of that class. `name`: the protocol
// of a class of ours that programs do not name, or of which there are no objects (`expected` is Nil).
void require_kind(id object, Class expected, NSString* name = nil);
// The same of an object that may be nil.
inline void require_kind_or_nil(id object, Class expected, NSString* name = nil) {
  if (object != nil) require_kind(object, expected, name);
}
// The same of an array that may be nil, and of its elements.
void require_elements(NSArray* array, Class expected);
// The same of a block.
void require_block(id object);
inline void require_block_or_nil(id object) {
  if (object != nil) require_block(object);
}
// The same of a dispatch queue.
void require_dispatch_queue(id object);

// Raises NSInternalInconsistencyException with the message of a failed status; NSMallocException if memory is short.
void raise_if_failed(const host::Status& status);

// Raises in a forked child of a process that has used the device. Every entry that takes a lock calls it first: the
// lock may be held by a thread that the child does not have.
void refuse_fork();

// Puts an error of one sentence where a caller has a place for it; `error` may be null.
void set_error(NSError** error, NSString* domain, NSInteger code, NSString* sentence);

// An autoreleased NSError of a command buffer with the message of `status`; nil when it is ok.
NSError* error_of(const host::Status& status);

}  // namespace alloy::facade

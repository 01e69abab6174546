// The facade's part of the imitation of a macOS (compiler/imitation.h).
#pragma once

#import <Foundation/Foundation.h>

#include <string>

#include "ir/quirks.h"

namespace alloy::facade {

// Raises the exception that stands for the end of the process, named ir::kAbortException.
[[noreturn]] void raise_abort(const std::string& sentence);

// Does so if the imitated system has the quirk.
void abort_where(ir::Quirk quirk, NSString* method);
bool imitates(ir::Quirk quirk);

// Raises NSInvalidArgumentException if ALLOY_PRETEND names an unknown system.
void refuse_unknown_imitation();

// Removes the selectors that the imitated system lacks (newer.def), and stops `retain` from copying blocks to the heap.
void imitate_classes();

}  // namespace alloy::facade

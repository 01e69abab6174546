// What the facade itself does in an imitation of a macOS (compiler/imitation.h).
#pragma once

#import <Foundation/Foundation.h>

#include <string>

#include "ir/quirks.h"

namespace alloy::facade {

// Raises what stands for the end of the process: an exception named ir::kAbortException.
[[noreturn]] void raise_abort(const std::string& sentence);

// Does so if a system with that quirk is imitated.
void abort_where(ir::Quirk quirk, NSString* method);
bool imitates(ir::Quirk quirk);

// Raises NSInvalidArgumentException if ALLOY_PRETEND names an unknown system.
void refuse_unknown_imitation();

// Removes the selectors that the imitated system lacks (newer.def), and lets retained blocks go with their scope.
void imitate_classes();

}  // namespace alloy::facade

// The user's line in messages and warnings, which Python finds (alloy.messages.location). Needs the GIL.
#pragma once

#include <string>

#include "ir/op.h"

namespace alloy::bindings {

// "; in PATH" of the layer at work, or nothing.
std::string in_layer();
// Throws "MESSAGE; ACT at FILE:LINE."; act: "built" or "called".
[[noreturn]] void mistake(ir::Error::Kind kind, const std::string& message, const char* act);
// A UserWarning that points at the line. Throws if Python's filters turn the warning into an exception.
void warn_user(const std::string& message);

}  // namespace alloy::bindings

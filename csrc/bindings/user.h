// The user's line for messages and warnings, which Python finds (alloy.messages.location). Needs the GIL.
#pragma once

#include <string>

#include "ir/op.h"

namespace alloy::bindings {

// "; in PATH" for the layer that is being called, or an empty string.
std::string in_layer();
// Throws "MESSAGE; at FILE:LINE.".
[[noreturn]] void mistake(ir::Error::Kind kind, const std::string& message);
// A UserWarning that points at the user's line. Throws if Python's filters turn the warning into an exception.
void warn_user(const std::string& message);

}  // namespace alloy::bindings

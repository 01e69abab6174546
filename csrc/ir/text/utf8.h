// UTF-8, for text from outside.
#pragma once

#include <string>
#include <string_view>

namespace alloy::ir {

bool is_utf8(std::string_view text);
// Replaces each byte that belongs to no character by '?'.
std::string to_utf8(std::string_view text);

}  // namespace alloy::ir

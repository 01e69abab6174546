// UTF-8, for text that comes from outside.
#pragma once

#include <string>
#include <string_view>

namespace alloy::ir {

bool is_utf8(std::string_view text);
// The text with ? for each byte that belongs to no character.
std::string to_utf8(std::string_view text);

}  // namespace alloy::ir

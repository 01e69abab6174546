#include "ir/text/utf8.h"

#include <algorithm>
#include <cstddef>

namespace alloy::ir {
namespace {

struct Range {
  unsigned char first;
  unsigned char last;
};

// The leading bytes, the number of bytes that follow, and the range of the first of these, by table 3-7 of the Unicode
// Standard. It excludes overlong forms, surrogates and characters beyond U+10FFFF.
constexpr struct {
  Range lead;
  size_t more;
  Range second;
} kForms[] = {{{0x00, 0x7f}, 0, {}},           {{0xc2, 0xdf}, 1, {0x80, 0xbf}}, {{0xe0, 0xe0}, 2, {0xa0, 0xbf}},
              {{0xe1, 0xec}, 2, {0x80, 0xbf}}, {{0xed, 0xed}, 2, {0x80, 0x9f}}, {{0xee, 0xef}, 2, {0x80, 0xbf}},
              {{0xf0, 0xf0}, 3, {0x90, 0xbf}}, {{0xf1, 0xf3}, 3, {0x80, 0xbf}}, {{0xf4, 0xf4}, 3, {0x80, 0x8f}}};

bool is_in(Range range, char byte) {
  const auto value = static_cast<unsigned char>(byte);
  return range.first <= value && value <= range.last;
}

// The bytes of the text's first character; 0 if it is not a character. The text is not empty.
size_t length(std::string_view text) {
  for (const auto& [lead, more, second] : kForms) {
    if (!is_in(lead, text[0])) continue;
    if (text.size() <= more || (more > 0 && !is_in(second, text[1]))) return 0;
    for (size_t k = 2; k <= more; ++k) {
      if (!is_in({0x80, 0xbf}, text[k])) return 0;
    }
    return more + 1;
  }
  return 0;
}

}  // namespace

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const size_t bytes = length(text);
    if (bytes == 0) return false;
    text.remove_prefix(bytes);
  }
  return true;
}

std::string to_utf8(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const size_t bytes = length(text);
    result += bytes > 0 ? text.substr(0, bytes) : "?";
    text.remove_prefix(std::max<size_t>(bytes, 1));
  }
  return result;
}

}  // namespace alloy::ir

#include "objc/encoding.h"

#include <cctype>
#include <cstring>

namespace {

void skip_digits(const char*& at) {
  while (std::isdigit(static_cast<unsigned char>(*at))) ++at;
}

// Skips a text in quotes, if there is one.
void skip_name(const char*& at) {
  if (*at != '"') return;
  const char* end = std::strchr(at + 1, '"');
  at = end ? end + 1 : at + std::strlen(at);
}

// Skips the name of an object's class, which is in quotes like the name of the next variable.
void skip_class(const char*& at) {
  const char* after = at;
  skip_name(after);
  if (!*after || std::strchr("\"}])", *after)) at = after;
}

// Reads one type; returns true if it is wide.
bool read(const char*& at) {
  while (*at && std::strchr("rnNoORVAj", *at)) ++at;
  bool wide = false;
  switch (*at) {
    case '\0':
    case '"':
    case '}':
    case ')':
    case ']': return true;
    case 'D':
    case 't':
    case 'T': ++at; return true;
    case '^':
      ++at;
      read(at);
      return false;
    case 'b':  // position, type and number of bits
      skip_digits(++at);
      ++at;
      skip_digits(at);
      return false;
    case '@':
      ++at;
      if (*at == '?') ++at;
      skip_class(at);
      return false;
    case '[':
      skip_digits(++at);
      wide = read(at);
      if (*at == ']') ++at;
      return wide;
    case '{':
    case '(': {
      const char end = *at == '{' ? '}' : ')';
      while (*at && *at != '=' && *at != end) ++at;
      if (*at == '=') ++at;
      while (*at && *at != end) {
        skip_name(at);
        if (read(at)) wide = true;
      }
      if (*at) ++at;
      return wide;
    }
    default: ++at; return false;
  }
}

}  // namespace

bool is_wide(const char* type) { return read(type); }

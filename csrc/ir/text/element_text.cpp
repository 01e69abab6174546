#include "ir/text/element_text.h"

#include <locale.h>
#include <stdlib.h>
#if __has_include(<xlocale.h>)
#include <xlocale.h>
#endif

#include <charconv>
#include <cmath>
#include <cstring>

#include "ir/half.h"

namespace alloy::ir {
namespace {

template <class T>
constexpr bool kIsHalf = std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>;

// Calls f with a zero of the elements' C++ type; returns false for types without text.
template <class F>
bool with_number(DType dtype, F f) {
  switch (dtype) {
    case DType::float32: f(float{}); return true;
    case DType::float16: f(Float16{}); return true;
    case DType::bfloat16: f(BFloat16{}); return true;
    case DType::int8: f(int8_t{}); return true;
    case DType::int16: f(int16_t{}); return true;
    case DType::int32: f(int32_t{}); return true;
    case DType::int64: f(int64_t{}); return true;
    case DType::uint8: f(uint8_t{}); return true;
    case DType::uint16: f(uint16_t{}); return true;
    case DType::uint32: f(uint32_t{}); return true;
    case DType::uint64: f(uint64_t{}); return true;
    case DType::boolean: f(bool{}); return true;
    default: return false;
  }
}

// Reads the whole text as a number of the type into `value`; false if it is none. Floats: Apple's library has no
// from_chars for them.
template <class T>
bool read(const std::string& text, T& value) {
  const char* const begin = text.c_str();
  const char* const end = begin + text.size();
  if constexpr (std::is_floating_point_v<T>) {
    if (text != "inf" && text != "-inf" && text != "nan" &&
        text.find_first_not_of("+-.0123456789e") != std::string::npos) {
      return false;
    }
    static const locale_t with_points = newlocale(LC_ALL_MASK, "C", nullptr);  // independent of the program's locale
    char* stop = nullptr;
    if constexpr (std::is_same_v<T, float>) value = strtof_l(begin, &stop, with_points);
    else value = strtod_l(begin, &stop, with_points);
    return stop == end && text[0] != '+' && (!std::isinf(value) || text.ends_with("inf"));
  } else {
    const auto [stop, error] = std::from_chars(begin, end, value);
    return error == std::errc() && stop == end;
  }
}

}  // namespace

bool has_text(DType dtype) {
  return with_number(dtype, [](auto) {});
}

std::string element_text(DType dtype, const std::byte* element) {
  if (dtype == DType::boolean) return *element == std::byte{0} ? "0" : "1";
  std::string text;
  with_number(dtype, [&](auto value) {
    using T = decltype(value);
    std::memcpy(&value, element, sizeof value);
    char buffer[64];
    if constexpr (kIsHalf<T>) {
      const float number = value;
      text = element_text(DType::float32, reinterpret_cast<const std::byte*>(&number));
    } else if constexpr (!std::is_same_v<T, bool>) {
      text.assign(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
    }
    if constexpr (std::is_floating_point_v<T>) text = std::isnan(value) ? "nan" : text;
  });
  return text;
}

bool read_number(const std::string& text, double& value) { return read(text, value); }

bool append_element(DType dtype, const std::string& text, std::vector<std::byte>& bytes) {
  bool legal = false;
  with_number(dtype, [&](auto value) {
    if constexpr (std::is_same_v<decltype(value), bool>) {
      legal = text == "0" || text == "1";
      value = text == "1";
    } else if constexpr (kIsHalf<decltype(value)>) {
      float number = 0;
      legal = read(text, number);
      value = decltype(value)(number);
    } else {
      legal = read(text, value);
    }
    const auto* raw = reinterpret_cast<const std::byte*>(&value);
    bytes.insert(bytes.end(), raw, raw + sizeof value);
  });
  return legal;
}

}  // namespace alloy::ir

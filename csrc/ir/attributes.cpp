#include "ir/attributes.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <type_traits>

#include "ir/half.h"

namespace alloy::ir {
namespace {

struct Row {
  std::string_view name;
  AttrKind kind;
  std::string_view kind_name;
  std::string_view words;
};

constexpr Row kRows[] = {
#define ALLOY_ATTRIBUTE(name, text, kind, words) {text, AttrKind::kind, #kind, words},
#include "ir/ops.def"
};

const Row& row(Attr attr) { return kRows[static_cast<size_t>(attr)]; }

bool is_one_of(std::string_view words, std::string_view word) {
  while (!words.empty()) {
    const size_t end = std::min(words.find(' '), words.size());
    if (words.substr(0, end) == word) return true;
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return false;
}

// Converts a number to the type. An integer type gets the nearest integer, and 0 for NaN.
template <class T>
T from_double(double value) {
  if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>) {
    return T(static_cast<float>(value));
  } else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    if (std::isnan(value)) return 0;
    if (value >= std::ldexp(1.0, std::numeric_limits<T>::digits)) return std::numeric_limits<T>::max();
    return value <= static_cast<double>(std::numeric_limits<T>::min()) ? std::numeric_limits<T>::min()
                                                                       : static_cast<T>(value);
  } else {
    return static_cast<T>(value);
  }
}

// Calls `f` with a zero of the elements' C++ type; throws for complex numbers.
template <class F>
auto with_native(DType dtype, F f) {
  switch (dtype) {
    case DType::float32: return f(float{});
    case DType::float16: return f(Float16{});
    case DType::bfloat16: return f(BFloat16{});
    case DType::int8: return f(int8_t{});
    case DType::int16: return f(int16_t{});
    case DType::int32: return f(int32_t{});
    case DType::int64: return f(int64_t{});
    case DType::uint8: return f(uint8_t{});
    case DType::uint16: return f(uint16_t{});
    case DType::uint32: return f(uint32_t{});
    case DType::uint64: return f(uint64_t{});
    case DType::boolean: return f(bool{});
    default: throw std::invalid_argument("a number of type " + std::string(name(dtype)) + " has two parts");
  }
}

}  // namespace

Literal::Literal(Type type, std::vector<std::byte> bytes) : type_(std::move(type)), bytes_(std::move(bytes)) {
  if (!type_.is_static() || !type_.is_addressable()) {
    throw std::invalid_argument("a constant cannot have the type " + to_string(type_));
  }
  if (bytes_.size() != type_.byte_count() && bytes_.size() != size_of(type_.dtype)) {
    throw std::invalid_argument("a constant " + to_string(type_) + " needs " + std::to_string(type_.byte_count()) +
                                " bytes, not " + std::to_string(bytes_.size()));
  }
}

LiteralRef Literal::elsewhere(Type type, std::function<void(std::byte*)> read) {
  return LiteralRef(new Literal(std::move(type), std::move(read)));
}

LiteralRef Literal::splat(Type type, double value) {
  std::byte element[8] = {};
  // A complex number begins with its real part.
  with_native(part_of(type.dtype).value_or(type.dtype), [&](auto native) {
    const auto converted = from_double<decltype(native)>(value);
    std::memcpy(element, &converted, sizeof converted);
  });
  const size_t width = size_of(type.dtype);
  return std::make_shared<Literal>(std::move(type), std::span(element, width));
}

void Literal::fill(std::byte* out) const {
  if (read_) return read_(out);
  const size_t total = type_.byte_count();
  if (bytes_.size() == total) {
    if (total > 0) std::memcpy(out, bytes_.data(), total);
    return;
  }
  for (size_t at = 0; at < total; at += bytes_.size()) std::memcpy(out + at, bytes_.data(), bytes_.size());
}

double Literal::at(int64_t index) const {
  const size_t offset = is_splat() ? 0 : index * size_of(type_.dtype);
  return with_native(type_.dtype, [&](auto native) {
    std::memcpy(&native, bytes_.data() + offset, sizeof native);
    return static_cast<double>(native);
  });
}

std::string_view name(Attr attr) { return row(attr).name; }
std::string_view words(Attr attr) { return row(attr).words; }
AttrKind kind(Attr attr) { return row(attr).kind; }
std::string_view kind_name(Attr attr) { return row(attr).kind_name; }

std::optional<Attr> attr_named(std::string_view text) {
  for (size_t i = 0; i < std::size(kRows); ++i) {
    if (kRows[i].name == text) return static_cast<Attr>(i);
  }
  return std::nullopt;
}

bool is_legal(Attr attr, const AttrValue& value) {
  switch (row(attr).kind) {
    case AttrKind::Bool: return std::holds_alternative<bool>(value);
    case AttrKind::Int: return std::holds_alternative<int64_t>(value);
    case AttrKind::Float: return std::holds_alternative<double>(value) && std::isfinite(std::get<double>(value));
    case AttrKind::Ints: return std::holds_alternative<Dims>(value);
    case AttrKind::Shape: return std::holds_alternative<Shape>(value);
    case AttrKind::DType: return std::holds_alternative<DType>(value);
    case AttrKind::Literal: return std::holds_alternative<LiteralRef>(value) && std::get<LiteralRef>(value) != nullptr;
    case AttrKind::Word:
      return std::holds_alternative<std::string>(value) &&
             (words(attr).empty() || is_one_of(words(attr), std::get<std::string>(value)));
  }
  return false;
}

}  // namespace alloy::ir

#include "ir/dtype.h"

namespace alloy::ir {

std::string_view name(DType dtype) {
  switch (dtype) {
#define ALLOY_CASE(name, text, bytes, kind) \
  case DType::name: return text;
    ALLOY_DTYPES(ALLOY_CASE)
#undef ALLOY_CASE
  }
  return "?";
}

size_t size_of(DType dtype) {
  switch (dtype) {
#define ALLOY_CASE(name, text, bytes, kind) \
  case DType::name: return bytes;
    ALLOY_DTYPES(ALLOY_CASE)
#undef ALLOY_CASE
  }
  return 0;
}

DTypeKind kind(DType dtype) {
  switch (dtype) {
#define ALLOY_CASE(name, text, bytes, kind) \
  case DType::name: return DTypeKind::kind;
    ALLOY_DTYPES(ALLOY_CASE)
#undef ALLOY_CASE
  }
  return DTypeKind::kComplex;
}

std::optional<DType> dtype_named(std::string_view text) {
#define ALLOY_MATCH(name, spelled, bytes, kind) \
  if (text == spelled) return DType::name;
  ALLOY_DTYPES(ALLOY_MATCH)
#undef ALLOY_MATCH
  return std::nullopt;
}

std::optional<DType> part_of(DType complex) {
  if (complex == DType::complex64) return DType::float32;
  if (complex == DType::complex32) return DType::float16;
  return std::nullopt;
}

std::optional<DType> complex_of(DType part) {
  if (part == DType::float32) return DType::complex64;
  if (part == DType::float16) return DType::complex32;
  return std::nullopt;
}

DType computed_in(DType dtype) {
  if (kind(dtype) == DTypeKind::kFloating) return DType::float32;
  if (dtype == DType::uint32) return DType::int64;
  const bool is_integer = kind(dtype) == DTypeKind::kSigned || kind(dtype) == DTypeKind::kUnsigned;
  return is_integer && size_of(dtype) < 4 ? DType::int32 : dtype;
}

}  // namespace alloy::ir

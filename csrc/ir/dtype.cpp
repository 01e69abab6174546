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

bool computes(DType dtype) {
  return dtype == DType::float32 || dtype == DType::int32 || dtype == DType::int64 || dtype == DType::boolean;
}

}  // namespace alloy::ir

// The element types of tensors: their names, sizes and kinds. A platform's names for them are kept elsewhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace alloy::ir {

// Columns: C++ enumerator, printed name, bytes per element, class.
#define ALLOY_DTYPES(X)                  \
  X(float32, "float32", 4, kFloating)    \
  X(float16, "float16", 2, kFloating)    \
  X(bfloat16, "bfloat16", 2, kFloating)  \
  X(int8, "int8", 1, kSigned)            \
  X(int16, "int16", 2, kSigned)          \
  X(int32, "int32", 4, kSigned)          \
  X(int64, "int64", 8, kSigned)          \
  X(uint8, "uint8", 1, kUnsigned)        \
  X(uint16, "uint16", 2, kUnsigned)      \
  X(uint32, "uint32", 4, kUnsigned)      \
  X(uint64, "uint64", 8, kUnsigned)      \
  X(boolean, "bool", 1, kBoolean)        \
  X(complex32, "complex32", 4, kComplex) \
  X(complex64, "complex64", 8, kComplex)

enum class DType : uint8_t {
#define ALLOY_ENUM(name, text, bytes, kind) name,
  ALLOY_DTYPES(ALLOY_ENUM)
#undef ALLOY_ENUM
};

enum class DTypeKind : uint8_t { kFloating, kSigned, kUnsigned, kBoolean, kComplex };

// The printed name, as NumPy spells it.
std::string_view name(DType dtype);
// Bytes per element.
size_t size_of(DType dtype);
DTypeKind kind(DType dtype);
// The type with this printed name, or nothing.
std::optional<DType> dtype_named(std::string_view text);
// The type of a complex number's parts, and the complex type with parts of a type; nothing if there is none.
std::optional<DType> part_of(DType complex);
std::optional<DType> complex_of(DType part);
// The type in which arithmetic on the type is done: float32 for floats, int64 for uint32, int32 for narrower integers,
// else the type itself. Each result is converted back to the type: floats are rounded, integers wrap around. Matrix
// products accumulate in this type or more exactly.
DType computed_in(DType dtype);

}  // namespace alloy::ir

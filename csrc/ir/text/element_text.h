// Elements of constants as text, for print() and parse().
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "ir/dtype.h"

namespace alloy::ir {

// Reads the whole text as a number into `value`; false if it is none. Independent of system and locale.
bool read_number(const std::string& text, double& value);
// False for types whose elements have no text: complex numbers.
bool has_text(DType dtype);
// A text that reads back as the same element, for a float32 the shortest such; every NaN is "nan". Empty if the type
// has no text.
std::string element_text(DType dtype, const std::byte* element);
// Appends the element with this text; false if the type has no such element.
bool append_element(DType dtype, const std::string& text, std::vector<std::byte>& bytes);

}  // namespace alloy::ir

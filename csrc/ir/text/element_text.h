// Elements of constants as text, as print() writes and parse() reads them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "ir/dtype.h"

namespace alloy::ir {

// True if the whole text is a number, which then is in `value`: alike on all systems, whatever the locale.
bool read_number(const std::string& text, double& value);
// False for types whose elements have no text: complex numbers.
bool has_text(DType dtype);
// A text that reads back as the same element, the shortest for a float32; every NaN is "nan". Empty where the type has
// no text.
std::string element_text(DType dtype, const std::byte* element);
// Appends the element that the text stands for; false if the type has no such element.
bool append_element(DType dtype, const std::string& text, std::vector<std::byte>& bytes);

}  // namespace alloy::ir

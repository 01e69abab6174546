// The compiler's notation for types of instance variables.
#pragma once

// True if a variable of the type must be aligned to 16 bytes: vectors (whose notation is empty), long double, 128-bit
// integers, and types that contain one of these.
bool is_wide(const char* type);

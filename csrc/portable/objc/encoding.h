// How the compiler writes types of instance variables.
#pragma once

// True if a variable of the type must lie at a multiple of 16: vectors, which are written as nothing at all, long
// double, 128-bit integers, and what contains one.
bool is_wide(const char* type);

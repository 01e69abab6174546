// The tile registers. Instructions name them by number, so the code that uses them consists of macros:
//                                    right factor's lines
//                                   0 to 15       16 to 31
//                                 register 6     register 7
//   left factor's     0 to 15
//   lines           register 4       sum 0          sum 1
//                    16 to 31
//                   register 5       sum 2          sum 3
//
// The macros need two constants: `rows` and `columns`, the number of tiles (1 or 2) of the left and of the right
// factor. Only multiply-inl.h includes this file, and removes the macros.
#pragma once

#define ALLOY_EACH_SUM(DO)                              \
  do {                                                  \
    DO(0, 4, 6);                                        \
    if constexpr (columns > 1) DO(1, 4, 7);             \
    if constexpr (rows > 1) DO(2, 5, 6);                \
    if constexpr (rows > 1 && columns > 1) DO(3, 5, 7); \
  } while (false)
// Operations on a sum.
#define ALLOY_BEGIN(sum, a, b) _tile_zero(sum)
#define ALLOY_END(sum, a, b) _tile_stored(sum, sums + (sum) * kLines * kLines, kLines * 4)
#define ALLOY_MULTIPLY(sum, a, b) _tile_dpbf16ps(sum, a, b)
// Loads a part of the left factor's tiles, or of the right factor's.
#define ALLOY_LEFT(part)                                                                  \
  do {                                                                                    \
    _tile_loadd(4, left + (part) * kTileBytes, 64);                                       \
    if constexpr (rows > 1) _tile_loadd(5, left + kSplitBytes + (part) * kTileBytes, 64); \
  } while (false)
#define ALLOY_RIGHT(part)                                                                     \
  do {                                                                                        \
    _tile_loadd(6, right + (part) * kTileBytes, 64);                                          \
    if constexpr (columns > 1) _tile_loadd(7, right + kSplitBytes + (part) * kTileBytes, 64); \
  } while (false)

// The quirks of Apple's framework: ops that it refuses or gets wrong, as data (quirks.def). The device knows the system
// that computes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "ir/dtype.h"

namespace alloy::ir {

// A system, by its version of macOS. The portable framework has version 0.0 and no quirks.
struct System {
  int major = 0, minor = 0;

  bool is_apple() const { return major > 0; }
  auto operator<=>(const System&) const = default;
};

// Reads a version from text, because 14.10 is not 14.1.
constexpr System version(std::string_view text) {
  System out;
  int* part = &out.major;
  for (const char c : text) {
    if (c == '.') part = &out.minor;
    else *part = 10 * *part + (c - '0');
  }
  return out;
}

// "macOS 13.3", or "none".
std::string to_string(System system);
// The systems that the portable framework can imitate.
struct NamedSystem {
  std::string_view name;
  System system;
};
inline constexpr NamedSystem kSystems[] = {
    {"macos13", {13, 3}}, {"macos14", {14, 0}}, {"macos15", {15, 0}}, {"macos26", {26, 0}}};
std::optional<System> find_system(std::string_view name);
// "macos13, macos14, macos15 or macos26"
std::string system_names();

enum class Quirk : uint8_t {
#define ALLOY_QUIRK(name, first, end, effect, what, source) name,
#include "ir/quirks.def"
};

enum class Effect : uint8_t { aborts, wrong };

struct QuirkInfo {
  Quirk quirk;
  std::string_view name;
  System first, end;
  Effect effect;
  std::string_view what, source;
};

const QuirkInfo& info(Quirk quirk);
bool has(System system, Quirk quirk);

// The limits up to which Apple's framework is right, for quirks that depend on size.
inline constexpr int64_t kMostRank = 4, kMostOfMatrix = 32'767, kMostImages = 65'535, kMostChannels = 65'536;

// The types of quirks that depend on types: integers of 8 or 16 bits, and the types that Apple's framework sorts.
inline bool is_narrow(DType dtype) {
  return size_of(dtype) <= 2 && (kind(dtype) == DTypeKind::kSigned || kind(dtype) == DTypeKind::kUnsigned);
}
inline bool is_sorted_as_it_is(DType dtype) {
  return dtype == DType::float32 || dtype == DType::float16 || dtype == DType::int32 || dtype == DType::int64;
}
// True if the axis is among the last four.
inline bool is_near_the_end(int64_t axis, int64_t rank) { return axis >= rank - kMostRank; }

// "A tensor of bfloat16 aborts on macOS 13.3 (pytorch ...)"
std::string describe(System system, Quirk quirk);

// The name of the NSException that an imitation raises where the imitated system would end the process.
inline constexpr const char kAbortException[] = "AlloyAbortException";

}  // namespace alloy::ir

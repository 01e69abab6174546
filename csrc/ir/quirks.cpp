#include "ir/quirks.h"

#include <iterator>

namespace alloy::ir {
namespace {

constexpr QuirkInfo kQuirks[] = {
#define ALLOY_QUIRK(name, first, end, effect, what, source) \
  {Quirk::name, #name, version(#first), version(#end), Effect::effect, what, source},
#include "ir/quirks.def"
};

}  // namespace

std::string to_string(System system) {
  return system.is_apple() ? "macOS " + std::to_string(system.major) + "." + std::to_string(system.minor) : "none";
}

std::optional<System> find_system(std::string_view name) {
  for (const NamedSystem& row : kSystems) {
    if (row.name == name) return row.system;
  }
  return std::nullopt;
}

std::string system_names() {
  std::string names;
  for (const NamedSystem& row : kSystems) {
    if (&row != std::begin(kSystems)) names += &row == std::end(kSystems) - 1 ? " or " : ", ";
    names += row.name;
  }
  return names;
}

const QuirkInfo& info(Quirk quirk) { return kQuirks[static_cast<size_t>(quirk)]; }

bool has(System system, Quirk quirk) {
  const QuirkInfo& row = info(quirk);
  return system.is_apple() && system >= row.first && (!row.end.is_apple() || system < row.end);
}

std::string describe(System system, Quirk quirk) {
  const QuirkInfo& row = info(quirk);
  return std::string(row.what) + (row.effect == Effect::aborts ? " aborts on " : " is wrong on ") + to_string(system) +
         " (" + std::string(row.source) + ")";
}

}  // namespace alloy::ir

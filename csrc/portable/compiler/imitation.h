// The imitation of a macOS, on demand: ALLOY_PRETEND names the system (ir::find_system), and a program then computes as
// that system's framework would, by ir/quirks.def: the numbers that it gets wrong are wrong, and what ends the process
// there throws Abort. So tests on Linux find what a Mac would abort at or get wrong.
//
// It is one rewriting of a specialised graph, before any pass; without imitation a program is compiled as if this file
// did not exist. What a graph does not show (a selector, a type of data, an executable without targets) is imitated by
// the facade: facade/imitation.mm.
#pragma once

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>

#include "ir/graph.h"
#include "ir/quirks.h"

namespace alloy::compiler {

struct Imitation {
  ir::System system;    // none: the framework as it is
  std::string mistake;  // the sentence about a word that names no system, or empty
};
// The imitation that the environment asked for when this was first called.
const Imitation& imitation();

// The byte of a bool constant of the facade where quirk true_is_255 applies.
inline constexpr std::byte kTrueOf255{255};

// What would end the process.
class Abort : public std::runtime_error {
 public:
  // The quirk's sentence about `where`, a selector or an op.
  Abort(const std::string& where, ir::System system, ir::Quirk quirk) : Abort(where, describe(system, quirk)) {}
  Abort(const std::string& where, const std::string& sentence)
      : std::runtime_error("[" + where + "] " + sentence + ".") {}
};

// A copy of a specialised graph that computes what that system would. Throws Abort.
std::unique_ptr<ir::Graph> imitate(const ir::Graph& graph, ir::System system);

}  // namespace alloy::compiler

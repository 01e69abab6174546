// The imitation of a version of macOS. ALLOY_PRETEND names the system (ir::find_system). A program then computes as
// that system's framework would, according to ir/quirks.def: it gives the same wrong numbers, and throws Abort where
// the framework ends the process. So tests on Linux find failures that a Mac would show.
//
// The imitation is one rewriting of a specialised graph, before any pass. Without it a program is compiled as if this
// file did not exist. The facade (facade/imitation.mm) imitates quirks that a graph does not show: a selector, a type
// of data, an executable without targets.
#pragma once

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>

#include "ir/graph.h"
#include "ir/quirks.h"

namespace alloy::compiler {

struct Imitation {
  ir::System system;    // none: no imitation
  std::string mistake;  // why ALLOY_PRETEND names no system, or empty
};
// The imitation that the environment asked for at the first call.
const Imitation& imitation();

// The byte by which the facade marks a bool constant to which quirk true_is_255 applies.
inline constexpr std::byte kTrueOf255{255};

// Thrown where Apple's framework would end the process.
class Abort : public std::runtime_error {
 public:
  // `where` is a selector or an op.
  Abort(const std::string& where, ir::System system, ir::Quirk quirk) : Abort(where, describe(system, quirk)) {}
  Abort(const std::string& where, const std::string& sentence)
      : std::runtime_error("[" + where + "] " + sentence + ".") {}
};

// A copy of a specialised graph that computes as the system would. Throws Abort.
std::unique_ptr<ir::Graph> imitate(const ir::Graph& graph, ir::System system);

}  // namespace alloy::compiler

// Packages: a request on a graph, as a file that another process can load. README.md in this folder describes the
// format. A package depends on no machine.
#pragma once

#include <string>

#include "runtime/graph_state.h"

namespace alloy::package {

// Writes the part of the graph that the request needs, with the values that the variables have between two runs. The
// file appears complete or not at all, and until then an existing file stays whole. Throws ir::Error if the file cannot
// be written or could not be read back.
void write_package(const std::string& path, runtime::GraphState& state, const runtime::Request& request);

// Fills a state whose graph is empty, and returns the request; its feeds are the placeholders of the graph. Throws
// ir::Error if the file is missing, foreign, damaged, cut off, of a newer format, or describes no legal graph; the
// state is then unusable.
runtime::Request read_package(const std::string& path, runtime::GraphState& state);

}  // namespace alloy::package

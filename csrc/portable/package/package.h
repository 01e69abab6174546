// Packages: a request on a graph as a file, which another process can load. The format is in README.md beside this
// file. Nothing of a machine is in it.
#pragma once

#include <string>

#include "runtime/graph_state.h"

namespace alloy::package {

// Writes what the request needs of the graph, with the values that its variables have at one moment between two runs.
// The file appears complete or not at all; until then the one that it replaces is whole. Throws ir::Error with a
// sentence where it cannot be written, or where what it holds could not be read back.
void write_package(const std::string& path, runtime::GraphState& state, const runtime::Request& request);

// Fills a state whose graph is empty, and returns the request: its feeds are the placeholders of the graph. Throws
// ir::Error with a sentence, after which the state is of no use, where the file is missing, foreign, damaged, cut off,
// of a newer format, or says what no graph can.
runtime::Request read_package(const std::string& path, runtime::GraphState& state);

}  // namespace alloy::package

// Starts the warm-up when the library loads.
//
// This must be the last file of the library. Constructors run in the order of the files, and those of other files
// register the classes used here. A constructor in an Objective-C file would run before that file is registered.

extern "C" void alloy_warm_up();

namespace {

[[gnu::constructor]] void on_load() { alloy_warm_up(); }

}  // namespace

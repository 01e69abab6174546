// Starts the warm-up when the library loads.
//
// Must be the last file of the library: constructors run in the order of the files, those of the other files
// register the classes that are used here, and one in an Objective-C file runs before that file is registered.

extern "C" void alloy_warm_up();

namespace {

[[gnu::constructor]] void on_load() { alloy_warm_up(); }

}  // namespace

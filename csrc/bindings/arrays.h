// Arrays in and out, by NumPy's C API: pybind11's array_t costs several microseconds a call. All of it needs the GIL.
#pragma once

#include <pybind11/pybind11.h>

#include "engine/feed_bytes.h"
#include "ir/graph.h"

namespace alloy::bindings {

// Loads NumPy's C API; once, when the module is imported.
void import_numpy();

ir::DType dtype_named(const std::string& name);

// Whether `object` is a packed array of that type already.
bool is_packed(pybind11::handle object, ir::DType dtype);
// `object` as a packed array of that type, sharing memory where it can: an array of the type itself, a float64 array
// for float32 (with one warning), anything that speaks DLPack, or numbers and sequences of them. Throws ir::Error,
// naming `what`, for an array of another type.
pybind11::object packed_array(pybind11::handle object, ir::DType dtype, const std::string& what);
// The same with the type of the array itself.
pybind11::object packed_array(pybind11::handle object, ir::DType* dtype, const std::string& what);
// A new packed array of that static type with undefined contents.
pybind11::object new_array(const ir::Type& type);

// The array's memory for a run: with its owner where it is worth lending. The owner may be let go of by any thread,
// with the GIL or without.
engine::FeedBytes feed_bytes(pybind11::handle array);
void* data_of(pybind11::handle array);
ir::Shape shape_of(pybind11::handle array);
// A copy of a packed array of that type.
ir::LiteralRef literal(pybind11::handle array, ir::DType dtype);

}  // namespace alloy::bindings

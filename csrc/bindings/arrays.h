// Arrays in and out, by NumPy's C API: pybind11's array_t costs several microseconds a call. Everything here needs the
// GIL. Python's arrays are checked and cast here and nowhere else.
// `argument` is an argument as messages name it, for instance "[constant] 'c'".
#pragma once

#include <pybind11/pybind11.h>

#include <string>
#include <string_view>

#include "engine/running/feed_bytes.h"
#include "ir/graph.h"

namespace alloy::bindings {

// Loads NumPy's C API. Call it once, when the module is imported.
void import_numpy();

// An element type from a name, a NumPy dtype, or a type of NumPy or Python.
ir::DType dtype_from(pybind11::handle object, std::string_view op);

// True if `object` is already a packed array of that type.
bool is_packed(pybind11::handle object, ir::DType dtype);
// `object` as a packed array of that type, sharing memory if possible. `object` may be an array of the type, a float64
// array for float32 (with one warning), an object with DLPack, or numbers and sequences of numbers that the type can
// hold. Throws ir::Error, naming the argument, for an array of another type.
pybind11::object packed_array(pybind11::handle object, ir::DType dtype, const std::string& argument);
// `object` as an array of its own type, sharing memory if possible. A float64 array is cast to float32 with a warning.
// Python's numbers, and lists of them, become float32, int32 or bool. Throws ir::Error if `object` has no numbers.
pybind11::object typed_array(pybind11::handle object, ir::DType* dtype, const std::string& argument);
// A number as a packed array of that type. Throws ir::Error if the type cannot hold it: 0.5 as int32, 1 as bool, 1e300
// as float32.
pybind11::object packed_number(pybind11::handle object, ir::DType dtype, const std::string& argument);
// A new packed array of a static type, with undefined contents.
pybind11::object new_array(const ir::Type& type);

// The array's memory for a run, with an owner if the memory may be lent. Any thread may release the owner, with or
// without the GIL.
engine::FeedBytes feed_bytes(pybind11::handle array);
void* data_of(pybind11::handle array);
ir::Shape shape_of(pybind11::handle array);
// A copy of an array of that type.
ir::LiteralRef literal(pybind11::handle array, ir::DType dtype);

}  // namespace alloy::bindings

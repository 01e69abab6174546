#include "arrays.h"

#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#include <numpy/arrayobject.h>

#include <mutex>
#include <vector>

namespace py = pybind11;

namespace alloy::bindings {
namespace {

struct NumpyType {
  ir::DType dtype;
  int number;
};

constexpr NumpyType kNumpyTypes[] = {
    {ir::DType::float32, NPY_FLOAT32}, {ir::DType::float16, NPY_FLOAT16}, {ir::DType::int8, NPY_INT8},
    {ir::DType::int16, NPY_INT16},     {ir::DType::int32, NPY_INT32},     {ir::DType::int64, NPY_INT64},
    {ir::DType::uint8, NPY_UINT8},     {ir::DType::uint16, NPY_UINT16},   {ir::DType::uint32, NPY_UINT32},
    {ir::DType::uint64, NPY_UINT64},   {ir::DType::boolean, NPY_BOOL},    {ir::DType::complex64, NPY_COMPLEX64},
};

int numpy_type(ir::DType dtype) {
  for (const NumpyType& row : kNumpyTypes) {
    if (row.dtype == dtype) return row.number;
  }
  throw ir::Error(ir::Error::Kind::kType, "NumPy has no type " + std::string(name(dtype)) + ".");
}

PyArrayObject* as_array(py::handle object) { return reinterpret_cast<PyArrayObject*>(object.ptr()); }

py::object steal(PyObject* object) {
  if (object == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(object);
}

// Whether the object has an element type of its own, which a Python number or a sequence of them has not.
bool is_typed(py::handle object) {
  return PyArray_Check(object.ptr()) || PyArray_CheckScalar(object.ptr()) || py::hasattr(object, "__dlpack__");
}

// An array over the object's memory, or a new one of NumPy's choice.
py::object any_array(py::handle object) {
  if (PyArray_Check(object.ptr()) || !py::hasattr(object, "__dlpack__")) return steal(PyArray_FROM_O(object.ptr()));
  return py::module_::import("numpy").attr("from_dlpack")(object);
}

py::object cast_to(py::handle array, int number) {
  return steal(PyArray_FROMANY(array.ptr(), number, 0, 0, NPY_ARRAY_CARRAY_RO | NPY_ARRAY_FORCECAST));
}

// An array whose numbers the type can hold, though floats may be rounded; throws ir::Error where it cannot.
py::object cast_exactly(py::handle array, ir::DType dtype, const std::string& what) {
  const py::module_ numpy = py::module_::import("numpy");
  const py::object quiet = numpy.attr("errstate")(py::arg("all") = "ignore");
  quiet.attr("__enter__")();
  const py::object cast = cast_to(array, numpy_type(dtype));
  quiet.attr("__exit__")(py::none(), py::none(), py::none());
  const bool is_floating = kind(dtype) == ir::DTypeKind::kFloating;
  const auto seen = [&](py::handle of) {
    return is_floating ? numpy.attr("isfinite")(of) : py::reinterpret_borrow<py::object>(of);
  };
  const py::object differs = numpy.attr("not_equal")(seen(cast), seen(array));
  if (!numpy.attr("any")(differs).cast<bool>()) return cast;
  const py::object first = array.attr("__getitem__")(differs).attr("flat").attr("__getitem__")(0);
  throw ir::Error(ir::Error::Kind::kType, what + " is " + std::string(name(dtype)) + ", which cannot hold " +
                                              std::string(py::str(first)) + ".");
}

py::object to_float32(py::handle array, const std::string& what) {
  const std::string message = what + " is float64 and was cast to float32.";
  if (PyErr_WarnEx(PyExc_UserWarning, message.c_str(), 1) < 0) throw py::error_already_set();
  return cast_exactly(array, ir::DType::float32, what);
}

// Objects that the engine has let go of, wherever that was; the interpreter drops them when it comes to it.
struct Dropped {
  std::mutex mutex = {};
  std::vector<PyObject*> objects = {};

  static Dropped& all() {
    static Dropped& all = *new Dropped;  // there until the last thread has ended
    return all;
  }
  static int release(void*) {
    std::vector<PyObject*> taken;
    {
      std::lock_guard lock(all().mutex);
      taken.swap(all().objects);
    }
    for (PyObject* object : taken) Py_DECREF(object);
    return 0;
  }
  static void add(PyObject* object) {
    {
      std::lock_guard lock(all().mutex);
      all().objects.push_back(object);
    }
    if (Py_IsInitialized()) {
      Py_AddPendingCall(release, nullptr);  // where it takes no more calls, one that it has releases this object, too
    }
  }
};

std::string type_name(py::handle array) { return py::str(array.attr("dtype")); }

}  // namespace

void import_numpy() {
  if (_import_array() < 0) throw py::error_already_set();
}

ir::DType dtype_named(const std::string& name) {
  if (auto dtype = ir::dtype_named(name)) return *dtype;
  throw ir::Error(ir::Error::Kind::kType,
                  "[dtype] Expected the name of an element type such as float32, got '" + name + "'.");
}

bool is_packed(py::handle object, ir::DType dtype) {
  return PyArray_Check(object.ptr()) && PyArray_TYPE(as_array(object)) == numpy_type(dtype) &&
         PyArray_ISCARRAY_RO(as_array(object));
}

py::object packed_array(py::handle object, ir::DType dtype, const std::string& what) {
  if (is_packed(object, dtype)) return py::reinterpret_borrow<py::object>(object);
  const int wanted = numpy_type(dtype);
  py::object array = any_array(object);
  const int given = PyArray_TYPE(as_array(array));
  if (given == wanted || PyArray_EquivTypenums(given, wanted)) return cast_to(array, wanted);
  const py::object type = steal(reinterpret_cast<PyObject*>(PyArray_DescrFromType(wanted)));
  const bool keeps_kind = PyArray_CanCastTypeTo(PyArray_DESCR(as_array(array)),
                                                reinterpret_cast<PyArray_Descr*>(type.ptr()), NPY_SAME_KIND_CASTING);
  const bool are_integers = PyTypeNum_ISINTEGER(given) && PyTypeNum_ISINTEGER(wanted);
  if (!is_typed(object) && (keeps_kind || are_integers)) return cast_exactly(array, dtype, what);
  if (given == NPY_FLOAT64 && wanted == NPY_FLOAT32) return to_float32(array, what);
  throw ir::Error(ir::Error::Kind::kType,
                  what + " is " + std::string(name(dtype)) + " but was given an array of " + type_name(array) + ".");
}

py::object packed_array(py::handle object, ir::DType* dtype, const std::string& what) {
  py::object array = any_array(object);
  const int given = PyArray_TYPE(as_array(array));
  if (given == NPY_FLOAT64) {
    *dtype = ir::DType::float32;
    // A Python number or list of numbers is not somebody's float64 data.
    return is_typed(object) ? to_float32(array, what) : cast_exactly(array, *dtype, what);
  }
  for (const NumpyType& row : kNumpyTypes) {
    if (!PyArray_EquivTypenums(row.number, given)) continue;
    *dtype = row.dtype;
    return cast_to(array, row.number);
  }
  throw ir::Error(ir::Error::Kind::kType,
                  what + " was given an array of " + type_name(array) + ", which is no element type here.");
}

py::object new_array(const ir::Type& type) {
  std::vector<npy_intp> dims(type.shape.dims().begin(), type.shape.dims().end());
  return steal(PyArray_SimpleNew(static_cast<int>(dims.size()), dims.data(), numpy_type(type.dtype)));
}

engine::FeedBytes feed_bytes(py::handle array) {
  void* data = data_of(array);
  if (!engine::can_be_lent(data, static_cast<size_t>(PyArray_NBYTES(as_array(array))))) return {data, nullptr};
  // A view's memory is that of its base, and views come and go.
  PyObject* base = PyArray_BASE(as_array(array));
  PyObject* owner = base == nullptr ? array.ptr() : base;
  Py_INCREF(owner);
  return {data, {owner, [](PyObject* object) { Dropped::add(object); }}};
}

void* data_of(py::handle array) { return PyArray_DATA(as_array(array)); }

ir::Shape shape_of(py::handle array) {
  const npy_intp* dims = PyArray_DIMS(as_array(array));
  return ir::Shape(ir::Dims(dims, dims + PyArray_NDIM(as_array(array))));
}

ir::LiteralRef literal(py::handle array, ir::DType dtype) {
  const ir::Type type{dtype, shape_of(array)};
  return std::make_shared<ir::Literal>(type,
                                       std::span(static_cast<const std::byte*>(data_of(array)), type.byte_count()));
}

}  // namespace alloy::bindings

#include "arrays.h"

#include "submission.h"
#include "user.h"

#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#include <numpy/arrayobject.h>

#include <algorithm>
#include <mutex>
#include <optional>
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

// NumPy's number for the bfloat16 of ml_dtypes. ml_dtypes is imported only when it is needed.
int bfloat16_type() {
  static const int number = py::module_::import("numpy")
                                .attr("dtype")(py::module_::import("ml_dtypes").attr("bfloat16"))
                                .attr("num")
                                .cast<int>();
  return number;
}

int numpy_type(ir::DType dtype) {
  for (const NumpyType& row : kNumpyTypes) {
    if (row.dtype == dtype) return row.number;
  }
  if (dtype == ir::DType::bfloat16) return bfloat16_type();
  throw ir::Error(ir::Error::Kind::kType, "NumPy has no type " + std::string(name(dtype)) + ".");
}

PyArrayObject* as_array(py::handle object) { return reinterpret_cast<PyArrayObject*>(object.ptr()); }

py::object steal(PyObject* object) {
  if (object == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(object);
}

// True if the object has an element type of its own, unlike a Python number or a sequence of them. A feed with such a
// type is not cast, except from float64 and complex128.
bool is_typed(py::handle object) {
  return PyArray_Check(object.ptr()) || PyArray_CheckScalar(object.ptr()) || py::hasattr(object, "__dlpack__");
}

// True for Python's own numbers. Constants do not take the type that NumPy gives these. This is not the opposite of
// is_typed: a NumPy float64 is also a Python float, and a range is neither.
bool is_python_numbers(PyObject* object) {
  return PyLong_Check(object) || PyFloat_Check(object) || PyComplex_Check(object) || PyList_Check(object) ||
         PyTuple_Check(object);
}

[[noreturn]] void fail(const std::string& argument, const std::string& message) {
  mistake(ir::Error::Kind::kType, argument + message);
}

// An array over the object's memory, or a new one if NumPy makes one. Throws ir::Error for a submission or a pending
// fetch, which NumPy would turn into an array with one axis too many, or into an array of objects.
py::object any_array(py::handle object, const std::string& argument) {
  if (py::isinstance<Submitted>(object)) {
    fail(argument, " was given a submission, the sequence of its fetches; give it one of them, as in submission[0]");
  }
  if (py::isinstance<engine::Pending>(object)) {
    fail(argument, " was given a pending fetch, which only steps of a graph are fed; give it the array, submission[0]");
  }
  if (PyArray_Check(object.ptr()) || is_python_numbers(object.ptr()) || !py::hasattr(object, "__dlpack__")) {
    return steal(PyArray_FROM_OF(object.ptr(), NPY_ARRAY_ENSUREARRAY));
  }
  return py::module_::import("numpy").attr("from_dlpack")(object);
}

py::object cast_to(py::handle array, int number) {
  return steal(PyArray_FROMANY(array.ptr(), number, 0, 0, NPY_ARRAY_CARRAY_RO | NPY_ARRAY_FORCECAST));
}

std::string type_name(py::handle array) { return py::str(array.attr("dtype")); }

// A mask of the numbers of `array` that the type cannot hold; `cast` is the array cast to it. Floats may be rounded.
// None if all fit.
py::object lost(const py::module_& numpy, py::handle array, py::handle cast, ir::DType dtype) {
  if (dtype == ir::DType::boolean && !PyTypeNum_ISBOOL(PyArray_TYPE(as_array(array)))) {
    return numpy.attr("full")(array.attr("shape"), true);
  }
  const bool may_round = kind(dtype) == ir::DTypeKind::kFloating || kind(dtype) == ir::DTypeKind::kComplex;
  if (!may_round) return numpy.attr("not_equal")(cast, array);
  const py::object finite = numpy.attr("isfinite")(cast);
  if (finite.attr("all")().cast<bool>()) return py::none();  // the usual case, which need not look at the array
  return numpy.attr("not_equal")(finite, numpy.attr("isfinite")(array));
}

// Casts an array to a type that holds all its numbers, though floats may be rounded. Throws ir::Error if one does not
// fit.
py::object cast_exactly(py::handle array, ir::DType dtype, const std::string& argument) {
  const py::module_ numpy = py::module_::import("numpy");
  const py::object quiet = numpy.attr("errstate")(py::arg("all") = "ignore");
  quiet.attr("__enter__")();
  const py::object cast = cast_to(array, numpy_type(dtype));
  quiet.attr("__exit__")(py::none(), py::none(), py::none());
  const py::object differs = lost(numpy, array, cast, dtype);
  if (differs.is_none() || !differs.attr("any")().cast<bool>()) return cast;
  const py::object first = array.attr("__getitem__")(differs).attr("flat").attr("__getitem__")(0);
  fail(argument, " is " + std::string(name(dtype)) + ", which cannot hold " + std::string(py::str(first)));
}

// The type that replaces a NumPy type of twice its width, which tensors do not have; nothing for other types.
std::optional<ir::DType> single_of(int given) {
  if (given == NPY_FLOAT64) return ir::DType::float32;
  if (given == NPY_COMPLEX128) return ir::DType::complex64;
  return std::nullopt;
}

py::object to_single(py::handle array, ir::DType dtype, const std::string& argument) {
  warn_user(argument + " is " + type_name(array) + " and was cast to " + std::string(name(dtype)) + ".");
  return cast_exactly(array, dtype, argument);
}

// The element type for the array. If `plain`, NumPy made the array from Python's own numbers, so the type is the one
// that Python's numbers get. Throws ir::Error if tensors have no such type.
ir::DType dtype_of(py::handle array, bool plain, const std::string& argument) {
  const int given = PyArray_TYPE(as_array(array));
  if (const auto single = single_of(given)) return *single;
  if (plain && PyTypeNum_ISFLOAT(given)) return ir::DType::float32;
  if (plain && PyTypeNum_ISSIGNED(given)) return ir::DType::int32;
  for (const NumpyType& row : kNumpyTypes) {
    if (PyArray_EquivTypenums(row.number, given)) return row.dtype;
  }
  if (PyTypeNum_ISUSERDEF(given) && given == bfloat16_type()) return ir::DType::bfloat16;
  fail(argument, " is an array of " + type_name(array) + ", which is no element type here");
}

// Objects that the engine released, on any thread. The interpreter drops them later.
struct Dropped {
  std::mutex mutex = {};
  std::vector<PyObject*> objects = {};

  static Dropped& all() {
    static Dropped& all = *new Dropped;  // never destroyed: threads may end later
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
      Py_AddPendingCall(release, nullptr);  // if the queue of calls is full, a call in it releases this object too
    }
  }
};

}  // namespace

void import_numpy() {
  if (_import_array() < 0) throw py::error_already_set();
}

ir::DType dtype_from(py::handle object, std::string_view op) {
  std::string text;
  try {
    const bool is_name = py::isinstance<py::str>(object);
    text = py::str(is_name ? object : py::module_::import("numpy").attr("dtype")(object).attr("name"));
  } catch (const py::error_already_set& error) {
    if (!error.matches(PyExc_TypeError)) throw;
    text = py::repr(object);
  }
  const auto dtype = ir::dtype_named(text);
  if (dtype && *dtype != ir::DType::complex32) return *dtype;  // NumPy lacks complex32
  mistake(ir::Error::Kind::kType, "[" + std::string(op) + "] Expected an element type such as float32, got " + text);
}

bool is_packed(py::handle object, ir::DType dtype) {
  return PyArray_Check(object.ptr()) && PyArray_TYPE(as_array(object)) == numpy_type(dtype) &&
         PyArray_ISCARRAY_RO(as_array(object));
}

py::object packed_array(py::handle object, ir::DType dtype, const std::string& argument) {
  if (is_packed(object, dtype)) return py::reinterpret_borrow<py::object>(object);
  const int wanted = numpy_type(dtype);
  py::object array = any_array(object, argument);
  const int given = PyArray_TYPE(as_array(array));
  if (given == wanted || PyArray_EquivTypenums(given, wanted)) return cast_to(array, wanted);
  const py::object type = steal(reinterpret_cast<PyObject*>(PyArray_DescrFromType(wanted)));
  const bool keeps_kind = PyArray_CanCastTypeTo(PyArray_DESCR(as_array(array)),
                                                reinterpret_cast<PyArray_Descr*>(type.ptr()), NPY_SAME_KIND_CASTING);
  const bool are_integers = PyTypeNum_ISINTEGER(given) && PyTypeNum_ISINTEGER(wanted);
  if (are_integers || (keeps_kind && !is_typed(object))) return cast_exactly(array, dtype, argument);
  if (single_of(given) == dtype) return to_single(array, dtype, argument);
  fail(argument, " is " + std::string(name(dtype)) + " but was given an array of " + type_name(array));
}

py::object typed_array(py::handle object, ir::DType* dtype, const std::string& argument) {
  py::object array = any_array(object, argument);
  const bool plain = is_python_numbers(object.ptr());
  *dtype = dtype_of(array, plain, argument);
  if (plain) return cast_exactly(array, *dtype, argument);
  return single_of(PyArray_TYPE(as_array(array))) ? to_single(array, *dtype, argument) : array;
}

py::object packed_number(py::handle object, ir::DType dtype, const std::string& argument) {
  const py::object array = any_array(object, argument);
  dtype_of(array, true, argument);  // is a number
  return cast_exactly(array, dtype, argument);
}

py::object new_array(const ir::Type& type) {
  const ir::Dims& dims = type.shape.dims();
  npy_intp extents[ir::kMostAxes];  // on a Mac, npy_intp is not int64_t
  std::copy(dims.begin(), dims.end(), extents);
  return steal(PyArray_SimpleNew(static_cast<int>(dims.size()), extents, numpy_type(type.dtype)));
}

engine::FeedBytes feed_bytes(py::handle array) {
  void* data = data_of(array);
  if (!engine::can_be_lent(data, PyArray_NBYTES(as_array(array)))) return {data, nullptr};
  // The base owns a view's memory, and lives longer.
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

ir::LiteralRef literal(py::handle given, ir::DType dtype) {
  const py::object array = cast_to(given, numpy_type(dtype));
  const ir::Type type{dtype, shape_of(array)};
  return std::make_shared<ir::Literal>(type,
                                       std::span(static_cast<const std::byte*>(data_of(array)), type.byte_count()));
}

}  // namespace alloy::bindings

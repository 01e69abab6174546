// Shapes of tensors, known in part or in full, with broadcasting and printing. Strides are kept elsewhere.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/dims.h"
#include "ir/dtype.h"

namespace alloy::ir {

// A dimension that becomes known when a graph is specialised.
inline constexpr int64_t kUnknown = -1;

// The most axes that an array of Apple's framework can have (MPSNDArrayDescriptor).
inline constexpr int64_t kMostAxes = 16;

class Shape {
 public:
  Shape() : dims_(Dims{}) {}                    // rank 0
  Shape(Dims dims) : dims_(std::move(dims)) {}  // NOLINT: a list of dimensions is a shape
  Shape(std::initializer_list<int64_t> dims) : dims_(Dims(dims)) {}
  static Shape unranked();

  bool ranked() const { return dims_.has_value(); }
  // True if rank and every dimension are known.
  bool is_static() const;
  // Rank, dimensions and one dimension; only for a ranked shape.
  int64_t rank() const { return dims_->size(); }
  const Dims& dims() const { return *dims_; }
  int64_t operator[](int64_t axis) const { return (*dims_)[axis]; }
  // Product of the dimensions; only for a static shape.
  int64_t element_count() const;

  bool operator==(const Shape&) const = default;

 private:
  std::optional<Dims> dims_;
};

struct Type {
  DType dtype = DType::float32;
  Shape shape;

  bool operator==(const Type&) const = default;
  bool is_static() const { return shape.is_static(); }
  // Bytes of a tensor of this type; only for a static type.
  size_t byte_count() const { return shape.element_count() * size_of(dtype); }
  // True if a tensor of this type can exist, as far as its dimensions are known: none is negative, and the tensor has
  // less than 2^48 bytes, so arithmetic on sizes does not overflow.
  bool is_addressable() const;
};

// Broadcasts by NumPy's rule; an unknown dimension and one above 1 give the known one. Nothing if the shapes do not
// fit.
std::optional<Shape> broadcast(const Shape& a, const Shape& b);
// Combines the known dimensions of two shapes of one tensor; nothing if they contradict each other.
std::optional<Shape> unify(const Shape& a, const Shape& b);
// The shape of one element for each row: the last axis becomes 1. Only for a ranked shape of an axis or more.
Shape shape_of_rows(const Shape& shape);
// The axis, counted from the front; nothing if it is outside [-rank, rank).
std::optional<int64_t> normalize_axis(int64_t axis, int64_t rank);

// Python's spelling: (64, 10), (5,), (), unknown dimensions as ?, unranked as (...).
std::string to_string(const Shape& shape);
// For example float32(64, ?).
std::string to_string(const Type& type);

}  // namespace alloy::ir

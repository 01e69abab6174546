#include "facade/graph/types.h"

#include "facade/errors.h"

namespace alloy::facade {

namespace {

struct TypeRow {
  MPSDataType type;
  ir::DType dtype;
};

constexpr TypeRow kTypes[] = {
    {MPSDataTypeFloat32, ir::DType::float32},
    {MPSDataTypeFloat16, ir::DType::float16},
    {MPSDataTypeBFloat16, ir::DType::bfloat16},
    {MPSDataTypeInt8, ir::DType::int8},
    {MPSDataTypeInt16, ir::DType::int16},
    {MPSDataTypeInt32, ir::DType::int32},
    {MPSDataTypeInt64, ir::DType::int64},
    {MPSDataTypeUInt8, ir::DType::uint8},
    {MPSDataTypeUInt16, ir::DType::uint16},
    {MPSDataTypeUInt32, ir::DType::uint32},
    {MPSDataTypeUInt64, ir::DType::uint64},
    {MPSDataTypeBool, ir::DType::boolean},
    {MPSDataTypeComplexFloat16, ir::DType::complex32},
    {MPSDataTypeComplexFloat32, ir::DType::complex64},
};

}  // namespace

std::optional<ir::DType> find_dtype(MPSDataType type) {
  for (const TypeRow& row : kTypes) {
    if (row.type == type) return row.dtype;
  }
  return std::nullopt;
}

ir::DType dtype_of(MPSDataType type) {
  if (const auto found = find_dtype(type)) return *found;
  raise_invalid(@"[MPSGraph] The data type 0x%x is not supported.", static_cast<unsigned>(type));
}

MPSDataType data_type_of(ir::DType dtype) {
  for (const TypeRow& row : kTypes) {
    if (row.dtype == dtype) return row.type;
  }
  return MPSDataTypeInvalid;
}

ir::Shape shape_of(MPSShape* shape) { return ir::Shape(numbers_of(shape)); }

ir::Shape shape_or_unranked(MPSShape* shape) { return shape == nil ? ir::Shape::unranked() : shape_of(shape); }

MPSShape* mps_shape_of(const ir::Shape& shape) {
  if (!shape.ranked()) return nil;
  NSMutableArray* numbers = [NSMutableArray array];
  for (int64_t d : shape.dims()) [numbers addObject:[NSNumber numberWithLongLong:d]];
  return numbers;
}

ir::Dims numbers_of(NSArray<NSNumber*>* numbers) {
  static const Class array_class = [NSArray class], number_class = [NSNumber class];
  require_kind(numbers, array_class);
  require_elements(numbers, number_class);
  ir::Dims dims;
  for (NSNumber* number in numbers) dims.push_back([number longLongValue]);
  return dims;
}

}  // namespace alloy::facade

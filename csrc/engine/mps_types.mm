#import "engine/mps_types.h"

#include "engine/error.h"

namespace alloy::engine {

MPSDataType mps_type(ir::DType dtype) {
  switch (dtype) {
    case ir::DType::float32: return MPSDataTypeFloat32;
    case ir::DType::float16: return MPSDataTypeFloat16;
    case ir::DType::bfloat16: return static_cast<MPSDataType>(0x90000010);  // named since macOS 14
    case ir::DType::int8: return MPSDataTypeInt8;
    case ir::DType::int16: return MPSDataTypeInt16;
    case ir::DType::int32: return MPSDataTypeInt32;
    case ir::DType::int64: return MPSDataTypeInt64;
    case ir::DType::uint8: return MPSDataTypeUInt8;
    case ir::DType::uint16: return MPSDataTypeUInt16;
    case ir::DType::uint32: return MPSDataTypeUInt32;
    case ir::DType::uint64: return MPSDataTypeUInt64;
    case ir::DType::boolean: return MPSDataTypeBool;
    case ir::DType::complex32: return static_cast<MPSDataType>(0x11000020);
    case ir::DType::complex64: return static_cast<MPSDataType>(0x11000040);
  }
  return MPSDataTypeInvalid;
}

ir::DType ir_type(MPSDataType type) {
#define ALLOY_SAME(name, text, bytes, kind) \
  if (mps_type(ir::DType::name) == type) return ir::DType::name;
  ALLOY_DTYPES(ALLOY_SAME)
#undef ALLOY_SAME
  throw DeviceError("[package] The framework's type " + std::to_string(static_cast<uint32_t>(type)) + " is not known.");
}

MPSShape* mps_shape(const ir::Shape& shape) { return shape.ranked() ? mps_numbers(shape.dims()) : nil; }

NSArray<NSNumber*>* mps_numbers(const ir::Dims& numbers) {
  NSMutableArray* array = [NSMutableArray arrayWithCapacity:numbers.size()];
  for (int64_t number : numbers) [array addObject:[NSNumber numberWithLongLong:number]];
  return array;
}

MPSGraphTensorNamedDataLayout mps_layout(const std::string& word) {
  return word == "NCHW"    ? MPSGraphTensorNamedDataLayoutNCHW
         : word == "NHWC"  ? MPSGraphTensorNamedDataLayoutNHWC
         : word == "OIHW"  ? MPSGraphTensorNamedDataLayoutOIHW
         : word == "HWIO"  ? MPSGraphTensorNamedDataLayoutHWIO
         : word == "NCDHW" ? MPSGraphTensorNamedDataLayoutNCDHW
         : word == "NDHWC" ? MPSGraphTensorNamedDataLayoutNDHWC
         : word == "OIDHW" ? MPSGraphTensorNamedDataLayoutOIDHW
                           : MPSGraphTensorNamedDataLayoutDHWIO;
}

NSString* mps_name(const std::string& text) {
  return text.empty() ? nil : [NSString stringWithUTF8String:text.c_str()];
}

}  // namespace alloy::engine

// The translation between MPSGraph's vocabulary and ir's: tensors, types, shapes, names and errors.

#include "facade/GraphPrivate.h"

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

// Empty for what is no text.
std::string utf8(NSString* name) {
  const char* text = name == nil ? nullptr : [name UTF8String];
  return text == nullptr ? std::string() : std::string(text);
}

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

ir::Shape shape_of(MPSShape* shape) { return shape == nil ? ir::Shape::unranked() : ir::Shape(numbers_of(shape)); }

MPSShape* mps_shape_of(const ir::Shape& shape) {
  if (!shape.ranked()) return nil;
  NSMutableArray* numbers = [NSMutableArray array];
  for (int64_t d : shape.dims()) [numbers addObject:[NSNumber numberWithLongLong:d]];
  return numbers;
}

ir::Dims numbers_of(NSArray<NSNumber*>* numbers) {
  ir::Dims dims;
  for (NSNumber* number in numbers) dims.push_back([number longLongValue]);
  return dims;
}

ir::Dims axes_of(MPSGraph* graph, MPSGraphTensor* tensor, NSArray<NSNumber*>* axes) {
  if (axes != nil) return numbers_of(axes);
  const ir::Expr x = expr_of(graph, tensor);
  ir::Dims all;
  build([&] { all = ir::all_axes(x); });
  return all;
}

ir::Value empty(MPSGraph* graph, MPSShape* shape, ir::DType dtype) {
  return value_of(
      add(graph, ir::OpCode::empty, {}, {{ir::Attr::kShape, shape_of(shape)}, {ir::Attr::kDtype, dtype}}, nil));
}

ir::Value shaped(MPSGraph* graph, MPSGraphTensor* shape_tensor, ir::DType dtype) {
  return value_of(add(graph, ir::OpCode::shaped, {value_of(graph, shape_tensor)}, {{ir::Attr::kDtype, dtype}}, nil));
}

std::vector<ir::Value> values_of(MPSGraph* graph, NSArray<MPSGraphTensor*>* tensors) {
  std::vector<ir::Value> values;
  for (MPSGraphTensor* tensor in tensors) values.push_back(value_of(graph, tensor));
  return values;
}

MPSGraphTensor* tensor_of(const std::shared_ptr<FacadeGraph>& graph, ir::Value value) {
  MPSGraphTensor*& tensor = graph->tensors[value];
  if (tensor == nil) tensor = new_tensor(graph, value);
  return tensor;
}

MPSGraphOperation* operation_of(const std::shared_ptr<FacadeGraph>& graph, ir::Op* op) {
  MPSGraphOperation*& operation = graph->operations[op];
  if (operation == nil) operation = new_operation(graph, op);
  return operation;
}

void build(const std::function<void()>& work) {
  const std::string mistake = runtime::guard(work);
  if (mistake.starts_with(runtime::kAborts)) raise_abort(mistake.substr(std::string_view(runtime::kAborts).size()));
  if (mistake == runtime::kMemoryIsExhausted) raise_if_failed({mistake});
  if (!mistake.empty()) raise_invalid(@"%s", mistake.c_str());
}

ir::Op* add_op(MPSGraph* graph, ir::OpCode code, const std::vector<ir::Value>& operands, ir::Attributes attributes,
               NSString* name) {
  return add_op(graph, code, operands, std::move(attributes), {}, name);
}

ir::Op* add_op(MPSGraph* graph, ir::OpCode code, const std::vector<ir::Value>& operands, ir::Attributes attributes,
               std::vector<std::unique_ptr<ir::Block>> regions, NSString* name) {
  FacadeGraph& facade = *graph_of(graph);
  facade.graph.name = utf8(name);
  ir::Op* op = nullptr;
  build([&] { op = facade.graph.add(code, operands, std::move(attributes), std::move(regions)); });
  return op;
}

MPSGraphTensor* add(MPSGraph* graph, ir::OpCode code, const std::vector<ir::Value>& operands, ir::Attributes attributes,
                    NSString* name) {
  return tensor_of(graph_of(graph), {add_op(graph, code, operands, std::move(attributes), name), 0});
}

MPSGraphTensor* compose(MPSGraph* graph, NSString* name, const std::function<ir::Expr()>& expression) {
  const std::shared_ptr<FacadeGraph>& facade = graph_of(graph);
  facade->graph.name.clear();
  ir::Expr result;
  build([&] { result = expression(); });
  if (name != nil) result.value().op->name = utf8(name);
  return tensor_of(facade, result.value());
}

ir::Expr expr_of(MPSGraph* graph, MPSGraphTensor* tensor) {
  return ir::Expr(graph_of(graph)->graph, value_of(graph, tensor));
}

}  // namespace alloy::facade

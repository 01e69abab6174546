#include "facade/graph/build.h"

#include <algorithm>
#include <optional>

#include "facade/imitation.h"
#include "ir/rules/elements.h"
#include "runtime/guard.h"

namespace alloy::facade {

namespace {

// The name in UTF-8; empty for an object that is no string.
std::string utf8(NSString* name) {
  static const Class texts = [NSString class];
  require_kind_or_nil(name, texts);
  const char* text = name == nil ? nullptr : [name UTF8String];
  return text == nullptr ? std::string() : std::string(text);
}

}  // namespace

void build(const std::function<void()>& work) {
  const std::string mistake = runtime::guard(work);
  if (mistake.starts_with(runtime::kAborts)) raise_abort(mistake.substr(std::string_view(runtime::kAborts).size()));
  if (mistake == host::kMemoryIsExhausted) raise_if_failed({mistake});
  if (!mistake.empty()) raise_invalid(@"%s", mistake.c_str());
}

MPSGraphTensor* add(MPSGraph* graph, ir::OpCode code, const std::vector<ir::Value>& operands, ir::Attributes attributes,
                    NSString* name) {
  return tensor_of(graph_of(graph), {add_op(graph, code, operands, std::move(attributes), name), 0});
}

ir::Op* add_op(MPSGraph* graph, ir::OpCode code, const std::vector<ir::Value>& operands, ir::Attributes attributes,
               NSString* name) {
  FacadeGraph& facade = *graph_of(graph);
  facade.graph.name = utf8(name);
  ir::Op* op = nullptr;
  build([&] { op = ir::add_op(facade.graph, code, operands, std::move(attributes)); });
  return op;
}

ir::Op* add_op(MPSGraph* graph, ir::OpCode code, const std::vector<ir::Value>& operands, ir::Attributes attributes,
               std::vector<std::unique_ptr<ir::Block>> regions, NSString* name) {
  FacadeGraph& facade = *graph_of(graph);
  facade.graph.name = utf8(name);
  ir::Op* op = nullptr;
  build([&] { op = facade.graph.add(code, operands, std::move(attributes), std::move(regions)); });
  return op;
}

NSArray<MPSGraphTensor*>* add_all(MPSGraph* graph, ir::Composite composite, const std::vector<ir::Value>& operands,
                                  ir::Attributes attributes, NSString* name) {
  ir::Graph& ir = graph_of(graph)->graph;
  return compose_all(graph, name, [&] {
    std::vector<ir::Expr> results;
    for (const ir::Value& v : ir::compose(ir, composite, operands, attributes)) results.emplace_back(ir, v);
    return results;
  });
}

MPSGraphTensor* add(MPSGraph* graph, ir::Composite composite, const std::vector<ir::Value>& operands,
                    ir::Attributes attributes, NSString* name) {
  return [add_all(graph, composite, operands, std::move(attributes), name) firstObject];
}

MPSGraphTensor* compose(MPSGraph* graph, NSString* name, const std::function<ir::Expr()>& expression) {
  return [compose_all(graph, name, [&] { return std::vector<ir::Expr>{expression()}; }) firstObject];
}

NSArray<MPSGraphTensor*>* compose_all(MPSGraph* graph, NSString* name,
                                      const std::function<std::vector<ir::Expr>()>& expressions) {
  const GraphRef& facade = graph_of(graph);
  const std::string last_name = utf8(name);
  facade->graph.name.clear();
  std::vector<ir::Expr> results;
  build([&] { results = expressions(); });
  if (name != nil) results.back().value().op->name = last_name;
  NSMutableArray<MPSGraphTensor*>* tensors = [NSMutableArray array];
  for (const ir::Expr& result : results) [tensors addObject:tensor_of(facade, result.value())];
  return tensors;
}

ir::Expr expr_of(MPSGraph* graph, MPSGraphTensor* tensor) {
  return ir::Expr(graph_of(graph)->graph, value_of(graph, tensor));
}

ir::Dims axes_of(MPSGraph* graph, MPSGraphTensor* tensor, NSArray<NSNumber*>* axes) {
  const ir::Expr x = expr_of(graph, tensor);
  if (axes != nil) return numbers_of(axes);
  ir::Dims all;
  build([&] { all = ir::all_axes(x); });
  return all;
}

NSArray<NSNumber*>* numbers_in(MPSGraph* graph, MPSGraphTensor* tensor, const char* op, const char* what) {
  const ir::Value value = value_of(graph, tensor);
  std::optional<ir::Elements> elements;
  build([&] { elements = ir::known_elements(value); });
  if (!elements || std::find(elements->begin(), elements->end(), std::nullopt) != elements->end()) {
    raise_invalid(@"[%s] Expected %s as integers that are known when the op is added, constants or made of shapes, got "
                  @"a tensor %s.",
                  op, what, to_string(value.type()).c_str());
  }
  NSMutableArray<NSNumber*>* numbers = [NSMutableArray array];
  for (const auto& element : *elements) [numbers addObject:[NSNumber numberWithLongLong:*element]];
  return numbers;
}

NSInteger number_in(MPSGraph* graph, MPSGraphTensor* tensor, const char* op, const char* what) {
  NSArray<NSNumber*>* numbers = numbers_in(graph, tensor, op, what);
  if ([numbers count] != 1) raise_invalid(@"[%s] Expected %s as one integer, got %zu.", op, what, [numbers count]);
  return [[numbers firstObject] integerValue];
}

ir::Value unspecified(MPSGraph* graph, MPSShape* shape, ir::DType dtype) {
  return value_of(
      add(graph, ir::OpCode::empty, {}, {{ir::Attr::kShape, shape_of(shape)}, {ir::Attr::kDtype, dtype}}, nil));
}

ir::Value unspecified(MPSGraph* graph, MPSGraphTensor* shape_tensor, ir::DType dtype) {
  return value_of(add(graph, ir::OpCode::shaped, {value_of(graph, shape_tensor)}, {{ir::Attr::kDtype, dtype}}, nil));
}

}  // namespace alloy::facade

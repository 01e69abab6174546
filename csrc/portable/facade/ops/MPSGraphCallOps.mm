// Calls of executables.

#include "facade/graph/build.h"

using namespace alloy;
using namespace alloy::facade;
namespace ir = alloy::ir;

namespace {

// The string's text; empty for nil and for an object that is no string.
std::string text_of(NSString* string) {
  const char* text = [string UTF8String];
  return text == nullptr ? std::string() : std::string(text);
}

}  // namespace

@implementation MPSGraph (CallOp)

- (NSArray<MPSGraphTensor*>*)callSymbolName:(NSString*)symbolName
                               inputTensors:(NSArray<MPSGraphTensor*>*)inputTensors
                                outputTypes:(NSArray<MPSGraphType*>*)outputTypes
                                       name:(NSString*)name {
  require_kind(symbolName, [NSString class]);
  require_kind_or_nil(name, [NSString class]);
  const std::vector<ir::Value> operands = values_of(self, inputTensors);
  require_elements(outputTypes, [MPSGraphShapedType class]);
  std::vector<ir::Type> types;
  for (MPSGraphType* type in outputTypes) {
    auto* const shaped = static_cast<MPSGraphShapedType*>(type);
    types.push_back({dtype_of([shaped dataType]), shape_or_unranked([shaped shape])});
  }
  if (operands.empty() || types.empty()) {
    raise_invalid(@"[callSymbolName] There are %zu inputs and %zu output types, but a call has some of both.",
                  operands.size(), types.size());
  }
  const GraphRef& facade = graph_of(self);
  facade->graph.name = text_of(name);
  const std::string symbol = text_of(symbolName);
  ir::Op* op = nullptr;
  build([&] { op = runtime::add_call(facade->graph, symbol, operands, types); });
  return [operation_of(facade, op) outputTensors];
}

@end

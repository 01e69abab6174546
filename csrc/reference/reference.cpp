#include "reference/reference.h"

namespace alloy::reference {

template <class N>
Function<N> function_of(OpCode code) {
  for (const auto family : {elementwise<N>, reduction<N>, moving<N>, order<N>}) {
    if (Function<N> function = family(code)) return function;
  }
  if constexpr (std::is_same_v<N, double>) {
    for (const auto family : {matrices, softmax, windows, recurrent, optimizer, random}) {
      if (Function<N> function = family(code)) return function;
    }
  }
  return nullptr;
}
template Function<double> function_of(OpCode);
template Function<int32_t> function_of(OpCode);
template Function<int64_t> function_of(OpCode);
template Function<uint64_t> function_of(OpCode);

bool only_moves(const Op& op) {
  const bool combines = op.attributes.has(Attr::kMode) && op.attributes.word(Attr::kMode) != "set";
  return op.info().facts.every_type && !combines;
}

DType computed_by(const Op& op) {
  switch (op.code) {
    case OpCode::select: return op.operands[1].dtype();
    case OpCode::random: return DType::float32;
    default: return op.operands.empty() ? DType::float32 : op.operands[0].dtype();
  }
}

namespace {

// Rounds a number to the type; floats are not rounded.
template <class N>
double in_type(DType dtype, N number) {
  if (kind(dtype) == DTypeKind::kFloating) return static_cast<double>(number);
  return with_element(dtype, [&]<class T>(T) { return static_cast<double>(element<T>(number)); });
}

}  // namespace

bool has_function(const Op& op) {
  return with_number(computed_by(op), [&]<class N>(N) { return function_of<N>(op.code) != nullptr; });
}

std::vector<Array> compute(const Op& op, const std::vector<Array>& operands) {
  return with_number(computed_by(op), [&]<class N>(N) {
    Arrays<N> in;
    for (const Array& operand : operands) {
      Numbers<N> numbers;
      numbers.dims = operand.dims;
      for (double v : operand.values) numbers.values.push_back(operand_number<N>(op, in.size(), v));
      in.push_back(std::move(numbers));
    }
    std::vector<Array> out;
    for (const Numbers<N>& result : function_of<N>(op.code)(op, in)) {
      Array array(result.dims);
      for (size_t i = 0; i < result.size(); ++i) {
        array.values[i] = in_type(op.results[out.size()].dtype, result.values[i]);
      }
      out.push_back(std::move(array));
    }
    return out;
  });
}

}  // namespace alloy::reference

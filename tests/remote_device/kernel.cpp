#include "kernel.h"

#include <bit>
#include <cfloat>
#include <cmath>
#include <cstring>
#include <random>

#include "ir/rules/random_state.h"
#include "reference/reference.h"

namespace alloy::remote {
namespace {

using ir::DType;
using ir::Op;
using ir::OpCode;
using reference::Bool;
using reference::Numbers;

// Denormals count as zero.
float without_denormals(float element) { return std::fabs(element) < FLT_MIN ? std::copysign(0.0F, element) : element; }

// Rounds to the 10 bits of TF32's mantissa.
float to_tf32(float element) {
  if (!std::isfinite(element)) return element;
  const auto bits = std::bit_cast<uint32_t>(element);
  return std::bit_cast<float>((bits + 0xfff + (bits >> 13 & 1)) & ~0x1fffu);
}

// The type to read and write elements as: integers of their size if an op only moves bits.
DType stored_as(DType dtype, bool as_bits) {
  const bool is_whole = kind(dtype) != ir::DTypeKind::kFloating && kind(dtype) != ir::DTypeKind::kComplex;
  if (!as_bits || is_whole) return dtype;
  return size_of(dtype) == 2 ? DType::uint16 : size_of(dtype) == 4 ? DType::uint32 : DType::uint64;
}

template <class N>
std::vector<N> read(const Op& op, size_t operand, const std::byte* from, bool as_bits) {
  std::vector<N> numbers(reference::count_of(op.operands[operand].shape().dims()));
  const bool rounds = op.info().facts.products && op.attributes.has(ir::Attr::kPrecision);
  reference::with_element(stored_as(op.operands[operand].dtype(), as_bits), [&]<class T>(T) {
    const T* const elements = reinterpret_cast<const T*>(from);
    for (size_t i = 0; i < numbers.size(); ++i) {
      if constexpr (std::is_same_v<T, float>) {
        const float element = without_denormals(elements[i]);
        numbers[i] = reference::operand_number<N>(op, operand, rounds ? to_tf32(element) : element);
      } else if constexpr (std::is_same_v<T, Bool>) {
        numbers[i] = elements[i] != Bool{0};
      } else if constexpr (std::is_integral_v<T>) {
        numbers[i] = reference::operand_number<N>(op, operand, elements[i]);
      } else {
        numbers[i] = reference::operand_number<N>(op, operand, static_cast<float>(elements[i]));
      }
    }
  });
  return numbers;
}

template <class N>
void write(const std::vector<N>& numbers, DType dtype, std::byte* to) {
  reference::with_element(dtype, [&]<class T>(T) {
    T* const elements = reinterpret_cast<T*>(to);
    for (size_t i = 0; i < numbers.size(); ++i) {
      elements[i] = reference::element<T>(numbers[i]);
      if constexpr (std::is_same_v<T, float>) elements[i] = without_denormals(elements[i]);
    }
  });
}

template <class N>
Computation by_numbers(const Op& op, bool as_bits) {
  const reference::Function<N> function = reference::function_of<N>(op.code);
  if (function == nullptr) return nullptr;
  return [&op, function, as_bits](const std::byte* const* operands, std::byte* const* results) {
    reference::Arrays<N> in;
    for (size_t i = 0; i < op.operands.size(); ++i) {
      Numbers<N> x;
      x.dims = op.operands[i].shape().dims();
      if (op.info().reads(i)) x.values = read<N>(op, i, operands[i], as_bits);
      in.push_back(std::move(x));
    }
    const reference::Arrays<N> out = function(op, in);
    for (size_t i = 0; i < out.size(); ++i) write(out[i].values, stored_as(op.results[i].dtype, as_bits), results[i]);
  };
}

Computation copy(const Op& op) {
  return [bytes = op.results[0].byte_count()](const std::byte* const* operands, std::byte* const* results) {
    if (results[0] != operands[0]) std::memcpy(results[0], operands[0], bytes);
  };
}

void write_fresh_random_state(const std::byte* const*, std::byte* const* results) {
  const ir::RandomState state = ir::random_state(std::random_device()());
  std::memcpy(results[0], state.data(), sizeof state);
}

}  // namespace

Computation computation_of(const Op& op) {
  if (op.code == OpCode::fresh_random_state) return write_fresh_random_state;
  if (op.info().facts.renames || op.code == OpCode::bitcast) return copy(op);
  if (reference::only_moves(op)) return by_numbers<int64_t>(op, true);
  const DType dtype = reference::computed_by(op);
  if (kind(dtype) == ir::DTypeKind::kComplex) return nullptr;
  return reference::with_number(dtype, [&]<class N>(N) { return by_numbers<N>(op, false); });
}

}  // namespace alloy::remote

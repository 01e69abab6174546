// The rows of the op table, computed for one number at a time.
#pragma once

#include <string_view>
#include <type_traits>

#include "ir/op.h"
#include "reference/vocabulary.h"

namespace alloy::reference {

namespace rows {

using ir::TypeClass;

constexpr auto floating = TypeClass::floating;
constexpr auto numeric = TypeClass::numeric;
constexpr auto integer = TypeClass::integer;
constexpr auto any = TypeClass::any;
constexpr TypeClass last_of(TypeClass, TypeClass, TypeClass last) { return last; }

#define ALLOY_UNARY(name, stem, types, domain, forward, gradient, doc) \
  struct name##_row {                                                  \
    static constexpr TypeClass kTypes = types;                         \
    template <class N>                                                 \
    static auto of([[maybe_unused]] N d, N x, N, N) {                  \
      return forward;                                                  \
    }                                                                  \
  };
#define ALLOY_ACTIVATION ALLOY_UNARY
#define ALLOY_PREDICATE(name, stem, types, domain, forward, doc) ALLOY_UNARY(name, stem, types, domain, forward, , doc)
#define ALLOY_BINARY(name, stem, types, domain, forward, gradient_a, gradient_b, doc) \
  struct name##_row {                                                                 \
    static constexpr TypeClass kTypes = types;                                        \
    template <class N>                                                                \
    static auto of([[maybe_unused]] N d, N a, N b, N) {                               \
      return forward;                                                                 \
    }                                                                                 \
  };
#define ALLOY_COMPARISON(name, stem, types, domain, forward, doc) \
  ALLOY_BINARY(name, stem, types, domain, forward, , , doc)
#define ALLOY_ACTIVATION_GRADIENT(name, stem, types, forward, gradient_g, gradient_x, doc) \
  struct name##_row {                                                                      \
    static constexpr TypeClass kTypes = types;                                             \
    template <class N>                                                                     \
    static auto of([[maybe_unused]] N d, N g, N x, N) {                                    \
      return forward;                                                                      \
    }                                                                                      \
  };
#define ALLOY_TERNARY(name, types, forward, gradient_a, gradient_b, gradient_c, doc) \
  struct name##_row {                                                                \
    static constexpr TypeClass kTypes = last_of types;                               \
    template <class N>                                                               \
    static auto of([[maybe_unused]] N d, N a, N b, N c) {                            \
      return forward;                                                                \
    }                                                                                \
  };
#include "ir/ops.def"

}  // namespace rows

// True if a row of these types computes with numbers N.
template <class N>
constexpr bool is_of(ir::TypeClass types) {
  switch (types) {
    case rows::floating: return std::is_floating_point_v<N>;
    case rows::integer: return std::is_integral_v<N>;
    default: return true;
  }
}

// Calls f with the row of an elementwise op; returns Result() for other ops.
template <class Result, class F>
Result table_row(ir::OpCode code, const F& f) {
  switch (code) {
#define ALLOY_UNARY(name, ...) \
  case ir::OpCode::name: return f(rows::name##_row());
#define ALLOY_ACTIVATION ALLOY_UNARY
#define ALLOY_PREDICATE ALLOY_UNARY
#define ALLOY_BINARY ALLOY_UNARY
#define ALLOY_COMPARISON ALLOY_UNARY
#define ALLOY_ACTIVATION_GRADIENT ALLOY_UNARY
#define ALLOY_TERNARY ALLOY_UNARY
#include "ir/ops.def"
    default: return Result();
  }
}

// True if the row says that no gradient flows because the op is constant between steps.
constexpr bool is_without_gradient(ir::OpCode code) {
  switch (code) {
#define ALLOY_UNARY(name, stem, types, domain, forward, gradient, doc) \
  case ir::OpCode::name: return std::string_view(#gradient) == "none";
#define ALLOY_BINARY(name, stem, types, domain, forward, gradient_a, gradient_b, doc) \
  case ir::OpCode::name: return std::string_view(#gradient_a) == "none";
#define ALLOY_REDUCTION(name, stem, types, domain, init, combine, gradient, doc) \
  case ir::OpCode::name: return std::string_view(#gradient) == "none";
#include "ir/ops.def"
    default: return false;
  }
}

}  // namespace alloy::reference

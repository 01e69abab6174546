// Table ops except reductions, casts and optimizer steps, one or several in one function, perhaps with the op that
// leads.
#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "cuda/codegen/families.h"
#include "cuda/codegen/writer.h"

namespace alloy::cuda {
namespace {

using ir::Dims;
using ir::Family;
using ir::Op;
using ir::OpCode;
using ir::Value;

constexpr char kSteps[] = R"cuda(
// The root that sqrtf gives, and the quotient that / gives but for its last bit, rarely or of tiny numbers: b is 0 or
// from 2^-64 to 2^126. Without the branches of those, the processor computes neighbours at once.
__device__ inline float root(float x) {
  const bool is_small = x < 0x1p-96f;
  const float scaled = is_small ? x * 0x1p64f : x, reciprocal = rsqrtf(scaled), near = scaled * reciprocal;
  const float exact = fmaf(fmaf(-near, near, scaled), 0.5f * reciprocal, near);
  if (exact == exact) return is_small ? exact * 0x1p-32f : exact;
  return x < 0 ? exact : x;  // 0 and infinity are their own roots
}
__device__ inline float quotient_of(float a, float b) {
  const float reciprocal = __fdividef(1.0f, b), near = a * reciprocal;
  const float exact = fmaf(fmaf(-b, near, a), reciprocal, near);
  return exact == exact ? exact : near;  // an infinity has no remainder
}

__device__ inline void adam(float rate, float beta1, float beta2, float epsilon, float& x, float& m, float& v,
                            float& greatest, bool keeps_greatest, float g) {
  m = beta1 * m + (1 - beta1) * g;
  v = beta2 * v + (1 - beta2) * g * g;
  greatest = keeps_greatest ? fmaxf(greatest, v) : v;
  x -= quotient_of(rate * m, root(greatest) + epsilon);
}
)cuda";

// The column `forward` of the op's row.
std::string_view forward_of(OpCode code) {
  switch (code) {
#define ALLOY_UNARY(name, stem, types, domain, forward, ...) \
  case OpCode::name: return #forward;
#define ALLOY_ACTIVATION ALLOY_UNARY
#define ALLOY_PREDICATE ALLOY_UNARY
#define ALLOY_BINARY ALLOY_UNARY
#define ALLOY_COMPARISON ALLOY_UNARY
#define ALLOY_ACTIVATION_GRADIENT(name, stem, types, forward, ...) \
  case OpCode::name: return #forward;
#define ALLOY_TERNARY(name, types, forward, ...) \
  case OpCode::name: return #forward;
#include "ir/ops.def"
    default: return "";
  }
}

// The names of a family's operands in the column `forward`.
std::string_view operands_of(Family family) {
  switch (family) {
    case Family::kBinary:
    case Family::kComparison: return "ab";
    case Family::kActivationGradient: return "gx";
    case Family::kTernary: return "abc";
    default: return "x";
  }
}

}  // namespace

void Writer::read(Value v, const std::string& from) {
  if (!has(v)) line("const " + number_of(v.dtype()) + " " + name(v) + " = " + from);
}

void Writer::compute(const Op& op) {
  if (op.code == OpCode::cast) {
    line(filled("const @ @ = Cast<@>::from(@)", {number_of(op.results[0].dtype), name(op.result()),
                                                 element_of(op.results[0].dtype), name(op.operands[0])}));
  } else if (op.code == OpCode::sgd) {
    line("const float " + name(op.result()) + " = " + name(op.operands[1]) + " - " + name(op.operands[0]) + " * " +
         name(op.operands[2]));
  } else if (op.code == OpCode::adam) {
    adam(op);
  } else {
    row(op);
  }
}

void Writer::row(const Op& op) {
  const std::string_view forward = forward_of(op.code), letters = operands_of(op.info().family);
  if (forward.empty()) throw Lacking();
  // A predicate has a type of its own.
  const bool selects = op.code == OpCode::select;
  const Value typical = op.operands[selects ? 1 : 0];
  std::string given = "const " + number_of(typical.dtype()) + " d = 0";
  for (size_t i = 0; i < op.operands.size(); ++i) {
    given += "; const " + (selects && i == 0 ? "bool" : number_of(op.operands[i].dtype())) + " " + letters[i] + " = " +
             name(op.operands[i]);
    if (selects && i == 0) given += " != 0";
  }
  const Value result = op.result();
  line(number_of(result.dtype()) + " " + name(result));
  text += "    { " + given + "; (void)d; " + name(result) + " = kept<" + element_of(result.dtype()) + ">(" +
          std::string(forward) + "); }\n";
}

// Operands: rate, beta1, beta2, epsilon, values, first moment, second moment[, greatest second moment], gradient.
void Writer::adam(const Op& op) {
  const bool keeps_greatest = op.results.size() == 4;
  std::string call = "adam(";
  for (size_t i = 0; i < 4; ++i) call += name(op.operands[i]) + ", ";
  for (uint32_t i = 0; i < op.results.size(); ++i) {
    line("float " + name(op.result(i)) + " = " + name(op.operands[4 + i]));
    call += name(op.result(i)) + ", ";
  }
  if (!keeps_greatest) {
    const std::string unused = "u" + std::to_string(names_.size());
    line("float " + unused + " = 0");
    call += unused + ", ";
  }
  line(call + (keeps_greatest ? "true, " : "false, ") + name(op.operands.back()) + ")");
  libraries = {kSteps};
}

Loads::Loads(const std::vector<Import>& imports, size_t first_pointer, size_t first_number, int width) {
  std::map<std::pair<Dims, Dims>, std::string> places;  // by lengths and steps: the compiler sees what is equal
  for (const auto& [v, shape] : imports) {
    const Axes axes = joined({shape->dims(), {steps_of(v.shape().dims(), shape->dims())}});
    const Dims& steps = axes.steps[0];
    std::string& at = places[{axes.lengths, steps}];
    if (steps == steps_of(axes.lengths)) {
      at = "i";
    } else if (steps == Dims(axes.rank(), 0)) {
      at = "0";
    } else if (at.empty()) {
      const size_t first = first_number + numbers.size();
      at = filled("place<@>(i, n + @, n + @)", {std::to_string(axes.rank()), std::to_string(first),
                                                std::to_string(first + static_cast<size_t>(axes.rank()))});
      axes.append_to(numbers);
    }
    const auto load = [&](const std::string& function) {
      return filled(function + "((const @*)p[@], @)",
                    {element_of(v.dtype()), std::to_string(first_pointer + texts.size()), at});
    };
    // Of four neighbours from a multiple of four on, all lie in one row, where they are neighbours or one element.
    const auto in_fours = [](int64_t x) { return x % 4 == 0; };
    const bool has_rows = axes.rank() > 0 && in_fours(axes.lengths.back());
    const bool adjoin = has_rows && steps.back() == 1 && std::all_of(steps.begin(), steps.end() - 1, in_fours);
    reads += at != "0";
    if (width == 1) texts.push_back(load("load"));
    else if (adjoin) texts.push_back(load("load_four"));
    else if (at == "0" || (has_rows && steps.back() == 0)) texts.push_back("four_times(" + load("load") + ")");
    else texts.push_back("each_of_four([&](i64 i) { return " + load("load") + "; }, i)");
  }
}

std::vector<NumberedResult> numbered(const std::vector<Value>& results) {
  std::vector<NumberedResult> all;
  for (size_t i = 0; i < results.size(); ++i) all.push_back({results[i], i});
  return all;
}

void store(Writer& writer, const std::vector<NumberedResult>& results, size_t first_pointer,
           std::vector<Pointer>& pointers) {
  for (size_t i = 0; i < results.size(); ++i) {
    const Value v = results[i].value;
    writer.line(
        filled("store((@*)p[@], i, @)", {element_of(v.dtype()), std::to_string(first_pointer + i), writer.name(v)}));
    pointers.push_back(result(results[i].number));
  }
}

Code code_of_elementwise(const Op& op) {
  std::vector<Value> results;
  for (uint32_t i = 0; i < op.results.size(); ++i) results.push_back(op.result(i));
  return code_of_chain(op, {&op}, results);
}

}  // namespace alloy::cuda

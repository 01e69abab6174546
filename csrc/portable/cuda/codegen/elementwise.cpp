// Table ops except reductions, casts and optimizer steps, one or several in one function, perhaps with the op that
// leads.
#include <algorithm>
#include <string_view>

#include "cuda/codegen/families.h"
#include "cuda/codegen/leader.h"
#include "cuda/codegen/writer.h"

namespace alloy::cuda {
namespace {

using ir::Dims;
using ir::Family;
using ir::Op;
using ir::OpCode;
using ir::Value;

constexpr char kSteps[] = R"cuda(
__device__ inline void adam(float rate, float beta1, float beta2, float epsilon, float& x, float& m, float& v,
                            float& greatest, bool keeps_greatest, float g) {
  m = beta1 * m + (1 - beta1) * g;
  v = beta2 * v + (1 - beta2) * g * g;
  greatest = keeps_greatest ? fmaxf(greatest, v) : v;
  x -= rate * m / (sqrtf(greatest) + epsilon);
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

namespace {

// Expressions that read element i of values which broadcast to a shape. The first value is p[first_pointer]; `numbers`
// begin at n[first_number].
struct Loads {
  std::vector<std::string> texts;
  std::vector<int64_t> numbers;

  Loads(const Dims& shape, const std::vector<Value>& values, size_t first_pointer, size_t first_number) {
    Axes axes{shape, {}};
    for (const Value& v : values) axes.steps.push_back(steps_of(v.shape().dims(), shape));
    axes = joined(axes);
    numbers.insert(numbers.end(), axes.lengths.begin(), axes.lengths.end());
    const Dims packed = steps_of(axes.lengths), repeated(axes.rank(), 0);
    for (size_t i = 0; i < values.size(); ++i) {
      const Dims& steps = axes.steps[i];
      std::string at = steps == packed ? "i" : "0";
      if (steps != packed && steps != repeated) {
        at = filled("place<@>(i, n + @, n + @)", {std::to_string(axes.rank()), std::to_string(first_number),
                                                  std::to_string(first_number + numbers.size())});
        numbers.insert(numbers.end(), steps.begin(), steps.end());
      }
      texts.push_back(
          filled("load((const @*)p[@], @)", {element_of(values[i].dtype()), std::to_string(first_pointer + i), at}));
    }
  }
};

// Writes element i of the results, the first of which is p[first_pointer].
void store(Writer& writer, const std::vector<Value>& results, size_t first_pointer, std::vector<Pointer>& pointers) {
  for (size_t i = 0; i < results.size(); ++i) {
    writer.line(filled("store((@*)p[@], i, @)",
                       {element_of(results[i].dtype()), std::to_string(first_pointer + i), writer.name(results[i])}));
    pointers.push_back(result(i));
  }
}

// One function for all ops, whose results have one shape. `imports` are the values from outside.
Code chain(const std::vector<const Op*>& ops, const std::vector<Value>& imports, const std::vector<Value>& results) {
  const Dims& shape = results[0].shape().dims();
  const int64_t count = count_of(shape);
  const Loads loads(shape, imports, 0, 1);
  Launch launch = launch_for(count, {}, "", {}, {count});
  launch.numbers.insert(launch.numbers.end(), loads.numbers.begin(), loads.numbers.end());
  Writer writer;
  for (size_t i = 0; i < imports.size(); ++i) {
    writer.read(imports[i], loads.texts[i]);
    launch.pointers.push_back(operand(i));
  }
  for (const Op* op : ops) writer.compute(*op);
  store(writer, results, imports.size(), launch.pointers);
  launch.libraries = writer.libraries;
  launch.body = "  for (i64 i = first_index(); i < n[0]; i += index_step()) {\n" + writer.text + "  }\n";
  Code code;
  if (count > 0) code.launches.push_back(std::move(launch));
  // Each element is read before it is written, by the same thread.
  code.in_place = true;
  return code;
}

size_t number_of_operand(const Op& op, Value v) {
  return static_cast<size_t>(std::find(op.operands.begin(), op.operands.end(), v) - op.operands.begin());
}

// An op that leads, perhaps a reshape of it, and ops that compute each element of their results from an element of it.
Code led(const Op& fused, const Op& leader) {
  const std::vector<Value>& results = fused.regions[0]->results;
  Writer writer;
  writer.read(leader.result(), "kept<" + element_of(leader.results[0].dtype) + ">(x)");
  std::vector<const Op*> ops;
  std::vector<Value> imports;
  for (const auto& op : fused.regions[0]->ops) {
    if (op.get() == &leader) continue;
    if (op->info().facts.renames) {
      writer.rename(op->result(), op->operands[0]);
      continue;
    }
    ops.push_back(op.get());
    for (const Value& v : op->operands) {
      const bool is_outside = number_of_operand(fused, v) < fused.operands.size();
      if (is_outside && std::find(imports.begin(), imports.end(), v) == imports.end()) imports.push_back(v);
    }
  }
  std::string members;
  for (const Value& v : imports) {
    const std::string name = writer.name(v), number = number_of(v.dtype());
    members += " " + number + " " + name + ";";
    writer.line("const " + number + " " + name + " = r." + name);
  }
  for (const Op* op : ops) writer.compute(*op);
  Code code = code_of_leader(leader, [&](size_t pointers, size_t numbers) {
    const Loads loads(ops[0]->results[0].shape.dims(), imports, pointers, numbers);
    Finish finish{writer.libraries, "", "", {}, loads.numbers};
    std::string values;
    for (size_t i = 0; i < imports.size(); ++i) {
      values += (i > 0 ? ", " : "") + loads.texts[i];
      finish.pointers.push_back(operand(leader.operands.size() + i));
    }
    Writer stores = writer;
    store(stores, results, pointers + imports.size(), finish.pointers);
    finish.read = "[&](i64 i) { struct Read {" + members + " }; return Read{" + values + "}; }";
    finish.write = "[&](i64 i, const auto& r, " + number_of(leader.results[0].dtype) + " x) {\n" + stores.text + "  }";
    return finish;
  });
  std::vector<size_t> operands;  // of the fused op, behind one another those of the leader and the imports
  for (const Value& v : leader.operands) operands.push_back(number_of_operand(fused, v));
  code.in_place = true;
  code.lasting = operands;  // all elements of the leader need these
  for (const Value& v : imports) operands.push_back(number_of_operand(fused, v));
  for (Launch& launch : code.launches) {
    for (Pointer& pointer : launch.pointers) {
      if (pointer.kind == Pointer::Kind::kOperand) pointer.index = operands[pointer.index];
    }
  }
  return code;
}

}  // namespace

Code code_of_elementwise(const Op& op) {
  std::vector<Value> results;
  for (uint32_t i = 0; i < op.results.size(); ++i) results.push_back(op.result(i));
  return chain({&op}, op.operands, results);
}

Code code_of_fused(const Op& op) {
  std::vector<const Op*> ops;
  for (const auto& inner : op.regions[0]->ops) {
    if (leads(*inner)) return led(op, *inner);
    ops.push_back(inner.get());
  }
  if (has_rows(op)) return code_of_rows(op);
  return chain(ops, op.operands, op.regions[0]->results);
}

}  // namespace alloy::cuda

// Chains of elementwise ops and optimizer steps: alone, or as `fused` ops, perhaps with rows (rows.cpp), or behind an
// op that leads, or around reductions along other axes than the last.
#include <algorithm>

#include "cuda/codegen/families.h"
#include "cuda/codegen/leader.h"
#include "cuda/codegen/writer.h"

namespace alloy::cuda {
namespace {

using ir::Op;
using ir::Shape;
using ir::Value;

size_t number_of_operand(const Op& op, Value v) {
  return static_cast<size_t>(std::find(op.operands.begin(), op.operands.end(), v) - op.operands.begin());
}

// Ops that compute an element of values of one shape, and the values from outside that they read.
struct Chain {
  const Op& fused;
  std::vector<const Op*> ops;
  std::vector<Import> imports;

  void add(const Op& op) { add(op, op.results[0].shape); }
  void add(const Op& op, const Shape& shape) {
    ops.push_back(&op);
    for (const Value& v : op.operands) read(v, shape);
  }
  void read(Value v, const Shape& shape) {
    const auto is_it = [&](const Import& import) { return import.value == v; };
    if (number_of_operand(fused, v) == fused.operands.size() || std::any_of(imports.begin(), imports.end(), is_it))
      return;
    imports.push_back({v, &shape});
  }
  std::vector<Pointer> pointers() const {
    std::vector<Pointer> all;
    for (const Import& import : imports) all.push_back(operand(number_of_operand(fused, import.value)));
    return all;
  }
};

// Writes the results of element e of four to variables, and returns their declarations.
std::string store_fours(Writer& writer, const std::vector<NumberedResult>& results, std::vector<Pointer>& pointers) {
  std::string declarations;
  for (size_t i = 0; i < results.size(); ++i) {
    const std::string all = "all" + std::to_string(i);
    declarations += "    Four<" + number_of(results[i].value.dtype()) + "> " + all + ";\n";
    writer.line(all + ".x[e] = " + writer.name(results[i].value));
    pointers.push_back(result(results[i].number));
  }
  return declarations;
}

// The statements that store these variables behind p[first_pointer].
std::string stores_of_fours(const std::vector<NumberedResult>& results, size_t first_pointer) {
  std::string text;
  for (size_t i = 0; i < results.size(); ++i) {
    text += filled("    store_four((@*)p[@], i, all@);\n",
                   {element_of(results[i].value.dtype()), std::to_string(first_pointer + i), std::to_string(i)});
  }
  return text;
}

// What becomes of an element x of this type, or of several of them, for which the writer has variables; of none if
// there is no type.
Maker finish_of(Writer writer, const Chain& chain, const std::string& type,
                const std::vector<NumberedResult>& results) {
  std::string members, fours, parts;
  for (const Import& import : chain.imports) {
    const std::string name = writer.name(import.value), number = number_of(import.value.dtype());
    members += " " + number + " " + name + ";";
    fours += " Four<" + number + "> " + name + ";";
    parts += (parts.empty() ? "rs." : ", rs.") + name + ".x[e]";
    writer.line("const " + number + " " + name + " = read_now(r." + name + ")");
  }
  for (const Op* op : chain.ops) writer.compute(*op);
  return [=](size_t pointers, size_t numbers, int width) {
    const Loads loads(chain.imports, pointers, numbers, width);
    Functions functions{writer.libraries, "", chain.pointers(), loads.numbers, loads.reads};
    std::string values;
    for (const std::string& load : loads.texts) values += (values.empty() ? "" : ", ") + load;
    functions.text = "[&](i64 i) { struct Read {" + (width == 1 ? members : fours) + " }; return Read{" + values +
                     "}; }, [&](i64 i, const auto& ";
    Writer stores = writer;
    const size_t first = pointers + chain.imports.size();
    if (width == 1) {
      store(stores, results, first, functions.pointers);
      functions.text += "r" + (type.empty() ? "" : ", " + type + " x") + ") {\n" + stores.text + "  }";
    } else {
      const std::string declarations = store_fours(stores, results, functions.pointers);
      functions.text += "rs" + (type.empty() ? "" : ", const Four<" + type + ">& xs") + ") {\n    struct Read {" +
                        members + " };\n" + declarations + "#pragma unroll\n    for (int e = 0; e < 4; ++e) {\n" +
                        (type.empty() ? "" : "    const " + type + " x = xs.x[e];\n") + "    const Read r{" + parts +
                        "};\n" + stores.text + "    }\n" + stores_of_fours(results, first) + "  }";
    }
    return functions;
  };
}

// An op that leads, perhaps a reshape of it, and ops that compute each element of their results from an element of it.
Code led(const Op& fused, const Op& leader) {
  Writer writer;
  writer.read(leader.result(), "kept<" + element_of(leader.results[0].dtype) + ">(x)");
  Chain chain{fused, {}, {}};
  for (const auto& op : fused.regions[0]->ops) {
    if (op.get() == &leader) continue;
    if (op->info().facts.renames) writer.rename(op->result(), op->operands[0]);
    else chain.add(*op);
  }
  // The leader's operands and those of the others have numbers behind one another, until all are known.
  const size_t own = leader.operands.size();
  const Maker finish =
      finish_of(writer, chain, number_of(leader.results[0].dtype), numbered(fused.regions[0]->results));
  Code code = code_of_leader(leader, [&](size_t pointers, size_t numbers, int width) {
    Functions functions = finish(pointers, numbers, width);
    for (Pointer& pointer : functions.pointers) {
      if (pointer.kind == Pointer::Kind::kOperand) pointer.index += own;
    }
    return functions;
  });
  code.in_place = true;
  for (const Value& v : leader.operands) code.lasting.push_back(number_of_operand(fused, v));
  for (Launch& launch : code.launches) {
    for (Pointer& pointer : launch.pointers) {
      if (pointer.kind != Pointer::Kind::kOperand) continue;
      pointer.index = pointer.index < own ? code.lasting[pointer.index] : pointer.index - own;
    }
  }
  return code;
}

// Reductions along the same axes, with ops that compute their operands and others that use their results.
Code gathered(const Op& fused, const std::vector<const Op*>& reductions) {
  const Shape& shape = reductions[0]->operands[0].shape();
  const auto is_whole = [&](Value v) { return v.shape().element_count() == shape.element_count(); };
  Chain before{fused, {}, {}}, behind{fused, {}, {}};
  Writer source, writer;
  for (size_t i = 0; i < reductions.size(); ++i) {
    writer.read(reductions[i]->result(), "x.x" + std::to_string(i));
  }
  for (const auto& op : fused.regions[0]->ops) {
    if (std::find(reductions.begin(), reductions.end(), op.get()) != reductions.end()) {
      before.read(op->operands[0], shape);
    } else if (op->info().facts.renames) {
      writer.rename(op->result(), op->operands[0]);
    } else {
      (is_whole(op->result()) ? before : behind).add(*op);
    }
  }
  std::vector<NumberedResult> whole, others;
  for (const NumberedResult& result : numbered(fused.regions[0]->results)) {
    (is_whole(result.value) ? whole : others).push_back(result);
  }
  const Maker make_source = [&](size_t pointers, size_t numbers, int) {
    const Loads loads(before.imports, pointers, numbers);
    Functions functions{{}, "", before.pointers(), loads.numbers};
    for (size_t i = 0; i < before.imports.size(); ++i) source.read(before.imports[i].value, loads.texts[i]);
    for (const Op* op : before.ops) source.compute(*op);
    store(source, whole, pointers + before.imports.size(), functions.pointers);
    functions.libraries = source.libraries;
    std::string terms;
    for (const Op* op : reductions) terms += (terms.empty() ? "" : ", ") + source.name(op->operands[0]);
    functions.text = "[&](i64 i) {\n" + source.text + "    return Fold::Number{" + terms + "};\n  }";
    return functions;
  };
  Code code = code_of_reductions(reductions, make_source, finish_of(writer, behind, "const Fold::Number&", others));
  code.in_place = true;
  // Several elements need a value that broadcasts, and a variance reads its first element again.
  const bool reads_again =
      std::any_of(reductions.begin(), reductions.end(), [](const Op* op) { return op->code == ir::OpCode::variance; });
  for (const Import& import : before.imports) {
    if (reads_again || import.value.shape() != shape) code.lasting.push_back(number_of_operand(fused, import.value));
  }
  return code;
}

constexpr char kChain[] = R"cuda(
// A thread computes an element, or several neighbours, at a time.
template <int WIDTH, class Read, class Write>
__device__ inline void compute_each(i64 count, const Read& read, const Write& write) {
  for (i64 i = WIDTH * first_index(); i < count; i += WIDTH * index_step()) write(i, read(i));
}
)cuda";

}  // namespace

Code code_of_chain(const Op& op, const std::vector<const Op*>& ops, const std::vector<Value>& results) {
  Chain chain{op, {}, {}};
  const Shape& shape = results[0].shape();
  for (const Op* one : ops) chain.add(*one, shape);
  // Fewer elements keep more threads busy one by one.
  constexpr int64_t kFewestInFours = 1 << 17;
  const int64_t count = shape.element_count();
  const int width = count % 4 == 0 && count >= kFewestInFours ? 4 : 1;
  Code code;
  code.in_place = true;  // each element is read before it is written, by the same thread
  if (count == 0) return code;
  Launch launch = launch_for(count / width, {kChain}, "", {}, {count});
  launch.body = filled("  compute_each<@>(n[0], @);\n",
                       {std::to_string(width), add(launch, finish_of({}, chain, "", numbered(results)), width)});
  code.launches.push_back(std::move(launch));
  return code;
}

Code code_of_fused(const Op& op) {
  std::vector<const Op*> ops, leaders;
  for (const auto& inner : op.regions[0]->ops) {
    ops.push_back(inner.get());
    if (leads(*inner)) leaders.push_back(inner.get());
  }
  if (!leaders.empty()) {
    const std::vector<Value>& operands = leaders[0]->operands;
    const bool is_fed = number_of_operand(op, operands[0]) == op.operands.size();
    return is_fed || leaders.size() > 1 ? gathered(op, leaders) : led(op, *leaders[0]);
  }
  if (has_rows(op)) return code_of_rows(op);
  return code_of_chain(op, ops, op.regions[0]->results);
}

}  // namespace alloy::cuda

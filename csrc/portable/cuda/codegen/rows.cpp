// `fused` ops with values for each row of their shape, such as reductions along the last axis and what is computed from
// them. A block computes a row, and its threads keep their elements of all values in registers.
#include <algorithm>
#include <bit>

#include "cuda/codegen/families.h"
#include "cuda/codegen/writer.h"

namespace alloy::cuda {
namespace {

using ir::Dims;
using ir::Family;
using ir::Op;
using ir::OpCode;
using ir::Shape;
using ir::Value;

bool is_fold(const Op& op) { return op.info().family == Family::kReduction || op.info().family == Family::kMoment; }

// The shape of the values with an element for each element of a row.
const Shape& whole_shape(const Op& fused) {
  const Shape* shape = nullptr;
  for (const auto& op : fused.regions[0]->ops) {
    const Shape& own = is_fold(*op) ? op->operands[0].shape() : op->results[0].shape;
    if (shape == nullptr || own.element_count() > shape->element_count()) shape = &own;
  }
  return *shape;
}

// A loop over the thread's elements of the row.
std::string for_elements(const std::string& statements) {
  return "#pragma unroll\n    for (int k = 0; k < kCount; ++k) {\n" + statements + "    }\n";
}

class RowsWriter {
 public:
  explicit RowsWriter(const Op& fused) : fused_(fused), shape_(whole_shape(fused)) {
    const Dims& dims = shape_.dims();
    length_ = dims.back();
    rows_ = shape_.element_count() / length_;
    launch_.numbers = {rows_, length_};
    launch_.threads = length_ <= 32 ? 32 : length_ <= 64 ? 64 : length_ <= 128 ? 128 : 256;
    launch_.blocks = static_cast<unsigned>(std::min<int64_t>(rows_, 1 << 16));
  }

  Code code() {
    const std::vector<Value>& results = fused_.regions[0]->results;
    for (size_t i = 0; i < fused_.operands.size(); ++i) read(i);
    for (const auto& op : fused_.regions[0]->ops) compute(*op);
    bool writes_rows = false;
    for (size_t i = 0; i < results.size(); ++i) {
      const std::string to =
          "(" + element_of(results[i].dtype()) + "*)p[" + std::to_string(launch_.pointers.size()) + "]";
      launch_.pointers.push_back(result(i));
      if (is_whole(results[i])) {
        writer_.text += for_elements("      if (at(k) < n[1]) store(" + to + ", row * n[1] + at(k), " +
                                     array(results[i]) + "[k]);\n");
      } else {
        writer_.text += "    if (threadIdx.x == 0) store(" + to + ", row, " + writer_.name(results[i]) + ");\n";
        writes_rows = true;
      }
    }
    const auto count = std::bit_ceil(static_cast<uint64_t>((length_ + launch_.threads - 1) / launch_.threads));
    launch_.body = "  const int kCount = " + std::to_string(count) + ";\n" +
                   (folds_ ? "  __shared__ __align__(16) char shared[256 * 8];\n" : "") +
                   "  const auto at = [](int k) { return (i64)(threadIdx.x + k * blockDim.x); };\n"
                   "  for (i64 row = blockIdx.x; row < n[0]; row += gridDim.x) {\n" +
                   writer_.text + "  }\n";
    launch_.libraries = writer_.libraries;
    Code code;
    code.launches.push_back(std::move(launch_));
    // All threads read a row's values.
    code.in_place = !writes_rows;
    return code;
  }

 private:
  bool is_whole(Value v) const { return v.shape() == shape_; }
  // The values of a thread's elements.
  std::string array(Value v) { return "all_" + writer_.name(v); }

  void read(size_t i) {
    const Value v = fused_.operands[i];
    if (writer_.has(v)) {
      launch_.pointers.push_back(operand(i));
      return;
    }
    const Dims &dims = shape_.dims(), steps = steps_of(v.shape().dims(), dims);
    const bool is_one_for_row = steps.back() == 0;
    const int64_t rank = is_one_for_row ? dims.size() - 1 : dims.size();
    const Axes axes = joined({Dims(dims.begin(), dims.begin() + rank), {Dims(steps.begin(), steps.begin() + rank)}});
    const std::string index = is_one_for_row ? "row" : "row * n[1] + at(k)";
    std::string place = axes.steps[0] == steps_of(axes.lengths) ? index : "0";
    if (place == "0" && axes.steps[0] != Dims(axes.rank(), 0)) {
      const size_t first = launch_.numbers.size();
      place = filled("place<@>(@, n + @, n + @)", {std::to_string(axes.rank()), index, std::to_string(first),
                                                   std::to_string(first + static_cast<size_t>(axes.rank()))});
      axes.append_to(launch_.numbers);
    }
    const std::string load = filled("load((const @*)p[@], @)", {element_of(v.dtype()), std::to_string(i), place});
    launch_.pointers.push_back(operand(i));
    if (is_one_for_row) {
      writer_.read(v, load);
    } else {
      writer_.line(number_of(v.dtype()) + " " + array(v) + "[kCount]");
      writer_.text += for_elements("      " + array(v) + "[k] = at(k) < n[1] ? " + load + " : 0;\n");
    }
    whole_.emplace(v, !is_one_for_row);
  }

  // True if a thread has an array of the value's elements.
  bool has_array(Value v) const {
    const auto found = whole_.find(v);
    return found == whole_.end() ? is_whole(v) : found->second;
  }

  void compute(const Op& op) {
    if (is_fold(op)) return fold(op);
    if (!is_whole(op.result())) return writer_.compute(op);
    Writer inside = writer_;
    inside.text.clear();
    for (const Value& v : op.operands) {
      if (has_array(v))
        inside.line("  const " + number_of(v.dtype()) + " " + inside.name(v) + " = " + array(v) + "[k]");
    }
    // An operand that an op has twice has one variable.
    inside.text = without_repeated_lines(inside.text);
    inside.compute(op);
    for (uint32_t i = 0; i < op.results.size(); ++i) {
      const Value v = op.result(i);
      writer_.line(number_of(v.dtype()) + " " + array(v) + "[kCount]");
      inside.line("  all_" + inside.name(v) + "[k] = " + inside.name(v));
    }
    writer_.text += for_elements(inside.text);
    for (const char* library : inside.libraries) writer_.libraries = {library};
  }

  static std::string without_repeated_lines(const std::string& text) {
    std::string kept;
    for (size_t begin = 0; begin < text.size();) {
      const size_t end = text.find('\n', begin) + 1;
      const std::string line = text.substr(begin, end - begin);
      if (kept.find(line) == std::string::npos) kept += line;
      begin = end;
    }
    return kept;
  }

  // The number of a fold of the row: `term` is what element k adds.
  std::string folded(const Folding& folding, const std::string& name, const std::string& term) {
    const std::string merge = filled("[](@ a, @ b) { const @ d = 0; (void)d; return (@)(@); }",
                                     {folding.all, folding.all, folding.all, folding.all, folding.combine});
    writer_.line(folding.all + " " + name + "; { const " + folding.all + " d = 0; (void)d; " + name + " = " +
                 folding.init + "; }");
    writer_.text += for_elements("      if (at(k) < n[1]) " + name + " = (" + merge + ")(" + name + ", (" +
                                 folding.all + ")(" + term + "));\n");
    writer_.line(name + " = merged_in_block(" + name + ", (" + folding.all + "*)shared, " + merge + ")");
    return name;
  }

  void fold(const Op& op) {
    folds_ = true;
    const Value x = op.operands[0];
    const std::string own = writer_.name(op.result()), term = array(x) + "[k]";
    if (op.info().family == Family::kReduction) {
      const std::string all = folded(folding_of(op), "fold_" + own, term);
      writer_.line("const " + number_of(x.dtype()) + " " + own + " = (" + number_of(x.dtype()) + ")" + all);
      return;
    }
    const Folding sum{"0", "a + b", "double"};
    std::string moment = folded(sum, "sum_" + own, term) + " / n[1]";
    if (op.code == OpCode::variance) {
      writer_.line("const double mean_" + own + " = " + moment);
      const std::string distance = "(" + term + " - mean_" + own + ")";
      moment = folded(sum, "squares_" + own, distance + " * " + distance) + " / n[1]";
    }
    writer_.line("const float " + own + " = (float)(" + moment + ")");
  }

  const Op& fused_;
  const Shape& shape_;
  int64_t length_, rows_;
  Launch launch_;
  Writer writer_;
  ir::ValueMap<bool> whole_;  // of the operands
  bool folds_ = false;
};

}  // namespace

bool has_rows(const Op& fused) {
  const Shape& shape = whole_shape(fused);
  return std::any_of(fused.regions[0]->ops.begin(), fused.regions[0]->ops.end(),
                     [&](const auto& op) { return is_fold(*op) || op->results[0].shape != shape; });
}

Code code_of_rows(const Op& fused) {
  if (whole_shape(fused).element_count() == 0) return {};
  return RowsWriter(fused).code();
}

}  // namespace alloy::cuda

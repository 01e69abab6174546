// `fused` ops with values for each row of their shape, such as reductions and softmax along the last axis and what is
// computed from them. A block, or for a short row a warp or half of one, computes a row, and its threads keep their
// elements of all values in registers.
#include <algorithm>
#include <bit>
#include <unordered_set>

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

// The longest rows.
constexpr int64_t kMostInRow = 2048;
// The longest rows that half a warp, or a warp computes.
constexpr int64_t kMostOfHalf = 16, kMostOfWarp = 128;

constexpr char kRows[] = R"cuda(
// THREADS neighbouring threads compute a row: a half or a whole warp, or a block of 256. The first BUSY of them have
// elements. All threads of a warp take part while one of them has a row.
template <int THREADS, int BUSY>
struct RowThreads {
  static const int kThreads = THREADS, kAtOnce = 256 / THREADS;  // rows of a block
  static const int kOfWarp = THREADS < 32 ? 32 / THREADS : 1;
  __device__ static int thread() { return threadIdx.x % THREADS; }
  __device__ static i64 first_row() { return (i64)blockIdx.x * kAtOnce + threadIdx.x / THREADS; }
  __device__ static i64 row_step() { return (i64)gridDim.x * kAtOnce; }
  template <class A, class Merge>
  __device__ static A merged(A own, const Merge& merge) {
    if (THREADS > 32) return merged_in_block(own, (A*)shared_memory<256 * 8>(), merge);
    // A merge of two values is that of the same two in the other order.
#pragma unroll
    for (int by = BUSY / 2; by > 0; by /= 2) own = merge(own, from_partner(own, by));
    return BUSY == THREADS ? own : from_first<THREADS>(own);
  }
};
)cuda";

constexpr char kRowSoftmax[] = R"cuda(
struct Peak { float value; int at; };

// What the softmax of a row needs, of which a thread has COUNT elements. The greatest element adds 1 to the sum of
// exponentials: that is kept apart, because it would hide a small sum of the others.
template <class Threads, int COUNT>
struct RowSoftmax {
  float greatest;
  double others;

  template <class At>
  __device__ RowSoftmax(const float (&x)[COUNT], i64 length, const At& place) {
    Peak own = {0, -1};
#pragma unroll
    for (int k = 0; k < COUNT; ++k) {
      const int at = (int)place(k);
      if (at < length && x[k] == x[k] && (own.at < 0 || x[k] > own.value)) own = Peak{x[k], at};
    }
    const Peak all = Threads::merged(own, [](Peak a, Peak b) {
      const bool is_greater = (b.value > a.value) | ((b.value == a.value) & (b.at < a.at));
      const bool is_b = (b.at >= 0) & ((a.at < 0) | is_greater);
      return Peak{is_b ? b.value : a.value, is_b ? b.at : a.at};
    });
    greatest = all.value;
    double sum = 0;
#pragma unroll
    for (int k = 0; k < COUNT; ++k) {
      const int at = (int)place(k);
      if (at < length && at != all.at) sum += expf(x[k] - greatest);
    }
    others = Threads::merged(sum, [](double a, double b) { return a + b; });
  }
};
)cuda";

bool is_softmax(const Op& op) {
  return op.code == OpCode::softmax || op.code == OpCode::log_softmax || op.code == OpCode::softmax_cross_entropy;
}

bool is_fold(const Op& op) {
  return op.info().family == Family::kReduction || op.info().family == Family::kMoment || is_softmax(op);
}

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
    threads_ = length_ <= kMostOfHalf ? 16 : length_ <= kMostOfWarp ? 32 : 256;
    launch_.blocks = blocks_for(rows_ * threads_);
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
        writer_.text += for_elements("      if (is_there && at(k) < n[1]) store(" + to + ", row * n[1] + at(k), " +
                                     array(results[i]) + "[k]);\n");
      } else {
        writer_.text +=
            "    if (is_there && Threads::thread() == 0) store(" + to + ", row, " + writer_.name(results[i]) + ");\n";
        writes_rows = true;
      }
    }
    const auto count = std::bit_ceil(static_cast<uint64_t>((length_ + threads_ - 1) / threads_));
    const auto busy = std::bit_ceil(static_cast<uint64_t>(std::min(length_, threads_)));
    launch_.body = filled(
        "  typedef RowThreads<@, @> Threads;\n"
        "  const int kCount = @;\n"
        "  const auto at = [](int k) { return (i64)(Threads::thread() + k * Threads::kThreads); };\n"
        "  for (i64 own = Threads::first_row(); own - own % Threads::kOfWarp < n[0]; own += Threads::row_step()) {\n"
        "    const bool is_there = own < n[0];\n"
        "    const i64 row = is_there ? own : n[0] - 1;\n@  }\n",
        {std::to_string(threads_), std::to_string(busy), std::to_string(count), writer_.text});
    launch_.libraries = writer_.libraries;
    launch_.libraries.push_back(kRows);
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
    for (const char* library : inside.libraries) add_library(library);
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
    writer_.line(name + " = Threads::merged(" + name + ", " + merge + ")");
    return name;
  }

  void add_library(const char* library) {
    std::vector<const char*>& all = writer_.libraries;
    if (std::find(all.begin(), all.end(), library) == all.end()) all.push_back(library);
  }

  void softmax(const Op& op) {
    const Value x = op.operands[0];
    const std::string own = writer_.name(op.result()), row = "softmax_" + writer_.name(x);
    add_library(kRowSoftmax);
    if (softmaxes_.insert(x).second)
      writer_.line("const RowSoftmax<Threads, kCount> " + row + "(" + array(x) + ", n[1], at)");
    // The logarithm and the quotient of the sum are exact enough as floats, and take much less time.
    const std::string distance = array(x) + "[k] - " + row + ".greatest";
    if (op.code == OpCode::softmax_cross_entropy) {
      const std::string label = array(op.operands[1]) + "[k]", sum = "log_sum_" + own;
      writer_.line("const float " + sum + " = log1pf((float)" + row + ".others)");
      const std::string term = label + " == 0 ? 0 : -" + label + " * ((double)(" + distance + ") - " + sum + ")";
      writer_.line("const float " + own + " = (float)" + folded({"0", "a + b", "double"}, "loss_" + own, term));
      return;
    }
    const bool is_log = op.code == OpCode::log_softmax;
    writer_.line("const float factor_" + own + " = " +
                 (is_log ? "log1pf((float)" + row + ".others)" : "1 / (1 + (float)" + row + ".others)"));
    writer_.line("float " + array(op.result()) + "[kCount]");
    writer_.text +=
        for_elements("      " + array(op.result()) + "[k] = " +
                     (is_log ? distance + " - factor_" + own : "expf(" + distance + ") * factor_" + own) + ";\n");
  }

  void fold(const Op& op) {
    if (is_softmax(op)) return softmax(op);
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
  int64_t length_, rows_, threads_;
  Launch launch_;
  Writer writer_;
  ir::ValueMap<bool> whole_;                            // of the operands
  std::unordered_set<Value, ir::ValueHash> softmaxes_;  // whose rows are known
};

}  // namespace

bool folds(const Op& op) {
  const Shape& shape = op.operands.empty() ? op.results[0].shape : op.operands[0].shape();
  if (!is_fold(op) || op.operands[0].dtype() != ir::DType::float32 || !takes_rows(shape)) return false;
  if (!is_softmax(op)) return op.results[0].shape == ir::shape_of_rows(shape);
  const bool is_one = op.code == OpCode::softmax_cross_entropy && op.attributes.word(ir::Attr::kReduction) != "none";
  return axis_of(op) == shape.rank() - 1 && !is_one;
}

bool takes_rows(const Shape& shape) {
  if (shape.rank() == 0 || shape.element_count() == 0) return false;
  // A block of a short row has idle threads, which only matters where there are many.
  constexpr int64_t kFewestInRow = 32, kMostShortRows = 1 << 14;
  const int64_t length = shape.dims().back(), rows = shape.element_count() / length;
  return length > 1 && length <= kMostInRow && (length >= kFewestInRow || rows <= kMostShortRows);
}

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

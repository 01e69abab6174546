#include "cuda/codegen/code.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <set>

#include "cuda/codegen/families.h"
#include "cuda/codegen/vocabulary.h"

namespace alloy::cuda {

using ir::Dims;
using ir::DType;
using ir::Op;
using ir::OpCode;

Code code_of(const Op& op) {
  switch (op.code) {
#define ALLOY_ROW(name) \
  case OpCode::name: return code_of_elementwise(op);
#define ALLOY_REDUCTION(name, ...) \
  case OpCode::name: return code_of_reduction(op);
#define ALLOY_MOMENT(name, ...) \
  case OpCode::name: return code_of_reduction(op);
#define ALLOY_ARG_REDUCTION(name, ...) \
  case OpCode::name: return code_of_reduction(op);
#define ALLOY_OP(name, fewest, most, results, attributes, facts, kernel, doc) \
  case OpCode::name: return code_of_##kernel(op);
#include "ir/ops.def"
  }
  throw Lacking();
}

namespace {

std::string text_of(const Launch& launch) {
  return "(const __grid_constant__ Arguments<" + std::to_string(std::max<size_t>(launch.pointers.size(), 1)) + ", " +
         std::to_string(std::max<size_t>(launch.numbers.size(), 1)) +
         "> a) {\n  char* const* const p = a.p;\n  const i64* const n = a.n;\n" +
         (launch.waits_itself ? "" : "  begin_launch();\n") + launch.body + "}\n";
}

std::string cluster_of(const Launch& launch) {
  if (launch.is_cluster) return "ALLOY_CLUSTER(" + std::to_string(launch.blocks) + ", 1) ";
  return launch.has_clusters ? "ALLOY_CLUSTER(1, " + std::to_string(launch.rows) + ") " : "";
}

std::string bounds_of(const Launch& launch) {
  if (launch.resident == 1) return "__launch_bounds__(256) ";
  const unsigned most_threads = launch.takes_any_grid ? 256 : launch.threads;
  return "__launch_bounds__(" + std::to_string(most_threads) + ", " + std::to_string(launch.resident) + ") ";
}

}  // namespace

// FNV-1a, of 64 bits.
uint64_t hash_of(std::string_view bytes) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : bytes) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3;
  return hash;
}

std::string name_of(const Launch& launch) {
  std::string text = bounds_of(launch) + cluster_of(launch) + text_of(launch);
  for (const char* library : launch.libraries) text += library;
  for (const std::string& function : launch.functions) text += function;
  char name[32];
  std::snprintf(name, sizeof name, "alloy_%016llx", static_cast<unsigned long long>(hash_of(text)));
  return name;
}

std::string source_of(const std::vector<const Launch*>& launches) {
  std::vector<std::string_view> libraries;
  std::set<std::string> inner, functions;
  for (const Launch* launch : launches) {
    for (const std::string_view library : launch->libraries) {
      if (std::find(libraries.begin(), libraries.end(), library) == libraries.end()) libraries.push_back(library);
    }
    inner.insert(launch->functions.begin(), launch->functions.end());
    functions.insert("extern \"C\" __global__ void " + bounds_of(*launch) + cluster_of(*launch) + name_of(*launch) +
                     text_of(*launch));
  }
  std::string source = kVocabulary;
  for (const std::string_view library : libraries) source += library;
  for (const std::string& function : inner) source += function;
  for (const std::string& function : functions) source += function;
  return source;
}

void require_float(const Op& op) {
  if (op.operands[0].dtype() != DType::float32) throw Lacking();
}

std::string element_of(DType dtype) {
  switch (dtype) {
    case DType::float32: return "float";
    case DType::float16: return "Half";
    case DType::bfloat16: return "BFloat";
    case DType::int8: return "signed char";
    case DType::int16: return "short";
    case DType::int32: return "int";
    case DType::int64: return "i64";
    case DType::uint8: return "unsigned char";
    case DType::uint16: return "unsigned short";
    case DType::uint32: return "unsigned int";
    case DType::uint64: return "u64";
    case DType::boolean: return "Bool";
    default: return bits_of(dtype);
  }
}

std::string number_of(DType dtype) { return "NumberOf<" + element_of(dtype) + ">"; }

std::string bits_of(DType dtype) {
  switch (size_of(dtype)) {
    case 1: return "unsigned char";
    case 2: return "unsigned short";
    case 4: return "unsigned int";
    default: return "u64";
  }
}

int64_t Axes::count() const { return count_of(lengths); }

void Axes::append_to(std::vector<int64_t>& numbers) const {
  numbers.insert(numbers.end(), lengths.begin(), lengths.end());
  for (const Dims& of_array : steps) numbers.insert(numbers.end(), of_array.begin(), of_array.end());
}

Axes joined(const Axes& axes) {
  Axes fewer;
  fewer.steps.resize(axes.steps.size());
  for (int64_t i = 0; i < axes.rank(); ++i) {
    if (axes.lengths[i] == 1) continue;
    bool joins = fewer.rank() > 0;
    for (size_t k = 0; k < axes.steps.size() && joins; ++k) {
      joins = fewer.steps[k].back() == axes.steps[k][i] * axes.lengths[i];
    }
    if (!joins) fewer.lengths.push_back(1);
    fewer.lengths.back() *= axes.lengths[i];
    for (size_t k = 0; k < axes.steps.size(); ++k) {
      if (!joins) fewer.steps[k].push_back(0);
      fewer.steps[k].back() = axes.steps[k][i];
    }
  }
  return fewer;
}

int64_t reciprocal_of(int64_t divisor) {
  const auto by = static_cast<uint64_t>(std::max<int64_t>(divisor, 1));
  const int shift = 31 + std::bit_width(by - 1);
  const uint64_t multiplier = ((uint64_t{1} << shift) + by - 1) / by;
  return static_cast<int64_t>(multiplier) | int64_t{shift} << 32;
}

Dims steps_of(const Dims& dims) {
  Dims steps(dims.size(), 1);
  for (int64_t i = dims.size() - 1; i > 0; --i) steps[i - 1] = steps[i] * dims[i];
  return steps;
}

Dims steps_of(const Dims& dims, const Dims& to) {
  const Dims own = steps_of(dims);
  Dims steps(to.size(), 0);
  for (int64_t i = 0; i < dims.size(); ++i) {
    if (dims[i] != 1) steps[to.size() - dims.size() + i] = own[i];
  }
  return steps;
}

int64_t count_of(const Dims& dims) { return count_of(dims, 0, dims.size()); }

int64_t count_of(const Dims& dims, int64_t begin, int64_t end) {
  int64_t count = 1;
  for (int64_t i = begin; i < end; ++i) count *= dims[i];
  return count;
}

int64_t axis_of(const Op& op) {
  return *ir::normalize_axis(op.attributes.integer(ir::Attr::kAxis), op.operands[0].shape().rank());
}

unsigned blocks_for(int64_t count) {
  constexpr int64_t kMost = 1 << 16;
  return static_cast<unsigned>(std::clamp<int64_t>((count + 255) / 256, 1, kMost));
}

std::string filled(const std::string& text, std::initializer_list<std::string> words) {
  std::string out;
  auto word = words.begin();
  for (const char c : text) {
    if (c == '@') out += *word++;
    else out += c;
  }
  return out;
}

Launch launch_for(int64_t count, std::vector<const char*> libraries, std::string body, std::vector<Pointer> pointers,
                  std::vector<int64_t> numbers) {
  return {std::move(libraries), std::move(body), std::move(pointers), std::move(numbers), blocks_for(count)};
}

}  // namespace alloy::cuda

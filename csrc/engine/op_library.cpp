#include "engine/op_library.h"

#include <dlfcn.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>

#include "alloy/op_library.h"
#include "ir/op.h"
#include "ir/text/utf8.h"

namespace alloy::engine {
namespace {

using ir::DType;

static_assert(ALLOY_MOST_AXES == ir::kMostAxes && ALLOY_UNKNOWN == ir::kUnknown);

// By the interface's numbers.
constexpr DType kTypes[] = {DType::boolean, DType::int8,    DType::int16,    DType::int32,
                            DType::int64,   DType::uint8,   DType::uint16,   DType::uint32,
                            DType::uint64,  DType::float16, DType::bfloat16, DType::float32};
static_assert(std::size(kTypes) == ALLOY_FLOAT32 + 1);

[[noreturn]] void refuse(const std::string& message) { throw ir::Error(ir::Error::Kind::kValue, message); }

bool is_name(const char* text) {
  if (text == nullptr || *text == '\0' || std::isdigit(static_cast<unsigned char>(*text))) return false;
  return std::all_of(text, text + std::strlen(text),
                     [](unsigned char c) { return c < 128 && (std::isalnum(c) || c == '_'); });
}

AlloyTensor tensor_of(const ir::Type& type, void* data) {
  AlloyTensor tensor{};
  tensor.type = static_cast<int32_t>(std::find(std::begin(kTypes), std::end(kTypes), type.dtype) - std::begin(kTypes));
  tensor.axes = type.shape.ranked() ? static_cast<int32_t>(type.shape.rank()) : ALLOY_UNKNOWN;
  std::fill(std::begin(tensor.extents), std::end(tensor.extents), int64_t{ALLOY_UNKNOWN});
  for (int32_t i = 0; i < tensor.axes; ++i) tensor.extents[i] = type.shape[i];
  tensor.data = data;
  return tensor;
}

// The type that a rule returned; nothing, and a message in `mistake`, if it is not a valid type.
std::optional<ir::Type> type_of(const AlloyTensor& tensor, std::string& mistake) {
  if (tensor.type < 0 || tensor.type > ALLOY_FLOAT32) {
    mistake = "The library's rule gave the type " + std::to_string(tensor.type) + ", which does not exist";
    return std::nullopt;
  }
  if (tensor.axes < ALLOY_UNKNOWN || tensor.axes > ALLOY_MOST_AXES) {
    mistake = "The library's rule gave " + std::to_string(tensor.axes) + " axes";
    return std::nullopt;
  }
  const DType dtype = kTypes[tensor.type];
  if (tensor.axes == ALLOY_UNKNOWN) return ir::Type{dtype, ir::Shape::unranked()};
  ir::Dims dims;
  for (int32_t i = 0; i < tensor.axes; ++i) {
    if (tensor.extents[i] < ALLOY_UNKNOWN) {
      mistake = "The library's rule gave the extent " + std::to_string(tensor.extents[i]);
      return std::nullopt;
    }
    dims.push_back(tensor.extents[i]);
  }
  return ir::Type{dtype, ir::Shape(dims)};
}

// Calls a function of a library; returns its error message, or nothing.
std::string called(AlloyFunction function, const char* which, const std::vector<AlloyTensor>& inputs,
                   std::vector<AlloyTensor>& results) {
  char message[ALLOY_MESSAGE_SIZE + 1] = {};
  const std::string silent = std::string("The library's ") + which + " failed and does not say why";
  try {
    if (function(inputs.data(), results.data(), message) == 0) return {};
  } catch (const std::exception& error) {
    return *error.what() != '\0' ? ir::to_utf8(error.what()) : silent;
  } catch (...) {
    return silent;
  }
  message[ALLOY_MESSAGE_SIZE] = '\0';
  std::string text = ir::to_utf8(message);
  while (!text.empty() && (text.back() == '.' || std::isspace(static_cast<unsigned char>(text.back()))))
    text.pop_back();
  return text.empty() ? silent : text;
}

}  // namespace

LibraryFunction::LibraryFunction(const std::string& library, const AlloyOp& op) : op_(op) {
  name = library + "." + op.name;
  operands = op.inputs;
  if (op.gradient != nullptr) gradient = library + "." + op.gradient;
}

std::string LibraryFunction::text() const { return op_.text == nullptr ? "" : ir::to_utf8(op_.text); }

std::vector<ir::Type> LibraryFunction::infer(const std::vector<ir::Type>& given, std::string& mistake) const {
  std::vector<AlloyTensor> inputs, results(static_cast<size_t>(op_.results));
  for (const ir::Type& type : given) inputs.push_back(tensor_of(type, nullptr));
  for (AlloyTensor& result : results) result.type = -1;  // not set yet
  mistake = called(op_.rule, "rule", inputs, results);
  std::vector<ir::Type> types;
  const bool is_known = std::all_of(given.begin(), given.end(), [](const ir::Type& type) { return type.is_static(); });
  for (const AlloyTensor& result : results) {
    const auto type = mistake.empty() ? type_of(result, mistake) : std::nullopt;
    if (type && is_known && !type->is_static()) {
      mistake = "The library's rule gave " + to_string(*type) + " for operands of known shapes";
    }
    if (!mistake.empty()) return {};
    types.push_back(*type);
  }
  return types;
}

std::string LibraryFunction::compute(const std::vector<ir::Type>& given, const std::vector<const void*>& operands,
                                     const std::vector<ir::Type>& types, const std::vector<void*>& memory, bool) const {
  std::vector<AlloyTensor> inputs, results;
  for (size_t i = 0; i < given.size(); ++i) inputs.push_back(tensor_of(given[i], const_cast<void*>(operands[i])));
  for (size_t i = 0; i < types.size(); ++i) results.push_back(tensor_of(types[i], memory[i]));
  return called(op_.compute, "function", inputs, results);
}

namespace {

const AlloyOp* find(const AlloyOpLibrary& library, const char* name) {
  const AlloyOp* const end = library.ops + library.count;
  const AlloyOp* const found =
      std::find_if(library.ops, end, [&](const AlloyOp& op) { return std::strcmp(op.name, name) == 0; });
  return found == end ? nullptr : found;
}

// Throws if the library's description is invalid.
void require_possible(const AlloyOpLibrary& library) {
  if (!is_name(library.name)) refuse("a name of the library of letters, digits and underscores, got another one");
  if (library.count < 1 || library.ops == nullptr) refuse("one op or more, got none");
  std::set<std::string> names;
  for (int32_t i = 0; i < library.count; ++i) {
    const AlloyOp& op = library.ops[i];
    if (!is_name(op.name)) {
      refuse("a name of op " + std::to_string(i) + " of letters, digits and underscores, got another one");
    }
    const std::string of = " of the op '" + std::string(op.name) + "'";
    if (!names.insert(op.name).second) refuse("ops of different names, got two of '" + std::string(op.name) + "'");
    if (op.rule == nullptr || op.compute == nullptr) refuse("the functions rule and compute" + of + ", got NULL");
    constexpr int32_t kMost = 64;
    if (op.inputs < 1 || op.inputs > kMost || op.results < 1 || op.results > kMost) {
      refuse("1 to 64 inputs and results" + of + ", got " + std::to_string(op.inputs) + " and " +
             std::to_string(op.results));
    }
  }
  for (int32_t i = 0; i < library.count; ++i) {
    const AlloyOp& op = library.ops[i];
    if (op.gradient == nullptr) continue;
    const AlloyOp* gradient = find(library, op.gradient);
    if (gradient == nullptr) {
      refuse("an op of the library as the gradient of '" + std::string(op.name) + "', got '" + op.gradient + "'");
    }
    const int32_t least = op.inputs + op.results + 1;
    if (gradient->inputs < least || gradient->inputs >= least + op.results || gradient->results > op.inputs) {
      refuse("the op '" + std::string(gradient->name) + "', the gradient of '" + op.name + "', to take " +
             std::to_string(least) + " inputs or, of several results, up to " + std::to_string(least + op.results - 1) +
             " and to give at most " + std::to_string(op.inputs) + " results, got " + std::to_string(gradient->inputs) +
             " and " + std::to_string(gradient->results));
    }
  }
}

}  // namespace

const OpLibrary& load_op_library(const std::string& path) {
  static std::mutex lock;
  static auto& loaded = *new std::map<const AlloyOpLibrary*, OpLibrary>;  // graphs may outlive every static object
  const std::lock_guard guard(lock);
  void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* why = dlerror();
    refuse("a shared library, got " + path + ", which cannot be loaded: " + (why == nullptr ? "no reason" : why));
  }
  // A refused library is closed, so that it can be compiled again and loaded.
  struct Open {
    void* handle;
    ~Open() {
      if (handle != nullptr) dlclose(handle);
    }
  } open{handle};
  using Entry = const AlloyOpLibrary* (*)();
  const auto entry = reinterpret_cast<Entry>(dlsym(handle, "alloy_op_library"));
  if (entry == nullptr) refuse("a library of ops, got " + path + ", which has no function alloy_op_library");
  const AlloyOpLibrary* const library = entry();
  if (library == nullptr) refuse("a library of ops, got " + path + ", whose alloy_op_library gives NULL");
  std::error_code ignored;
  const auto written = std::filesystem::last_write_time(path, ignored);
  if (const auto known = loaded.find(library); known != loaded.end()) {
    // The system finds a library by its path, even if the file has changed since.
    if (known->second.path == path && known->second.written != written) {
      refuse("the file " + path +
             " as it was when it was loaded, got another one; a library stays loaded until the "
             "process ends, so start Python anew");
    }
    return known->second;
  }
  if (library->version != ALLOY_OP_LIBRARY_VERSION) {
    refuse("a library of ops of version " + std::to_string(ALLOY_OP_LIBRARY_VERSION) + ", got " + path +
           ", which is of version " + std::to_string(library->version) + "; compile it with this Alloy's header");
  }
  require_possible(*library);
  for (const auto& [other, one] : loaded) {
    if (one.name == library->name) {
      refuse("a library of another name than those that are loaded, got '" + one.name + "' of " + path +
             ", which is the name of " + one.path);
    }
  }
  open.handle = nullptr;  // keeps the library open
  OpLibrary& made = loaded[library];
  made.name = library->name;
  made.path = path;
  made.written = written;
  for (int32_t i = 0; i < library->count; ++i) {
    made.functions.push_back(std::make_shared<LibraryFunction>(made.name, library->ops[i]));
    ir::add_native_function(made.functions.back());
  }
  return made;
}

}  // namespace alloy::engine

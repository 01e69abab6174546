// Tests packages: every graph is read back and computes the same bits; a file that is no package, or that was changed
// by one bit, is refused with a sentence; a file appears complete or not at all.
#include "package/package.h"
#include "cpu/device.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>

#include "graph_builder.h"
#include "ir/grammar.h"
#include "ir/text/text.h"
#include "ir/transform/walk.h"
#include "package/checksum.h"
#include "package/files.h"

namespace alloy::package {
namespace {

using namespace runtime;
using namespace test;
namespace fs = std::filesystem;

// A folder that is removed after the test.
class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "package-XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~Folder() { fs::remove_all(path_); }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  std::vector<std::string> names() const {
    std::vector<std::string> out;
    for (const auto& entry : fs::directory_iterator(path_)) out.push_back(entry.path().filename().string());
    std::sort(out.begin(), out.end());
    return out;
  }

 private:
  fs::path path_;
};

using Bytes = std::vector<char>;

Bytes content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void put(const std::string& path, const Bytes& bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

std::shared_ptr<GraphState> new_state() { return std::make_shared<GraphState>(cpu::cpu_device()); }

// Gives each variable of a graph memory, with the elements of its literal.
void allocate(GraphState& state) {
  std::vector<size_t> bytes;
  std::vector<LiteralRef> values;
  for (const auto& op : state.graph.body().ops) {
    if (op->code != OpCode::variable) continue;
    values.push_back(op->attributes.get<LiteralRef>(Attr::kValue));
    bytes.push_back(values.back()->type().byte_count());
  }
  state.allocate_variables(bytes,
                           [&](size_t slot, device::Storage& storage) { values[slot]->fill(storage.host_bytes()); });
}

// The request for a graph's placeholders, and its body's results and effects.
Request request_of(Graph& graph) {
  Request out;
  for (const auto& op : graph.body().ops) {
    if (op->code == OpCode::placeholder) out.feeds.push_back(op->result());
  }
  out.results = graph.body().results;
  out.effects = graph.body().effects;
  return out;
}

struct Loaded {
  std::shared_ptr<GraphState> state = new_state();
  Request request;

  explicit Loaded(const std::string& path) : request(read_package(path, *state)) {}
};

// The sentence with which a file is refused.
std::string refusal(const std::string& path) {
  return error_of([&] { Loaded ignored(path); });
}

device::ArrayMemory packed_array(const Type& type) {
  device::ArrayMemory memory{&cpu::cpu_device(), nullptr, {}};
  memory.layout.rank = 1;
  memory.layout.lengths[0] = static_cast<size_t>(type.shape.element_count());
  memory.layout.element_bytes = size_of(type.dtype);
  memory.layout.pack();
  memory.storage = cpu::cpu_device().allocate(type.byte_count());
  std::memset(memory.storage->host_bytes(), 0, memory.storage->size());
  return memory;
}

// The bytes of the results for feeds of these types; the feeds hold small numbers, the same for every call.
std::vector<Bytes> computed(const std::shared_ptr<GraphState>& state, const Request& request,
                            const std::vector<Type>& types) {
  std::vector<Feed> feeds;
  for (size_t i = 0; i < types.size(); ++i) feeds.push_back({request.feeds[i], types[i]});
  const auto program = state->program(cpu::cpu_device(), feeds, request.results, request.effects);
  runtime::Run::Arrays fed, results;
  std::mt19937 random(5);
  for (const Type& type : types) {
    fed.push_back(packed_array(type));
    std::byte* const bytes = fed.back().storage->host_bytes();
    for (size_t i = 0; i < type.byte_count() / size_of(type.dtype); ++i) {
      const double number = type.dtype == DType::float32 ? static_cast<double>(random() % 32) / 16 - 1
                                                         : static_cast<double>(random() % 2);
      const Literal element({type.dtype, {}}, Literal::splat({type.dtype, {}}, number)->bytes());
      element.fill(bytes + i * size_of(type.dtype));
    }
  }
  for (const Type& type : program->result_types()) results.push_back(packed_array(type));
  device::Outcome outcome;
  EXPECT_TRUE(runtime::Run(state, program, fed, results, {}).run_now(*cpu::cpu_device().make_stream(), outcome).ok());
  EXPECT_EQ(outcome.status().message, "");
  std::vector<Bytes> out;
  for (size_t i = 0; i < results.size(); ++i) {
    const auto* bytes = reinterpret_cast<const char*>(results[i].storage->host_bytes());
    out.emplace_back(bytes, bytes + program->result_types()[i].byte_count());
  }
  return out;
}

std::vector<Bytes> computed(const std::shared_ptr<GraphState>& state, const Request& request) {
  std::vector<Type> types;
  for (const Value& v : request.feeds) types.push_back(v.type());
  return computed(state, request, types);
}

// Every op except those that the framework's programs never hold when they are packed: ops that only passes make, and
// ops only for gradients.
void add_every_op_of_a_package(GraphState& state) {
  add_every_op(state.graph);
  Block& body = state.graph.body();
  std::erase_if(body.results, [](const Value& v) {
    return v.op->code == OpCode::fused || v.op->code == OpCode::custom_gradient || v.op->info().facts.host;
  });
}

std::string text_of(const Request& request) {
  std::vector<Feed> feeds;
  for (const Value& v : request.feeds) feeds.push_back({v, v.type()});
  const Specialized special = specialize(feeds, request.results, request.effects);
  return print(*special.graph);
}

TEST(Package, EveryOpComesBackAndComputesTheSameBits) {
  const Folder folder;
  const auto state = new_state();
  add_every_op_of_a_package(*state);
  allocate(*state);
  const Request request = request_of(state->graph);
  write_package(folder / "every", *state, request);
  const Loaded loaded(folder / "every");
  EXPECT_EQ(verify(loaded.state->graph), std::vector<std::string>{});
  ASSERT_EQ(loaded.request.feeds.size(), request.feeds.size());
  for (size_t i = 0; i < request.feeds.size(); ++i) {
    EXPECT_EQ(loaded.request.feeds[i].type(), request.feeds[i].type());
  }
  // Except the variables' values, which are kept outside the graph's text.
  std::string text = text_of(loaded.request);
  const std::string abridged = "float32(2, 3)[abridged]";
  for (size_t at; (at = text.find(abridged)) != std::string::npos;) {
    text.replace(at, abridged.size(), "float32(2, 3)[1.5 ...]");
  }
  EXPECT_EQ(text, text_of(request));
  for (int run = 0; run < 2; ++run) {
    const std::vector<Bytes> expected = computed(state, request), actual = computed(loaded.state, loaded.request);
    ASSERT_EQ(actual.size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i) {
      const std::vector<Op*> needed = live_ops({request.results[i]}, {});
      const bool is_fresh = std::any_of(needed.begin(), needed.end(),
                                        [](const Op* op) { return op->code == OpCode::fresh_random_state; });
      EXPECT_TRUE(is_fresh || actual[i] == expected[i]) << request.results[i].op->info().name;
    }
  }
}

constexpr DType kTypes[] = {
#define ALLOY_NAME(name, text, bytes, kind) DType::name,
    ALLOY_DTYPES(ALLOY_NAME)
#undef ALLOY_NAME
};

// Any bits, also of NaNs: in constants, in one element that stands for all, in no element, in variables, through a
// feed.
TEST(Package, EveryTypeComesBackToTheBit) {
  const Folder folder;
  std::mt19937 random(3);
  for (const DType dtype : kTypes) {
    SCOPED_TRACE(name(dtype));
    const auto literal_of = [&](Shape shape, size_t elements) -> LiteralRef {
      std::vector<std::byte> bytes(elements * size_of(dtype));
      for (std::byte& b : bytes) b = static_cast<std::byte>(dtype == DType::boolean ? random() % 2 : random());
      return std::make_shared<Literal>(Type{dtype, std::move(shape)}, std::move(bytes));
    };
    const auto state = new_state();
    Graph& graph = state->graph;
    const LiteralRef shared = literal_of({70}, 70);
    std::vector<Value> kept;
    for (const LiteralRef& literal :
         {shared, literal_of({2, 3}, 6), literal_of({500, 3}, 1), literal_of({}, 1), shared}) {
      kept.push_back(graph.value(OpCode::constant, {}, {{Attr::kValue, literal}}));
    }
    kept.push_back(graph.value(OpCode::variable, {}, {{Attr::kValue, literal_of({5}, 5)}}));
    kept.push_back(placeholder(graph, {dtype, Shape({3})}));
    graph.value(OpCode::constant, {}, {{Attr::kValue, literal_of({0}, 0)}});
    for (const Value& v : kept) graph.body().results.push_back(graph.value(OpCode::identity, {v}));
    allocate(*state);
    const Request request = request_of(graph);
    write_package(folder / "types", *state, request);
    const Loaded loaded(folder / "types");
    EXPECT_EQ(computed(loaded.state, loaded.request), computed(state, request));
    std::vector<const Literal*> constants;
    for (const auto& op : loaded.state->graph.body().ops) {
      if (op->code == OpCode::constant) constants.push_back(op->attributes.get<LiteralRef>(Attr::kValue).get());
    }
    ASSERT_EQ(constants.size(), 5u);
    EXPECT_EQ(constants[0], constants[4]) << "a constant of two ops is there twice";
    EXPECT_TRUE(constants[2]->is_splat());
  }
}

// A step that counts its runs and reads the count; a variable that it does not need comes first.
struct Counting {
  std::shared_ptr<GraphState> state = new_state();
  Request request;

  Counting() {
    Graph& graph = state->graph;
    variable(graph, f32({100}));
    const Value total = variable(graph, f32({2}), 5);
    const Value x = placeholder(graph, f32({U, 2}));
    const Value sum = graph.value(OpCode::add, {total, graph.value(OpCode::sum, {x}, {{Attr::kAxes, Dims{0}}})});
    const Value flat = graph.value(OpCode::reshape, {sum}, {{Attr::kShape, Shape({2})}});
    request = {{x}, {total, graph.value(OpCode::negative, {x})}, {assign(graph, total, flat)}};
    allocate(*state);
  }
};

TEST(Package, VariablesTravelWithTheirValuesAndGoOn) {
  const Folder folder;
  const Counting counting;
  const std::vector<Type> two{f32({2, 2})}, three{f32({3, 2})};
  computed(counting.state, counting.request, two);
  write_package(folder / "count", *counting.state, counting.request);
  const Loaded one(folder / "count"), other(folder / "count");
  EXPECT_EQ(one.state->graph.variable_count(), 1);
  for (int run = 0; run < 3; ++run) {
    const auto expected = computed(counting.state, counting.request, run == 1 ? three : two);
    EXPECT_EQ(computed(one.state, one.request, run == 1 ? three : two), expected) << run;
  }
  // Each loaded executable has its own variables; after training they can be written again.
  EXPECT_NE(computed(other.state, other.request, two), computed(one.state, one.request, two));
  write_package(folder / "count", *one.state, one.request);
  const Loaded later(folder / "count");
  EXPECT_EQ(computed(later.state, later.request, two), computed(one.state, one.request, two));
}

// ---- refused files ----

TEST(Package, OneChangedBitOrAnotherLengthIsRefused) {
  const Folder folder;
  const auto state = new_state();
  add_every_op_of_a_package(*state);
  allocate(*state);
  write_package(folder / "whole", *state, request_of(state->graph));
  const Bytes whole = content(folder / "whole");
  ASSERT_GT(whole.size(), 10000u);
  std::mt19937 random(11);
  const std::string path = folder / "changed";
  const auto expect_refused = [&](const Bytes& bytes, const std::string& what) {
    put(path, bytes);
    const std::string said = refusal(path);
    EXPECT_TRUE(said.starts_with("[package] " + path + " is ") && said.ends_with(".")) << what << ": " << said;
  };
  for (size_t i = 0; i < 700; ++i) {
    const size_t bit = i < 400 ? i : random() % (8 * whole.size());  // every bit of the header
    Bytes changed = whole;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ 1 << bit % 8);
    expect_refused(changed, "bit " + std::to_string(bit));
  }
  for (size_t i = 0; i < 300; ++i) {
    const size_t length = i < 100 ? i : random() % whole.size();
    expect_refused(Bytes(whole.begin(), whole.begin() + static_cast<long>(length)), std::to_string(length) + " bytes");
  }
  Bytes longer = whole;
  longer.push_back(0);
  expect_refused(longer, "a byte more");
}

// A package with any text and elements and a right checksum.
Bytes forged(const std::string& text, const Bytes& elements = {}, uint64_t version = 1, int64_t text_bytes = -1) {
  uint64_t fields[4] = {version, 40 + text.size() + elements.size(),
                        text_bytes < 0 ? text.size() : static_cast<uint64_t>(text_bytes), 0};
  Bytes out = {'\x89', 'A', 'L', 'L', 'O', 'Y', '\r', '\n'};
  const auto append = [&](const void* from, size_t bytes) {
    out.insert(out.end(), static_cast<const char*>(from), static_cast<const char*>(from) + bytes);
  };
  append(fields, 24);
  Checksum sum;
  sum.add(std::as_bytes(std::span(out)));
  sum.add(std::as_bytes(std::span(text)));
  sum.add(std::as_bytes(std::span(elements)));
  fields[3] = sum.value();
  append(&fields[3], 8);
  append(text.data(), text.size());
  append(elements.data(), elements.size());
  return out;
}

// The message of read_package, or "no error".
std::string said_of(const Folder& folder, const Bytes& bytes) {
  put(folder / "forged", bytes);
  std::string said = refusal(folder / "forged");
  const std::string begin = "[package] " + (folder / "forged") + " ";
  return said.starts_with(begin) ? said.substr(begin.size()) : said;
}

TEST(Package, TheWrittenFileIsWhatTheFormatSays) {
  const Folder folder;
  const auto state = new_state();
  Graph& graph = state->graph;
  const Value c = constant(graph, f32({3}), 2), v = variable(graph, i32({2}), 7);
  graph.name = "x";
  const Value x = placeholder(graph, f32({U}));
  graph.name.clear();
  allocate(*state);
  write_package(folder / "file", *state, {{x}, {c, v, x}, {}});
  const std::string text = R"(graph {
  %0 = constant() {value = float32(3,)[at 0 ...]} : float32(3,)
  %1 = variable() {value = int32(2,)[at 4], slot = 0} : int32(2,)
  %2 = placeholder() {shape = (?,), dtype = float32} "x" : float32(?,)
  return (%0, %1, %2)
}
)";
  const float two = 2;
  const int32_t sevens[] = {7, 7};
  Bytes elements(12);
  std::memcpy(elements.data(), &two, 4);
  std::memcpy(elements.data() + 4, sevens, 8);
  EXPECT_EQ(content(folder / "file"), forged(text, elements));
  // The checksum by README.md.
  uint64_t state_of_sum = 0;
  Bytes summed = content(folder / "file");
  summed.erase(summed.begin() + 32, summed.begin() + 40);
  const uint64_t length = summed.size();
  summed.resize((summed.size() + 7) / 8 * 8);
  summed.insert(summed.end(), reinterpret_cast<const char*>(&length), reinterpret_cast<const char*>(&length) + 8);
  for (size_t at = 0; at < summed.size(); at += 8) {
    uint64_t word;
    std::memcpy(&word, summed.data() + at, 8);
    state_of_sum = (state_of_sum ^ word) * 0x9e3779b97f4a7c15u;
    state_of_sum ^= state_of_sum >> 32;
  }
  EXPECT_EQ(std::memcmp(content(folder / "file").data() + 32, &state_of_sum, 8), 0);
}

TEST(Package, ForeignAndNewerFilesAreRefused) {
  const Folder folder;
  const std::string empty = "graph {\n  return ()\n}\n";
  EXPECT_EQ(said_of(folder, forged(empty)), "no error");
  EXPECT_EQ(said_of(folder, {}), "is no package of this framework.");
  EXPECT_EQ(said_of(folder, Bytes(1000, 'x')), "is no package of this framework.");
  EXPECT_EQ(said_of(folder, forged(empty, {}, 2)),
            "is a package of version 2 of the format; this framework reads version 1.");
  EXPECT_EQ(said_of(folder, forged(empty, {}, 1, 1000)), "is damaged: its text goes beyond its end.");
  EXPECT_EQ(said_of(folder, forged(empty, {}, 1, INT64_MAX)), "is damaged: its text goes beyond its end.");
  fs::create_directory(folder / "directory");
  EXPECT_EQ(refusal(folder / "directory"),
            "[package] " + (folder / "directory") + " is a directory; packages of this framework are files.");
  EXPECT_EQ(refusal(folder / "missing"),
            "[package] " + (folder / "missing") + " cannot be read: No such file or directory.");
  mkfifo((folder / "pipe").c_str(), 0600);
  EXPECT_EQ(refusal(folder / "pipe"), "[package] " + (folder / "pipe") + " is not a file that can be read.");
}

// Files with a right checksum whose content no graph can have.
TEST(Package, HostileGraphsAreRefused) {
  const Folder folder;
  const auto said = [&](const std::string& ops, const Bytes& elements = {}) {
    return said_of(folder, forged("graph {\n" + ops + "  return ()\n}\n", elements));
  };
  const std::string no_graph = "holds no legal graph: ";
  const auto constant_of = [](const std::string& value, const std::string& type) {
    return "%0 = constant() {value = " + value + "} : " + type + "\n";
  };
  const Bytes eight(8);
  EXPECT_EQ(said(constant_of("float32(2,)[at 0]", "float32(2,)"), eight), "no error");
  for (const std::string at : {"1", "9", "-1", "9223372036854775807", "99999999999999999999"}) {
    EXPECT_TRUE(said(constant_of("float32(2,)[at " + at + "]", "float32(2,)"), eight).starts_with(no_graph)) << at;
  }
  for (const std::string shape : {"(3,)", "(35184372088831,)", "(35184372088832,)", "(4294967296, 4294967296)",
                                  "(9223372036854775807, 0)", "(-1,)", "(?,)", "(...)"}) {
    EXPECT_TRUE(said(constant_of("float32" + shape + "[at 0]", "float32" + shape), eight).starts_with(no_graph))
        << shape;
  }
  // Elements shared by two literals of different types, and more variables than elements.
  EXPECT_TRUE(
      said(constant_of("float32(2,)[at 0]", "float32(2,)") + "%1 = constant() {value = int32(2,)[at 0]} : int32(2,)\n",
           eight)
          .starts_with(no_graph));
  const auto variable_of = [](int n, const std::string& slot, const std::string& rest = "") {
    return "%" + std::to_string(n) + " = variable() {value = float32(1,)[at 0" + rest + "], slot = " + slot +
           "} : float32(1,)\n";
  };
  EXPECT_EQ(said(variable_of(0, "0"), eight), "no error");
  for (const std::string slot : {"1", "1099511627776", "9223372036854775806", "-1"}) {
    EXPECT_TRUE(said(variable_of(0, slot), eight).starts_with(no_graph)) << slot;
  }
  EXPECT_TRUE(said(variable_of(0, "0", " ..."), eight).starts_with(no_graph));
  EXPECT_TRUE(said(variable_of(0, "0") + variable_of(1, "1") + variable_of(2, "2"), eight).starts_with(no_graph));
  // Elements in the text itself, and elements of two positions for one variable.
  for (const std::string inside : {"float32(1,)[1]", "float32(500,)[1 ...]", "float32(0,)[]"}) {
    const std::string type = inside.substr(0, inside.find('['));
    EXPECT_TRUE(said(constant_of(inside, type), eight).starts_with(no_graph + "[parse] Expected the place of")) << type;
    const std::string variable = "%0 = variable() {value = " + inside + ", slot = 0} : " + type + "\n";
    EXPECT_TRUE(said(variable, eight).starts_with(no_graph + "[parse] Expected the place of")) << type;
  }
  EXPECT_TRUE(
      said("%0 = variable() {value = float32(1,)[at 0], value = float32(1,)[at 4], slot = 0} : float32(1,)\n", eight)
          .starts_with(no_graph + "[parse] The attribute value is written twice"));
  EXPECT_TRUE(said("%0 = placeholder() {shape = (), dtype = float32} \"\xff\" : float32()\n").ends_with("UTF-8."));
  EXPECT_TRUE(said(std::string("%0 = placeholder() {shape = (), dtype = float32} \"\0\" : float32()\n", 66))
                  .starts_with(no_graph));
  EXPECT_TRUE(said("%0 = fused()\nregion {\nreturn ()\n}\n").starts_with(no_graph));
}

TEST(Package, RegionsWithinOneAnotherAreRefusedBeforeTheyTakeTheStack) {
  const Folder folder;
  const auto nested = [](int depth) {
    std::string text = "graph {\n%0 = placeholder() {shape = (), dtype = bool} : bool()\n";
    for (int i = 0; i < depth; ++i) text += "%" + std::to_string(i + 1) + " = if_else(%0)\nregion {\n";
    for (int i = 0; i < depth; ++i) text += "return ()\n}\nregion {\nreturn ()\n}\n";
    return text + "return ()\n}\n";
  };
  EXPECT_EQ(said_of(folder, forged(nested(kMostNestedRegions))), "no error");
  for (const int depth : {kMostNestedRegions + 1, 100'000}) {
    EXPECT_TRUE(
        said_of(folder, forged(nested(depth))).starts_with("holds no legal graph: [parse] More than 64 regions"));
  }
  EXPECT_NE(said_of(folder, forged(std::string(1'000'000, '('))), "no error");
  EXPECT_NE(said_of(folder, forged("graph {" + std::string(1'000'000, '\n'))), "no error");
}

// True if every value has a known type of few bytes.
bool is_small(const Block& block) {
  return std::all_of(block.ops.begin(), block.ops.end(), [](const auto& op) {
    return std::all_of(op->results.begin(), op->results.end(),
                       [](const Type& type) { return type.is_static() && type.byte_count() < 1 << 20; }) &&
           std::all_of(op->regions.begin(), op->regions.end(), [](const auto& region) { return is_small(*region); });
  });
}

// Mutates a text and its elements: numbers, words, lines, bytes.
class Mutator {
 public:
  explicit Mutator(uint32_t seed) : random_(seed) {}

  size_t below(size_t n) { return random_() % n; }

  void mutate(std::string& text, Bytes& elements) {
    switch (below(9)) {
      case 0:
      case 1:
      case 2: return replace_one(text, [](char c) { return std::isdigit(c) != 0; }, other_number());
      case 3: return replace_one(text, [](char c) { return std::isalpha(c) != 0 || c == '_'; }, some_word(text));
      case 4: return put_inside(text);
      case 5: return change_lines(text);
      case 6: text[below(text.size())] = static_cast<char>(below(8) == 0 ? below(256) : 32 + below(95)); return;
      case 7: text.erase(below(text.size()), 1 + below(20)); return;
      default: change_element(elements);
    }
  }

 private:
  using Run = std::pair<size_t, size_t>;

  template <class F>
  static std::vector<Run> runs(const std::string& text, const F& is_in) {
    std::vector<Run> found;
    for (size_t i = 0; i < text.size(); ++i) {
      if (!is_in(text[i])) continue;
      const size_t begin = i;
      while (i < text.size() && is_in(text[i])) ++i;
      found.emplace_back(begin, i - begin);
    }
    return found;
  }

  template <class F>
  void replace_one(std::string& text, const F& is_in, const std::string& by) {
    const std::vector<Run> found = runs(text, is_in);
    if (found.empty()) return;
    const auto [at, length] = found[below(found.size())];
    text.replace(at, length, by);
  }

  std::string other_number() {
    static const char* const others[] = {
        "0",          "1", "2",     "3",  "5",          "-1",  "17",  "-9223372036854775808", "9223372036854775807",
        "4294967296", "?", "65536", "-0", "2147483647", "1e9", "nan", "70368744177663"};
    return others[below(std::size(others))];
  }

  std::string some_word(const std::string& text) {
    const std::vector<Run> words = runs(text, [](char c) { return std::isalpha(c) != 0 || c == '_'; });
    if (words.empty()) return "x";
    const auto [at, length] = words[below(words.size())];
    return text.substr(at, length);
  }

  // Puts the elements of a constant or variable into the text, instead of their position.
  void put_inside(std::string& text) {
    std::vector<size_t> places;
    for (size_t at = text.find("[at "); at != std::string::npos; at = text.find("[at ", at + 1)) places.push_back(at);
    if (places.empty()) return;
    const size_t at = places[below(places.size())], end = text.find(']', at);
    static const char* const inside[] = {"[]", "[1]", "[1 ...]", "[1 2]", "[1 2 3 4 5 6]", "[0 0 0]", "[abridged]"};
    if (end != std::string::npos) text.replace(at, end + 1 - at, inside[below(std::size(inside))]);
  }

  // Leaves a line out, repeats it, or moves it to another's position.
  void change_lines(std::string& text) {
    const std::vector<Run> lines = runs(text, [](char c) { return c != '\n'; });
    if (lines.size() < 2) return;
    const auto [at, length] = lines[below(lines.size())];
    const std::string line = text.substr(at, length + 1);
    const size_t kind = below(3), to = lines[below(lines.size())].first;
    if (kind > 0) text.insert(to, line);
    if (kind < 2) text.erase(kind == 1 && to <= at ? at + line.size() : at, line.size());
  }

  void change_element(Bytes& elements) {
    if (elements.size() < 8) return;
    static const int64_t numbers[] = {0, 1, -1, 2, 100, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN, 1 << 20};
    const size_t bytes = size_t{1} << below(4);
    std::memcpy(elements.data() + below(elements.size() / bytes) * bytes, &numbers[below(std::size(numbers))], bytes);
  }

  std::mt19937 random_;
};

bool has_loop(const Value& result) {
  const std::vector<Op*> needed = live_ops({result}, {});
  return std::any_of(needed.begin(), needed.end(), [](const Op* op) { return op->info().facts.regions.is_loop(); });
}

// A file with a right checksum and any other change is refused with a sentence, or holds a legal graph, which runs or
// is refused with a sentence. (Graphs with loops are only compiled: their bounds may make them run for years.)
// `--gtest_filter=*Mutations* --gtest_shuffle --gtest_repeat=N` makes other mutations each time.
TEST(Package, MutationsDoNoHarm) {
  const Folder folder;
  const auto state = new_state();
  add_every_op_of_a_package(*state);
  allocate(*state);
  write_package(folder / "whole", *state, request_of(state->graph));
  const Bytes whole = content(folder / "whole");
  uint64_t text_bytes;
  std::memcpy(&text_bytes, whole.data() + 24, sizeof text_bytes);
  const auto end_of_text = whole.begin() + 40 + static_cast<long>(text_bytes);
  const std::string text(whole.begin() + 40, end_of_text);
  const int iteration = testing::UnitTest::GetInstance()->random_seed();  // 0 without --gtest_shuffle
  Mutator mutator(17 + static_cast<uint32_t>(iteration));
  int legal = 0, compiled = 0, ran = 0;
  for (int round = 0; round < 2000; ++round) {
    std::string changed = text;
    Bytes elements(end_of_text, whole.end());
    for (size_t i = 1 + (mutator.below(4) == 0 ? mutator.below(3) : 0); i > 0; --i) mutator.mutate(changed, elements);
    put(folder / "changed", forged(changed, elements));
    std::unique_ptr<Loaded> loaded;
    const std::string said = error_of([&] { loaded = std::make_unique<Loaded>(folder / "changed"); });
    EXPECT_TRUE(loaded || said.starts_with("[package] ")) << said;
    if (!loaded) continue;
    ++legal;
    if (!is_small(loaded->state->graph.body())) continue;
    std::vector<Feed> feeds;
    for (const Value& v : loaded->request.feeds) feeds.push_back({v, v.type()});
    Request& request = loaded->request;
    compiled += error_of([&] { loaded->state->program(cpu::cpu_device(), feeds, request.results, request.effects); }) ==
                "no error";
    if (legal % 4 != 0) continue;  // many others take seconds
    std::erase_if(request.results, has_loop);
    std::erase_if(request.effects,
                  [](const Op* op) { return op->code != OpCode::assign || has_loop(op->operands[1]); });
    ran += error_of([&] { computed(loaded->state, request); }) == "no error";
  }
  RecordProperty("refused", 2000 - legal);
  RecordProperty("ran", ran);
  EXPECT_GT(legal, 100);
  EXPECT_GT(compiled, 50);
  EXPECT_GT(ran, 20);
}

// ---- the file ----

TEST(Package, AFileThatIsNotFinishedLeavesNothing) {
  const Folder folder;
  put(folder / "file", {'o', 'l', 'd'});
  const std::byte part[3] = {};
  {
    NewFile file(folder / "file");
    file.write(part);
  }
  const pid_t child = fork();
  if (child == 0) {
    NewFile file(folder / "file");
    file.write(part);
    kill(getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(content(folder / "file"), (Bytes{'o', 'l', 'd'}));
  EXPECT_EQ(folder.names(), std::vector<std::string>{"file"});
}

// A file left by a process that was killed between two steps and had this process's number, like the first process of a
// container.
TEST(Package, FilesThatWereLeftDoNotStandInTheWay) {
  const Folder folder;
  const Counting counting;
  for (int i = 0; i < 1000; ++i) {
    put(folder / ("alloy-" + std::to_string(getpid()) + "-" + std::to_string(i) + ".part"), {});
  }
  const std::string longest(255, 'x');  // the longest name
  write_package(folder / longest, *counting.state, counting.request);
  EXPECT_EQ(refusal(folder / longest), "no error");
  EXPECT_EQ(folder.names().size(), 1001);
}

TEST(Package, PlacesThatTakeNoFileAreNamed) {
  const Folder folder;
  const Counting counting;
  const auto said = [&](const std::string& path) {
    return error_of([&] { write_package(path, *counting.state, counting.request); });
  };
  fs::create_directory(folder / "directory");
  EXPECT_EQ(said(folder / "directory"),
            "[package] " + (folder / "directory") + " cannot be written: it exists and is not a file.");
  EXPECT_EQ(said(folder / "missing/file"),
            "[package] " + (folder / "missing/file") + " cannot be written: No such file or directory.");
  EXPECT_EQ(said("/proc/file").substr(0, 38), "[package] /proc/file cannot be written");
  EXPECT_EQ(said(""), "[package]  cannot be written: No such file or directory.");
}

TEST(Package, LinksAndPermissionsOfTheOldFileStay) {
  const Folder folder;
  const Counting counting;
  put(folder / "file", {});
  fs::permissions(folder / "file", fs::perms::owner_read | fs::perms::owner_write | fs::perms::group_read);
  fs::create_symlink(folder / "file", folder / "link");
  write_package(folder / "link", *counting.state, counting.request);
  EXPECT_TRUE(fs::is_symlink(folder / "link"));
  EXPECT_EQ(content(folder / "file").size(), fs::file_size(folder / "link"));
  EXPECT_EQ(refusal(folder / "file"), "no error");
  EXPECT_EQ(fs::status(folder / "file").permissions(), fs::perms(0640));
  fs::create_symlink("absent", folder / "to nothing");
  write_package(folder / "to nothing", *counting.state, counting.request);
  EXPECT_TRUE(fs::is_symlink(folder / "to nothing"));
  EXPECT_EQ(refusal(folder / "absent"), "no error");
  fs::create_symlink("to itself", folder / "to itself");
  EXPECT_EQ(error_of([&] { write_package(folder / "to itself", *counting.state, counting.request); }),
            "[package] " + (folder / "to itself") + " cannot be written: Too many levels of symbolic links.");
  const mode_t mask = umask(027);
  write_package(folder / "new", *counting.state, counting.request);
  umask(mask);
  EXPECT_EQ(fs::status(folder / "new").permissions(), fs::perms(0640));
}

}  // namespace
}  // namespace alloy::package

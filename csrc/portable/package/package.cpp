#include "package/package.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <map>
#include <unordered_map>
#include <utility>

#include "ir/grammar.h"
#include "ir/text/text.h"
#include "ir/text/utf8.h"
#include "ir/transform/rewrite.h"
#include "package/checksum.h"
#include "package/files.h"

namespace alloy::package {
namespace {

using Kind = ir::Error::Kind;

// The first bytes of a package. Those after the name show if the file was changed by a conversion of text.
constexpr std::array<char, 8> kMagic = {'\x89', 'A', 'L', 'L', 'O', 'Y', '\r', '\n'};
constexpr uint64_t kVersion = 1;

struct Header {
  std::array<char, 8> magic = kMagic;
  uint64_t version = kVersion;
  uint64_t bytes = 0;       // of the whole file
  uint64_t text_bytes = 0;  // of the graph's text, which follows the header; the elements follow the text
  uint64_t checksum = 0;    // of the header before this member, and of everything after the header
};
static_assert(sizeof(Header) == 40 && std::endian::native == std::endian::little);

std::span<const std::byte> checked(const Header& header) {
  return std::as_bytes(std::span(&header, 1)).first(offsetof(Header, checksum));
}

constexpr size_t kPiece = size_t{1} << 20;  // bytes of elements in memory at once

// ---- the graph ----

// Passes alone make these ops, and their kernels rely on how.
void require_no_fused(const ir::Block& block) {
  for (const auto& op : block.ops) {
    if (op->code == ir::OpCode::fused) op->fail("The op does not stand in packages");
    for (const auto& region : op->regions) require_no_fused(*region);
  }
}

// Reads the text into an empty graph. Throws ir::Error if the text describes no legal graph.
void read_graph(const std::string& text, const ir::LoadLiteral& load, ir::Graph& graph) {
  if (!ir::is_utf8(text)) throw ir::Error(Kind::kValue, "The text of the graph is not UTF-8");
  if (text.find('\0') != text.npos) throw ir::Error(Kind::kValue, "The text of the graph has a character 0");
  parse(text, load, graph);
  if (const auto problems = verify(graph); !problems.empty()) throw ir::Error(Kind::kValue, problems[0]);
  require_no_fused(graph.body());
}

// ---- writing ----

// Everything that follows the text, in order.
struct Elements {
  std::vector<ir::LiteralRef> constants;  // each once, even if several ops use it
  std::vector<int64_t> slots;             // of variables, in the original state
  std::vector<size_t> variable_bytes;
  uint64_t bytes = 0;  // of all of them, the constants first
};

// Lists the elements, and prints the graph with their positions. Variables get slots without gaps.
std::string laid_out(ir::Graph& graph, Elements& elements) {
  std::unordered_map<const ir::Literal*, int64_t> positions;
  std::function<void(const ir::Block&)> collect = [&](const ir::Block& block) {
    for (const auto& op : block.ops) {
      for (const auto& region : op->regions) collect(*region);
      if (op->code != ir::OpCode::constant) continue;
      const auto& literal = op->attributes.get<ir::LiteralRef>(ir::Attr::kValue);
      if (!positions.emplace(literal.get(), elements.bytes).second) continue;
      elements.constants.push_back(literal);
      elements.bytes += literal->bytes().size();
    }
  };
  collect(graph.body());
  std::vector<int64_t> variables;
  for (const auto& op : graph.body().ops) {
    if (op->code != ir::OpCode::variable) continue;
    const auto slot = static_cast<int64_t>(elements.slots.size());
    elements.slots.push_back(op->attributes.integer(ir::Attr::kSlot));
    elements.variable_bytes.push_back(op->results[0].byte_count());
    op->attributes.set(ir::Attr::kSlot, slot);
    op->attributes.set(ir::Attr::kValue, ir::Literal::elsewhere(op->results[0]));  // instead of the initial value
    variables.push_back(static_cast<int64_t>(elements.bytes));
    elements.bytes += elements.variable_bytes.back();
  }
  return print(graph, [&](const ir::Op& op, const ir::Literal& literal) {
    return op.code == ir::OpCode::variable ? variables[static_cast<size_t>(op.attributes.integer(ir::Attr::kSlot))]
                                           : positions.at(&literal);
  });
}

// Reads the text again now, so that no file is written that nobody can read.
void prove(const std::string& path, const std::string& text, const Elements& elements) {
  std::map<int64_t, ir::LiteralRef> constants_at;
  int64_t end = 0;
  for (const ir::LiteralRef& literal : elements.constants) {
    constants_at[end] = literal;  // of several empty literals the last one
    end += static_cast<int64_t>(literal->bytes().size());
  }
  const auto load = [&](const ir::StoredLiteral& wanted) {
    if (wanted.code == ir::OpCode::variable) return ir::Literal::elsewhere(wanted.type);
    const ir::LiteralRef& there = constants_at.at(wanted.at);
    return there->type() == wanted.type ? there : std::make_shared<ir::Literal>(wanted.type, std::vector<std::byte>());
  };
  try {
    ir::Graph graph;
    read_graph(text, load, graph);
  } catch (const ir::Error& error) {
    refuse(path, std::string("cannot be written, because the graph could not be read back: ") + error.what());
  }
}

// ---- reading ----

// Checks that the file is intact, and returns its header.
Header verified(const std::string& path, const OpenedFile& file) {
  Header header;
  if (file.size() < sizeof header) refuse(path, "is no package of this framework");
  file.read(0, &header, sizeof header);
  if (header.magic != kMagic) refuse(path, "is no package of this framework");
  if (header.version == 0 || header.version > kVersion) {
    refuse(path, "is a package of version " + std::to_string(header.version) + " of the format; this framework reads " +
                     "version " + std::to_string(kVersion));
  }
  if (header.bytes != file.size()) {
    refuse(path,
           "is damaged: it has " + std::to_string(file.size()) + " of " + std::to_string(header.bytes) + " bytes");
  }
  Checksum sum;
  sum.add(checked(header));
  std::vector<std::byte> piece(std::min(kPiece, file.size()));
  for (size_t at = sizeof header; at < file.size(); at += piece.size()) {
    const size_t count = std::min(piece.size(), file.size() - at);
    file.read(at, piece.data(), count);
    sum.add(std::span(piece).first(count));
  }
  if (sum.value() != header.checksum) refuse(path, "is damaged: its checksum is wrong");
  if (header.text_bytes > header.bytes - sizeof header) refuse(path, "is damaged: its text goes beyond its end");
  return header;
}

// Reads the elements, which follow the text of a file.
class ElementReader {
 public:
  ElementReader(const OpenedFile& file, size_t begin) : file_(file), begin_(begin), left_(file.size() - begin) {}

  // Returns a constant with its elements, or a variable's type; the elements of variables stay in the file until
  // fill().
  ir::LiteralRef find(const ir::StoredLiteral& stored) {
    const bool is_variable = stored.code == ir::OpCode::variable;
    if (stored.is_splat && is_variable) mistake("The elements of a variable stand for themselves");
    const size_t bytes = stored.is_splat ? size_of(stored.type.dtype) : stored.type.byte_count();
    if (const auto known = constants_.find(stored.at); known != constants_.end() && !is_variable) {
      const ir::LiteralRef& literal = known->second;
      if (literal->type() == stored.type && literal->is_splat() == stored.is_splat) return literal;
    }
    // Counts the bytes used, so that a file cannot yield more elements than it contains.
    if (stored.at < 0 || static_cast<size_t>(stored.at) > file_.size() - begin_ || bytes > left_ ||
        bytes > file_.size() - begin_ - static_cast<size_t>(stored.at)) {
      mistake("The elements of a constant " + to_string(stored.type) + " lie outside the file");
    }
    left_ -= bytes;
    const size_t at = begin_ + static_cast<size_t>(stored.at);
    if (is_variable) {
      variables_.push_back(at);
      return ir::Literal::elsewhere(stored.type);
    }
    std::vector<std::byte> elements(bytes);
    file_.read(at, elements.data(), bytes);
    return constants_[stored.at] = std::make_shared<ir::Literal>(stored.type, std::move(elements));
  }

  // Positions of the variables in the file, in the order of the text.
  const std::vector<size_t>& variables() const { return variables_; }

 private:
  [[noreturn]] static void mistake(const std::string& what) { throw ir::Error(Kind::kValue, what); }

  const OpenedFile& file_;
  const size_t begin_;
  size_t left_;
  std::map<int64_t, ir::LiteralRef> constants_;  // by position
  std::vector<size_t> variables_;
};

// The sizes of the variables of a graph, in the order of the text, which must also be the order of their slots.
std::vector<size_t> variable_bytes(const ir::Graph& graph) {
  std::vector<size_t> bytes;
  for (const auto& op : graph.body().ops) {
    if (op->code != ir::OpCode::variable) continue;
    if (op->attributes.integer(ir::Attr::kSlot) != static_cast<int64_t>(bytes.size())) {
      throw ir::Error(Kind::kValue, "The slots of the variables have gaps");
    }
    bytes.push_back(op->results[0].byte_count());
  }
  return bytes;
}

void fill(device::Storage& storage, const OpenedFile& file, size_t begin) {
  std::vector<std::byte> piece(std::min(kPiece, storage.size()));
  for (size_t at = 0; at < storage.size(); at += piece.size()) {
    const size_t count = std::min(piece.size(), storage.size() - at);
    file.read(begin + at, piece.data(), count);
    storage.write(at, piece.data(), count);
  }
}

runtime::Request load(const OpenedFile& file, const Header& header, runtime::GraphState& state) {
  std::string text(header.text_bytes, '\0');
  file.read(sizeof header, text.data(), text.size());
  ElementReader elements(file, sizeof header + text.size());
  read_graph(text, [&](const ir::StoredLiteral& stored) { return elements.find(stored); }, state.graph);
  const std::vector<size_t> bytes = variable_bytes(state.graph);
  if (bytes.size() != elements.variables().size()) {
    throw ir::Error(Kind::kValue, "There are elements of " + std::to_string(elements.variables().size()) +
                                      " variables for " + std::to_string(bytes.size()));
  }
  state.allocate_variables(
      bytes, [&](size_t slot, device::Storage& storage) { fill(storage, file, elements.variables()[slot]); });
  runtime::Request request;
  ir::Block& body = state.graph.body();
  for (const auto& op : body.ops) {
    if (op->code == ir::OpCode::placeholder) request.feeds.push_back(op->result());
  }
  request.results = std::exchange(body.results, {});
  request.effects = std::exchange(body.effects, {});
  return request;
}

}  // namespace

void write_package(const std::string& path, runtime::GraphState& state, const runtime::Request& request) {
  std::vector<ir::Feed> feeds;
  for (const ir::Value& v : request.feeds) feeds.push_back({v, v.type()});
  ir::Specialized special = specialize(feeds, request.results, request.effects, request.callables, request.precision);
  if (!std::is_sorted(special.feeds.begin(), special.feeds.end(),
                      [](const ir::Value& a, const ir::Value& b) { return a.op->id < b.op->id; })) {
    refuse(path, "cannot be written: the feeds are not in the order of their placeholders");
  }
  Elements elements;
  const std::string text = laid_out(*special.graph, elements);
  prove(path, text, elements);
  Header header;
  header.text_bytes = text.size();
  header.bytes = sizeof header + text.size() + elements.bytes;
  NewFile file(path);
  Checksum sum;
  const auto put = [&](std::span<const std::byte> bytes) {
    sum.add(bytes);
    file.write(bytes);
  };
  file.write(std::as_bytes(std::span(&header, 1)));
  sum.add(checked(header));
  put(std::as_bytes(std::span(text)));
  for (const ir::LiteralRef& literal : elements.constants) put(literal->bytes());
  std::vector<std::byte> piece;
  state.read_variables(elements.slots, [&](device::Storage& storage) {
    piece.resize(std::min(kPiece, storage.size()));
    for (size_t at = 0; at < storage.size(); at += piece.size()) {
      const size_t count = std::min(piece.size(), storage.size() - at);
      storage.read(at, piece.data(), count);
      put(std::span(piece).first(count));
    }
  });
  header.checksum = sum.value();
  file.rewrite_begin(std::as_bytes(std::span(&header, 1)));
  file.finish();
}

runtime::Request read_package(const std::string& path, runtime::GraphState& state) {
  const OpenedFile file(path);
  const Header header = verified(path, file);
  try {
    return load(file, header, state);
  } catch (const ir::Error& error) {
    refuse(path, std::string("holds no legal graph: ") + error.what());
  }
}

}  // namespace alloy::package

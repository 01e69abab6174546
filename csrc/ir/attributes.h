// The static attributes of ops: their names, their kinds, and the attributes of one op. The rules give them their
// meaning.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "ir/shape.h"

namespace alloy::ir {

enum class Attr : uint8_t {
#define ALLOY_ATTRIBUTE(name, text, kind, words) k##name,
#include "ir/ops.def"
};
// A set of attributes: bit i is the one with enumerator i.
using AttrMask = unsigned __int128;

enum class AttrKind : uint8_t { Bool, Int, Float, Word, Ints, Shape, DType, Literal };

// The elements of a tensor of static type, immutable. If all are equal, it may hold only one of them (a splat).
class Literal {
 public:
  // Copies `bytes`: either one element or the whole tensor in row-major order.
  Literal(Type type, std::span<const std::byte> bytes)
      : Literal(std::move(type), std::vector<std::byte>(bytes.begin(), bytes.end())) {}
  // The same, but takes over the bytes.
  Literal(Type type, std::vector<std::byte> bytes);
  // A literal with every element equal to `value`, converted to the type.
  static std::shared_ptr<const Literal> splat(Type type, double value);
  // A literal whose elements are kept elsewhere. Only type() and fill() may be called, fill() only if there is `read`;
  // `read` writes all elements into memory of byte_count() bytes or throws Error.
  static std::shared_ptr<const Literal> elsewhere(Type type, std::function<void(std::byte*)> read = nullptr);

  const Type& type() const { return type_; }
  bool is_elsewhere() const { return bytes_.empty() && type_.byte_count() > 0; }
  bool is_splat() const { return bytes_.size() == size_of(type_.dtype) && type_.shape.element_count() != 1; }
  // One element or all of them; see is_splat.
  std::span<const std::byte> bytes() const { return bytes_; }
  // Writes every element, row-major, into `out` of type().byte_count() bytes.
  void fill(std::byte* out) const;
  // Element `index` as a double.
  double at(int64_t index) const;

 private:
  Literal(Type type, std::function<void(std::byte*)> read) : type_(std::move(type)), read_(std::move(read)) {}

  Type type_;
  std::vector<std::byte> bytes_;
  std::function<void(std::byte*)> read_;
};

using LiteralRef = std::shared_ptr<const Literal>;
using AttrValue = std::variant<bool, int64_t, double, std::string, Dims, Shape, DType, LiteralRef>;

// An attribute's value as in the text form; constants of many elements are abridged.
std::string to_string(const AttrValue& value);
std::string_view name(Attr attr);
AttrKind kind(Attr attr);
// "Bool", "Int", "Float", "Word", "Ints", "Shape", "DType" or "Literal".
std::string_view kind_name(Attr attr);
// The attribute with this printed name, or nothing.
std::optional<Attr> attr_named(std::string_view text);
// True if `value` is of the attribute's kind and, for a Word, one of its legal words.
bool is_legal(Attr attr, const AttrValue& value);
// True if an op may lack an attribute of its row: a flag, the precision of products, which then is float32, or the trip
// count of a loop, which then only a run knows.
inline bool is_optional(Attr attr) {
  return kind(attr) == AttrKind::Bool || attr == Attr::kPrecision || attr == Attr::kTripCount;
}
// The legal words of a Word, separated by blanks.
std::string_view words(Attr attr);

// The attributes of one op. get() of an absent attribute is a bug of the caller: the verifier has run before.
class Attributes {
 public:
  Attributes() = default;
  Attributes(std::initializer_list<std::pair<const Attr, AttrValue>> entries) : entries_(entries) {}

  bool has(Attr attr) const { return entries_.contains(attr); }
  void set(Attr attr, AttrValue value) { entries_[attr] = std::move(value); }
  template <class T>
  const T& get(Attr attr) const {
    return std::get<T>(entries_.at(attr));
  }

  bool flag(Attr attr) const { return has(attr) && get<bool>(attr); }
  int64_t integer(Attr attr) const { return get<int64_t>(attr); }
  double number(Attr attr) const { return get<double>(attr); }
  const Dims& ints(Attr attr) const { return get<Dims>(attr); }
  const std::string& word(Attr attr) const { return get<std::string>(attr); }
  const std::map<Attr, AttrValue>& entries() const { return entries_; }
  // A copy without one attribute.
  Attributes without(Attr attr) const {
    Attributes others = *this;
    others.entries_.erase(attr);
    return others;
  }

 private:
  std::map<Attr, AttrValue> entries_;
};

}  // namespace alloy::ir

// The declared properties of classes. GCC's functions of these names find none.

#include "objc/properties.h"

#include <cstdlib>
#include <cstring>
#include <mutex>
#include <unordered_map>

#include "objc/entry_points.h"

// The compiler puts the attributes before the name: a zero, the distance from the zero to the name, the attributes, the
// name.
struct objc_property {
  const char* name;
  unsigned char attributes[4];
  const char *getter, *getter_type, *setter, *setter_type;
};

struct PropertyList {
  int count;
  const PropertyList* next;
  objc_property list[];
};

namespace {

std::mutex mutex;

std::unordered_map<Class, const PropertyList*>& lists() {
  static auto* kept = new std::unordered_map<Class, const PropertyList*>;
  return *kept;
}

const PropertyList* properties_of(Class owner) {
  const std::lock_guard lock(mutex);
  const auto found = lists().find(owner);
  return found == lists().end() ? nullptr : found->second;
}

}  // namespace

void keep_properties(Class owner, const PropertyList* list) {
  if (!list) return;
  const std::lock_guard lock(mutex);
  lists()[owner] = list;
}

objc_property** class_copyPropertyList(Class owner, unsigned* count) {
  const PropertyList* properties = properties_of(owner);
  const auto n = static_cast<unsigned>(properties ? properties->count : 0);
  if (count) *count = n;
  if (n == 0) return nullptr;
  auto** copy = static_cast<objc_property**>(std::calloc(n + 1, sizeof(objc_property*)));
  if (!copy) std::abort();
  for (unsigned i = 0; i < n; ++i) copy[i] = const_cast<objc_property*>(&properties->list[i]);
  return copy;
}

objc_property* class_getProperty(Class owner, const char* name) {
  for (; owner && name; owner = class_getSuperclass(owner)) {
    const PropertyList* properties = properties_of(owner);
    for (int i = 0; properties && i < properties->count; ++i) {
      auto* property = const_cast<objc_property*>(&properties->list[i]);
      if (std::strcmp(property_getName(property), name) == 0) return property;
    }
  }
  return nullptr;
}

const char* property_getName(objc_property* property) {
  if (!property) return nullptr;
  return property->name + static_cast<unsigned char>(property->name[1]);
}

const char* property_getAttributes(objc_property* property) { return property ? property->name + 2 : nullptr; }

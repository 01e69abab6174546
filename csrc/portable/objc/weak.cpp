// Weak references: a table lists the places that refer to an object.

#include <algorithm>

#include "objc/entry_points.h"
#include "objc/side_table.h"

namespace {

// Removes a place from the table.
void forget(id* place) {
  while (const id object = __atomic_load_n(place, __ATOMIC_ACQUIRE)) {
    SideTable& table = table_of(object);
    const std::lock_guard lock(table.mutex);
    if (__atomic_load_n(place, __ATOMIC_ACQUIRE) != object) continue;  // cleared meanwhile
    const auto side = table.sides.find(object);
    std::vector<id*>& places = side->second.places;
    std::swap(*std::find(places.begin(), places.end(), place), places.back());
    places.pop_back();
    if (places.empty() && side->second.associations.empty()) table.sides.erase(side);
    *place = nullptr;
  }
}

}  // namespace

id objc_initWeak(id* place, id object) {
  *place = nullptr;
  if (!object || is_dying(object)) return nullptr;
  watch_releases();
  SideTable& table = table_of(object);
  const std::lock_guard lock(table.mutex);
  table.sides[object].places.push_back(place);
  return *place = object;
}

id objc_storeWeak(id* place, id object) {
  forget(place);
  return objc_initWeak(place, object);
}

id objc_loadWeakRetained(id* place) {
  while (const id object = __atomic_load_n(place, __ATOMIC_ACQUIRE)) {
    SideTable& table = table_of(object);
    const std::lock_guard lock(table.mutex);
    if (__atomic_load_n(place, __ATOMIC_ACQUIRE) == object) return objc_retain(object);
  }
  return nullptr;
}

id objc_loadWeak(id* place) { return objc_autorelease(objc_loadWeakRetained(place)); }

void objc_destroyWeak(id* place) { forget(place); }

void objc_copyWeak(id* to, id* from) {
  const id object = objc_loadWeakRetained(from);
  objc_initWeak(to, object);
  objc_release(object);
}

void objc_moveWeak(id* to, id* from) {
  objc_copyWeak(to, from);
  objc_destroyWeak(from);
}

// Entries beside an object, because GNUstep's objects have no room for them: the places with weak references to it, and
// its associated objects. They are cleared by the object's last release.
#pragma once

#include <objc/objc.h>

#include <mutex>
#include <unordered_map>
#include <vector>

struct Associated {
  id value;
  unsigned long policy;
};
using Associations = std::unordered_map<const void*, Associated>;

struct Side {
  std::vector<id*> places;
  Associations associations;
};

// The mutex is recursive: a class's release method may call another class's, and a user's class may override retain.
struct SideTable {
  std::recursive_mutex mutex;
  std::unordered_map<id, Side> sides;
};

// The part of the table for `object`.
SideTable& table_of(id object);

// After the first call, the last release of an object clears its entries.
void watch_releases();

// True if the last release of the object is in progress on this thread.
bool is_dying(id object);

// The associations of such an object; null for other objects.
Associations* associations_of_dying(id object);

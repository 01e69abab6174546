// What is kept beside an object, because GNUstep keeps no room for it: the places that refer to it weakly, and the
// objects associated with it. It goes with the object's last owner.
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

// Recursive, because a class's release method may send another's, and taking a new owner may be a method of a user's.
struct SideTable {
  std::recursive_mutex mutex;
  std::unordered_map<id, Side> sides;
};

// The part of the table that `object` is in, or would be.
SideTable& table_of(id object);

// From the first call on, releasing an object's last owner clears what is beside it.
void watch_releases();

// True if the object's last owner lets it go on this thread, right now.
bool is_dying(id object);

// The associations of an object whose last owner lets it go on this thread, or null.
Associations* associations_of_dying(id object);

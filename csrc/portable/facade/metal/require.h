// Whether a Metal object is of this framework. Included only by the classes of this folder.
#pragma once

#include "facade/metal/metal.h"

namespace alloy::facade {

// The object as an instance of our class; a caller's own implementation of a Metal protocol is refused.
template <class Ours>
Ours* require(id object, Class our_class, NSString* what) {
  if (!object) raise_invalid(@"[%@] Expected a %@, but got nil.", what, what);
  if (object_getClass(object) != our_class && ![object isKindOfClass:our_class]) {
    raise_invalid(@"[%@] Expected a %@ of this framework, but got an object of class %@.", what, what,
                  NSStringFromClass([object class]));
  }
  return static_cast<Ours*>(object);
}

}  // namespace alloy::facade

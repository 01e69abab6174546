// The declared properties of classes.
#pragma once

#include <objc/runtime.h>

struct PropertyList;  // as the compiler writes it

// Stores the properties that the class itself declares; the list may be null.
void keep_properties(Class owner, const PropertyList* list);

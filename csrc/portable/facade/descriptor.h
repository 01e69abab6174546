// Macros for descriptors, whose fields are in a C++ struct that _impl points to.
#pragma once

#import <Foundation/Foundation.h>

#include "facade/errors.h"
#include "facade/retained.h"
#include "facade/selector.h"

// Defines the function that returns a descriptor's fields and raises for an object of another class.
#define DESCRIPTOR_FIELDS(Fields, Descriptor)          \
  Fields& fields_of(Descriptor* descriptor) {          \
    static const Class our_class = [Descriptor class]; \
    require_kind(descriptor, our_class);               \
    return *static_cast<Fields*>(descriptor->_impl);   \
  }

// The methods that make and free an object with fields, and the one that copies a descriptor. The further arguments
// initialise the fields.
#define FIELDS_LIFE(Fields, ...)                               \
  -(instancetype)init {                                        \
    if ((self = [super init])) _impl = new Fields __VA_ARGS__; \
    return self;                                               \
  }                                                            \
  -(void)dealloc {                                             \
    delete static_cast<Fields*>(_impl);                        \
    [super dealloc];                                           \
  }
#define DESCRIPTOR_LIFE(Fields, ...)                                                             \
  FIELDS_LIFE(Fields, __VA_ARGS__)                                                               \
  -(id)copyWithZone : (NSZone*)zone {                                                            \
    decltype(self) copy = static_cast<decltype(self)>([[[self class] allocWithZone:zone] init]); \
    *static_cast<Fields*>(copy->_impl) = *static_cast<Fields*>(_impl);                           \
    return copy;                                                                                 \
  }

// The accessors of a field.
#define DESCRIPTOR_FIELD(Fields, type, getter, setter) \
  PROPERTY(type, getter, setter, static_cast<Fields*>(_impl)->getter)

// The accessors of a field that is a Retained object. `keep` is retain or copy; the further arguments are the class, as
// for require_kind_or_nil.
#define DESCRIPTOR_OBJECT(Fields, type, getter, setter, keep, ...)                    \
  -(type)getter {                                                                     \
    return static_cast<Fields*>(_impl)->getter.get();                                 \
  }                                                                                   \
  -(void)setter : (type)value {                                                       \
    require_kind_or_nil(value, __VA_ARGS__);                                          \
    static_cast<Fields*>(_impl)->getter =                                             \
        alloy::facade::Retained<type>(static_cast<type>([[value keep] autorelease])); \
  }

// A class method that makes a descriptor and sets properties. Each part of the method's selector is the name of a
// property, except the first, `selector`.
#define DESCRIPTOR_WITH(Descriptor, selector, first, ...)                                                   \
  +(instancetype)selector DESCRIPTOR_FIRST_##first __VA_OPT__(FOR_EACH_PART(SELECTOR_TAKE_, __VA_ARGS__)) { \
    Descriptor* descriptor = [[self new] autorelease];                                                      \
    FOR_EACH_PART(DESCRIPTOR_SET_, first __VA_OPT__(, ) __VA_ARGS__)                                        \
    return descriptor;                                                                                      \
  }
#define DESCRIPTOR_FIRST_takes(property, type) : (type)property
#define DESCRIPTOR_SET_takes(property, type) descriptor.property = property;

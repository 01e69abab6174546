// Methods defined by the parts of their selectors. A row for a method that only sends another message to its object is
//
//   FORWARD(MPSGraphTensor*, passes(concatTensors), passes(dimension, NSInteger), sends(interleave, NO), passes(name))
//
// It makes concatTensors:dimension:name: send concatTensors:dimension:interleave:name:. After the type of the result
// come the parts of both selectors, in order:
//
//   passes(part, type)  a part of both: the method passes its argument on
//   takes(part, type)   a part of the method's selector only
//   sends(part, value)  a part of the other selector only; the value may use the method's arguments
//
// An argument has the name of its part. Without a type it is an object, of the class that the header declares; to
// select an overloaded function, it needs its type.
#pragma once

#define FORWARD(Result, ...) \
  METHOD(Result, __VA_ARGS__) { return [self FOR_EACH_PART(SELECTOR_SEND_, __VA_ARGS__)]; }

// The head of a method, for macros that define methods with similar selectors.
#define METHOD(Result, ...) -(Result)FOR_EACH_PART(SELECTOR_TAKE_, __VA_ARGS__)

// A method that returns a value, and the two accessors of a property stored in a variable.
#define GETTER(type, getter, ...) \
  -(type)getter {                 \
    return __VA_ARGS__;           \
  }
#define PROPERTY(type, getter, setter, ...) \
  GETTER(type, getter, __VA_ARGS__)         \
  -(void)setter : (type)value {             \
    __VA_ARGS__ = value;                    \
  }

// clang-format off
#define SELECTOR_TAKE_passes(part, ...) part : (SELECTOR_TYPE(__VA_ARGS__ __VA_OPT__(,) id))part
#define SELECTOR_TAKE_takes(...) SELECTOR_TAKE_passes(__VA_ARGS__)
#define SELECTOR_TAKE_sends(...)
#define SELECTOR_SEND_passes(part, ...) part:part
#define SELECTOR_SEND_takes(...)
#define SELECTOR_SEND_sends(part, ...) part:__VA_ARGS__
#define SELECTOR_TYPE(type, ...) type
// clang-format on

// Expands to work##part for each of at most 64 parts. A macro does not expand inside itself, but its result is scanned
// again. So each scan does one step, which leaves the name of the next step; only the next scan finds that name's
// parentheses.
#define FOR_EACH_PART(work, ...) FOR_EACH_SCAN(FOR_EACH_STEP(work, __VA_ARGS__))
#define FOR_EACH_STEP(work, part, ...) work##part __VA_OPT__(FOR_EACH_NEXT FOR_EACH_PARENTHESES(work, __VA_ARGS__))
#define FOR_EACH_NEXT() FOR_EACH_STEP
#define FOR_EACH_PARENTHESES ()
#define FOR_EACH_SCAN(...) FOR_EACH_SCAN_16(FOR_EACH_SCAN_16(FOR_EACH_SCAN_16(FOR_EACH_SCAN_16(__VA_ARGS__))))
#define FOR_EACH_SCAN_16(...) FOR_EACH_SCAN_4(FOR_EACH_SCAN_4(FOR_EACH_SCAN_4(FOR_EACH_SCAN_4(__VA_ARGS__))))
#define FOR_EACH_SCAN_4(...) FOR_EACH_SCAN_1(FOR_EACH_SCAN_1(FOR_EACH_SCAN_1(FOR_EACH_SCAN_1(__VA_ARGS__))))
#define FOR_EACH_SCAN_1(...) __VA_ARGS__

// Exceptions of both languages in code compiled for -fobjc-runtime=gnustep-1.9: the personality routines, which find
// the handler of a frame, and the functions that compiled code calls on entering and leaving a handler.
//
// GNUstep throws NSExceptions by GCC's runtime: as exceptions of a class of their own, with the object after the
// header. For Objective-C++ frames, the C++ routine searches handlers and asks the type of each if it takes the
// exception; handlers of Objective-C classes have a type of ours. Plain Objective-C frames have names of classes in the
// place of types, and are searched here. The tables: https://itanium-cxx-abi.github.io/cxx-abi/exceptions.pdf

#include <cxxabi.h>
#include <objc/runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <typeinfo>
#include <vector>

#include "objc/entry_points.h"
#include "objc/send.h"

extern "C" __attribute__((weak)) void (*NSGetUncaughtExceptionHandler())(id);  // GNUstep's
extern "C" _Unwind_Reason_Code __gxx_personality_v0(int version, _Unwind_Action actions, _Unwind_Exception_Class kind,
                                                    _Unwind_Exception* exception, _Unwind_Context* context);

namespace {

// "GNUCOBJC" in the ABI's order: the first letter is in the highest byte.
constexpr _Unwind_Exception_Class kObjectiveC = 0x474e55434f424a43;

bool is_object(_Unwind_Exception_Class kind) { return kind == kObjectiveC; }

// The exception that GCC's runtime throws.
struct ThrownObject {
  _Unwind_Exception header;
  id object;
  void* landing_pad;  // these two belong to GCC's personality routine
  int handler;
};

id object_of(_Unwind_Exception* exception) { return reinterpret_cast<ThrownObject*>(exception)->object; }

bool is_kind_of(id object, const char* class_name) {
  const auto wanted = static_cast<Class>(objc_lookUpClass(class_name));
  for (Class c = object ? object_getClass(object) : nullptr; wanted && c; c = class_getSuperclass(c)) {
    if (c == wanted) return true;
  }
  return false;
}

// The exception whose handler the C++ routine is searching on this thread; null if it is not one of Objective-C.
thread_local _Unwind_Exception* sought = nullptr;

}  // namespace

// Types of handlers in Objective-C++, with the names that the compiler uses.
namespace gnustep::libobjc {

// A handler of objects of a class, which has the name of the class in the program.
struct __attribute__((visibility("default"))) __objc_class_type_info : std::type_info {
  explicit __objc_class_type_info(const char* name) : std::type_info(name) {}
  ~__objc_class_type_info() override;
  bool __do_catch(const std::type_info*, void**, unsigned) const override {
    return sought && is_kind_of(object_of(sought), __name);
  }
};
__objc_class_type_info::~__objc_class_type_info() = default;

// A handler of all objects.
struct __attribute__((visibility("default"))) __objc_id_type_info : std::type_info {
  __objc_id_type_info() : std::type_info("id") {}
  ~__objc_id_type_info() override;
  bool __do_catch(const std::type_info*, void**, unsigned) const override { return sought; }
};
__objc_id_type_info::~__objc_id_type_info() = default;

}  // namespace gnustep::libobjc

ALLOY_EXPORT gnustep::libobjc::__objc_id_type_info __objc_id_type_info;
gnustep::libobjc::__objc_id_type_info __objc_id_type_info;

_Unwind_Reason_Code __gnustep_objcxx_personality_v0(int version, _Unwind_Action actions, _Unwind_Exception_Class kind,
                                                    _Unwind_Exception* exception, _Unwind_Context* context) {
  _Unwind_Exception* const before = sought;
  sought = is_object(kind) ? exception : nullptr;
  const _Unwind_Reason_Code code = __gxx_personality_v0(version, actions, kind, exception, context);
  sought = before;
  return code;
}

namespace {

// Reads a frame's table.
class Reader {
 public:
  explicit Reader(const uint8_t* at) : at_(at) {}

  const uint8_t* at() const { return at_; }
  uint8_t byte() { return *at_++; }

  uint64_t unsigned_number() {
    uint64_t number = 0;
    for (unsigned shift = 0;; shift += 7) {
      const uint8_t part = byte();
      number |= static_cast<uint64_t>(part & 0x7f) << shift;
      if (!(part & 0x80)) return number;
    }
  }

  int64_t signed_number() {
    int64_t number = 0;
    for (unsigned shift = 0;;) {
      const uint8_t part = byte();
      number |= static_cast<int64_t>(part & 0x7f) << shift;
      shift += 7;
      if (part & 0x80) continue;
      return part & 0x40 && shift < 64 ? number | -(int64_t{1} << shift) : number;
    }
  }

  // A pointer, in an encoding relative to `base` or to the pointer's own position.
  uintptr_t pointer(uint8_t encoding, uintptr_t base) {
    const auto place = reinterpret_cast<uintptr_t>(at_);
    uintptr_t value = 0;
    switch (encoding & 0x0f) {
      case 0x00:
      case 0x04:
      case 0x0c: value = fixed<uint64_t>(); break;
      case 0x01: value = unsigned_number(); break;
      case 0x02: value = fixed<uint16_t>(); break;
      case 0x03: value = fixed<uint32_t>(); break;
      case 0x09: value = static_cast<uintptr_t>(signed_number()); break;
      case 0x0a: value = static_cast<uintptr_t>(fixed<int16_t>()); break;
      case 0x0b: value = static_cast<uintptr_t>(fixed<int32_t>()); break;
      default: std::terminate();
    }
    if (value == 0) return 0;
    value += (encoding & 0x70) == 0x10 ? place : base;
    return encoding & 0x80 ? *reinterpret_cast<const uintptr_t*>(value) : value;
  }

  static size_t size_of(uint8_t encoding) {
    switch (encoding & 0x07) {
      case 0x02: return 2;
      case 0x03: return 4;
      default: return 8;
    }
  }

 private:
  template <class T>
  T fixed() {
    T value;
    std::memcpy(&value, at_, sizeof value);
    at_ += sizeof value;
    return value;
  }

  const uint8_t* at_;
};

constexpr uint8_t kOmitted = 0xff;

// The frame's action for an exception at its point of call.
struct Landing {
  uintptr_t pad = 0;     // 0: none
  int64_t selector = 0;  // of the handler; 0: clean up and continue
  bool handles = false;
};

bool takes(const char* class_name, _Unwind_Exception_Class kind, _Unwind_Exception* exception) {
  if (!class_name) return true;  // @catch (...)
  if (!is_object(kind)) return false;
  return std::strcmp(class_name, "@id") == 0 || is_kind_of(object_of(exception), class_name);
}

Landing landing_of(_Unwind_Exception_Class kind, _Unwind_Exception* exception, bool forced, _Unwind_Context* context) {
  const auto table = static_cast<const uint8_t*>(_Unwind_GetLanguageSpecificData(context));
  if (!table) return {};
  Reader reader(table);
  const uintptr_t function = _Unwind_GetRegionStart(context);
  int before = 0;
  const uintptr_t call = _Unwind_GetIPInfo(context, &before) - (before ? 0 : 1) - function;

  const uint8_t pads_encoding = reader.byte();
  const uintptr_t pads = pads_encoding == kOmitted ? function : reader.pointer(pads_encoding, function);
  const uint8_t types_encoding = reader.byte();
  const uint8_t* types = nullptr;
  if (types_encoding != kOmitted) {
    const uint64_t distance = reader.unsigned_number();
    types = reader.at() + distance;
  }
  const uint8_t calls_encoding = reader.byte();
  const uint64_t bytes = reader.unsigned_number();
  const uint8_t* actions = reader.at() + bytes;

  while (reader.at() < actions) {
    const uintptr_t begin = reader.pointer(calls_encoding, 0), length = reader.pointer(calls_encoding, 0);
    const uintptr_t pad = reader.pointer(calls_encoding, 0);
    const uint64_t action = reader.unsigned_number();
    if (call < begin || call >= begin + length) continue;
    if (!pad) return {};
    if (!action) return {pads + pad, 0, false};
    for (const uint8_t* at = actions + action - 1;;) {
      Reader record(at);
      const int64_t selector = record.signed_number();
      const uint8_t* next = record.at();
      const int64_t distance = record.signed_number();
      if (selector > 0 && !forced) {
        Reader type(types - static_cast<size_t>(selector) * Reader::size_of(types_encoding));
        const auto name = reinterpret_cast<const char*>(type.pointer(types_encoding, 0));
        if (takes(name, kind, exception)) return {pads + pad, selector, true};
      }
      if (distance == 0) break;
      at = next + distance;
    }
    // No handler takes the exception, so the frame only cleans up.
    return {pads + pad, 0, false};
  }
  return {};
}

}  // namespace

_Unwind_Reason_Code __gnustep_objc_personality_v0(int version, _Unwind_Action actions, _Unwind_Exception_Class kind,
                                                  _Unwind_Exception* exception, _Unwind_Context* context) {
  if (version != 1) return _URC_FATAL_PHASE1_ERROR;
  const Landing landing = landing_of(kind, exception, actions & _UA_FORCE_UNWIND, context);
  if (actions & _UA_SEARCH_PHASE) return landing.handles ? _URC_HANDLER_FOUND : _URC_CONTINUE_UNWIND;
  if (!landing.pad) return _URC_CONTINUE_UNWIND;
  _Unwind_SetGR(context, __builtin_eh_return_data_regno(0), reinterpret_cast<uintptr_t>(exception));
  _Unwind_SetGR(context, __builtin_eh_return_data_regno(1), static_cast<uintptr_t>(landing.selector));
  _Unwind_SetIP(context, landing.pad);
  return _URC_INSTALL_CONTEXT;
}

namespace {

// The exceptions whose handlers this thread is in, the latest last. C++ exceptions are on the C++ library's list as
// well. An exception that its handler throws again and catches is in the list several times.
struct Caught {
  _Unwind_Exception* exception;
  bool is_object;
  bool goes_on;  // thrown again, so it does not end here
};

std::vector<Caught>& caught() {
  thread_local std::vector<Caught> exceptions;
  return exceptions;
}

void set_goes_on(const _Unwind_Exception* exception, bool goes_on) {
  for (Caught& one : caught()) {
    if (one.exception == exception) one.goes_on = goes_on;
  }
}

bool is_caught(const _Unwind_Exception* exception) {
  for (const Caught& one : caught()) {
    if (one.exception == exception) return true;
  }
  return false;
}

void delete_object(_Unwind_Reason_Code, _Unwind_Exception* exception) {
  objc_release(object_of(exception));
  std::free(exception);
}

// As on a Mac: calls the program's own handler, prints a line, and aborts, which debuggers and core dumps show.
[[noreturn]] void end_uncaught(id object) {
  if (NSGetUncaughtExceptionHandler) {
    if (const auto handler = NSGetUncaughtExceptionHandler()) handler(object);
  }
  if (is_kind_of(object, "NSException")) {
    const auto text = [&](const char* part) {
      const id string = send(object, sel_registerName(part));
      return string ? send<const char*>(string, sel_registerName("UTF8String")) : "(null)";
    };
    std::fprintf(stderr, "*** Terminating app due to uncaught exception '%s', reason: '%s'\n", text("name"),
                 text("reason"));
  } else {
    std::fprintf(stderr, "*** Terminating app due to uncaught exception of class '%s'\n", object_getClassName(object));
  }
  std::abort();
}

}  // namespace

// Replaces GCC's function, for GNUstep too. As on a Mac, the exception owns its object, because the object's pool may
// be drained meanwhile.
void objc_exception_throw(id object) {
  auto* thrown = static_cast<ThrownObject*>(std::calloc(1, sizeof(ThrownObject)));
  if (!thrown) std::abort();
  thrown->header.exception_class = kObjectiveC;
  thrown->header.exception_cleanup = delete_object;
  thrown->object = objc_retain(object);
  _Unwind_RaiseException(&thrown->header);
  end_uncaught(object);
}

void* alloy_begin_catch(void* argument) {
  auto* exception = static_cast<_Unwind_Exception*>(argument);
  const bool object = is_object(exception->exception_class);
  set_goes_on(exception, false);
  caught().push_back({exception, object, false});
  return object ? object_of(exception) : abi::__cxa_begin_catch(argument);
}

void alloy_end_catch() {
  const Caught ended = caught().back();
  caught().pop_back();
  if (!ended.is_object) {
    abi::__cxa_end_catch();
  } else if (!ended.goes_on && !is_caught(ended.exception)) {
    _Unwind_DeleteException(ended.exception);
  }
}

void alloy_rethrow() {
  if (caught().empty()) std::terminate();
  const Caught latest = caught().back();
  if (!latest.is_object) abi::__cxa_rethrow();
  set_goes_on(latest.exception, true);
  _Unwind_Resume_or_Rethrow(latest.exception);
  std::terminate();
}

void alloy_resume_or_rethrow(_Unwind_Exception*) { alloy_rethrow(); }

void* objc_begin_catch(void* exception) { return alloy_begin_catch(exception); }

void objc_end_catch() { alloy_end_catch(); }

void objc_exception_rethrow(void*) { alloy_rethrow(); }

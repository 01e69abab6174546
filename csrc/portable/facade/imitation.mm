// The facade's part of an imitation (compiler/imitation.h): exceptions, missing selectors, types of data.

#include <cctype>
#include <string_view>

#include "compiler/imitation.h"
#include "facade/errors.h"
#include "facade/imitation.h"

namespace alloy::facade {

namespace {

struct Newer {
  const char *class_name, *selector;
  ir::System first;
};

constexpr Newer kNewer[] = {
#define ALLOY_NEWER(class_name, selector, first, source) {#class_name, selector, ir::version(#first)},
#include "facade/newer.def"
};

bool lacks(const Newer& row) {
  return compiler::imitation().system.is_apple() && compiler::imitation().system < row.first;
}

// Replaces a selector that the imitated system lacks.
void lacking(id, SEL selector) {
  raise_abort([[NSString stringWithFormat:@"[%@] The selector is not there on %s.", NSStringFromSelector(selector),
                                          to_string(compiler::imitation().system).c_str()] UTF8String]);
}

using Question = BOOL (*)(id, SEL, SEL);
Question g_responds, g_class_responds, g_instances_respond;  // NSObject's own

// True if `selector` is the row's selector or, for a property, its setter. Sends no message: strings of Foundation call
// respondsToSelector:, which leads here again.
bool names(const Newer& row, SEL selector) {
  const std::string_view name = sel_getName(selector), given = row.selector;
  if (name == given) return true;
  return name.size() == given.size() + 4 && name.starts_with("set") && name.ends_with(':') &&
         name[3] == std::toupper(given[0]) && name.substr(4, given.size() - 1) == given.substr(1);
}

// True if the imitated system hides the selector. `asked` is a class or a metaclass.
bool is_hidden(Class asked, SEL selector) {
  for (const Newer& row : kNewer) {
    if (!lacks(row) || !names(row, selector)) continue;
    const Class owner = objc_getClass(row.class_name);
    for (Class c = asked; c != nullptr; c = class_getSuperclass(c)) {
      if (c == owner || c == object_getClass(owner)) return true;
    }
  }
  return false;
}

// Replaces every method that the row names, of the class and of its metaclass, by one that raises.
void hide(Class owner, const Newer& row) {
  unsigned count = 0;
  Method* methods = class_copyMethodList(owner, &count);
  for (unsigned i = 0; i < count; ++i) {
    if (names(row, method_getName(methods[i]))) {
      method_setImplementation(methods[i], reinterpret_cast<IMP>(lacking));
    }
  }
  free(methods);
}

BOOL responds(id object, SEL question, SEL selector) {
  return !is_hidden(object_getClass(object), selector) && g_responds(object, question, selector);
}

BOOL class_responds(id asked, SEL question, SEL selector) {
  return !is_hidden(object_getClass(asked), selector) && g_class_responds(asked, question, selector);
}

BOOL instances_respond(id asked, SEL question, SEL selector) {
  return !is_hidden(asked, selector) && g_instances_respond(asked, question, selector);
}

Question replace(Method method, Question by) {
  return reinterpret_cast<Question>(method_setImplementation(method, reinterpret_cast<IMP>(by)));
}

// Replaces `retain` of a block in its scope.
id stay(id block, SEL) {
  NSLog(@"[retain] A block in its scope was retained, which a Mac does not do: it goes with its scope. Send it copy.");
  return block;
}

}  // namespace

void raise_abort(const std::string& sentence) {
  [[NSException exceptionWithName:[NSString stringWithUTF8String:ir::kAbortException]
                           reason:[NSString stringWithUTF8String:sentence.c_str()]
                         userInfo:nil] raise];
  __builtin_unreachable();
}

void abort_where(ir::Quirk quirk, NSString* method) {
  const ir::System system = compiler::imitation().system;
  if (has(system, quirk)) raise_abort(compiler::Abort([method UTF8String], system, quirk).what());
}

bool imitates(ir::Quirk quirk) { return has(compiler::imitation().system, quirk); }

void refuse_unknown_imitation() {
  if (!compiler::imitation().mistake.empty()) raise_invalid(@"%s", compiler::imitation().mistake.c_str());
}

void imitate_classes() {
  if (!compiler::imitation().system.is_apple()) return;
  for (const Newer& row : kNewer) {
    if (!lacks(row)) continue;
    Class owner = [NSClassFromString([NSString stringWithUTF8String:row.class_name]) class];
    hide(owner, row);
    hide(object_getClass(owner), row);
  }
  class_addMethod(objc_lookUpClass("AlloyStackBlock"), @selector(retain), reinterpret_cast<IMP>(stay), "@@:");
  // Replaces the methods of NSObject, because a class of this runtime accepts no new class methods once it has received
  // a message.
  g_responds = replace(class_getInstanceMethod([NSObject class], @selector(respondsToSelector:)), responds);
  const Method of_classes = class_getClassMethod([NSObject class], @selector(respondsToSelector:));
  if (method_getImplementation(of_classes) != reinterpret_cast<IMP>(responds)) {
    g_class_responds = replace(of_classes, class_responds);
  }
  g_instances_respond =
      replace(class_getClassMethod([NSObject class], @selector(instancesRespondToSelector:)), instances_respond);
}

}  // namespace alloy::facade

// Loads code that clang compiled for -fobjc-runtime=gnustep-1.9 into GCC's Objective-C runtime. The two describe
// classes, categories and protocols almost alike. Modules of other kinds are passed on unchanged.

#include <objc/runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "objc/encoding.h"
#include "objc/entry_points.h"
#include "objc/pools.h"
#include "objc/properties.h"

extern "C" void __objc_exec_class(void* module);  // GCC's function that registers a module

namespace {

// The compiler's output: the fields of GCC's ABI, followed by fields for newer runtimes.

struct Protocol;

struct ProtocolList {
  ProtocolList* next;
  size_t count;
  Protocol* list[];
};

struct Protocol {
  uintptr_t version;  // later the class of protocols
  const char* name;
  ProtocolList* adopted;
};

struct InstanceVariable {
  const char* name;
  const char* type;
  int offset;
};

struct InstanceVariables {
  int count;
  InstanceVariable list[];
};

struct CompiledClass {
  CompiledClass* meta;
  const char* superclass;  // null for a root class
  const char* name;
  long version;
  unsigned long info;
  long instance_size;  // negative: only the class's own variables
  InstanceVariables* variables;
  void* methods;
  void* dispatch_table;
  void* subclasses;
  void* siblings;
  ProtocolList* protocols;
  void* collected_as;
  long abi_version;
  int** offsets;  // where compiled code finds each variable's offset
  PropertyList* properties;
};

struct Category {
  const char* name;
  const char* class_name;
  void* instance_methods;
  void* class_methods;
  ProtocolList* protocols;
};

struct SymbolTable {
  unsigned long selector_count;
  void* selectors;
  uint16_t class_count;
  uint16_t category_count;
  void* definitions[];  // classes, then categories, then constant strings
};

struct Module {
  unsigned long version;
  unsigned long size;
  const char* name;
  SymbolTable* symbols;
};

constexpr unsigned long kGccVersion = 8;
constexpr unsigned long kLoaded = 0;  // version of a loaded module; a module may come twice
constexpr uintptr_t kGccProtocol = 2, kGnustepProtocol = 3;
constexpr unsigned long kClassKinds = 3;  // info bits with the same meaning in both: a class, a metaclass

// Modules that wait for a superclass. The mutex is recursive, because a +load method may load a library.
std::recursive_mutex loading;
std::vector<Module*>& waiting() {
  static auto* modules = new std::vector<Module*>;
  return *modules;
}

CompiledClass* class_at(const Module& module, int i) {
  return static_cast<CompiledClass*>(module.symbols->definitions[i]);
}

// The size of an instance of the named class, or -1 if the class is not known yet.
long instance_size(const char* name) {
  const Class known = static_cast<Class>(objc_lookUpClass(name));
  return known ? static_cast<long>(class_getInstanceSize(known)) : -1;
}

// The first offset from `base` on where the class's variables fit. The compiler fixed the distances between them,
// without knowing the variables that the superclass declares elsewhere.
long fitting_base(const CompiledClass& compiled, long base) {
  constexpr long kWide = 16;
  base = (base + 7) / 8 * 8;
  const InstanceVariables* variables = compiled.variables;
  if (!variables || !variables->count) return base;
  // The compiler saw unused bytes at the end of the superclass, which may be used now.
  if (variables->list[0].offset < 0) base += kWide;
  for (int i = 0; i < variables->count; ++i) {
    if (!is_wide(variables->list[i].type)) continue;
    while ((base + variables->list[i].offset) % kWide != 0) ++base;
    break;
  }
  return base;
}

// Places the class's variables after those of its superclass.
void place_variables(CompiledClass& compiled, long superclass_size) {
  const long base = fitting_base(compiled, superclass_size);
  compiled.instance_size = base - compiled.instance_size;
  if (!compiled.variables) return;
  for (int i = 0; i < compiled.variables->count; ++i) {
    int& offset = compiled.variables->list[i].offset;
    offset += static_cast<int>(base);
    *compiled.offsets[i] = offset;
  }
}

bool is_placed(const CompiledClass& compiled) { return compiled.instance_size > 0; }

// Places the variables of all classes whose superclass is in these modules or already loaded.
void place_all(const std::vector<Module*>& modules) {
  std::unordered_map<std::string_view, CompiledClass*> classes;
  for (const Module* module : modules) {
    for (int i = 0; i < module->symbols->class_count; ++i) classes[class_at(*module, i)->name] = class_at(*module, i);
  }
  for (bool placed_one = true; placed_one;) {
    placed_one = false;
    for (const auto& [name, compiled] : classes) {
      if (is_placed(*compiled)) continue;
      long base = compiled->superclass ? instance_size(compiled->superclass) : 0;
      if (base < 0) {
        const auto super = classes.find(compiled->superclass);
        if (super != classes.end() && is_placed(*super->second)) base = super->second->instance_size;
      }
      if (base < 0) continue;
      place_variables(*compiled, base);
      placed_one = true;
    }
  }
}

bool all_placed(const Module& module) {
  for (int i = 0; i < module.symbols->class_count; ++i) {
    if (!is_placed(*class_at(module, i))) return false;
  }
  return true;
}

void translate(ProtocolList* protocols) {
  for (; protocols; protocols = protocols->next) {
    for (size_t i = 0; i < protocols->count; ++i) {
      Protocol& protocol = *protocols->list[i];
      if (protocol.version != kGnustepProtocol) continue;
      protocol.version = kGccProtocol;
      translate(protocol.adopted);
    }
  }
}

void translate(const SymbolTable& symbols) {
  for (int i = 0; i < symbols.class_count; ++i) {
    auto& compiled = *static_cast<CompiledClass*>(symbols.definitions[i]);
    compiled.info &= kClassKinds;
    compiled.meta->info &= kClassKinds;
    translate(compiled.protocols);
    keep_properties(reinterpret_cast<Class>(&compiled), compiled.properties);
    keep_properties(reinterpret_cast<Class>(compiled.meta), compiled.meta->properties);
  }
  for (int i = 0; i < symbols.category_count; ++i) {
    auto& category = *static_cast<Category*>(symbols.definitions[symbols.class_count + i]);
    translate(category.protocols);
    // Under this name the compiler lists the protocols that @protocol() names. With an existing class, GCC's runtime
    // registers them.
    if (std::strcmp(category.class_name, "__ObjC_Protocol_Holder_Ugly_Hack") == 0) category.class_name = "Protocol";
  }
}

// GCC's runtime keeps the module.
Module* make_module(const Module& like, void* selectors, const std::vector<void*>& classes,
                    const std::vector<void*>& categories, void* strings) {
  void* memory = std::calloc(1, sizeof(SymbolTable) + (classes.size() + categories.size() + 1) * sizeof(void*));
  auto* symbols = static_cast<SymbolTable*>(memory);
  symbols->selectors = selectors;
  symbols->class_count = static_cast<uint16_t>(classes.size());
  symbols->category_count = static_cast<uint16_t>(categories.size());
  void** definition = std::copy(classes.begin(), classes.end(), symbols->definitions);
  *std::copy(categories.begin(), categories.end(), definition) = strings;
  // Keeps a reference here too: if GCC's runtime drops its own, sanitizers would report a leak.
  static auto* kept = new std::vector<Module*>;
  return kept->emplace_back(new Module{kGccVersion, sizeof(Module), like.name, symbols});
}

// Loads the selectors and constant strings of all modules first, then all classes and categories at once: +load methods
// may use definitions in other files.
void load(const std::vector<Module*>& modules) {
  std::vector<void*> classes, categories;
  for (Module* module : modules) {
    const SymbolTable& symbols = *module->symbols;
    translate(symbols);
    void* const* definition = symbols.definitions;
    classes.insert(classes.end(), definition, definition + symbols.class_count);
    definition += symbols.class_count;
    categories.insert(categories.end(), definition, definition + symbols.category_count);
    definition += symbols.category_count;
    module->version = kLoaded;
    __objc_exec_class(make_module(*module, symbols.selectors, {}, {}, *definition));
  }
  __objc_exec_class(make_module(*modules.front(), nullptr, classes, categories, nullptr));
}

id same(id object, SEL) { return object; }
void nothing(id, SEL) {}

// Protocols and metaclasses are objects of GCC's own classes, which do not count owners.
void make_countable(Class kind) {
  const auto method = [](auto* function) { return reinterpret_cast<IMP>(reinterpret_cast<void (*)()>(function)); };
  for (const char* name : {"retain", "autorelease", "copy"}) {
    class_addMethod(kind, sel_registerName(name), method(same), "@@:");
  }
  class_addMethod(kind, sel_registerName("release"), method(nothing), "v@:");
}

}  // namespace

void alloy_load_module(void* loaded) {
  auto& module = *static_cast<Module*>(loaded);
  if (module.version == kLoaded) return;
  if (module.version <= kGccVersion) return __objc_exec_class(loaded);
  const std::lock_guard lock(loading);
  std::vector<Module*>& modules = waiting();
  if (std::find(modules.begin(), modules.end(), &module) == modules.end()) modules.push_back(&module);
}

void alloy_load_waiting() {
  const std::lock_guard lock(loading);
  std::vector<Module*>& modules = waiting();
  if (modules.empty()) return;
  static std::once_flag prepared;
  std::call_once(prepared, [] {
    make_countable(static_cast<Class>(objc_lookUpClass("Protocol")));
    make_countable(static_cast<Class>(objc_getMetaClass("Object")));
    give_threads_pools();
  });
  place_all(modules);
  const auto ready =
      std::stable_partition(modules.begin(), modules.end(), [](const Module* m) { return !all_placed(*m); });
  const std::vector<Module*> placed(ready, modules.end());
  modules.erase(ready, modules.end());
  if (!placed.empty()) load(placed);
}

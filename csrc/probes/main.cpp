// alloy_probes          lists the questions, and quirks.def's entries for this system, with tabs between fields
// alloy_probes <name>   asks one question and prints "answer: ..."; ends as the framework ends it
#include <cstdio>
#include <string_view>

#include "ir/quirks.h"
#include "probes.h"

namespace {

using namespace alloy;

constexpr ir::Quirk kRows[] = {
#define ALLOY_QUIRK(name, ...) ir::Quirk::name,
#include "ir/quirks.def"
};

// Prints the row's effect on the asked system ("none" if the system does not have it) and the row's sentence.
void print_quirk(const char* name, ir::System system) {
  for (const ir::Quirk quirk : kRows) {
    const ir::QuirkInfo& row = ir::info(quirk);
    if (name == nullptr || row.name != name) continue;
    const char* effect = !ir::has(system, quirk) ? "none" : row.effect == ir::Effect::aborts ? "aborts" : "wrong";
    std::printf("\t%s\t%s\n", effect, ir::describe(system, quirk).c_str());
    return;
  }
  std::printf("\tnone\t\n");
}

void list() {
  const ir::System system = probes::asked_system();
  std::printf("system\t%s\n", ir::to_string(system).c_str());
  for (const probes::Probe& p : probes::all_probes()) {
    std::printf("%s\t%s\t%s\t%g\t%s\t%s\t%s", p.name, p.question, p.expected ? p.expected : "", p.tolerance, p.reason,
                p.told, p.quirk ? p.quirk : "");
    print_quirk(p.quirk, system);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 1) {
    list();
    return 0;
  }
  for (const probes::Probe& p : probes::all_probes()) {
    if (argc != 2 || std::string_view(argv[1]) != p.name) continue;
    const std::string text = probes::answer(p);
    std::printf("answer: %s\n", text.c_str());
    return 0;
  }
  std::fprintf(stderr, "usage: alloy_probes [name]\n");
  return 2;
}

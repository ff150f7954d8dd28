#include "driver/pass_tables.h"

#include "loops/pipeline.h"
#include "session/pipeline.h"

namespace melix::driver {
namespace {

struct StateRow {
  const char* name;
  const char* text;
};

constexpr StateRow coreStates[] = {
#define STATE(Name, Text) {#Name, Text},
#include "core/ir/states.def"
#undef STATE
};

constexpr StateRow loopsStates[] = {
#define STATE(Name, Text) {#Name, Text},
#include "loops/ir/states.def"
#undef STATE
};

template <class State>
std::string listed(States<State> states, std::span<const StateRow> rows) {
  std::string out;
  for (size_t k = 0; k < rows.size(); ++k)
    if (states.has(static_cast<State>(k))) out += (out.empty() ? "" : ", ") + std::string(rows[k].name);
  return out;
}

/// Of a pass of Core: whether it decides how floats are rounded.
std::string note(const session::Pass& pass) { return pass.mayRound ? " *Rounds.*" : ""; }
std::string note(const loops::Pass&) { return ""; }

template <class Pass>
std::string table(std::span<const Pass> passes, std::span<const StateRow> states) {
  std::string out =
      "| | pass | transformation | requires | establishes | ends |\n|---|---|---|---|---|---|\n";
  for (size_t k = 0; k < passes.size(); ++k) {
    const Pass& p = passes[k];
    out += "| " + std::to_string(k + 1) + " | `" + std::string(p.name) + "` | " + std::string(p.sentence) +
           note(p) + " | " + listed(p.needs, states) + " | " + listed(p.establishes, states) + " | " +
           listed(p.ends, states) + " |\n";
  }
  out += "\n| state | meaning |\n|---|---|\n";
  for (const StateRow& row : states) out += "| " + std::string(row.name) + " | " + row.text + " |\n";
  return out;
}

} // namespace

std::string passTable(bool ofLoops) {
  return ofLoops ? table(loops::passes(), loopsStates) : table(session::passes(), coreStates);
}

std::string passTables() { return "## Core\n\n" + passTable(false) + "\n## Loops\n\n" + passTable(true); }

} // namespace melix::driver

#pragma once
// Loops as text. What is printed reads back by loops/text/parse.h, whose header has the grammar.

#include "loops/ir/ir.h"

#include <functional>

namespace melix::loops {

/// Where in the program a statement comes from, as text; empty if it comes from nowhere.
using PlaceText = std::function<std::string(LocId)>;

/// Text for people and tests: one statement a line, regions indented, counts and modes shown; of a module,
/// the records of its types first. Values have the names of the program's variables where they are known.
/// `// PLACE` stands before what comes from there, and behind statements of loops in lanes what lanes do
/// (vector_notes.h): text for people has both.
std::string print(const Module& module, const PlaceText& place = {});
std::string print(const Module& module, const Function& function, const PlaceText& place = {});

/// Names of the values of a function, as its text has them.
class ValueNames {
public:
  ValueNames(const Module& module, const Function& function);
  std::string operator[](ValueId v) const;

private:
  std::unordered_map<ValueId, std::string> names_;
};

std::string_view stmtText(StmtKind kind);
std::string_view typeText(ValueType type);
std::string_view runtimeText(RuntimeKind kind);
std::string_view modeText(ModeKind kind);
std::string_view markText(MarkKind kind);       ///< empty: Serial
std::string_view effectsText(EffectsKind kind); ///< empty: Any
std::string_view functionText(FunctionKind kind);

} // namespace melix::loops

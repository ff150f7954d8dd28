#pragma once
// Prints Loops as text. loops/text/parse.h reads the text back; its header has the grammar.

#include "loops/ir/ir.h"

#include <functional>

namespace melix::loops {

/// The source location of a statement as text; empty if it has none.
using PlaceText = std::function<std::string(LocId)>;

/// Text for people and tests: one statement a line, regions indented, counts and modes shown. The text of a
/// module begins with the records of its types. Values have the names of the program's variables where these
/// are known. Text for people has two additions: `// PLACE` before the statements of that place, and notes
/// after statements of vectorised loops (vector_notes.h).
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
std::string_view dependenceText(Dependence kind); ///< empty: Serial
std::string_view effectsText(EffectsKind kind);   ///< empty: Any
std::string_view functionText(FunctionKind kind);

} // namespace melix::loops

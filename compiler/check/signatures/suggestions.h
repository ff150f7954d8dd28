#pragma once
// Suggests a meaning for an unknown name, from the first of these that has one:
//   1. the tables of other languages and libraries (habits.def);
//   2. a module that is not imported;
//   3. a name of nearly the same letters (near_names.h).

#include "check/signatures/checker.h"

namespace melix::check {

/// A hint for a name in an expression, by the name itself and by the text after it: `np.clip(…)`,
/// `csv.read(…)`. `near` are the variables there are.
std::string nameHint(Checker& checker, ModuleId module, NameId name, Span use,
                     const std::vector<NameId>& near);

/// Of a type, by its name or as `module.name`.
std::string typeHint(Checker& checker, ModuleId module, const syntax::Ast& ast, syntax::NodeId type);

/// Of the name of an argument of a function whose typing the compiler knows; empty if nothing is known of it.
std::string_view argumentHabit(std::string_view label);

/// The name that is nearest, else, if they are few, all there are; empty if there are none, or many.
std::string nearOrListed(std::string_view wrong, const std::vector<std::string_view>& known);

} // namespace melix::check

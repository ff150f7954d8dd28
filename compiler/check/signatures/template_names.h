#pragma once
// Reports names in templates that no use of the template could give a meaning. They are reported where they
// are written, used or not.

#include "check/signatures/checker.h"
#include "support/function_ref.h"

namespace melix::check {

/// Reports the lower-case names below `node` (a function or lambda) that mean nothing in `module` and are not
/// bound by `node` or anything inside of it. `visible` determines the names that its place offers. The check
/// of instances decides which of the bound names are in scope.
void checkTemplateNames(Checker& checker, ModuleId module, const syntax::Ast& ast, syntax::NodeId node,
                        FunctionRef<bool(NameId)> visible);

/// Whether `use` stands in a lambda that a `let` gives that name, and a hint for this case.
bool isInOwnLambda(const syntax::Ast& ast, NameId name, Span use);
std::string declaredHint(std::string_view name);

/// Whether a message of `here` reports that a name of the file means nothing: its other uses have the same
/// cause. The names in a quote are the same at every use, so for them all messages count.
bool isUnknownTold(const names::Modules& modules, std::string_view name, Span span,
                   std::span<const Diagnostic> here);

} // namespace melix::check

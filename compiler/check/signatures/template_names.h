#pragma once
// Names in templates: what no use of a template could give a meaning is told where it is written, used or
// not.

#include "check/signatures/checker.h"

namespace melix::check {

/// Reports the lower-case names below `node` (a function or lambda) that mean nothing in `module` and are not
/// bound by `node` or anything inside of it; `visible` says which names its place offers. Which of the bound
/// names are in scope is left to the checking of instances.
void checkTemplateNames(Checker& checker, ModuleId module, const syntax::Ast& ast, syntax::NodeId node,
                        const std::function<bool(NameId)>& visible);

/// Whether `use` stands in a lambda that a `let` gives that name, and what helps there.
bool isInOwnLambda(const syntax::Ast& ast, NameId name, Span use);
std::string declaredHint(std::string_view name);

/// Whether a message since `since` says that a name of the file means nothing: its other uses have the same
/// cause. What a quote writes is the same in every use, whenever that was told.
bool isUnknownTold(const names::Modules& modules, std::string_view name, Span span, size_t since);

} // namespace melix::check

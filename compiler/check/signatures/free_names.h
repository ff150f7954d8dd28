#pragma once
// The names that a function or lambda uses from the place where it stands.

#include "support/function_ref.h"
#include "syntax/ast.h"

#include <functional>
#include <set>

namespace melix::check {

/// Calls `visit` for each node inside of `node` but for patterns and the names of types, from the outside in;
/// `isBound` says whether something inside of `node` binds a name there. A name bound in a way that is not
/// followed counts as free.
using IsBound = std::function<bool(NameId)>;
void forEachInside(const syntax::Ast& ast, syntax::NodeId node,
                   FunctionRef<void(syntax::NodeId, const IsBound& isBound)> visit);

/// The names that a pattern binds, beside others.
void collectNames(const syntax::Ast& ast, syntax::NodeId pattern, std::set<NameId>& names);

/// The first use in an expression of a name that is sought, where nothing inside binds it; none if there is
/// none. The second argument of `isSought` is whether the name is all that stands between commas in brackets:
/// a type may.
syntax::NodeId firstUse(const syntax::Ast& ast, syntax::NodeId expr,
                        FunctionRef<bool(NameId, bool inBrackets)> isSought);

/// Whether an item of brackets is `new`, an axis of size 1, unless a variable has that name.
bool namesNewAxis(const syntax::Ast& ast, const Interner& names, syntax::NodeId item);

/// Whether a name stands anywhere in a piece of syntax, whatever it means there.
bool mentions(const syntax::Ast& ast, syntax::NodeId node, NameId wanted);

} // namespace melix::check

#pragma once
// Trees as text that reads back as the same tree. The layout is the formatter's business.

#include "expand/value.h"

namespace melix::expand {

/// How names are written; each with its marks.
using Spelling = std::function<std::string(NameId)>;

std::string print(const Ast& ast, Value value, const Interner& names);
std::string print(const Ast& ast, NodeId node, Role role, const Spelling& spelling);
/// Several items or statements, one after another.
std::string printItems(const Ast& ast, const NodeList& items, const Spelling& spelling);

} // namespace melix::expand

#pragma once
// Syntax as macros have it: a node of the tree that is being expanded, and the kind it is taken for. A field,
// a case, an arm, a parameter or a header stands in a node that can hold one (nodes.def, Quote).

#include "expand/payload.h"

#include <optional>
#include <string>

namespace melix::expand {

enum class Kind : uint8_t {
#define KIND(Kind, What) Kind,
#include "expand/kinds.def"
};
std::string_view kindName(Kind kind);
/// As messages say it: `an expression`.
std::string_view kindText(Kind kind);
std::optional<Kind> kindNamed(std::string_view name);

struct Value {
  Kind kind = Kind::Expr;
  NodeId node;
};
using Values = std::vector<Value>;

/// The value of a node on its own, where the role determines its kind.
Value valueOf(const Ast& ast, NodeId node, Role role);
/// The same value as another kind, without asking (rule 6 of macros); none if it cannot be that kind.
/// 1. A name is an expression, a type and a pattern.
/// 2. An expression is a statement, a statement a block, a block of one statement that statement.
/// 3. A call or a name is a pattern and a type.
/// 4. A type parameter is its name.
std::optional<Value> converted(Ast& ast, Value value, Kind wanted);
/// The node for a place that wants `role`; none if the value does not fit there.
NodeId nodeFor(Ast& ast, Value value, Role role);
/// Statements of a block; of anything else the one it is. None: no statement.
std::optional<NodeList> statementsOf(Ast& ast, Value value);
/// A node that holds one part alone.
Value held(Ast& ast, Parameter part);
Value held(Ast& ast, FieldDecl part);
Value held(Ast& ast, CaseDecl part);
Value held(Ast& ast, Header part);
Value held(Ast& ast, MatchArm part);
Value held(Ast& ast, Argument part);
Value held(Ast& ast, Generic part);
/// Through brackets that only group.
NodeId withoutParens(const Ast& ast, NodeId node);
/// The number of nodes of a tree, at most `most`: shared ones count as often as they stand.
uint64_t sizeOf(const Ast& ast, NodeId node, uint64_t most);
/// Literals: negative numbers are in brackets.
Value literal(Ast& ast, NodeKind kind, std::string text, Span span);

} // namespace melix::expand

#pragma once
// Trees as lists of parts, to compare two of them and to match one against a quote.

#include "expand/value.h"

#include <map>

namespace melix::expand {

/// Whether two trees are the same: marks count, brackets that only group and places do not.
bool isSame(const Ast& ast, NodeId a, NodeId b);

/// The syntax that the splices of a pattern matched, by the splice's node.
struct Bindings {
  std::map<NodeId, Value> one;
  std::map<NodeId, Values> many;
};

/// Matches the tree `subject` of `to` against the quoted `pattern` of `from`. Names of the pattern are
/// matched by their spelling. A part that the pattern leaves out must be missing in the subject too, except
/// `pub` and attributes.
class Matcher {
public:
  Matcher(const Ast& from, Ast& to, const Interner& names) : from_(from), to_(to), names_(names) {}

  /// The bindings; none if it does not match.
  std::optional<Bindings> match(NodeId pattern, Value subject);
  /// A `$..xs` of the pattern that can match nothing, as another one is in its list or one node stands there;
  /// none if none was met.
  NodeId misplaced() const { return misplaced_; }

private:
  struct Piece;
  struct Shape;
  friend bool isSame(const Ast& ast, NodeId a, NodeId b);

  bool node(NodeId pattern, NodeId subject, Role role);
  bool test(const TestItem& pattern, NodeId subject);
  bool quoted(NodeId pattern, Value subject);
  bool pieces(const std::vector<Piece>& pattern, const std::vector<Piece>& subject);
  bool piece(const Piece& pattern, const Piece& subject);
  bool list(const std::vector<Piece>& pattern, const std::vector<Piece>& subject);
  Span nameSpanIn(const Piece& part) const;
  NodeId spliceIn(const Piece& pattern) const;
  std::optional<Value> valueIn(const Piece& subject);
  bool name(NameId pattern, const Piece& subject);
  bool bind(NodeId splice, Value value);

  const Ast& from_;
  Ast& to_;
  const Interner& names_;
  Bindings found_;
  NodeId misplaced_;
  Span nameSpan_; ///< of the name in the subject at hand
};

} // namespace melix::expand

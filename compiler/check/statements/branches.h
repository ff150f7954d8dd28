#pragma once
// Checks branches that meet against the type expected of them.

#include "check/body/body.h"
#include "support/function_ref.h"

namespace melix::check {

/// Checks one of several branches: `check` makes it at the type asked of it. The unknown parts of `expected`
/// are solved for each branch separately, as branches may differ in them. Where branches meet, the value has
/// the parts that it came with.
NodeId ownBranch(Body& body, TypeId expected, FunctionRef<NodeId(TypeId)> check);

/// Joins the sizes of branches after their types are unified. A size in which they differ is existential: it
/// belongs to the node where they meet.
class SizeJoin {
public:
  SizeJoin(Body& body, TypeId expected, Span span) : body_(body), expected_(expected), span_(span) {}
  /// Whether branches whose types relate like this may meet (rule 24).
  bool allows(UnifyKind kind) const;
  /// The type of a value that is of one type or the other: the expected type with a size for each variable
  /// of it, or the two types joined axis by axis.
  TypeId join(TypeId one, TypeId other);
  std::vector<DimSym> found; ///< the existential sizes

private:
  DimId joined(DimId one, DimId other);
  TypeId joinAxes(TypeId one, TypeId other);

  Body& body_;
  TypeId expected_; ///< with sizes still to be found; none if the context asks for no type
  Span span_;
};

} // namespace melix::check

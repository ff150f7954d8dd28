#pragma once
// Checks reductions and lists whose ranges depend on earlier indices (rule 32).

#include "check/body/body.h"

namespace melix::check {

/// Whether the range of a header depends on an index before it.
bool isNested(const syntax::Ast& ast, const syntax::Builder& builder);
/// A reduction over a nested generator.
NodeId reduceNested(Body& body, IntrinsicKind kind, const syntax::Builder& builder, Span span);
/// `list(for …)`: flat where the builder is nested, in the order of loops. `want` is the List asked for, or
/// none.
NodeId listOfBuilder(Body& body, const syntax::Builder& builder, TypeId want, Span span);
/// The terms of a nested generator in one axis, in the order of loops.
NodeId arrayOfNested(Body& body, const syntax::Builder& builder, Span span);

} // namespace melix::check

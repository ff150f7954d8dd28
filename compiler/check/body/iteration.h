#pragma once
// Values that are iterated by `iter` and `next` (rule 36), and ranges that are values.

#include "check/body/body.h"
#include "support/function_ref.h"

namespace melix::check {

using CheckRound = FunctionRef<NodeId()>; ///< checks the body of a loop

/// `var it = iter(e); loop { match next(&it) { Some(p) => round, None => break } }`; `pattern` is checked at
/// the type of an element. `at` is where the iterated value stands.
NodeId iterate(Body& body, NodeId source, Span at, FunctionRef<PatternId(TypeId)> pattern, CheckRound round,
               Span span);
/// `var out: List[T] = []; for x in e { out.push(x) }; out`
NodeId listOfIterator(Body& body, NodeId source, Span span);

/// A List of the elements of an array along its first axis; a List as it is.
NodeId asList(Body& body, NodeId x, Span span);

/// Whether a step, written there, is a literal that is no step; says so.
bool isWrongStep(Body& body, NodeId step, SynId written);
/// The statement that a step is positive.
NodeId positiveStep(Body& body, NodeId step, Span span);

/// A range that is a value, in the variable `held`.
class RangeValue {
public:
  RangeValue(Body& body, LocalId held, Span span) : body_(body), held_(held), span_(span) {}
  NodeId first() const { return field(0); }
  NodeId step() const { return field(2); }
  /// The exact number of its elements; `before` gets the names of the values that it is computed from.
  DimId size(std::vector<NodeId>& before) const;
  /// The rounds of a loop over it, which has none where the range ends before it begins.
  NodeId rounds() const;
  NodeId numberAt(NodeId place) const;

private:
  NodeId field(uint32_t k) const { return body_.b.field(body_.b.local(held_, span_), k, span_); }

  Body& body_;
  LocalId held_;
  Span span_;
};

/// The numbers of a range that is a value.
NodeId arrayOfRange(Body& body, NodeId range, Span span);

} // namespace melix::check

#pragma once
// Conditions of integers, clamps and masks, in spellings that mean the same.

#include "fuzz/programs/context.h"

namespace melix::fuzz::programs {

const Type& integer();
const Type& truth();
NodePtr named(const std::string& name);                     ///< an int
NodePtr operate(const char* op, NodePtr a, NodePtr b);      ///< of numbers of one type
NodePtr compare(const char* op, NodePtr a, NodePtr b);      ///< of ints
NodePtr least(NodePtr a, NodePtr b);                        ///< min of ints
NodePtr greatest(NodePtr a, NodePtr b);                     ///< max of ints
NodePtr constant(const Type& type, int64_t value);          ///< of any type of numbers
NodePtr converted(const Type& type, NodePtr value);         ///< `value as type`
NodePtr branch(NodePtr condition, NodePtr yes, NodePtr no); ///< `if` as a value
NodePtr let(const std::string& name, NodePtr value, bool variable = false);
NodePtr assign(const char* op, NodePtr place, NodePtr value);
NodePtr when(NodePtr condition, std::vector<NodePtr> statements); ///< `if` as a statement

/// Each holds, or where not `holds` its opposite does.
NodePtr below(Context& c, const NodePtr& a, const NodePtr& b, bool holds = true);
NodePtr equals(Context& c, const NodePtr& a, const NodePtr& b, bool holds = true);
NodePtr inRange(Context& c, const NodePtr& at, const NodePtr& size, bool holds = true);
NodePtr nearby(Context& c, const NodePtr& a, const NodePtr& b, int64_t width, bool holds = true);
NodePtr connected(Context& c, bool both, NodePtr a, NodePtr b);
NodePtr opposite(Context& c, NodePtr condition);

/// The nearest of `0 .. size`, which is not empty.
NodePtr clamped(Context& c, const NodePtr& at, const NodePtr& size);
/// `value` where the condition holds, computed only there, and else `other`.
NodePtr guarded(Context& c, const NodePtr& condition, const NodePtr& value, const NodePtr& other);
/// 1 where the condition holds and else 0.
NodePtr indicator(Context& c, const Type& type, const NodePtr& condition);

} // namespace melix::fuzz::programs

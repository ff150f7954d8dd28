#pragma once
// The parts of the nodes of the typed tree. This is the only place that knows the contents of each payload. A
// walk asks it for children, places, sizes or names, and a new payload is described here once.

#include "check/tree/typed.h"
#include "support/function_ref.h"

#include <set>
#include <type_traits>

namespace melix::check {

/// The parts of a node, as `tellParts` reports them; a walk overrides the kinds that it needs. `Of<T>` is T,
/// const where the node is.
template <class NodeT>
struct NodeParts {
  template <class T>
  using Of = std::conditional_t<std::is_const_v<NodeT>, const T, T>;

  virtual ~NodeParts() = default;
  /// A node that this one evaluates, in order of evaluation (of a branch: where it stands).
  virtual void child(NodeId) {}
  /// A variable that is read whole.
  virtual void reads(LocalId) {}
  /// The place that is changed, once the node is evaluated to its end. The expressions in its steps, and its
  /// sizes, are reported by `child`, `size` and `type`.
  virtual void place(Of<Place>&) {}
  /// A size beside the sizes of the node's type.
  virtual void size(Of<DimId>&) {}
  /// A type beside the node's own.
  virtual void type(Of<TypeId>&) {}
  /// A variable that the node gives its value, for its children.
  virtual void defines(LocalId) {}
  /// A pattern: it defines names for children of the node, or for the nodes after it.
  virtual void binds(PatternId) {}
  /// A function that is called or differentiated; none of a call that was given up.
  virtual void calls(Of<CallTarget>&) {}
};

/// Reports the parts of `node` to `parts`.
void tellParts(const Node& node, NodeParts<const Node>& parts);
void tellParts(Node& node, NodeParts<Node>& parts);

using OnNode = FunctionRef<void(NodeId)>;
/// The nodes that `node` evaluates itself, in order of evaluation.
void forEachChild(const Node& node, OnNode f);
/// The expressions in the steps of a place, in the order they are written.
void forEachIndex(const std::vector<Step>& steps, OnNode f);
/// `n` and every node below it.
void forEachNode(const Instance& instance, NodeId n, OnNode f);
/// The places that `node` itself changes.
void forEachPlace(const Node& node, FunctionRef<void(const Place&)> f);
/// A pattern and the patterns in it.
void forEachPattern(const Instance& instance, PatternId pattern, FunctionRef<void(const Pattern&)> f);
/// The call that `node` is, or differentiates; null if it is neither.
const CallTarget* targetOf(const Node& node);
/// The size symbols that `node` mentions, in its type and beside it.
void collectSymbols(const Node& node, const types::TypeStore& types, std::vector<DimSym>& used);

/// Names of variables and of sizes.
struct Names {
  std::set<LocalId> locals;
  std::set<DimSym> sizes;
  bool meets(const Names& other) const;
};
/// The names that `n` and the nodes below it define.
void collectDefined(const Instance& instance, NodeId n, Names& names);
/// The variables that `n` and the nodes below it change, or parts of them.
void collectChanged(const Instance& instance, NodeId n, std::set<LocalId>& roots);
/// The names that `n` and the nodes below it read and do not define themselves; a variable that they change
/// counts as read.
void collectRead(const Instance& instance, const types::TypeStore& types, NodeId n, Names& names);

} // namespace melix::check

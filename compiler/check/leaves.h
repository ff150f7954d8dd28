#pragma once
// Leaves of structures (rule 41): the scalars and arrays of scalars of a struct, tuple or array of these, in
// order of declaration. map_leaves, fold_leaves and build unroll over them while checking.

#include "check/build.h"

namespace melix::check {

/// Calls a template with nodes as arguments; `asked` is the result type asked for, or none.
using TemplateCall = std::function<NodeId(std::vector<NodeId> args, TypeId asked)>;

class Leaves {
public:
  explicit Leaves(NodeBuilder& build) : b(build) {}

  /// `f` of corresponding differentiable leaves of `values` (the first is a T; the others are T's or tangents
  /// of T).
  NodeId map(const TemplateCall& f, const std::vector<NodeId>& values, Span span);
  /// op(… op(op(zero, f(leaf0)), f(leaf1)) …) over every scalar and array leaf.
  NodeId fold(const TemplateCall& op, NodeId zero, const TemplateCall& f, NodeId value, Span span);
  /// A value of `type` whose leaves are what `make` gives for their path.
  NodeId build(const TemplateCall& make, TypeId type, Span span);
  /// Sum of the products of corresponding leaves of two tangents, in the widest of their float types.
  NodeId dot(NodeId x, NodeId y, Span span);
  /// The same of a struct or a tuple, part by part.
  NodeId dotParts(NodeId x, NodeId y, Span span);
  /// The zero of a tangent type.
  NodeId zero(TypeId type, Span span);

private:
  bool isComposite(TypeId t);
  bool isDict(TypeId t);
  bool isLeaf(TypeId t);
  /// Of a type parameter: what it stands for says which leaves there are.
  bool isHidden(TypeId t);
  size_t partCount(TypeId t);
  std::string partName(TypeId t, size_t k);
  /// Values that hide their sizes, with those of the first named; the others agree when the program runs.
  struct Together {
    std::vector<NodeId> nodes, values;
    std::vector<DimId> sizes;
  };
  Together openTogether(const std::vector<NodeId>& packed, Span span);
  void closeWhole(TypeId type);
  NodeId mapEntries(const TemplateCall& f, const std::vector<NodeId>& values, TypeId type, Span span);
  NodeId mapParts(const TemplateCall& f, const std::vector<NodeId>& values, TypeId type, Span span);
  NodeId foldElements(const TemplateCall& op, NodeId sofar, const TemplateCall& f, NodeId value, Span span);
  NodeId foldEntries(const TemplateCall& op, NodeId sofar, const TemplateCall& f, NodeId dict, Span span);
  NodeId foldOver(const TemplateCall& op, NodeId sofar, const TemplateCall& f,
                  const std::vector<NodeId>& extents,
                  const std::function<NodeId(const std::vector<LocalId>&)>& element, Span span);
  NodeId foldParts(const TemplateCall& op, NodeId sofar, const TemplateCall& f, NodeId value, Span span);
  NodeId buildParts(const TemplateCall& make, TypeId type, const std::string& path, NodeId prefix, Span span);
  NodeId joined(NodeId prefix, const std::string& path, Span span);

  NodeBuilder& b;
};

} // namespace melix::check

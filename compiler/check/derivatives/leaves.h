#pragma once
// Leaves of structures (rule 41): the scalars and arrays of scalars of a struct, tuple or array of these, in
// order of declaration. map_leaves, fold_leaves and build unroll over them while checking.

#include "check/tree/build.h"
#include "support/function_ref.h"

namespace melix::check {

/// Calls a template with nodes as arguments; `asked` is the result type asked for, or none.
using TemplateCall = std::function<NodeId(std::vector<NodeId> args, TypeId asked)>;
using TextOf = std::function<NodeId(NodeId)>;

/// The function of leaves: one that takes the path first is given that too, with keys as `text` has them.
struct LeafCall {
  TemplateCall call;
  TextOf text; ///< null: it takes no path
};

/// How values are combined.
struct Combining {
  TemplateCall op;
  /// A value as a variable holds it that `next` replaces (growing.h).
  std::function<NodeId(NodeId value, FunctionRef<NodeId(NodeId)> next)> growing;
  std::function<NodeId(NodeId value, TypeId type)> coerce;
};

/// The path of a leaf: a text known when compiling, after one that is not, if any.
struct LeafPath {
  NodeId before;
  std::string text;
};

class Leaves {
public:
  explicit Leaves(NodeBuilder& build) : b(build) {}

  /// `f` of corresponding differentiable leaves of `values` (the first is a T; the others are T's or tangents
  /// of T).
  NodeId map(const LeafCall& f, const std::vector<NodeId>& values, Span span);
  /// op(… op(op(zero, f(leaf0)), f(leaf1)) …) over every scalar and array leaf.
  NodeId fold(const Combining& by, NodeId zero, const LeafCall& f, NodeId value, Span span);
  /// A value of `type` whose leaves are the results of `make` for their paths.
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
  /// Whether it is a type parameter: the type bound to it determines its leaves.
  bool isHidden(TypeId t);
  size_t partCount(TypeId t);
  std::string partName(TypeId t, size_t k);
  /// Values that hide their sizes, with the sizes of the first named; the others are compared at run time.
  struct Together {
    std::vector<NodeId> nodes, values;
    std::vector<DimId> sizes;
  };
  Together openTogether(const std::vector<NodeId>& packed, Span span);
  void closeWhole(TypeId type);
  LeafPath inPart(LeafPath path, TypeId t, uint32_t k);
  LeafPath behind(const LeafPath& path, const std::vector<NodeId>& texts, Span span);
  LeafPath atIndices(const LeafCall& f, const LeafPath& path, const std::vector<LocalId>& i, Span span);
  LeafPath atKey(const LeafCall& f, const LeafPath& path, NodeId key, Span span);
  std::vector<NodeId> numbers(const std::vector<LocalId>& indices, Span span);
  NodeId whole(const LeafPath& path, Span span);
  std::vector<NodeId> argumentsOf(const LeafCall& f, std::vector<NodeId> leaf, const LeafPath& path,
                                  Span span);
  NodeId mapEntries(const LeafCall& f, const std::vector<NodeId>& values, TypeId type, const LeafPath& path,
                    Span span);
  NodeId mapParts(const LeafCall& f, const std::vector<NodeId>& values, TypeId type, const LeafPath& path,
                  Span span);
  NodeId foldElements(const Combining& by, NodeId sofar, const LeafCall& f, NodeId value,
                      const LeafPath& path, Span span);
  NodeId foldEntries(const Combining& by, NodeId sofar, const LeafCall& f, NodeId dict, const LeafPath& path,
                     Span span);
  /// The value after one round, at these indices.
  using FoldRound = FunctionRef<NodeId(NodeId before, const std::vector<LocalId>& indices)>;
  NodeBuilder::Opened openLocal(LocalId local, Span span);
  NodeId foldOver(const Combining& by, NodeId sofar, const std::vector<NodeId>& extents, FoldRound round,
                  Span span);
  NodeId foldParts(const Combining& by, NodeId sofar, const LeafCall& f, NodeId value, const LeafPath& path,
                   Span span);
  NodeId buildParts(const TemplateCall& make, TypeId type, const LeafPath& path, Span span);

  NodeBuilder& b;
};

} // namespace melix::check

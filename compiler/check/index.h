#pragma once
// The items of one bracket on an array, checked in order: steps to what they choose, and its type.

#include "check/body.h"

namespace melix::check {

class IndexItems {
public:
  IndexItems(Body& body, TypeId array, Span span);
  /// False after a message.
  bool add(const std::vector<syntax::Argument>& items);

  std::vector<Step> steps; ///< index arrays are Index steps without an index; a mask makes no step
  Gathers gathers;
  std::vector<size_t> newAxes; ///< positions of `new` axes in the result
  std::vector<NodeId> before;  ///< ends of slices that have to be named first
  TypeId type() const;         ///< of what is chosen, without new axes; of a mask: nothing
  TypeId typeWithNewAxes() const;

private:
  bool isNewAxis(SynId item) const;
  bool addItem(SynId item);
  void addWhole(Span span);
  void addRest(Span span);
  bool addPack(const SynNode& n);
  void addAt(NodeId index, Span span);
  bool addSlice(const syntax::Range& range, Span span);
  bool addStepped(const Step& slice, SynId written);
  void addArray(NodeId ids, Span span);
  bool addIndex(SynId item, Span span);
  DimId end(SynId written, NodeId& node);
  DimId exactEnd(SynId written, NodeId& node);
  DimId named(NodeId& node, Span span);

  Body& body_;
  TypeStore& types_;
  NodeBuilder& b_;
  TypeId array_;
  std::vector<DimId> dims_, kept_;
  Span span_;
  size_t axis_ = 0, plain_ = 0; ///< the next axis; how many axes the items speak of
  bool alone_ = false;
};

} // namespace melix::check

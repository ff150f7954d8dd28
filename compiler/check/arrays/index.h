#pragma once
// The items of one bracket. On an array they are checked in order, and give the steps to the chosen elements
// and their type. On a List or a text there is one item.

#include "check/body/body.h"
#include "support/function_ref.h"

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
  TypeId type() const;         ///< of the chosen elements, without new axes; of a mask: none
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

/// Whether an index of this value below 0 is written as a literal: only such a one counts from the end, any
/// other is reported.
bool mayCountFromEnd(Body& body, SynId written, int64_t value);

/// The item of a bracket on a List or a text.
class SequenceItem {
public:
  SequenceItem(Body& body, SynId item) : body_(body), item_(item) {}
  /// The one place that is chosen, as an `int`; `holder` gives the List or text, if its length is wanted.
  NodeId place(FunctionRef<NodeId()> holder) const;
  /// An element, or a slice, which is a List of its own.
  NodeId ofList(NodeId list, Span span) const;
  /// A char, or a slice; places are bytes.
  NodeId ofText(NodeId text, Span span) const;

private:
  NodeId place(SynId written, NodeId index, FunctionRef<NodeId()> holder) const;
  std::pair<NodeId, NodeId> ends(const syntax::Range& range, NodeId whole, Span span) const;

  Body& body_;
  SynId item_;
};

} // namespace melix::check

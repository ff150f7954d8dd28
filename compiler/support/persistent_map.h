#pragma once
// A persistent map by id: a copy costs nothing. So the facts at a point of a program can be kept for each
// branch that leaves it.

#include "support/ids.h"

#include <memory>

namespace melix {

/// Values by id. Copies share the parts that neither changes afterwards: a copy is O(1), everything else
/// O(log of the largest id). A tree of `width` branches a level, whose nodes are copied when they are changed
/// while shared.
template <class IdType, class Value>
class PersistentMap {
public:
  bool contains(IdType id) const { return find(id) != nullptr; }
  /// The value, which must be there.
  const Value& at(IdType id) const {
    const Value* found = find(id);
    assert(found && "no value for this id");
    return *found;
  }
  /// The value to be changed, made if there is none. Invalid after the next copy or change of the map.
  Value& operator[](IdType id) {
    while (!covers(id)) grow();
    std::shared_ptr<Node>* at = &root_;
    for (unsigned level = levels_; level-- > 1;) at = &own(*at, level).children[slotOf(id, level)];
    Node& leaf = own(*at, 0);
    leaf.present |= uint32_t(1) << slotOf(id, 0);
    return leaf.values[slotOf(id, 0)];
  }
  void erase(IdType id) {
    if (!contains(id)) return;
    (*this)[id] = Value();
    std::shared_ptr<Node>* at = &root_;
    for (unsigned level = levels_; level-- > 1;) at = &(*at)->children[slotOf(id, level)];
    (*at)->present &= ~(uint32_t(1) << slotOf(id, 0));
  }

  /// Calls `visit(id)` in order for each id whose value here is not the same in `other`, or is missing there.
  /// Does not look at the nodes that the two share.
  template <class Visit>
  void forEachDifference(const PersistentMap& other, Visit&& visit) const {
    if (root_ && !(root_ == other.root_ && levels_ == other.levels_))
      differences(*root_, levels_, 0, other, visit);
  }

private:
  static constexpr unsigned bits = 4, width = 1 << bits;

  struct Node {
    explicit Node(unsigned level) : children(level > 0 ? width : 0), values(level > 0 ? 0 : width) {}
    std::vector<std::shared_ptr<Node>> children; ///< above the leaves
    std::vector<Value> values;                   ///< of a leaf
    uint32_t present = 0;                        ///< of a leaf: which values there are
  };

  static unsigned slotOf(IdType id, unsigned level) { return (id.index >> (bits * level)) & (width - 1); }
  bool covers(IdType id) const { return levels_ > 0 && (uint64_t(id.index) >> (bits * levels_)) == 0; }

  void grow() {
    auto root = std::make_shared<Node>(levels_);
    if (levels_ > 0) root->children[0] = std::move(root_);
    root_ = std::move(root);
    ++levels_;
  }

  static Node& own(std::shared_ptr<Node>& node, unsigned level) {
    if (!node)
      node = std::make_shared<Node>(level);
    else if (node.use_count() > 1)
      node = std::make_shared<Node>(*node);
    return *node;
  }

  const Value* find(IdType id) const {
    if (!covers(id)) return nullptr;
    const Node* leaf = nodeAt(id, 0);
    return leaf && (leaf->present >> slotOf(id, 0) & 1) ? &leaf->values[slotOf(id, 0)] : nullptr;
  }

  /// The node of a level under which the id stands; null if there is none, or the map has fewer levels.
  const Node* nodeAt(IdType id, unsigned level) const {
    if (!covers(id) || level >= levels_) return nullptr;
    const Node* node = root_.get();
    for (unsigned at = levels_; node && --at > level;) node = node->children[slotOf(id, at)].get();
    return node;
  }

  template <class Visit>
  static void differences(const Node& node, unsigned levels, uint32_t first, const PersistentMap& other,
                          Visit&& visit) {
    const unsigned level = levels - 1;
    if (other.nodeAt(IdType(first), level) == &node) return;
    for (uint32_t slot = 0; slot < width; ++slot) {
      const uint32_t index = first + (slot << (bits * level));
      if (level > 0) {
        if (node.children[slot]) differences(*node.children[slot], level, index, other, visit);
      } else if (node.present >> slot & 1) {
        const Value* theirs = other.find(IdType(index));
        if (!theirs || !(*theirs == node.values[slot])) visit(IdType(index));
      }
    }
  }

  std::shared_ptr<Node> root_;
  unsigned levels_ = 0;
};

} // namespace melix

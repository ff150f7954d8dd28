#pragma once
// Finds a minimum vertex cut: the lightest set of nodes that separates given nodes from needed nodes, by
// maximum flow (Dinic 1970).
//
//   given %a, %b (8 each) -> %c = %a + %b (8) -> needed: the cut is %c
//
// Of cuts of equal weight it is the one nearest to the needed nodes. Nodes that cannot be reached from given
// nodes are in no cut. Time: linear in practice for graphs with short paths, such as graphs of rematerialised
// values.

#include <cstdint>
#include <vector>

namespace melix::transforms {

class MinimumCut {
public:
  MinimumCut() : first_(2, none) {}

  /// The number of a new node.
  uint32_t node(uint64_t weight);
  void require(uint32_t from, uint32_t to) { arc(out(from), in(to), unlimited); }
  void given(uint32_t node) { arc(source, in(node), unlimited); }
  void needed(uint32_t node) { arc(out(node), sink, unlimited); }

  /// Whether each node is cut.
  std::vector<bool> solve();

private:
  /// Each arc stands beside its reverse, at the number with the last bit flipped.
  struct Arc {
    uint32_t to, next;
    uint64_t left; ///< the residual capacity
  };
  static constexpr uint32_t none = ~uint32_t(0), source = 0, sink = 1;
  static constexpr uint64_t unlimited = uint64_t(1) << 60;
  static uint32_t in(uint32_t node) { return 2 + 2 * node; }
  static uint32_t out(uint32_t node) { return 3 + 2 * node; }

  void arc(uint32_t from, uint32_t to, uint64_t capacity);
  bool findLevels();
  void augment();
  void push(const std::vector<uint32_t>& path);

  std::vector<Arc> arcs_;
  std::vector<uint32_t> first_; ///< by end of arcs: its latest arc
  std::vector<uint32_t> level_, at_;
};

} // namespace melix::transforms

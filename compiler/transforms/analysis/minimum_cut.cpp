#include "transforms/analysis/minimum_cut.h"

#include "core/ir/work.h"

#include <algorithm>

namespace melix::transforms {

uint32_t MinimumCut::node(uint64_t weight) {
  const auto number = static_cast<uint32_t>(first_.size() / 2 - 1);
  first_.resize(first_.size() + 2, none);
  arc(in(number), out(number), weight);
  return number;
}

void MinimumCut::arc(uint32_t from, uint32_t to, uint64_t capacity) {
  auto add = [&](uint32_t a, uint32_t b, uint64_t left) {
    arcs_.push_back({b, first_[a], left});
    first_[a] = static_cast<uint32_t>(arcs_.size() - 1);
  };
  add(from, to, capacity);
  add(to, from, 0);
}

/// Distances from the source where something may flow, up to that of the sink; whether it is reached.
bool MinimumCut::findLevels() {
  level_.assign(first_.size(), none);
  level_[source] = 0;
  std::vector<uint32_t> queue{source};
  for (size_t k = 0; k < queue.size() && level_[queue[k]] < level_[sink]; ++k)
    for (uint32_t a = first_[queue[k]]; a != none; a = arcs_[a].next) {
      if (arcs_[a].left == 0 || level_[arcs_[a].to] != none) continue;
      level_[arcs_[a].to] = level_[queue[k]] + 1;
      queue.push_back(arcs_[a].to);
    }
  core::work.ops += queue.size();
  return level_[sink] != none;
}

/// As much as the path takes.
void MinimumCut::push(const std::vector<uint32_t>& path) {
  uint64_t flow = unlimited;
  for (uint32_t a : path) flow = std::min(flow, arcs_[a].left);
  for (uint32_t a : path) {
    arcs_[a].left -= flow;
    arcs_[a ^ 1].left += flow;
  }
}

/// Fills all shortest paths: each step goes one level on, or back from where none does.
void MinimumCut::augment() {
  at_ = first_;
  std::vector<uint32_t> path;
  while (true) {
    core::work.ops += 1;
    const uint32_t end = path.empty() ? source : arcs_[path.back()].to;
    if (end == sink) {
      push(path);
      const auto full =
          std::find_if(path.begin(), path.end(), [&](uint32_t a) { return arcs_[a].left == 0; });
      path.erase(full, path.end());
      continue;
    }
    uint32_t& a = at_[end];
    while (a != none && (arcs_[a].left == 0 || level_[arcs_[a].to] != level_[end] + 1)) a = arcs_[a].next;
    if (a != none) {
      path.push_back(a);
    } else if (path.empty()) {
      return;
    } else {
      path.pop_back();
      uint32_t& before = at_[path.empty() ? source : arcs_[path.back()].to];
      before = arcs_[before].next;
    }
  }
}

std::vector<bool> MinimumCut::solve() {
  while (findLevels()) augment();
  // From the sink back along what may still flow: the cut nodes are those that are left by their end only.
  std::vector<bool> reaches(first_.size(), false);
  reaches[sink] = true;
  std::vector<uint32_t> queue{sink};
  for (size_t k = 0; k < queue.size(); ++k)
    for (uint32_t a = first_[queue[k]]; a != none; a = arcs_[a].next) {
      if (arcs_[a ^ 1].left == 0 || reaches[arcs_[a].to]) continue;
      reaches[arcs_[a].to] = true;
      queue.push_back(arcs_[a].to);
    }
  std::vector<bool> cut;
  for (uint32_t n = 0; out(n) < first_.size(); ++n) cut.push_back(!reaches[in(n)] && reaches[out(n)]);
  return cut;
}

} // namespace melix::transforms

#include "transforms/analysis/dataflow.h"

#include "core/ir/work.h"

namespace melix::transforms {

using namespace core;

Propagation::Propagation(const Function& f, Conditions conditions)
    : f_(f), conditions_(conditions), edgesOf_(f.ops.size()), valueWaits_(f.values.size(), false),
      opWaits_(f.ops.size(), false) {
  std::vector<std::pair<uint32_t, uint32_t>> users, leaving;
  collect(f.body, users);
  for (uint32_t e = 0; e < edges_.size(); ++e) leaving.emplace_back(edges_[e].from.index, e);
  users_ = tabulate(f.values.size(), users);
  leaving_ = tabulate(f.values.size(), leaving);
}

Propagation::Table Propagation::tabulate(size_t keys,
                                         const std::vector<std::pair<uint32_t, uint32_t>>& entries) {
  Table out;
  out.first.assign(keys + 1, 0);
  out.numbers.resize(entries.size());
  for (auto [key, number] : entries) ++out.first[key + 1];
  for (size_t k = 0; k < keys; ++k) out.first[k + 1] += out.first[k];
  std::vector<uint32_t> at(out.first.begin(), out.first.end() - 1);
  for (auto [key, number] : entries) out.numbers[at[key]++] = number;
  return out;
}

std::span<const RegionId> Propagation::regionsOf(const Op& op) const {
  const bool skips = op.kind == OpKind::While && conditions_ == Conditions::Skipped;
  return std::span(op.regions).subspan(skips ? 1 : 0);
}

void Propagation::collect(RegionId region, std::vector<std::pair<uint32_t, uint32_t>>& users) {
  for (OpId id : f_.regions[region].ops) {
    const Op& op = f_.ops[id];
    if (op.kind == OpKind::Yield) continue;
    if (op.regions.empty()) {
      for (ValueId v : op.operands) users.emplace_back(v.index, id.index);
      continue;
    }
    const auto first = static_cast<uint32_t>(edges_.size());
    for (const FlowEdge& edge : flowsOf(f_, op))
      if (edge.kind != FlowKind::Test || conditions_ == Conditions::Followed) edges_.push_back(edge);
    edgesOf_[id.index] = {first, static_cast<uint32_t>(edges_.size()) - first};
    for (RegionId inner : regionsOf(op)) collect(inner, users);
  }
}

void Propagation::changed(ValueId v) {
  if ((!swept_ && !around_) || valueWaits_[v.index]) return; // else its uses are still to come
  valueWaits_[v.index] = true;
  values_.push_back(v);
}

void Propagation::rerun(OpId op) {
  if (opWaits_[op.index]) return;
  opWaits_[op.index] = true;
  ops_.push_back(op);
}

void Propagation::sweep(RegionId region, ValueAnalysis& analysis) {
  for (OpId id : f_.regions[region].ops) {
    const Op& op = f_.ops[id];
    ++work.ops;
    if (op.regions.empty()) {
      analysis.transfer(id);
      continue;
    }
    const auto edges = std::span(edges_).subspan(edgesOf_[id.index].first, edgesOf_[id.index].count);
    for (const FlowEdge& edge : edges) analysis.flow(edge);
    for (RegionId inner : regionsOf(op)) sweep(inner, analysis);
    for (const FlowEdge& edge : edges) {
      const bool out =
          edge.kind == FlowKind::Leave || edge.kind == FlowKind::Skip || edge.kind == FlowKind::Case;
      around_ = !out; // what comes into a region now has been passed
      analysis.flow(edge);
    }
    around_ = false;
  }
}

void Propagation::run(ValueAnalysis& analysis) {
  if (!swept_) sweep(f_.body, analysis);
  swept_ = true;
  while (!values_.empty() || !ops_.empty()) {
    if (!values_.empty()) {
      const ValueId v = values_.front();
      values_.pop_front();
      valueWaits_[v.index] = false;
      for (uint32_t edge : leaving_.of(v.index)) analysis.flow(edges_[edge]);
      for (uint32_t op : users_.of(v.index)) rerun(OpId(op));
      continue;
    }
    const OpId op = ops_.front();
    ops_.pop_front();
    opWaits_[op.index] = false;
    ++work.ops;
    analysis.transfer(op);
  }
}

} // namespace melix::transforms

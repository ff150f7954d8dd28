#include "loops/text/vector_notes.h"

#include "loops/analysis/vectorizability.h"
#include "loops/lanes/interleaved_accesses.h"

namespace melix::loops {

void VectorNotes::enter(const Stmt& loop) {
  variance_.emplace(fn_, loop);
  strides_.emplace(fn_, *variance_, fn_.regions[loop.regions[0]].params[0]);
  findRows(loop.regions[0]);
}

void VectorNotes::findRows(RegionId r) {
  for (const LaneGroup& group : laneGroups(module_, fn_, r, *strides_))
    for (const LaneGroup::Member& m : group.members) inRows_.insert(m.stmt);
  for (StmtId id : fn_.regions[r].stmts)
    if (const Stmt& s = fn_.stmts[id]; !needsMask(s, *variance_))
      for (RegionId inner : s.regions) findRows(inner);
}

void VectorNotes::leave() {
  inRows_.clear();
  strides_.reset();
  variance_.reset();
}

std::string_view VectorNotes::of(StmtId id) {
  if (!variance_) return {};
  const Stmt& s = fn_.stmts[id];
  switch (s.kind) {
  case StmtKind::Load: return ofAccess(id, true);
  case StmtKind::Store: return ofAccess(id, false);
  case StmtKind::Call: return ofCall(s);
  case StmtKind::If:
  case StmtKind::Switch: return variance_->isUniform(s.operands[0]) ? "uniform" : "under a mask";
  case StmtKind::For:
    return variance_->allUniform(std::span(s.operands).first(2)) ? "uniform" : "under a mask";
  case StmtKind::While: return "until no lane is on";
  default: return {};
  }
}

std::string_view VectorNotes::ofAccess(StmtId id, bool isLoad) {
  const Stmt& s = fn_.stmts[id];
  if (isLoad && variance_->isUniform(s.results[0])) return "uniform";
  if (strides_->areSideBySide(s)) return "side by side";
  if (isLoad && strides_->areBackwards(s)) return "side by side, backwards";
  if (inRows_.contains(id)) return "in rows";
  return isLoad ? "gathered" : "scattered";
}

std::string_view VectorNotes::ofCall(const Stmt& s) const {
  switch (laneCallOf(module_, s, *variance_)) {
  case LaneCallKind::Together: return "uniform";
  case LaneCallKind::Merged: return "in lanes";
  default: return "lane by lane";
  }
}

} // namespace melix::loops

#include "loops/lane_notes.h"

#include "loops/lanes.h"

namespace melix::loops {

void LaneNotes::enter(const Stmt& loop) {
  variance_.emplace(fn_, loop);
  neighbours_.emplace(fn_, *variance_, fn_.regions[loop.regions[0]].params[0]);
}

void LaneNotes::leave() {
  neighbours_.reset();
  variance_.reset();
}

std::string_view LaneNotes::of(const Stmt& s) {
  if (!variance_) return {};
  switch (s.kind) {
  case StmtKind::Scalar: neighbours_->note(s); return {};
  case StmtKind::Load: return ofAccess(s, true);
  case StmtKind::Store: return ofAccess(s, false);
  case StmtKind::Call: return ofCall(s);
  case StmtKind::If:
  case StmtKind::Switch: return variance_->isUniform(s.operands[0]) ? "uniform" : "under a mask";
  case StmtKind::For:
    return variance_->allUniform(std::span(s.operands).first(2)) ? "uniform" : "under a mask";
  case StmtKind::While: return "until no lane is on";
  default: return {};
  }
}

std::string_view LaneNotes::ofAccess(const Stmt& s, bool isLoad) const {
  if (isLoad && variance_->isUniform(s.results[0])) return "uniform";
  if (neighbours_->areSideBySide(s)) return "side by side";
  return isLoad ? "gathered" : "scattered";
}

std::string_view LaneNotes::ofCall(const Stmt& s) const {
  switch (laneCallOf(module_, s, *variance_)) {
  case LaneCallKind::Together: return "uniform";
  case LaneCallKind::Merged: return "in lanes";
  default: return "lane by lane";
  }
}

} // namespace melix::loops

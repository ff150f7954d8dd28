#include "loops/groups/point_axes.h"

#include "loops/analysis/launch_expressions.h"

namespace melix::loops {

using core::OpKind;

namespace {

/// Quotient and remainder of a number, by the same divisor.
struct Division {
  ValueId quotient, remainder, divisor;
};

std::optional<Division> divisionOf(const Function& fn, RegionId region, ValueId number) {
  Division out;
  for (StmtId id : fn.regions[region].stmts) {
    const Stmt& s = fn.stmts[id];
    if (s.kind != StmtKind::Scalar || s.operands[0] != number) continue;
    const OpKind op = s.as<ScalarAttr>().op;
    if (op != OpKind::IRem && op != OpKind::IDiv) continue;
    if (out.divisor.valid() && out.divisor != s.operands[1]) return std::nullopt;
    out.divisor = s.operands[1];
    (op == OpKind::IRem ? out.remainder : out.quotient) = s.results[0];
  }
  if (!out.quotient.valid() || !out.remainder.valid()) return std::nullopt;
  return LaunchValues::isUniform(fn, out.divisor) ? std::optional(out) : std::nullopt;
}

} // namespace

std::optional<PointAxes> findPointAxes(const Function& kernel, RegionId point) {
  const ValueId number = kernel.regions[point].params[0];
  const std::optional<Division> last = divisionOf(kernel, point, number);
  if (!last) return std::nullopt;
  PointAxes out{number, last->remainder, last->divisor, last->quotient, last->quotient, {}, {}};
  if (const std::optional<Division> outer = divisionOf(kernel, point, last->quotient)) {
    out.row = outer->remainder;
    out.rows = outer->divisor;
    out.batch = outer->quotient;
  }
  return out;
}

AxisDependence::AxisDependence(const Function& kernel, RegionId point, const PointAxes& axes) : fn_(kernel) {
  fixed_ = {{axes.point, Both}, {axes.column, Column}, {axes.rest, Row}, {axes.row, Row}};
  if (axes.batch.valid()) fixed_[axes.batch] = None;
  axes_ = fixed_;
  do {
    changed_ = false;
    region(point);
  } while (changed_);
}

uint8_t AxisDependence::used(const Stmt& s) const {
  uint8_t all = None;
  for (ValueId v : s.operands) all |= of(v);
  return all;
}

uint8_t AxisDependence::of(const Stmt& s) const {
  uint8_t all = used(s);
  for (ValueId v : s.results) all |= of(v);
  for (RegionId r : s.regions)
    for (StmtId id : fn_.regions[r].stmts) all |= of(fn_.stmts[id]);
  return all;
}

void AxisDependence::add(ValueId v, uint8_t axes) {
  if (fixed_.contains(v) || (of(v) | axes) == of(v)) return;
  axes_[v] |= axes;
  changed_ = true;
}

void AxisDependence::region(RegionId r) {
  for (StmtId id : fn_.regions[r].stmts) statement(fn_.stmts[id]);
}

/// What a statement with regions makes depends on all that they use: on which of them, or how often it runs.
/// What a loop carries is taken to be of each point.
void AxisDependence::statement(const Stmt& s) {
  for (RegionId r : s.regions) region(r);
  const bool isFor = s.kind == StmtKind::For;
  const uint8_t all = isFor ? uint8_t{Both} : of(s);
  for (ValueId v : s.results) add(v, all);
  for (RegionId r : s.regions) {
    const std::vector<ValueId>& params = fn_.regions[r].params;
    for (size_t k = 0; k < params.size(); ++k) add(params[k], isFor && k == 0 ? of(s.operands[0]) : all);
  }
}

} // namespace melix::loops

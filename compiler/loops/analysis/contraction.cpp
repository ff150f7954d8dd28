#include "loops/analysis/contraction.h"

#include "loops/ir/build.h"

#include <algorithm>

namespace melix::loops {
namespace {

/// The only sum in a region: a loop that carries something.
StmtId onlySum(const Function& fn, RegionId region) {
  StmtId found;
  for (StmtId id : fn.regions[region].stmts) {
    const Stmt& s = fn.stmts[id];
    if (s.kind != StmtKind::For) continue;
    if (s.results.empty() || found.valid()) return {};
    found = id;
  }
  return found;
}

void operandsOf(const Function& fn, const Stmt& s, std::vector<ValueId>& out) {
  out.insert(out.end(), s.operands.begin(), s.operands.end());
  for (RegionId r : s.regions)
    for (StmtId id : fn.regions[r].stmts) operandsOf(fn, fn.stmts[id], out);
}

/// Values of the chain that differ between columns and not between rows, and that something else uses.
std::vector<ValueId> sharedIn(const Function& fn, RegionId chain, const Variance& rows,
                              const Variance& columns) {
  auto isShared = [&](ValueId v) { return rows.isUniform(v) && !columns.isUniform(v); };
  std::vector<ValueId> out;
  for (StmtId id : fn.regions[chain].stmts) {
    const Stmt& s = fn.stmts[id];
    if (!s.results.empty() && rows.allUniform(s.results)) continue;
    std::vector<ValueId> operands;
    operandsOf(fn, s, operands);
    for (ValueId v : operands)
      if (fn.values[v].region == chain && fn.values[v].def.valid() && isShared(v) &&
          std::ranges::find(out, v) == out.end())
        out.push_back(v);
  }
  return out;
}

bool isPoints(const Stmt& s) {
  const auto& attr = s.as<ForAttr>();
  return attr.dependence == Dependence::Independent && s.results.empty() && attr.minDistance == 0;
}

/// The sum that takes some iterations together.
std::optional<size_t> rowSumOf(const Function& fn, std::span<const StmtId> sums) {
  for (size_t k = 0; k + 1 < sums.size(); ++k)
    if (fn.stmts[sums[k]].as<ForAttr>().unrollJam > 1) return k;
  return std::nullopt;
}

} // namespace

bool isNumber(const Stmt& s) {
  switch (s.kind) {
  case StmtKind::Const:
  case StmtKind::Scalar:
  case StmtKind::Load:
  case StmtKind::AddressOf:
  case StmtKind::PointerOf: return true;
  default: return false;
  }
}

std::vector<StmtId> sumsIn(const Function& fn, StmtId loop) {
  std::vector<StmtId> out;
  for (StmtId sum = onlySum(fn, fn.stmts[loop].regions[0]); sum.valid();
       sum = onlySum(fn, fn.stmts[sum].regions[0]))
    out.push_back(sum);
  return out;
}

bool isPlain(const Module& module, const Function& fn, const Stmt& s) {
  switch (s.kind) {
  case StmtKind::Const:
  case StmtKind::Scalar:
  case StmtKind::AddressOf:
  case StmtKind::PointerOf:
  case StmtKind::Yield: return true;
  case StmtKind::Load: return !fn.typeOf(s.results[0]).counted();
  case StmtKind::Call: return module.functions[s.as<FunctionId>()].isClosed();
  case StmtKind::If:
  case StmtKind::Switch:
    return std::ranges::all_of(s.regions, [&](RegionId r) {
      return std::ranges::all_of(fn.regions[r].stmts,
                                 [&](StmtId id) { return isPlain(module, fn, fn.stmts[id]); });
    });
  default: return false;
  }
}

std::optional<Contraction> findContraction(const Function& fn, StmtId loop) {
  Contraction out;
  auto passes = [](const Stmt& s) { return isNumber(s) || s.kind == StmtKind::Yield; };
  for (StmtId at = loop;; at = onlyLoop(fn, fn.stmts[at].regions[0], passes)) {
    if (!at.valid() || !isPoints(fn.stmts[at])) return std::nullopt;
    if (fn.stmts[at].as<ForAttr>().vectorWidth > 0) {
      out.columns = at;
      break;
    }
    out.around.push_back(at);
  }
  out.sums = sumsIn(fn, out.columns);
  if (out.sums.empty()) return std::nullopt;
  if (out.around.empty()) out.rowSum = rowSumOf(fn, out.sums);
  if (out.around.empty() ? !out.rowSum : fn.stmts[out.rows()].as<ForAttr>().unrollJam < 2)
    return std::nullopt;
  const Variance rows(fn, fn.stmts[out.rows()]), columns(fn, fn.stmts[out.columns]);
  for (StmtId sum : out.sums) {
    const std::span<const ValueId> ends = std::span(fn.stmts[sum].operands).first(2);
    if (!rows.allUniform(ends) || !columns.allUniform(ends)) return std::nullopt;
  }
  out.shared = sharedIn(fn, fn.stmts[out.chain()].regions[0], rows, columns);
  return out;
}

} // namespace melix::loops

#include "loops/analysis/shared_operand.h"

#include <algorithm>

namespace melix::loops {

using core::OpKind;

SharedSide::SharedSide(const Module& module, const Function& fn, const Contraction& found)
    : module_(module), fn_(fn), found_(found), fixed_(fn, [this](ValueId v) { return levelOf(v) >= 0; }),
      columns_(fn, fn.stmts[found.columns]), usesIndex_(found.sums.size()), carries_(found.sums.size()) {
  for (StmtId id : found.around) path_.push_back(fn.stmts[id].regions[0]);
  path_.push_back(fn.stmts[found.columns].regions[0]);
  for (StmtId id : found.sums) path_.push_back(fn.stmts[id].regions[0]);
  for (ValueId v : found.shared) need(v);
  const std::vector<bool> differs = usesIndex_;
  for (StmtId id : found.sums)
    for (ValueId v : std::span(fn.stmts[id].operands).first(2)) need(v);
  for (ValueId v : std::span(fn.stmts[found.columns].operands).first(2)) need(v);
  for (size_t level = found.around.size(); level < path_.size(); ++level)
    for (StmtId id : fn.regions[path_[level]].stmts)
      if (needed_.contains(id) && !columns_.allUniform(fn.stmts[id].results)) terms_.push_back(id);
  extents_.emplace();
  for (size_t k = 0; k < found.sums.size() && extents_; ++k) {
    if (!differs[k]) continue;
    const std::optional<Extent> extent = extentOf(k);
    if (extent)
      extents_->push_back(*extent);
    else
      extents_.reset();
  }
}

/// Of the region in which it is defined; -1 outside.
int SharedSide::levelOf(ValueId v) const {
  const auto found = std::ranges::find(path_, fn_.values[v].region);
  return found == path_.end() ? -1 : static_cast<int>(found - path_.begin());
}

namespace {

void operandsWithin(const Function& fn, const Stmt& s, std::vector<ValueId>& out) {
  out.insert(out.end(), s.operands.begin(), s.operands.end());
  for (RegionId r : s.regions)
    for (StmtId id : fn.regions[r].stmts) operandsWithin(fn, fn.stmts[id], out);
}

/// Memory that an iteration may have of its own.
bool isOfFrame(const Function& fn, ValueId base) {
  const StmtId def = fn.values[base].def;
  if (!def.valid()) return false;
  const Stmt& s = fn.stmts[def];
  if (s.kind == StmtKind::PointerOf || s.kind == StmtKind::AddressOf) return isOfFrame(fn, s.operands[0]);
  return s.kind == StmtKind::Scratch || s.kind == StmtKind::FrameArray;
}

} // namespace

void SharedSide::need(ValueId v) {
  const int level = levelOf(v);
  if (level < 0 || !isMovable_ || !seen_.insert(v).second) return;
  const StmtId def = fn_.values[v].def;
  if (!def.valid()) return needParam(v, level);
  const Stmt& s = fn_.stmts[def];
  isMovable_ = isPlain(module_, fn_, s) && !(s.kind == StmtKind::Load && isOfFrame(fn_, s.operands[0]));
  needed_.insert(def);
  std::vector<ValueId> operands;
  operandsWithin(fn_, s, operands);
  for (ValueId operand : operands) need(operand);
}

void SharedSide::needParam(ValueId v, int level) {
  const size_t place = static_cast<size_t>(level), columns = found_.around.size();
  if (place < columns) isMovable_ = false;
  if (place <= columns) return;
  const size_t sum = place - columns - 1;
  const std::vector<ValueId>& params = fn_.regions[path_[place]].params;
  if (v == params[0]) {
    usesIndex_[sum] = true;
    return;
  }
  isMovable_ &= columns_.isUniform(v);
  const auto k = static_cast<size_t>(std::ranges::find(params, v) - params.begin()) - 1;
  carries_[sum].push_back(k);
  need(fn_.stmts[found_.sums[sum]].operands[k + 2]);
  need(fn_.stmts[fn_.regions[path_[place]].stmts.back()].operands[k]);
}

// --- extents
// ----------------------------------------------------------------------------------------------------------

/// Whether the form of a number shows it: sizes and indices are not negative, nor sums and products of them.
bool SharedSide::isNotNegative(ValueId v) const {
  if (const uint64_t* known = asConstant(fn_, v)) return static_cast<int64_t>(*known) >= 0;
  const StmtId def = fn_.values[v].def;
  if (!def.valid()) { // the index of a sum
    const auto region = std::ranges::find(path_, fn_.values[v].region);
    const auto sum = (region - path_.begin()) - static_cast<std::ptrdiff_t>(found_.around.size()) - 1;
    if (region == path_.end() || sum < 0 || fn_.regions[*region].params[0] != v) return false;
    return isNotNegative(fn_.stmts[found_.sums[static_cast<size_t>(sum)]].operands[0]);
  }
  const Stmt& s = fn_.stmts[def];
  if (s.kind != StmtKind::Scalar || s.as<ScalarAttr>().from != TypeKind::I64) return false;
  auto isFine = [this](ValueId operand) { return isNotNegative(operand); };
  switch (s.as<ScalarAttr>().op) {
  case OpKind::Add:
  case OpKind::Mul:
  case OpKind::IDiv:
  case OpKind::Min: return std::ranges::all_of(s.operands, isFine);
  case OpKind::Max:
  case OpKind::And: return std::ranges::any_of(s.operands, isFine);
  case OpKind::IRem: return isFine(s.operands[0]);
  default: return false;
  }
}

/// A loop from 0 to what is fixed, or over a part of that.
std::optional<SharedSide::Extent> SharedSide::extentOf(size_t sum) const {
  const Stmt& loop = fn_.stmts[found_.sums[sum]];
  if (!isNotNegative(loop.operands[0])) return std::nullopt;
  const ValueId end = loop.operands[1];
  if (isFixed(end)) return Extent{sum, end};
  const StmtId def = fn_.values[end].def;
  if (!def.valid() || fn_.stmts[def].kind != StmtKind::Scalar ||
      fn_.stmts[def].as<ScalarAttr>().op != OpKind::Min)
    return std::nullopt;
  for (ValueId v : fn_.stmts[def].operands)
    if (isFixed(v)) return Extent{sum, v};
  return std::nullopt;
}

// --- copies
// ----------------------------------------------------------------------------------------------------------

void SharedSide::writeAround(Builder& b, Copies& copies) const {
  for (size_t level = 0; level < found_.around.size(); ++level) writeSame(b, path_[level], copies);
}

/// What is needed in a region and the same for all columns.
void SharedSide::writeSame(Builder& b, RegionId region, Copies& copies) const {
  const std::vector<StmtId> stmts = fn_.regions[region].stmts;
  for (StmtId id : stmts)
    if (needed_.contains(id) && columns_.allUniform(fn_.stmts[id].results)) clone(b, id, copies);
}

void SharedSide::writeRow(Builder& b, Copies& copies) const { writeSame(b, path_.back(), copies); }

void SharedSide::writeTerms(Builder& b, Copies& copies) const {
  for (StmtId id : terms_) clone(b, id, copies);
}

void SharedSide::writeSums(Builder& b, Copies& copies, FunctionRef<void()> term) const {
  writeSame(b, path_[found_.around.size()], copies);
  const std::function<void(size_t)> inside = [&](size_t sum) {
    if (sum == found_.sums.size())
      term();
    else
      writeSum(b, sum, copies, inside);
  };
  inside(0);
}

void SharedSide::writeOuterSums(Builder& b, Copies& copies, FunctionRef<void(ValueId, ValueId)> row) const {
  writeSame(b, path_[found_.around.size()], copies);
  const std::function<void(size_t)> inside = [&](size_t sum) {
    if (sum + 1 < found_.sums.size()) return writeSum(b, sum, copies, inside);
    const std::vector<ValueId> operands = fn_.stmts[found_.chain()].operands;
    row(copies.of(operands[0]), copies.of(operands[1]));
  };
  inside(0);
}

/// The loop over a sum, or once what is in it, if nothing differs from iteration to iteration.
void SharedSide::writeSum(Builder& b, size_t sum, Copies& copies, FunctionRef<void(size_t)> inside) const {
  if (!iterates(sum)) return writeBody(b, sum, copies, inside);
  const Stmt loop = fn_.stmts[found_.sums[sum]];
  const std::vector<ValueId> params = fn_.regions[loop.regions[0]].params;
  std::vector<ValueId> begun;
  for (size_t k : carries_[sum]) begun.push_back(copies.of(loop.operands[k + 2]));
  b.carryLoop(copies.of(loop.operands[0]), copies.of(loop.operands[1]), std::move(begun),
              [&](ValueId index, const std::vector<ValueId>& carried) {
                copies.set(params[0], index);
                for (size_t k = 0; k < carried.size(); ++k)
                  copies.set(params[carries_[sum][k] + 1], carried[k]);
                writeBody(b, sum, copies, inside);
                const std::vector<ValueId> yields =
                    fn_.stmts[fn_.regions[loop.regions[0]].stmts.back()].operands;
                std::vector<ValueId> next;
                for (size_t k : carries_[sum]) next.push_back(copies.of(yields[k]));
                return next;
              });
}

void SharedSide::writeBody(Builder& b, size_t sum, Copies& copies, FunctionRef<void(size_t)> inside) const {
  const std::vector<StmtId> stmts = fn_.regions[path_[found_.around.size() + 1 + sum]].stmts;
  for (StmtId id : stmts) {
    if (sum + 1 < found_.sums.size() && id == found_.sums[sum + 1]) inside(sum + 1);
    if (needed_.contains(id) && columns_.allUniform(fn_.stmts[id].results)) clone(b, id, copies);
  }
  if (sum + 1 == found_.sums.size()) inside(sum + 1);
}

} // namespace melix::loops

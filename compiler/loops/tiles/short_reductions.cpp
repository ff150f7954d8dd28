#include "loops/tiles/short_reductions.h"

#include "loops/analysis/row_reduction.h"

namespace melix::loops {
namespace {

constexpr int64_t nearBytes = 1 << 15; ///< of columns that stay in the nearest cache
constexpr uint32_t fullUnroll = 4;     ///< registers of columns of which two rows keep the processor busy

} // namespace

ShortReductions::ShortReductions(const Function& fn, const Stmt& points)
    : fn_(fn), fixed_(fn, points.regions[0]) {
  const StmtId columns = onlyLoop(fn, points.regions[0], [](const Stmt& s) { return s.regions.empty(); });
  if (!columns.valid()) return;
  const Stmt& loop = fn.stmts[columns];
  const auto& attr = loop.as<ForAttr>();
  if (attr.vectorWidth == 0 || attr.interleave < fullUnroll) return;
  const std::optional<RowSum> sum = findRowSum(fn, loop.regions[0]);
  if (!sum || !fixed_.holds(sum->rows) || !fixed_.holds(loop.operands[0]) || !fixed_.holds(loop.operands[1]))
    return;
  const ValueType type = fn.typeOf(fn.stmts[sum->chain].results[0]);
  width_ = int64_t(attr.vectorWidth) * attr.interleave;
  columns_ = columns;
  terms_ = sum->rows;
  mostTerms_ = nearBytes / (width_ * bytesOf(type));
}

bool ShortReductions::isProvenShort() const {
  if (!terms_) return false;
  const uint64_t* known = asConstant(fn_, *terms_);
  const std::optional<uint64_t> columns = constantTripCount(fn_, fn_.stmts[columns_]);
  return known && *known <= static_cast<uint64_t>(mostTerms_) && columns &&
         *columns > static_cast<uint64_t>(width_ / 2);
}

std::optional<ValueId> ShortReductions::emitIsShort(Builder& b) const {
  if (!terms_ || isProvenShort()) return std::nullopt;
  const std::vector<ValueId> ends = fn_.stmts[columns_].operands;
  Copies copies;
  const ValueId first = fixed_.write(b, ends[0], copies), end = fixed_.write(b, ends[1], copies);
  const ValueId areFew = b.compare(ops::CmpKind::Le, fixed_.write(b, *terms_, copies), b.integer(mostTerms_));
  return b.both(areFew,
                b.compare(ops::CmpKind::Gt, b.arith(core::OpKind::Sub, end, first), b.integer(width_ / 2)));
}

} // namespace melix::loops

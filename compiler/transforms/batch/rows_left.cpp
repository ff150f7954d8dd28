#include "transforms/batch/rows_left.h"

#include "core/analysis/footprint.h"
#include "core/ir/nest.h"
#include "core/ir/walk.h"
#include "transforms/batch/row_functions.h"
#include "transforms/fusion/fusion.h"

#include <algorithm>

namespace melix::transforms {

using namespace core;

namespace {

/// Why a call in an op keeps all of the op with its row.
Refused refusalOfCalls(const Function& f, OpId part, bool isSpeculated, const RowFunctions& functions) {
  Refused found;
  auto look = [&](OpId id) {
    if (found || f.ops[id].kind != OpKind::Call) return;
    const FunctionId callee = f.ops[id].as<CallAttr>().callee;
    if (functions.hasProduct(callee)) found = functions.refusalOf(callee, isSpeculated);
  };
  look(part);
  for (RegionId r : f.ops[part].regions) forEachOp(f, r, look);
  return found;
}

/// Whether a sum may be added in any order. Products by chosen matrices, of few rows for each, are chains.
bool isUnordered(const Function& f, OpId sum) {
  return std::ranges::any_of(nestResults(f.ops[sum]),
                             [](const NestResult& r) { return isSum(r) && r.order == OrderKind::Unset; });
}

/// Whether a sum is a product of a row and a matrix that varies with the row.
bool hasOwnMatrix(const NestView& rows, const SumInNest& sum) {
  auto isOfRows = [&](ValueId axis) {
    return std::ranges::find(rows.axisParams(), axis) != rows.axisParams().end();
  };
  const std::vector<Axes>& operands = sum.kept.operands;
  return operands.size() == 2 && std::ranges::any_of(operands, [&](const Axes& row) {
           const Axes& matrix = operands[&row == &operands[0] ? 1 : 0];
           return !row.empty() && std::ranges::all_of(row, isOfRows) && std::ranges::includes(matrix, row) &&
                  !std::ranges::all_of(matrix, isOfRows);
         });
}

} // namespace

bool isBatchedAlone(OpKind kind) {
  return kind == OpKind::For || kind == OpKind::While || kind == OpKind::If || kind == OpKind::Match ||
         kind == OpKind::Call;
}

std::vector<BatchingDecision> rowsLeft(const Module& m, FunctionId id, OpId nest,
                                       std::span<const RowProduct> taken, const RowFunctions& functions) {
  const Function& f = m.functions[id];
  std::vector<BatchingDecision> out;
  auto leave = [&](OpId part, Refusal why) {
    if (std::ranges::find(taken, part, &RowProduct::part) == taken.end())
      out.push_back({why.reason, f.ops[part].loc, why.cause});
  };
  const NestView rows(f, f.ops[nest]);
  for (OpId part : f.regions[f.ops[nest].regions[0]].ops)
    if (const Refused why = refusalOfCalls(f, part, functions.isSpeculated(id), functions)) leave(part, *why);
  for (const RowProduct& product : rowProducts(m, f, nest, MatrixSize::Small))
    if (isBatchedAlone(f.ops[product.part].kind)) leave(product.part, {BatchingKind::SmallMatrices});
  forEachSum(m, f, nest, [&](const SumInNest& sum) {
    if (sum.part.valid() && isUnordered(f, sum.sum) && hasOwnMatrix(rows, sum))
      leave(sum.part, {BatchingKind::OwnMatrix});
  });
  return out;
}

} // namespace melix::transforms

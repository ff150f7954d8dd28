#include "core/nest.h"

namespace melix::core {

NestResult collecting(size_t axes) {
  NestResult all;
  for (uint32_t a = 0; a < axes; ++a) all.keep.push_back(a);
  return all;
}

Op nestOf(std::vector<NestResult> results, std::vector<ValueId> operands, uint32_t accs) {
  Op op;
  op.kind = OpKind::Nest;
  op.operands = std::move(operands);
  op.attr = NestAttr{std::move(results), accs};
  return op;
}

std::vector<ValueId> collectMore(Module& m, Function& f, OpId id, std::span<const TypeId> types) {
  std::vector<ValueId> more;
  Op& op = f.ops[id];
  auto& attr = op.as<NestAttr>();
  for (TypeId t : types) {
    attr.results.push_back(collecting(op.dims.size()));
    more.push_back(f.values.add(Value{m.types.array(t, op.dims), id, {}, 0, {}}));
  }
  op.results.insert(op.results.end() - static_cast<long>(attr.accs), more.begin(), more.end());
  for (uint32_t k = 0; k < op.results.size(); ++k) f.values[op.results[k]].index = k;
  return more;
}

NestView::NestView(const Function& f, const Op& op) : op_(op) {
  if (!op.regions.empty() && !f.regions[body()].ops.empty()) { // else the verifier says so
    params_ = f.regions[body()].params;
    yields_ = f.ops[f.regions[body()].ops.back()].operands;
  }
  for (const NestResult& r : nestResults(op)) {
    const auto number = static_cast<uint32_t>(parts_.size());
    NestPart part{number,
                  &r,
                  {partYields_, yieldsOf(r)},
                  {partResults_, resultsOf(r, axes())},
                  {accs() + partUnits_, isCombine(r) ? r.yields : 0}};
    partYields_ += part.yields.count;
    partResults_ += part.results.count;
    partUnits_ += part.units.count;
    parts_.push_back(part);
  }
}

} // namespace melix::core

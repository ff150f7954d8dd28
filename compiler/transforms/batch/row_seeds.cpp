#include "transforms/batch/row_seeds.h"

#include "core/ir/walk.h"
#include "transforms/batch/chosen_products.h"
#include "transforms/batch/row_functions.h"

namespace melix::transforms {

using namespace core;

std::vector<RowProduct> productsOfRows(Module& m, FunctionId f, OpId nest, const Effects& effects) {
  std::vector<RowProduct> out = rowProducts(m, m.functions[f], nest);
  for (const ChosenProduct& each : chosenProducts(m, f, nest, effects)) out.push_back({each.part, each.sum});
  return out;
}

std::vector<RowProduct> seedsOfRows(const Function& f, OpId nest, const std::vector<RowProduct>& products,
                                    const RowFunctions& functions, bool isSpeculated) {
  std::vector<RowProduct> out;
  for (OpId part : f.regions[f.ops[nest].regions[0]].ops) {
    auto call = [&](OpId id) {
      const Op& op = f.ops[id];
      if (op.kind == OpKind::Call && functions.mayBatch(op.as<CallAttr>().callee, isSpeculated))
        out.push_back({part, id});
    };
    for (const RowProduct& p : products)
      if (p.part == part) out.push_back(p);
    call(part);
    for (RegionId r : f.ops[part].regions) forEachOp(f, r, call);
  }
  return out;
}

} // namespace melix::transforms

#include "transforms/walks/if_to_select.h"

#include "core/ir/build.h"
#include "core/ir/walk.h"
#include "core/order/clone.h"

#include <algorithm>

namespace melix::transforms {

using namespace core;

namespace {

constexpr size_t fewOps = 8; ///< of both arms

class Former {
public:
  Former(Module& m, FunctionId f) : m_(m), f_(f) {}

  void run(RegionId region) {
    std::vector<OpId> out;
    bool changed = false;
    const std::vector<OpId> ops = fn().regions[region].ops;
    for (OpId id : ops) {
      for (RegionId inner : Regions(fn().ops[id].regions)) run(inner);
      const bool is = isChoice(fn().ops[id]);
      changed |= is;
      if (is)
        ifConvert(m_, f_, id, out);
      else
        out.push_back(id);
    }
    if (changed) fn().regions[region].ops = std::move(out);
  }

private:
  Function& fn() const { return m_.functions[f_]; }

  bool isChoice(const Op& op) const {
    if (op.kind != OpKind::If || op.results.empty() || !op.resultDims.empty()) return false;
    size_t ops = 0;
    return std::ranges::all_of(op.results, [this](ValueId v) { return isNumber(v); }) &&
           std::ranges::all_of(op.regions, [&](RegionId arm) {
             ops += fn().regions[arm].ops.size();
             return ops <= fewOps + 2 && std::ranges::all_of(fn().regions[arm].ops, [this](OpId id) {
                      return isSmall(fn().ops[id]);
                    });
           });
  }
  bool isNumber(ValueId v) const { return m_.types.isScalar(fn().typeOf(v)); }
  bool isSmall(const Op& op) const {
    switch (op.kind) {
    case OpKind::Yield:
    case OpKind::Const: return true;
    case OpKind::Zero:
    case OpKind::Neg:
    case OpKind::Add:
    case OpKind::Sub:
    case OpKind::Cmp:
    case OpKind::Select: return std::ranges::all_of(op.results, [this](ValueId v) { return isNumber(v); });
    default: return false;
    }
  }

  Module& m_;
  const FunctionId f_;
};

} // namespace

void ifConvert(Module& m, FunctionId f, OpId branch, std::vector<OpId>& list) {
  Function& fn = m.functions[f];
  const Op op = fn.ops[branch];
  const Operands yes = terminator(fn, op.regions[0]).operands, no = terminator(fn, op.regions[1]).operands;
  for (RegionId arm : op.regions) {
    const std::vector<OpId>& ops = fn.regions[arm].ops;
    list.insert(list.end(), ops.begin(), ops.end() - 1);
  }
  const RegionId scratch = fn.regions.add(Region{});
  Builder b(m, f, scratch, op.loc);
  for (size_t k = 0; k < op.results.size(); ++k) {
    const ValueId chosen = b.select(op.operands[0], yes[k], no[k]);
    takeOver(fn, fn.values[chosen].def, std::span(&op.results[k], 1));
    list.push_back(fn.values[op.results[k]].def);
  }
}

void formSelects(Module& m, FunctionId f) { Former(m, f).run(m.functions[f].body); }

} // namespace melix::transforms

#include "transforms/canonical/expand_array_sums.h"

#include "core/ir/nest.h"
#include "core/ir/uses.h"
#include "core/order/clone.h"
#include "transforms/walks/for_each_function.h"
#include "transforms/walks/rewrite_region.h"

#include <algorithm>

namespace melix::transforms {

using namespace core;

namespace {

class ArraySumExpander {
public:
  ArraySumExpander(Module& m, FunctionId id)
      : m_(m), id_(id), f_(m.functions[id]), uses_(analysis<Uses>(m, id)) {}

  bool run() {
    region(f_.body);
    return changed_;
  }

private:
  void region(RegionId r) {
    rewriteRegion(m_, id_, r, [&](OpId id) {
      for (RegionId inner : f_.ops[id].regions) region(inner);
      if (!isSum(f_.ops[id])) return true;
      open(id, r);
      changed_ = true;
      return false;
    });
  }

  bool isSum(const Op& op) const {
    const bool update = op.kind == OpKind::AddAt;
    if (!update && op.kind != OpKind::Add && op.kind != OpKind::Sub && op.kind != OpKind::Neg) return false;
    const types::Type& t = m_.types[f_.typeOf(op.results[0])];
    if (t.kind != TypeKind::Array || !m_.types.isScalar(t.parts[0])) return false;
    if (!update) return true;
    return op.as<Path>().empty() &&
           std::any_of(op.operands.begin(), op.operands.end(), [&](ValueId v) { return isMadeForIt(v); });
  }
  /// Whether a nest collects the value, and nothing else uses it.
  bool isMadeForIt(ValueId v) const {
    const OpId def = f_.values[v].def;
    if (!def.valid() || f_.ops[def].kind != OpKind::Nest || uses_->count(v) != 1) return false;
    const NestView nest(f_, f_.ops[def]);
    return std::any_of(nest.parts().begin(), nest.parts().end(), [&](const NestPart& part) {
      return nest.results(part)[0] == v && part.spec->kind == NestResultKind::Collect;
    });
  }

  void open(OpId id, RegionId r) {
    const Op& op = f_.ops[id];
    const types::Type t = m_.types[f_.typeOf(op.results[0])];
    Builder b(m_, id_, r, op.loc);
    NestBuilder made(b);
    const std::vector<ValueId> at = made.openAxes(t.dims);
    Builder body = b.in(made.body());
    Op sum = Builder::simple(op.kind == OpKind::AddAt ? OpKind::Add : op.kind, {});
    for (ValueId v : op.operands) sum.operands.push_back(body.getAt(v, at));
    made.collect(body.one(std::move(sum), t.parts[0]));
    takeOver(f_, made.finish(), op.results);
  }

  Module& m_;
  FunctionId id_;
  Function& f_;
  const std::shared_ptr<const Uses> uses_;
  bool changed_ = false;
};

} // namespace

bool expandArraySums(Module& m) {
  return changeBodies(m, [&](FunctionId f) { return ArraySumExpander(m, f).run(); });
}

} // namespace melix::transforms

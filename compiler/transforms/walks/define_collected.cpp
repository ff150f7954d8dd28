#include "transforms/walks/define_collected.h"

#include "core/ir/nest.h"
#include "core/ir/walk.h"
#include "transforms/analysis/axis_variance.h"

#include <algorithm>
#include <unordered_set>

namespace melix::transforms {

using namespace core;

namespace {

class ArrayDefiner {
public:
  ArrayDefiner(const types::TypeStore& types, Function& f) : types_(types), f_(f) {}

  bool changed = false;

  /// Goes back from a value to the undefined arrays that it may be.
  void define(ValueId v) {
    if (types_.kind(f_.typeOf(v)) != TypeKind::Array || !seen_.insert(v).second) return;
    const OpId def = f_.values[v].def;
    if (!def.valid()) return carried(v);
    const uint32_t k = f_.values[v].index;
    switch (f_.ops[def].kind) {
    case OpKind::Undef:
      if (!isOfNumbers(types_, f_.typeOf(v))) return;
      f_.ops[def].kind = OpKind::Zero;
      changed = true;
      return;
    case OpKind::If:
    case OpKind::Match:
      for (const RegionId r : f_.ops[def].regions) define(terminator(f_, r).operands[k]);
      return;
    case OpKind::For:
    case OpKind::While: return loop(def, k);
    default: return;
    }
  }

private:
  /// A parameter of a loop's body, of which the loop carries the value.
  void carried(ValueId v) {
    const RegionId region = f_.values[v].region;
    const OpId op = region.valid() ? f_.regions[region].parent : OpId();
    if (!op.valid() || (f_.ops[op].kind != OpKind::For && f_.ops[op].kind != OpKind::While)) return;
    const std::vector<ValueId>& params = f_.regions[region].params;
    const auto k = static_cast<size_t>(std::ranges::find(params, v) - params.begin());
    const size_t first = f_.ops[op].kind == OpKind::For ? 1 : 0; // the index
    if (k >= first) loop(op, k - first);
  }
  void loop(OpId op, size_t k) {
    const size_t first = f_.ops[op].kind == OpKind::For ? 1 : 0; // the count
    if (k + first >= f_.ops[op].operands.size()) return;         // collected
    define(f_.ops[op].operands[k + first]);
    define(terminator(f_, f_.ops[op].regions.back()).operands[k]);
  }

  const types::TypeStore& types_;
  Function& f_;
  std::unordered_set<ValueId> seen_;
};

void defineOf(const Function& f, OpId nest, ArrayDefiner& definer) {
  const NestView view(f, f.ops[nest]);
  for (const NestPart& part : view.parts())
    if (part.spec->kind == NestResultKind::Collect) definer.define(view.yields(part)[0]);
}

} // namespace

bool defineCollected(Module& m, FunctionId f, OpId nest) {
  ArrayDefiner definer(m.types, m.functions[f]);
  defineOf(m.functions[f], nest, definer);
  return definer.changed;
}

void defineCollected(Module& m, FunctionId f) {
  ArrayDefiner definer(m.types, m.functions[f]);
  forEachOp(m.functions[f], [&](OpId op) {
    if (m.functions[f].ops[op].kind == OpKind::Nest) defineOf(m.functions[f], op, definer);
  });
  if (definer.changed) m.functions[f].version.raise();
}

} // namespace melix::transforms

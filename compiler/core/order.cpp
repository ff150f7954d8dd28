#include "core/order.h"

#include "core/access.h"
#include "core/nest.h"
#include "core/walk.h"

#include <algorithm>
#include <unordered_set>

namespace melix::core {

namespace {

class Orders {
public:
  Orders(Module& m, Function& f) : m_(m), f_(f), access_(m, f) {}

  void run() {
    forEachOp(f_, [&](OpId id) {
      if (f_.ops[id].kind == OpKind::Nest) nest(f_.ops[id]);
    });
  }

private:
  void nest(Op& op) {
    const NestView nest(f_, op);
    for (const NestPart& part : nest.parts()) {
      NestResult& r = resultOf(op, part);
      const ValueId term = nest.yields(part)[0];
      bool sums = r.monoid == MonoidKind::Sum || r.monoid == MonoidKind::Prod;
      if (r.kind != NestResultKind::Reduce || !sums || r.order != OrderKind::Unset) continue;
      if (m_.types.isFloat(f_.typeOf(term))) choose(op, r, term);
    }
  }

  void choose(const Op& op, NestResult& r, ValueId term) {
    const std::vector<ValueId>& axes = f_.regions[op.regions[0]].params;
    ValueId innermost;
    std::set<ValueId> reduced;
    for (uint32_t a = 0; a < op.dims.size(); ++a) {
      if (std::find(r.keep.begin(), r.keep.end(), a) != r.keep.end()) continue;
      innermost = axes[a];
      reduced.insert(axes[a]);
    }
    r.order = OrderKind::Chain;
    if (!innermost.valid() || hasTwoSides(term, reduced) || !access_.readsContiguously(term, innermost))
      return;
    r.order = OrderKind::Lanes;
    r.lanes = m_.types.kind(f_.typeOf(term)) == TypeKind::F64 ? 32 : 64;
  }

  /// The axes of each factor; one that is met again says nothing new.
  void factors(ValueId v, std::unordered_set<ValueId>& seen, std::vector<std::set<ValueId>>& out) const {
    if (!seen.insert(v).second) return;
    const OpId def = f_.values[v].def;
    const OpKind kind = def.valid() ? f_.ops[def].kind : OpKind::Yield;
    if (kind == OpKind::Mul || kind == OpKind::Neg || kind == OpKind::Select) {
      // Of a choice the condition is a factor, and so are the arms.
      for (ValueId x : f_.ops[def].operands) factors(x, seen, out);
      return;
    }
    if (!access_.axesOf(v).empty()) out.push_back(access_.axesOf(v));
  }

  bool hasTwoSides(ValueId term, const std::set<ValueId>& reduced) const {
    std::vector<std::set<ValueId>> all;
    std::unordered_set<ValueId> seen;
    factors(term, seen, all);
    if (all.size() < 2) return false;
    // A contraction varies with the reduced axes in at least two factors.
    std::set<ValueId> others;
    for (const auto& f : all)
      for (ValueId a : f)
        if (!reduced.contains(a) && isNestAxis(a)) others.insert(a);
    std::vector<std::set<ValueId>> classes;
    for (ValueId a : others) {
      bool everywhere = std::all_of(all.begin(), all.end(), [&](const auto& f) { return f.contains(a); });
      if (everywhere) continue;
      std::set<ValueId> joined{a};
      for (const auto& f : all)
        if (f.contains(a)) joined.insert(f.begin(), f.end());
      for (auto it = classes.begin(); it != classes.end();) {
        bool meets = std::any_of(it->begin(), it->end(),
                                 [&](ValueId x) { return joined.contains(x) && isSide(x, reduced, all); });
        if (!meets) {
          ++it;
          continue;
        }
        joined.insert(it->begin(), it->end());
        it = classes.erase(it);
      }
      classes.push_back(std::move(joined));
    }
    return classes.size() >= 2;
  }
  bool isNestAxis(ValueId a) const {
    return f_.ops[f_.regions[f_.values[a].region].parent].kind == OpKind::Nest;
  }
  static bool isSide(ValueId a, const std::set<ValueId>& reduced, const std::vector<std::set<ValueId>>& all) {
    return !reduced.contains(a) &&
           !std::all_of(all.begin(), all.end(), [&](const auto& f) { return f.contains(a); });
  }

  Module& m_;
  Function& f_;
  AccessInfo access_;
};

} // namespace

void chooseOrders(Module& m) {
  for (uint32_t i = 0; i < m.functions.size(); ++i) {
    Function& f = m.functions[FunctionId(i)];
    if (f.body.valid()) Orders(m, f).run();
  }
}

} // namespace melix::core

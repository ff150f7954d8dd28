#include "transforms/compose_reads.h"

#include "core/place.h"
#include "core/sharing.h"
#include "transforms/rewrite_region.h"

namespace melix::transforms {

using namespace core;

namespace {

class Composer {
public:
  Composer(Module& m, FunctionId f, const Sharing& sharing) : m_(m), f_(f), sharing_(sharing) {}

  void run(RegionId region) {
    rewriteRegion(m_, f_, region, [&](OpId id) {
      for (RegionId inner : fn().ops[id].regions) run(inner);
      return fn().ops[id].kind != OpKind::Get || !compose(id, region);
    });
  }
  bool changed = false;

private:
  Function& fn() const { return m_.functions[f_]; }

  /// Whether the read was appended to the region, behind the indices that it needs.
  bool compose(OpId id, RegionId region) {
    const Op& inner = fn().ops[id];
    const OpId from = fn().values[inner.operands[0]].def;
    if (!from.valid() || fn().ops[from].kind != OpKind::Get) return false;
    const Op& outer = fn().ops[from];
    const ValueId root = outer.operands[0];
    if (!sharing_.mayUseLater(root, from, id)) return false;
    Builder b(m_, f_, region, inner.loc);
    std::optional<Place> place = placeWithin(b, fn().typeOf(root), placeOf(outer), placeOf(inner));
    if (!place) return false;
    Op& op = fn().ops[id];
    op.operands = {root};
    op.operands.insert(op.operands.end(), place->indices.begin(), place->indices.end());
    op.attr = std::move(place->path);
    fn().regions[region].ops.push_back(id);
    return changed = true;
  }

  Module& m_;
  FunctionId f_;
  const Sharing& sharing_;
};

} // namespace

bool composeReads(Module& m) {
  bool changed = false;
  for (uint32_t i = 0; i < m.functions.size(); ++i) {
    const FunctionId f(i);
    if (!m.functions[f].body.valid()) continue;
    const Sharing sharing(m, m.functions[f]);
    Composer c(m, f, sharing);
    c.run(m.functions[f].body);
    changed |= c.changed;
  }
  return changed;
}

} // namespace melix::transforms

#include "transforms/fusion/sink_scalars.h"

#include "transforms/analysis/cost_model.h"

#include <algorithm>
#include <limits>

namespace melix::transforms {

using namespace core;

namespace {

class ScalarSinker {
public:
  ScalarSinker(Module& m, FunctionId f, const Effects& effects)
      : types_(m.types), f_(m.functions[f]), effects_(effects), homes_(f_.ops.size()),
        needed_(f_.ops.size(), never), follows_(f_.ops.size(), false), places_(f_.regions.size(), 0) {}

  void run() { region(f_.body); }

private:
  static constexpr uint32_t never = std::numeric_limits<uint32_t>::max();

  /// Finds what is used inside the ops of the region; what these use themselves, `block` does.
  void region(RegionId r) {
    bool moves = false;
    const std::vector<OpId>& ops = f_.regions[r].ops;
    for (uint32_t place = 0; place < ops.size(); ++place) {
      const Op& op = f_.ops[ops[place]];
      places_[r.index] = place;
      homes_[ops[place].index] = r;
      for (ValueId v : op.operands) useFromInside(v, r);
      follows_[ops[place].index] = followsNest(ops[place], r);
      moves |= follows_[ops[place].index];
      for (RegionId inner : op.regions) region(inner);
    }
    if (moves) block(r);
  }
  void useFromInside(ValueId v, RegionId user) {
    const OpId def = f_.values[v].def;
    if (!def.valid() || homes_[def.index] == user) return;
    needed_[def.index] = std::min(needed_[def.index], places_[homes_[def.index].index]);
  }

  /// Whether an op of the region is arithmetic on what a nest of the region gives.
  bool followsNest(OpId id, RegionId r) const {
    const Op& op = f_.ops[id];
    auto isScalar = [&](ValueId v) { return types_.isScalar(f_.typeOf(v)); };
    if (flopsOf(op.kind) == 0 || !op.regions.empty() || effects_.ofOp(f_, id).any()) return false;
    if (!std::ranges::all_of(op.operands, isScalar) || !std::ranges::all_of(op.results, isScalar))
      return false;
    return std::ranges::any_of(op.operands, [&](ValueId v) {
      const OpId def = f_.values[v].def;
      return def.valid() && homes_[def.index] == r &&
             (f_.ops[def].kind == OpKind::Nest || follows_[def.index]);
    });
  }

  void block(RegionId r) {
    const std::vector<OpId> ops = std::move(f_.regions[r].ops);
    std::vector<uint32_t> to(ops.size());
    for (auto place = static_cast<uint32_t>(ops.size()); place-- > 0;) {
      const OpId id = ops[place];
      to[place] = follows_[id.index] && needed_[id.index] != never ? needed_[id.index] : place;
      for (ValueId v : f_.ops[id].operands)
        if (const OpId def = f_.values[v].def; def.valid() && homes_[def.index] == r)
          needed_[def.index] = std::min(needed_[def.index], to[place]);
    }
    std::vector<uint32_t> order(ops.size());
    for (uint32_t place = 0; place < ops.size(); ++place) order[place] = place;
    // What moves stands before the op that stands where it moves to.
    auto key = [&](uint32_t place) { return std::pair(to[place], to[place] == place); };
    std::ranges::stable_sort(order, {}, key);
    std::vector<OpId>& out = f_.regions[r].ops;
    out.clear();
    for (uint32_t place : order) out.push_back(ops[place]);
    if (out != ops) f_.version.raise();
  }

  const types::TypeStore& types_;
  Function& f_;
  const Effects& effects_;
  std::vector<RegionId> homes_;  ///< by op
  std::vector<uint32_t> needed_; ///< by op: the place in its region where it is first used
  std::vector<bool> follows_;    ///< by op
  std::vector<uint32_t> places_; ///< by region: of the op at hand
};

} // namespace

void sinkScalars(Module& m, FunctionId f, const Effects& effects) { ScalarSinker(m, f, effects).run(); }

} // namespace melix::transforms

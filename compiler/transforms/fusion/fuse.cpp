#include "transforms/fusion/fuse.h"

#include "core/order/verify.h"
#include "transforms/canonical/canonicalise.h"
#include "transforms/fusion/fuse_into_reader.h"
#include "transforms/fusion/fuse_nests.h"
#include "transforms/fusion/schedule_before_updates.h"
#include "transforms/fusion/sink_scalars.h"
#include "transforms/simplify/simplify.h"
#include "transforms/walks/for_each_function.h"

#include <algorithm>
#include <map>

namespace melix::transforms {

using namespace core;

namespace {

/// What one round makes another may put together once more; a bound, not an aim.
constexpr int mostFusionRounds = 3;

class Fuser {
public:
  Fuser(Fusion& fusion, FusionSteps steps) : s_(fusion), steps_(steps) {}

  /// The nests of a block, then those inside.
  void block(RegionId r) {
    s_.open(r);
    latest_.clear();
    const std::vector<OpId> ops = s_.f.regions[r].ops;
    for (auto op = ops.rbegin(); op != ops.rend(); ++op)
      if (s_.f.ops[*op].kind == OpKind::Nest) nest(*op);
    s_.applyMoves();
    const std::vector<OpId> now = s_.f.regions[r].ops;
    for (OpId op : now)
      for (RegionId inner : s_.f.ops[op].regions) block(inner);
  }

private:
  void nest(OpId id) {
    FusionAnswer read{FusionReason::UsedWhole, {}}, outer;
    if (steps_.reads && (read = inlineRead(s_, id)).done()) return;
    if (steps_.intoConsumer && (outer = fuseOuter(s_, id)).done()) return;
    if (steps_.siblings && joinsSibling(id)) return;
    noteKept(id, read, outer);
  }
  /// Why an array stays that others than the end of the block use.
  void noteKept(OpId id, const FusionAnswer& read, const FusionAnswer& outer) {
    const OpId reader = read.reader.valid() ? read.reader : outer.reader;
    const bool isArray = std::ranges::any_of(
        s_.f.ops[id].results, [&](ValueId v) { return s_.m.types.kind(s_.f.typeOf(v)) == TypeKind::Array; });
    if (!isArray || !reader.valid() || s_.f.ops[reader].kind == OpKind::Yield) return;
    const bool asWhole = read.reason == FusionReason::UsedWhole || read.reason == FusionReason::Reduces;
    const bool saysMore = asWhole && outer.reader.valid();
    s_.note(FusionKind::Kept, saysMore ? outer.reason : read.reason, id, saysMore ? outer.reader : reader);
  }
  bool joinsSibling(OpId id) {
    OpId& other = latest_[std::vector<DimId>(s_.f.ops[id].dims)];
    if (other.valid() && s_.uses.regionOf(other) == s_.block() && fuseSiblings(s_, id, other)) return true;
    other = id;
    return false;
  }

  Fusion& s_;
  const FusionSteps steps_;
  std::map<std::vector<DimId>, OpId> latest_; ///< by axes: the nest of the block last met
};

} // namespace

bool fuseOnce(Module& m, FusionSteps steps, FusionLog* log) {
  require(m, {State::DerivativesGone, State::SumsUnordered});
  const Effects effects(m);
  return changeBodies(m, [&](FunctionId f) {
    advanceNests(m, f, effects);
    sinkScalars(m, f, effects);
    Fusion fusion(m, f, effects, log);
    Fuser(fusion, steps).block(m.functions[f].body);
    return fusion.changed;
  });
}

bool fuse(Module& m, FusionLog* log) {
  bool any = false;
  for (int round = 0; round < mostFusionRounds; ++round) {
    if (log) std::erase_if(*log, [](const FusionDecision& d) { return d.kind == FusionKind::Kept; });
    if (!fuseOnce(m, {}, log)) break;
    simplify(m);
    canonicalise(m);
    any = true;
  }
  return any;
}

} // namespace melix::transforms

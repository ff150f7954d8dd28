#include "transforms/canonical/compose_reads.h"

#include "core/analysis/sharing.h"
#include "core/ir/place.h"
#include "core/ir/walk.h"
#include "transforms/walks/for_each_function.h"
#include "transforms/walks/rewrite_region.h"

#include <algorithm>
#include <unordered_map>

namespace melix::transforms {

using namespace core;

namespace {

class Composer {
public:
  Composer(Module& m, FunctionId f) : m_(m), f_(f), sharing_(m, fn()), homes_(regionsOfOps(fn())) {}

  bool run() {
    region(fn().body);
    if (!after_.empty()) applyInsertions(fn().body);
    return changed_;
  }

private:
  Function& fn() const { return m_.functions[f_]; }

  void region(RegionId r) {
    rewriteRegion(m_, f_, r, [&](OpId id) {
      for (RegionId inner : fn().ops[id].regions) region(inner);
      return fn().ops[id].kind != OpKind::Get || !compose(id, r);
    });
  }

  /// Whether the read stands elsewhere: after the indices that it needs, or where the other one stands.
  bool compose(OpId id, RegionId r) {
    const Op& inner = fn().ops[id];
    if (m_.types.isScalar(fn().typeOf(inner.results[0]))) readThroughCasts(id);
    const OpId from = fn().values[inner.operands[0]].def;
    if (!from.valid() || fn().ops[from].kind != OpKind::Get) return false;
    const Op& outer = fn().ops[from];
    const bool moves = isPartOf(inner) && homes_[from.index] != r;
    if (!moves && !sharing_.mayUseLater(outer.operands[0], standingAt(from), id)) return false;
    Builder b(m_, f_, r, inner.loc);
    std::optional<Place> place =
        placeWithin(b, fn().typeOf(outer.operands[0]), placeOf(outer), placeOf(inner));
    if (!place) return false;
    become(fn().ops[id], outer.operands[0], std::move(*place));
    changed_ = true;
    if (!moves) return fn().regions[r].ops.push_back(id), true;
    homes_[id.index] = homes_[from.index];
    standsAt_[id] = standingAt(from);
    after_[from].push_back(id);
    return true;
  }
  /// An element is the same by whatever name its array knows the sizes.
  void readThroughCasts(OpId get) {
    ValueId& array = fn().ops[get].operands[0];
    for (OpId from = fn().values[array].def; from.valid() && fn().ops[from].kind == OpKind::CastDims;
         from = fn().values[array].def) {
      if (!sharing_.mayUseLater(fn().ops[from].operands[0], from, get)) return;
      array = fn().ops[from].operands[0];
      changed_ = true;
    }
  }
  /// A part of a record is read where the record was: not at each iteration of what stands in between.
  static bool isPartOf(const Op& get) {
    const Path& path = get.as<Path>();
    return std::all_of(path.begin(), path.end(), [](const PathStep& s) { return s.kind == StepKind::Field; });
  }
  static void become(Op& get, ValueId root, Place place) {
    get.operands = {root};
    get.operands.insert(get.operands.end(), place.indices.begin(), place.indices.end());
    get.attr = std::move(place.path);
  }
  /// The read after which a moved one stands.
  OpId standingAt(OpId op) const {
    auto it = standsAt_.find(op);
    return it == standsAt_.end() ? op : it->second;
  }

  void applyInsertions(RegionId r) {
    std::vector<OpId> out;
    for (OpId id : fn().regions[r].ops) {
      applyInsertions(id, out);
      for (RegionId inner : fn().ops[id].regions) applyInsertions(inner);
    }
    fn().regions[r].ops = std::move(out);
  }
  void applyInsertions(OpId id, std::vector<OpId>& out) {
    out.push_back(id);
    auto it = after_.find(id);
    if (it == after_.end()) return;
    for (OpId moved : it->second) applyInsertions(moved, out);
  }

  Module& m_;
  FunctionId f_;
  const Sharing sharing_;
  std::vector<RegionId> homes_; ///< by op
  std::unordered_map<OpId, OpId> standsAt_;
  std::unordered_map<OpId, std::vector<OpId>> after_;
  bool changed_ = false;
};

} // namespace

bool composeReadsIn(Module& m, FunctionId f) { return Composer(m, f).run(); }

bool composeReads(Module& m) {
  return changeBodies(m, [&](FunctionId f) { return composeReadsIn(m, f); });
}

} // namespace melix::transforms

#include "transforms/canonical/forward_stores.h"

#include "core/analysis/sharing.h"
#include "core/ir/nest.h"
#include "core/ir/place.h"
#include "core/ir/uses.h"
#include "core/ir/walk.h"
#include "transforms/walks/for_each_function.h"
#include "transforms/walks/read_through_update.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace melix::transforms {

using namespace core;

namespace {

constexpr uint32_t maxUpdates = 4;       ///< that a read goes around
constexpr size_t maxReadsOfReplaced = 2; ///< of an update: more cost more than the update

class ReadForwarder {
public:
  ReadForwarder(Module& m, FunctionId id)
      : m_(m), id_(id), f_(m.functions[id]), uses_(m, id), sharing_(m, f_),
        scratch_(f_.regions.add(Region{})) {}

  bool run() {
    region(f_.body);
    // The last update first: what it is read around for may be an update too.
    for (auto u = updates_.rbegin(); u != updates_.rend(); ++u) around(*u);
    if (changed_) applyInsertions(f_.body);
    return changed_;
  }

private:
  void region(RegionId r) {
    for (OpId id : f_.regions[r].ops) {
      const Op& op = f_.ops[id];
      for (RegionId inner : op.regions) region(inner);
      if (op.kind == OpKind::Nest) wholes(id);
      if (op.kind == OpKind::Get) known(id);
      if (op.kind == OpKind::Length) length(id);
      const bool updates = op.kind == OpKind::Set || op.kind == OpKind::AddAt;
      if (updates && m_.types.kind(f_.typeOf(op.results[0])) != TypeKind::Acc) updates_.push_back(id);
    }
  }

  // --- ops that come and go: the lists of the regions are made anew at the end

  /// For what comes before `at`, until `come`.
  Builder before(OpId at) {
    f_.regions[scratch_].ops.clear();
    return Builder(m_, id_, scratch_, f_.ops[at].loc);
  }
  void come(OpId at) {
    std::vector<OpId>& list = f_.regions[scratch_].ops;
    for (OpId id : list) {
      uses_.enter(id, uses_.regionOf(at));
      forEachMade(id, [&](OpId made) { standsAt_[made] = standingAt(at); });
      before_[at].push_back(id);
    }
    list.clear();
  }
  template <class Visit>
  void forEachMade(OpId op, Visit visit) const {
    visit(op);
    for (RegionId inner : f_.ops[op].regions) forEachOp(f_, inner, visit);
  }
  void goFor(OpId op, ValueId value) {
    come(op);
    uses_.replace(f_.ops[op].results[0], value);
    go(op);
  }
  void go(OpId op) {
    uses_.leave(op);
    gone_.insert(op);
    changed_ = true;
  }
  /// The op that was there from the beginning before which the op stands, or itself.
  OpId standingAt(OpId op) const {
    auto it = standsAt_.find(op);
    return it == standsAt_.end() ? op : it->second;
  }
  void applyInsertions(RegionId r) {
    std::vector<OpId> out;
    for (OpId id : f_.regions[r].ops) applyInsertions(id, out);
    f_.regions[r].ops = std::move(out);
    for (OpId id : f_.regions[r].ops)
      for (RegionId inner : f_.ops[id].regions) applyInsertions(inner);
  }
  void applyInsertions(OpId id, std::vector<OpId>& out) {
    if (auto it = before_.find(id); it != before_.end())
      for (OpId first : it->second) applyInsertions(first, out);
    if (!gone_.contains(id)) out.push_back(id);
  }

  // --- known values

  const Op* defOf(ValueId v) const {
    const OpId def = f_.values[v].def;
    return def.valid() ? &f_.ops[def] : nullptr;
  }
  bool mayUse(ValueId v, OpId from, OpId at) const {
    return sharing_.mayUseLater(v, standingAt(from), standingAt(at));
  }

  void known(OpId id) {
    Builder b = before(id);
    const Op& op = f_.ops[id];
    const OpId from = f_.values[op.operands[0]].def;
    const std::optional<ValueId> v = known(b, op.operands[0], placeOf(op), id);
    if (!v) return;
    goFor(id, *v);
    // What was updated is read around the updates only if nothing else uses it.
    if (f_.ops[from].kind == OpKind::Reshape && !uses_.used(f_.ops[from].results[0])) go(from);
  }
  /// What a read at `at` of a place of `root` gives, if that is known from what made `root`.
  std::optional<ValueId> known(Builder& b, ValueId root, const Place& p, OpId at) {
    const OpId from = f_.values[root].def;
    if (!from.valid()) return std::nullopt;
    const Op& op = f_.ops[from];
    if (op.kind == OpKind::Zero) return zero(b, *pathType(m_.types, f_.typeOf(root), p.path));
    if (op.kind == OpKind::Nest) return ofNest(b, from, f_.values[root].index, p, at);
    if (op.kind == OpKind::Set) return ofSet(b, from, p, at);
    if (op.kind == OpKind::ToList) return ofList(b, from, p, at);
    if (op.kind == OpKind::Reshape) return ofReshaped(b, from, p, at);
    return std::nullopt;
  }
  ValueId read(Builder& b, ValueId v, const Place& p, OpId at) {
    if (std::optional<ValueId> found = known(b, v, p, at)) return *found;
    return b.get(v, p.path, p.indices);
  }
  std::optional<ValueId> zero(Builder& b, TypeId type) const {
    if (!m_.types.isScalar(type)) return std::nullopt;
    return b.constant(type, 0);
  }
  /// An element of what was updated and reshaped is one of what was updated, around which it may be read; of
  /// a row that is reshaped where the element is read, one of the row.
  std::optional<ValueId> ofReshaped(Builder& b, OpId reshape, const Place& p, OpId at) {
    const ValueId array = f_.ops[reshape].operands[0];
    const Op* made = defOf(array);
    const bool isKnown =
        made && (made->kind == OpKind::Get || made->kind == OpKind::Set || made->kind == OpKind::AddAt) &&
        uses_.regionOf(reshape) == uses_.regionOf(at);
    const std::vector<DimId> to = m_.types[f_.typeOf(f_.ops[reshape].results[0])].dims,
                             of = m_.types[f_.typeOf(array)].dims;
    auto isIndex = [](const PathStep& s) { return s.kind == StepKind::Index; };
    if (!isKnown || p.path.size() != to.size() || !std::ranges::all_of(p.path, isIndex) ||
        !mayUse(array, reshape, at))
      return std::nullopt;
    ValueId number = p.indices[0];
    for (size_t k = 1; k < to.size(); ++k)
      number = b.binary(OpKind::Add, b.binary(OpKind::Mul, number, b.dimValue(to[k])), p.indices[k]);
    Place there{Path(of.size(), p.path[0]), std::vector<ValueId>(of.size())};
    for (size_t k = of.size(); k-- > 1; number = b.binary(OpKind::IDiv, number, b.dimValue(of[k])))
      there.indices[k] = b.binary(OpKind::IRem, number, b.dimValue(of[k]));
    there.indices[0] = number;
    return b.get(array, there.path, there.indices);
  }
  /// The element of the array that a list was made of.
  std::optional<ValueId> ofList(Builder& b, OpId list, Place p, OpId at) {
    const ValueId array = f_.ops[list].operands[0];
    if (p.path.empty() || !mayUse(array, list, at)) return std::nullopt;
    p.path[0].kind = StepKind::Index;
    return read(b, array, p, at);
  }
  void length(OpId id) {
    const Op* made = defOf(f_.ops[id].operands[0]);
    if (!made || made->kind != OpKind::ToList) return;
    const DimId count = m_.types[f_.typeOf(made->operands[0])].dims[0];
    Builder b = before(id);
    goFor(id, b.dimValue(count));
  }
  /// The value that was put at the very place.
  std::optional<ValueId> ofSet(Builder& b, OpId set, const Place& p, OpId at) {
    const Op& op = f_.ops[set];
    const ValueId v = op.operands[1];
    const Overlap o = overlap(m_, f_, f_.typeOf(op.operands[0]), placeOf(op), p);
    if (o.kind != Overlap::Within || !o.equal.empty() || !o.inSlices.empty() || !mayUse(v, set, at))
      return std::nullopt;
    return read(b, v, o.rest, at);
  }

  // --- nests that collect what they read

  static Place rest(const Place& p, size_t steps) {
    const auto n = static_cast<std::ptrdiff_t>(steps);
    return {{p.path.begin() + n, p.path.end()}, {p.indices.begin() + n, p.indices.end()}};
  }
  /// The part whose result stands at `index`, if it collects.
  static const NestPart* collected(const NestView& nest, uint32_t index) {
    for (const NestPart& part : nest.parts())
      if (part.results.first == index && part.spec->kind == NestResultKind::Collect) return &part;
    return nullptr;
  }
  bool isMadeIn(RegionId body, ValueId v) const { return uses_.homeOf(v) == body; }

  std::optional<ValueId> ofNest(Builder& b, OpId id, uint32_t result, const Place& p, OpId at) {
    const Op& op = f_.ops[id];
    const NestView nest(f_, op);
    const NestPart* part = collected(nest, result);
    const size_t axes = nest.axes();
    auto isIndex = [](const PathStep& s) { return s.kind == StepKind::Index; };
    if (!part || p.path.size() < axes || !std::all_of(p.path.begin(), p.path.begin() + axes, isIndex))
      return std::nullopt;
    std::unordered_map<ValueId, ValueId> indexOf;
    for (size_t k = 0; k < axes; ++k) indexOf[nest.axisParams()[part->spec->keep[k]]] = p.indices[k];
    const ValueId v = nest.yields(*part)[0];
    const Place inner = rest(p, axes);
    if (auto axis = indexOf.find(v); axis != indexOf.end()) return axis->second;
    if (!isMadeIn(nest.body(), v))
      return mayUse(v, id, at) ? std::optional(read(b, v, inner, at)) : std::nullopt;
    const Op* get = defOf(v);
    if (isConstant(v)) return b.constant(f_.typeOf(v), get->as<Constant>().bits);
    if (!get || get->kind != OpKind::Get) return std::nullopt;
    const ValueId root = get->operands[0];
    Place outer = placeOf(*get);
    for (ValueId& index : outer.indices) {
      if (auto axis = indexOf.find(index); axis != indexOf.end())
        index = axis->second;
      else if (isMadeIn(nest.body(), index))
        return std::nullopt;
    }
    if (isMadeIn(nest.body(), root) || !mayUse(root, id, at)) return std::nullopt;
    std::optional<Place> place = placeWithin(b, f_.typeOf(root), outer, inner);
    return place ? std::optional(read(b, root, *place, at)) : std::nullopt;
  }

  /// Results that are all of a value, in its order, are that value.
  void wholes(OpId id) {
    const NestView nest(f_, f_.ops[id]);
    for (const NestPart& part : nest.parts()) {
      const ValueId result = nest.results(part)[0];
      const ValueId whole = part.spec->kind == NestResultKind::Collect ? wholeOf(nest, part) : ValueId();
      if (!whole.valid() || f_.typeOf(whole) != f_.typeOf(result) || !uses_.used(result)) continue;
      bool may = true;
      uses_.forEach(result, [&](Use use) { may = may && mayUse(whole, id, use.op); });
      if (!may) continue;
      uses_.replace(result, whole);
      sharing_.join(result, whole);
      changed_ = true;
    }
  }
  ValueId wholeOf(const NestView& nest, const NestPart& part) const {
    const ValueId v = nest.yields(part)[0];
    const Op* get = isMadeIn(nest.body(), v) ? defOf(v) : nullptr;
    if (!get || get->kind != OpKind::Get || isMadeIn(nest.body(), get->operands[0])) return {};
    const Place p = placeOf(*get);
    if (p.path.size() != nest.axes() || p.indices.size() != nest.axes()) return {};
    for (size_t k = 0; k < nest.axes(); ++k)
      if (p.path[k].kind != StepKind::Index || p.indices[k] != nest.axisParams()[part.spec->keep[k]])
        return {};
    return get->operands[0];
  }

  // --- reads around updates

  /// If all that reads the updated value can read around the update, and what else uses it replaces what was
  /// updated, the update goes.
  void around(OpId id) {
    const Op& op = f_.ops[id];
    const ValueId x = op.operands[0], v = op.operands[1], updated = op.results[0];
    if (!uses_.used(updated) || !panickingSums(m_, f_, op).empty()) return;
    const Place place = placeOf(op);
    std::vector<std::pair<OpId, Overlap>> reads;
    std::vector<OpId> sets;
    bool all = true;
    uses_.forEach(updated, [&](Use use) {
      if (!all) return;
      if (replaces(use, place)) return sets.push_back(use.op);
      const Op& get = f_.ops[use.op];
      all = use.operand == 0 && get.kind == OpKind::Get && m_.types.isScalar(f_.typeOf(get.results[0])) &&
            readsOnce(use.op, id) && mayUse(x, id, use.op) && mayUse(v, id, use.op) &&
            updatesAround(use.op) < maxUpdates;
      if (!all) return;
      reads.emplace_back(use.op, overlap(m_, f_, f_.typeOf(x), place, placeOf(get)));
      all = reads.back().second.kind != Overlap::Unknown;
    });
    const bool isReplaced = !sets.empty() && reads.size() <= maxReadsOfReplaced;
    if (!all || (!isReplaced && !savesAnArray(id, 0) && !savesASweep(id))) return;
    for (const auto& [get, o] : reads) around(id, get, o);
    for (OpId set : sets) uses_.change(set, [&](Op& own) { own.operands[0] = x; });
    sharing_.leave(id);
    go(id);
  }
  /// Whether the use is a `set` of the place of the updated value, or of one around it.
  bool replaces(Use use, const Place& place) const {
    const Op& set = f_.ops[use.op];
    if (set.kind != OpKind::Set || use.operand != 0) return false;
    const Overlap o = overlap(m_, f_, f_.typeOf(set.operands[0]), placeOf(set), place);
    return o.kind == Overlap::Within && o.equal.empty() && o.inSlices.empty();
  }
  void around(OpId update, OpId get, const Overlap& o) {
    const Op& op = f_.ops[update];
    const uint32_t depth = updatesAround(get) + 1;
    Builder b = before(get);
    const Place p = placeOf(f_.ops[get]);
    const ValueId value = readThroughUpdate(
        b, op.kind, o,
        {[&](Builder& at) { return read(at, op.operands[0], p, get); },
         [&](Builder& at, const Place& there) { return read(at, op.operands[1], there, get); }});
    for (OpId made : f_.regions[scratch_].ops)
      forEachMade(made, [&](OpId each) { updatesAround_[each] = depth; });
    goFor(get, value);
  }
  uint32_t updatesAround(OpId get) const {
    auto it = updatesAround_.find(get);
    return it == updatesAround_.end() ? 0 : it->second;
  }

  /// What is updated was made for that alone, of values that are known, or the update has to copy it: as a
  /// part of another value, say.
  bool savesAnArray(OpId update, uint32_t depth) const {
    const ValueId x = f_.ops[update].operands[0];
    const Op* made = defOf(x);
    if (made && (made->kind == OpKind::Zero || made->kind == OpKind::Get || isFilled(*made, x))) return true;
    if (made && depth < maxUpdates && (made->kind == OpKind::Set || made->kind == OpKind::AddAt))
      return savesAnArray(f_.values[x].def, depth + 1);
    for (RegionId r = uses_.regionOf(update); r != uses_.homeOf(x);
         r = uses_.regionOf(f_.regions[r].parent)) {
      const OpKind kind = f_.ops[f_.regions[r].parent].kind;
      if (kind == OpKind::Nest || kind == OpKind::For || kind == OpKind::While) return true;
    }
    bool later = false;
    uses_.forEach(x, [&](Use use) {
      later = later || (use.op != update && sharing_.isBefore(standingAt(update), standingAt(use.op)));
    });
    return later;
  }
  /// All of an array that a nest made is updated, and one read asks for it.
  bool savesASweep(OpId update) const {
    const Op& op = f_.ops[update];
    const Op* made = defOf(op.operands[0]);
    return op.as<Path>().empty() && made && made->kind == OpKind::Nest && uses_.count(op.results[0]) == 1;
  }
  bool isFilled(const Op& made, ValueId v) const {
    if (made.kind != OpKind::Nest) return false;
    const NestView nest(f_, made);
    const NestPart* part = collected(nest, f_.values[v].index);
    const ValueId filled = part ? nest.yields(*part)[0] : v;
    return part && (!isMadeIn(nest.body(), filled) || isConstant(filled));
  }
  bool isConstant(ValueId v) const {
    const Op* op = defOf(v);
    return op && op->kind == OpKind::Const && m_.types.isScalar(f_.typeOf(v));
  }
  /// Whether the read runs at most once for each element, as the update did.
  bool readsOnce(OpId get, OpId update) const {
    const Place p = placeOf(f_.ops[get]);
    for (RegionId r = uses_.regionOf(get); r != uses_.regionOf(update);) {
      const OpId around = f_.regions[r].parent;
      if (!around.valid()) return false;
      const Op& op = f_.ops[around];
      const bool branch = op.kind == OpKind::If || op.kind == OpKind::Match;
      if (!branch && (op.kind != OpKind::Nest || r != op.regions[0])) return false;
      for (size_t k = 0; k < op.dims.size(); ++k)
        if (std::find(p.indices.begin(), p.indices.end(), f_.regions[r].params[k]) == p.indices.end())
          return false;
      r = uses_.regionOf(around);
    }
    return true;
  }

  Module& m_;
  FunctionId id_;
  Function& f_;
  LiveUses uses_;
  Sharing sharing_;
  RegionId scratch_;
  std::vector<OpId> updates_;
  std::unordered_map<OpId, std::vector<OpId>> before_;
  std::unordered_set<OpId> gone_;
  std::unordered_map<OpId, OpId> standsAt_;
  std::unordered_map<OpId, uint32_t> updatesAround_; ///< by reads that came
  bool changed_ = false;
};

} // namespace

bool forwardStores(Module& m) {
  return changeBodies(m, [&](FunctionId f) { return ReadForwarder(m, f).run(); });
}

} // namespace melix::transforms

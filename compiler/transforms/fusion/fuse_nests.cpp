#include "transforms/fusion/fuse_nests.h"

#include "core/ir/nest_results.h"
#include "core/order/clone.h"

#include <algorithm>
#include <utility>

namespace melix::transforms {

using namespace core;

namespace {

constexpr size_t mostResults = 8; ///< of a nest of siblings: each is a stream of its own

/// Whether the axes that a result keeps begin with the first `axes` of the nest.
bool keepsLeading(const NestResult& r, uint32_t axes) {
  if (r.keep.size() < axes) return false;
  for (uint32_t a = 0; a < axes; ++a)
    if (r.keep[a] != a) return false;
  return true;
}
uint64_t leadingMask(uint32_t axes) { return axes < 64 ? (uint64_t{1} << axes) - 1 : ~uint64_t{0}; }
/// Whether two nests read the same array.
bool readTheSame(const NestFacts& a, const NestFacts& b) {
  return std::ranges::any_of(a.captured,
                             [&](ValueId v) { return std::ranges::find(b.captured, v) != b.captured.end(); });
}
bool isWhole(const NestResult& r) { return r.kind == NestResultKind::Filter || isCombine(r); }

/// Puts `first` into `later`, over so many leading axes. The checks are the callers'.
class NestFuser {
public:
  NestFuser(Fusion& fusion, OpId first, OpId later, uint32_t axes)
      : s_(fusion), first_(first), later_(later), axes_(axes),
        whole_(fusion.f.ops[first].dims.size() == axes) {}

  void run() {
    merge(s_.factsOf(later_), s_.factsOf(first_), axes_);
    standing_ = s_.standingAt(later_);
    if (s_.f.ops[later_].dims.size() > axes_) later_ = wrap(later_);
    const Op& first = s_.f.ops[first_];
    const std::vector<ValueId> results(first.results.begin(), first.results.end());
    if (whole_) panicking_ = panickingSums(s_.m, s_.f, first);
    const std::vector<ValueId> values = takeIn();
    for (size_t k = 0; k < results.size(); ++k) readHere(results[k], values[k]);
    giveOut(results, values);
    s_.changed = true;
  }

private:
  const std::vector<ValueId>& params() const { return s_.f.regions[body()].params; }
  RegionId body() const { return s_.f.ops[later_].regions[0]; }

  static void merge(NestFacts& into, const NestFacts& facts, uint32_t axes) {
    into.cost += facts.cost;
    into.effects |= facts.effects;
    const Sides sides[] = {std::exchange(into.sides, {}), facts.sides};
    for (const Sides& of : sides)
      for (const Sides::Product& p : of.products)
        into.sides.add({p[0] & leadingMask(axes), p[1] & leadingMask(axes)});
    for (ValueId v : facts.captured)
      if (std::ranges::find(into.captured, v) == into.captured.end()) into.captured.push_back(v);
  }

  // --- nests by their leading axes

  /// The nest without its leading axes, in whose place these stand; gives its new results.
  std::vector<ValueId> peel(OpId id, std::span<const ValueId> leading) {
    Op& op = s_.f.ops[id];
    std::vector<ValueId>& params = s_.f.regions[op.regions[0]].params;
    for (size_t a = 0; a < axes_; ++a) s_.uses.replace(params[a], leading[a]);
    params.erase(params.begin(), params.begin() + axes_);
    for (uint32_t k = 0; k < params.size(); ++k) s_.f.values[params[k]].index = k;
    op.dims.erase(op.dims.begin(), op.dims.begin() + axes_);
    const NestView view(s_.f, op);
    for (const NestPart& part : view.parts()) {
      NestResult& r = resultOf(op, part);
      r.keep.erase(r.keep.begin(), r.keep.begin() + axes_);
      for (uint32_t& k : r.keep) k -= axes_;
    }
    for (uint32_t k = 0; k < op.results.size(); ++k)
      op.results[k] = s_.f.values.add(Value{elementType(s_.f.typeOf(op.results[k])), id, {}, k, {}});
    return {op.results.begin(), op.results.end()};
  }
  /// Of an array, after the leading axes.
  TypeId elementType(TypeId array) const {
    const types::Type& t = s_.m.types[array];
    std::vector<DimId> rest(t.dims.begin() + axes_, t.dims.end());
    return s_.m.types.array(s_.m.types.element(array), rest);
  }

  /// A nest over the leading axes, around the nest, in its place.
  OpId wrap(OpId inner) {
    const NestFacts facts = s_.factsOf(inner);
    const std::vector<ValueId> results(s_.f.ops[inner].results.begin(), s_.f.ops[inner].results.end());
    const OpId standing = s_.standingAt(inner);
    Builder b = s_.scratch(s_.f.ops[inner].loc);
    NestBuilder made(b);
    for (uint32_t a = 0; a < axes_; ++a) {
      const ValueId old = s_.f.regions[s_.f.ops[inner].regions[0]].params[a];
      made.axis(s_.f.ops[inner].dims[a], s_.f.values[old].hint);
    }
    const std::vector<ValueId> leading = s_.f.regions[made.body()].params;
    const std::vector<ValueId> rows = peel(inner, leading);
    s_.f.regions[made.body()].ops.push_back(inner);
    for (ValueId row : rows) made.collect(row);
    const OpId outer = made.finish();
    takeOver(s_.f, outer, results);
    s_.putAfter(inner, standing);
    s_.inheritPosition(outer, inner);
    s_.forgetFacts(inner);
    s_.setFacts(outer, facts);
    return outer;
  }
  /// The first nest stands in the later one; gives what its results are there: a value or a row, or none of
  /// results that are known only when all of it has run.
  std::vector<ValueId> takeIn() {
    const std::vector<ValueId> leading(params().begin(), params().begin() + axes_);
    const Op& first = s_.f.ops[first_];
    if (!whole_) {
      std::vector<ValueId> rows = peel(first_, leading);
      s_.moveBefore(body(), {first_}, standing_);
      s_.forgetFacts(first_);
      return rows;
    }
    const RegionId from = first.regions[0];
    for (size_t a = 0; a < axes_; ++a) s_.uses.replace(s_.f.regions[from].params[a], leading[a]);
    const NestView view(s_.f, first);
    std::vector<ValueId> values;
    for (const NestPart& part : view.parts())
      for (uint32_t k = 0; k < part.results.count; ++k) values.push_back(view.yields(part)[0]);
    s_.moveBefore(body(), s_.takeOps(from), standing_);
    return values;
  }

  /// What the later nest read of the result is the value.
  void readHere(ValueId result, ValueId value) {
    std::vector<OpId> reads;
    s_.uses.forEach(result, [&](Use use) {
      if (s_.uses.ancestorIn(s_.block(), use.op) == later_) reads.push_back(use.op);
    });
    for (OpId id : reads) {
      if (s_.f.ops[id].as<Path>().size() == axes_) {
        s_.uses.replace(s_.f.ops[id].results[0], value);
        s_.drop(id);
        continue;
      }
      s_.uses.change(id, [&](Op& get) {
        auto& path = get.as<Path>();
        path.erase(path.begin(), path.begin() + axes_);
        get.operands.erase(get.operands.begin(), get.operands.begin() + axes_);
        get.operands[0] = value;
      });
    }
  }

  /// Results of the first nest that others use, or that may panic, are results of the later one.
  void giveOut(std::span<const ValueId> results, std::span<const ValueId> values) {
    auto isWanted = [&](ValueId v) {
      return s_.uses.used(v) || std::ranges::find(panicking_, v) != panicking_.end();
    };
    size_t at = 0;
    for (const NestResult& spec : specsOf()) {
      const size_t count = whole_ ? resultsOf(spec, axes_) : 1;
      const auto own = results.subspan(at, count);
      if (std::ranges::any_of(own, isWanted)) addResult(s_.f, s_.uses, later_, spec, values[at], own);
      at += count;
    }
    if (whole_) s_.drop(first_);
  }
  std::vector<NestResult> specsOf() const {
    if (whole_) return nestResults(s_.f.ops[first_]);
    return std::vector<NestResult>(s_.f.ops[first_].results.size(), collecting(axes_));
  }

  Fusion& s_;
  OpId first_, later_, standing_;
  const uint32_t axes_;
  const bool whole_;               ///< the first nest has no other axes
  std::vector<ValueId> panicking_; ///< of the results of a whole one: sums that may panic
};

/// What the two joins ask alike.
class JoinTest {
public:
  JoinTest(Fusion& fusion, OpId first, OpId later)
      : s_(fusion), first_(first), later_(later), a_(fusion.factsOf(first)), b_(fusion.factsOf(later)) {}

  FusionReason refuses() const {
    if (nestAccs(s_.f.ops[first_]) > 0 || !mayAdd()) return FusionReason::Adds;
    for (OpId id : {first_, later_})
      for (const NestResult& r : nestResults(s_.f.ops[id]))
        if (isWhole(r)) return FusionReason::Reduces;
    if (a_.cost.ops + b_.cost.ops > mostOps) return FusionReason::Expensive;
    if (s_.isCut(first_, later_) || isLoud(a_) || isLoud(b_)) return FusionReason::Cut;
    if (a_.effects.any() && (b_.effects.any() || s_.isChecked(first_, later_))) return FusionReason::Effects;
    if (!s_.mayReadLater(first_, later_)) return FusionReason::Updated;
    return FusionReason::None;
  }
  /// How many leading axes have the same extents.
  uint32_t leadingAxes() const {
    const Dims &a = s_.f.ops[first_].dims, &b = s_.f.ops[later_].dims;
    const auto ends = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
    return static_cast<uint32_t>(ends.first - a.begin());
  }

private:
  /// Whether the later one adds into no accumulator; or the points are few, so that they need not run side by
  /// side, the same for both, and what the earlier one reads is not added to.
  bool mayAdd() const {
    const Op &first = s_.f.ops[first_], &later = s_.f.ops[later_];
    if (nestAccs(later) == 0) return true;
    return first.dims == later.dims && s_.costs.fewPointsOf(first) && s_.mayReadWithin(first_, later_);
  }
  static bool isLoud(const NestFacts& facts) { return facts.effects.io || facts.effects.debug; }

  Fusion& s_;
  const OpId first_, later_;
  const NestFacts &a_, &b_;
};

/// A nest and the first op that uses it.
class OuterTest {
public:
  OuterTest(Fusion& fusion, OpId nest) : s_(fusion), id_(nest) {}

  OpId reader;
  uint32_t axes = 0;

  FusionReason refuses() {
    findReader();
    if (!reader.valid() || s_.f.ops[reader].kind != OpKind::Nest) return FusionReason::UsedWhole;
    const JoinTest test(s_, id_, reader);
    if (const FusionReason reason = test.refuses(); reason != FusionReason::None) return reason;
    axes = test.leadingAxes();
    const NestView view(s_.f, s_.f.ops[id_]);
    for (const NestPart& part : view.parts())
      for (ValueId v : view.results(part)) readAxes(*part.spec, v);
    while (axes > 0 && !(allows(id_, axes) && allows(reader, axes))) --axes;
    if (axes == 0) return FusionReason::OtherAxes;
    if ((s_.factsOf(reader).sides.all() & leadingMask(axes)) != 0) return FusionReason::Product;
    if (losesSide() || isSummedAmongOthers()) return FusionReason::Product;
    if (isSeparate()) return FusionReason::Separate;
    const bool same = s_.f.ops[id_].dims.size() == axes && s_.f.ops[reader].dims.size() == axes;
    const bool worth = same || goes_ || readTheSame(s_.factsOf(id_), s_.factsOf(reader));
    return worth ? FusionReason::None : FusionReason::UsedWhole;
  }

private:
  /// None if it is not known which of two comes first: copies stand at one place.
  void findReader() {
    bool isOrdered = true;
    for (ValueId v : s_.f.ops[id_].results)
      s_.uses.forEach(v, [&](Use use) {
        const OpId top = s_.uses.ancestorIn(s_.block(), use.op);
        if (top == reader) return;
        const bool earlier = !reader.valid() || s_.placeOf(top) < s_.placeOf(reader);
        if (earlier || s_.placeOf(top) == s_.placeOf(reader)) isOrdered = earlier;
        if (earlier) reader = top;
      });
    if (!isOrdered) reader = {};
  }
  /// Whether the nest can be one over so many leading axes, and the rest inside: no accumulator has axes.
  bool allows(OpId nest, uint32_t leading) const {
    const Op& op = s_.f.ops[nest];
    if (op.dims.size() == leading) return true;
    auto keeps = [&](const NestResult& r) { return keepsLeading(r, leading); };
    return nestAccs(op) == 0 && std::ranges::all_of(nestResults(op), keeps);
  }

  /// Lowers `axes` to those at which the reader reads the result at its own point.
  void readAxes(const NestResult& spec, ValueId result) {
    bool all = s_.uses.used(result);
    s_.uses.forEach(result, [&](Use use) {
      if (s_.uses.ancestorIn(s_.block(), use.op) != reader) {
        all = false;
        return;
      }
      const Op& get = s_.f.ops[use.op];
      const std::vector<ValueId>& params = s_.f.regions[s_.f.ops[reader].regions[0]].params;
      while (axes > 0 && !keepsLeading(spec, axes)) --axes;
      uint32_t same = 0;
      if (get.kind == OpKind::Get && use.operand == 0)
        while (same < axes && same < get.as<Path>().size() && get.as<Path>()[same].kind == StepKind::Index &&
               get.operands[same + 1] == params[same])
          ++same;
      axes = std::min(axes, same);
    });
    goes_ |= all;
  }

  /// Whether the nest, a product over tiles, would be one of a row and a matrix at each point of the axes,
  /// all of which read all of the matrix; few points are no tile.
  bool losesSide() const {
    const std::vector<Sides::Product>& products = s_.factsOf(id_).sides.products;
    auto sidesIn = [](const Sides::Product& p, uint64_t mask) {
      return ((p[0] & mask) != 0) + ((p[1] & mask) != 0);
    };
    auto most = [&](uint64_t mask) {
      int out = 0;
      for (const Sides::Product& p : products) out = std::max(out, sidesIn(p, mask));
      return out;
    };
    if (most(~uint64_t{0}) != 2 || most(~leadingMask(axes)) != 1) return false;
    return !s_.costs.fewPointsOf(std::span(s_.f.ops[id_].dims).subspan(axes));
  }

  /// Whether the nest is a product over tiles that the reader sums over an axis of one side, together with
  /// another array of as many elements: this is read from memory anyway, and a sum in a sum is no tile.
  bool isSummedAmongOthers() const {
    const Sides& sides = s_.factsOf(id_).sides;
    if (!sides.areTwo() || s_.costs.fewPointsOf(s_.f.ops[id_])) return false;
    const Op& op = s_.f.ops[reader];
    const bool isSummed = std::ranges::any_of(nestResults(op), [&](const NestResult& r) {
      if (!isSum(r)) return false;
      uint64_t kept = 0;
      for (uint32_t axis : r.keep) kept |= leadingMask(axis + 1) & ~leadingMask(axis);
      return (sides.all() & leadingMask(axes) & ~kept) != 0;
    });
    const std::vector<OpId>& body = s_.f.regions[op.regions[0]].ops;
    return isSummed && std::ranges::any_of(body, [&](OpId id) {
             const Op& get = s_.f.ops[id];
             return get.kind == OpKind::Get && s_.f.values[get.operands[0]].def != id_ &&
                    readsAllOver(get, op);
           });
  }
  /// Whether a read has another element at each point of the shared axes.
  bool readsAllOver(const Op& get, const Op& nest) const {
    const std::vector<ValueId>& params = s_.f.regions[nest.regions[0]].params;
    return std::all_of(params.begin(), params.begin() + axes, [&](ValueId axis) {
      return std::find(get.operands.begin() + 1, get.operands.end(), axis) != get.operands.end();
    });
  }

  /// Terms that are expensive, and sums that keep nothing, stay separate.
  bool isSeparate() const {
    if (s_.kept() == Storage::PerPoint) return false;
    return std::ranges::any_of(nestResults(s_.f.ops[reader]), [](const NestResult& r) {
      return r.kind == NestResultKind::Reduce && r.keep.empty();
    });
  }

  Fusion& s_;
  const OpId id_;
  bool goes_ = false; ///< nobody else uses one of the results
};

} // namespace

FusionAnswer fuseOuter(Fusion& s, OpId nest) {
  OuterTest test(s, nest);
  const FusionReason reason = test.refuses();
  if (reason == FusionReason::None) {
    s.note(FusionKind::Joined, reason, nest, test.reader);
    NestFuser(s, nest, test.reader, test.axes).run();
  }
  return {reason, test.reader};
}

namespace {

/// Whether something that stands before `later` uses the nest, or it does itself.
bool isUsedBefore(const Fusion& s, OpId nest, OpId later) {
  bool used = false;
  for (ValueId v : s.f.ops[nest].results)
    s.uses.forEach(v, [&](Use use) {
      const OpId top = s.uses.ancestorIn(s.block(), use.op);
      used |= s.placeOf(top) <= s.placeOf(later);
    });
  return used;
}

} // namespace

bool fuseSiblings(Fusion& s, OpId nest, OpId later) {
  const Op &a = s.f.ops[nest], &b = s.f.ops[later];
  const JoinTest test(s, nest, later);
  if (test.refuses() != FusionReason::None || a.dims != b.dims || a.dims.empty()) return false;
  const auto &of = nestResults(a), &with = nestResults(b);
  if (of.size() + with.size() > mostResults) return false;
  auto together = [&](const NestResult& r) { return r.kind == with[0].kind && r.keep == with[0].keep; };
  if (with.empty() || !std::ranges::all_of(of, together) || !std::ranges::all_of(with, together))
    return false;
  const NestFacts &x = s.factsOf(nest), &y = s.factsOf(later);
  if (x.sides.all() != 0 || y.sides.all() != 0 || isUsedBefore(s, nest, later)) return false;
  if (!readTheSame(x, y)) return false;
  s.note(FusionKind::Joined, FusionReason::None, nest, later);
  NestFuser(s, nest, later, static_cast<uint32_t>(a.dims.size())).run();
  return true;
}

} // namespace melix::transforms

#include "transforms/fusion/fuse_into_reader.h"

#include "core/analysis/affine.h"
#include "core/ir/nest.h"
#include "core/ir/place.h"
#include "core/order/clone.h"

#include <algorithm>

namespace melix::transforms {

using namespace core;

namespace {

/// More places are never worth it: a read costs at least one.
constexpr size_t mostPlaces = 32;

/// A read of a result of the nest.
struct Read {
  OpId get;
  const NestPart* part;
};
/// Reads of one element in one region.
struct Point {
  RegionId region;
  std::vector<ValueId> index; ///< by axis of the nest
  std::vector<Read> reads;
};

class ReaderFusion {
public:
  ReaderFusion(Fusion& fusion, OpId nest)
      : s_(fusion), id_(nest), view_(fusion.f, fusion.f.ops[nest]), facts_(fusion.factsOf(nest)) {}

  FusionAnswer run() {
    const FusionAnswer answer{refuses(), reader_};
    if (!answer.done()) return answer;
    for (const Point& p : points_) {
      note(p);
      copy(p);
    }
    s_.drop(id_);
    return answer;
  }

private:
  LocId locOf(OpId op) const { return s_.f.ops[op].loc; }

  // --- whether it may

  FusionReason refuses() {
    if (view_.accs() > 0) return FusionReason::Adds;
    for (const NestPart& part : view_.parts()) {
      if (part.spec->kind != NestResultKind::Collect) return FusionReason::Reduces;
      const FusionReason reason = findReads(part);
      if (reason != FusionReason::None) return reason;
    }
    if (points_.empty()) return FusionReason::UsedWhole; // or not at all: simplify sees to that
    if (!mayRepeat(facts_.cost, times_ - 1, keptAs()))
      return times_ > points_.size() ? FusionReason::ReadOften : FusionReason::Expensive;
    if (facts_.effects.io || facts_.effects.debug) return FusionReason::Effects;
    for (const Point& p : points_)
      for (const Read& read : p.reads)
        if (const FusionReason reason = refuses(p, read.get); reason != FusionReason::None) return reason;
    return FusionReason::None;
  }

  /// Of one read: what stands between, and around it.
  FusionReason refuses(const Point& p, OpId get) {
    const OpId top = s_.uses.ancestorIn(s_.block(), get);
    reader_ = top;
    const EffectSet around = s_.effectsOf(top);
    if (s_.isCut(id_, top) || (around.io || around.debug)) return FusionReason::Cut;
    if (facts_.effects.any() && !runsInOrder(p, top)) return FusionReason::Effects;
    if (facts_.cost.unbounded && isSeparate(top)) return FusionReason::Separate;
    if (s_.f.ops[top].kind == OpKind::Nest && !hasRoom(s_.factsOf(top))) return FusionReason::Expensive;
    if (!s_.mayReadLater(id_, get)) return FusionReason::Updated;
    return FusionReason::None;
  }

  /// Whether the reader may grow so, and compute so much again.
  bool hasRoom(const NestFacts& reader) const {
    const bool repeatsTooMuch = times_ > 1 && reader.repeatedWork + repeated() > mostRepeated;
    return !repeatsTooMuch && reader.cost.ops + facts_.cost.ops <= mostOps;
  }
  uint32_t repeated() const { return facts_.cost.flops + facts_.cost.reads; }

  /// Terms that are expensive are computed separately from a sum of all of them.
  bool isSeparate(OpId reader) const {
    const Op& op = s_.f.ops[reader];
    if (op.kind != OpKind::Nest || s_.kept() == Storage::PerPoint) return false;
    return std::ranges::any_of(nestResults(op), [](const NestResult& r) {
      return r.kind != NestResultKind::Collect && r.keep.empty();
    });
  }

  /// Whether the reader runs every point of the nest once, in order, and its effects are the only ones.
  bool runsInOrder(const Point& p, OpId reader) const {
    const Op& op = s_.f.ops[reader];
    if (points_.size() != 1 || op.kind != OpKind::Nest || p.region != op.regions[0]) return false;
    if (op.dims != s_.f.ops[id_].dims || s_.isChecked(id_, reader)) return false;
    const std::vector<ValueId>& axes = s_.f.regions[p.region].params;
    return std::equal(p.index.begin(), p.index.end(), axes.begin()) && !s_.factsOf(reader).effects.any();
  }

  /// What is read is a row if one nest reads it, row by row.
  Storage keptAs() const {
    if (s_.kept() == Storage::PerPoint) return Storage::PerPoint;
    const ValueId first = points_[0].index[0];
    const bool rows = std::ranges::all_of(points_, [&](const Point& p) { return p.index[0] == first; });
    const bool isAxis = !s_.f.values[first].def.valid();
    return rows && isAxis && points_.size() > 1 ? Storage::PerPoint : Storage::Array;
  }

  // --- reads

  FusionReason findReads(const NestPart& part) {
    const ValueId result = view_.results(part)[0];
    FusionReason reason = FusionReason::None;
    s_.uses.forEach(result, [&](Use use) {
      if (reason == FusionReason::None) reason = findRead(part, use);
    });
    return reason;
  }
  FusionReason findRead(const NestPart& part, Use use) {
    const Op& get = s_.f.ops[use.op];
    reader_ = s_.uses.ancestorIn(s_.block(), use.op);
    if (get.kind != OpKind::Get || use.operand != 0) return FusionReason::UsedWhole;
    const Path& path = get.as<Path>();
    const size_t axes = view_.axes();
    auto isIndex = [](const PathStep& s) { return s.kind == StepKind::Index; };
    if (path.size() < axes || !std::all_of(path.begin(), path.begin() + static_cast<long>(axes), isIndex))
      return FusionReason::UsedWhole;
    Point p{s_.uses.regionOf(use.op), std::vector<ValueId>(axes), {{use.op, &part}}};
    for (size_t k = 0; k < axes; ++k) p.index[part.spec->keep[k]] = get.operands[k + 1];
    return enter(std::move(p));
  }
  FusionReason enter(Point p) {
    for (Point& known : points_)
      if (known.region == p.region && known.index == p.index && (isInside(p) || isSameOp(known, p))) {
        known.reads.push_back(p.reads[0]);
        return FusionReason::None;
      }
    if (points_.size() == mostPlaces) return FusionReason::Expensive;
    const std::optional<uint64_t> times = timesOf(p);
    if (!times) return FusionReason::ReadInLoop;
    times_ += *times;
    points_.push_back(std::move(p));
    return FusionReason::None;
  }
  /// Whether the reads stand in another region than the nest, where one body serves all of them.
  bool isInside(const Point& p) const { return p.region != s_.block(); }
  static bool isSameOp(const Point& a, const Point& b) { return a.reads[0].get == b.reads[0].get; }

  /// For how many points of the reader an element is read at most; none if that is not known.
  std::optional<uint64_t> timesOf(const Point& p) const {
    uint64_t times = 1;
    for (RegionId r = p.region; r != s_.block();) {
      const OpId around = s_.f.regions[r].parent;
      if (!around.valid()) return std::nullopt;
      const Op& op = s_.f.ops[around];
      const bool branch = op.kind == OpKind::If || op.kind == OpKind::Match;
      if (!branch && (op.kind != OpKind::Nest || r != op.regions[0])) return std::nullopt;
      for (size_t k = 0; k < op.dims.size(); ++k) {
        if (gives(p, s_.f.regions[r].params[k], r)) continue;
        const std::optional<int64_t> n = s_.m.types.dims.asConstant(op.dims[k]);
        times =
            n && *n < 1024 && times < 1024 ? times * static_cast<uint64_t>(std::max<int64_t>(*n, 1)) : many;
      }
      r = s_.uses.regionOf(around);
    }
    return times;
  }
  static constexpr uint64_t many = uint64_t{1} << 32;
  /// Whether the place determines the axis: an index is it, or that far from something of outside.
  bool gives(const Point& p, ValueId axis, RegionId home) const {
    return std::ranges::any_of(p.index, [&](ValueId v) {
      const std::optional<AffineForm> form =
          affineForm(s_.m.types.dims, s_.f, v,
                     {[&](ValueId x) { return x == axis; }, [&](ValueId x) { return isOutside(x, home); }});
      const int64_t factor = form ? form->axes.factorOf(axis) : 0;
      return factor == 1 || factor == -1;
    });
  }
  bool isOutside(ValueId v, RegionId home) const {
    RegionId at = s_.uses.homeOf(v); // it stands around the nest whose body is `home`
    for (RegionId r = home; at.valid();) {
      const OpId around = s_.f.regions[r].parent;
      if (!around.valid()) return false;
      r = s_.uses.regionOf(around);
      if (r == at) return true;
      if (!r.valid()) return false;
    }
    return false;
  }

  // --- doing it

  void note(const Point& p) {
    const OpId get = p.reads[0].get, top = s_.uses.ancestorIn(s_.block(), get);
    s_.note(FusionKind::Inlined, FusionReason::None, id_, top);
    if (s_.f.ops[top].kind != OpKind::Nest) return;
    NestFacts& reader = s_.factsOf(top);
    reader.cost += facts_.cost;
    if (times_ > 1) reader.repeatedWork += repeated();
    reader.effects |= facts_.effects;
    noteSides(p, top, reader);
    for (ValueId v : facts_.captured)
      if (std::ranges::find(reader.captured, v) == reader.captured.end()) reader.captured.push_back(v);
  }

  /// Of a product in it, axes of the reader that its own ones are.
  void noteSides(const Point& p, OpId reader, NestFacts& facts) const {
    const std::span<const ValueId> params = NestView(s_.f, s_.f.ops[reader]).axisParams();
    auto ofReader = [&](uint64_t side) {
      uint64_t out = 0;
      for (size_t k = 0; k < view_.axes(); ++k) {
        const auto at = std::ranges::find(params, p.index[k]);
        if (at != params.end() && (side >> k & 1) != 0) out |= uint64_t(1) << (at - params.begin());
      }
      return out;
    };
    for (const core::Sides::Product& product : facts_.sides.products)
      facts.sides.add({ofReader(product[0]), ofReader(product[1])});
  }

  void copy(const Point& p) {
    Builder b = s_.scratch(locOf(id_));
    Cloner cloner(s_.m, s_.id, s_.id);
    for (size_t k = 0; k < view_.axes(); ++k) cloner.values.emplace(view_.axisParams()[k], p.index[k]);
    const Cloner::Yielded end = cloner.body(view_.body(), b);
    const OpId first = firstOf(p), standing = s_.standingAt(first);
    if (p.region == s_.block())
      for (OpId op : s_.f.regions[b.region].ops) s_.inheritPosition(op, first);
    s_.putBefore(first, standing);
    for (const Read& r : p.reads) become(r, end.values[r.part->yields.first]);
  }
  /// The read that stands first: before it, and after the checks of its indices, the body may stand,
  /// which has no checks of an axis of its own.
  OpId firstOf(const Point& p) {
    std::vector<OpId> gets;
    for (const Read& read : p.reads) gets.push_back(read.get);
    return s_.firstOf(p.region, gets);
  }

  /// The read is of the element that was computed, or that element itself.
  void become(const Read& read, ValueId element) {
    const size_t axes = view_.axes();
    if (s_.f.ops[read.get].as<Path>().size() == axes) {
      s_.uses.replace(s_.f.ops[read.get].results[0], element);
      s_.drop(read.get);
      return;
    }
    s_.uses.change(read.get, [&](Op& get) {
      auto& path = get.as<Path>();
      path.erase(path.begin(), path.begin() + static_cast<long>(axes));
      get.operands.erase(get.operands.begin(), get.operands.begin() + axes);
      get.operands[0] = element;
    });
  }

  Fusion& s_;
  const OpId id_;
  const NestView view_;
  const NestFacts facts_; ///< those of readers change meanwhile
  std::vector<Point> points_;
  uint64_t times_ = 0;
  OpId reader_; ///< that was looked at last
};

} // namespace

FusionAnswer inlineRead(Fusion& fusion, OpId nest) { return ReaderFusion(fusion, nest).run(); }

} // namespace melix::transforms

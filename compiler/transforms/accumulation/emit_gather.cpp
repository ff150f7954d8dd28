#include "transforms/accumulation/emit_gather.h"

#include "core/ir/nest.h"

#include <algorithm>

namespace melix::transforms {

using namespace core;

namespace {

/// The nest that one add becomes.
class Sum {
public:
  Sum(Module& m, FunctionId f, LiveUses& uses, const PlannedAdd& add, const Emit& e)
      : m_(m), f_(f), uses_(uses), nest_(add.nest), c_(add.conversion), kept_(add.kept),
        at_(m, f, e.region, m.functions[f].ops[add.conversion.site.add].loc), made_(at_),
        b_(at_.in(made_.body())), map_(m, f, f) {
    openAxes();
  }

  PlacedSum ofTerms(Emit& e) {
    PlacedSum out;
    placeSum(e, out);
    solve();
    const TypeId element = array().parts[0];
    made_.add(result_, guarded(b_, condition_, [&](Emit& in) { return body(0, in); }, element));
    out.sum = made_.one();
    return out;
  }

  ValueId addEach(ValueId to) {
    for (size_t d = 0; d < c_.target.size(); ++d)
      if (targets_[d].valid()) map_.values[c_.target[d].axis] = targets_[d];
    const ValueId acc = made_.accumulator(to);
    const ValueId term = body(0, b_);
    std::vector<ValueId> place;
    for (size_t d = 0; d < c_.target.size(); ++d) {
      const ValueId from = form(b_, c_.target[d].index, c_.target[d].axis), own = targets_[d];
      if (own.valid() && from.valid())
        place.push_back(b_.add(from, own));
      else
        place.push_back(own.valid() ? own : from.valid() ? from : b_.i64(0));
    }
    made_.end(b_.addAt(acc, term, Path(place.size(), PathStep{StepKind::Index, 0, {}, 1}), place));
    return made_.one();
  }

private:
  Function& fn() const { return m_.functions[f_]; }
  types::TypeStore& types() const { return m_.types; }
  const Op& add() const { return fn().ops[c_.site.add]; }
  /// The type that is accumulated.
  const types::Type& array() const { return types()[types()[fn().typeOf(add().operands[0])].parts[0]]; }

  // --- the axes

  /// The axes of the target that are solved for are kept, the axes that are left are reduced. Those that
  /// determine whether a term is there stand before: a row of terms is there or is not.
  void openAxes() {
    const std::vector<DimId>& dims = array().dims;
    std::unordered_set<ValueId> solved;
    targets_.resize(c_.target.size());
    for (size_t d = 0; d < c_.target.size(); ++d) {
      if (c_.target[d].kind == Solved::Kind::Fixed) continue;
      result_.keep.push_back(static_cast<uint32_t>(made_.axes().size()));
      const bool isPart = c_.target[d].kind == Solved::Kind::Part;
      targets_[d] = made_.axis(isPart ? c_.extentOf(c_.target[d].axis) : dims[d]);
      solved.insert(c_.target[d].axis);
      solved.insert(c_.target[d].rest);
    }
    for (const Divided& d : c_.divided) solved.insert(d.axis);
    std::unordered_set<ValueId> determining;
    for (const Solved& s : c_.target)
      for (auto [axis, factor] : s.index.axes) determining.insert(axis);
    for (const Divided& d : c_.divided)
      if (!d.isWhole) determining.insert({d.quotient, d.remainder});
    for (const auto& [axis, ends] : c_.ends) {
      determining.insert(axis);
      for (const AffineForm& end : ends)
        for (auto [other, factor] : end.axes) determining.insert(other);
    }
    for (bool isTelling : {true, false})
      for (size_t a = 0; a < c_.axes.size(); ++a)
        if (determining.contains(c_.axes[a]) == isTelling) openReduced(c_.axes[a], solved);
    result_.kind =
        made_.axes().size() > result_.keep.size() ? NestResultKind::Reduce : NestResultKind::Collect;
  }

  void openReduced(ValueId axis, const std::unordered_set<ValueId>& solved) {
    if (!solved.contains(axis)) {
      map_.values[axis] = made_.axis(c_.extentOf(axis));
      return;
    }
    for (const Solved& s : c_.target)
      if (s.kind == Solved::Kind::Stride && s.rest == axis)
        counts_[axis] = made_.axis(c_.steps(types().dims, s));
  }

  /// The place of the accumulator that the whole reduction is added at: indices that no axis stands in, and
  /// parts.
  void placeSum(Emit& e, PlacedSum& out) {
    auto isPlaced = [](const Solved& s) {
      return s.kind == Solved::Kind::Fixed || s.kind == Solved::Kind::Part;
    };
    if (std::none_of(c_.target.begin(), c_.target.end(), isPlaced)) return;
    for (const Solved& s : c_.target) {
      if (s.kind == Solved::Kind::Part)
        out.place.push_back({StepKind::Slice, 0, c_.extentOf(s.axis), 1});
      else
        out.place.push_back({isPlaced(s) ? StepKind::Index : StepKind::All, 0, {}, 1});
      if (!isPlaced(s)) continue;
      ValueId v = form(e, s.index, s.axis);
      out.indices.push_back(v.valid() ? v : e.i64(0));
    }
  }

  // --- solved for

  void solve() {
    // Bare axes first, the others may need them.
    for (bool bare : {true, false})
      for (size_t d = 0; d < c_.target.size(); ++d)
        if (c_.target[d].index.isAxis() == bare) solve(c_.target[d], targets_[d], array().dims[d]);
    for (const Divided& d : c_.divided) putTogether(d, c_.extentOf(d.axis));
    placeIsKnown();
    for (ValueId axis : c_.axes)
      if (auto ends = c_.ends.find(axis); ends != c_.ends.end())
        for (const AffineForm& end : ends->second) below(axis, end, array().dims);
  }
  void solve(const Solved& s, ValueId target, DimId dim) {
    switch (s.kind) {
    case Solved::Kind::Fixed: return;
    case Solved::Kind::Unit: return solveUnit(s, target, dim);
    case Solved::Kind::Radix: return solveRadix(s, target);
    case Solved::Kind::Stride: return solveStride(s, target);
    case Solved::Kind::Multiple: return solveMultiple(s, target);
    case Solved::Kind::Part: map_.values[s.axis] = target; return;
    }
  }

  /// What computes the place in the nest is the place where it is solved for; not of what is found, which is
  /// asked for.
  void placeIsKnown() {
    const Op& add = fn().ops[c_.site.add];
    size_t operand = 2, axis = 0;
    for (const PathStep& s : add.as<Path>()) {
      const ValueId v = s.kind == StepKind::All ? ValueId() : add.operands[operand++];
      const bool isAsked = std::ranges::any_of(
          c_.target[axis].index.axes, [&](const auto& term) { return c_.found.contains(term.first); });
      if (s.kind == StepKind::Index && targets_[axis].valid() && !isAsked &&
          c_.target[axis].kind != Solved::Kind::Part)
        map_.values.try_emplace(v, targets_[axis]);
      ++axis;
    }
  }

  /// Whether the index is its axis less one thing.
  static bool isSubtracted(const Solved& s) {
    const AffineForm& i = s.index;
    if (i.axes.size() + i.outside.size() + i.dims.size() != 2 || i.constant != 0) return false;
    auto isTaken = [&](const auto& term) { return term.second == -1; };
    return std::ranges::any_of(i.axes, isTaken) || std::ranges::any_of(i.outside, isTaken) ||
           std::ranges::any_of(i.dims, isTaken);
  }

  void solveUnit(const Solved& s, ValueId target, DimId dim) {
    const bool bare = s.index.isAxis();
    ValueId v = target, rest;
    if (!bare) {
      AffineForm negated;
      negated.add(s.index, -1);
      rest = form(b_, s.index, s.axis);
      if (rest.valid() && s.sign > 0 && isSubtracted(s))
        v = b_.add(v, form(b_, negated, s.axis));
      else if (rest.valid())
        v = s.sign > 0 ? b_.sub(v, rest) : b_.sub(rest, v);
      else if (s.sign < 0)
        v = b_.neg(v);
    }
    map_.values[s.axis] = v;
    if (c_.ends.contains(s.axis)) {
      if (rest.valid() && s.sign > 0) holds(b_.cmp(ops::CmpKind::Ge, target, rest));
      if (s.sign < 0) holds(b_.cmp(ops::CmpKind::Ge, v, b_.i64(0)));
      return;
    }
    if (!bare || c_.extentOf(s.axis) != dim) inRange(v, c_.extentOf(s.axis));
  }

  /// An axis `a` has its points below `end`: where it was solved for as `target - rest`, that is where the
  /// target is below the sum of both.
  void below(ValueId axis, AffineForm end, std::span<const DimId> dims) {
    ValueId left = map_.value(axis);
    for (size_t d = 0; d < c_.target.size(); ++d) {
      const Solved& s = c_.target[d];
      if (s.kind != Solved::Kind::Unit || s.axis != axis || s.sign < 0) continue;
      AffineForm rest = s.index;
      rest.axes.erase(axis);
      end.add(rest, 1);
      if (end.axes.empty() && end.outside.empty() && end.constant == 0 &&
          end.dims == std::map<DimId, int64_t>{{dims[d], 1}})
        return;
      left = targets_[d];
    }
    const ValueId right = form(b_, end);
    holds(b_.cmp(ops::CmpKind::Lt, left, right.valid() ? right : b_.i64(0)));
  }

  void solveRadix(const Solved& s, ValueId target) {
    ValueId radix = b_.i64(s.radix);
    map_.values[s.axis] = b_.binary(OpKind::IDiv, target, radix);
    map_.values[s.rest] = b_.binary(OpKind::IRem, target, radix);
    inRange(map_.values[s.axis], c_.extentOf(s.axis));
    if (types().dims.asConstant(c_.extentOf(s.rest)) != s.radix)
      inRange(map_.values[s.rest], c_.extentOf(s.rest));
  }

  /// What the place has beside the two axes is taken from it; of the rest of that, divided by the step, the
  /// remainder is that of the axis `rest`, which has so many points of it.
  void solveStride(const Solved& s, ValueId target) {
    const ValueId step = b_.i64(std::abs(s.radix)), count = counts_.at(s.rest);
    const ValueId others = form(b_, s.index, s.axis, s.rest);
    ValueId left = others.valid() ? b_.sub(target, others) : target;
    if (s.sign < 0) left = b_.neg(left);
    const ValueId rest = b_.add(b_.binary(OpKind::IRem, left, step), b_.mul(count, step));
    const ValueId axis = b_.sub(b_.binary(OpKind::IDiv, left, step), count);
    const DimId extent = c_.extentOf(s.rest);
    // Of one that is out of range the term is left out; what it reads may then be read before that.
    map_.values[s.rest] = b_.binary(OpKind::Min, rest, b_.sub(b_.dimValue(extent), b_.i64(1)));
    map_.values[s.axis] = s.radix > 0 ? axis : b_.neg(axis);
    inRange(map_.values[s.axis], c_.extentOf(s.axis));
    inRange(rest, extent);
  }

  /// What the place has beside the axis is taken from it; what is left is divided.
  void solveMultiple(const Solved& s, ValueId target) {
    const ValueId others = form(b_, s.index, s.axis), factor = b_.i64(s.radix);
    ValueId left = others.valid() ? b_.sub(target, others) : target;
    if (s.sign < 0) left = b_.neg(left);
    map_.values[s.axis] = b_.binary(OpKind::IDiv, left, factor);
    holds(b_.cmp(ops::CmpKind::Eq, b_.binary(OpKind::IRem, left, factor), b_.i64(0)));
    inRange(map_.values[s.axis], c_.extentOf(s.axis));
  }

  /// An axis of a quotient and a remainder.
  void putTogether(const Divided& d, DimId extent) {
    const ValueId by = b_.dimValue(d.by), rest = form(b_, d.rest);
    ValueId v = b_.add(b_.mul(map_.value(d.quotient), by), map_.value(d.remainder));
    if (rest.valid()) v = b_.sub(v, rest);
    map_.values[d.axis] = d.sign > 0 ? v : b_.neg(v);
    if (!d.isWhole) inRange(map_.values[d.axis], extent);
  }

  void inRange(ValueId v, DimId extent) {
    const ValueId low = b_.cmp(ops::CmpKind::Ge, v, b_.i64(0)),
                  high = b_.cmp(ops::CmpKind::Lt, v, b_.dimValue(extent));
    holds(b_.binary(OpKind::And, low, high));
  }
  void holds(ValueId more) { condition_ = both(b_, condition_, more); }
  static ValueId both(Emit& e, ValueId condition, ValueId more) {
    return condition.valid() ? e.binary(OpKind::And, condition, more) : more;
  }

  static ValueId scaled(Emit& e, ValueId v, int64_t c) { return c == 1 ? v : e.mul(v, e.i64(c)); }

  /// The affine form without the axes `but` and `but2`; none if nothing is left.
  ValueId form(Emit& e, AffineForm rest, ValueId but = {}, ValueId but2 = {}) {
    rest.axes.erase(but);
    rest.axes.erase(but2);
    return rest == AffineForm() ? ValueId()
                                : emit(e, rest, [this](ValueId axis) { return map_.value(axis); });
  }

  // --- the term

  template <class Make>
  ValueId guarded(Emit& b, ValueId condition, Make make, TypeId type) {
    if (!condition.valid()) return make(b);
    Emit yes = b.in(b.newRegion()), no = b.in(b.newRegion());
    yes.yield({make(yes)});
    no.yield({no.zero(type)});
    Op op = Emit::simple(OpKind::If, {condition});
    op.regions = {yes.region, no.region};
    return b.one(std::move(op), type);
  }

  /// The ops of one level after another, then the value added.
  ValueId body(size_t level, Emit& b) {
    if (level == 0) readKept(fn(), nest_, c_.kept, kept_, map_, b);
    for (OpId o : fn().regions[c_.site.levels[level].region].ops)
      if (c_.slice.count(o.index) && o != c_.row && !c_.rows.contains(o) && !isMapped(fn().ops[o]) &&
          !isSize(o, b))
        copy(o, b);
    if (level + 1 == c_.site.levels.size()) return element(b);
    const SiteLevel& next = c_.site.levels[level + 1];
    if (next.kind == SiteLevel::Kind::Nest) return body(level + 1, b);
    const TypeId type = array().parts[0];
    Emit in = b.in(b.newRegion()), other = b.in(b.newRegion());
    in.yield({body(level + 1, in)});
    other.yield({other.zero(type)});
    return materialiseBranchPath(b, next, map_.value(fn().ops[next.op].operands[0]), in.region, other.region,
                                 type);
  }
  void copy(OpId op, Emit& b) {
    if (const OpId row = rowOf(op); row.valid()) {
      std::vector<ValueId> at;
      for (size_t k = 1; k < fn().ops[op].operands.size(); ++k)
        at.push_back(map_.value(fn().ops[op].operands[k]));
      const ValueId element = elementOf(row, at, b);
      map_.values[fn().ops[op].results[0]] = element;
      return;
    }
    const OpId made = map_.op(op, b);
    uses_.enter(made, b.region);
    separate(m_, f_, uses_, made, b.region);
  }
  /// The row of which an op reads an element that is made where it is read.
  OpId rowOf(OpId id) const {
    const Op& op = fn().ops[id];
    const OpId row = op.kind == OpKind::Get ? fn().values[op.operands[0]].def : OpId();
    return row.valid() && c_.rows.contains(row) ? row : OpId();
  }
  bool isMapped(const Op& op) const { return op.results.size() == 1 && map_.values.contains(op.results[0]); }

  /// Whether the op reads a size from inside, which is a form of the axes.
  bool isSize(OpId id, Emit& b) {
    const Op& op = fn().ops[id];
    const auto size = op.results.size() == 1 ? c_.sizes.find(op.results[0]) : c_.sizes.end();
    if (size == c_.sizes.end()) return false;
    const ValueId v = form(b, size->second);
    map_.values[size->first] = v.valid() ? v : b.i64(0);
    return true;
  }

  /// What is added, if all that is found is what its axis says.
  ValueId element(Emit& b) {
    ValueId condition;
    for (const auto& [axis, place] : c_.found)
      condition = both(b, condition, b.cmp(ops::CmpKind::Eq, map_.value(place), map_.value(axis)));
    auto added = [&](Emit& in) {
      if (c_.row.valid()) return elementOfRow(in);
      const ValueId v = map_.value(add().operands[1]);
      if (c_.element.empty()) return v;
      std::vector<ValueId> at;
      for (ValueId q : c_.element) at.push_back(map_.value(q));
      return in.getAt(v, at, types()[fn().typeOf(v)].parts[0]);
    };
    return guarded(b, condition, added, array().parts[0]);
  }

  ValueId elementOfRow(Emit& b) {
    std::vector<ValueId> at;
    for (ValueId axis : c_.element) at.push_back(map_.value(axis));
    return elementOf(c_.row, at, b);
  }
  ValueId elementOf(OpId id, std::span<const ValueId> at, Emit& b) {
    if (fn().ops[id].kind != OpKind::Nest) {
      const Operands terms = fn().ops[id].operands;
      const ValueId first = elementOf(terms[0], at, b);
      return b.add(first, elementOf(terms[1], at, b));
    }
    const NestView row(fn(), fn().ops[id]);
    const std::vector<OpId> ops = fn().regions[row.body()].ops;
    for (size_t k = 0; k < at.size(); ++k) map_.values[row.axisParams()[k]] = at[k];
    for (size_t k = 0; k + 1 < ops.size(); ++k) copy(ops[k], b);
    return map_.value(fn().ops[ops.back()].operands[0]);
  }

  ValueId elementOf(ValueId term, std::span<const ValueId> at, Emit& b) {
    const OpId row = fn().values[term].def;
    if (c_.rows.contains(row)) return elementOf(row, at, b);
    return b.getAt(map_.value(term), at, types()[fn().typeOf(term)].parts[0]);
  }

  Module& m_;
  FunctionId f_;
  LiveUses& uses_;
  const OpId nest_; ///< of the add
  const Conversion& c_;
  const KeptValues& kept_;
  Emit at_;
  NestBuilder made_;
  NestResult result_;
  Emit b_; ///< the body
  Cloner map_;
  std::vector<ValueId> targets_;                ///< by axis of the accumulator: the index kept
  ValueId condition_;                           ///< whether the axes solved for are in range
  std::unordered_map<ValueId, ValueId> counts_; ///< of the rests beside steps: which one it is
};

} // namespace

PlacedSum sumOfTerms(Module& m, FunctionId f, LiveUses& uses, const PlannedAdd& add, Emit& e) {
  return Sum(m, f, uses, add, e).ofTerms(e);
}

ValueId addEachTerm(Module& m, FunctionId f, LiveUses& uses, const PlannedAdd& add, Emit& e, ValueId to) {
  return Sum(m, f, uses, add, e).addEach(to);
}

} // namespace melix::transforms

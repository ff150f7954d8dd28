#include "transforms/accumulate_to_reduce.h"

#include "core/clone.h"
#include "core/walk.h"
#include "transforms/accumulation_sites.h"
#include "transforms/ad_emit.h"
#include "transforms/nest_shape.h"

#include <algorithm>
#include <unordered_set>

namespace melix::transforms {

namespace {

/// One way to write a sum into an array: for each axis of the target an axis of the nest that is solved for.
struct Solved {
  enum class Kind : uint8_t { Fixed, Unit, Radix };
  Kind kind = Kind::Fixed;
  AffineIndex index;
  ValueId axis;      ///< Unit: solved for; Radix: the quotient
  int64_t sign = 1;  ///< Unit
  ValueId rest;      ///< Radix: the remainder axis
  int64_t radix = 1; ///< Radix
};

class Accumulations {
public:
  Accumulations(Module& m, FunctionId f) : m_(m), f_(f) {}

  void run() {
    std::vector<std::pair<OpId, RegionId>> nests;
    collect(fn().body, nests);
    for (auto [id, region] : nests) nest(id, region);
  }

private:
  Function& fn() const { return m_.functions[f_]; }
  types::TypeStore& types() const { return m_.types; }

  void collect(RegionId r, std::vector<std::pair<OpId, RegionId>>& out) {
    for (OpId id : fn().regions[r].ops) {
      if (fn().ops[id].kind == OpKind::Nest && fn().ops[id].as<NestAttr>().accs > 0) out.emplace_back(id, r);
      for (RegionId inner : fn().ops[id].regions) collect(inner, out);
    }
  }

  struct Conversion {
    AccumulationSite site;
    std::vector<ValueId> axes; ///< of all levels, then those of slices and whole axes
    std::vector<DimId> extents;
    std::vector<ValueId> element;       ///< which of these index the added value
    std::vector<Solved> target;         ///< for each axis of the accumulator
    std::unordered_set<uint32_t> slice; ///< ops to copy
    std::vector<ValueId> kept;          ///< values of the outermost body to be read from the first nest
  };

  void nest(OpId id, RegionId region) {
    bool inPlace = false;
    for (OpId o : fn().regions[region].ops) inPlace |= o == id;
    if (!inPlace) return;
    const uint32_t accs = fn().ops[id].as<NestAttr>().accs;
    findInside(id);
    std::vector<std::pair<uint32_t, std::vector<Conversion>>> todo;
    for (uint32_t k = 0; k < accs; ++k) {
      if (types().kind(fn().typeOf(fn().ops[id].operands[k])) != TypeKind::Array) continue;
      std::vector<AccumulationSite> sites;
      if (!findAccumulationSites(fn(), id, k, sites)) continue;
      std::vector<Conversion> all;
      bool ok = true;
      for (AccumulationSite& s : sites) {
        Conversion c;
        c.site = std::move(s);
        ok = ok && plan(c);
        all.push_back(std::move(c));
      }
      if (ok) todo.emplace_back(k, std::move(all));
    }
    if (todo.empty()) return;

    std::vector<OpId>& ops = fn().regions[region].ops;
    auto at = std::find(ops.begin(), ops.end(), id);
    std::vector<OpId> after(at + 1, ops.end());
    ops.erase(at + 1, ops.end());
    std::unordered_map<ValueId, ValueId> keptAs = keep(id, todo);
    Emit e(m_, f_, region, fn().ops[id].loc);
    Replacement replace;
    for (auto& [k, conversions] : todo) {
      ValueId init = fn().ops[id].operands[k];
      ValueId old = fn().ops[id].results[fn().ops[id].results.size() - accs + k];
      OpId initDef = fn().values[init].def;
      bool zero = initDef.valid() && fn().ops[initDef].kind == OpKind::Zero;
      ValueId total = zero ? ValueId() : init;
      for (Conversion& c : conversions) {
        Path fixed;
        std::vector<ValueId> indices;
        ValueId r = reduction(id, c, keptAs, e, fixed, indices);
        if (!total.valid() && fixed.empty())
          total = r;
        else
          total = addWhereReached(e, total.valid() ? total : init, r, fixed, indices, c);
      }
      replace.values[old] = total.valid() ? total : init;
    }
    std::vector<OpId>& again = fn().regions[region].ops;
    again.insert(again.end(), after.begin(), after.end());
    std::vector<uint32_t> gone;
    for (auto& [k, conversions] : todo) gone.push_back(k);
    removeAccumulators(m_, f_, id, gone);
    if (fn().ops[id].results.empty()) std::erase(fn().regions[region].ops, id);
    replaceAll(m_, f_, replace);
  }

  void findInside(OpId id) {
    insideOps_.clear();
    insideDims_.clear();
    insideParams_.clear();
    for (RegionId r : fn().ops[id].regions) {
      enter(r);
      forEachOp(fn(), r, [&](OpId o) {
        insideOps_.insert(o.index);
        for (DimSym s : fn().ops[o].resultDims) insideDims_.insert(s.index);
        for (RegionId inner : fn().ops[o].regions) enter(inner);
      });
    }
  }
  void enter(RegionId r) {
    for (ValueId p : fn().regions[r].params) insideParams_.insert(p.index);
    for (DimSym s : fn().regions[r].dimParams) insideDims_.insert(s.index);
  }
  bool outside(ValueId v) const {
    OpId def = fn().values[v].def;
    return def.valid() ? !insideOps_.count(def.index) : !insideParams_.count(v.index);
  }
  bool outsideDim(DimId d) const {
    std::vector<DimSym> symbols;
    types().dims.collectSymbols(d, symbols);
    for (DimSym s : symbols)
      if (insideDims_.count(s.index)) return false;
    return true;
  }
  bool outsideType(TypeId t) const {
    std::vector<DimSym> symbols;
    types().collectSymbols(t, symbols);
    for (DimSym s : symbols)
      if (insideDims_.count(s.index)) return false;
    return true;
  }

  // --- what can be done
  // ---------------------------------------------------------------------------------------------

  bool plan(Conversion& c) {
    for (const SiteLevel& level : c.site.levels) {
      if (level.kind != SiteLevel::Kind::Nest) continue;
      const Op& n = fn().ops[level.op];
      for (size_t a = 0; a < n.dims.size(); ++a) {
        if (!outsideDim(n.dims[a])) return false;
        c.axes.push_back(fn().regions[n.regions[0]].params[a]);
        c.extents.push_back(n.dims[a]);
      }
    }
    const Op& add = fn().ops[c.site.add];
    const types::Type t = types()[types()[fn().typeOf(add.operands[0])].parts[0]];
    std::vector<std::optional<AffineIndex>> indices;
    size_t operand = 2;
    for (const PathStep& s : add.as<Path>()) {
      if (s.kind == StepKind::Index) {
        indices.push_back(affine(c, add.operands[operand++]));
      } else if (s.kind == StepKind::Slice) {
        auto start = affine(c, add.operands[operand++]);
        if (!outsideDim(s.length)) return false;
        ValueId q = newAxis(c, s.length);
        if (start) start->axes[q] += s.step;
        indices.push_back(start);
      } else if (s.kind == StepKind::All) {
        indices.push_back(wholeAxis(c, t.dims[indices.size()]));
      } else {
        return false;
      }
    }
    while (indices.size() < t.dims.size()) indices.push_back(wholeAxis(c, t.dims[indices.size()]));
    for (DimId d : t.dims)
      if (!outsideDim(d)) return false;
    for (auto& i : indices)
      if (!i) return false;
    if (!solve(c, indices)) return false;
    return slice(c);
  }

  ValueId newAxis(Conversion& c, DimId extent) {
    ValueId q = fn().values.add(Value{types().int64(), {}, {}, 0, {}});
    c.axes.push_back(q);
    c.extents.push_back(extent);
    c.element.push_back(q);
    return q;
  }
  std::optional<AffineIndex> wholeAxis(Conversion& c, DimId extent) {
    AffineIndex i;
    i.axes[newAxis(c, extent)] = 1;
    return i;
  }

  std::optional<AffineIndex> affine(const Conversion& c, ValueId v) const {
    return affineIndex(
        m_, fn(), v, [&](ValueId x) { return std::find(c.axes.begin(), c.axes.end(), x) != c.axes.end(); },
        [&](ValueId x) { return outside(x); });
  }

  DimId extentOf(const Conversion& c, ValueId axis) const {
    return c.extents[static_cast<size_t>(std::find(c.axes.begin(), c.axes.end(), axis) - c.axes.begin())];
  }

  bool solve(Conversion& c, const std::vector<std::optional<AffineIndex>>& indices) {
    std::map<ValueId, int> uses;
    for (const auto& i : indices)
      for (auto [a, k] : i->axes) ++uses[a];
    std::unordered_set<ValueId> solvedAxes;
    for (const auto& i : indices) {
      Solved s;
      s.index = *i;
      if (i->axes.empty()) {
        c.target.push_back(s);
        continue;
      }
      // The outermost axis that stands in this index alone.
      bool found = false;
      for (ValueId a : c.axes) {
        auto at = i->axes.find(a);
        if (found || at == i->axes.end() || uses[a] != 1 || std::abs(at->second) != 1) continue;
        if (i->axes.size() > 1 && radix(c, *i, uses, s)) break;
        s.kind = Solved::Kind::Unit;
        s.axis = a;
        s.sign = at->second;
        found = true;
      }
      if (!found && s.kind != Solved::Kind::Radix && !radix(c, *i, uses, s)) return false;
      solvedAxes.insert(s.axis);
      if (s.kind == Solved::Kind::Radix) solvedAxes.insert(s.rest);
      c.target.push_back(s);
    }
    // What is left in an index beside the axis solved for must be free, or solved by another index on its
    // own.
    for (const Solved& s : c.target)
      for (auto [a, k] : s.index.axes) {
        if (s.kind == Solved::Kind::Fixed || a == s.axis || a == s.rest) continue;
        for (const Solved& other : c.target)
          if ((other.axis == a || other.rest == a) && !other.index.isAxis()) return false;
      }
    return true;
  }

  /// c·a + b with 0 <= b < extent(b) <= c.
  bool radix(const Conversion& c, const AffineIndex& i, std::map<ValueId, int>& uses, Solved& s) const {
    if (i.axes.size() != 2 || !i.outside.empty() || !i.dims.empty() || i.constant != 0) return false;
    std::pair<ValueId, int64_t> first = *i.axes.begin(), second = *std::next(i.axes.begin());
    if (second.second != 1) std::swap(first, second);
    if (second.second != 1 || first.second <= 1 || uses[first.first] != 1 || uses[second.first] != 1)
      return false;
    auto extent = types().dims.asConstant(extentOf(c, second.first));
    if (!extent || *extent > first.second) return false;
    s.kind = Solved::Kind::Radix;
    s.axis = first.first;
    s.rest = second.first;
    s.radix = first.second;
    return true;
  }

  static bool dear(const Op& o) {
    switch (o.kind) {
    case OpKind::Nest:
    case OpKind::For:
    case OpKind::While:
    case OpKind::Call:
    case OpKind::If:
    case OpKind::Match:
    case OpKind::Math:
    case OpKind::Div:
    case OpKind::Sqrt:
    case OpKind::Builtin: return true;
    default: return false;
    }
  }
  static bool structured(const Op& o) { return !o.regions.empty() || o.kind == OpKind::Call; }

  /// The ops that the added value needs; dear ones of the outermost body are kept by the first nest instead.
  bool slice(Conversion& c) {
    std::unordered_set<uint32_t> needed{fn().ops[c.site.add].operands[1].index};
    for (const SiteLevel& level : c.site.levels)
      if (level.kind == SiteLevel::Kind::Arm) needed.insert(fn().ops[level.op].operands[0].index);
    size_t nests = 0;
    for (const SiteLevel& level : c.site.levels) nests += level.kind == SiteLevel::Kind::Nest;
    for (size_t l = c.site.levels.size(); l-- > 0;) {
      const std::vector<OpId>& ops = fn().regions[c.site.levels[l].region].ops;
      for (size_t i = ops.size(); i-- > 0;) {
        const Op& o = fn().ops[ops[i]];
        bool wanted = false;
        for (ValueId r : o.results) wanted |= needed.count(r.index) != 0;
        if (!wanted) continue;
        if (dear(o) && l == 0) {
          for (ValueId r : o.results) {
            if (!needed.count(r.index)) continue;
            if (!outsideType(fn().typeOf(r)) || types().kind(fn().typeOf(r)) == TypeKind::Acc) return false;
            c.kept.push_back(r);
          }
          continue;
        }
        if (structured(o) && l + 1 < c.site.levels.size()) return false;
        c.slice.insert(ops[i].index);
        for (ValueId v : o.operands) needed.insert(v.index);
        for (RegionId inner : o.regions)
          forEachOp(fn(), inner, [&](OpId x) {
            for (ValueId v : fn().ops[x].operands) needed.insert(v.index);
          });
      }
    }
    return dimsCopied(c);
  }

  /// Whether every size from inside the nest that the copied ops mention is decided by one of them.
  bool dimsCopied(const Conversion& c) const {
    std::unordered_set<uint32_t> copied;
    std::vector<DimSym> symbols;
    auto scan = [&](OpId id) {
      const Op& o = fn().ops[id];
      for (DimSym s : o.resultDims) copied.insert(s.index);
      for (RegionId r : o.regions)
        for (DimSym s : fn().regions[r].dimParams) copied.insert(s.index);
      for (ValueId v : o.results) types().collectSymbols(fn().typeOf(v), symbols);
      for (DimId d : o.dims) types().dims.collectSymbols(d, symbols);
    };
    for (uint32_t i : c.slice) {
      scan(OpId(i));
      for (RegionId r : fn().ops[OpId(i)].regions) forEachOp(fn(), r, scan);
    }
    for (DimSym s : symbols)
      if (insideDims_.count(s.index) && !copied.count(s.index)) return false;
    return true;
  }

  // --- doing it
  // -----------------------------------------------------------------------------------------------------

  /// Further results of the first nest: what the others read.
  std::unordered_map<ValueId, ValueId> keep(OpId id,
                                            std::vector<std::pair<uint32_t, std::vector<Conversion>>>& todo) {
    std::unordered_map<ValueId, ValueId> out;
    std::vector<ValueId> values;
    for (auto& [k, conversions] : todo)
      for (Conversion& c : conversions)
        for (ValueId v : c.kept)
          if (std::find(values.begin(), values.end(), v) == values.end()) values.push_back(v);
    Function& f = fn();
    Op& n = f.ops[id];
    NestAttr& attr = n.as<NestAttr>();
    Op& y = f.ops[f.regions[n.regions[0]].ops.back()];
    for (ValueId v : values) {
      NestResult all;
      for (uint32_t a = 0; a < n.dims.size(); ++a) all.keep.push_back(a);
      size_t at = n.results.size() - attr.accs;
      attr.results.push_back(all);
      y.operands.insert(y.operands.begin() + static_cast<long>(y.operands.size() - attr.accs), v);
      ValueId r = f.values.add(Value{types().array(f.typeOf(v), n.dims), id, {}, 0, {}});
      n.results.insert(n.results.begin() + static_cast<long>(at), r);
      for (size_t i = 0; i < n.results.size(); ++i) f.values[n.results[i]].index = static_cast<uint32_t>(i);
      out[v] = r;
    }
    return out;
  }

  /// A place that no point of the nest reaches may not exist.
  ValueId addWhereReached(Emit& e, ValueId to, ValueId r, const Path& place, std::span<const ValueId> indices,
                          const Conversion& c) {
    DimId points = types().dims.product(c.extents);
    if (place.empty() || types().dims.atLeast(points, 1)) return e.addAt(to, r, place, indices);
    Emit yes = e.in(e.newRegion()), no = e.in(e.newRegion());
    yes.yield({yes.addAt(to, r, place, indices)});
    no.yield({to});
    Op op = Emit::simple(OpKind::If, {e.cmp(ops::CmpKind::Gt, e.dimValue(points), e.i64(0))});
    op.regions = {yes.region, no.region};
    return e.one(std::move(op), e.typeOf(to));
  }

  ValueId scaled(Emit& e, ValueId v, int64_t c) { return c == 1 ? v : e.mul(v, e.i64(c)); }

  /// The affine form without the axes `but` and `but2`.
  ValueId form(Emit& e, const AffineIndex& i, ValueId but, ValueId but2, const Cloner& map) {
    ValueId sum;
    auto term = [&](ValueId v) { sum = sum.valid() ? e.add(sum, v) : v; };
    for (auto [a, c] : i.axes)
      if (a != but && a != but2) term(scaled(e, map.value(a), c));
    for (auto [v, c] : i.outside) term(scaled(e, v, c));
    for (auto [d, c] : i.dims) term(scaled(e, e.dimValue(d), c));
    if (i.constant != 0) term(e.i64(i.constant));
    return sum;
  }

  void inRange(Emit& e, ValueId v, DimId extent, ValueId& condition) {
    ValueId low = e.cmp(ops::CmpKind::Ge, v, e.i64(0)), high = e.cmp(ops::CmpKind::Lt, v, e.dimValue(extent));
    ValueId both = e.binary(OpKind::And, low, high);
    condition = condition.valid() ? e.binary(OpKind::And, condition, both) : both;
  }

  ValueId reduction(OpId id, Conversion& c, const std::unordered_map<ValueId, ValueId>& keptAs, Emit& e,
                    Path& fixed, std::vector<ValueId>& fixedIndices) {
    const Op add = fn().ops[c.site.add];
    const types::Type t = types()[types()[fn().typeOf(add.operands[0])].parts[0]];
    Cloner map(m_, f_, f_);
    Op made;
    made.kind = OpKind::Nest;
    made.loc = add.loc;
    NestResult result;
    Emit b = e.in(e.newRegion());
    b.loc = add.loc;
    std::vector<ValueId> targets(c.target.size());
    std::unordered_set<ValueId> solved;
    bool anyFixed = false;
    for (size_t d = 0; d < c.target.size(); ++d) {
      if (c.target[d].kind == Solved::Kind::Fixed) {
        anyFixed = true;
        continue;
      }
      result.keep.push_back(static_cast<uint32_t>(made.dims.size()));
      made.dims.push_back(t.dims[d]);
      targets[d] = b.param(types().int64());
      solved.insert(c.target[d].axis);
      solved.insert(c.target[d].rest);
    }
    for (size_t a = 0; a < c.axes.size(); ++a) {
      if (solved.count(c.axes[a])) continue;
      made.dims.push_back(c.extents[a]);
      map.values[c.axes[a]] = b.param(types().int64());
    }
    result.kind = made.dims.size() > result.keep.size() ? NestResultKind::Reduce : NestResultKind::Collect;
    if (anyFixed)
      for (size_t d = 0; d < c.target.size(); ++d) {
        bool at = c.target[d].kind == Solved::Kind::Fixed;
        fixed.push_back({at ? StepKind::Index : StepKind::All, 0, {}, 1});
        if (!at) continue;
        ValueId v = form(e, c.target[d].index, {}, {}, map);
        fixedIndices.push_back(v.valid() ? v : e.i64(0));
      }

    // Axes solved for: bare ones first, the others may need them.
    ValueId condition;
    for (bool bare : {true, false})
      for (size_t d = 0; d < c.target.size(); ++d) {
        const Solved& s = c.target[d];
        if (s.kind == Solved::Kind::Fixed || s.index.isAxis() != bare) continue;
        if (s.kind == Solved::Kind::Radix) {
          ValueId radix = b.i64(s.radix);
          map.values[s.axis] = b.binary(OpKind::IDiv, targets[d], radix);
          map.values[s.rest] = b.binary(OpKind::IRem, targets[d], radix);
          inRange(b, map.values[s.axis], extentOf(c, s.axis), condition);
          if (types().dims.asConstant(extentOf(c, s.rest)) != s.radix)
            inRange(b, map.values[s.rest], extentOf(c, s.rest), condition);
          continue;
        }
        ValueId v = targets[d];
        if (!bare) {
          ValueId rest = form(b, s.index, s.axis, {}, map);
          if (rest.valid())
            v = s.sign > 0 ? b.sub(v, rest) : b.sub(rest, v);
          else if (s.sign < 0)
            v = b.neg(v);
        }
        map.values[s.axis] = v;
        if (!bare || extentOf(c, s.axis) != t.dims[d]) inRange(b, v, extentOf(c, s.axis), condition);
      }
    ValueId value =
        guarded(b, condition, [&](Emit& in) { return body(id, c, 0, keptAs, map, in); }, t.parts[0]);
    b.yield({value});
    made.regions = {b.region};
    NestAttr attr;
    attr.results.push_back(result);
    made.attr = attr;
    std::vector<DimId> kept;
    for (uint32_t k : result.keep) kept.push_back(made.dims[k]);
    return e.one(std::move(made), types().array(t.parts[0], kept));
  }

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
  ValueId body(OpId id, const Conversion& c, size_t level, const std::unordered_map<ValueId, ValueId>& keptAs,
               Cloner& map, Emit& b) {
    if (level == 0)
      for (ValueId v : c.kept) {
        std::vector<ValueId> at;
        const std::vector<ValueId> params = fn().regions[fn().ops[id].regions[0]].params;
        for (size_t a = 0; a < fn().ops[id].dims.size(); ++a) at.push_back(map.value(params[a]));
        map.values[v] = at.empty() ? keptAs.at(v) : b.getAt(keptAs.at(v), at, fn().typeOf(v));
      }
    const std::vector<OpId> ops = fn().regions[c.site.levels[level].region].ops;
    for (OpId o : ops)
      if (c.slice.count(o.index)) map.op(o, b);
    if (level + 1 == c.site.levels.size()) return element(c, map, b);
    const SiteLevel& next = c.site.levels[level + 1];
    if (next.kind == SiteLevel::Kind::Nest) return body(id, c, level + 1, keptAs, map, b);
    TypeId type = types()[types()[fn().typeOf(fn().ops[c.site.add].operands[0])].parts[0]].parts[0];
    Emit in = b.in(b.newRegion()), other = b.in(b.newRegion());
    in.yield({body(id, c, level + 1, keptAs, map, in)});
    other.yield({other.zero(type)});
    Op op = Emit::simple(OpKind::If, {map.value(fn().ops[next.op].operands[0])});
    op.regions = {in.region, other.region};
    if (next.arm == 1) std::swap(op.regions[0], op.regions[1]);
    return b.one(std::move(op), type);
  }

  ValueId element(const Conversion& c, Cloner& map, Emit& b) {
    ValueId v = map.value(fn().ops[c.site.add].operands[1]);
    if (c.element.empty()) return v;
    std::vector<ValueId> at;
    for (ValueId q : c.element) at.push_back(map.value(q));
    return b.getAt(v, at, types()[fn().typeOf(v)].parts[0]);
  }

  Module& m_;
  FunctionId f_;
  std::unordered_set<uint32_t> insideOps_, insideDims_, insideParams_;
};

} // namespace

void accumulateToReduce(Module& m) {
  for (uint32_t i = 0; i < m.functions.size(); ++i)
    if (m.functions[FunctionId(i)].body.valid()) Accumulations(m, FunctionId(i)).run();
}

} // namespace melix::transforms

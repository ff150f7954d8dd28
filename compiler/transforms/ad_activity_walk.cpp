// One pass over a function: from operands to results, leaf by leaf; repeated until nothing changes.

#include "transforms/ad_activity.h"
#include "transforms/flow_around.h"
#include "transforms/nest_shape.h"

namespace melix::transforms {

static bool any(const LeafBits& bits) {
  for (bool b : bits)
    if (b) return true;
  return false;
}

class ActivityWalk {
public:
  ActivityWalk(Activity& a, FunctionActivity& out)
      : a_(a), out_(out), f_(a.module_.functions[out.function]) {}

  void run() {
    const std::vector<ValueId>& params = f_.params();
    for (size_t i = 0; i < params.size(); ++i) {
      mark(params[i], out_.params[i]);
      for (uint32_t k = 0; k < out_.lostParams[i].size(); ++k)
        if (out_.lostParams[i][k]) lose(params[i], k, {params[i], k, f_.loc});
    }
    if (f_.customJvp.valid()) return customRule();
    region(f_.body);
    const Op& yield = terminator(f_.body);
    for (size_t i = 0; i < yield.operands.size(); ++i) {
      join(out_.results[i], bits(yield.operands[i]));
      const std::vector<Loss> losses = lossesOf(yield.operands[i]);
      for (size_t k = 0; k < losses.size(); ++k)
        if (losses[k].at.valid()) out_.lostResults[i][k] = true;
    }
  }

private:
  /// A function with a rule of its own: what is inside does not matter.
  void customRule() {
    bool active = false;
    for (const LeafBits& b : out_.params) active |= any(b);
    for (LeafBits& b : out_.results) b.assign(b.size(), active);
  }

  const Op& terminator(RegionId r) const { return f_.ops[f_.regions[r].ops.back()]; }
  size_t leafCount(ValueId v) { return a_.leaves_.count(f_.typeOf(v)); }

  LeafBits bits(ValueId v) {
    auto it = out_.values.find(v);
    return it == out_.values.end() ? LeafBits(leafCount(v), false) : it->second;
  }
  bool active(ValueId v) { return out_.active(v); }

  void join(LeafBits& into, const LeafBits& from) {
    if (into.size() < from.size()) into.resize(from.size());
    for (size_t i = 0; i < from.size(); ++i)
      if (from[i] && !into[i]) into[i] = true, changed_ = true;
  }
  void mark(ValueId v, const LeafBits& from) {
    if (!any(from)) return;
    join(out_.values.try_emplace(v, LeafBits(leafCount(v), false)).first->second, from);
  }
  void markAll(ValueId v) { mark(v, LeafBits(leafCount(v), true)); }

  // Losses.
  size_t partCount(ValueId v) { return a_.parts_.count(f_.typeOf(v)); }
  const std::vector<Loss>& lossesOf(ValueId v) const {
    static const std::vector<Loss> none;
    auto it = out_.lost.find(v);
    return it == out_.lost.end() ? none : it->second;
  }
  /// Any loss of a value; one without `at` if there is none.
  Loss lossOf(ValueId v) const {
    for (const Loss& loss : lossesOf(v))
      if (loss.at.valid()) return loss;
    return {};
  }
  bool lost(ValueId v) const { return lossOf(v).at.valid(); }
  void lose(ValueId v, size_t part, Loss loss) {
    if (!loss.at.valid()) return;
    Loss& slot = out_.lost.try_emplace(v, std::vector<Loss>(partCount(v))).first->second[part];
    if (slot.at.valid()) return;
    slot = loss;
    changed_ = true;
  }
  void loseAll(ValueId v, Loss loss) {
    for (size_t k = 0, n = partCount(v); k < n; ++k) lose(v, k, loss);
  }
  void loseHere(ValueId v, LocId loc) {
    for (uint32_t k = 0, n = static_cast<uint32_t>(partCount(v)); k < n; ++k) lose(v, k, {v, k, loc});
  }
  /// Parts [from, from + count) of one value become those from `into` on of another.
  void flowLost(ValueId v, size_t from, size_t count, ValueId to, size_t into) {
    const std::vector<Loss> losses = lossesOf(v);
    for (size_t k = 0; k < count && from + k < losses.size(); ++k) lose(to, into + k, losses[from + k]);
  }
  void flowLost(ValueId from, ValueId to) {
    if (partCount(from) == partCount(to))
      flowLost(from, 0, partCount(from), to, 0);
    else
      loseAll(to, lossOf(from));
  }
  void flow(ValueId from, ValueId to) {
    mark(to, bits(from));
    flowLost(from, to);
  }

  /// One problem for each place, however many ways lead to it.
  void report(AdProblem problem) {
    for (const AdProblem& p : out_.problems)
      if (p.kind == problem.kind && p.path.back() == problem.path.back()) return;
    out_.problems.push_back(std::move(problem));
  }

  void region(RegionId r) {
    for (OpId id : f_.regions[r].ops) op(f_.ops[id]);
  }

  void op(const Op& o) {
    switch (o.kind) {
    case OpKind::If: return arms(o);
    case OpKind::Match: return match(o);
    case OpKind::For: return loop(o, 1);
    case OpKind::While: return loop(o, 0);
    case OpKind::Nest: return nest(o);
    case OpKind::Call: return call(o);
    case OpKind::Make:
    case OpKind::Known: return make(o);
    case OpKind::Capture: return kid(o, o.index());
    case OpKind::Get: return get(o);
    case OpKind::Set: return update(o);
    case OpKind::Convert: return convert(o);
    case OpKind::Bitcast: return loses(o);
    case OpKind::Builtin: return builtin(o);
    case OpKind::StopGradient:
    case OpKind::Cmp:
    case OpKind::Yield:
    case OpKind::ArgSort:
    case OpKind::Length:
    case OpKind::Format: return;
    case OpKind::Round:
      if (a_.rounding_ == RoundingKind::Flows) all(o);
      return;
    case OpKind::Select:
      for (ValueId r : o.results)
        for (size_t i = 1; i < 3; ++i) flow(o.operands[i], r);
      return;
    default: return all(o);
    }
  }

  /// Every leaf of every result depends on every active operand.
  void all(const Op& o) {
    bool index = o.kind == OpKind::AddAt;
    for (size_t i = 0; i < o.operands.size(); ++i) {
      if (index && i >= 2) break;
      ValueId v = o.operands[i];
      for (ValueId r : o.results) {
        if (active(v)) markAll(r);
        flowLost(v, r);
      }
    }
  }

  void make(const Op& o) {
    LeafBits out;
    size_t part = 0;
    for (ValueId v : o.operands) {
      LeafBits b = bits(v);
      out.insert(out.end(), b.begin(), b.end());
      flowLost(v, 0, partCount(v), o.results[0], part);
      part += partCount(v);
    }
    mark(o.results[0], out);
  }

  void kid(const Op& o, uint32_t k) {
    auto [begin, count] = a_.leaves_.range(f_.typeOf(o.operands[0]), k);
    LeafBits b = bits(o.operands[0]);
    mark(o.results[0], LeafBits(b.begin() + begin, b.begin() + begin + count));
    auto parts = a_.parts_.range(f_.typeOf(o.operands[0]), k);
    flowLost(o.operands[0], parts.first, parts.second, o.results[0], 0);
  }

  /// Leading field steps select leaves exactly; what follows goes into one leaf.
  static std::pair<uint32_t, uint32_t> leadingRange(Leaves& leaves, TypeId type, const Path& path,
                                                    size_t& steps) {
    std::pair<uint32_t, uint32_t> r{0, static_cast<uint32_t>(leaves.count(type))};
    for (steps = 0; steps < path.size() && leaves.isBundle(type); ++steps) {
      auto sub = leaves.range(type, path[steps].number);
      r = {r.first + sub.first, sub.second};
      type = leaves.kid(type, path[steps].number);
    }
    return r;
  }

  void get(const Op& o) {
    size_t steps = 0;
    auto [begin, count] = leadingRange(a_.leaves_, f_.typeOf(o.operands[0]), o.as<Path>(), steps);
    LeafBits b = bits(o.operands[0]);
    LeafBits sub(b.begin() + begin, b.begin() + begin + count);
    if (steps == o.as<Path>().size())
      mark(o.results[0], sub);
    else if (any(sub))
      markAll(o.results[0]);
    auto parts = leadingRange(a_.parts_, f_.typeOf(o.operands[0]), o.as<Path>(), steps);
    if (steps == o.as<Path>().size())
      return flowLost(o.operands[0], parts.first, parts.second, o.results[0], 0);
    for (uint32_t k = 0; k < parts.second; ++k)
      if (const std::vector<Loss> losses = lossesOf(o.operands[0]); parts.first + k < losses.size())
        loseAll(o.results[0], losses[parts.first + k]);
  }

  void update(const Op& o) {
    size_t steps = 0;
    auto [begin, count] = leadingRange(a_.leaves_, f_.typeOf(o.operands[0]), o.as<Path>(), steps);
    LeafBits b = bits(o.operands[0]);
    LeafBits v = bits(o.operands[1]);
    bool whole = steps == o.as<Path>().size();
    for (uint32_t i = 0; i < count; ++i) b[begin + i] = whole ? bool(v[i]) : bool(b[begin + i]) || any(v);
    mark(o.results[0], b);
    auto parts = leadingRange(a_.parts_, f_.typeOf(o.operands[0]), o.as<Path>(), steps);
    const std::vector<Loss> before = lossesOf(o.operands[0]), now = lossesOf(o.operands[1]);
    for (uint32_t k = 0; k < before.size(); ++k)
      if (!whole || k < parts.first || k >= parts.first + parts.second) lose(o.results[0], k, before[k]);
    for (uint32_t k = 0; k < parts.second; ++k)
      lose(o.results[0], parts.first + k, whole && k < now.size() ? now[k] : lossOf(o.operands[1]));
  }

  void convert(const Op& o) {
    ValueId v = o.operands[0], r = o.results[0];
    if (active(v) && leafCount(r) == 0) return loseHere(r, o.loc);
    if (active(v)) markAll(r);
    flowLost(v, r);
  }

  void loses(const Op& o) {
    for (ValueId v : o.operands)
      if (active(v) || lost(v)) loseHere(o.results[0], o.loc);
  }

  void builtin(const Op& o) {
    if (ops::builtinEffect(o.as<BuiltinAttr>().builtin) == ops::EffectKind::Io)
      report({AdProblemKind::Effect, {o.loc}, "input or output"});
    for (ValueId v : o.operands)
      if (active(v) || lost(v))
        for (ValueId r : o.results) loseHere(r, o.loc);
  }

  void arms(const Op& o) {
    for (RegionId r : o.regions) {
      region(r);
      const Op& y = terminator(r);
      for (size_t i = 0; i < o.results.size(); ++i) flow(y.operands[i], o.results[i]);
    }
  }

  void match(const Op& o) {
    for (RegionId r : o.regions)
      for (ValueId p : f_.regions[r].params) {
        if (active(o.operands[0])) markAll(p);
        flowLost(o.operands[0], p);
      }
    arms(o);
  }

  /// For (one leading operand and parameter) and While.
  void loop(const Op& o, size_t lead) {
    RegionId body = o.regions.back();
    const std::vector<ValueId>& params = f_.regions[body].params;
    size_t carries = o.operands.size() - lead;
    flowAround(
        f_, o, lead, changed_, [&](ValueId from, ValueId to) { flow(from, to); }, [&] { region(body); });
    const Op& y = terminator(body);
    for (size_t i = 0; i < carries; ++i) flow(params[lead + i], o.results[i]);
    for (size_t i = carries; i < o.results.size(); ++i) {
      if (active(y.operands[i])) markAll(o.results[i]);
      if (a_.leaves_.count(f_.typeOf(o.results[i])) == a_.leaves_.count(f_.typeOf(y.operands[i])))
        flow(y.operands[i], o.results[i]);
      else
        flowLost(y.operands[i], o.results[i]);
    }
  }

  void nest(const Op& o) {
    const NestAttr& attr = o.as<NestAttr>();
    const Region& body = f_.regions[o.regions[0]];
    size_t axes = o.dims.size();
    const Op& y = terminator(o.regions[0]);
    size_t accYield = y.operands.size() - attr.accs;
    bool outer = changed_;
    for (uint32_t i = 0; i < attr.accs; ++i) flow(o.operands[i], body.params[axes + i]);
    do { // an accumulator is active from its beginning
      changed_ = false;
      region(o.regions[0]);
      for (uint32_t i = 0; i < attr.accs; ++i) flow(y.operands[accYield + i], body.params[axes + i]);
      outer |= changed_;
    } while (changed_);
    changed_ = outer;
    size_t yielded = 0, result = 0;
    for (const NestResult& r : attr.results) {
      bool carries = r.kind != NestResultKind::Reduce ||
                     (r.monoid != MonoidKind::ArgMax && r.monoid != MonoidKind::ArgMin);
      for (uint32_t k = 0; k < resultsOf(r, o.dims.size()) && carries; ++k)
        for (uint32_t j = 0; j < yieldsOf(r); ++j) {
          ValueId from = y.operands[yielded + j], to = o.results[result + k];
          if (active(from)) markAll(to);
          flowLost(from, to);
        }
      yielded += yieldsOf(r);
      result += resultsOf(r, o.dims.size());
    }
    for (uint32_t i = 0; i < attr.accs; ++i) {
      flow(y.operands[yielded + i], o.results[result + i]);
      flow(o.operands[i], o.results[result + i]);
    }
  }

  void call(const Op& o) {
    const FunctionActivity& c = a_.ofCall(out_, o);
    if (&c != &out_)
      for (AdProblem p : c.problems) {
        p.path.insert(p.path.begin(), o.loc);
        report(std::move(p));
      }
    for (size_t i = 0; i < o.results.size(); ++i) {
      mark(o.results[i], c.results[i]);
      for (uint32_t k = 0; k < c.lostResults[i].size(); ++k)
        if (c.lostResults[i][k]) lose(o.results[i], k, {o.results[i], k, o.loc});
    }
  }

  Activity& a_;
  FunctionActivity& out_;
  const Function& f_;
  bool changed_ = false;
};

void Activity::walk(FunctionActivity& e) { ActivityWalk(*this, e).run(); }

} // namespace melix::transforms

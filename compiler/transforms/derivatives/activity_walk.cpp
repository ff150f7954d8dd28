// Activity within a function: from operands to results, leaf by leaf.

#include "core/ir/walk.h"
#include "transforms/analysis/dataflow.h"
#include "transforms/derivatives/activity.h"

namespace melix::transforms {

static bool any(const LeafBits& bits) {
  for (bool b : bits)
    if (b) return true;
  return false;
}

class ActivityWalk : public ValueAnalysis {
public:
  using Calls = CallPropagation<FunctionActivity, ActivityWalk>;
  ActivityWalk(Activity& a, FunctionActivity& out, Calls& calls)
      : a_(a), out_(out), calls_(calls), f_(a.module_.functions[out.function]),
        propagation_(f_, Conditions::Skipped) {
    const std::vector<ValueId>& params = f_.params();
    for (size_t i = 0; i < params.size(); ++i) {
      mark(params[i], out_.params[i]);
      loseSlots(params[i], out_.lostParams[i], f_.loc);
    }
  }

  /// To the fixed point for what is known of the functions called; whether its callers have something to
  /// learn.
  bool run() {
    changed_ = false;
    if (f_.customJvp.valid())
      customRule();
    else
      body();
    return changed_;
  }
  void rerun(OpId call) { propagation_.rerun(call); }

private:
  void body() {
    propagation_.run(*this);
    const Op& yield = terminator(f_, f_.body);
    for (size_t i = 0; i < yield.operands.size(); ++i) {
      join(out_.results[i], bits(yield.operands[i]));
      const std::vector<Loss> losses = lossesOf(yield.operands[i]);
      for (size_t k = 0; k < losses.size(); ++k)
        if (losses[k].at.valid() && !out_.lostResults[i][k]) out_.lostResults[i][k] = changed_ = true;
    }
  }

  /// A function with a rule of its own: what is inside does not matter.
  void customRule() {
    bool active = false;
    for (const LeafBits& b : out_.params) active |= any(b);
    for (LeafBits& b : out_.results) join(b, LeafBits(b.size(), active));
  }

  size_t leafCount(ValueId v) { return a_.leaves_.count(f_.typeOf(v)); }

  LeafBits bits(ValueId v) {
    auto it = out_.values.find(v);
    return it == out_.values.end() ? LeafBits(leafCount(v), false) : it->second;
  }
  bool active(ValueId v) { return out_.active(v); }

  static bool joined(LeafBits& into, const LeafBits& from) {
    bool more = false;
    if (into.size() < from.size()) into.resize(from.size());
    for (size_t i = 0; i < from.size(); ++i)
      if (from[i] && !into[i]) into[i] = more = true;
    return more;
  }
  void join(LeafBits& into, const LeafBits& from) { changed_ |= joined(into, from); }
  void mark(ValueId v, const LeafBits& from) {
    if (!any(from)) return;
    LeafBits& own = out_.values.try_emplace(v, LeafBits(leafCount(v), false)).first->second;
    if (joined(own, from)) propagation_.changed(v);
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
  /// What a bool selects does not flow.
  bool holds(TypeId part, Carrier carrier) const {
    const types::TypeStore& types = a_.module_.types;
    const TypeId element = types.element(part);
    if (types.kind(element) == types::TypeKind::Bool) return false;
    if (types.kind(element) == types::TypeKind::Str) return carrier == Carrier::Text;
    if (types.isFloat(element)) return carrier == Carrier::Float;
    return types.isScalar(element) ? carrier == Carrier::Integer : true;
  }
  void lose(ValueId v, size_t part, Carrier carrier, const Loss& loss) {
    if (!loss.at.valid() || !holds(a_.parts_.of(f_.typeOf(v))[part].type, carrier)) return;
    auto& slots = out_.lost.try_emplace(v, std::vector<Loss>(a_.lossSlots(f_.typeOf(v)))).first->second;
    Loss& slot = slots[lossSlot(part, carrier)];
    if (slot.at.valid()) return;
    slot = loss;
    propagation_.changed(v);
  }
  void loseSlots(ValueId v, const LeafBits& slots, LocId loc) {
    for (size_t k = 0, n = partCount(v); k < n; ++k)
      for (Carrier carrier : carriers)
        if (const uint32_t slot = lossSlot(k, carrier); slots[slot]) lose(v, k, carrier, {v, slot, loc});
  }
  /// What reads a value makes any carrier of it.
  void loseAll(ValueId v, const Loss& loss) {
    for (size_t k = 0, n = partCount(v); k < n; ++k)
      for (Carrier carrier : carriers) lose(v, k, carrier, loss);
  }
  void loseHere(ValueId v, LocId loc) {
    for (size_t k = 0, n = partCount(v); k < n; ++k)
      for (Carrier carrier : carriers) lose(v, k, carrier, {v, lossSlot(k, carrier), loc});
  }
  /// Parts [from, from + count) of one value become those from `into` on of another.
  void flowLost(ValueId v, size_t from, size_t count, ValueId to, size_t into) {
    const std::vector<Loss> losses = lossesOf(v);
    for (size_t k = 0; k < count && lossSlot(from + k, Carrier::Text) < losses.size(); ++k)
      for (Carrier carrier : carriers) lose(to, into + k, carrier, losses[lossSlot(from + k, carrier)]);
  }
  /// Any of those parts may be in any of these of `to`.
  void propagateLost(ValueId v, size_t from, size_t count, ValueId to, size_t into, size_t parts) {
    const std::vector<Loss> losses = lossesOf(v);
    for (size_t k = from; k < from + count && lossSlot(k, Carrier::Text) < losses.size(); ++k)
      for (size_t part = into; part < into + parts; ++part)
        for (Carrier carrier : carriers) lose(to, part, carrier, losses[lossSlot(k, carrier)]);
  }
  void flowLost(ValueId from, ValueId to) {
    if (partCount(from) == partCount(to))
      flowLost(from, 0, partCount(from), to, 0);
    else
      propagateLost(from, 0, partCount(from), to, 0, partCount(to));
  }
  void flow(ValueId from, ValueId to) {
    mark(to, bits(from));
    flowLost(from, to);
  }

  /// Whether elements, and arrays of them, have the same leaves.
  bool haveSameLeaves(TypeId one, TypeId other) {
    types::TypeStore& types = a_.module_.types;
    Leaves& leaves = a_.leaves_;
    return leaves.hasInnerStructure() &&
           types.eraseDims(leaves.inside(one)) == types.eraseDims(leaves.inside(other));
  }
  /// A value goes into another as an element of it, or all of it does: leaf by leaf, or else any may depend
  /// on any.
  void into(ValueId from, ValueId to) {
    if (!active(from)) return;
    if (haveSameLeaves(f_.typeOf(from), f_.typeOf(to))) return mark(to, bits(from));
    markAll(to);
  }

  /// One problem for each place, however many ways lead to it.
  void report(AdProblem problem) {
    for (const AdProblem& p : out_.problems)
      if (p.kind == problem.kind && p.path.back() == problem.path.back()) return;
    out_.problems.push_back(std::move(problem));
    changed_ = true;
  }

  /// What comes to a value whole, comes leaf by leaf; a part of an enum or of an array depends on all of it.
  void flow(const FlowEdge& edge) override {
    if (edge.kind == FlowKind::Case) return;
    const bool part =
        edge.kind == FlowKind::Open || edge.slot == SlotKind::Part || edge.slot == SlotKind::Stack;
    if (!part) return flow(edge.from, edge.to);
    into(edge.from, edge.to);
    flowLost(edge.from, edge.to);
  }

  void transfer(OpId id) override {
    const Op& o = f_.ops[id];
    switch (o.kind) {
    case OpKind::Call: return call(id);
    case OpKind::Make:
    case OpKind::Known: return make(o);
    case OpKind::Capture: return kid(o, o.index());
    case OpKind::Get: return get(o);
    case OpKind::Set: return update(o);
    case OpKind::Convert: return convert(o);
    case OpKind::Bitcast:
    case OpKind::Format: return loses(o);
    case OpKind::Builtin: return builtin(o);
    case OpKind::StopGradient:
    case OpKind::Cmp:
    case OpKind::Yield:
    case OpKind::ArgSort:
    case OpKind::Length: return;
    case OpKind::Round:
      if (a_.rounding_ == RoundingKind::Flows) all(o);
      return;
    case OpKind::Scale: // by a whole number: n as rounded
      flow(o.operands[0], o.results[0]);
      if (a_.rounding_ == RoundingKind::Flows) flow(o.operands[1], o.results[0]);
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
        into(v, r);
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

  /// Leading field steps select leaves exactly, and so do those after places whose elements are distinguished
  /// inside; what follows goes into one leaf.
  static std::pair<uint32_t, uint32_t> leadingRange(Leaves& leaves, TypeId type, const Path& path,
                                                    size_t& steps) {
    std::pair<uint32_t, uint32_t> r{0, static_cast<uint32_t>(leaves.count(type))};
    for (steps = 0; steps < path.size(); ++steps) {
      const TypeId element = leaves.inside(type);
      if (element != type && path[steps].kind != StepKind::Field) continue;
      type = element;
      if (!leaves.isBundle(type)) break;
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
    propagateLost(o.operands[0], parts.first, parts.second, o.results[0], 0, partCount(o.results[0]));
  }

  void update(const Op& o) {
    size_t steps = 0;
    auto [begin, count] = leadingRange(a_.leaves_, f_.typeOf(o.operands[0]), o.as<Path>(), steps);
    LeafBits b = bits(o.operands[0]);
    LeafBits v = bits(o.operands[1]);
    const Path& path = o.as<Path>();
    bool whole = steps == path.size();
    auto isField = [](const PathStep& s) { return s.kind == StepKind::Field; };
    const bool stays = !whole || !std::all_of(path.begin(), path.end(), isField); // other elements do
    for (uint32_t i = 0; i < count; ++i)
      b[begin + i] = (whole ? bool(v[i]) : any(v)) || (stays && b[begin + i]);
    mark(o.results[0], b);
    auto parts = leadingRange(a_.parts_, f_.typeOf(o.operands[0]), o.as<Path>(), steps);
    const size_t first = parts.first, end = parts.first + parts.second;
    flowLost(o.operands[0], 0, whole ? first : partCount(o.results[0]), o.results[0], 0);
    if (whole) {
      flowLost(o.operands[0], end, partCount(o.results[0]) - end, o.results[0], end);
      flowLost(o.operands[1], 0, parts.second, o.results[0], first);
      return;
    }
    propagateLost(o.operands[1], 0, partCount(o.operands[1]), o.results[0], first, parts.second);
  }

  void convert(const Op& o) {
    ValueId v = o.operands[0], r = o.results[0];
    if (active(v) && leafCount(r) == 0) return loseHere(r, o.loc);
    if (active(v)) markAll(r);
    if (lost(v)) loseAll(r, lossOf(v));
  }

  void loses(const Op& o) {
    for (ValueId r : o.results)
      for (ValueId v : o.operands) {
        if (active(v)) loseHere(r, o.loc);
        if (lost(v)) loseAll(r, lossOf(v));
      }
  }

  void builtin(const Op& o) {
    if (ops::builtinEffect(o.as<BuiltinAttr>().builtin) == ops::EffectKind::Io)
      report({AdProblemKind::Effect, {o.loc}, "input or output"});
    loses(o);
  }

  void call(OpId id) {
    const Op& o = f_.ops[id];
    FunctionActivity& c = a_.ofCall(out_, o);
    calls_.use(c, out_, id);
    if (&c != &out_)
      for (AdProblem p : c.problems) {
        p.path.insert(p.path.begin(), o.loc);
        report(std::move(p));
      }
    for (size_t i = 0; i < o.results.size(); ++i) {
      mark(o.results[i], c.results[i]);
      loseSlots(o.results[i], c.lostResults[i], o.loc);
    }
  }

  Activity& a_;
  FunctionActivity& out_;
  Calls& calls_;
  const Function& f_;
  Propagation propagation_;
  bool changed_ = false; ///< what callers see
};

const FunctionActivity& Activity::of(FunctionId f, const std::vector<LeafBits>& params,
                                     std::vector<LeafBits> lostParams) {
  if (lostParams.empty())
    for (ValueId p : module_.functions[f].params())
      lostParams.push_back(LeafBits(lossSlots(module_.functions[f].typeOf(p)), false));
  FunctionActivity& root = entry({f, params, lostParams});
  if (root.done) return root;
  ActivityWalk::Calls calls;
  calls.run(root, [&](FunctionActivity& e) { return std::make_unique<ActivityWalk>(*this, e, calls); });
  return root;
}

} // namespace melix::transforms

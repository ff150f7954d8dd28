#include "transforms/calls/inline_calls.h"

#include "core/analysis/effect_audit.h"
#include "core/ir/call_graph.h"
#include "core/ir/uses.h"
#include "core/ir/walk.h"
#include "core/order/clone.h"

#include <algorithm>
#include <array>

namespace melix::transforms {

using namespace core;

namespace {

class CallInliner {
public:
  CallInliner(Module& m, InlineOptions options)
      : m_(m), options_(options), calls_(m), info_(m.functions.size()) {
    for (uint32_t i = 0; i < info_.size(); ++i) analyse(FunctionId(i));
    for (FunctionId f : calls_.order()) measure(f);
  }

  /// What nothing reaches once its calls are inlined is not worked on.
  bool run() {
    std::vector<FunctionId> left = rootFunctions(m_);
    if (left.empty()) left.assign(calls_.order().begin(), calls_.order().end());
    while (!left.empty()) {
      const FunctionId f = left.back();
      left.pop_back();
      if (!m_.functions[f].body.valid() || std::exchange(info_[f.index].done, true)) continue;
      if (info_[f.index].inlines) inlineInto(f);
      if (m_.functions[f].customJvp.valid()) left.push_back(m_.functions[f].customJvp);
      const Function& fn = m_.functions[f];
      forEachOp(fn, [&](OpId op) {
        forEachCallee(fn.ops[op], [&](FunctionId callee) { left.push_back(callee); });
      });
    }
    return changed_;
  }

private:
  /// Where code stands: a loop is one that carries a row.
  enum Place : size_t { Anywhere, InNest, InLoopOfNest, places };
  struct Site {
    Place place;
    Place caller; ///< where the function that it belongs to stands
  };
  Site within(Site at, const Function& f, const Op& op) const {
    if (op.kind == OpKind::Nest) return {std::max(at.place, InNest), at.caller};
    return {carriesRow(f, op) && at.place != Anywhere ? InLoopOfNest : at.place, at.caller};
  }
  /// Whether it is a counted loop that carries an array of one axis.
  bool carriesRow(const Function& f, const Op& op) const {
    return op.kind == OpKind::For && std::ranges::any_of(op.operands, [&](ValueId v) {
             const types::Type& type = m_.types[f.typeOf(v)];
             return type.kind == TypeKind::Array && type.dims.size() == 1;
           });
  }

  struct Info {
    unsigned own = 0;                              ///< its ops as they are
    std::array<unsigned, places> whole = {};       ///< with those that are inlined into it where it stands
    std::array<unsigned, places> loopsOfRows = {}; ///< ops of all that comes into it as loops of rows
    bool pinned = false, inlines = false, done = false;
    bool onlyInNests = false; ///< whether calls outside of nests stay
    bool loops = false;       ///< whether it has a loop that carries a row, with what is inlined into it
  };

  void analyse(FunctionId id) {
    const Function& f = m_.functions[id];
    Info& info = info_[id.index];
    if (f.customJvp.valid()) info_[f.customJvp.index].pinned = info.pinned = true;
    info.pinned |= !f.body.valid() || f.staysCalled() || calls_.isRecursive(id);
    if (!f.body.valid()) return;
    if (options_.onlyScalars && !isOfIntegers(f)) {
      info.pinned |= !isOfScalars(f);
      info.onlyInNests = true;
    }
    forEachOp(f, [&](OpId op) {
      info.own += f.ops[op].kind != OpKind::Yield;
      info.loops |= carriesRow(f, f.ops[op]);
      info.pinned |= f.ops[op].kind == OpKind::StopGradient && options_.beforeDerivatives;
    });
  }

  bool isOfIntegers(const Function& f) const {
    auto is = [this](TypeId t) {
      return types::isIntKind(m_.types.kind(t)) || m_.types.kind(t) == TypeKind::Bool;
    };
    return std::ranges::all_of(f.params(), [&](ValueId v) { return is(f.typeOf(v)); }) &&
           !f.results.empty() && std::ranges::all_of(f.results, is);
  }

  /// Whether it computes numbers from numbers and elements of arrays, in branches at most.
  bool isOfScalars(const Function& f) const {
    auto isScalar = [&](ValueId v) { return m_.types.isScalar(f.typeOf(v)); };
    auto isArray = [&](ValueId v) { return m_.types.kind(f.typeOf(v)) == TypeKind::Array; };
    bool is = !f.results.empty() &&
              std::ranges::all_of(f.results, [this](TypeId t) { return m_.types.isScalar(t); }) &&
              std::ranges::all_of(f.params(), [&](ValueId v) { return isScalar(v) || isArray(v); });
    forEachOp(f, [&](OpId id) {
      const Op& op = f.ops[id];
      const bool isPlain = op.kind == OpKind::If || op.kind == OpKind::Check ||
                           (op.regions.empty() && ops::opEffect(op.kind) == ops::EffectKind::None);
      is &= isPlain && std::ranges::all_of(op.results, isScalar);
    });
    return is;
  }

  /// The callees are measured already.
  void measure(FunctionId id) {
    if (!m_.functions[id].body.valid()) return;
    Info& info = info_[id.index];
    for (size_t place = 0; place < places; ++place) {
      info.loopsOfRows[place] = loopsOfRows(id, m_.functions[id].body, static_cast<Place>(place));
      info.whole[place] = info.own;
      measure(id, m_.functions[id].body, {static_cast<Place>(place), static_cast<Place>(place)},
              info.whole[place]);
    }
  }
  void measure(FunctionId id, RegionId region, Site at, unsigned& whole) {
    const Function& f = m_.functions[id];
    for (OpId op : f.regions[region].ops) {
      ++work.ops;
      if (isWanted(id, f.ops[op], at)) {
        const Info& callee = info_[f.ops[op].as<CallAttr>().callee.index];
        info_[id.index].inlines = true;
        info_[id.index].loops |= callee.loops;
        whole += callee.whole[at.place];
      }
      for (RegionId inner : f.ops[op].regions) measure(id, inner, within(at, f, f.ops[op]), whole);
    }
  }
  unsigned loopsOfRows(FunctionId id, RegionId region, Place place) const {
    unsigned ops = 0;
    const Function& f = m_.functions[id];
    for (OpId op : f.regions[region].ops) {
      if (f.ops[op].kind == OpKind::Call) {
        const Info& callee = info_[f.ops[op].as<CallAttr>().callee.index];
        if (isSmall(callee, place))
          ops += callee.loopsOfRows[place];
        else if (isLoopOfRows(callee, place))
          ops += callee.whole[place];
      }
      for (RegionId inner : f.ops[op].regions)
        ops += loopsOfRows(id, inner, within({place, place}, f, f.ops[op]).place);
    }
    return std::min(ops, options_.mostLoopsOfRows + 1);
  }
  bool isSmall(const Info& callee, Place place) const {
    return !callee.pinned && callee.whole[place] <= options_.largestCallee &&
           (!callee.onlyInNests || place != Anywhere);
  }
  bool isLoopOfRows(const Info& callee, Place place) const {
    return !callee.pinned && callee.whole[place] <= options_.mostBatchedOps &&
           (place == InLoopOfNest || (place == InNest && callee.loops));
  }

  bool isWanted(FunctionId caller, const Op& op, Site at) const {
    if (op.kind != OpKind::Call || info_[caller.index].own > options_.largestCaller) return false;
    const Info& callee = info_[op.as<CallAttr>().callee.index];
    return isSmall(callee, at.place) ||
           (isLoopOfRows(callee, at.place) &&
            info_[caller.index].loopsOfRows[at.caller] <= options_.mostLoopsOfRows);
  }

  /// What the result dims of calls are, and these in the order in which the calls were inlined.
  struct Sizes {
    types::DimSubst dims;
    std::vector<DimSym> decided;
  };

  void inlineInto(FunctionId id) {
    changed_ = true;
    LiveUses uses(m_, id);
    Sizes sizes;
    region(id, m_.functions[id].body, {Anywhere, Anywhere}, uses, sizes);
    // A size of a call may be decided by a call of its body, which is inlined after it.
    for (size_t k = sizes.decided.size(); k-- > 0;) {
      DimId& d = sizes.dims.at(sizes.decided[k]);
      d = m_.types.dims.substitute(d, sizes.dims);
    }
    replaceDims(m_, id, sizes.dims);
  }

  void region(FunctionId id, RegionId r, Site at, LiveUses& uses, Sizes& sizes) {
    const std::vector<OpId> list = std::move(m_.functions[id].regions[r].ops);
    m_.functions[id].regions[r].ops.clear();
    for (OpId op : list) place(id, r, op, at, uses, sizes);
  }

  /// Appends the op, or what is copied in its place: the body of the callee as it stands, of which calls are
  /// inlined in their turn.
  void place(FunctionId id, RegionId r, OpId op, Site at, LiveUses& uses, Sizes& sizes) {
    auto ops = [&]() -> std::vector<OpId>& { return m_.functions[id].regions[r].ops; };
    Op& call = m_.functions[id].ops[op];
    if (!isWanted(id, call, at)) {
      ops().push_back(op);
      for (RegionId inner : call.regions) region(id, inner, within(at, m_.functions[id], call), uses, sizes);
      return;
    }
    for (DimId& d : call.dims) d = m_.types.dims.substitute(d, sizes.dims);
    const size_t before = ops().size();
    Builder b(m_, id, r, call.loc);
    types::DimSubst own;
    const std::vector<ValueId> results = inlineCall(m_, call, b, own);
    for (DimSym s : call.resultDims) {
      sizes.dims.insert_or_assign(s, m_.types.dims.substitute(own.at(s), sizes.dims));
      sizes.decided.push_back(s);
    }
    noteOpened(id, op);
    uses.leave(op);
    const std::vector<OpId> made(ops().begin() + static_cast<long>(before), ops().end());
    ops().resize(before);
    for (OpId each : made) uses.enter(each, r);
    for (size_t k = 0; k < results.size(); ++k) uses.replace(call.results[k], results[k]);
    for (OpId each : made) place(id, r, each, at, uses, sizes);
  }

  Module& m_;
  InlineOptions options_;
  CallGraph calls_;
  std::vector<Info> info_;
  bool changed_ = false;
};

} // namespace

void removeUnreachable(Module& m) {
  const std::vector<bool> reached = reachedFunctions(m);
  for (uint32_t i = 0; i < m.functions.size(); ++i)
    if (Function& f = m.functions[FunctionId(i)]; !reached[i] && f.body.valid()) {
      f.body = RegionId();
      f.version.raise();
    }
}

bool inlineCalls(Module& m, InlineOptions options) {
  const bool changed = CallInliner(m, options).run();
  raiseAll(m);
  removeUnreachable(m);
  return changed;
}

} // namespace melix::transforms

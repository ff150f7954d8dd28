#include "transforms/mask_unread.h"

#include "core/build.h"
#include "core/clone.h"
#include "core/nest.h"
#include "core/sizes.h"
#include "core/uses.h"
#include "core/walk.h"
#include "transforms/dce.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

namespace melix::transforms {

using namespace core;
using ops::CmpKind;

namespace {

constexpr int deepest = 12; ///< ops from an element to the choice, and of its condition

/// Which value each axis of an array is where an element of it is at hand.
using Indices = std::vector<ValueId>;

/// Follows what is made of the elements of an array.
class Readers {
public:
  Readers(const Module& m, const Function& f, const Uses& uses) : m_(m), f_(f), uses_(uses) {}

  ValueId condition; ///< of one of the choices
  Indices at;        ///< there

  /// Whether nothing looks at elements of what a nest makes where the condition does not hold, which can be
  /// asked there.
  bool allChoose(OpId nest) {
    nest_ = nest;
    return reads(f_.ops[nest].results[0], {}, {}, deepest) && condition.valid() && comparesSides();
  }

private:
  const Op* defOf(ValueId v) const {
    const OpId def = f_.values[v].def;
    return def.valid() ? &f_.ops[def] : nullptr;
  }
  template <class Test>
  bool allUses(ValueId v, const Test& test) const {
    bool all = true;
    uses_.forEach(v, [&](Use use) { all = all && test(use); });
    return all;
  }

  /// Reads of an array whose axes are these values where it is made; none of the first array.
  bool reads(ValueId array, const Indices& axes, const Indices& made, int depth) {
    return depth > 0 && uses_.used(array) && allUses(array, [&](Use use) {
             const Op& get = f_.ops[use.op];
             const size_t rank = m_.types[f_.typeOf(array)].dims.size();
             if (get.kind == OpKind::Yield) return collected(use, axes, made, depth);
             if (get.kind != OpKind::Get || use.operand != 0 || get.operands.size() != rank + 1) return false;
             const Indices read(get.operands.begin() + 1, get.operands.end());
             Indices here = axes.empty() ? read : made;
             for (ValueId& v : here)
               for (size_t k = 0; k < axes.size(); ++k)
                 if (v == axes[k]) {
                   v = read[k];
                   break;
                 }
             return number(get.results[0], here, depth - 1);
           });
  }
  bool number(ValueId v, const Indices& here, int depth) {
    return depth > 0 && allUses(v, [&](Use use) {
             const Op& op = f_.ops[use.op];
             if (const ValueId chosen = arm(use.op); chosen.valid()) return choice(chosen, here);
             switch (op.kind) {
             case OpKind::Select: return use.operand == 1 && choice(op.operands[0], here);
             case OpKind::Div:
             case OpKind::Mul:
             case OpKind::Add:
             case OpKind::Sub:
             case OpKind::Neg: return number(op.results[0], here, depth - 1);
             case OpKind::Yield: return collected(use, {}, here, depth);
             default: return false;
             }
           });
  }
  /// The condition of a branch in whose first arm an op stands.
  ValueId arm(OpId op) const {
    const RegionId home = uses_.regionOf(op);
    const OpId branch = f_.regions[home].parent;
    const bool isIn =
        branch.valid() && f_.ops[branch].kind == OpKind::If && f_.ops[branch].regions[0] == home;
    return isIn ? f_.ops[branch].operands[0] : ValueId();
  }
  /// What a nest yields, a number or an array of these axes, is an array of its own axes too.
  bool collected(Use use, const Indices& axes, const Indices& here, int depth) {
    const OpId nest = f_.regions[uses_.regionOf(use.op)].parent;
    if (!nest.valid() || f_.ops[nest].kind != OpKind::Nest) return false;
    const NestView view(f_, f_.ops[nest]);
    for (const NestPart& part : view.parts()) {
      if (part.yields.first != use.operand) continue;
      if (part.spec->kind != NestResultKind::Collect || part.spec->keep != collecting(view.axes()).keep)
        return false;
      Indices all(view.axisParams().begin(), view.axisParams().end());
      all.insert(all.end(), axes.begin(), axes.end());
      return reads(view.results(part)[0], all, here, depth - 1);
    }
    return false;
  }

  bool choice(ValueId by, const Indices& here) {
    if (!condition.valid()) {
      condition = by;
      at = here;
      return true;
    }
    const std::optional<std::string> a = textOf(condition, at, deepest), b = textOf(by, here, deepest);
    return a && b && *a == *b;
  }
  /// A condition as the ops that make it of the axes.
  std::optional<std::string> textOf(ValueId v, const Indices& here, int depth) const {
    for (size_t k = 0; k < here.size(); ++k)
      if (here[k] == v) return "axis" + std::to_string(k);
    const Op* op = defOf(v);
    if (!op || depth == 0) return std::nullopt;
    std::string text = std::to_string(static_cast<int>(op->kind)) + "(";
    switch (op->kind) {
    case OpKind::Const: return text + std::to_string(op->as<Constant>().bits) + ")";
    case OpKind::DimValue:
      if (!isKnown(*op)) return std::nullopt;
      return text + std::to_string(op->dims[0].index) + ")";
    case OpKind::Cmp: text += std::to_string(op->index()) + ":"; break;
    case OpKind::And:
    case OpKind::Add:
    case OpKind::Sub: break;
    default: return std::nullopt;
    }
    for (ValueId each : op->operands) {
      const std::optional<std::string> inner = textOf(each, here, depth - 1);
      if (!inner) return std::nullopt;
      text += *inner + ",";
    }
    return text + ")";
  }
  bool isKnown(const Op& op) const {
    const std::vector<DimSym> sizes = sizesOf(m_, f_, op);
    if (sizes.empty()) return true;
    const std::unordered_set<DimSym> known = sizesInFront(f_, nest_);
    return std::ranges::all_of(sizes, [&](DimSym s) { return known.contains(s); });
  }
  /// Whether something that it asks orders two axes.
  bool comparesSides() const { return textOf(condition, at, deepest).has_value() && ordersAxes(condition); }
  bool ordersAxes(ValueId v) const {
    const Op* op = defOf(v);
    if (!op) return false;
    if (op->kind == OpKind::And)
      return std::ranges::any_of(op->operands, [this](ValueId each) { return ordersAxes(each); });
    const auto how = static_cast<CmpKind>(op->kind == OpKind::Cmp ? op->index() : 0);
    if (op->kind != OpKind::Cmp || how == CmpKind::Eq || how == CmpKind::Ne ||
        f_.typeOf(op->operands[0]) != m_.types.int64())
      return false;
    return std::ranges::count_if(at, [&](ValueId axis) { return mentions(v, axis); }) >= 2;
  }
  bool mentions(ValueId v, ValueId axis) const {
    const Op* op = defOf(v);
    return v == axis ||
           (op && std::ranges::any_of(op->operands, [&](ValueId each) { return mentions(each, axis); }));
  }

  const Module& m_;
  const Function& f_;
  const Uses& uses_;
  OpId nest_; ///< which makes the product
};

class Masker {
public:
  Masker(Module& m, FunctionId f, const Effects& effects) : m_(m), f_(f), effects_(effects) {}
  bool changed = false;

  void region(RegionId r) {
    for (OpId id : std::vector(fn().regions[r].ops)) {
      const Regions regions = fn().ops[id].regions;
      for (RegionId inner : regions) region(inner);
      if (!isProduct(id)) continue;
      if (!uses_) uses_.emplace(m_, f_);
      Readers readers(m_, fn(), *uses_);
      if (!readers.allChoose(id)) continue;
      mask(id, r, readers);
      uses_.reset();
    }
  }

private:
  Function& fn() const { return m_.functions[f_]; }

  /// A sum of products over some axes that keeps two or more, without effects.
  bool isProduct(OpId id) const {
    const Op& op = fn().ops[id];
    if (op.kind != OpKind::Nest || nestAccs(op) > 0 || op.results.size() != 1) return false;
    const NestResult& r = nestResults(op)[0];
    if (r.kind != NestResultKind::Reduce || r.monoid != MonoidKind::Sum || r.keep.size() < 2) return false;
    const OpId term = fn().values[terminator(fn(), op.regions[0]).operands[0]].def;
    return term.valid() && fn().ops[term].kind == OpKind::Mul && !hasEffects(op.regions[0]);
  }
  bool hasEffects(RegionId body) const {
    bool any = false;
    forEachOp(fn(), body, [&](OpId id) { any |= effects_.ofOp(fn(), id).any(); });
    return any;
  }

  void mask(OpId id, RegionId home, const Readers& readers) {
    changed = true;
    std::vector<OpId> ops = std::move(fn().regions[home].ops);
    fn().regions[home].ops.clear();
    const Op op = fn().ops[id];
    NestResult r = nestResults(op)[0];
    Builder b(m_, f_, home, op.loc);
    Cloner copy(m_, f_, f_), toMask(m_, f_, f_);
    NestBuilder around(b);
    const std::vector<ValueId> params = fn().regions[op.regions[0]].params;
    for (size_t k = 0; k < r.keep.size(); ++k)
      toMask.values[readers.at[k]] = copy.values[params[r.keep[k]]] = around.axis(op.dims[r.keep[k]]);
    Builder in = b.in(around.body());
    write(readers.condition, toMask, in);
    Builder yes = in.in(in.newRegion()), no = in.in(in.newRegion());
    NestBuilder sum(yes);
    for (uint32_t k = 0; k < op.dims.size(); ++k)
      if (!copy.values.contains(params[k])) copy.values[params[k]] = sum.axis(op.dims[k]);
    Builder inner = yes.in(sum.body());
    const ValueId term = copy.body(op.regions[0], inner).values[0];
    const TypeId type = fn().typeOf(term);
    r.keep.clear();
    sum.add(std::move(r), term);
    yes.yield({sum.one()});
    no.yield({no.zero(type)});
    Op branch = Builder::simple(OpKind::If, {toMask.value(readers.condition)});
    branch.regions = {yes.region, no.region};
    around.collect(in.one(std::move(branch), type));
    const ValueId made = around.one();
    takeOver(fn(), fn().values[made].def, std::vector<ValueId>(op.results.begin(), op.results.end()));
    const std::vector<OpId> front = std::move(fn().regions[home].ops);
    ops.insert(ops.erase(std::ranges::find(ops, id)), front.begin(), front.end());
    fn().regions[home].ops = std::move(ops);
  }
  void write(ValueId v, Cloner& copy, Builder& b) const {
    const OpId def = fn().values[v].def;
    if (!def.valid() || copy.values.contains(v)) return;
    for (ValueId operand : Operands(fn().ops[def].operands)) write(operand, copy, b);
    copy.op(def, b);
  }

  Module& m_;
  FunctionId f_;
  const Effects& effects_;
  std::optional<Uses> uses_; ///< of the function as it is, once they were asked for
};

} // namespace

void maskUnread(Module& m) {
  const Effects effects(m);
  for (uint32_t i = 0; i < m.functions.size(); ++i) {
    const FunctionId f(i);
    if (!m.functions[f].body.valid()) continue;
    Masker masker(m, f, effects);
    masker.region(m.functions[f].body);
    if (masker.changed) eliminateDeadValues(m, f, effects);
  }
}

} // namespace melix::transforms

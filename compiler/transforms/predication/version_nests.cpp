#include "transforms/predication/version_nests.h"

#include "core/analysis/ranges.h"
#include "core/ir/nest.h"
#include "core/ir/walk.h"
#include "core/order/clone.h"
#include "transforms/analysis/axis_variance.h"
#include "transforms/axis_splitting/version_divisibility.h"
#include "transforms/predication/version_conditions.h"
#include "transforms/walks/for_each_function.h"
#include "transforms/walks/predicated_sum.h"

#include <algorithm>
#include <optional>
#include <set>
#include <unordered_set>

namespace melix::transforms {

using namespace core;
using ops::CmpKind;

namespace {

constexpr size_t longest = 64; ///< ops of a region that go together

/// What is asked for a nest: of numbers or of extents.
struct Question {
  NumberNeeds needs;
  Divisions divisions;
  bool isAny() const { return !needs.empty() || !divisions.axes.empty(); }
};

class Versioner {
public:
  using Ask = Question (Versioner::*)(OpId nest);
  Versioner(Module& m, FunctionId f, const Effects& effects, Ask ask)
      : m_(m), f_(f), effects_(effects), ask_(ask), ranges_(m, f) {}

  Question ofNumbers(OpId nest) { return {needsOf(m_, f_, nest, effects_, ranges_), {}}; }
  Question ofExtents(OpId nest) { return {{}, divisionsOf(m_, f_, nest, ranges_, names_)}; }

  bool changed = false;

  /// The list of a region stays whole until its end, for what is known of ranges.
  void run(RegionId region) {
    const Ranges::Mark mark = ranges_.enter(region);
    std::vector<Question> questions;
    const std::vector<OpId> ops = fn().regions[region].ops;
    for (OpId id : ops) {
      questions.emplace_back();
      if (fn().ops[id].kind == OpKind::Nest && fn().ops[id].resultDims.empty()) // a size is given once
        questions.back() = (this->*ask_)(id);
      else if (fn().ops[id].kind != OpKind::Nest)
        for (RegionId inner : Regions(fn().ops[id].regions)) run(inner);
      ranges_.define(fn().ops[id]);
    }
    ranges_.leave(mark);
    if (std::ranges::any_of(questions, &Question::isAny)) rewrite(region, questions);
  }

private:
  Function& fn() const { return m_.functions[f_]; }

  void rewrite(RegionId region, const std::vector<Question>& questions) {
    const std::vector<OpId> ops = std::move(fn().regions[region].ops);
    fn().regions[region].ops.clear();
    for (size_t k = 0; k < ops.size();) {
      if (!questions[k].isAny()) {
        fn().regions[region].ops.push_back(ops[k++]);
        continue;
      }
      const size_t end = endOf(ops, questions, k);
      version(region, std::span(ops).subspan(k, end - k), std::span(questions).subspan(k, end - k));
      k = end;
    }
    changed = true;
  }

  /// After the last nest that goes with the first: one that needs something too, or reads what these make.
  size_t endOf(const std::vector<OpId>& ops, const std::vector<Question>& questions, size_t first) const {
    std::unordered_set<ValueId> made, ofThese;
    const size_t last = std::min(ops.size(), first + longest);
    const bool hasWhole =
        std::any_of(questions.begin() + static_cast<long>(first), questions.begin() + static_cast<long>(last),
                    [](const Question& question) { return question.divisions.hasWhole; });
    size_t end = first + 1;
    for (size_t k = first; k < last; ++k) {
      const Op& op = fn().ops[ops[k]];
      // It would join what such extents are no part of, or give them to a record by the sizes that they are
      // made of.
      if (hasWhole && (op.kind == OpKind::Reshape || !givesNumbers(op))) break;
      if (op.kind == OpKind::Yield || !op.resultDims.empty() ||
          (!op.regions.empty() && op.kind != OpKind::Nest) || op.kind == OpKind::Call ||
          effects_.ofOp(fn(), ops[k]).io || !isDefinedBefore(questions[k], made))
        break;
      made.insert(op.results.begin(), op.results.end());
      if (!questions[k].isAny() && !readsOf(ops[k], ofThese)) continue;
      ofThese.insert(op.results.begin(), op.results.end());
      if (op.kind == OpKind::Nest) end = k + 1;
    }
    return end;
  }
  bool givesNumbers(const Op& op) const {
    return std::ranges::all_of(op.results,
                               [this](ValueId v) { return isOfNumbers(m_.types, fn().typeOf(v)); });
  }
  bool readsOf(OpId op, const std::unordered_set<ValueId>& made) const {
    bool reads = false;
    auto look = [&](OpId id) {
      reads =
          reads || std::ranges::any_of(fn().ops[id].operands, [&](ValueId v) { return made.contains(v); });
    };
    look(op);
    for (RegionId inner : fn().ops[op].regions) forEachOp(fn(), inner, look);
    return reads;
  }
  /// Whether none of the ops that go together makes what is to be asked of.
  static bool isDefinedBefore(const Question& question, const std::unordered_set<ValueId>& made) {
    auto isMade = [&](ValueId v) { return made.contains(v); };
    return std::ranges::none_of(
               question.needs,
               [&](const NumberNeed& need) { return std::ranges::any_of(need.from, isMade); }) &&
           std::ranges::none_of(question.divisions.named,
                                [&](const Divisions::Named& named) { return isMade(named.divisor.number); });
  }

  void version(RegionId region, std::span<const OpId> ops, std::span<const Question> questions) {
    NumberNeeds needs;
    std::vector<Divisions> divided;
    for (const Question& question : questions) {
      needs.insert(needs.end(), question.needs.begin(), question.needs.end());
      divided.push_back(question.divisions);
    }
    DivisionWriter divisions(m_, names_, divided);
    Builder b(m_, f_, region, fn().ops[ops[0]].loc);
    const ValueId holds = allHold(b, needs, divisions);
    Builder yes = b.in(b.newRegion()), no = b.in(b.newRegion());
    Cloner within(m_, f_, f_), asIs(m_, f_, f_);
    within.instead = [&](OpId id, Builder& at) { return copyWithin(id, needs, divisions, within, at); };
    divisions.enter(yes, within, ops);
    Operands results, ofYes, ofNo;
    std::vector<TypeId> types;
    for (OpId id : ops) {
      if (!within.instead(id, yes)) within.op(id, yes);
      asIs.op(id, no);
      for (ValueId v : fn().ops[id].results) {
        results.push_back(v);
        types.push_back(fn().typeOf(v));
        ofYes.push_back(yes.castDims(within.value(v), fn().typeOf(v)));
        ofNo.push_back(asIs.value(v));
      }
    }
    yes.yield(std::move(ofYes));
    no.yield(std::move(ofNo));
    Op branch = Builder::simple(OpKind::If, {holds});
    branch.regions = {yes.region, no.region};
    takeOver(fn(), b.append(std::move(branch), types), results);
  }
  ValueId valueOf(const NumberNeed& need) const { return fn().ops[need.op].operands[need.operand]; }

  /// A copy of an op of which something is needed, of operands that are so for sure; whether it is one.
  bool copyWithin(OpId id, const NumberNeeds& needs, const DivisionWriter& divisions, Cloner& copy,
                  Builder& at) const {
    std::vector<std::pair<uint32_t, ValueId>> operands = divisions.renamed(id, at);
    for (const NumberNeed& need : needs)
      if (need.op == id) operands.emplace_back(need.operand, held(copy.value(valueOf(need)), need, at));
    if (operands.empty()) return false;
    Op& made = fn().ops[copy.op(id, at)];
    for (auto [operand, by] : operands) made.operands[operand] = by;
    return true;
  }
  ValueId held(ValueId v, const NumberNeed& need, Builder& b) const {
    if (!need.extent) return b.binary(OpKind::Max, v, b.integer(1));
    types::DimStore& dims = m_.types.dims;
    const ValueId last = b.dimValue(dims.sub(*need.extent, dims.constant(1)));
    return b.binary(OpKind::Max, b.binary(OpKind::Min, v, last), b.integer(0));
  }

  // --- the question

  static void require(Builder& b, ValueId& all, ValueId more) {
    all = all.valid() ? b.binary(OpKind::And, all, more) : more;
  }
  /// Whether all is as needed, where the extents have an index at all.
  ValueId allHold(Builder& b, const NumberNeeds& needs, const DivisionWriter& divisions) const {
    return divisions.isAny() ? divisions.holds(b) : allHold(b, needs);
  }
  ValueId allHold(Builder& b, const NumberNeeds& needs) const {
    ValueId some;
    std::set<DimId> extents;
    for (const NumberNeed& need : needs)
      if (need.extent && !m_.types.dims.atLeast(*need.extent, 1) && extents.insert(*need.extent).second)
        require(b, some, b.compare(CmpKind::Ge, b.dimValue(*need.extent), b.integer(1)));
    if (!some.valid()) return hold(b, needs);
    return andThen(b, some, [&](Builder& in) { return hold(in, needs); });
  }
  /// What something is divided by is asked before that is.
  ValueId hold(Builder& b, std::span<const NumberNeed> needs) const {
    ValueId all;
    for (size_t k = 0; k < needs.size(); ++k) {
      auto isSame = [&](const NumberNeed& other) {
        return valueOf(other) == valueOf(needs[k]) && other.extent == needs[k].extent;
      };
      if (std::ranges::any_of(needs.first(k), isSame)) continue; // of a check, and of the read after it
      require(b, all, holds(b, needs[k]));
      const std::span<const NumberNeed> more = needs.subspan(k + 1);
      if (!needs[k].extent && !more.empty())
        return andThen(b, all, [&](Builder& in) { return hold(in, more); });
    }
    return all;
  }
  /// Asked of all points of the axes that a number is made of.
  ValueId holds(Builder& b, const NumberNeed& need) const {
    NestBuilder nest(b);
    Cloner copy(m_, f_, f_);
    const Op over = fn().ops[need.nest];
    for (uint32_t axis : need.axes)
      copy.values[fn().regions[over.regions[0]].params[axis]] = nest.axis(over.dims[axis]);
    std::unordered_set<OpId> inside;
    forEachOp(fn(), over.regions[0], [&](OpId id) { inside.insert(id); });
    Builder in = need.axes.empty() ? b : b.in(nest.body());
    copyValue(fn(), valueOf(need), [&](OpId id) { return inside.contains(id); }, copy, in);
    const ValueId is = holds(in, copy.value(valueOf(need)), need.extent);
    if (need.axes.empty()) return is;
    nest.add(reducing(MonoidKind::And), is);
    return nest.one();
  }
  static ValueId holds(Builder& b, ValueId v, std::optional<DimId> extent) {
    if (!extent) return b.compare(CmpKind::Ge, v, b.integer(1));
    return b.binary(OpKind::And, b.compare(CmpKind::Ge, v, b.integer(0)),
                    b.compare(CmpKind::Lt, v, b.dimValue(*extent)));
  }

  Module& m_;
  const FunctionId f_;
  const Effects& effects_;
  const Ask ask_;
  Ranges ranges_;
  DivisorNames names_;
};

} // namespace

static bool version(Module& m, Versioner::Ask ask) {
  const Effects effects(m);
  return changeBodies(m, [&](FunctionId f) {
    Versioner versioner(m, f, effects, ask);
    versioner.run(m.functions[f].body);
    return versioner.changed;
  });
}

bool versionNests(Module& m) { return version(m, &Versioner::ofNumbers); }
bool versionAxes(Module& m) { return version(m, &Versioner::ofExtents); }

} // namespace melix::transforms

#include "loops/index_sets/split_by_residue.h"

#include "loops/analysis/contraction.h"
#include "loops/analysis/linear_form.h"
#include "loops/ir/build.h"
#include "loops/ir/clone.h"
#include "loops/ir/constant_values.h"

#include <span>

namespace melix::loops {

using core::OpKind;

namespace {

constexpr int64_t mostPhases = 8;

/// A quotient or a remainder of sign·index + offset, where the index is that of a loop.
struct ResidueClass {
  StmtId stmt;
  RegionId home;
  int64_t sign, offset;
};

class ResidueClasses {
public:
  ResidueClasses(Function& fn, StmtId loop) : fn_(fn), loop_(loop), index_(fn.regions[body()].params[0]) {
    look(body());
  }

  bool any() const { return !parts_.empty(); }
  int64_t count() const { return step_; }

  /// The loop over the points of one remainder; it stands in `home`.
  void take(ValueId phase, RegionId home) {
    const std::vector<ValueId> ends = fn_.stmts[loop_].operands;
    Builder b(fn_);
    b.loc = fn_.stmts[loop_].loc;
    const RegionId front = b.begin();
    const ValueId zero = b.integer(0), step = b.integer(step_);
    const ValueId first = b.arith(OpKind::Add, ends[0], phase);
    const ValueId room = b.arith(OpKind::Add, b.arith(OpKind::Sub, ends[1], first), b.integer(step_ - 1));
    const ValueId points = b.arith(OpKind::Max, b.arith(OpKind::IDiv, room, step), zero);
    std::vector<ValueId> firsts;
    for (const ResidueClass& part : parts_) firsts.push_back(firstOf(b, part, first));
    b.end();
    splice(fn_, front, home, placeOf(fn_, home, loop_));
    fn_.stmts[loop_].operands = {zero, points};
    renumber(first);
    for (size_t k = 0; k < parts_.size(); ++k) replace(parts_[k], firsts[k]);
  }

private:
  RegionId body() const { return fn_.stmts[loop_].regions[0]; }

  // --- what divides

  void look(RegionId r) {
    for (StmtId id : fn_.regions[r].stmts) {
      const Stmt& s = fn_.stmts[id];
      if (s.kind == StmtKind::Scalar) lookAt(id, r);
      for (RegionId inner : s.regions) look(inner);
    }
  }
  void lookAt(StmtId id, RegionId home) {
    const Stmt& s = fn_.stmts[id];
    const auto& attr = s.as<ScalarAttr>();
    if ((attr.op != OpKind::IRem && attr.op != OpKind::IDiv) || attr.from != TypeKind::I64) return;
    const std::optional<int64_t> step = knownNumber(fn_, s.operands[1]);
    if (!step || *step < 2 || *step > mostPhases || (step_ != 0 && *step != step_)) return;
    const std::optional<LinearForm> form =
        linearForm(fn_, s.operands[0], [this](ValueId v) { return v == index_; });
    if (!form) return;
    const int64_t sign = form->factorOf(index_);
    if ((sign != 1 && sign != -1) || form->constant > smallNumber || form->constant < -smallNumber) return;
    step_ = *step;
    parts_.push_back({id, home, sign, form->constant});
  }
  // --- a remainder's points

  /// The quotient or remainder at the first point.
  ValueId firstOf(Builder& b, const ResidueClass& part, ValueId first) const {
    const ValueId offset = b.integer(part.offset);
    const ValueId at = b.arith(part.sign > 0 ? OpKind::Add : OpKind::Sub, offset, first);
    return b.arith(fn_.stmts[part.stmt].as<ScalarAttr>().op, at, b.integer(step_));
  }
  /// The index becomes what a new one counts.
  void renumber(ValueId first) {
    count_ = fn_.values.add({indexType, StmtId(), body(), {}});
    fn_.regions[body()].params[0] = count_;
    Builder b(fn_);
    b.loc = fn_.stmts[loop_].loc;
    const RegionId front = b.begin();
    const ValueId index = b.arith(OpKind::Add, first, b.arith(OpKind::Mul, count_, b.integer(step_)));
    b.end();
    replaceUses(fn_, body(), index_, index);
    splice(fn_, front, body(), 0);
  }
  void replace(const ResidueClass& part, ValueId first) {
    const Stmt& s = fn_.stmts[part.stmt];
    if (s.as<ScalarAttr>().op == OpKind::IRem) {
      replaceUses(fn_, body(), s.results[0], first);
      std::erase(fn_.regions[part.home].stmts, part.stmt);
      return;
    }
    fn_.stmts[part.stmt].attr = ScalarAttr{part.sign > 0 ? OpKind::Add : OpKind::Sub, 0, TypeKind::I64};
    fn_.stmts[part.stmt].operands = {first, count_};
  }

  Function& fn_;
  StmtId loop_;
  ValueId index_, count_;
  int64_t step_ = 0; ///< all parts are by the same number
  std::vector<ResidueClass> parts_;
};

class ResidueSplitter {
public:
  ResidueSplitter(const Module& module, Function& fn) : module_(module), fn_(fn) {}

  void run() {
    rewriteStmts(fn_, fn_.body, [this](StmtId id, RegionId r) { return isPoints(id) && split(id, r); });
  }

private:
  bool isPoints(StmtId id) const {
    const Stmt& s = fn_.stmts[id];
    if (s.kind != StmtKind::For) return false;
    const auto& attr = s.as<ForAttr>();
    return attr.dependence == Dependence::Independent && s.results.empty() && attr.minDistance == 0;
  }

  /// Loops of points around a sum, each the only one in the one before.
  std::vector<StmtId> around(StmtId loop) const {
    auto passes = [this](const Stmt& s) { return isPlain(module_, fn_, s); };
    std::vector<StmtId> out;
    for (StmtId at = loop; at.valid() && isPoints(at); at = onlyLoop(fn_, fn_.stmts[at].regions[0], passes))
      out.push_back(at);
    if (out.empty() || sumsIn(fn_, out.back()).empty()) return {};
    return out;
  }

  bool split(StmtId loop, RegionId home) {
    std::vector<Divided> loops;
    RegionId where;
    for (StmtId id : around(loop)) {
      ResidueClasses phases(fn_, id);
      if (phases.any() && !isOverChunk(fn_, fn_.stmts[id])) loops.push_back({std::move(phases), where, {}});
      where = fn_.stmts[id].regions[0];
    }
    if (loops.empty()) return false;
    const size_t place = placeOf(fn_, home, loop);
    std::erase(fn_.regions[home].stmts, loop);
    Builder b(fn_);
    b.loc = fn_.stmts[loop].loc;
    const RegionId made = b.begin();
    RegionId inside;
    overPhases(b, loops, [&] {
      inside = b.current();
      fn_.regions[inside].stmts.push_back(loop);
    });
    b.end();
    splice(fn_, made, home, place);
    for (Divided& each : loops) each.phases.take(each.phase, each.home.valid() ? each.home : inside);
    return true;
  }

  struct Divided {
    ResidueClasses phases;
    RegionId home; ///< none of the outermost loop
    ValueId phase;
  };
  /// The loops over remainders, and what is inside.
  template <class Inside>
  void overPhases(Builder& b, std::span<Divided> loops, const Inside& inside) {
    if (loops.empty()) return inside();
    ForAttr attr;
    attr.dependence = Dependence::Independent;
    b.carryLoop(
        b.integer(0), b.integer(loops[0].phases.count()), {},
        [&](ValueId phase, std::vector<ValueId> none) {
          loops[0].phase = phase;
          overPhases(b, loops.subspan(1), inside);
          return none;
        },
        attr);
  }

  const Module& module_;
  Function& fn_;
};

} // namespace

void splitByResidue(const Module& module, Function& function) { ResidueSplitter(module, function).run(); }

} // namespace melix::loops

#include "loops/plan/plan_notes.h"

#include "core/ir/flow.h"
#include "core/ir/walk.h"
#include "loops/layout/destinations.h"
#include "loops/plan/plan_nest.h"
#include "support/function_ref.h"

#include <algorithm>

namespace melix::loops {
namespace {

using core::OpKind;

using ValueText = FunctionRef<std::string(core::ValueId)>;

std::string_view textOf(SeparationKind why) {
  switch (why) {
  case SeparationKind::OtherAxes: return "keeps other axes";
  case SeparationKind::Sequence:
    return "in no order of the axes do the terms of both follow each other as they should";
  case SeparationKind::Adds: return "it adds, and takes the axes in their order";
  case SeparationKind::Effects: return "it has the effects, in the order of the points";
  }
  return "";
}

std::string_view textOf(PoolKind kind) {
  switch (kind) {
  case PoolKind::Runs:
  case PoolKind::Inner:
  case PoolKind::Collects: break; // a loop is parallel, if that can be
  case PoolKind::Adds: return "adds in the order of the points";
  case PoolKind::NoAxes: return "one point";
  case PoolKind::Counted: return "a filter keeps elements that own memory";
  case PoolKind::Keeps: return "a reduction keeps axes";
  case PoolKind::Combines: return "what is reduced is no scalar, or combined by the program";
  case PoolKind::Sequence: return "floats are rounded one after another";
  case PoolKind::OneBlock: return "all points are one block";
  }
  return "";
}

std::string joined(const std::vector<std::string>& parts) {
  std::string out;
  for (const std::string& part : parts) out += (out.empty() ? "" : ", ") + part;
  return out;
}

/// The plan of one nest, in words.
class PlanText {
public:
  PlanText(const core::Function& fn, const core::Op& nest, ValueText text) : nest_(fn, nest), text_(text) {}

  /// `number`: of several.
  std::vector<std::string> sweep(const SweepPlan& sweep, std::optional<size_t> number) const {
    std::vector<std::string> lines{number ? "sweep " + std::to_string(*number) + " " + gives(sweep) + ": "
                                          : "sweep: "};
    lines[0] += loops(sweep);
    if (sweep.runsOnPool()) lines.push_back("  blocks in any order, on the pool");
    if (const std::string_view why = textOf(sweep.pool); !why.empty())
      lines.push_back("  not cut for the pool: " + std::string(why));
    for (size_t k = 0; k < sweep.separations.size(); ++k)
      lines.push_back("  apart from sweep " + std::to_string(k) + ": " +
                      std::string(textOf(sweep.separations[k])));
    return lines;
  }

private:
  std::string axis(uint32_t a) const { return text_(nest_.axisParams()[a]); }

  std::string gives(const SweepPlan& sweep) const {
    std::vector<std::string> values;
    for (const ResultPlan& r : sweep.results)
      for (core::ValueId v : nest_.results(r.part)) values.push_back(text_(v));
    if (sweep.withAccs)
      for (core::ValueId v : nest_.accResults()) values.push_back(text_(v));
    return values.empty() ? "has effects alone" : "gives " + joined(values);
  }

  std::string loops(const SweepPlan& sweep) const {
    std::vector<std::string> parts;
    for (const LevelPlan& level : sweep.levels) parts.push_back(axis(level.axis) + promise(level));
    if (sweep.blocks) parts.push_back(blocks(*sweep.blocks));
    return parts.empty() ? "one point" : joined(parts);
  }

  static std::string promise(const LevelPlan& level) {
    if (level.unit) return " once";
    switch (level.dependence) {
    case Dependence::None: return " parallel";
    case Dependence::Independent: return " independent";
    default: return " in order";
    }
  }

  std::string blocks(const BlockPlan& plan) const {
    std::vector<std::string> axes;
    for (uint32_t a : plan.outer) axes.push_back(axis(a));
    axes.push_back(axis(plan.inner));
    const char* const mark = plan.mark == Dependence::Independent ? "independent " : "";
    std::string out = plan.isOne ? "one " : "";
    out += std::string(mark) + (plan.isOne ? "block of " : "blocks of ") + joined(axes);
    return plan.strip ? out + " in strips of " + std::to_string(plan.strip) : out;
  }

  const core::NestView nest_;
  ValueText text_;
};

/// The notes of one function.
class PlanNotes {
public:
  PlanNotes(const core::Module& module, core::FunctionId f)
      : fn_(module.functions[f]), id_(f), uses_(*core::analysis<core::Uses>(module, f)),
        layouts_(module.types), placements_(module) {}

  std::vector<std::string> of(core::RegionId region, ValueText text) {
    notes_.clear();
    const core::OpId parent = fn_.regions[region].parent;
    if (parent && fn_.ops[parent].kind == OpKind::Nest && fn_.ops[parent].regions[0] == region)
      addPlan(parent, text);
    addPlacements(region, text);
    return std::move(notes_);
  }

private:
  bool standsInNest(core::OpId op) const {
    for (core::RegionId at = uses_.regionOf(op); at.valid() && fn_.regions[at].parent.valid();
         at = uses_.regionOf(op)) {
      op = fn_.regions[at].parent;
      if (fn_.ops[op].kind == OpKind::Nest && fn_.ops[op].regions[0] == at) return true;
    }
    return false;
  }

  void addPlan(core::OpId nest, ValueText text) {
    const NestPlan plan = planNest(fn_, layouts_, fn_.ops[nest], standsInNest(nest));
    const PlanText words(fn_, fn_.ops[nest], text);
    for (size_t k = 0; k < plan.sweeps.size(); ++k)
      for (std::string& line :
           words.sweep(plan.sweeps[k], plan.sweeps.size() > 1 ? std::optional(k) : std::nullopt))
        notes_.push_back(std::move(line));
    if (!plan.problem.empty()) notes_.push_back("not compiled: " + plan.problem);
  }

  /// What the region only yields and is written where it goes. Values that are named later in the text are
  /// not said.
  void addPlacements(core::RegionId region, ValueText text) {
    const core::OpId parent = fn_.regions[region].parent;
    auto isWritten = [&](core::ValueId yielded) {
      return placements_.writtenFor(fn_, uses_, yielded, region).valid();
    };
    if (!parent) {
      for (uint32_t k = 0; k < fn_.results.size(); ++k)
        if (placements_.writesResult(id_, k))
          notes_.push_back("result " + std::to_string(k) + " can be written where a caller says");
      return;
    }
    auto add = [&](core::ValueId array, core::ValueId yielded) {
      if (isWritten(yielded))
        notes_.push_back("what " + text(array) + " collects is written there as it is made");
    };
    const core::Op& op = fn_.ops[parent];
    if (op.kind == OpKind::For) {
      const core::LoopView loop(fn_, op);
      for (size_t k = 0; k < loop.stackYields().size(); ++k)
        add(loop.stackResults()[k], loop.stackYields()[k]);
    }
    if (op.kind != OpKind::Nest || op.regions[0] != region) return;
    const core::NestView nest(fn_, op);
    for (const core::NestPart& part : nest.parts())
      if (part.spec->kind == core::NestResultKind::Collect && !part.spec->keep.empty())
        add(nest.results(part)[0], nest.yields(part)[0]);
  }

  const core::Function& fn_;
  const core::FunctionId id_;
  const core::Uses uses_;
  Layouts layouts_;
  Placements placements_;
  std::vector<std::string> notes_;
};

} // namespace

std::string_view whyNotCut(const SweepPlan& sweep) {
  return sweep.pool == PoolKind::NoAxes ? "" : textOf(sweep.pool);
}

core::RegionNotes planNotes(const core::Module& module) {
  return [&module, now = std::shared_ptr<PlanNotes>(),
          id = core::FunctionId()](core::FunctionId f, core::RegionId region, ValueText text) mutable {
    if (f != id) now = std::make_shared<PlanNotes>(module, f);
    id = f;
    return now->of(region, text);
  };
}

} // namespace melix::loops

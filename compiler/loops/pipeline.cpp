#include "loops/pipeline.h"

#include "loops/analysis/closed_functions.h"
#include "loops/checks/hoist_loop_checks.h"
#include "loops/checks/kept_checks.h"
#include "loops/emit/lower.h"
#include "loops/index_sets/hoist_integer_division.h"
#include "loops/index_sets/if_convert_shared_loads.h"
#include "loops/index_sets/peel_boundaries.h"
#include "loops/index_sets/sink_fma_into_branch.h"
#include "loops/index_sets/split_at_wraparound.h"
#include "loops/index_sets/split_by_residue.h"
#include "loops/index_sets/split_predicated.h"
#include "loops/index_sets/strip_mine_quotients.h"
#include "loops/kernels/deduplicate_kernels.h"
#include "loops/kernels/infer_size_params.h"
#include "loops/kernels/launch_cost.h"
#include "loops/kernels/launch_trip_counts.h"
#include "loops/kernels/outline.h"
#include "loops/kernels/partition_launches.h"
#include "loops/kernels/scratch_allocation.h"
#include "loops/kernels/strip_mine_points.h"
#include "loops/lanes/mark_independent_loops.h"
#include "loops/lanes/nontemporal_stores.h"
#include "loops/lanes/reverse_loops.h"
#include "loops/lanes/vectorize.h"
#include "loops/ownership/drop_invariant_carries.h"
#include "loops/ownership/elide_overwritten_copies.h"
#include "loops/ownership/hoist_allocations.h"
#include "loops/ownership/ownership.h"
#include "loops/ownership/prove_unique.h"
#include "loops/ownership/reuse_operand_memory.h"
#include "loops/ownership/stack_allocation.h"
#include "loops/ownership/update_in_place.h"
#include "loops/text/verify.h"
#include "loops/tiles/choose_vector_axis.h"
#include "loops/tiles/interchange_for_reuse.h"
#include "loops/tiles/interchange_for_vectors.h"
#include "loops/tiles/interchange_reduction_blocks.h"
#include "loops/tiles/tile_contractions.h"
#include "loops/tiles/unroll_and_jam.h"

#include <cassert>

namespace melix::loops {
namespace {

/// Functions that the roots, and what they call, reach.
class Reach {
public:
  explicit Reach(const core::Module& module) : module_(module) {}
  std::vector<core::FunctionId> order;

  void add(core::FunctionId f) {
    if (!f || !module_.functions[f].body || !seen_.insert(f).second) return;
    region(module_.functions[f], module_.functions[f].body);
    order.push_back(f);
  }

private:
  /// Only what stands in a region: passes leave dead ops in the store.
  void region(const core::Function& fn, core::RegionId r) {
    for (core::OpId id : fn.regions[r].ops) {
      const core::Op& op = fn.ops[id];
      if (op.kind == core::OpKind::Call) add(op.as<core::CallAttr>().callee);
      if (op.kind == core::OpKind::Math) addMath(fn, op);
      for (core::RegionId inner : op.regions) region(fn, inner);
    }
  }

  void addMath(const core::Function& fn, const core::Op& op) {
    TypeKind kind = module_.types.kind(fn.typeOf(op.results[0]));
    if (kind != TypeKind::F64) kind = TypeKind::F32;
    auto body = module_.mathBodies.find({static_cast<ops::MathKind>(op.index()), kind});
    if (body != module_.mathBodies.end()) add(body->second);
  }

  const core::Module& module_;
  std::unordered_set<core::FunctionId> seen_;
};

/// A function for each that is reached, without bodies.
void declareFunctions(LowerContext& context, const std::vector<core::FunctionId>& reached) {
  const core::Module& core = context.core;
  std::unordered_set<core::FunctionId> mathBodies;
  for (const auto& [key, f] : core.mathBodies) mathBodies.insert(f);
  for (core::FunctionId f : reached) {
    const core::Function& source = core.functions[f];
    Function fn;
    fn.name = source.name;
    fn.key = source.key.empty() ? source.name : source.key;
    fn.source = f;
    fn.loc = source.loc;
    fn.exported = source.keep || f == core.entry;
    fn.inlined = mathBodies.count(f) != 0;
    context.functions[f] = context.made.module->functions.add(std::move(fn));
  }
  context.made.module->entry = core.entry ? context.functions[core.entry] : FunctionId();
}

void lowerFunctions(LowerContext& context, const std::vector<core::FunctionId>& reached) {
  for (core::FunctionId f : reached) {
    Lower(context, context.made.module->functions[context.functions[f]], context.core.functions[f]).run(f);
    if (context.error) return;
  }
  while (!context.writing.empty() && !context.error) {
    LowerContext::Writing next = std::move(context.writing.back());
    context.writing.pop_back();
    Lower(context, context.made.module->functions[next.function], context.core.functions[next.source])
        .run(next.source, next.results);
  }
}

/// A pass over functions, for all those that there are when it begins.
template <void (*pass)(const Module&, Function&)>
void each(Module& module, const Options&) {
  for (uint32_t f = 0; f < module.functions.size(); ++f) pass(module, module.functions[FunctionId(f)]);
}
template <void (*pass)(Function&)>
void each(Module& module, const Options&) {
  for (Function& fn : module.functions) pass(fn);
}
template <void (*pass)(const Module&, Function&, const StripSizes&)>
void each(Module& module, const Options& options) {
  for (Function& fn : module.functions) pass(module, fn, options.strips);
}
template <void (*pass)(Module&, FunctionId)>
void each(Module& module, const Options&) {
  auto count = static_cast<uint32_t>(module.functions.size());
  for (uint32_t f = 0; f < count; ++f) pass(module, FunctionId(f));
}

/// A pass over the module.
template <void (*pass)(Module&)>
void whole(Module& module, const Options&) {
  pass(module);
}
template <void (*pass)(Module&, const Machine&)>
void whole(Module& module, const Options& options) {
  pass(module, *options.machine);
}

bool always(const Options&) { return true; }
bool onPool(const Options& options) { return options.parallel; }
bool schedules(const Options& options) { return options.machine != nullptr; }
bool schedulesPool(const Options& options) { return schedules(options) && onPool(options); }

/// A row of passes.def.
struct PassRow {
  Pass pass;
  void (*run)(Module&, const Options&);
  bool (*wanted)(const Options&);
};

const std::vector<PassRow>& rows() {
  using enum State;
  static const std::vector<PassRow> made = {
#define NONE States()
#define STATES(...) (States{__VA_ARGS__})
#define PASS(Name, run, wanted, Requires, Establishes, Ends, Sentence)                                       \
  {{#Name, Sentence, Requires, Establishes, Ends}, run, wanted},
#include "loops/passes.def"
#undef STATES
#undef NONE
  };
  return made;
}

std::string findBug(const Module& module, States states, std::string_view pass, KeptChecks& checks) {
  const std::string name = "`" + std::string(pass) + "`";
  if (std::string problem = verify(module, states); !problem.empty())
    return "Loops is not well formed after " + name + ": " + problem;
  if (std::string lost = checks.after(module); !lost.empty())
    return "a check is lost by " + name + ": " + lost;
  return {};
}

} // namespace

std::span<const Pass> passes() {
  static const std::vector<Pass> made = [] {
    std::vector<Pass> out;
    for (const PassRow& row : rows()) out.push_back(row.pass);
    return out;
  }();
  return made;
}

Result fromCore(const core::Module& core, const Options& options) {
  Result result{Module(core), {}, {}};
  Layouts layouts(core.types);
  LowerContext context{
      core, layouts, {}, {&result.module, {}}, {}, {}, {}, Placements(core), ElementParams(core, layouts)};
  Reach reach(core);
  reach.add(core.entry);
  for (uint32_t f = 0; f < core.functions.size(); ++f)
    if (core.functions[core::FunctionId(f)].keep) reach.add(core::FunctionId(f));
  declareFunctions(context, reach.order);
  lowerFunctions(context, reach.order);
  result.error = context.error;
  if (result.error) return result;
  dropUncalled(result.module);
  std::optional<KeptChecks> checks;
  if (options.verify) checks.emplace(result.module);
  States states = statesOfLowered;
  auto look = [&](std::string_view pass) {
    if (checks) result.bug = findBug(result.module, states, pass, *checks);
    if (options.afterPass) options.afterPass(result.module, pass);
  };
  look("lower");
  for (const PassRow& row : rows()) {
    if (!result.bug.empty()) break;
    if (!row.wanted(options)) continue;
    assert(states.has(row.pass.needs) && "the passes before it establish what it requires");
    row.run(result.module, options);
    states = (states | row.pass.establishes) - row.pass.ends;
    look(row.pass.name);
  }
  return result;
}

} // namespace melix::loops

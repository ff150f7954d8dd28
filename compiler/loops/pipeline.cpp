#include "loops/pipeline.h"

#include "loops/analysis/closed_functions.h"
#include "loops/checks/hoist_loop_checks.h"
#include "loops/checks/kept_checks.h"
#include "loops/emit/leaf_calls.h"
#include "loops/emit/lower.h"
#include "loops/groups/distribute_over_threads.h"
#include "loops/groups/tile_points.h"
#include "loops/index_sets/hoist_integer_division.h"
#include "loops/index_sets/if_convert_shared_loads.h"
#include "loops/index_sets/peel_boundaries.h"
#include "loops/index_sets/sink_fma_into_branch.h"
#include "loops/index_sets/split_at_wraparound.h"
#include "loops/index_sets/split_by_residue.h"
#include "loops/index_sets/split_predicated.h"
#include "loops/index_sets/strip_mine_quotients.h"
#include "loops/kernels/deduplicate_kernels.h"
#include "loops/kernels/device_reasons.h"
#include "loops/kernels/infer_size_params.h"
#include "loops/kernels/launch_cost.h"
#include "loops/kernels/launch_trip_counts.h"
#include "loops/kernels/outline.h"
#include "loops/kernels/partition_launches.h"
#include "loops/kernels/place_acquires.h"
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
#include <set>

namespace melix::loops {
namespace {

/// Calls visit(function) for each with which a host begins.
template <class Visit>
void forEachRoot(const core::Module& module, const Visit& visit) {
  for (core::FunctionId f(0); f.index < module.functions.size(); ++f.index)
    if (module.functions[f].keep || f == module.entry) visit(f);
}

/// Functions that the roots, and what they call, reach, and on which devices.
class Reach {
public:
  Reach(const core::Module& module, DeviceCode devices) : module_(module), devices_(devices) {}
  std::vector<std::pair<core::FunctionId, Device>> order;

  /// Those that run on devices.
  std::vector<core::FunctionId> onDevices() const {
    std::vector<core::FunctionId> out;
    for (const auto& [f, device] : order)
      if (device != Device::Host) out.push_back(f);
    return out;
  }

  /// What a program begins with, on `device`.
  void addRoots(Device device) {
    forEachRoot(module_, [&](core::FunctionId f) {
      if (device == Device::Host || devices_.host) add(f, Device::Host);
      if (devices_.any()) add(f, device);
    });
  }

private:
  void add(core::FunctionId f, Device device) {
    if (!f || !module_.functions[f].body || !seen_.insert({f, device}).second) return;
    region(module_.functions[f], module_.functions[f].body, device);
    order.emplace_back(f, device);
  }
  /// Only what stands in a region: passes leave dead ops in the store.
  void region(const core::Function& fn, core::RegionId r, Device device) {
    for (core::OpId id : fn.regions[r].ops) {
      const core::Op& op = fn.ops[id];
      if (op.kind == core::OpKind::Call) addCallee(op.as<core::CallAttr>().callee, device);
      if (op.kind == core::OpKind::Math) addMath(fn, op);
      for (core::RegionId inner : op.regions) region(fn, inner, device);
    }
  }

  /// Where no device is ready its code runs where the call stands.
  void addCallee(core::FunctionId f, Device caller) {
    const Device device = calledOn(module_.functions[f].device, caller);
    if (device == caller || caller != Device::Host || devices_.any()) add(f, device);
    if (device != Device::Host && caller == Device::Host && devices_.host) add(f, Device::Host);
  }

  void addMath(const core::Function& fn, const core::Op& op) {
    TypeKind kind = module_.types.kind(fn.typeOf(op.results[0]));
    if (kind != TypeKind::F64) kind = TypeKind::F32;
    auto body = module_.mathBodies.find({static_cast<ops::MathKind>(op.index()), kind});
    if (body != module_.mathBodies.end()) add(body->second, Device::Host);
  }

  const core::Module& module_;
  const DeviceCode devices_;
  std::set<std::pair<core::FunctionId, Device>> seen_;
};

/// A function for each that is reached, without bodies.
void declareFunctions(LowerContext& context, const Reach& reach) {
  const core::Module& core = context.core;
  std::unordered_set<core::FunctionId> mathBodies;
  for (const auto& [key, f] : core.mathBodies) mathBodies.insert(f);
  for (const auto& [f, device] : reach.order) {
    Function fn = context.declared(f, device);
    fn.inlined = mathBodies.count(f) != 0;
    context.functions[{f, device}] = context.made.module->functions.add(std::move(fn));
  }
}

/// A body for a function that is declared.
void lowerFunction(LowerContext& context, FunctionId function, const std::vector<uint32_t>& written = {}) {
  Function& fn = context.made.module->functions[function];
  Lower(context, fn, context.core.functions[fn.source]).run(fn.source, written);
}

void lowerFunctions(LowerContext& context, const Reach& reach) {
  for (const auto& reached : reach.order) {
    lowerFunction(context, context.functions.at(reached));
    if (context.error) return;
  }
  while (!context.writing.empty() && !context.error) {
    const LowerContext::Writing next = std::move(context.writing.back());
    context.writing.pop_back();
    lowerFunction(context, next.function, next.results);
  }
}

/// A pass over functions, for all those that there are when it begins.
void forEachScheduled(Module& module, FunctionRef<void(FunctionId)> pass) {
  const auto count = static_cast<uint32_t>(module.functions.size());
  for (uint32_t f = 0; f < count; ++f)
    if (module.functions[FunctionId(f)].isScheduled()) pass(FunctionId(f));
}
template <void (*pass)(const Module&, Function&)>
void each(Module& module, const Options&) {
  forEachScheduled(module, [&](FunctionId f) { pass(module, module.functions[f]); });
}
template <void (*pass)(Function&)>
void each(Module& module, const Options&) {
  forEachScheduled(module, [&](FunctionId f) { pass(module.functions[f]); });
}
template <void (*pass)(const Module&, Function&, const StripSizes&)>
void each(Module& module, const Options& options) {
  forEachScheduled(module, [&](FunctionId f) { pass(module, module.functions[f], options.strips); });
}
template <void (*pass)(Module&, FunctionId)>
void each(Module& module, const Options&) {
  forEachScheduled(module, [&](FunctionId f) { pass(module, f); });
}

/// A pass over all functions, also kernels of devices.
template <void (*pass)(Function&)>
void all(Module& module, const Options&) {
  for (uint32_t f = 0; f < module.functions.size(); ++f) pass(module.functions[FunctionId(f)]);
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
bool forDevices(const Options& options) { return options.devices.any(); }
bool outlines(const Options& options) { return options.parallel || forDevices(options); }
bool schedules(const Options& options) { return options.machine != nullptr; }
bool schedulesForDevices(const Options& options) { return schedules(options) && forDevices(options); }
bool schedulesOutlined(const Options& options) { return schedules(options) && outlines(options); }

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

/// What a host sees of the roots. They begin on the processor, also where all that they do is on a device.
void exportRoots(LowerContext& context, Device device) {
  Module& module = *context.made.module;
  forEachRoot(context.core, [&](core::FunctionId f) {
    const bool isHere = device == Device::Host;
    const FunctionId root = isHere ? context.functions.at({f, device}) : startOn(context, f, device);
    module.functions[root].exported = true;
    if (f == context.core.entry) module.entry = root;
  });
}

bool usesDevices(const core::Module& module, Device whole) {
  if (whole != Device::Host) return true;
  for (const core::Function& fn : module.functions)
    if (fn.body && fn.device == Device::Gpu) return true;
  return false;
}

Result fromCore(const core::Module& core, const Options& options) {
  Result result{Module(core), {}, {}};
  Layouts layouts(core.types);
  Reach reach(core, options.devices);
  reach.addRoots(options.device);
  LowerContext context{core,
                       layouts,
                       {},
                       {&result.module, {}},
                       {},
                       {},
                       {},
                       Placements(core),
                       ElementParams(core, layouts, reach.onDevices()),
                       options.devices};
  declareFunctions(context, reach);
  lowerFunctions(context, reach);
  result.error = context.error;
  if (result.error) return result;
  exportRoots(context, options.device);
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

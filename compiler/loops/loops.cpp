#include "loops/loops.h"

#include "loops/lower.h"
#include "loops/outline.h"
#include "loops/ownership.h"
#include "loops/verify.h"

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

} // namespace

Result fromCore(const core::Module& core, const Options& options) {
  Result result{Module(core), {}};
  Module& module = result.module;
  Layouts layouts(core.types);
  LowerContext context{core, layouts, {}, &module, {}, {}, {}};

  Reach reach(core);
  reach.add(core.entry);
  for (uint32_t f = 0; f < core.functions.size(); ++f)
    if (core.functions[core::FunctionId(f)].keep) reach.add(core::FunctionId(f));
  std::unordered_set<core::FunctionId> mathBodies;
  for (const auto& [key, f] : core.mathBodies) mathBodies.insert(f);

  for (core::FunctionId f : reach.order) {
    const core::Function& source = core.functions[f];
    Function fn;
    fn.name = source.name;
    fn.key = source.key.empty() ? source.name : source.key;
    fn.source = f;
    fn.loc = source.loc;
    fn.exported = source.keep || f == core.entry;
    fn.inlined = mathBodies.count(f) != 0;
    context.functions[f] = module.functions.add(std::move(fn));
  }
  module.entry = core.entry ? context.functions[core.entry] : FunctionId();

  for (core::FunctionId f : reach.order) {
    // Lowered beside the module, which grows helpers meanwhile.
    FunctionId id = context.functions[f];
    Function fn = std::move(module.functions[id]);
    Lower(context, fn, core.functions[f]).run();
    module.functions[id] = std::move(fn);
    if (context.error) {
      result.error = context.error;
      return result;
    }
  }
  inferModes(module);
  for (uint32_t f = 0; f < module.functions.size(); ++f)
    insertCounts(module, module.functions[FunctionId(f)]);
  markClosed(module);
  auto count = static_cast<uint32_t>(module.functions.size());
  if (options.parallel)
    for (uint32_t f = 0; f < count; ++f) outlineKernels(module, FunctionId(f));
  return result;
}

} // namespace melix::loops

#include "loops/kernels/scratch_sizes.h"

#include "loops/analysis/launch_expressions.h"
#include "loops/ir/clone.h"
#include "loops/ir/overflow.h"

namespace melix::loops {

using core::OpKind;
using ops::CmpKind;

namespace {

class LaunchRecorder {
public:
  LaunchRecorder(Module& module, const ScratchSizes& sizes) : module_(module), sizes_(sizes) {}

  void run() {
    for (Function& caller : module_.functions) recordLaunches(caller, caller.body);
  }

private:
  void recordLaunches(Function& caller, RegionId r) {
    for (size_t k = 0; k < caller.regions[r].stmts.size(); ++k) {
      const StmtId id = caller.regions[r].stmts[k];
      const std::vector<RegionId> inner = caller.stmts[id].regions;
      for (RegionId each : inner) recordLaunches(caller, each);
      if (caller.stmts[id].kind != StmtKind::Launch) continue;
      const FunctionId kernel = caller.stmts[id].as<FunctionId>();
      if (auto found = sizes_.find(kernel); found != sizes_.end())
        k += recordLaunch(caller, id, module_.functions[kernel], found->second, r, k);
    }
  }
  /// Before the launch stands how many bytes it needs; how many statements that takes.
  static size_t recordLaunch(Function& caller, StmtId id, const Function& kernel,
                             const std::vector<ScratchSize>& sizes, RegionId home, size_t place) {
    const Stmt launch = caller.stmts[id];
    Builder b(caller);
    b.loc = launch.loc;
    const RegionId made = b.begin();
    LaunchValues values(b, kernel, launch, kernel.stmts.size());
    ValueId most = b.integer(0);
    for (const ScratchSize& size : sizes) {
      ValueId points = pointsOf(b, values, size, launch.operands[0]);
      const ValueId few = size.most > 0 ? b.arith(OpKind::Min, points, b.integer(size.most)) : points;
      points =
          size.columns.valid()
              ? b.select(b.compare(CmpKind::Ge, *values.of(size.columns), b.integer(size.width)), points, few)
              : few;
      most = b.arith(OpKind::Max, most, b.arith(OpKind::Mul, points, b.integer(size.each)));
    }
    b.end();
    splice(caller, made, home, place);
    caller.stmts[id].operands.push_back(most);
    return caller.regions[made].stmts.size() - 1;
  }
  /// Of a launch of so many iterations: none if there is no iteration.
  static ValueId pointsOf(Builder& b, LaunchValues& values, const ScratchSize& size, ValueId tripCount) {
    std::vector<ValueId> extents;
    for (ValueId v : size.extents) {
      const ValueId extent = *values.of(v);
      const bool isSize = size.most > 0 || b.asConstant(extent);
      extents.push_back(isSize ? extent : b.arith(OpKind::Max, extent, b.integer(0)));
    }
    const ValueId points = b.product(extents);
    if (size.most > 0) return points;
    ValueId isNeeded = b.compare(CmpKind::Gt, tripCount, b.integer(0));
    if (size.isChecked) isNeeded = b.both(isNeeded, productFits(b, extents, types::maxExtent, true));
    for (const ScratchSize::Condition& c : size.conditions) {
      const ValueId holds = *values.of(c.holds);
      isNeeded = b.both(isNeeded,
                        c.isNegated ? b.scalar(OpKind::Not, {holds}, TypeKind::Bool, TypeKind::Bool) : holds);
    }
    for (const auto& [first, end] : size.loops)
      isNeeded = b.both(isNeeded, b.compare(CmpKind::Lt, *values.of(first), *values.of(end)));
    return b.select(isNeeded, points, b.integer(0));
  }

  Module& module_;
  const ScratchSizes& sizes_;
};

} // namespace

void recordScratchSizes(Module& module, const ScratchSizes& sizes) { LaunchRecorder(module, sizes).run(); }

} // namespace melix::loops

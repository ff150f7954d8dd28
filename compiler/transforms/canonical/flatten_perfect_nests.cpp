#include "transforms/canonical/flatten_perfect_nests.h"

#include "core/ir/nest.h"
#include "core/ir/walk.h"
#include "core/order/clone.h"
#include "core/order/verify.h"
#include "transforms/analysis/cost_model.h"
#include "transforms/walks/for_each_function.h"
#include "transforms/walks/rewrite_region.h"

#include <algorithm>

namespace melix::transforms {

using namespace core;

namespace {

class PerfectNestFlattener {
public:
  PerfectNestFlattener(Module& m, FunctionId f) : m_(m), f_(f) {}

  void run(RegionId region) {
    rewriteRegion(m_, f_, region, [&](OpId id) {
      for (RegionId inner : fn().ops[id].regions) run(inner); // nests of nests of nests from the inside
      if (fn().ops[id].kind != OpKind::Nest) return true;
      const OpId inner = onlyNest(id);
      if (!inner.valid() || !mayMerge(id, inner)) return true;
      merge(id, inner, region);
      return false;
    });
  }
  bool changed = false;

private:
  Function& fn() const { return m_.functions[f_]; }

  /// Of a body of constants, sizes, indices, one nest and the end.
  OpId onlyNest(OpId outer) const {
    const std::vector<OpId>& ops = fn().regions[fn().ops[outer].regions[0]].ops;
    if (ops.size() < 2 || fn().ops[ops[ops.size() - 2]].kind != OpKind::Nest) return {};
    const OpId inner = ops[ops.size() - 2];
    const bool isSwept = isOfSums(inner);
    const bool fit = std::all_of(ops.begin(), ops.end() - 2, [&](OpId id) {
      return isConstant(id) || isIndexArithmetic(id) || (isSwept && isIndexRead(id));
    });
    return fit ? inner : OpId();
  }
  bool isConstant(OpId id) const {
    const Op& op = fn().ops[id];
    return (op.kind == OpKind::Const || op.kind == OpKind::DimValue) &&
           m_.types.isScalar(fn().typeOf(op.results[0]));
  }
  /// Sums, products and comparisons of integers: no more work at the points of the inner nest than the
  /// addresses of what they read.
  bool isIndexArithmetic(OpId id) const {
    const Op& op = fn().ops[id];
    auto isIndex = [&](ValueId v) {
      return fn().typeOf(v) == m_.types.int64() || fn().typeOf(v) == m_.types.boolean();
    };
    return flopsOf(op.kind) == 1 && isIndex(op.results[0]) && std::ranges::all_of(op.operands, isIndex);
  }

  /// An index that is read, as of a row that is looked up. Tiles read it once for a row.
  bool isIndexRead(OpId id) const {
    const Op& op = fn().ops[id];
    return op.kind == OpKind::Get && fn().typeOf(op.results[0]) == m_.types.int64();
  }
  /// Whether a nest gives rows of sums, as the product of a row and a matrix.
  bool isOfSums(OpId id) const {
    const std::vector<NestResult>& results = nestResults(fn().ops[id]);
    return std::ranges::all_of(results, [](const NestResult& r) { return isSum(r) && !r.keep.empty(); });
  }

  bool mayMerge(OpId outer, OpId inner) const {
    const NestView around(fn(), fn().ops[outer]), in(fn(), fn().ops[inner]);
    if (around.accs() > 0 || in.accs() > 0 || around.axes() == 0 || in.axes() == 0) return false;
    for (const NestPart& part : in.parts())
      if (part.spec->kind == NestResultKind::Filter || isCombine(*part.spec) || part.results.count != 1)
        return false;
    const std::vector<uint32_t> all = collecting(around.axes()).keep;
    for (const NestPart& part : around.parts())
      if (part.spec->kind != NestResultKind::Collect || part.spec->keep != all ||
          fn().values[around.yields(part)[0]].def != inner)
        return false;
    return !around.parts().empty() && panickingSums(m_, fn(), fn().ops[inner]).empty();
  }

  void merge(OpId outerId, OpId innerId, RegionId region) {
    const Op& outer = fn().ops[outerId];
    const Op& inner = fn().ops[innerId];
    const NestView around(fn(), outer);
    const std::vector<ValueId> old(outer.results.begin(), outer.results.end());
    struct Result {
      NestResult spec;
      ValueId yielded;
    };
    std::vector<Result> results;
    {
      const NestView in(fn(), inner);
      for (const NestPart& part : around.parts()) {
        const NestPart& of = in.parts()[fn().values[around.yields(part)[0]].index];
        results.push_back({under(*of.spec, around.axes()), in.yields(of)[0]});
      }
    }
    const RegionId body = inner.regions[0];
    takeIn(outer.regions[0], body);
    Dims axes = outer.dims;
    axes.insert(axes.end(), inner.dims.begin(), inner.dims.end());
    Builder b(m_, f_, region, inner.loc);
    NestBuilder made(b, body, std::move(axes));
    for (Result& r : results) made.add(std::move(r.spec), r.yielded);
    takeOver(fn(), made.finish(), old);
    changed = true;
  }
  /// What a result of the inner nest is with that many axes before its own.
  static NestResult under(NestResult r, size_t axes) {
    for (uint32_t& k : r.keep) k += static_cast<uint32_t>(axes);
    r.row += static_cast<uint32_t>(axes);
    const std::vector<uint32_t> outer = collecting(axes).keep;
    r.keep.insert(r.keep.begin(), outer.begin(), outer.end());
    return r;
  }
  /// Parameters, and what stands before the inner nest, go from the outer body into the inner one.
  void takeIn(RegionId from, RegionId into) {
    std::vector<ValueId>& params = fn().regions[into].params;
    std::vector<ValueId>& outer = fn().regions[from].params;
    params.insert(params.begin(), outer.begin(), outer.end());
    outer.clear();
    for (uint32_t k = 0; k < params.size(); ++k) {
      fn().values[params[k]].region = into;
      fn().values[params[k]].index = k;
    }
    std::vector<OpId>&ops = fn().regions[into].ops, &front = fn().regions[from].ops;
    ops.insert(ops.begin(), front.begin(), front.end() - 2);
    front.erase(front.begin(), front.end() - 2);
  }

  Module& m_;
  FunctionId f_;
};

} // namespace

bool flattenPerfectNests(Module& m) {
  require(m, {State::SumsUnordered});
  return changeBodies(m, [&](FunctionId f) {
    PerfectNestFlattener merger(m, f);
    merger.run(m.functions[f].body);
    return merger.changed;
  });
}

} // namespace melix::transforms

#include "transforms/accumulation/delinearise_accumulators.h"

#include "core/analysis/ranges.h"
#include "core/ir/nest.h"
#include "core/ir/uses.h"
#include "core/ir/walk.h"
#include "core/order/clone.h"
#include "transforms/accumulation/accumulation_sites.h"
#include "transforms/walks/for_each_function.h"
#include "transforms/walks/rewrite_region.h"
#include "types/dim_quotient.h"

#include <algorithm>
#include <optional>

namespace melix::transforms {

using namespace core;

namespace {

/// A place as quotient · by + remainder.
struct PlaceParts {
  ValueId quotient, remainder;
  DimId by;
};

/// How an axis of an accumulator is split.
struct SplitPlace {
  size_t axis;
  DimId quotients, by;
  std::vector<std::pair<OpId, PlaceParts>> adds;
};

class PlaceSplitter {
public:
  PlaceSplitter(Module& m, FunctionId f) : m_(m), f_(f), uses_(m, f), ranges_(m, f) {}

  bool changed = false;

  void run(RegionId region) {
    rewriteRegion(m_, f_, region, [&](OpId id) {
      for (RegionId inner : Regions(fn().ops[id].regions)) run(inner);
      if (fn().ops[id].kind != OpKind::Nest) return true;
      Builder b(m_, f_, region, fn().ops[id].loc);
      const std::vector<SplitResult> results = splitAll(id, b);
      fn().regions[region].ops.push_back(id);
      for (auto [made, result] : results) {
        const ValueId flat = b.one(Builder::simple(OpKind::Reshape, {made}), fn().typeOf(result));
        takeOver(fn(), fn().values[flat].def, std::span(&result, 1));
      }
      return false;
    });
  }

private:
  /// A result of the nest, and what its reshape takes the place of.
  using SplitResult = std::pair<ValueId, ValueId>;
  Function& fn() const { return m_.functions[f_]; }

  std::vector<SplitResult> splitAll(OpId nest, Builder& b) {
    std::vector<SplitResult> results;
    for (uint32_t k = 0; k < nestAccs(fn().ops[nest]); ++k)
      if (m_.types.kind(fn().typeOf(fn().ops[nest].operands[k])) == TypeKind::Array)
        if (const std::optional<SplitPlace> split = find(nest, k))
          results.push_back(write(nest, k, *split, b));
    return results;
  }

  // --- which

  std::optional<SplitPlace> find(OpId nest, uint32_t k) {
    std::vector<AccumulationSite> sites;
    if (!findAccumulationSites(fn(), uses_, nest, k, sites) || sites.empty()) return std::nullopt;
    const std::vector<DimId>& dims = m_.types[fn().typeOf(fn().ops[nest].operands[k])].dims;
    for (size_t axis = 0; axis < dims.size(); ++axis)
      if (std::optional<SplitPlace> split = find(sites, axis, dims[axis])) return split;
    return std::nullopt;
  }
  std::optional<SplitPlace> find(const std::vector<AccumulationSite>& sites, size_t axis, DimId extent) {
    SplitPlace out{axis, {}, {}, {}};
    for (const AccumulationSite& site : sites) {
      const std::optional<uint32_t> operand = indexAt(site.add, axis);
      const std::optional<PlaceParts> parts =
          operand ? partsOf(fn().ops[site.add].operands[*operand]) : std::nullopt;
      if (!parts || (out.by.valid() && out.by != parts->by)) return std::nullopt;
      out.by = parts->by;
      out.adds.emplace_back(site.add, *parts);
    }
    const std::optional<DimId> quotients = types::exactQuotient(m_.types.dims, extent, out.by);
    auto isIndex = [&](const auto& add) { return ranges_.isIndex(add.second.quotient, *quotients); };
    if (!quotients || !std::ranges::all_of(out.adds, isIndex)) return std::nullopt; // a product may wrap
    out.quotients = *quotients;
    return out;
  }
  /// Which operand of an add is the index of an axis.
  std::optional<uint32_t> indexAt(OpId add, size_t axis) const {
    const Path& path = fn().ops[add].as<Path>();
    if (axis >= path.size() || !std::ranges::all_of(path, [](const PathStep& s) {
          return s.kind == StepKind::Index || s.kind == StepKind::All;
        }))
      return std::nullopt;
    if (path[axis].kind != StepKind::Index) return std::nullopt;
    const auto before = std::count_if(path.begin(), path.begin() + static_cast<long>(axis),
                                      [](const PathStep& s) { return s.kind == StepKind::Index; });
    return static_cast<uint32_t>(2 + before);
  }
  /// By a size that is no number: of sums of a multiple of it and an axis as long.
  std::optional<PlaceParts> partsOf(ValueId place) const {
    const Op* sum = defOf(place, OpKind::Add);
    if (!sum) return std::nullopt;
    for (size_t k = 0; k < 2; ++k) {
      const std::optional<DimId> by = extentOf(sum->operands[k]);
      const Op* multiple = defOf(sum->operands[1 - k], OpKind::Mul);
      if (!by || m_.types.dims.asConstant(*by) || !multiple) continue;
      for (size_t i = 0; i < 2; ++i)
        if (const Op* size = defOf(multiple->operands[i], OpKind::DimValue); size && size->dims[0] == *by)
          return PlaceParts{multiple->operands[1 - i], sum->operands[k], *by};
    }
    return std::nullopt;
  }
  const Op* defOf(ValueId v, OpKind kind) const {
    const OpId def = fn().values[v].def;
    return def.valid() && fn().ops[def].kind == kind ? &fn().ops[def] : nullptr;
  }
  /// Of an axis of a nest.
  std::optional<DimId> extentOf(ValueId v) const {
    const std::optional<NestAxis> axis = axisOf(fn(), v);
    return axis ? std::optional(fn().ops[axis->nest].dims[axis->axis]) : std::nullopt;
  }

  // --- the accumulator of two axes

  SplitResult write(OpId nest, uint32_t k, const SplitPlace& split, Builder& b) {
    changed = true;
    const ValueId begun = fn().ops[nest].operands[k];
    const TypeId whole = fn().typeOf(begun), parted = part(whole, split);
    const ValueId reshaped = b.one(Builder::simple(OpKind::Reshape, {begun}), parted);
    uses_.enter(fn().values[reshaped].def, b.region);
    uses_.change(nest, [&](Op& op) { op.operands[k] = reshaped; });
    Op& op = fn().ops[nest];
    retype(fn().regions[op.regions[0]].params[op.dims.size() + k], m_.types.acc(parted));
    for (const auto& [add, parts] : split.adds) {
      const uint32_t operand = *indexAt(add, split.axis);
      uses_.change(add, [&](Op& at) {
        at.operands[operand] = parts.quotient;
        at.operands.insert(at.operands.begin() + operand + 1, parts.remainder);
        Path& path = at.as<Path>();
        path.insert(path.begin() + static_cast<long>(split.axis), path[split.axis]);
      });
    }
    const size_t result = op.results.size() - nestAccs(op) + k;
    const ValueId before = op.results[result];
    const ValueId made =
        fn().values.add(Value{parted, nest, {}, static_cast<uint32_t>(result), fn().values[before].hint});
    op.results[result] = made;
    return {made, before};
  }
  TypeId part(TypeId array, const SplitPlace& split) const {
    std::vector<DimId> dims = m_.types[array].dims;
    dims[split.axis] = split.quotients;
    dims.insert(dims.begin() + static_cast<long>(split.axis) + 1, split.by);
    return m_.types.array(m_.types.element(array), std::move(dims));
  }
  /// The accumulator and all that hands it on within the nest.
  void retype(ValueId v, TypeId type) {
    if (fn().typeOf(v) == type) return;
    fn().values[v].type = type;
    std::vector<Use> uses;
    uses_.forEach(v, [&](Use use) { uses.push_back(use); });
    for (Use use : uses) {
      const Op& op = fn().ops[use.op];
      if (op.kind == OpKind::AddAt) {
        retype(op.results[0], type);
      } else if (op.kind == OpKind::Nest) {
        const ValueId result = op.results[op.results.size() - nestAccs(op) + use.operand];
        retype(fn().regions[op.regions[0]].params[op.dims.size() + use.operand], type);
        retype(result, type);
      } else if (op.kind == OpKind::Yield) {
        const OpId around = fn().regions[uses_.regionOf(use.op)].parent;
        if (fn().ops[around].kind == OpKind::If) retype(fn().ops[around].results[use.operand], type);
      }
    }
  }

  Module& m_;
  const FunctionId f_;
  LiveUses uses_;
  Ranges ranges_; ///< of what ops determine by themselves
};

} // namespace

/// Quotients may be such places too.
bool delineariseAccumulators(Module& m) { return runWhileChanging<PlaceSplitter>(m); }

} // namespace melix::transforms

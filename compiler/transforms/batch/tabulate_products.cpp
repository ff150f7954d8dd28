#include "transforms/batch/tabulate_products.h"

#include "core/ir/walk.h"
#include "core/order/clone.h"
#include "core/order/verify.h"
#include "transforms/fusion/fusion.h"
#include "transforms/walks/distribute_nest.h"
#include "transforms/walks/for_each_function.h"

#include <algorithm>
#include <unordered_set>

namespace melix::transforms {

using namespace core;

namespace {

/// A product in a nest of the matrix and a row that the nest looks up.
struct LookedUp {
  OpId product;
  RegionId region; ///< in which it stands
  OpId read;       ///< of the row
};

/// The nests of one function.
class ProductTables {
public:
  ProductTables(Module& m, FunctionId f, const Effects& effects) : m_(m), f_(f), effects_(effects) {}

  bool changed = false;

  void run(RegionId region) {
    const std::vector<OpId> ops = std::exchange(fn().regions[region].ops, {});
    for (OpId id : ops) {
      if (fn().ops[id].kind == OpKind::Nest) {
        tabulate(region, id);
      } else {
        for (RegionId inner : Regions(fn().ops[id].regions)) run(inner);
      }
      fn().regions[region].ops.push_back(id);
    }
  }

private:
  Function& fn() const { return m_.functions[f_]; }

  /// Puts the tables of an outermost nest at the end of the region, where the nest comes next.
  void tabulate(RegionId region, OpId nest) {
    inside_.clear();
    regions_.clear();
    points_.clear();
    found_.clear();
    find(fn().ops[nest]);
    for (const LookedUp& each : found_) {
      Builder b(m_, f_, region, fn().ops[each.product].loc);
      readTable(each, makeTable(b, each));
    }
    changed |= !found_.empty();
  }

  /// Looks for products in the body of a nest or loop around them.
  void find(const Op& around) {
    const RegionId body = around.regions[0];
    const size_t outer = points_.size();
    if (around.kind == OpKind::Nest) points_.insert(points_.end(), around.dims.begin(), around.dims.end());
    regions_.push_back(body);
    const std::vector<ValueId>& params = fn().regions[body].params;
    inside_.insert(params.begin(), params.end());
    for (OpId id : fn().regions[body].ops) {
      const Op& op = fn().ops[id];
      inside_.insert(op.results.begin(), op.results.end());
      if (op.kind != OpKind::Nest && op.kind != OpKind::For) continue;
      const OpId read = op.kind == OpKind::Nest ? readOfRow(id) : OpId();
      if (read.valid())
        found_.push_back({id, body, read});
      else
        find(op);
    }
    regions_.pop_back();
    points_.resize(outer);
  }

  /// The read of the row if the op is such a product, and there are as many points as rows.
  OpId readOfRow(OpId product) const {
    if (nestAccs(fn().ops[product]) > 0 || !isRowTimesMatrix(m_, fn(), product) ||
        effects_.ofOp(fn(), product).any() || !std::ranges::all_of(regions_, [&](RegionId each) {
          return knowsSizes(m_, fn(), each, product, {});
        }))
      return {};
    OpId read;
    for (ValueId v : usedBy(product)) {
      if (!inside_.contains(v)) continue;
      const OpId def = fn().values[v].def;
      if (!def.valid() || read.valid() || !isLookup(fn().ops[def])) return {};
      read = def;
    }
    return read.valid() && hasPointsFor(extentsOf(fn().ops[read])) ? read : OpId();
  }

  /// Values from outside of an op, each once.
  std::vector<ValueId> usedBy(OpId op) const {
    std::unordered_set<ValueId> own;
    std::vector<ValueId> out(fn().ops[op].operands.begin(), fn().ops[op].operands.end());
    for (RegionId region : Regions(fn().ops[op].regions)) {
      auto enter = [&](RegionId r) {
        own.insert(fn().regions[r].params.begin(), fn().regions[r].params.end());
      };
      enter(region);
      forEachOp(fn(), region, [&](OpId id) {
        const Op& each = fn().ops[id];
        own.insert(each.results.begin(), each.results.end());
        out.insert(out.end(), each.operands.begin(), each.operands.end());
        for (RegionId inner : each.regions) enter(inner);
      });
    }
    std::erase_if(out, [&](ValueId v) { return !own.insert(v).second; });
    return out;
  }

  /// Whether an op reads a row of an array that is made before the nest, at an index that is in memory.
  bool isLookup(const Op& op) const {
    if (op.kind != OpKind::Get || inside_.contains(op.operands[0]) ||
        m_.types.kind(fn().typeOf(op.results[0])) != TypeKind::Array)
      return false;
    auto isIndex = [](const PathStep& step) { return step.kind == StepKind::Index; };
    auto isRead = [&](ValueId v) {
      const OpId def = fn().values[v].def;
      return def.valid() && fn().ops[def].kind == OpKind::Get;
    };
    const std::span<const ValueId> indices = std::span(op.operands).subspan(1);
    return std::ranges::all_of(op.as<Path>(), isIndex) && std::ranges::any_of(indices, isRead);
  }

  /// The extents of the axes that a lookup has indices for.
  Dims extentsOf(const Op& read) const {
    const Dims& all = m_.types[fn().typeOf(read.operands[0])].dims;
    return {all.begin(), all.begin() + static_cast<ptrdiff_t>(read.operands.size() - 1)};
  }

  /// Whether the nests around have at least so many points, as far as their axes are known before.
  bool hasPointsFor(const Dims& extents) const {
    Dims rest = points_;
    const bool isAmong = std::ranges::all_of(extents, [&](DimId each) {
      const auto at = std::ranges::find(rest, each);
      if (at == rest.end()) return false;
      rest.erase(at);
      return true;
    });
    if (isAmong) return true;
    const std::optional<int64_t> rows = m_.types.dims.asConstant(m_.types.dims.product(extents)),
                                 points = m_.types.dims.asConstant(m_.types.dims.product(points_));
    return rows && points && *rows <= *points;
  }

  OpId makeTable(Builder& b, const LookedUp& each) const {
    const Op read = fn().ops[each.read];
    NestBuilder table(b);
    const std::vector<ValueId> axes = table.openAxes(extentsOf(read));
    Builder in = b.in(table.body());
    Cloner copy(m_, f_, f_);
    copy.values[read.results[0]] = in.get(read.operands[0], read.as<Path>(), axes);
    const Results made = fn().ops[copy.op(each.product, in)].results;
    for (ValueId v : made) table.collect(v);
    return table.finish();
  }

  /// Reads of the table stand in the place of the product.
  void readTable(const LookedUp& each, OpId table) {
    const std::vector<ValueId> tables(fn().ops[table].results.begin(), fn().ops[table].results.end());
    const Op read = fn().ops[each.read];
    const std::vector<OpId> ops = std::exchange(fn().regions[each.region].ops, {});
    Builder b(m_, f_, each.region, fn().ops[each.product].loc);
    for (OpId id : ops) {
      if (id != each.product) {
        fn().regions[each.region].ops.push_back(id);
        continue;
      }
      const Results results = fn().ops[id].results;
      for (size_t k = 0; k < tables.size(); ++k) {
        const ValueId row = b.get(tables[k], read.as<Path>(), std::span(read.operands).subspan(1));
        takeOver(fn(), fn().values[row].def, std::span(&results[k], 1));
      }
    }
  }

  Module& m_;
  const FunctionId f_;
  const Effects& effects_;
  // Of the outermost nest that is looked at:
  std::unordered_set<ValueId> inside_; ///< the values that it makes, as far as the walk has come
  std::vector<RegionId> regions_;      ///< around the place where the walk is
  Dims points_;                        ///< the axes around it
  std::vector<LookedUp> found_;
};

} // namespace

bool tabulateProducts(Module& m) {
  const Effects effects(m);
  return changeBodies(m, [&](FunctionId f) {
    ProductTables tables(m, f, effects);
    tables.run(m.functions[f].body);
    return tables.changed;
  });
}

} // namespace melix::transforms

#include "transforms/batch/tabulate_products.h"

#include "core/ir/call_graph.h"
#include "core/ir/walk.h"
#include "core/order/clone.h"
#include "core/order/verify.h"
#include "support/function_ref.h"
#include "transforms/batch/lookup_counts.h"
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
  RegionId region;          ///< in which it stands
  OpId read;                ///< of the row
  Dims points;              ///< of the nests around; none if these are known to be enough
  std::vector<OpId> around; ///< the nests and loops in which the row is looked up
};

/// The nests of one function.
class ProductTables {
public:
  ProductTables(Module& m, FunctionId f, const Effects& effects, bool isDifferentiated, BatchingLog* log)
      : m_(m), f_(f), effects_(effects), isDifferentiated_(isDifferentiated), log_(log) {}

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
    around_.clear();
    points_.clear();
    found_.clear();
    find(nest);
    for (const LookedUp& each : found_) {
      Builder b(m_, f_, region, fn().ops[each.product].loc);
      std::optional<ValueId> counts;
      if (isDifferentiated_) {
        counts = lookupCounts(b, each.around, each.read, effects_);
        if (!counts) continue;
      }
      changed = true;
      ValueId isWorth;
      if (!each.points.empty()) {
        const DimId rows = m_.types.dims.product(extentsOf(fn().ops[each.read]));
        isWorth =
            b.compare(ops::CmpKind::Le, b.dimValue(rows), b.dimValue(m_.types.dims.product(each.points)));
      }
      if (log_) log_->add({BatchingKind::Table, b.loc});
      readTables(each, isWorth, makeTables(b, each, isWorth, counts));
    }
  }

  /// Looks for products in the body of a nest or loop around them.
  void find(OpId id) {
    const Op& around = fn().ops[id];
    const RegionId body = around.regions[0];
    const size_t outer = points_.size();
    if (around.kind == OpKind::Nest && knowsSizesOf(id))
      points_.insert(points_.end(), around.dims.begin(), around.dims.end());
    regions_.push_back(body);
    around_.push_back(id);
    const std::vector<ValueId>& params = fn().regions[body].params;
    inside_.insert(params.begin(), params.end());
    for (OpId each : fn().regions[body].ops) {
      const Op& op = fn().ops[each];
      inside_.insert(op.results.begin(), op.results.end());
      if (op.kind != OpKind::Nest && op.kind != OpKind::For) continue;
      if (op.kind == OpKind::For || !enter(each, body)) find(each);
    }
    regions_.pop_back();
    around_.pop_back();
    points_.resize(outer);
  }

  bool knowsSizesOf(OpId op) const {
    return std::ranges::all_of(regions_, [&](RegionId each) { return knowsSizes(m_, fn(), each, op, {}); });
  }

  /// Enters the op of a region if it is such a product, and there may be as many points as rows.
  bool enter(OpId product, RegionId region) {
    if (nestAccs(fn().ops[product]) > 0 || !isRowTimesMatrix(m_, fn(), product) ||
        effects_.ofOp(fn(), product).any() || !knowsSizesOf(product))
      return false;
    OpId read;
    for (ValueId v : usedBy(product)) {
      if (!inside_.contains(v)) continue;
      const OpId def = fn().values[v].def;
      if (!def.valid() || read.valid() || !isLookup(fn().ops[def])) return false;
      read = def;
    }
    if (!read.valid() || points_.empty()) return false;
    const std::optional<bool> isEnough = hasPointsFor(extentsOf(fn().ops[read]));
    if (isEnough.value_or(true))
      found_.push_back({product, region, read, isEnough ? Dims() : points_, aroundOf(read)});
    return isEnough.value_or(true);
  }

  /// The ops around an op that the walk has passed.
  std::vector<OpId> aroundOf(OpId op) const {
    size_t depth = regions_.size();
    while (depth > 1 && std::ranges::count(fn().regions[regions_[depth - 1]].ops, op) == 0) --depth;
    return {around_.begin(), around_.begin() + static_cast<ptrdiff_t>(depth)};
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

  /// Whether the nests around have at least so many points, if that is known.
  std::optional<bool> hasPointsFor(const Dims& extents) const {
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
    return rows && points ? std::optional(*rows <= *points) : std::nullopt;
  }

  using Make = FunctionRef<std::vector<ValueId>(Builder&)>;
  /// Values that are made in one way if a condition holds, or if there is none, else in the other.
  std::vector<ValueId> either(Builder& b, ValueId condition, Make some, Make none) const {
    if (!condition.valid()) return some(b);
    Op branch = Builder::simple(OpKind::If, {condition});
    std::vector<TypeId> types;
    for (Make make : {some, none}) {
      Builder arm = b.in(b.newRegion());
      const std::vector<ValueId> values = make(arm);
      types.clear();
      for (ValueId v : values) types.push_back(b.typeOf(v));
      arm.yield(Operands(values.begin(), values.end()));
      branch.regions.push_back(arm.region);
    }
    const OpId made = b.append(std::move(branch), types);
    return {fn().ops[made].results.begin(), fn().ops[made].results.end()};
  }

  /// A row of the table's nest. One that is not looked up is 0 where derivatives are taken: the cotangent of
  /// the matrix adds its products with cotangents that are 0, and it may hold infinities.
  ValueId rowOf(Builder& in, const Op& read, std::span<const ValueId> axes,
                std::optional<ValueId> counts) const {
    if (!counts) return in.get(read.operands[0], read.as<Path>(), axes);
    const ValueId isUsed =
        in.compare(ops::CmpKind::Gt, in.get(*counts, read.as<Path>(), axes), in.integer(0));
    auto row = [&](Builder& at) { return std::vector{at.get(read.operands[0], read.as<Path>(), axes)}; };
    auto zero = [&](Builder& at) { return std::vector{at.zero(fn().typeOf(read.results[0]))}; };
    return either(in, isUsed, row, zero)[0];
  }

  std::vector<ValueId> makeTables(Builder& b, const LookedUp& each, ValueId isWorth,
                                  std::optional<ValueId> counts) const {
    const Op read = fn().ops[each.read];
    std::vector<TypeId> types;
    auto fill = [&](Builder& at) {
      NestBuilder table(at);
      const std::vector<ValueId> axes = table.openAxes(extentsOf(read));
      Builder in = at.in(table.body());
      Cloner copy(m_, f_, f_);
      copy.values[read.results[0]] = rowOf(in, read, axes, counts);
      const Results made = fn().ops[copy.op(each.product, in)].results;
      for (ValueId v : made) table.collect(v);
      const OpId id = table.finish();
      for (ValueId v : Results(fn().ops[id].results)) types.push_back(at.typeOf(v));
      return std::vector<ValueId>(fn().ops[id].results.begin(), fn().ops[id].results.end());
    };
    auto leave = [&](Builder& at) {
      std::vector<ValueId> zeros;
      for (TypeId type : types) zeros.push_back(at.zero(type));
      return zeros;
    };
    return either(b, isWorth, fill, leave);
  }

  /// Reads of the tables stand in the place of the product.
  void readTables(const LookedUp& each, ValueId isWorth, const std::vector<ValueId>& tables) const {
    const Op read = fn().ops[each.read];
    const Results results = fn().ops[each.product].results;
    auto lookUp = [&](Builder& at) {
      std::vector<ValueId> rows;
      for (ValueId table : tables)
        rows.push_back(at.get(table, read.as<Path>(), std::span(read.operands).subspan(1)));
      return rows;
    };
    auto compute = [&](Builder& at) {
      std::vector<ValueId> own;
      for (uint32_t k = 0; k < results.size(); ++k)
        own.push_back(fn().values.add(Value{fn().typeOf(results[k]), each.product, {}, k, {}}));
      fn().ops[each.product].results.assign(own.begin(), own.end());
      fn().regions[at.region].ops.push_back(each.product);
      return own;
    };
    const std::vector<OpId> ops = std::exchange(fn().regions[each.region].ops, {});
    for (OpId id : ops) {
      if (id != each.product) {
        fn().regions[each.region].ops.push_back(id);
        continue;
      }
      Builder b(m_, f_, each.region, fn().ops[id].loc);
      const std::vector<ValueId> rows = either(b, isWorth, lookUp, compute);
      for (size_t k = 0; k < rows.size(); ++k) {
        const Value made = fn().values[rows[k]];
        fn().values[results[k]].def = made.def;
        fn().values[results[k]].index = made.index;
        fn().ops[made.def].results[made.index] = results[k];
      }
    }
  }

  Module& m_;
  const FunctionId f_;
  const Effects& effects_;
  const bool isDifferentiated_;
  BatchingLog* const log_;
  // Of the outermost nest that is looked at:
  std::unordered_set<ValueId> inside_; ///< the values that it makes, as far as the walk has come
  std::vector<RegionId> regions_;      ///< around the place where the walk is
  std::vector<OpId> around_;           ///< the ops of these regions
  Dims points_;                        ///< the axes around it
  std::vector<LookedUp> found_;
};

} // namespace

/// By function: whether a derivative may go through it.
static std::vector<bool> differentiated(const Module& m) {
  std::vector<bool> out(m.functions.size());
  std::vector<FunctionId> open;
  const auto reach = [&](FunctionId f) {
    if (!out[f.index]) open.push_back(f);
    out[f.index] = true;
  };
  for (const Function& f : m.functions)
    if (f.body.valid())
      forEachOp(f, [&](OpId op) {
        if (const auto* d = std::get_if<DerivativeAttr>(&f.ops[op].attr)) reach(d->callee);
      });
  const CallGraph graph(m);
  while (!open.empty()) {
    const FunctionId f = open.back();
    open.pop_back();
    for (const FunctionId callee : graph.callees(f)) reach(callee);
  }
  return out;
}

bool tabulateProducts(Module& m, BatchingLog* log) {
  const Effects effects(m);
  const std::vector<bool> isDifferentiated = differentiated(m);
  return changeBodies(m, [&](FunctionId f) {
    ProductTables tables(m, f, effects, isDifferentiated[f.index], log);
    tables.run(m.functions[f].body);
    return tables.changed;
  });
}

} // namespace melix::transforms

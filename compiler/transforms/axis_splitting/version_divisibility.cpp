#include "transforms/axis_splitting/version_divisibility.h"

#include "core/ir/place.h"
#include "core/ir/walk.h"
#include "transforms/axis_splitting/divided_axes.h"
#include "types/dim_quotient.h"

#include <algorithm>
#include <unordered_set>

namespace melix::transforms {

using namespace core;
using ops::CmpKind;

namespace {

class DivisorFinder {
public:
  DivisorFinder(Module& m, FunctionId f, OpId nest, Ranges& ranges, DivisorNames& names)
      : m_(m), f_(f), nest_(nest), ranges_(ranges), names_(names) {
    look(nest);
    forEachOp(fn(), body(), [&](OpId id) { look(id); });
  }

  Divisions divisions() {
    Divisions out;
    for (OpId id : nests_)
      for (uint32_t axis = 0; axis < fn().ops[id].dims.size(); ++axis)
        if (isDefinedBefore(fn().ops[id].dims[axis])) addAxis(id, axis, out);
    if (!out.axes.empty()) out.named = named();
    return out;
  }

private:
  const Function& fn() const { return m_.functions[f_]; }
  RegionId body() const { return fn().ops[nest_].regions[0]; }

  void addAxis(OpId nest, uint32_t axis, Divisions& to) {
    const DimId extent = fn().ops[nest].dims[axis];
    const std::vector<Divided> divided = dividedBy(nest, axis, extent);
    const std::optional<DimId> by = largest(divided);
    const std::optional<int64_t> least = by ? DividedAxis(fn(), nest, axis).leastSize() : std::nullopt;
    if (!least || m_.types.dims.asConstant(*by).value_or(*least) < *least) return;
    const bool isWhole = !m_.types.dims.asSymbol(extent);
    if (isWhole && reshapes_) return;
    to.axes.push_back({extent, *by, timesOf(divided, *by, extent), *least});
    to.hasWhole |= isWhole;
  }

  void look(OpId id) {
    const Op& op = fn().ops[id];
    if (op.kind == OpKind::Nest) nests_.push_back(id);
    reshapes_ |= op.kind == OpKind::Reshape;
    if (id != nest_) inside_.insert(id);
    sizes_.insert(op.resultDims.begin(), op.resultDims.end());
    for (RegionId r : op.regions)
      sizes_.insert(fn().regions[r].dimParams.begin(), fn().regions[r].dimParams.end());
  }

  /// What the axis, or a quotient of it, is divided by: by what the axis is.
  struct Divided {
    OpId op;
    DimId by;
  };
  std::vector<Divided> dividedBy(OpId nest, uint32_t axis, DimId extent) {
    const RegionId body = fn().ops[nest].regions[0];
    std::vector<Divided> out;
    std::unordered_map<ValueId, DimId> quotients = {
        {fn().regions[body].params[axis], m_.types.dims.constant(1)}};
    forEachOp(fn(), body, [&](OpId id) {
      const Op& op = fn().ops[id];
      if (op.kind != OpKind::IDiv && op.kind != OpKind::IRem) return;
      const auto whole = quotients.find(op.operands[0]);
      if (whole == quotients.end()) return;
      const std::optional<DimId> by = divisor(op.operands[1], extent);
      if (!by) return;
      out.push_back({id, m_.types.dims.mul(whole->second, *by)});
      if (op.kind == OpKind::IDiv) quotients[op.results[0]] = out.back().by;
    });
    return out;
  }
  /// The one that is a multiple of most of them.
  std::optional<DimId> largest(const std::vector<Divided>& divided) const {
    std::optional<DimId> best;
    long most = 0;
    for (const Divided& each : divided) {
      const long divide = std::ranges::count_if(divided, [&](const Divided& d) {
        return types::exactQuotient(m_.types.dims, each.by, d.by).has_value();
      });
      if (divide <= most) continue;
      best = each.by;
      most = divide;
    }
    return best;
  }
  /// The extent of an axis that a quotient is an index of.
  std::optional<DimId> timesOf(const std::vector<Divided>& divided, DimId by, DimId extent) const {
    std::unordered_set<ValueId> quotients;
    for (const Divided& each : divided)
      if (each.by == by && fn().ops[each.op].kind == OpKind::IDiv)
        quotients.insert(fn().ops[each.op].results[0]);
    std::optional<DimId> out;
    forEachOp(fn(), body(), [&](OpId id) {
      const Op& op = fn().ops[id];
      if (op.kind != OpKind::Get && op.kind != OpKind::AddAt) return;
      const Place place = placeOf(op);
      TypeId root = fn().typeOf(op.operands[0]);
      if (m_.types.kind(root) == TypeKind::Acc) root = m_.types[root].parts[0];
      size_t index = 0;
      for (size_t k = 0; k < leadingAxes(m_.types, root, place.path); ++k) {
        if (!takesIndex(place.path[k].kind)) continue;
        const ValueId v = place.indices[index++];
        const DimId axis = m_.types[root].dims[k];
        if (place.path[k].kind == StepKind::Index && quotients.contains(v) && isDefinedBefore(axis) &&
            !mentions(axis, extent))
          out = axis;
      }
    });
    return out;
  }

  /// Whether the symbol that an extent is stands in a size.
  bool mentions(DimId size, DimId extent) const {
    const std::optional<DimSym> symbol = m_.types.dims.asSymbol(extent);
    return symbol && m_.types.dims.mentions(size, *symbol);
  }
  /// Of one term: a constant, sizes beside the extent, or a name. Of an extent that is no symbol a name.
  std::optional<DimId> divisor(ValueId v, DimId extent) {
    const std::optional<DimId> size = ranges_.sizeOf(v);
    if (size && isDefinedBefore(*size) && types::exactQuotient(m_.types.dims, extent, *size))
      return std::nullopt;
    const bool isSymbol = m_.types.dims.asSymbol(extent).has_value();
    if (size && isSymbol && isDefinedBefore(*size) && isPlain(*size, extent)) return size;
    const std::optional<Divisor> number = numberOf(v);
    if (!number) return std::nullopt;
    auto [name, isNew] = names_.try_emplace(*number);
    if (isNew) name->second = m_.types.dims.newSym({"divisor", types::DimSymKind::Unknown, 1, {}});
    return m_.types.dims.symbol(name->second);
  }
  bool isPlain(DimId size, DimId extent) const {
    const types::DimStore& dims = m_.types.dims;
    if (const std::optional<int64_t> by = dims.asConstant(size)) return *by > 1;
    return dims.terms(size).size() == 1 && dims.terms(size)[0].coefficient > 0 && !dims.hasOpaqueAtom(size) &&
           !mentions(size, extent);
  }
  std::optional<Divisor> numberOf(ValueId v) {
    if (isOutside(v)) return Divisor{v, {}};
    const std::optional<DimId> size = ranges_.sizeOf(v);
    return size && isDefinedBefore(*size) && !m_.types.dims.asConstant(*size)
               ? std::optional(Divisor{{}, size})
               : std::nullopt;
  }
  bool isOutside(ValueId v) const {
    const Value& value = fn().values[v];
    if (value.def.valid()) return !inside_.contains(value.def);
    const OpId around = fn().regions[value.region].parent;
    return around != nest_ && !inside_.contains(around);
  }
  bool isDefinedBefore(DimId size) const {
    std::vector<DimSym> symbols;
    m_.types.dims.collectSymbols(size, symbols);
    return std::ranges::none_of(symbols, [this](DimSym s) { return sizes_.contains(s); });
  }

  /// Where numbers with a name divide, and are asked whether they may.
  std::vector<Divisions::Named> named() {
    std::vector<Divisions::Named> out;
    forEachOp(fn(), body(), [&](OpId id) {
      const Op& op = fn().ops[id];
      const bool divides = op.kind == OpKind::IDiv || op.kind == OpKind::IRem;
      if (!divides && (op.kind != OpKind::Check || op.operands.empty())) return;
      const uint32_t operand = divides ? 1 : 0;
      const std::optional<Divisor> number = numberOf(op.operands[operand]);
      if (number && names_.contains(*number)) out.push_back({id, operand, *number});
    });
    return out;
  }

  Module& m_;
  const FunctionId f_;
  const OpId nest_;
  Ranges& ranges_;
  DivisorNames& names_;
  std::vector<OpId> nests_;
  std::unordered_set<OpId> inside_;
  std::unordered_set<DimSym> sizes_; ///< that are determined inside
  bool reshapes_ = false;
};

} // namespace

Divisions divisionsOf(Module& m, FunctionId f, OpId nest, Ranges& ranges, DivisorNames& names) {
  return addsUp(m.functions[f], nest) ? DivisorFinder(m, f, nest, ranges, names).divisions() : Divisions();
}

DivisionWriter::DivisionWriter(Module& m, const DivisorNames& names, const std::vector<Divisions>& all)
    : m_(m) {
  for (const auto& [divisor, name] : names) divisors_[name] = divisor;
  for (const Divisions& divisions : all) {
    for (const Divisions::Axis& axis : divisions.axes) {
      auto known = std::ranges::find(axes_, axis.extent, &Divisions::Axis::extent);
      if (known == axes_.end())
        axes_.push_back(axis);
      else if (axis.by != known->by && types::exactQuotient(m.types.dims, axis.by, known->by))
        *known = axis;
      else if (axis.by == known->by && !known->times)
        known->times = axis.times;
    }
    named_.insert(named_.end(), divisions.named.begin(), divisions.named.end());
  }
  // What is a product itself is a factor of no other: of two such the first one counts.
  auto isFactor = [&](const Divisions::Axis& of, const Divisions::Axis& axis) {
    const std::optional<DimSym> extent = m.types.dims.asSymbol(axis.extent);
    return extent &&
           (m.types.dims.mentions(of.by, *extent) || (of.times && m.types.dims.mentions(*of.times, *extent)));
  };
  std::vector<Divisions::Axis> distinct;
  for (const Divisions::Axis& axis : axes_)
    if (std::ranges::none_of(distinct, [&](const Divisions::Axis& other) {
          return isFactor(axis, other) || isFactor(other, axis);
        }))
      distinct.push_back(axis);
  axes_ = std::move(distinct);
}

std::vector<DivisionWriter::Factor> DivisionWriter::factorsOf(DimId by) const {
  types::DimStore& dims = m_.types.dims;
  const types::DimTerm term = dims.terms(by)[0];
  std::vector<Factor> out;
  if (term.coefficient != 1) out.push_back({dims.constant(term.coefficient), nullptr});
  for (types::DimAtomId atom : term.factors) {
    const DimSym symbol = dims.atom(atom).symbol;
    const auto name = divisors_.find(symbol);
    out.push_back({dims.symbol(symbol), name == divisors_.end() ? nullptr : &name->second});
  }
  return out;
}

ValueId DivisionWriter::number(const Divisor& divisor, Builder& b) {
  return divisor.size ? b.dimValue(*divisor.size) : divisor.number;
}
ValueId DivisionWriter::number(const Factor& factor, Builder& b) const {
  return factor.divisor ? number(*factor.divisor, b) : b.dimValue(factor.size);
}

ValueId DivisionWriter::holds(Builder& b) const { return holds(b, axes_); }

ValueId DivisionWriter::holds(Builder& b, std::span<const Divisions::Axis> axes) const {
  if (axes.empty()) return b.boolean(true);
  return holds(b, b.dimValue(axes[0].extent), factorsOf(axes[0].by), axes);
}

/// By one after another, so that no product wraps.
ValueId DivisionWriter::holds(Builder& b, ValueId whole, std::span<const Factor> by,
                              std::span<const Divisions::Axis> axes) const {
  if (by.empty() && axes[0].times)
    return andThen(b, b.compare(CmpKind::Eq, whole, b.dimValue(*axes[0].times)),
                   [&](Builder& in) { return holds(in, axes.subspan(1)); });
  if (by.empty()) return holds(b, axes.subspan(1));
  const ValueId divisor = number(by[0], b);
  const bool isLast = by.size() == 1 && !m_.types.dims.asConstant(by[0].size);
  const ValueId least = b.integer(isLast ? axes[0].least : 1);
  return andThen(b, b.compare(CmpKind::Ge, divisor, least), [&](Builder& positive) {
    const ValueId rest = positive.binary(OpKind::IRem, whole, divisor);
    return andThen(positive, positive.compare(CmpKind::Eq, rest, positive.integer(0)), [&](Builder& in) {
      return holds(in, in.binary(OpKind::IDiv, whole, divisor), by.subspan(1), axes);
    });
  });
}

void DivisionWriter::enter(Builder& arm, Cloner& copy, std::span<const OpId> ops) {
  types::DimStore& dims = m_.types.dims;
  for (const Divisions::Axis& axis : axes_) {
    ValueId quotient = arm.dimValue(axis.extent);
    DimId by = dims.constant(1);
    for (const Factor& factor : factorsOf(axis.by)) {
      const ValueId divisor = number(factor, arm);
      DimId size = factor.size;
      if (factor.divisor) {
        auto [known, isNew] = here_.try_emplace(*factor.divisor);
        if (isNew) {
          const DimSym name = arm.bindDim(divisor, "divisor");
          dims.info(name).lowerBound = 1;
          known->second = dims.symbol(name);
        }
        size = known->second;
      }
      quotient = arm.binary(OpKind::IDiv, quotient, divisor);
      by = dims.mul(by, size);
    }
    const DimId times = axis.times ? *axis.times : dims.symbol(arm.bindDim(quotient, "quotient"));
    if (const std::optional<DimSym> symbol = dims.asSymbol(axis.extent))
      copy.setDim(*symbol, dims.mul(times, by));
    else
      copy.extents[axis.extent] = dims.mul(times, by);
  }
  cast(arm, copy, ops);
}

void DivisionWriter::cast(Builder& arm, Cloner& copy, std::span<const OpId> ops) const {
  const Function& f = arm.fn();
  std::unordered_set<OpId> inside;
  auto each = [&](const auto& visit) {
    for (OpId id : ops) {
      visit(id);
      for (RegionId region : f.ops[id].regions) forEachOp(f, region, visit);
    }
  };
  each([&](OpId id) { inside.insert(id); });
  std::vector<ValueId> used;
  each([&](OpId id) { used.insert(used.end(), f.ops[id].operands.begin(), f.ops[id].operands.end()); });
  for (ValueId v : used) {
    const Value value = f.values[v];
    const bool isOutside =
        value.def.valid() ? !inside.contains(value.def) : !inside.contains(f.regions[value.region].parent);
    if (!isOutside || copy.values.contains(v)) continue;
    if (value.def.valid() && f.ops[value.def].kind == OpKind::DimValue) {
      const DimId before = f.ops[value.def].dims[0], now = copy.dim(before);
      if (now != before) copy.values[v] = arm.dimValue(now);
    } else if (const TypeId type = copy.type(value.type); type != value.type)
      copy.values[v] = arm.castDims(v, type);
  }
}

std::vector<std::pair<uint32_t, ValueId>> DivisionWriter::renamed(OpId id, Builder& b) const {
  std::vector<std::pair<uint32_t, ValueId>> out;
  for (const Divisions::Named& use : named_)
    if (const auto name = here_.find(use.divisor); use.op == id && name != here_.end())
      out.emplace_back(use.operand, b.dimValue(name->second));
  return out;
}

ValueId andThen(Builder& b, ValueId first, FunctionRef<ValueId(Builder&)> then) {
  Builder yes = b.in(b.newRegion()), no = b.in(b.newRegion());
  yes.yield({then(yes)});
  no.yield({no.boolean(false)});
  Op branch = Builder::simple(OpKind::If, {first});
  branch.regions = {yes.region, no.region};
  return b.one(std::move(branch), b.module.types.boolean());
}

} // namespace melix::transforms

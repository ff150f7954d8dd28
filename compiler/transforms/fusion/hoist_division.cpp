#include "transforms/fusion/hoist_division.h"

#include "core/analysis/sizes.h"
#include "core/ir/nest.h"
#include "core/ir/uses.h"
#include "core/ir/walk.h"
#include "core/order/clone.h"
#include "transforms/walks/dce.h"
#include "transforms/walks/for_each_function.h"

#include <algorithm>
#include <array>

namespace melix::transforms {

using namespace core;

namespace {

constexpr int mostDivisorOps = 8; ///< ops of a divisor

class Divider {
public:
  Divider(Module& m, FunctionId id) : m_(m), id_(id), f_(m.functions[id]), uses_(m, id) {}

  bool run() {
    region(f_.body);
    return changed_;
  }

private:
  void region(RegionId r) {
    const std::vector<OpId> ops = f_.regions[r].ops;
    for (OpId id : ops) {
      for (RegionId inner : std::vector(f_.ops[id].regions.begin(), f_.ops[id].regions.end())) region(inner);
      if (f_.ops[id].kind == OpKind::Nest) nest(id, r);
    }
  }
  void nest(OpId id, RegionId home) {
    std::vector<std::pair<ValueId, size_t>> collected; // and which of the yields it is made of
    const NestView view(f_, f_.ops[id]);
    if (view.accs() > 0) return;
    for (const NestPart& part : view.parts())
      if (part.spec->kind == NestResultKind::Collect)
        collected.emplace_back(view.results(part)[0], part.yields.first);
    for (auto [array, yield] : collected) {
      const std::optional<Readers> readers = readersOf(array, id, home);
      const std::optional<Place> made = readers ? placeOf(id, yield) : std::nullopt;
      if (made) divide(id, home, *readers, *made);
    }
  }

  // --- who reads
  // -----------------------------------------------------------------------------------------------------

  struct Readers {
    ValueId divisor; ///< as one of them has it
    std::vector<OpId> gets;
  };

  std::optional<Readers> readersOf(ValueId array, OpId nest, RegionId home) const {
    Readers out;
    std::string divisor;
    bool areRead = true, runsOverAll = false;
    uses_.forEach(array, [&](Use use) {
      const ValueId by = areRead && use.operand == 0 ? divisorOf(use.op) : ValueId();
      const std::optional<std::string> text =
          by.valid() ? textOf(by, nest, home, mostDivisorOps) : std::nullopt;
      areRead = text && (out.gets.empty() || *text == divisor);
      if (!areRead) return;
      divisor = *text;
      out.divisor = by;
      out.gets.push_back(use.op);
      runsOverAll |= readsAll(use.op, f_.typeOf(array));
    });
    return areRead && runsOverAll ? std::optional(out) : std::nullopt;
  }
  /// By what an element is divided that an op reads, and that nobody else looks at.
  ValueId divisorOf(OpId id) const {
    const Op& get = f_.ops[id];
    if (get.kind != OpKind::Get || !isWide(f_.typeOf(get.results[0])) || uses_.count(get.results[0]) != 1)
      return {};
    const OpId quotient = quotientOf(id);
    const Op& op = f_.ops[quotient];
    return op.kind == OpKind::Div && op.operands[0] == get.results[0] ? op.operands[1] : ValueId();
  }
  OpId quotientOf(OpId get) const {
    OpId out;
    uses_.forEach(f_.ops[get].results[0], [&](Use use) { out = use.op; });
    return out;
  }
  bool isWide(TypeId type) const {
    const TypeKind kind = m_.types.kind(type);
    return kind == TypeKind::F32 || kind == TypeKind::F64;
  }
  /// Whether the indices are axes, each as long as the array's own.
  bool readsAll(OpId id, TypeId array) const {
    const Op& get = f_.ops[id];
    const std::vector<DimId>& extents = m_.types[array].dims;
    if (get.operands.size() != extents.size() + 1) return false;
    for (size_t k = 0; k < extents.size(); ++k) {
      const Value& index = f_.values[get.operands[k + 1]];
      const OpId around = index.region.valid() ? f_.regions[index.region].parent : OpId();
      if (!around.valid() || f_.ops[around].kind != OpKind::Nest) return false;
      const Dims& axes = f_.ops[around].dims;
      if (index.index >= axes.size() || axes[index.index] != extents[k]) return false;
      for (size_t other = 0; other < k; ++other)
        if (get.operands[other + 1] == get.operands[k + 1]) return false;
    }
    return true;
  }

  // --- the divisor
  // -----------------------------------------------------------------------------------------------------

  /// A number as the ops that make it of what is there before the nest; the same text is the same
  /// number.
  std::optional<std::string> textOf(ValueId v, OpId nest, RegionId home, int depth) const {
    if (isThere(v, nest, home)) return "%" + std::to_string(v.index);
    const OpId def = f_.values[v].def;
    if (!def.valid() || depth == 0) return std::nullopt;
    const Op& op = f_.ops[def];
    std::string out = std::to_string(static_cast<int>(op.kind)) + ":" + std::to_string(f_.typeOf(v).index);
    switch (op.kind) {
    case OpKind::Const: return out + "=" + std::to_string(op.as<Constant>().bits);
    case OpKind::DimValue:
      if (!areKnown(sizesOf(m_, f_, op), nest, home)) return std::nullopt;
      return out + "=" + std::to_string(op.dims[0].index);
    case OpKind::Convert: out += "/" + std::to_string(op.index()); break;
    case OpKind::Sqrt:
    case OpKind::Mul:
    case OpKind::Add: break;
    default: return std::nullopt;
    }
    for (ValueId o : op.operands) {
      const std::optional<std::string> of = textOf(o, nest, home, depth - 1);
      if (!of) return std::nullopt;
      out += "(" + *of + ")";
    }
    return out;
  }
  /// Whether sizes are known before the nest: those of the function, and those that an op there makes.
  bool areKnown(const std::vector<DimSym>& sizes, OpId nest, RegionId home) const {
    return std::ranges::all_of(sizes, [&](DimSym s) {
      if (std::ranges::find(f_.dimParams, s) != f_.dimParams.end()) return true;
      for (OpId id : f_.regions[home].ops) {
        if (id == nest) return false;
        const DimSyms& made = f_.ops[id].resultDims;
        if (std::ranges::find(made, s) != made.end()) return true;
      }
      return false;
    });
  }
  bool isThere(ValueId v, OpId nest, RegionId home) const {
    const RegionId made = uses_.homeOf(v);
    if (made == home) {
      const OpId def = f_.values[v].def;
      const std::vector<OpId>& ops = f_.regions[home].ops;
      return !def.valid() || std::ranges::find(ops, def) < std::ranges::find(ops, nest);
    }
    for (RegionId r = home; f_.regions[r].parent.valid();) {
      r = uses_.regionOf(f_.regions[r].parent);
      if (!r.valid()) return false;
      if (r == made) return true;
    }
    return false;
  }
  /// The same number before the nest.
  ValueId copy(ValueId v, OpId nest, RegionId home, Cloner& copies, Builder& build) {
    if (isThere(v, nest, home) || copies.values.contains(v)) return copies.value(v);
    const OpId def = f_.values[v].def;
    for (ValueId o : f_.ops[def].operands) copy(o, nest, home, copies, build);
    uses_.enter(copies.op(def, build), home);
    return copies.value(v);
  }

  // --- where elements are made
  // -----------------------------------------------------------------------------------------------------

  /// Which of what a region yields.
  struct Place {
    RegionId body;
    size_t yield;
  };
  std::optional<Place> placeOf(OpId nest, size_t yield) const {
    const RegionId body = f_.ops[nest].regions[0];
    const ValueId v = f_.ops[f_.regions[body].ops.back()].operands[yield];
    if (isWide(f_.typeOf(v))) return Place{body, yield};
    const OpId def = f_.values[v].def;
    if (!def.valid() || f_.ops[def].kind != OpKind::Nest || uses_.regionOf(def) != body ||
        uses_.count(v) != 1)
      return std::nullopt;
    const NestView inner(f_, f_.ops[def]);
    for (const NestPart& part : inner.parts())
      if (inner.results(part)[0] == v && part.spec->kind == NestResultKind::Collect && inner.accs() == 0)
        return placeOf(def, part.yields.first);
    return std::nullopt;
  }

  void divide(OpId nest, RegionId home, const Readers& readers, const Place& made) {
    std::vector<OpId>& front = f_.regions[home].ops;
    const auto at = std::ranges::find(front, nest);
    std::vector<OpId> after(at, front.end());
    front.erase(at, front.end());
    Builder build(m_, id_, home, f_.ops[quotientOf(readers.gets[0])].loc);
    Cloner copies(m_, id_, id_);
    const ValueId divisor = copy(readers.divisor, nest, home, copies, build);
    front.insert(front.end(), after.begin(), after.end());

    std::vector<OpId>& body = f_.regions[made.body].ops;
    const OpId yield = body.back();
    body.pop_back();
    const ValueId element = f_.ops[yield].operands[made.yield];
    Builder inside(m_, id_, made.body, build.loc);
    const ValueId quotient = inside.binary(OpKind::Div, element, divisor);
    body.push_back(yield);
    uses_.enter(f_.values[quotient].def, made.body);
    uses_.change(yield, [&](Op& op) { op.operands[made.yield] = quotient; });
    for (OpId get : readers.gets) uses_.replace(f_.ops[quotientOf(get)].results[0], f_.ops[get].results[0]);
    changed_ = true;
  }

  Module& m_;
  FunctionId id_;
  Function& f_;
  LiveUses uses_;
  bool changed_ = false;
};

} // namespace

void hoistDivision(Module& m) {
  if (changeBodies(m, [&](FunctionId f) { return Divider(m, f).run(); })) eliminateDeadValues(m);
}

} // namespace melix::transforms

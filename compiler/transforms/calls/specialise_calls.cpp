#include "transforms/calls/specialise_calls.h"

#include "core/analysis/effect_audit.h"
#include "core/ir/uses.h"
#include "core/ir/walk.h"
#include "core/order/clone.h"
#include "transforms/calls/inline_calls.h"
#include "transforms/walks/dce.h"

#include <optional>
#include <unordered_set>

namespace melix::transforms {

using namespace core;

namespace {

constexpr int mostNestedClosures = 4; ///< closures of closures
constexpr uint32_t mostCopies =
    512; ///< of one module: recursion that wraps its function anew each time ends here

/// Which function a closure calls, and what of its captures is known the same way.
struct Shape {
  FunctionId callee;
  std::vector<std::optional<Shape>> captures;
  bool operator<(const Shape& o) const {
    if (callee != o.callee) return callee < o.callee;
    return captures < o.captures;
  }
};
using Shapes = std::vector<std::optional<Shape>>; ///< for each argument of a call

class Specialiser {
public:
  explicit Specialiser(Module& m) : m_(m), types_(m.types) {}

  void run() {
    keepAsWritten();
    for (uint32_t i = 0; i < m_.functions.size(); ++i) // copies are added on the way
      if (m_.functions[FunctionId(i)].body.valid() && !kept_.count(FunctionId(i))) function(FunctionId(i));
  }

private:
  /// Copies are made of functions as they were: one that calls itself calls the original in each copy, so the
  /// closures that are passed on are distinguished by their whole shape, which is bounded.
  void keepAsWritten() {
    for (uint32_t i = 0, n = static_cast<uint32_t>(m_.functions.size()); i < n; ++i) {
      const Function& f = m_.functions[FunctionId(i)];
      if (!f.body.valid() || f.customJvp.valid()) continue;
      bool takesFunction = false;
      for (ValueId p : f.params()) takesFunction |= types_.kind(f.typeOf(p)) == TypeKind::Function;
      if (!takesFunction) continue;
      Function copy = f;
      copy.key += " as written";
      copy.keep = false;
      FunctionId kept = m_.functions.add(std::move(copy));
      asWritten_.emplace(FunctionId(i), kept);
      kept_.insert(kept);
    }
  }

  /// Results of applications that became calls, and what they stand for.
  using Applied = std::vector<std::pair<ValueId, ValueId>>;

  void function(FunctionId f) {
    Applied applied;
    region(f, m_.functions[f].body, applied);
    if (applied.empty()) return;
    LiveUses uses(m_, f);
    for (auto [v, by] : applied) uses.replace(v, by);
  }

  void region(FunctionId f, RegionId r, Applied& applied) {
    std::vector<OpId> list = std::move(m_.functions[f].regions[r].ops);
    m_.functions[f].regions[r].ops.clear();
    for (OpId id : list) {
      Builder b(m_, f, r, m_.functions[f].ops[id].loc);
      const OpKind kind = m_.functions[f].ops[id].kind;
      if (kind == OpKind::Apply && apply(b, id, applied)) continue;
      if (kind == OpKind::Call || kind == OpKind::Derivative) specialise(b, id);
      m_.functions[f].regions[r].ops.push_back(id);
      for (RegionId inner : m_.functions[f].ops[id].regions) region(f, inner, applied);
    }
  }

  // --- closures
  // ---------------------------------------------------------------------------------------------------

  /// The op that makes the closure `v`, if it is known.
  OpId closureOf(const Function& f, ValueId v) const {
    for (OpId def = f.values[v].def; def.valid(); def = f.values[v].def) {
      if (f.ops[def].kind == OpKind::Closure) return def;
      if (f.ops[def].kind != OpKind::CastDims) break;
      v = f.ops[def].operands[0];
    }
    return {};
  }

  std::optional<Shape> shapeOf(const Function& f, ValueId v, int depth = 0) const {
    if (types_.kind(f.typeOf(v)) != TypeKind::Function || depth == mostNestedClosures) return std::nullopt;
    OpId closure = closureOf(f, v);
    if (!closure.valid()) return std::nullopt;
    Shape out{f.ops[closure].as<CallAttr>().callee, {}};
    for (ValueId capture : f.ops[closure].operands) out.captures.push_back(shapeOf(f, capture, depth + 1));
    return out;
  }

  /// What a copy is passed in place of a closure: sizes of the function it calls, and captures, all levels
  /// flattened.
  void flatten(const Function& f, ValueId v, const std::optional<Shape>& shape, Operands& values,
               Dims& dims) const {
    if (!shape) {
      values.push_back(v);
      return;
    }
    const Op& closure = f.ops[closureOf(f, v)];
    dims.insert(dims.end(), closure.dims.begin(), closure.dims.end());
    for (size_t k = 0; k < closure.operands.size(); ++k)
      flatten(f, closure.operands[k], shape->captures[k], values, dims);
  }

  /// The closure recomputed at the beginning of a copy, from new parameters.
  ValueId rebuild(Builder& b, const Shape& shape, TypeId type) {
    types::DimSubst dims;
    Op op = Builder::simple(OpKind::Closure, {}, CallAttr{shape.callee});
    for (DimSym s : m_.functions[shape.callee].dimParams) {
      DimSym own =
          b.newDim(types_.dims.info(s).name, types::DimSymKind::Parameter, types_.dims.info(s).lowerBound);
      b.fn().dimParams.push_back(own);
      op.dims.push_back(types_.dims.symbol(own));
      dims.emplace(s, op.dims.back());
    }
    for (size_t k = 0; k < shape.captures.size(); ++k) {
      const Function& callee = m_.functions[shape.callee];
      TypeId wanted = types_.substitute(callee.typeOf(callee.params()[k]), dims);
      op.operands.push_back(shape.captures[k] ? rebuild(b, *shape.captures[k], wanted) : b.param(wanted));
    }
    return b.one(std::move(op), type);
  }

  // --- calls
  // ------------------------------------------------------------------------------------------------------

  /// A call of a closure that is known is a call of its function.
  bool apply(Builder& b, OpId id, Applied& applied) {
    const Op& op = b.fn().ops[id];
    OpId made = closureOf(b.fn(), op.operands[0]);
    if (!made.valid() || op.results.size() != 1) return false;
    const Op& closure = b.fn().ops[made];
    FunctionId callee = closure.as<CallAttr>().callee;
    if (m_.functions[callee].results.size() != 1) return false;
    Operands args = closure.operands;
    args.insert(args.end(), op.operands.begin() + 1, op.operands.end());
    types::DimSubst dims;
    for (size_t k = 0; k < closure.dims.size(); ++k)
      dims.emplace(m_.functions[callee].dimParams[k], closure.dims[k]);
    for (size_t k = 0; k < args.size(); ++k) {
      TypeId wanted = m_.functions[callee].typeOf(m_.functions[callee].params()[k]);
      args[k] = b.castDims(args[k], types_.substitute(wanted, dims));
    }
    OpId call = b.call(callee, std::move(args), closure.dims);
    noteGone(b.fn(), b.function, id, GoneKind::Replaced);
    specialise(b, call);
    applied.emplace_back(op.results[0], b.castDims(b.result(call), b.typeOf(op.results[0])));
    return true;
  }

  static FunctionId& calleeOf(Op& op) {
    return op.kind == OpKind::Call ? op.as<CallAttr>().callee : op.as<DerivativeAttr>().callee;
  }

  /// Makes a call, or the derivative of one, go to a copy if it passes closures that are known.
  void specialise(Builder& b, OpId id) {
    Op& op = b.fn().ops[id];
    auto* derivative = std::get_if<DerivativeAttr>(&op.attr);
    // The two halves of a pullback speak of one function and one record.
    if (derivative && derivative->saved.valid()) return;
    FunctionId callee = calleeOf(op);
    if (!asWritten_.count(callee)) return;
    const size_t arity = m_.functions[callee].params().size();
    Shapes shapes(arity);
    bool any = false;
    for (uint32_t k = 0; k < arity; ++k) {
      if (derivative && std::find(derivative->wrt.begin(), derivative->wrt.end(), k) != derivative->wrt.end())
        continue;
      shapes[k] = shapeOf(b.fn(), op.operands[k]);
      any |= shapes[k].has_value();
    }
    if (!any) return;
    FunctionId copy = copyOf(callee, shapes);
    if (!copy.valid()) return;
    Operands operands;
    std::vector<uint32_t> moved; // where a parameter stands in the copy
    for (size_t k = 0; k < op.operands.size(); ++k) {
      moved.push_back(static_cast<uint32_t>(operands.size()));
      flatten(b.fn(), op.operands[k], k < arity ? shapes[k] : std::nullopt, operands, op.dims);
    }
    op.operands = std::move(operands);
    calleeOf(op) = copy;
    if (derivative)
      for (uint32_t& w : derivative->wrt) w = moved[w];
  }

  FunctionId copyOf(FunctionId source, const Shapes& shapes) {
    auto [it, fresh] = copies_.try_emplace({source, shapes});
    if (!fresh) return it->second;
    if (copies_.size() > mostCopies) return {};
    Function f;
    std::string given;
    for (const std::optional<Shape>& shape : shapes)
      if (shape) given += (given.empty() ? "" : ", ") + m_.functions[shape->callee].name;
    f.name = m_.functions[source].name;
    f.key = m_.functions[source].key + "(" + given + ")#" + std::to_string(copies_.size());
    f.device = m_.functions[source].device;
    f.isCold = m_.functions[source].isCold;
    f.loc = m_.functions[source].loc;
    f.body = f.regions.add(Region{});
    const RegionId body = f.body;
    const LocId loc = f.loc;
    FunctionId id = it->second = m_.functions.add(std::move(f));
    Builder b(m_, id, body, loc);
    const FunctionId written = asWritten_.at(source);
    Cloner cloner(m_, written, id);
    for (DimSym s : m_.functions[source].dimParams) b.fn().dimParams.push_back(cloner.defineDim(s));
    std::vector<uint32_t> moved;
    const std::vector<ValueId>& params = m_.functions[source].params();
    for (size_t k = 0; k < params.size(); ++k) {
      const Value& p = m_.functions[source].values[params[k]];
      moved.push_back(static_cast<uint32_t>(b.fn().params().size()));
      cloner.values[params[k]] =
          shapes[k] ? rebuild(b, *shapes[k], cloner.type(p.type)) : b.param(cloner.type(p.type), p.hint);
    }
    for (DimSym s : m_.functions[source].resultDims) b.fn().resultDims.push_back(cloner.defineDim(s));
    for (TypeId t : m_.functions[source].results) b.fn().results.push_back(cloner.type(t));
    for (InoutPair pair : m_.functions[source].inouts)
      b.fn().inouts.push_back({moved[pair.param], pair.result});
    Cloner::Yielded end = cloner.body(m_.functions[written].body, b);
    b.yield(std::move(end.values), std::move(end.dims));
    return id;
  }

  Module& m_;
  types::TypeStore& types_;
  std::unordered_map<FunctionId, FunctionId> asWritten_;
  std::unordered_set<FunctionId> kept_;
  std::map<std::pair<FunctionId, Shapes>, FunctionId> copies_;
};

} // namespace

void specialiseCalls(Module& m) {
  Specialiser(m).run();
  raiseAll(m);
  removeUnreachable(m);
  eliminateDeadValues(m); // closures that nobody takes any more
  removeUnreachable(m);
}

} // namespace melix::transforms

// `vjp` and `linearize`: the forward sweep runs once, and what it saved is kept in a record that the function
// given back captures. Only `expand_derivatives` knows what is in the record; here its type says which sizes
// the function's own types mention.
#include "check/derivatives/derivatives.h"

#include "types/tangent.h"

#include <algorithm>

namespace melix::check {

/// The arguments that `x` stands for: its parts if it is a tuple and the function takes that many.
std::vector<NodeId> Derivatives::spread(NodeId function, NodeId x, std::vector<NodeId>& into) {
  if (b.kindOf(x) != TypeKind::Tuple) return {x};
  const size_t parts = b.types[b.typeOf(x)].parts.size();
  const bool literal = b.instance.nodes[x].kind == NodeKind::Tuple;
  std::set<size_t> arities = calls_.arities(function);
  if (parts == 1 || !arities.contains(parts) || (arities.contains(1) && !literal)) return {x};
  if (literal) return b.instance.nodes[x].children;
  NodeId all = b.local(b.bind("x", x, into), b.spanOf(x));
  std::vector<NodeId> out;
  for (uint32_t k = 0; k < parts; ++k) out.push_back(b.tuplePart(all, k, b.spanOf(x)));
  return out;
}

/// Of one argument among several: whether it is differentiated by.
bool Derivatives::carriesTangent(NodeId function, size_t k, NodeId arg) {
  TypeId type = b.typeOf(arg);
  if (b.infer.isOpen(type) && b.infer.varClass(type) == types::VarClass::OpenInt)
    return !calls_.wantsWhole(function, k);
  return !b.types.isUnit(types::tangentType(b.types, type));
}

/// Open numbers become what they are if nothing settles them: a function made of them may be used anywhere.
void Derivatives::closeNumbers(TypeId type) {
  b.types.rewrite(b.infer.zonk(type), [&](TypeId part) {
    if (b.infer.isOpen(part) && b.infer.varClass(part) != types::VarClass::Any)
      b.infer.unify(
          b.types.scalar(b.infer.varClass(part) == types::VarClass::OpenInt ? TypeKind::I64 : TypeKind::F32),
          part);
    return part;
  });
}

NodeId Derivatives::vjp(NodeId function, NodeId x, Span span) {
  std::vector<NodeId> nodes;
  nodes.push_back(vjpAt(function, spread(function, x, nodes), span));
  return b.block(std::move(nodes), span);
}

NodeId Derivatives::vjpAt(NodeId function, std::vector<NodeId> args, Span span) {
  std::vector<uint32_t> wrt;
  for (uint32_t k = 0; k < args.size(); ++k)
    if (args.size() == 1 || carriesTangent(function, k, args[k])) {
      if (!differentiable(function, k, args[k])) return b.error(span);
      wrt.push_back(k);
    }
  std::vector<NodeId> nodes;
  args = bindAll(std::move(args), nodes);
  Callee callee = prepare(function, args, nodes, span);
  if (!callee.call) return b.error(span);
  for (NodeId arg : args) closeNumbers(b.typeOf(arg));
  settleWhole(callee.result, span);
  closeNumbers(callee.result);
  callee.result = b.infer.zonk(callee.result);

  if (b.types.isUnit(types::tangentType(b.types, callee.result))) {
    b.sink.report(DiagId::NotDifferentiable, span, b.show(callee.result));
    return b.error(span);
  }
  std::vector<TypeId> slopes;
  for (NodeId arg : args) slopes.push_back(types::tangentType(b.types, b.typeOf(arg)));
  Swept swept = sweep(callee, args, wrt, std::move(slopes), nodes, span);
  NodeId pullback = calls_.pullbackValue(std::move(swept.shape), b.local(swept.saved, span), span);
  nodes.push_back(b.tuple({swept.value, pullback}, span));
  return b.block(std::move(nodes), span);
}

/// The function run forwards; `slopes` are the tangent types that its pullback gives, `()` where it gives
/// none.
Derivatives::Swept Derivatives::sweep(const Callee& callee, const std::vector<NodeId>& args,
                                      const std::vector<uint32_t>& wrt, std::vector<TypeId> slopes,
                                      std::vector<NodeId>& into, Span span) {
  PullbackShape shape;
  shape.seed = b.infer.zonk(types::tangentType(b.types, callee.result));
  shape.coreSeed = types::positionalTangent(b.types, b.infer.zonk(callee.result));
  shape.slopes = std::move(slopes);
  shape.keepsValues = types::holdsDict(b.types, b.infer.zonk(callee.result));
  for (TypeId& slope : shape.slopes) slope = b.infer.zonk(slope);
  for (NodeId arg : args) {
    const TypeId type = b.infer.zonk(b.typeOf(arg));
    shape.coreSlopes.push_back(types::positionalTangent(b.types, type));
    shape.keepsValues |= types::holdsDict(b.types, type);
  }
  for (uint32_t w : wrt) shape.wrt.push_back(w + callee.captures);
  // Every size that these types mention becomes a dimension parameter of the record.
  std::vector<types::DimSym> symbols;
  b.types.collectSymbols(shape.seed, symbols);
  for (TypeId slope : shape.slopes) b.types.collectSymbols(slope, symbols);
  b.types.collectSymbols(shape.coreSeed, symbols);
  for (TypeId slope : shape.coreSlopes) b.types.collectSymbols(slope, symbols);
  types::Record record;
  record.name = b.types.names.intern("Saved");
  record.isSaved = true;
  record.cases.resize(1);
  types::DimSubst formal;
  std::vector<DimId> here;
  for (types::DimSym s : symbols) {
    const types::DimSymInfo& info = b.types.dims.info(s);
    if (info.kind == types::DimSymKind::Bound || formal.contains(s)) continue;
    record.dimParams.push_back(b.types.dims.newSym({info.name, types::DimSymKind::Parameter, 0, span}));
    formal.emplace(s, b.types.dims.symbol(record.dimParams.back()));
    here.push_back(b.types.dims.symbol(s));
  }
  shape.seed = b.types.substitute(shape.seed, formal);
  for (TypeId& slope : shape.slopes) slope = b.types.substitute(slope, formal);
  shape.coreSeed = b.types.substitute(shape.coreSeed, formal);
  for (TypeId& slope : shape.coreSlopes) slope = b.types.substitute(slope, formal);
  shape.saved = b.types.addRecord(std::move(record));

  TypeId saved = b.types.record(shape.saved, std::move(here));
  NodeId both =
      derivative(DerivativeMode::Forward, callee, wrt, {}, b.types.tuple({callee.result, saved}), span);
  b.instance.nodes.edit(both).as<DerivativeRef>().saved = shape.saved;
  NodeId all = b.local(b.bind("swept", both, into), span);
  std::vector<NodeId> keeps{b.tuplePart(all, 1, span)};
  if (shape.keepsValues)
    keeps.push_back(b.tuplePart(all, 0, span)), keeps.insert(keeps.end(), args.begin(), args.end());
  NodeId whole = keeps.size() == 1 ? keeps[0] : b.tuple(std::move(keeps), span);
  const LocalId kept = b.bind("saved", whole, into);
  return {b.tuplePart(all, 0, span), kept, std::move(shape)};
}

/// The sizes of what a forward sweep saved.
types::DimSubst Derivatives::sizesOf(const PullbackShape& shape, TypeId saved) {
  types::DimSubst actual;
  if (shape.keepsValues) saved = b.types[b.infer.zonk(saved)].parts[0];
  const std::vector<DimId>& dims = b.types[b.infer.zonk(saved)].dims;
  const std::vector<types::DimSym>& formals = b.types.recordInfo(shape.saved).dimParams;
  for (size_t k = 0; k < formals.size() && k < dims.size(); ++k) actual.emplace(formals[k], dims[k]);
  return actual;
}

TypeId Derivatives::seedOf(const PullbackShape& shape, TypeId saved) {
  return b.types.substitute(shape.seed, sizesOf(shape, saved));
}

NodeId Derivatives::pull(const PullbackShape& shape, NodeId saved, NodeId seed, Span span) {
  const types::DimSubst actual = sizesOf(shape, b.typeOf(saved));
  seed = tangentAsked(seed, seedOf(shape, b.typeOf(saved)), "pullback", span);
  if (b.kindOf(seed) == TypeKind::Error) return seed;
  std::vector<NodeId> nodes;
  NodeId kept = shape.keepsValues ? b.local(b.bind("kept", saved, nodes), span) : saved;
  if (shape.keepsValues) {
    saved = b.tuplePart(kept, 0, span);
    seed = placed_(b.tuplePart(kept, 1, span), seed, span);
  }
  DerivativeRef ref;
  ref.mode = DerivativeMode::Backward;
  ref.wrt = shape.wrt;
  ref.saved = shape.saved;
  std::vector<TypeId> parts;
  for (size_t k = 0; k < shape.slopes.size(); ++k)
    if (!b.types.isUnit(shape.slopes[k])) parts.push_back(b.types.substitute(shape.coreSlopes[k], actual));
  NodeId back =
      b.make(NodeKind::Derivative, b.types.tuple(std::move(parts)), span, {saved, seed}, std::move(ref));
  NodeId all = b.local(b.bind("slopes", back, nodes), span);
  std::vector<NodeId> out;
  uint32_t at = 0;
  for (uint32_t k = 0; k < shape.slopes.size(); ++k) {
    out.push_back(b.types.isUnit(shape.slopes[k]) ? b.unit(span) : b.tuplePart(all, at++, span));
    if (shape.keepsValues && !b.types.isUnit(shape.slopes[k]))
      out.back() = keyed_(b.tuplePart(kept, k + 2, span), out.back(), span);
  }
  nodes.push_back(out.size() == 1 ? out[0] : b.tuple(std::move(out), span));
  return b.block(std::move(nodes), span);
}

/// `(y, dx => dy)`.
NodeId Derivatives::linearize(NodeId function, std::vector<NodeId> args, Span span) {
  std::vector<NodeId> nodes;
  NodeId swept = vjpAt(function, std::move(args), span);
  if (b.kindOf(swept) == TypeKind::Error) return swept;
  NodeId both = b.local(b.bind("both", swept, nodes), span);
  NodeId y = b.local(b.bind("y", b.tuplePart(both, 0, span), nodes), span);
  NodeId pullback = b.local(b.bind("pullback", b.tuplePart(both, 1, span), nodes), span);
  std::optional<Swept> map = transposed(pullback, zeroLike_(y, span), nodes, span);
  if (!map) return b.error(span);
  nodes.push_back(
      b.tuple({y, calls_.pullbackValue(std::move(map->shape), b.local(map->saved, span), span)}, span));
  return b.block(std::move(nodes), span);
}

/// The pullback is linear in its cotangent, so its own pullback at a zero of that is the linear map itself,
/// over what the forward sweep saved.
std::optional<Derivatives::Swept> Derivatives::transposed(NodeId pullback, NodeId zero,
                                                          std::vector<NodeId>& into, Span span) {
  zero = b.local(b.bind("zero", zero, into), span);
  const TypeId seed = b.typeOf(zero);
  const Callee callee = prepare(pullback, {zero}, into, span);
  if (!callee.call) return std::nullopt;
  return sweep(callee, {zero}, {0}, {seed}, into, span);
}

} // namespace melix::check

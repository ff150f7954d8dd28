// Expressions: a node becomes the ops that make its value.
#include "lower/expr.h"

#include "lower/black_box.h"
#include "lower/body.h"
#include "lower/call.h"
#include "lower/control.h"
#include "lower/elementwise.h"
#include "lower/loops.h"
#include "lower/match.h"
#include "lower/nest.h"
#include "lower/on_device.h"
#include "lower/place.h"
#include "lower/sizes.h"

namespace melix::lower {

using namespace check;

namespace {

ValueId lowerConstant(BodyLowering& fn, const Node& node) {
  const Const& c = node.as<Const>();
  if (fn.types.kind(node.type) == TypeKind::Str) return fn.b.text(c.text);
  unsigned bits = types::scalarBits(fn.types.kind(node.type));
  uint64_t mask = bits >= 64 || bits == 0 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1;
  return fn.b.constant(node.type, c.bits & mask);
}

ValueId lowerOperation(BodyLowering& fn, const Node& node) {
  const OpRef& ref = node.as<OpRef>();
  TypeId type = node.type;
  return fn.after(node.children, type,
                  [&](std::vector<ValueId> v) { return applied(fn, ref, type, std::move(v)); });
}

ValueId quotient(BodyLowering& fn, OpKind kind, TypeId type, ValueId a, ValueId b) {
  fn.check(core::CheckKind::Divisor, {b}, {});
  if (types::scalarClass(fn.types.kind(type)) == types::ScalarClass::SInt)
    fn.check(core::CheckKind::DivideOverflow, {a, b}, {});
  return fn.b.binary(kind, a, b);
}

void checkOverflow(BodyLowering& fn, OpKind kind, TypeId type, const std::vector<ValueId>& v) {
  if (!checksOverflow(fn, type)) return;
  std::string name = fn.types.show(type);
  switch (kind) {
  case OpKind::Add: return fn.check(core::CheckKind::AddFits, v, {}, name);
  case OpKind::Sub: return fn.check(core::CheckKind::SubFits, v, {}, name);
  case OpKind::Mul: return fn.check(core::CheckKind::MulFits, v, {}, name);
  case OpKind::Neg: return fn.check(core::CheckKind::NegFits, v, {}, name);
  default: return;
  }
}

ValueId lowerConvert(BodyLowering& fn, const Node& node) {
  const ConvertRef& ref = node.as<ConvertRef>();
  TypeId to = node.type;
  return fn.after(node.children, to, [&](std::vector<ValueId> v) {
    TypeId from = fn.b.typeOf(v[0]);
    if (from == to) return v[0];
    bool narrows = fn.types.isFloat(from) ||
                   types::scalarBits(fn.types.kind(from)) > types::scalarBits(fn.types.kind(to)) ||
                   types::scalarClass(fn.types.kind(from)) != types::scalarClass(fn.types.kind(to));
    bool widens = !fn.types.isFloat(from) &&
                  types::scalarClass(fn.types.kind(from)) == types::ScalarClass::UInt &&
                  types::scalarBits(fn.types.kind(to)) > types::scalarBits(fn.types.kind(from));
    if (ref.checked && narrows && !widens && fn.types.kind(from) != TypeKind::Bool && !fn.types.isFloat(to))
      fn.check(core::CheckKind::Converts, {v[0]}, {}, fn.types.print(to), to);
    return fn.b.convert(v[0], to, ref.mode);
  });
}

/// Core reshapes arrays only: a number with new axes is an array of it, and one that is left of an array is
/// its element.
ValueId reshaped(Builder& b, types::TypeStore& types, ValueId v, TypeId type) {
  const TypeId from = b.typeOf(v);
  const bool wasArray = types.kind(from) == TypeKind::Array, isArray = types.kind(type) == TypeKind::Array;
  if (wasArray && !isArray) {
    const std::vector<ValueId> zeros(types.rank(from), b.constant(types.int64(), 0));
    return b.get(v, core::Path(zeros.size(), core::PathStep{core::StepKind::Index, 0, {}, 1}), zeros);
  }
  if (!wasArray && isArray) {
    const TypeId one = types.array(from, {types.dims.constant(1)});
    v = b.one(Builder::simple(OpKind::ArrayOf, {v}), one);
    if (one == type) return v;
  }
  return b.one(Builder::simple(OpKind::Reshape, {v}), type);
}

ValueId product(BodyLowering& fn, const Node& node, std::vector<ValueId> v) {
  TypeId type = fn.T(node.type);
  bool tuple = fn.types.kind(type) == TypeKind::Tuple;
  for (uint32_t k = 0; k < v.size(); ++k)
    v[k] = fn.cast(v[k], tuple ? fn.types[type].parts[k] : fn.types.fieldType(type, 0, k));
  return fn.b.make(type, std::move(v));
}

/// A type whose sizes of other branches are 0: a value made here, like `None`, holds nothing of such a size.
TypeId inScope(BodyLowering& fn, TypeId type) {
  std::vector<DimSym> symbols;
  fn.types.collectSymbols(type, symbols);
  types::DimSubst elsewhere;
  const auto isFound = [&](DimSym s) {
    return fn.types.dims.info(s).kind == types::DimSymKind::Unknown && !fn.sizes.known.contains(s) &&
           std::find(fn.instance.dimParams.begin(), fn.instance.dimParams.end(), s) ==
               fn.instance.dimParams.end();
  };
  for (DimSym s : symbols)
    if (fn.sizes.isLater(s) || isFound(s)) elsewhere.emplace(s, fn.types.dims.constant(0));
  return fn.T(elsewhere.empty() ? type : fn.types.substitute(type, elsewhere));
}

ValueId variant(BodyLowering& fn, const Node& node, std::vector<ValueId> v) {
  TypeId type = inScope(fn, node.type);
  uint32_t index = node.as<Index>().index;
  for (uint32_t k = 0; k < v.size(); ++k) v[k] = fn.cast(v[k], fn.types.fieldType(type, index, k));
  return fn.b.variant(type, index, std::move(v));
}

ValueId lowerClosure(BodyLowering& fn, const Node& node, std::vector<ValueId> v) {
  const CallTarget& target = node.as<CallTarget>();
  std::vector<ValueId> captures;
  if (target.known || target.captures > 0) captures = capturesOf(fn, v[0]);
  core::Op op = Builder::simple(OpKind::Closure, std::move(captures),
                                core::CallAttr{fn.lowering.functionOf(target.instance)});
  for (DimId d : target.dims) op.dims.push_back(fn.D(d));
  return fn.b.one(std::move(op), fn.T(node.type));
}

ValueId packed(BodyLowering& fn, const Node& node, ValueId value) {
  std::vector<DimId> dims = node.as<Dims>().dims;
  for (DimId& d : dims) d = fn.D(d);
  core::Op op = Builder::simple(OpKind::Pack, {fn.cast(value, fn.types.openPack(fn.T(node.type), dims))});
  op.dims = std::move(dims);
  return fn.b.one(std::move(op), fn.T(node.type));
}

/// Sizes that an op decides are what the node's symbols mean from here on.
void defineSizes(BodyLowering& fn, const Node& node, core::Op& op) {
  for (DimSym s : node.resultDims) {
    op.resultDims.push_back(fn.b.newDim(op.kind == OpKind::ToArray ? "n" : fn.types.dims.info(s).name));
    fn.sizes.known[s] = fn.types.dims.symbol(op.resultDims.back());
  }
}

ValueId sized(BodyLowering& fn, const Node& node, OpKind kind, ValueId value) {
  core::Op op = Builder::simple(kind, {value});
  defineSizes(fn, node, op);
  return fn.b.one(std::move(op), fn.T(node.type));
}

ValueId lowerBuiltin(BodyLowering& fn, const Node& node, std::vector<ValueId> v) {
  core::Op op =
      Builder::simple(OpKind::Builtin, std::move(v), core::BuiltinAttr{node.as<BuiltinRef>().builtin});
  defineSizes(fn, node, op);
  TypeId type = fn.T(node.type);
  if (fn.types.isUnit(type)) {
    fn.b.append(std::move(op), {});
    return fn.unit();
  }
  if (fn.types.kind(type) != TypeKind::Tuple) return fn.b.one(std::move(op), type);
  const std::vector<TypeId>& parts = fn.types[type].parts;
  core::OpId made = fn.b.append(std::move(op), std::span<const TypeId>(parts));
  std::vector<ValueId> values;
  for (size_t k = 0; k < parts.size(); ++k) values.push_back(fn.b.result(made, k));
  return fn.b.make(type, std::move(values));
}

/// The nodes that are made of the values of their children and nothing else.
ValueId madeOf(BodyLowering& fn, const Node& node, std::vector<ValueId> v) {
  auto op = [&](OpKind kind, core::Attr attr = {}) {
    return fn.b.one(Builder::simple(kind, std::move(v), std::move(attr)), fn.T(node.type));
  };
  switch (node.kind) {
  case NodeKind::Tuple:
  case NodeKind::Struct: return product(fn, node, std::move(v));
  case NodeKind::Variant: return variant(fn, node, std::move(v));
  case NodeKind::ArrayOf: return op(OpKind::ArrayOf);
  case NodeKind::ListOf: return op(OpKind::ListOf);
  case NodeKind::Known: return op(OpKind::Known);
  case NodeKind::ToClosure: return lowerClosure(fn, node, std::move(v));
  case NodeKind::Pack: return packed(fn, node, v[0]);
  case NodeKind::Unpack:
  case NodeKind::ToArray:
    return sized(fn, node, node.kind == NodeKind::Unpack ? OpKind::Unpack : OpKind::ToArray, v[0]);
  case NodeKind::Reshape:
    checkDimArguments(fn, fn.types[node.type].dims, {});
    checkShape(fn, fn.types[node.type].dims);
    return reshaped(fn.b, fn.types, v[0], fn.T(node.type));
  case NodeKind::CastDims: checkDims(fn, node.as<DimChecks>().items); return fn.cast(v[0], fn.T(node.type));
  case NodeKind::Assert:
    fn.check(core::CheckKind::Assert, std::move(v), {}, node.as<Const>().text);
    return fn.unit();
  case NodeKind::Panic: fn.b.append(Builder::simple(OpKind::Panic, {v[0]}), {}); return fn.unit();
  case NodeKind::Apply: return op(OpKind::Apply);
  case NodeKind::Builtin: return lowerBuiltin(fn, node, std::move(v));
  case NodeKind::Format: {
    const auto& format = node.as<FormatSpec>();
    return op(OpKind::Format, core::FormatAttr{format.spec, format.quoted});
  }
  case NodeKind::Debug: return fn.b.one(Builder::simple(OpKind::Debug, {v[0]}), fn.b.typeOf(v[0]));
  case NodeKind::StopGradient:
    return fn.b.one(Builder::simple(OpKind::StopGradient, {v[0]}), fn.b.typeOf(v[0]));
  case NodeKind::Length: return op(OpKind::Length);
  case NodeKind::Push: return fn.b.one(Builder::simple(OpKind::Push, {v[0], v[1]}), fn.b.typeOf(v[0]));
  case NodeKind::ToList: return op(OpKind::ToList);
  case NodeKind::ArgSort: return op(OpKind::ArgSort, node.as<Index>().index);
  default: return fn.unit();
  }
}

} // namespace

ValueId applied(BodyLowering& fn, const OpRef& ref, TypeId type, std::vector<ValueId> v) {
  switch (ref.kind) {
  case OpKind::Zero: return fn.b.zero(fn.T(type));
  case OpKind::Undef: return fn.undef(fn.T(type));
  case OpKind::Cmp: return fn.b.compare(static_cast<ops::CmpKind>(ref.index), v[0], v[1]);
  case OpKind::IDiv:
  case OpKind::IRem: return quotient(fn, ref.kind, type, v[0], v[1]);
  case OpKind::Math:
  case OpKind::Round:
  case OpKind::Scale:
  case OpKind::Directed: return fn.b.one(Builder::simple(ref.kind, std::move(v), ref.index), fn.T(type));
  default:
    checkOverflow(fn, ref.kind, type, v);
    return fn.b.one(Builder::simple(ref.kind, std::move(v)), fn.T(type));
  }
}

/// Under `--check-overflow`, what the program itself computes with integers is checked; the library wraps
/// where it means to.
bool checksOverflow(BodyLowering& fn, TypeId type) {
  core::LocId written = fn.b.loc;
  while (fn.module.locs[written].inner) written = fn.module.locs[written].inner;
  const Span& at = fn.module.locs[written].span;
  return types::isIntKind(fn.types.kind(type)) && at.valid() && fn.lowering.checksOverflow(at.file);
}

ValueId lowerNode(BodyLowering& fn, NodeId n) {
  const Node& node = fn.instance.nodes[n];
  switch (node.kind) {
  case NodeKind::Error: return fn.undef(fn.T(node.type));
  case NodeKind::Const: return lowerConstant(fn, node);
  case NodeKind::Local:
    if (fn.types.kind(node.type) == TypeKind::Never) return fn.unit(); // what is not reached
    return whole(fn, node.as<LocalRef>().local, {});
  case NodeKind::DimValue: return fn.b.dimValue(fn.D(node.as<Dim>().dim));
  case NodeKind::Get: return lowerGet(fn, node);
  case NodeKind::Op: return lowerOperation(fn, node);
  case NodeKind::Convert: return lowerConvert(fn, node);
  case NodeKind::ShortAnd:
  case NodeKind::ShortOr: return lowerShortCircuit(fn, node);
  case NodeKind::Elementwise: return lowerElementwise(fn, node);
  case NodeKind::Block: return lowerBlock(fn, node);
  case NodeKind::Let: return lowerLet(fn, node);
  case NodeKind::Assign: return lowerAssign(fn, node);
  case NodeKind::Update: return lowerUpdate(fn, node);
  case NodeKind::Scatter: return lowerScatter(fn, node);
  case NodeKind::Within: return lowerWithin(fn, node);
  case NodeKind::If: return lowerIf(fn, node);
  case NodeKind::Match: return lowerMatch(fn, node);
  case NodeKind::For: return lowerFor(fn, node);
  case NodeKind::While: return lowerWhile(fn, node);
  case NodeKind::Loop: return lowerLoop(fn, node);
  case NodeKind::Break:
  case NodeKind::Continue:
  case NodeKind::Return: return lowerJump(fn, node);
  case NodeKind::DimCheck: checkDims(fn, node.as<DimChecks>().items); return fn.unit();
  case NodeKind::Call: return lowerCall(fn, node);
  case NodeKind::Derivative: return lowerDerivative(fn, node);
  case NodeKind::Nest: return lowerNest(fn, n);
  case NodeKind::Pop: return lowerPop(fn, node);
  case NodeKind::BlackBox: return lowerBlackBox(fn, node);
  case NodeKind::On: return lowerOn(fn, node);
  default:
    return fn.after(node.children, node.type,
                    [&](std::vector<ValueId> v) { return madeOf(fn, node, std::move(v)); });
  }
}

} // namespace melix::lower

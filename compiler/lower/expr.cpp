// Expressions: a node becomes the ops that make its value.
#include "lower/body.h"

namespace melix::lower {

using namespace check;

ValueId BodyLowering::constant(const Node& node) {
  const Const& c = node.as<Const>();
  if (types_.kind(node.type) == TypeKind::Str) return b_.text(c.text);
  unsigned bits = types::scalarBits(types_.kind(node.type));
  uint64_t mask = bits >= 64 || bits == 0 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1;
  return b_.constant(node.type, c.bits & mask);
}

ValueId BodyLowering::operation(const Node& node) {
  const OpRef& ref = node.as<OpRef>();
  TypeId type = node.type;
  return after(node.children, type, [&](std::vector<ValueId> v) { return applied(ref, type, std::move(v)); });
}

ValueId BodyLowering::applied(const OpRef& ref, TypeId type, std::vector<ValueId> v) {
  switch (ref.kind) {
  case OpKind::Zero: return b_.zero(T(type));
  case OpKind::Undef: return undef(T(type));
  case OpKind::Cmp: return b_.compare(static_cast<ops::CmpKind>(ref.index), v[0], v[1]);
  case OpKind::IDiv:
  case OpKind::IRem: return quotient(ref.kind, type, v[0], v[1]);
  case OpKind::Math:
  case OpKind::Round:
  case OpKind::Scale:
  case OpKind::Directed: return b_.one(Builder::simple(ref.kind, std::move(v), ref.index), T(type));
  default: checkOverflow(ref.kind, type, v); return b_.one(Builder::simple(ref.kind, std::move(v)), T(type));
  }
}

ValueId BodyLowering::quotient(OpKind kind, TypeId type, ValueId a, ValueId b) {
  check(core::CheckKind::Divisor, {b}, {});
  if (types::scalarClass(types_.kind(type)) == types::ScalarClass::SInt)
    check(core::CheckKind::DivideOverflow, {a, b}, {});
  return b_.binary(kind, a, b);
}

/// Under `--check-overflow`, what the program itself computes with integers is checked; the library wraps
/// where it means to.
bool BodyLowering::checksOverflow(TypeId type) {
  core::LocId written = b_.loc;
  while (module_.locs[written].inner) written = module_.locs[written].inner;
  const Span& at = module_.locs[written].span;
  return types::isIntKind(types_.kind(type)) && at.valid() && lowering_.checksOverflow(at.file);
}

void BodyLowering::checkOverflow(OpKind kind, TypeId type, const std::vector<ValueId>& v) {
  if (!checksOverflow(type)) return;
  std::string name = types_.show(type);
  switch (kind) {
  case OpKind::Add: return check(core::CheckKind::AddFits, v, {}, name);
  case OpKind::Sub: return check(core::CheckKind::SubFits, v, {}, name);
  case OpKind::Mul: return check(core::CheckKind::MulFits, v, {}, name);
  case OpKind::Neg: return check(core::CheckKind::NegFits, v, {}, name);
  default: return;
  }
}

ValueId BodyLowering::convert(const Node& node) {
  const ConvertRef& ref = node.as<ConvertRef>();
  TypeId to = node.type;
  return after(node.children, to, [&](std::vector<ValueId> v) {
    TypeId from = b_.typeOf(v[0]);
    if (from == to) return v[0];
    bool narrows = types_.isFloat(from) ||
                   types::scalarBits(types_.kind(from)) > types::scalarBits(types_.kind(to)) ||
                   types::scalarClass(types_.kind(from)) != types::scalarClass(types_.kind(to));
    bool widens = !types_.isFloat(from) &&
                  types::scalarClass(types_.kind(from)) == types::ScalarClass::UInt &&
                  types::scalarBits(types_.kind(to)) > types::scalarBits(types_.kind(from));
    if (ref.checked && narrows && !widens && types_.kind(from) != TypeKind::Bool && !types_.isFloat(to))
      check(core::CheckKind::Converts, {v[0]}, {}, types_.print(to), to);
    return b_.convert(v[0], to, ref.mode);
  });
}

ValueId BodyLowering::exprAt(NodeId n) {
  const Node& node = instance_.nodes[n];
  switch (node.kind) {
  case NodeKind::Error: return undef(T(node.type));
  case NodeKind::Const: return constant(node);
  case NodeKind::Local:
    if (types_.kind(node.type) == TypeKind::Never) return unit(); // what is not reached
    return whole(node.as<LocalRef>().local, {});
  case NodeKind::DimValue: return b_.dimValue(D(node.as<Dim>().dim));
  case NodeKind::Get: return get(node);
  case NodeKind::Op: return operation(node);
  case NodeKind::Convert: return convert(node);
  case NodeKind::ShortAnd:
  case NodeKind::ShortOr: return shortCircuit(node);
  case NodeKind::Elementwise: return elementwise(node);
  case NodeKind::Block: return block(node);
  case NodeKind::Let: return let(node);
  case NodeKind::Assign: return assign(node);
  case NodeKind::Update: return update(node);
  case NodeKind::Scatter: return scatter(node);
  case NodeKind::Within: return within(node);
  case NodeKind::If: return ifNode(node);
  case NodeKind::Match: return match(node);
  case NodeKind::For: return forLoop(node);
  case NodeKind::While: return whileLoop(node);
  case NodeKind::Loop: return loopForever(node);
  case NodeKind::Break:
  case NodeKind::Continue:
  case NodeKind::Return: return jump(node);
  case NodeKind::DimCheck: checkDims(node.as<DimChecks>().items); return unit();
  case NodeKind::Call: return call(node);
  case NodeKind::Derivative: return derivative(node);
  case NodeKind::Nest: return nest(n);
  case NodeKind::Pop: return pop(node);
  case NodeKind::BlackBox: return blackBox(node);
  default:
    return after(node.children, node.type,
                 [&](std::vector<ValueId> v) { return madeOf(node, std::move(v)); });
  }
}

/// Core reshapes arrays only: a number with new axes is an array of it, and one that is left of an array is
/// its element.
static ValueId reshaped(Builder& b, types::TypeStore& types, ValueId v, TypeId type) {
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

/// The nodes that are made of the values of their children and nothing else.
ValueId BodyLowering::madeOf(const Node& node, std::vector<ValueId> v) {
  auto op = [&](OpKind kind, core::Attr attr = {}) {
    return b_.one(Builder::simple(kind, std::move(v), std::move(attr)), T(node.type));
  };
  switch (node.kind) {
  case NodeKind::Tuple:
  case NodeKind::Struct: return product(node, std::move(v));
  case NodeKind::Variant: return variant(node, std::move(v));
  case NodeKind::ArrayOf: return op(OpKind::ArrayOf);
  case NodeKind::ListOf: return op(OpKind::ListOf);
  case NodeKind::Known: return op(OpKind::Known);
  case NodeKind::ToClosure: return closure(node, std::move(v));
  case NodeKind::Pack: return packed(node, v[0]);
  case NodeKind::Unpack:
  case NodeKind::ToArray:
    return sized(node, node.kind == NodeKind::Unpack ? OpKind::Unpack : OpKind::ToArray, v[0]);
  case NodeKind::Reshape:
    checkDimArguments(types_[node.type].dims, {});
    checkShape(types_[node.type].dims);
    return reshaped(b_, types_, v[0], T(node.type));
  case NodeKind::CastDims: checkDims(node.as<DimChecks>().items); return cast(v[0], T(node.type));
  case NodeKind::Assert:
    check(core::CheckKind::Assert, std::move(v), {}, node.as<Const>().text);
    return unit();
  case NodeKind::Panic: b_.append(Builder::simple(OpKind::Panic, {v[0]}), {}); return unit();
  case NodeKind::Apply: return op(OpKind::Apply);
  case NodeKind::Builtin: return builtin(node, std::move(v));
  case NodeKind::Format: {
    const auto& format = node.as<FormatSpec>();
    return op(OpKind::Format, core::FormatAttr{format.spec, format.quoted});
  }
  case NodeKind::Debug: return b_.one(Builder::simple(OpKind::Debug, {v[0]}), b_.typeOf(v[0]));
  case NodeKind::StopGradient: return b_.one(Builder::simple(OpKind::StopGradient, {v[0]}), b_.typeOf(v[0]));
  case NodeKind::Length: return op(OpKind::Length);
  case NodeKind::Push: return b_.one(Builder::simple(OpKind::Push, {v[0], v[1]}), b_.typeOf(v[0]));
  case NodeKind::ToList: return op(OpKind::ToList);
  case NodeKind::ArgSort: return op(OpKind::ArgSort, node.as<Index>().index);
  default: return unit();
  }
}

ValueId BodyLowering::product(const Node& node, std::vector<ValueId> v) {
  TypeId type = T(node.type);
  bool tuple = types_.kind(type) == TypeKind::Tuple;
  for (uint32_t k = 0; k < v.size(); ++k)
    v[k] = cast(v[k], tuple ? types_[type].parts[k] : types_.fieldType(type, 0, k));
  return b_.make(type, std::move(v));
}

/// A type whose sizes of other branches are 0: a value made here, like `None`, holds nothing of such a size.
TypeId BodyLowering::inScope(TypeId type) {
  std::vector<DimSym> symbols;
  types_.collectSymbols(type, symbols);
  types::DimSubst elsewhere;
  const auto isFound = [&](DimSym s) {
    return types_.dims.info(s).kind == types::DimSymKind::Unknown && !dimMap_.contains(s) &&
           std::find(instance_.dimParams.begin(), instance_.dimParams.end(), s) == instance_.dimParams.end();
  };
  for (DimSym s : symbols)
    if (isLater(s) || isFound(s)) elsewhere.emplace(s, types_.dims.constant(0));
  return T(elsewhere.empty() ? type : types_.substitute(type, elsewhere));
}

ValueId BodyLowering::variant(const Node& node, std::vector<ValueId> v) {
  TypeId type = inScope(node.type);
  uint32_t index = node.as<Index>().index;
  for (uint32_t k = 0; k < v.size(); ++k) v[k] = cast(v[k], types_.fieldType(type, index, k));
  return b_.variant(type, index, std::move(v));
}

ValueId BodyLowering::closure(const Node& node, std::vector<ValueId> v) {
  const CallTarget& target = node.as<CallTarget>();
  std::vector<ValueId> captures;
  if (target.known || target.captures > 0) captures = capturesOf(v[0]);
  core::Op op = Builder::simple(OpKind::Closure, std::move(captures),
                                core::CallAttr{lowering_.functionOf(target.instance)});
  for (DimId d : target.dims) op.dims.push_back(D(d));
  return b_.one(std::move(op), T(node.type));
}

ValueId BodyLowering::packed(const Node& node, ValueId value) {
  std::vector<DimId> dims = node.as<Dims>().dims;
  for (DimId& d : dims) d = D(d);
  core::Op op = Builder::simple(OpKind::Pack, {cast(value, types_.openPack(T(node.type), dims))});
  op.dims = std::move(dims);
  return b_.one(std::move(op), T(node.type));
}

/// Sizes that an op decides are what the node's symbols mean from here on.
void BodyLowering::defineSizes(const Node& node, core::Op& op) {
  for (DimSym s : node.resultDims) {
    op.resultDims.push_back(b_.newDim(op.kind == OpKind::ToArray ? "n" : types_.dims.info(s).name));
    dimMap_[s] = types_.dims.symbol(op.resultDims.back());
  }
}

ValueId BodyLowering::sized(const Node& node, OpKind kind, ValueId value) {
  core::Op op = Builder::simple(kind, {value});
  defineSizes(node, op);
  return b_.one(std::move(op), T(node.type));
}

ValueId BodyLowering::builtin(const Node& node, std::vector<ValueId> v) {
  core::Op op =
      Builder::simple(OpKind::Builtin, std::move(v), core::BuiltinAttr{node.as<BuiltinRef>().builtin});
  defineSizes(node, op);
  TypeId type = T(node.type);
  if (types_.isUnit(type)) {
    b_.append(std::move(op), {});
    return unit();
  }
  if (types_.kind(type) != TypeKind::Tuple) return b_.one(std::move(op), type);
  const std::vector<TypeId>& parts = types_[type].parts;
  core::OpId made = b_.append(std::move(op), std::span<const TypeId>(parts));
  std::vector<ValueId> values;
  for (size_t k = 0; k < parts.size(); ++k) values.push_back(b_.result(made, k));
  return b_.make(type, std::move(values));
}

} // namespace melix::lower

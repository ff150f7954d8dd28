// Calls and derivatives.
#include "lower/body.h"

#include "types/tangent.h"

namespace melix::lower {

using namespace check;

std::vector<ValueId> BodyLowering::capturesOf(ValueId known) {
  const std::vector<TypeId>& parts = types_[b_.typeOf(known)].parts;
  std::vector<ValueId> out;
  for (uint32_t k = 0; k < parts.size(); ++k)
    out.push_back(b_.one(Builder::simple(OpKind::Capture, {known}, k), parts[k]));
  return out;
}

/// The captures of a known function value in front of the arguments.
core::Operands BodyLowering::withCaptures(const CallTarget& target, core::Operands args) {
  if (!target.known) return args;
  core::Operands out = capturesOf(args[0]);
  out.insert(out.end(), args.begin() + 1, args.end());
  return out;
}

ValueId BodyLowering::call(const Node& node) {
  const CallTarget& target = node.as<CallTarget>();
  // Places of inout arguments follow the values: their indices come last, the places are read after every
  // argument.
  std::vector<NodeId> children = node.children;
  for (const InoutArg& arg : target.inouts) indexNodes(arg.place.steps, children);
  return after(children, node.type, [&](std::vector<ValueId> v) {
    size_t next = node.children.size();
    std::vector<LoweredPath> places;
    for (const InoutArg& arg : target.inouts) places.push_back(placePath(arg.place, v, next));
    v.resize(node.children.size());
    core::Operands args = withCaptures(target, v);
    size_t offset = target.known ? args.size() + 1 - v.size() : 0;
    for (size_t k = 0; k < target.inouts.size(); ++k)
      args.insert(args.begin() + static_cast<ptrdiff_t>(target.inouts[k].param + offset),
                  current(target.inouts[k].place, places[k]));
    core::FunctionId callee = lowering_.functionOf(target.instance);
    std::vector<DimId> dims;
    for (DimId d : target.dims) dims.push_back(D(d));
    types::DimSubst subst;
    const std::vector<DimSym>& params = module_.functions[callee].dimParams;
    for (size_t k = 0; k < params.size() && k < dims.size(); ++k) subst.emplace(params[k], dims[k]);
    checkDimArguments(target.dims, args);
    for (size_t p = 0; p < args.size(); ++p)
      args[p] = cast(
          args[p],
          types_.substitute(module_.functions[callee].typeOf(module_.functions[callee].params()[p]), subst));
    core::OpId made = b_.call(callee, std::move(args), std::move(dims));
    ValueId result = b_.result(made, 0);
    learnDims(node.type, result, node.resultDims);
    for (size_t k = 0; k < target.inouts.size(); ++k)
      write(target.inouts[k].place, places[k], b_.result(made, k + 1));
    if (types_.kind(node.type) == TypeKind::Never) {
      return result;
    }
    return cast(result, T(node.type));
  });
}

namespace {

core::DerivativeMode coreMode(check::DerivativeMode mode) {
  switch (mode) {
  case check::DerivativeMode::Jvp: return core::DerivativeMode::Jvp;
  case check::DerivativeMode::Reverse: return core::DerivativeMode::Reverse;
  case check::DerivativeMode::Forward: return core::DerivativeMode::Forward;
  case check::DerivativeMode::Backward: return core::DerivativeMode::Backward;
  }
  return core::DerivativeMode::Jvp;
}

/// How many of the children are tangents or cotangents: they stand last.
size_t seedsOf(const DerivativeRef& ref) {
  switch (ref.mode) {
  case check::DerivativeMode::Jvp: return ref.wrt.size();
  case check::DerivativeMode::Forward: return 0;
  default: return 1;
  }
}

} // namespace

ValueId BodyLowering::derivative(const Node& node) {
  const DerivativeRef& ref = node.as<DerivativeRef>();
  return after(node.children, node.type, [&](std::vector<ValueId> v) {
    std::vector<ValueId> seeds(v.end() - static_cast<ptrdiff_t>(seedsOf(ref)), v.end());
    v.resize(v.size() - seeds.size());
    core::Op op = derivativeOf(node, std::move(v));
    op.operands.insert(op.operands.end(), seeds.begin(), seeds.end());
    const TypeId type = T(node.type);
    const std::vector<TypeId>& wanted = types_[type].parts;
    std::vector<TypeId> found = wanted;
    if (ref.mode != check::DerivativeMode::Backward) found[0] = resultOf(op);
    if (ref.mode == check::DerivativeMode::Jvp) found[1] = types::positionalTangent(types_, found[0]);
    core::OpId made = b_.append(std::move(op), std::span<const TypeId>(found));
    std::vector<ValueId> parts;
    for (size_t k = 0; k < wanted.size(); ++k) parts.push_back(cast(b_.result(made, k), wanted[k]));
    return b_.make(type, std::move(parts));
  });
}

/// The op without its seeds; sizes that the function decides come into scope.
core::Op BodyLowering::derivativeOf(const Node& node, std::vector<ValueId> args) {
  const DerivativeRef& ref = node.as<DerivativeRef>();
  core::Op op = Builder::simple(OpKind::Derivative, std::move(args));
  core::DerivativeAttr attr{coreMode(ref.mode), {}, ref.wrt, {true}, ref.saved};
  if (ref.mode == check::DerivativeMode::Backward) {
    attr.callee = lowering_.functionOf(lowering_.savedBy(ref.saved));
    op.attr = std::move(attr);
    return op;
  }
  attr.callee = lowering_.functionOf(ref.target.instance);
  op.operands = withCaptures(ref.target, std::move(op.operands));
  types::DimSubst subst;
  checkDimArguments(ref.target.dims, op.operands);
  const std::vector<DimSym>& params = module_.functions[attr.callee].dimParams;
  for (size_t k = 0; k < params.size() && k < ref.target.dims.size(); ++k) {
    op.dims.push_back(D(ref.target.dims[k]));
    subst.emplace(params[k], op.dims.back());
  }
  for (size_t p = 0; p < op.operands.size(); ++p) {
    TypeId wanted = module_.functions[attr.callee].typeOf(module_.functions[attr.callee].params()[p]);
    op.operands[p] = cast(op.operands[p], types_.substitute(wanted, subst));
  }
  for (DimSym s : module_.functions[attr.callee].resultDims)
    op.resultDims.push_back(b_.newDim(types_.dims.info(s).name));
  op.attr = std::move(attr);
  types::DimSubst found;
  matchDims(types_[node.type].parts[0], resultOf(op), found);
  for (DimSym s : node.resultDims)
    if (auto it = found.find(s); it != found.end()) dimMap_[s] = it->second;
  return op;
}

/// The type of the function's own result, with the sizes of this op.
TypeId BodyLowering::resultOf(const core::Op& derivative) {
  const core::Function& callee = module_.functions[derivative.as<core::DerivativeAttr>().callee];
  types::DimSubst subst;
  for (size_t k = 0; k < derivative.dims.size(); ++k) subst.emplace(callee.dimParams[k], derivative.dims[k]);
  for (size_t k = 0; k < callee.resultDims.size(); ++k)
    subst.emplace(callee.resultDims[k], types_.dims.symbol(derivative.resultDims[k]));
  return types_.substitute(callee.results[0], subst);
}

} // namespace melix::lower

// Calls and derivatives.
#include "lower/call.h"

#include "lower/body.h"
#include "lower/place.h"
#include "lower/sizes.h"
#include "types/tangent.h"

namespace melix::lower {

using namespace check;

namespace {

/// The captures of a known function value in front of the arguments.
core::Operands withCaptures(BodyLowering& fn, const CallTarget& target, core::Operands args) {
  if (!target.known) return args;
  core::Operands out = capturesOf(fn, args[0]);
  out.insert(out.end(), args.begin() + 1, args.end());
  return out;
}

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

/// The op without its seeds; sizes that the function decides come into scope.
core::Op derivativeOf(BodyLowering& fn, const Node& node, std::vector<ValueId> args) {
  const DerivativeRef& ref = node.as<DerivativeRef>();
  core::Op op = Builder::simple(OpKind::Derivative, std::move(args));
  core::DerivativeAttr attr{coreMode(ref.mode), {}, ref.wrt, {true}, ref.saved};
  if (ref.mode == check::DerivativeMode::Backward) {
    attr.callee = fn.lowering.functionOf(fn.lowering.savedBy(ref.saved));
    op.attr = std::move(attr);
    return op;
  }
  attr.callee = fn.lowering.functionOf(ref.target.instance);
  op.operands = withCaptures(fn, ref.target, std::move(op.operands));
  types::DimSubst subst;
  checkDimArguments(fn, ref.target.dims, op.operands);
  const std::vector<DimSym>& params = fn.module.functions[attr.callee].dimParams;
  for (size_t k = 0; k < params.size() && k < ref.target.dims.size(); ++k) {
    op.dims.push_back(fn.D(ref.target.dims[k]));
    subst.emplace(params[k], op.dims.back());
  }
  for (size_t p = 0; p < op.operands.size(); ++p) {
    TypeId wanted = fn.module.functions[attr.callee].typeOf(fn.module.functions[attr.callee].params()[p]);
    op.operands[p] = fn.cast(op.operands[p], fn.types.substitute(wanted, subst));
  }
  for (DimSym s : fn.module.functions[attr.callee].resultDims)
    op.resultDims.push_back(fn.b.newDim(fn.types.dims.info(s).name));
  op.attr = std::move(attr);
  types::DimSubst found;
  fn.matchDims(fn.types[node.type].parts[0], resultOf(fn, op), found);
  for (DimSym s : node.resultDims)
    if (auto it = found.find(s); it != found.end()) fn.sizes.known[s] = it->second;
  return op;
}

} // namespace

std::vector<ValueId> capturesOf(BodyLowering& fn, ValueId known) {
  const std::vector<TypeId>& parts = fn.types[fn.b.typeOf(known)].parts;
  std::vector<ValueId> out;
  for (uint32_t k = 0; k < parts.size(); ++k)
    out.push_back(fn.b.one(Builder::simple(OpKind::Capture, {known}, k), parts[k]));
  return out;
}

ValueId lowerCall(BodyLowering& fn, const Node& node) {
  const CallTarget& target = node.as<CallTarget>();
  // Places of inout arguments follow the values: their indices come last, the places are read after every
  // argument.
  std::vector<NodeId> children = node.children;
  for (const InoutArg& arg : target.inouts) indexNodes(arg.place.steps, children);
  return fn.after(children, node.type, [&](std::vector<ValueId> v) {
    size_t next = node.children.size();
    std::vector<LoweredPath> places;
    for (const InoutArg& arg : target.inouts) places.push_back(placePath(fn, arg.place, v, next));
    v.resize(node.children.size());
    core::Operands args = withCaptures(fn, target, v);
    size_t offset = target.known ? args.size() + 1 - v.size() : 0;
    for (size_t k = 0; k < target.inouts.size(); ++k)
      args.insert(args.begin() + static_cast<ptrdiff_t>(target.inouts[k].param + offset),
                  current(fn, target.inouts[k].place, places[k]));
    core::FunctionId callee = fn.lowering.functionOf(target.instance);
    std::vector<DimId> dims;
    for (DimId d : target.dims) dims.push_back(fn.D(d));
    types::DimSubst subst;
    const std::vector<DimSym>& params = fn.module.functions[callee].dimParams;
    for (size_t k = 0; k < params.size() && k < dims.size(); ++k) subst.emplace(params[k], dims[k]);
    checkDimArguments(fn, target.dims, args);
    for (size_t p = 0; p < args.size(); ++p)
      args[p] = fn.cast(
          args[p], fn.types.substitute(
                       fn.module.functions[callee].typeOf(fn.module.functions[callee].params()[p]), subst));
    core::OpId made = fn.b.call(callee, std::move(args), std::move(dims));
    ValueId result = fn.b.result(made, 0);
    fn.learnDims(node.type, result, node.resultDims);
    for (size_t k = 0; k < target.inouts.size(); ++k)
      writePath(fn, target.inouts[k].place, places[k], fn.b.result(made, k + 1));
    if (fn.types.kind(node.type) == TypeKind::Never) {
      return result;
    }
    return fn.cast(result, fn.T(node.type));
  });
}

ValueId lowerDerivative(BodyLowering& fn, const Node& node) {
  const DerivativeRef& ref = node.as<DerivativeRef>();
  return fn.after(node.children, node.type, [&](std::vector<ValueId> v) {
    std::vector<ValueId> seeds(v.end() - static_cast<ptrdiff_t>(seedsOf(ref)), v.end());
    v.resize(v.size() - seeds.size());
    core::Op op = derivativeOf(fn, node, std::move(v));
    op.operands.insert(op.operands.end(), seeds.begin(), seeds.end());
    const TypeId type = fn.T(node.type);
    const std::vector<TypeId>& wanted = fn.types[type].parts;
    std::vector<TypeId> found = wanted;
    if (ref.mode != check::DerivativeMode::Backward) found[0] = resultOf(fn, op);
    if (ref.mode == check::DerivativeMode::Jvp) found[1] = types::positionalTangent(fn.types, found[0]);
    core::OpId made = fn.b.append(std::move(op), std::span<const TypeId>(found));
    std::vector<ValueId> parts;
    for (size_t k = 0; k < wanted.size(); ++k) parts.push_back(fn.cast(fn.b.result(made, k), wanted[k]));
    return fn.b.make(type, std::move(parts));
  });
}

/// The type of the function's own result, with the sizes of this op.
TypeId resultOf(BodyLowering& fn, const core::Op& derivative) {
  const core::Function& callee = fn.module.functions[derivative.as<core::DerivativeAttr>().callee];
  types::DimSubst subst;
  for (size_t k = 0; k < derivative.dims.size(); ++k) subst.emplace(callee.dimParams[k], derivative.dims[k]);
  for (size_t k = 0; k < callee.resultDims.size(); ++k)
    subst.emplace(callee.resultDims[k], fn.types.dims.symbol(derivative.resultDims[k]));
  return fn.types.substitute(callee.results[0], subst);
}

} // namespace melix::lower

// Calls and derivatives.
#include "lower/body.h"

namespace melix::lower {

using namespace check;

/// The captures of a known function value in front of the arguments.
std::vector<ValueId> BodyLowering::withCaptures(const CallTarget& target, std::vector<ValueId> args) {
  if (!target.known) return args;
  ValueId known = args[0];
  const std::vector<TypeId> parts = types_[b_.typeOf(known)].parts;
  std::vector<ValueId> out;
  for (uint32_t k = 0; k < parts.size(); ++k)
    out.push_back(b_.one(Builder::simple(OpKind::Capture, {known}, k), parts[k]));
  out.insert(out.end(), args.begin() + 1, args.end());
  return out;
}

ValueId BodyLowering::call(const Node& node) {
  const CallTarget target = node.as<CallTarget>();
  // Places of inout arguments follow the values: their indices come last, the places are read after every
  // argument.
  std::vector<NodeId> children = node.children;
  for (const InoutArg& arg : target.inouts) indexNodes(arg.place.steps, children);
  return after(children, node.type, [&](std::vector<ValueId> v) {
    size_t next = node.children.size();
    std::vector<LoweredPath> places;
    for (const InoutArg& arg : target.inouts) places.push_back(placePath(arg.place, v, next));
    v.resize(node.children.size());
    std::vector<ValueId> args = withCaptures(target, v);
    size_t offset = target.known ? args.size() + 1 - v.size() : 0;
    for (size_t k = 0; k < target.inouts.size(); ++k)
      args.insert(args.begin() + static_cast<ptrdiff_t>(target.inouts[k].param + offset),
                  current(target.inouts[k].place, places[k]));
    core::FunctionId callee = lowering_.functionOf(target.instance);
    std::vector<DimId> dims;
    for (DimId d : target.dims) dims.push_back(D(d));
    types::DimSubst subst;
    const std::vector<DimSym> params = module_.functions[callee].dimParams;
    for (size_t k = 0; k < params.size() && k < dims.size(); ++k) subst.emplace(params[k], dims[k]);
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

ValueId BodyLowering::derivative(const Node& node) {
  const DerivativeRef ref = node.as<DerivativeRef>();
  return after(node.children, node.type, [&](std::vector<ValueId> v) {
    core::FunctionId callee = lowering_.functionOf(ref.target.instance);
    size_t seeds = ref.mode == check::DerivativeMode::Jvp       ? ref.wrt.size()
                   : ref.mode == check::DerivativeMode::Reverse ? 1
                                                                : 0;
    std::vector<ValueId> tail(v.end() - static_cast<ptrdiff_t>(seeds), v.end());
    v.resize(v.size() - seeds);
    std::vector<ValueId> args = withCaptures(ref.target, std::move(v));
    core::Op op = Builder::simple(OpKind::Derivative, {});
    core::DerivativeAttr attr;
    attr.mode =
        ref.mode == check::DerivativeMode::Jvp ? core::DerivativeMode::Jvp : core::DerivativeMode::Reverse;
    attr.callee = callee;
    attr.wrt = ref.wrt;
    attr.seeded = {true};
    attr.saved = ref.saved;
    types::DimSubst subst;
    const std::vector<DimSym> params = module_.functions[callee].dimParams;
    for (size_t k = 0; k < params.size() && k < ref.target.dims.size(); ++k) {
      op.dims.push_back(D(ref.target.dims[k]));
      subst.emplace(params[k], op.dims.back());
    }
    for (size_t p = 0; p < args.size(); ++p)
      args[p] = cast(
          args[p],
          types_.substitute(module_.functions[callee].typeOf(module_.functions[callee].params()[p]), subst));
    op.operands = std::move(args);
    op.operands.insert(op.operands.end(), tail.begin(), tail.end());
    op.attr = std::move(attr);
    TypeId type = T(node.type);
    core::OpId made =
        b_.append(std::move(op), std::span<const TypeId>(std::vector<TypeId>(types_[type].parts)));
    std::vector<ValueId> parts;
    for (size_t k = 0; k < types_[type].parts.size(); ++k) parts.push_back(b_.result(made, k));
    return b_.make(type, std::move(parts));
  });
}

} // namespace melix::lower

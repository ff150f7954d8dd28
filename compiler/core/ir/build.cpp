#include "core/ir/build.h"

#include "types/leaves.h"

#include <algorithm>

namespace melix::core {

ValueId Builder::param(TypeId type, NameId hint) {
  const ValueId v = fn().values.add(Value{type, {}, {}, 0, hint});
  defineParam(v);
  return v;
}

void Builder::defineParam(ValueId v) {
  std::vector<ValueId>& params = fn().regions[region].params;
  fn().version.raise();
  fn().values[v].region = region;
  fn().values[v].index = static_cast<uint32_t>(params.size());
  params.push_back(v);
}

DimSym Builder::newDim(std::string name, types::DimSymKind kind, int64_t lowerBound) {
  return dims().newSym({std::move(name), kind, lowerBound, {}});
}

Op Builder::simple(OpKind kind, Operands operands, Attr attr) {
  Op op;
  op.kind = kind;
  op.operands = std::move(operands);
  op.attr = std::move(attr);
  return op;
}

OpId Builder::append(Op op, std::span<const TypeId> resultTypes) {
  Function& f = fn();
  f.version.raise();
  if (!op.loc.valid()) op.loc = loc;
  op.results.clear();
  OpId id = f.ops.add(std::move(op));
  uint32_t index = 0;
  for (TypeId t : resultTypes) {
    ValueId v = f.values.add(Value{t, id, {}, index++, {}});
    f.ops[id].results.push_back(v);
  }
  for (RegionId r : f.ops[id].regions) f.regions[r].parent = id;
  f.regions[region].ops.push_back(id);
  return id;
}

ValueId Builder::number(TypeId type, double value) {
  return constant(type, floatBits(types().kind(type), value));
}

ValueId Builder::dimValue(DimId d) {
  Op op = simple(OpKind::DimValue, {});
  op.dims = {d};
  return one(std::move(op), types().int64());
}

DimSym Builder::bindDim(ValueId v, std::string name) {
  DimSym s = newDim(std::move(name));
  Op op = simple(OpKind::BindDim, {v});
  op.resultDims = {s};
  append(std::move(op), {});
  return s;
}

ValueId Builder::castDims(ValueId v, TypeId to) {
  return typeOf(v) == to ? v : one(simple(OpKind::CastDims, {v}), to);
}

ValueId Builder::get(ValueId x, Path path, std::span<const ValueId> indices) {
  if (path.empty()) return x;
  std::optional<TypeId> type = pathType(types(), typeOf(x), path);
  assert(type && "the path fits the value");
  Op op = simple(OpKind::Get, {x}, std::move(path));
  op.operands.insert(op.operands.end(), indices.begin(), indices.end());
  return one(std::move(op), *type);
}

ValueId Builder::getAt(ValueId x, std::span<const ValueId> indices) {
  return get(x, Path(indices.size(), PathStep{StepKind::Index, 0, {}, 1}), indices);
}

static ValueId update(Builder& b, OpKind kind, ValueId x, ValueId v, Path path,
                      std::span<const ValueId> indices) {
  Op op = Builder::simple(kind, {x, v}, std::move(path));
  op.operands.insert(op.operands.end(), indices.begin(), indices.end());
  return b.one(std::move(op), b.typeOf(x));
}

ValueId Builder::set(ValueId x, ValueId v, Path path, std::span<const ValueId> indices) {
  if (path.empty()) return v;
  return update(*this, OpKind::Set, x, v, std::move(path), indices);
}

ValueId Builder::addAt(ValueId x, ValueId v, Path path, std::span<const ValueId> indices) {
  return update(*this, OpKind::AddAt, x, v, std::move(path), indices);
}

ValueId Builder::compare(ops::CmpKind kind, ValueId a, ValueId b) {
  return one(simple(OpKind::Cmp, {a, b}, static_cast<uint32_t>(kind)), types().boolean());
}

ValueId Builder::convert(ValueId v, TypeId to, ops::ConvertMode mode) {
  if (typeOf(v) == to) return v;
  return one(simple(OpKind::Convert, {v}, static_cast<uint32_t>(mode)), to);
}

void Builder::checkFits(std::span<const DimId> extents) {
  constexpr size_t mostNumbers = 10; // of a message
  auto counts = [&](DimId d) { return dims().asConstant(d) != 1; };
  if (std::ranges::count_if(extents, counts) < 2) return;
  std::string numbers;
  for (size_t k = 0; k < extents.size(); ++k)
    numbers +=
        (k == 0 ? "" : ", ") + (k < mostNumbers ? "{" + std::to_string(k) + "}" : dims().show(extents[k]));
  CheckAttr attr{CheckKind::ArrayFits, "an array of shape [" + numbers + "] is too large", {}};
  Op check = simple(OpKind::Check, {}, std::move(attr));
  check.dims.assign(extents.begin(), extents.end());
  append(std::move(check), {});
}

std::vector<TypeId> callResultTypes(Module& m, FunctionId callee, std::span<const DimId> dimArgs,
                                    DimSyms& defined) {
  const Function& f = m.functions[callee];
  types::DimSubst subst;
  for (size_t i = 0; i < f.dimParams.size(); ++i) subst.emplace(f.dimParams[i], dimArgs[i]);
  defined.clear();
  for (DimSym s : f.resultDims) {
    types::DimSymInfo info = m.types.dims.info(s);
    info.kind = types::DimSymKind::Unknown;
    DimSym fresh = m.types.dims.newSym(std::move(info));
    defined.push_back(fresh);
    subst.insert_or_assign(s, m.types.dims.symbol(fresh));
  }
  std::vector<TypeId> out;
  for (TypeId t : f.results) out.push_back(m.types.substitute(t, subst));
  return out;
}

OpId Builder::call(FunctionId callee, Operands args, Dims dimArgs) {
  Op op = simple(OpKind::Call, std::move(args), CallAttr{callee});
  op.dims = std::move(dimArgs);
  std::vector<TypeId> results = callResultTypes(module, callee, op.dims, op.resultDims);
  return append(std::move(op), results);
}

void Builder::yield(Operands values, Dims dimsOut) {
  Op op = simple(OpKind::Yield, std::move(values));
  op.dims = std::move(dimsOut);
  append(std::move(op), {});
}

bool canMake(const Module& m, TypeId type) {
  switch (m.types.kind(type)) {
  case TypeKind::Tuple:
  case TypeKind::Struct: return true;
  case TypeKind::Enum: return m.recordsFlat && types::hasParts(m.types, type);
  case TypeKind::Array: return m.recordsFlat && types::isFlattened(m.types, type);
  default: return false;
  }
}

} // namespace melix::core

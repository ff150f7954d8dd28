#include "core/order/clone.h"

#include "core/analysis/effect_audit.h"
#include "core/ir/walk.h"

namespace melix::core {

ValueId Cloner::value(ValueId v) const {
  auto it = values.find(v);
  if (it != values.end()) return it->second;
  assert(source_ == target_ && "a value of another function must be in the map");
  return v;
}

DimId Cloner::dim(DimId d) {
  const auto whole = extents.find(d);
  return whole != extents.end() ? whole->second : module_.types.dims.substitute(d, dims);
}

TypeId Cloner::type(TypeId t) {
  if (typesAt_ != dims.size()) types_.clear();
  typesAt_ = dims.size();
  auto [it, fresh] = types_.try_emplace(t);
  if (fresh) it->second = module_.types.substitute(extents.empty() ? t : withExtents(t), dims);
  return it->second;
}

TypeId Cloner::withExtents(TypeId t) const {
  types::TypeStore& types = module_.types;
  return types.rewrite(t, [&](TypeId part) {
    if (types.kind(part) != TypeKind::Array) return part;
    std::vector<DimId> sizes = types[part].dims;
    for (DimId& d : sizes)
      if (const auto whole = extents.find(d); whole != extents.end()) d = whole->second;
    return types.array(types.element(part), std::move(sizes));
  });
}

DimSym Cloner::defineDim(DimSym s) {
  DimSym fresh = module_.types.dims.newSym(module_.types.dims.info(s));
  setDim(s, module_.types.dims.symbol(fresh));
  return fresh;
}

void Cloner::setDim(DimSym s, DimId by) {
  dims.insert_or_assign(s, by);
  types_.clear();
}

OpId Cloner::op(OpId id, Builder& b) {
  const Op& original = source().ops[id];
  const Results& results = original.results;
  Op copy = original;
  for (ValueId& v : copy.operands) v = value(v);
  for (DimId& d : copy.dims) d = dim(d);
  if (auto* path = std::get_if<Path>(&copy.attr))
    for (PathStep& s : *path)
      if (s.length.valid()) s.length = dim(s.length);
  if (auto* check = std::get_if<CheckAttr>(&copy.attr))
    if (check->type.valid()) check->type = type(check->type);
  if (relocate && copy.loc.valid()) copy.loc = relocate(copy.loc);
  for (RegionId& r : copy.regions) r = region(r, b);
  for (DimSym& s : copy.resultDims) s = defineDim(s);
  std::vector<TypeId> types;
  for (ValueId v : results) types.push_back(type(source().typeOf(v)));
  OpId made = b.append(std::move(copy), types);
  noteCopy(source_, id, b.function, made);
  for (size_t i = 0; i < results.size(); ++i) {
    ValueId now = b.result(made, i);
    b.fn().values[now].hint = source().values[results[i]].hint;
    values.insert_or_assign(results[i], now);
  }
  return made;
}

RegionId Cloner::region(RegionId id, Builder& b) {
  Builder in = b.in(b.newRegion());
  const Region& from = source().regions[id];
  std::vector<DimSym> syms;
  for (DimSym s : from.dimParams) syms.push_back(defineDim(s));
  b.fn().regions[in.region].dimParams = std::move(syms);
  for (ValueId p : from.params) {
    const Value& old = source().values[p];
    values.insert_or_assign(p, in.param(type(old.type), old.hint));
  }
  for (OpId o : from.ops) place(o, in);
  return in.region;
}

Cloner::Yielded Cloner::body(RegionId id, Builder& b) {
  const std::vector<OpId>& list = source().regions[id].ops;
  const size_t last = list.size() - 1; // the builder may append to this very region
  for (size_t i = 0; i < last; ++i) place(list[i], b);
  const Op& end = source().ops[list[last]];
  Yielded out;
  for (ValueId v : end.operands) out.values.push_back(value(v));
  for (DimId d : end.dims) out.dims.push_back(dim(d));
  return out;
}

LocId inlinedLoc(Module& m, LocId inner, LocId call, const std::string& function) {
  if (!call.valid()) return m.locs.add(Loc{LocKind::InlinedAt, Span(), inner, function});
  Loc link = m.locs[call];
  if (link.kind == LocKind::Source || link.kind == LocKind::BlockCall)
    return m.locs.add(Loc{LocKind::InlinedAt, link.span, inner, function});
  link.inner = inlinedLoc(m, inner, link.inner, function);
  return m.locs.add(std::move(link));
}

FunctionId copyFunction(Module& m, FunctionId source, const std::string& suffix) {
  Function made;
  made.name = m.functions[source].name;
  made.key = m.functions[source].key + " " + suffix;
  made.device = m.functions[source].device;
  made.isCold = m.functions[source].isCold;
  made.loc = m.functions[source].loc;
  made.inouts = m.functions[source].inouts;
  made.body = made.regions.add(Region{});
  Builder b(m, {}, made.body, made.loc);
  const FunctionId id = b.function = m.functions.add(std::move(made));
  const Function& from = m.functions[source];
  Cloner copy(m, source, id);
  for (DimSym s : from.dimParams) b.fn().dimParams.push_back(copy.defineDim(s));
  for (ValueId v : from.params()) copy.values[v] = b.param(copy.type(from.typeOf(v)), from.values[v].hint);
  for (DimSym s : from.resultDims) b.fn().resultDims.push_back(copy.defineDim(s));
  for (TypeId type : from.results) b.fn().results.push_back(copy.type(type));
  Cloner::Yielded end = copy.body(from.body, b);
  b.yield({end.values.begin(), end.values.end()}, {end.dims.begin(), end.dims.end()});
  return id;
}

std::vector<ValueId> inlineCall(Module& m, const Op& call, Builder& b, types::DimSubst& outer) {
  FunctionId callee = call.as<CallAttr>().callee;
  Cloner cloner(m, callee, b.function);
  const Function& f = m.functions[callee];
  for (size_t i = 0; i < f.dimParams.size(); ++i) cloner.dims.emplace(f.dimParams[i], call.dims[i]);
  for (size_t i = 0; i < f.params().size(); ++i) cloner.values.emplace(f.params()[i], call.operands[i]);
  std::unordered_map<LocId, LocId> moved;
  cloner.relocate = [&](LocId inner) {
    auto [it, fresh] = moved.try_emplace(inner);
    if (fresh) it->second = inlinedLoc(m, inner, call.loc, f.name);
    return it->second;
  };
  Cloner::Yielded end = cloner.body(f.body, b);
  for (size_t i = 0; i < call.resultDims.size(); ++i) outer.insert_or_assign(call.resultDims[i], end.dims[i]);
  return end.values;
}

void replaceDims(Module& m, FunctionId id, const types::DimSubst& dims) {
  if (dims.empty()) return;
  Function& f = m.functions[id];
  f.version.raise();
  std::unordered_map<TypeId, TypeId> memo;
  auto type = [&](TypeId t) {
    auto [it, fresh] = memo.try_emplace(t);
    if (fresh) it->second = m.types.substitute(t, dims);
    return it->second;
  };
  auto retype = [&](ValueId v) { f.values[v].type = type(f.values[v].type); };
  for (ValueId p : f.params()) retype(p);
  forEachOp(f, [&](OpId o) {
    Op& op = f.ops[o];
    for (DimId& d : op.dims) d = m.types.dims.substitute(d, dims);
    if (auto* path = std::get_if<Path>(&op.attr))
      for (PathStep& s : *path)
        if (s.length.valid()) s.length = m.types.dims.substitute(s.length, dims);
    if (auto* check = std::get_if<CheckAttr>(&op.attr))
      if (check->type.valid()) check->type = type(check->type);
    for (ValueId v : op.results) retype(v);
    for (RegionId region : op.regions)
      for (ValueId p : f.regions[region].params) retype(p);
  });
}

void takeOver(Function& f, OpId op, std::span<const ValueId> values) {
  f.ops[op].results.assign(values.begin(), values.end());
  for (uint32_t k = 0; k < values.size(); ++k) {
    f.values[values[k]].def = op;
    f.values[values[k]].index = k;
  }
}

} // namespace melix::core

#include "transforms/derivatives/differentiable_leaves.h"

#include "types/tangent.h"

#include <algorithm>

namespace melix::transforms {

bool Leaves::isBundle(TypeId type) const {
  TypeKind k = types_.kind(type);
  return k == TypeKind::Tuple || k == TypeKind::Struct || k == TypeKind::Known;
}

uint32_t Leaves::kidCount(TypeId type) const {
  const types::Type& t = types_[type];
  if (t.kind == TypeKind::Struct)
    return static_cast<uint32_t>(types_.recordInfo(t.record).cases[0].fields.size());
  return static_cast<uint32_t>(t.parts.size());
}

TypeId Leaves::kid(TypeId type, uint32_t k) const {
  const types::Type& t = types_[type];
  return t.kind == TypeKind::Struct ? types_.fieldType(type, 0, k) : t.parts[k];
}

TypeId Leaves::tangent(TypeId type) {
  if (types_.kind(type) == TypeKind::Acc) {
    TypeId inner = tangent(types_[type].parts[0]);
    return types_.isUnit(inner) ? inner : types_.acc(inner);
  }
  return types::positionalTangent(types_, type);
}

static bool hasElements(const types::TypeStore& types, TypeId type) {
  return types.kind(type) == TypeKind::Array || types.kind(type) == TypeKind::List;
}

TypeId Leaves::inside(TypeId type) {
  if (kind_ != LeafKind::Inside) return type;
  TypeId element = type;
  while (hasElements(types_, element)) element = types_[element].parts[0];
  std::vector<TypeId> around;
  return isBundle(element) && !holdsItself(element, around) ? element : type;
}

/// Whether elements inside of the type hold elements of a type around them, `around`: it has no end then.
bool Leaves::holdsItself(TypeId type, std::vector<TypeId>& around) {
  if (hasElements(types_, type)) return holdsItself(types_[type].parts[0], around);
  if (!isBundle(type)) return false;
  const TypeId unsized = types_.eraseDims(type);
  if (std::find(around.begin(), around.end(), unsized) != around.end()) return true;
  around.push_back(unsized);
  bool found = false;
  for (uint32_t k = 0, n = kidCount(type); k < n && !found; ++k) found = holdsItself(kid(type, k), around);
  around.pop_back();
  return found;
}

void Leaves::collect(TypeId type, std::vector<uint32_t>& path, std::vector<Leaf>& out) {
  type = inside(type);
  if (isBundle(type)) {
    for (uint32_t k = 0, n = kidCount(type); k < n; ++k) {
      path.push_back(k);
      collect(kid(type, k), path, out);
      path.pop_back();
    }
    return;
  }
  TypeId t = tangent(type);
  if (kind_ == LeafKind::All || !types_.isUnit(t)) out.push_back({path, type, t});
}

const std::vector<Leaf>& Leaves::of(TypeId type) {
  if (auto it = leaves_.find(type); it != leaves_.end()) return it->second;
  std::vector<Leaf> out;
  std::vector<uint32_t> path;
  collect(type, path, out);
  return leaves_.emplace(type, std::move(out)).first->second;
}

std::pair<uint32_t, uint32_t> Leaves::range(TypeId type, uint32_t k) {
  uint32_t begin = 0;
  for (uint32_t i = 0; i < k; ++i) begin += static_cast<uint32_t>(count(kid(type, i)));
  return {begin, static_cast<uint32_t>(count(kid(type, k)))};
}

/// One read a leaf, so that the transpose adds at its place in `value`; captures are read one by one.
std::vector<ValueId> Leaves::splitLeaves(Emit& e, ValueId value, TypeId type, bool ofTangent) {
  std::vector<ValueId> out;
  for (const Leaf& leaf : std::vector<Leaf>(of(type))) {
    ValueId v = value;
    TypeId t = type;
    Path fields;
    auto read = [&] {
      v = e.get(v, std::move(fields), {}, ofTangent ? tangent(t) : t);
      fields.clear();
    };
    for (uint32_t k : leaf.path) {
      if (!ofTangent && types_.kind(t) == TypeKind::Known) {
        read();
        v = e.kid(v, k, t = kid(t, k));
        continue;
      }
      fields.push_back({StepKind::Field, k, {}, 1});
      t = kid(t, k);
    }
    read();
    out.push_back(v);
  }
  return out;
}

ValueId Leaves::build(Emit& e, TypeId type, const std::vector<ValueId>& leaves, size_t& at) {
  TypeId t = tangent(type);
  if (types_.isUnit(t)) return e.make(types_.unit(), {});
  if (!isBundle(type)) return leaves[at++];
  std::vector<ValueId> parts;
  for (uint32_t k = 0, n = kidCount(type); k < n; ++k) parts.push_back(build(e, kid(type, k), leaves, at));
  return e.make(t, std::move(parts));
}

ValueId Leaves::putTogether(Emit& e, TypeId type, const std::vector<ValueId>& leaves) {
  size_t at = 0;
  return build(e, type, leaves, at);
}

ValueId Leaves::throughFunction(Emit& e, const std::string& purpose, ValueId x, TypeId result,
                                FunctionBody body) {
  std::vector<DimSym> mine;
  types_.collectSymbols(e.typeOf(x), mine);
  types_.collectSymbols(result, mine); // which may call equal sizes otherwise
  while (sizes_.size() < mine.size()) sizes_.push_back(e.newDim(""));
  types::DimSubst numbered, atCall;
  Op call = Emit::simple(OpKind::Call, {x});
  for (size_t k = 0; k < mine.size(); ++k) {
    const DimId size = types_.dims.symbol(mine[k]);
    numbered[mine[k]] = types_.dims.symbol(sizes_[k]);
    atCall[sizes_[k]] = size;
    call.dims.push_back(size);
  }
  const TypeId from = types_.substitute(e.typeOf(x), numbered), to = types_.substitute(result, numbered);
  auto [known, fresh] = functions_.try_emplace({purpose, from, to});
  if (fresh) {
    Function f;
    f.name = purpose + " " + types_.print(from);
    f.key = f.name + "#" + std::to_string(e.module.functions.size());
    f.loc = e.loc;
    f.dimParams = {sizes_.begin(), sizes_.begin() + static_cast<std::ptrdiff_t>(mine.size())};
    f.results = {to};
    f.body = f.regions.add(Region{});
    const RegionId region = f.body;
    known->second = e.module.functions.add(std::move(f));
    Emit inside(e.module, known->second, region, e.loc);
    ValueId y = inside.param(from);
    inside.yield({body(inside, to, y)});
  }
  call.attr = CallAttr{known->second};
  return e.one(std::move(call), types_.substitute(to, atCall));
}

} // namespace melix::transforms

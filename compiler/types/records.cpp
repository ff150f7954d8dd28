// Structs and enums: their type arguments and fields, with the sizes of a type.

#include "types/types.h"

#include <algorithm>
#include <cassert>

namespace melix::types {
namespace {

/// Puts a symbol in the place of each size.
class Generaliser {
public:
  Generaliser(TypeStore& types, std::vector<DimId>& sizes) : types_(types), sizes_(sizes) {}

  TypeId type(TypeId id) {
    Type t = types_[id];
    if (t.kind == TypeKind::Pack) return pack(id, t.number);
    for (DimId& d : t.dims) d = size(d);
    for (TypeId& p : t.parts) p = type(p);
    if (t.result.valid()) t.result = type(t.result);
    return t.kind == TypeKind::Array ? types_.array(t.parts[0], std::move(t.dims))
                                     : types_.intern(std::move(t));
  }

private:
  TypeId pack(TypeId id, uint32_t count) {
    const size_t outer = hidden_.size();
    std::vector<DimSym> own;
    std::vector<DimId> opened;
    for (uint32_t k = 0; k < count; ++k) {
      own.push_back(types_.dims.newSym({"_", DimSymKind::Unknown, 0, {}}));
      opened.push_back(types_.dims.symbol(own.back()));
    }
    hidden_.insert(hidden_.end(), own.begin(), own.end());
    TypeId inner = type(types_.openPack(id, opened));
    hidden_.resize(outer);
    return types_.pack(inner, own);
  }

  bool isHidden(DimSym s) const { return std::find(hidden_.begin(), hidden_.end(), s) != hidden_.end(); }

  /// Of a size with hidden ones in it the others are replaced: what is added to these as one, be it a number
  /// or a name, each that is multiplied with them by itself.
  DimId size(DimId d) {
    DimStore& dims = types_.dims;
    std::vector<DimSym> symbols;
    dims.collectSymbols(d, symbols);
    if (std::none_of(symbols.begin(), symbols.end(), [&](DimSym s) { return isHidden(s); })) return fresh(d);
    const DimId added = dims.hasOpaqueAtom(d) ? dims.constant(0) : withoutHidden(d);
    DimId mixed = dims.sub(d, added);
    symbols.clear();
    dims.collectSymbols(mixed, symbols);
    DimSubst others;
    for (DimSym s : symbols)
      if (!isHidden(s)) others.emplace(s, fresh(dims.symbol(s)));
    mixed = dims.substitute(mixed, others);
    return added == dims.constant(0) ? mixed : dims.add(mixed, fresh(added));
  }

  DimId withoutHidden(DimId d) {
    DimSubst none;
    for (DimSym s : hidden_) none.emplace(s, types_.dims.constant(0));
    return types_.dims.substitute(d, none);
  }

  DimId fresh(DimId size) {
    sizes_.push_back(size);
    return types_.dims.symbol(types_.sizeSyms(sizes_.size()).back());
  }

  TypeStore& types_;
  std::vector<DimId>& sizes_;
  std::vector<DimSym> hidden_;
};

} // namespace

TypeId TypeStore::record(RecordId record, std::vector<DimId> dims) {
  assert(dims.size() == records_[record].dimParams.size() &&
         "one dimension for each parameter of the record");
  Type t;
  t.kind = records_[record].isEnum ? TypeKind::Enum : TypeKind::Struct;
  t.record = record;
  t.dims = std::move(dims);
  return intern(std::move(t));
}

std::vector<TypeId> TypeStore::generalised(std::vector<TypeId> typeArgs, std::vector<DimId>& sizes) {
  std::vector<DimId> own;
  Generaliser generaliser(*this, own);
  for (TypeId& arg : typeArgs) arg = generaliser.type(arg);
  sizes.insert(sizes.end(), own.begin(), own.end());
  return typeArgs;
}

std::vector<DimSym> TypeStore::sizeSyms(size_t count) {
  while (sizeSyms_.size() < count)
    sizeSyms_.push_back(dims.newSym({"S" + std::to_string(sizeSyms_.size()), DimSymKind::Parameter, 0, {}}));
  return {sizeSyms_.begin(), sizeSyms_.begin() + static_cast<std::ptrdiff_t>(count)};
}

static DimSubst sizesOf(const Record& r, const Type& t) {
  DimSubst out;
  for (size_t i = 0; i < r.dimParams.size(); ++i) out.emplace(r.dimParams[i], t.dims[i]);
  return out;
}

void TypeStore::keepArgs(TypeId record) {
  const Type& t = (*this)[record];
  const Record& r = records_[t.record];
  if (r.argSizes == 0) return;
  const DimSubst sizes = sizesOf(r, t);
  std::vector<TypeId> args = r.typeArgs;
  for (TypeId& arg : args) arg = substitute(arg, sizes);
  args_.emplace(record, std::move(args));
}

const std::vector<TypeId>& TypeStore::typeArgs(TypeId record) const {
  const Record& r = records_[(*this)[record].record];
  return r.argSizes == 0 ? r.typeArgs : args_.at(record);
}

TypeId withSizesOf(TypeStore& types, TypeId recordType, TypeId declared) {
  const Type& t = types[recordType];
  const Record& r = types.recordInfo(t.record);
  return r.dimParams.empty() ? declared : types.substitute(declared, sizesOf(r, t));
}

TypeId TypeStore::fieldType(TypeId recordType, uint32_t c, uint32_t k) {
  const Record& r = records_[(*this)[recordType].record];
  assert(c < r.cases.size() && k < r.cases[c].fields.size() && "no such field");
  return withSizesOf(*this, recordType, r.cases[c].fields[k].type);
}

} // namespace melix::types

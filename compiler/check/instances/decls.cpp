// Declarations of functions and records, and the names that mean them.
#include "check/body/dicts.h"
#include "check/signatures/declaration_table.h"
#include "check/signatures/lookup.h"
#include "check/signatures/resolve.h"
#include "types/tangent.h"

#include <algorithm>
#include <functional>
#include <set>

namespace melix::check {

using namespace syntax;
using names::DeclKind;

namespace {

/// Whether every value of a type holds a value of `record` at sizes at which it is looked at already, first
/// at any. Arrays that may be empty hold nothing: those of a hidden size, or of size 0.
class Holds {
public:
  Holds(TypeStore& types, types::RecordId record) : types_(types), record_(record) {
    const size_t sizes = types.recordInfo(record).dimParams.size();
    path_.insert({record, std::vector<Extent>(sizes, Extent::Given)});
  }

  bool operator()(TypeId t) {
    const types::Type& type = types_[t];
    switch (type.kind) {
    case TypeKind::Array:
      if (std::any_of(type.dims.begin(), type.dims.end(),
                      [&](DimId d) { return extent(d) != Extent::Given; }))
        return false;
      [[fallthrough]];
    case TypeKind::Tuple:
    case TypeKind::Pack: return std::any_of(type.parts.begin(), type.parts.end(), std::ref(*this));
    case TypeKind::Struct: return structHolds(t, type);
    default: return false;
    }
  }

private:
  enum class Extent { Given, Hidden, Nothing };
  using AtSizes = std::pair<types::RecordId, std::vector<Extent>>;

  Extent extent(DimId d) {
    if (std::optional<int64_t> size = types_.dims.asConstant(d))
      return *size > 0 ? Extent::Given : Extent::Nothing;
    std::vector<DimSym> symbols;
    types_.dims.collectSymbols(d, symbols);
    bool hidden = std::any_of(symbols.begin(), symbols.end(),
                              [&](DimSym s) { return types_.dims.info(s).kind == types::DimSymKind::Bound; });
    return hidden ? Extent::Hidden : Extent::Given;
  }

  bool structHolds(TypeId t, const types::Type& type) {
    AtSizes here{type.record, {}};
    for (DimId d : type.dims) here.second.push_back(extent(d));
    if (path_.contains(here)) return true;
    if (!seen_.insert(here).second) return false;
    if (types_.recordInfo(type.record).cases.empty()) return false; // its declaration waits for this one
    if (type.record == record_) path_.insert(here);
    bool found = false;
    for (uint32_t k = 0; k < types_.recordInfo(type.record).cases[0].fields.size() && !found; ++k)
      found = (*this)(types_.fieldType(t, 0, k));
    path_.erase(here);
    return found;
  }

  TypeStore& types_;
  const types::RecordId record_;
  std::set<AtSizes> seen_, path_; ///< on the path: the record looked for
};

std::vector<DeclId> importedFunctions(Checker& c, ModuleId module, NameId name) {
  std::vector<DeclId> out;
  if (const std::vector<ModuleId>* imported = c.modules[module].imported.find(name))
    for (ModuleId from : *imported)
      for (DeclId d : functionsIn(c, from, name, true)) out.push_back(d);
  return out;
}

} // namespace

bool FunctionDecl::hasUntyped() const {
  return std::any_of(params.begin(), params.end(), [](const ParamDecl& p) { return !p.type.valid(); });
}

uint64_t Checker::literalBits(std::string_view text) {
  uint64_t bits = 0;
  literalFits(text, bits);
  return bits;
}

bool Checker::literalFits(std::string_view text, uint64_t& bits) {
  unsigned base = 10;
  if (text.starts_with("0x"))
    base = 16;
  else if (text.starts_with("0b"))
    base = 2;
  else if (text.starts_with("0o"))
    base = 8;
  if (base != 10) text.remove_prefix(2);
  bits = 0;
  bool fits = true;
  for (char c : text) {
    if (c == '_') continue;
    unsigned digit = c <= '9' ? static_cast<unsigned>(c - '0') : static_cast<unsigned>((c | 32) - 'a' + 10);
    fits &= !__builtin_mul_overflow(bits, uint64_t(base), &bits) &&
            !__builtin_add_overflow(bits, uint64_t(digit), &bits);
  }
  return fits;
}

/// Whether `name` stands where a type is meant inside the type syntax `type`.
bool DeclarationTable::usedAsType(const Ast& ast, SynId type, NameId name, ModuleId module) {
  if (!type.valid()) return false;
  const SynNode& n = ast[type];
  switch (n.kind) {
  case SynKind::Name: return n.as<Name>().name == name;
  case SynKind::Paren: return usedAsType(ast, n.as<One>().inner, name, module);
  case SynKind::Tuple:
    return std::any_of(n.as<Many>().items.begin(), n.as<Many>().items.end(),
                       [&](SynId part) { return usedAsType(ast, part, name, module); });
  case SynKind::FunctionType: {
    const auto& fn = n.as<FunctionType>();
    return usedAsType(ast, fn.result, name, module) ||
           std::any_of(fn.params.begin(), fn.params.end(),
                       [&](SynId part) { return usedAsType(ast, part, name, module); });
  }
  case SynKind::Brackets: {
    const auto& b = n.as<Brackets>();
    if (usedAsType(ast, b.base, name, module)) return true;
    std::string_view base = ast.kind(b.base) == SynKind::Name
                                ? c_.types.names.text(ast[b.base].as<Name>().name)
                                : std::string_view();
    if (base == "List" || base == "Tangent")
      return !b.items.empty() && usedAsType(ast, b.items[0].value, name, module);
    DeclId decl = typeDecl(c_, module, ast, b.base);
    bool isRecord = decl && (c_.modules.decl(decl).kind == DeclKind::Struct ||
                             c_.modules.decl(decl).kind == DeclKind::Enum);
    if (!isRecord || recordDecls_.contains(decl) == false) {
      if (!isRecord) return false;
      // A record that is being read (recursive): its own parameters are of the kind asked for.
      if (aliases.open.contains(decl)) return false;
    }
    const std::vector<GenericParam> generics = record(decl).generics;
    for (size_t k = 0; k < b.items.size() && k < generics.size(); ++k)
      if (generics[k].kind == GenericKind::Type && usedAsType(ast, b.items[k].value, name, module))
        return true;
    return false;
  }
  default: return false;
  }
}

GenericKind DeclarationTable::kindOfGeneric(const Ast& ast, NameId name, const std::vector<SynId>& typeNodes,
                                            ModuleId module) {
  for (SynId type : typeNodes)
    if (usedAsType(ast, type, name, module)) return GenericKind::Type;
  return GenericKind::Dim;
}

std::vector<GenericParam> DeclarationTable::readGenerics(const Ast& ast, const std::vector<Generic>& generics,
                                                         const std::vector<SynId>& typeNodes,
                                                         ModuleId module) {
  std::vector<GenericParam> out;
  for (const Generic& g : generics) {
    GenericParam p;
    p.name = g.name;
    p.span = g.span;
    p.defaultType = g.defaultType;
    if (g.isPack)
      p.kind = GenericKind::Pack;
    else if (g.bound || g.defaultType)
      p.kind = GenericKind::Type;
    else
      p.kind = kindOfGeneric(ast, g.name, typeNodes, module);
    if (g.bound && ast.kind(g.bound) == SynKind::Name) p.bound = ast[g.bound].as<Name>().name;
    out.push_back(p);
  }
  return out;
}

const FunctionDecl& DeclarationTable::function(DeclId decl) {
  if (auto found = functions_.find(decl); found != functions_.end()) return *found->second;
  const names::Decl d = c_.modules.decl(decl); // reading the prelude moves them
  if (c_.hooks.prepareSignature) c_.hooks.prepareSignature(decl);
  const Ast& tree = c_.ast(decl);
  const auto& item = tree[d.node].as<FnItem>();
  auto fn = std::make_unique<FunctionDecl>();
  fn->decl = decl;
  fn->module = d.module;
  fn->name = d.name;
  fn->span = d.span;
  fn->result = item.result;
  fn->body = item.body;
  fn->isPure = item.isPure;
  fn->combinesTerms = d.module == c_.modules.prelude() && c_.types.names.text(d.name) == "reduce";
  std::vector<SynId> typeNodes{item.result};
  for (const Parameter& p : item.params) {
    NameId name = p.name ? p.name : c_.types.names.intern("_"); // a splice, which is reported elsewhere
    fn->params.push_back({name, p.type, p.defaultValue, p.isInout, p.span});
    typeNodes.push_back(p.type);
  }
  fn->generics = readGenerics(tree, item.generics, typeNodes, d.module);
  for (const Attribute& a : item.attributes)
    if (c_.types.names.text(a.name) == "builtin" && a.args.size() == 1 &&
        tree.kind(a.args[0].value) == SynKind::String)
      for (const StringPart& part : tree[a.args[0].value].as<StringLit>().parts) fn->builtin += part.text;
  if (fn->builtin == "cold" && item.body) {
    fn->isCold = true;
    fn->builtin.clear();
  }
  return *(functions_[decl] = std::move(fn));
}

const RecordDecl& DeclarationTable::record(DeclId decl) {
  if (auto found = recordDecls_.find(decl); found != recordDecls_.end()) return *found->second;
  const names::Decl d = c_.modules.decl(decl); // reading the prelude moves them
  if (c_.hooks.prepareBody) c_.hooks.prepareBody(decl);
  const Ast& tree = c_.ast(decl);
  auto record = std::make_unique<RecordDecl>();
  record->decl = decl;
  record->module = d.module;
  record->name = d.name;
  record->span = d.span;
  record->isEnum = d.kind == DeclKind::Enum;
  std::vector<SynId> typeNodes;
  const std::vector<Generic>* generics;
  auto read = [&](const std::vector<FieldDecl>& fields) {
    std::vector<SynId>& defaults = record->defaults.emplace_back();
    for (const FieldDecl& f : fields) {
      typeNodes.push_back(f.type);
      defaults.push_back(f.defaultValue);
    }
  };
  if (record->isEnum) {
    const auto& item = tree[d.node].as<EnumItem>();
    generics = &item.generics;
    for (const CaseDecl& c : item.cases) read(c.fields);
  } else {
    const auto& item = tree[d.node].as<StructItem>();
    generics = &item.generics;
    read(item.fields);
  }
  aliases.open.insert(decl);
  record->generics = readGenerics(tree, *generics, typeNodes, d.module);
  aliases.open.erase(decl);
  return *(recordDecls_[decl] = std::move(record));
}

void DeclarationTable::setReplaced(DeclId record, bool isReplaced) {
  c_.modules.setReplaced(record, isReplaced);
  for (const auto& [key, id] : records_)
    if (key.first == record) c_.types.recordInfo(id).isReplaced = isReplaced;
}

bool takesNoParameters(Checker& c, DeclId decl) {
  DeclKind kind = c.modules.decl(decl).kind;
  return kind == DeclKind::TypeAlias || ((kind == DeclKind::Struct || kind == DeclKind::Enum) &&
                                         c.declarations.record(decl).generics.empty());
}

TypeId DeclarationTable::recordType(DeclId decl, std::vector<TypeId> typeArgs, std::vector<DimId> dims) {
  const size_t own = dims.size();
  std::vector<TypeId> general = c_.types.generalised(std::move(typeArgs), dims);
  types::RecordId record = recordAt(decl, std::move(general), dims.size() - own);
  return c_.types.record(record, std::move(dims));
}

/// The library declares the structs that the language knows.
types::RecordForm formOf(Checker& checker, const RecordDecl& declared) {
  if (declared.isEnum || declared.module != checker.modules.prelude()) return types::RecordForm::Plain;
  const std::string_view name = checker.types.names.text(declared.name);
  if (name == "Dict") return types::RecordForm::Dict;
  return name == "Set" ? types::RecordForm::Set : types::RecordForm::Plain;
}

types::RecordId DeclarationTable::recordAt(DeclId decl, std::vector<TypeId> typeArgs, size_t argSizes) {
  auto key = std::pair(decl, typeArgs);
  if (auto found = records_.find(key); found != records_.end()) return found->second;
  const RecordDecl declared = record(decl);
  const Ast& tree = c_.ast(decl);
  types::Record r;
  r.name = declared.name;
  r.isEnum = declared.isEnum;
  r.declaration = decl.index;
  r.form = formOf(c_, declared);
  r.isReplaced = c_.modules.decl(decl).isReplaced;
  r.typeArgs = typeArgs;
  r.origin = declared.span;
  TypeEnv env;
  size_t nextType = 0;
  for (const GenericParam& g : declared.generics) {
    if (g.kind == GenericKind::Type) {
      env.types[g.name] = typeArgs[nextType++];
      continue;
    }
    if (g.kind == GenericKind::Pack) {
      c_.sink.report(DiagId::NoRecordPacks, declared.span);
      env.packs[g.name] = {};
    }
    DimSym s = c_.types.dims.newSym(
        {std::string(c_.types.names.text(g.name)), types::DimSymKind::Parameter, 0, declared.span});
    r.dimParams.push_back(s);
    env.dims[g.name] = c_.types.dims.symbol(s);
  }
  r.argSizes = argSizes;
  for (DimSym s : c_.types.sizeSyms(argSizes)) r.dimParams.push_back(s);
  const bool endless = std::count(openRecords_.begin(), openRecords_.end(), decl) >= 8;
  if (endless) {
    c_.sink.report(DiagId::EndlessRecord, declared.span, c_.types.names.text(declared.name));
    r.cases.resize(1);
  }
  types::RecordId id = c_.types.addRecord(r);
  records_.emplace(std::move(key), id); // before the fields, which may mention it
  if (endless) return id;
  openRecords_.push_back(decl);
  std::vector<types::EnumCase> cases;
  TypeResolver resolver(c_, declared.module, tree, env);
  auto fieldsOf = [&](const std::vector<FieldDecl>& fields) {
    std::vector<types::Field> out;
    for (const FieldDecl& f : fields) out.push_back({f.name, resolver.field(f.type)});
    return out;
  };
  if (declared.isEnum) {
    const std::vector<CaseDecl>& written = tree[c_.modules.decl(decl).node].as<EnumItem>().cases;
    for (const CaseDecl& c : written) cases.push_back({c.name, fieldsOf(c.fields)});
  } else {
    const std::vector<FieldDecl>& written = tree[c_.modules.decl(decl).node].as<StructItem>().fields;
    cases.push_back({declared.name, fieldsOf(written)});
    c_.types.recordInfo(id).cases = cases;
    Holds holds(c_.types, id);
    for (types::Field& f : cases[0].fields)
      if (holds(f.type)) {
        c_.sink.report(DiagId::InfiniteStruct, declared.span, c_.types.names.text(declared.name));
        f.type = c_.types.error();
      }
  }
  c_.types.recordInfo(id).cases = std::move(cases);
  openRecords_.pop_back();
  return id;
}

TypeId DeclarationTable::reinstantiate(TypeId given, std::vector<TypeId> typeArgs) {
  const types::Type& type = c_.types[given];
  const types::Record& record = c_.types.recordInfo(type.record);
  std::vector<DimId> own(type.dims.begin(),
                         type.dims.begin() + static_cast<std::ptrdiff_t>(record.ownDims()));
  const bool isTangent = record.tangentOf.valid(), isPositional = record.isPositional;
  TypeId made = recordType(DeclId(record.declaration), std::move(typeArgs), std::move(own));
  if (isPositional) return types::positionalTangent(c_.types, made);
  return isTangent ? types::tangentType(c_.types, made) : made;
}

/// What `name` means among the declarations that `fits`: the module's own, then imported, then the prelude's.
DeclId declNamed(Checker& c, ModuleId module, NameId name, FunctionRef<bool(DeclKind)> fits) {
  std::tie(module, name) = c.modules.meant(module, name);
  auto in = [&](ModuleId m) {
    for (DeclId d : c.modules[m].named(name))
      if (fits(c.modules.decl(d).kind)) return d;
    return DeclId::none();
  };
  if (DeclId own = in(module)) return own;
  if (const std::vector<ModuleId>* imported = c.modules[module].imported.find(name))
    for (ModuleId from : *imported)
      if (DeclId d = in(from)) return d;
  return in(c.modules.prelude());
}

DeclId typeDecl(Checker& c, ModuleId module, NameId name) {
  return declNamed(c, module, name, [](DeclKind k) {
    return k == DeclKind::Struct || k == DeclKind::Enum || k == DeclKind::TypeAlias;
  });
}

DeclId typeDecl(Checker& c, ModuleId module, const Ast& tree, SynId node) {
  const SynNode& n = tree[node];
  if (n.kind == SynKind::Name) return typeDecl(c, module, n.as<Name>().name);
  if (n.kind != SynKind::Member) return DeclId::none();
  const auto& member = n.as<Member>();
  if (tree.kind(member.base) != SynKind::Name) return DeclId::none();
  const ModuleId used = c.modules.prefix(module, tree[member.base].as<Name>().name);
  if (!used) return DeclId::none();
  for (DeclId d : c.modules[used].named(member.name))
    if (c.modules.decl(d).isPub && c.modules.decl(d).kind != DeclKind::Function) return d;
  return DeclId::none();
}

std::vector<DeclId> functionsIn(Checker& c, ModuleId module, NameId name, bool publicOnly) {
  std::vector<DeclId> out;
  for (DeclId d : c.modules[module].named(name))
    if (c.modules.decl(d).kind == DeclKind::Function && (!publicOnly || c.modules.decl(d).isPub))
      out.push_back(d);
  return out;
}

std::vector<DeclId> functionsAtHome(Checker& c, ModuleId home, NameId name) {
  name = c.types.names.spelling(name);
  if (!c.modules[home].isEntry) return functionsIn(c, home, name, !c.modules[home].isRoot);
  home = c.modules.newestEntry();
  std::vector<DeclId> own = functionsIn(c, home, name, false);
  return own.empty() ? importedFunctions(c, home, name) : own;
}

std::vector<std::vector<DeclId>> functionLayers(Checker& c, ModuleId module, NameId name) {
  std::tie(module, name) = c.modules.meant(module, name);
  std::vector<std::vector<DeclId>> layers{functionsIn(c, module, name, false),
                                          importedFunctions(c, module, name)};
  // A function with its module's name may be called by it.
  if (ModuleId used = c.modules.prefix(module, name))
    layers.push_back(functionsIn(c, used, c.types.names.intern(c.modules[used].name), true));
  ModuleId prelude = c.modules.prelude();
  if (module != prelude) layers.push_back(functionsIn(c, prelude, name, true));
  std::erase_if(layers, [](const std::vector<DeclId>& layer) { return layer.empty(); });
  return layers;
}

std::vector<std::pair<DeclId, uint32_t>> casesNamed(Checker& c, ModuleId module, NameId name) {
  std::tie(module, name) = c.modules.meant(module, name);
  std::vector<std::pair<DeclId, uint32_t>> out;
  auto look = [&](ModuleId m) {
    for (const auto& [declName, decls] : c.modules[m].decls.all())
      for (DeclId d : *decls) {
        if (c.modules.decl(d).kind != DeclKind::Enum) continue;
        const auto& cases = c.ast(d)[c.modules.decl(d).node].as<EnumItem>().cases;
        for (uint32_t k = 0; k < cases.size(); ++k)
          if (cases[k].name == name) out.push_back({d, k});
      }
  };
  look(module);
  if (!out.empty()) return out;
  for (const auto& [imported, from] : c.modules[module].imported.all())
    for (DeclId d : c.modules[(*from)[0]].named(imported))
      if (c.modules.decl(d).kind == DeclKind::Enum) {
        const auto& cases = c.ast(d)[c.modules.decl(d).node].as<EnumItem>().cases;
        for (uint32_t k = 0; k < cases.size(); ++k)
          if (cases[k].name == name) out.push_back({d, k});
      }
  if (out.empty()) look(c.modules.prelude());
  return out;
}

std::optional<std::pair<DeclId, uint32_t>> publicCase(Checker& c, ModuleId module, NameId name) {
  for (auto found : casesNamed(c, module, name))
    if (c.modules.decl(found.first).module == module && c.modules.decl(found.first).isPub) return found;
  return std::nullopt;
}

} // namespace melix::check

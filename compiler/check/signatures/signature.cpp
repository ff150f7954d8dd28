#include "check/signatures/signature.h"

#include "check/body/overload_order.h"
#include "check/signatures/bounds.h"
#include "check/signatures/declaration_table.h"
#include "check/signatures/free_names.h"
#include "check/signatures/resolve.h"
#include "types/tangent.h"

#include <numeric>

namespace melix::check {

using namespace syntax;
using types::DimSymKind;

namespace {

/// Variables of signatures stand among those of bodies, of which there are never so many. The first of each
/// signature are the same, so that signatures are alike where their types are.
constexpr uint32_t firstVariable = uint32_t(1) << 31;

bool isVariable(const TypeStore& types, TypeId type) {
  return types.kind(type) == TypeKind::Var && types[type].number >= firstVariable;
}

/// A declaration or a lambda, as its signature is read.
struct Written {
  ModuleId module;
  const Ast& tree;
  std::vector<GenericParam> generics;
  std::vector<ParamDecl> params;
  SynId result;
  bool isLambda = false;
};

/// Reads a signature. What is wrong with it is reported each time; the table drops that.
class SignatureReader {
public:
  SignatureReader(Checker& checker, const Written& written, const TypeEnv* outside)
      : c_(checker), written_(written) {
    if (outside) outside_ = *outside;
  }

  Signature read() {
    out_.isGeneric = !written_.generics.empty();
    declareGenerics();
    TypeResolver params =
        resolver(written_.isLambda ? SignaturePart::LambdaParameter : SignaturePart::Parameter);
    for (const ParamDecl& p : written_.params) {
      SignatureType& type = out_.params.emplace_back();
      type.isInout = p.isInout;
      if (p.type) {
        params.owner = written_.isLambda ? NameId::none() : p.name;
        readType(type, params, p.type, [&] { return params.parameter(p.type, p.isInout); });
      }
      type.packsEnd = out_.packs.size();
      type.sizesEnd = out_.sizes.size();
      if (written_.isLambda) hide(p.name);
    }
    TypeResolver result = resolver(SignaturePart::Result);
    if (written_.result)
      readType(out_.result, result, written_.result, [&] { return result.result(written_.result); });
    out_.result.packsEnd = out_.packs.size();
    out_.result.sizesEnd = out_.sizes.size();
    noteNames();
    order();
    return std::move(out_);
  }

private:
  TypeResolver resolver(SignaturePart part) {
    TypeSurroundings around;
    around.signature = &out_;
    around.part = part;
    around.outside = &outside_;
    return TypeResolver(c_, written_.module, written_.tree, env_, around);
  }

  /// A parameter of a lambda hides the size of its name.
  void hide(NameId name) {
    outside_.dims.erase(name);
    env_.dims.erase(name);
  }

  void declareGenerics() {
    for (const GenericParam& g : written_.generics)
      if (g.kind == GenericKind::Type)
        env_.types[g.name] = out_.addType(c_.types, g.name, VariableSource::Declared, g.span);
      else if (g.kind == GenericKind::Dim)
        env_.dims[g.name] = out_.addSize(c_.types, g.name, VariableSource::Declared, g.span);
      else
        env_.packs[g.name] = {out_.addPack(c_.types, g.name, VariableSource::Declared, g.span)};
    size_t next = 0;
    for (const GenericParam& g : written_.generics) {
      if (g.kind != GenericKind::Type) continue;
      if (g.defaultType) out_.types[next].standard = resolver(SignaturePart::Result).nested(g.defaultType);
      ++next;
    }
  }

  template <class Read>
  void readType(SignatureType& out, TypeResolver& resolver, SynId node, const Read& read) {
    const Messages told(c_.sink);
    out.span = written_.tree.span(node);
    out.isFunction = written_.tree.kind(node) == SynKind::FunctionType;
    out.namesTangent = mentions(written_.tree, node, c_.types.names.intern("Tangent"));
    out.specific = howSpecific(written_.generics, written_.tree, node);
    out.type = read();
    out.isWrong = told.any() || c_.types.holds(out.type, TypeKind::Error);
    out.demands = std::exchange(resolver.demands, {});
    out.spellings = std::exchange(resolver.spellings, {});
    std::vector<types::DimSym> symbols;
    c_.types.collectSymbols(out.type, symbols);
    for (uint32_t k = 0; k < out_.sizes.size(); ++k)
      if (std::find(symbols.begin(), symbols.end(), out_.sizes[k].symbol) != symbols.end())
        out.sizes.push_back(k);
    out.isClosed = symbols.empty() && !c_.types.holds(out.type, TypeKind::Var) &&
                   !c_.types.holds(out.type, TypeKind::Slope);
    noteAxes(out);
  }

  /// Of an array, and of one whose size may change.
  void noteAxes(SignatureType& out) {
    const TypeId array =
        c_.types.kind(out.type) == TypeKind::Pack ? c_.types[out.type].parts[0] : TypeId(out.type);
    if (c_.types.kind(array) != TypeKind::Array) return;
    for (DimId d : c_.types[array].dims) {
      const auto symbol = c_.types.dims.asSymbol(d);
      const auto pack = std::find_if(out_.packs.begin(), out_.packs.end(),
                                     [&](const PackVariable& p) { return symbol == p.symbol; });
      if (pack == out_.packs.end())
        ++out.axes;
      else
        out.packs.push_back(static_cast<uint32_t>(pack - out_.packs.begin()));
    }
  }

  void noteNames() {
    for (uint32_t p = 0; p < written_.params.size() && written_.result; ++p)
      if (mentions(written_.tree, written_.result, written_.params[p].name)) out_.result.named.push_back(p);
    for (const GenericParam& g : written_.generics)
      out_.resultDecides |=
          std::none_of(written_.params.begin(), written_.params.end(),
                       [&](const ParamDecl& p) { return p.type && mentions(written_.tree, p.type, g.name); });
  }

  void order() {
    out_.order.resize(out_.params.size());
    std::iota(out_.order.begin(), out_.order.end(), size_t(0));
    auto lateness = [&](size_t p) {
      const SignatureType& type = out_.params[p];
      return type.isFunction ? 2 : type.namesTangent ? 1 : 0;
    };
    std::stable_sort(out_.order.begin(), out_.order.end(),
                     [&](size_t p, size_t q) { return lateness(p) < lateness(q); });
  }

  Checker& c_;
  const Written& written_;
  TypeEnv outside_, env_;
  Signature out_;
};

Written ofFunction(Checker& c, DeclId decl) {
  const FunctionDecl& fn = c.declarations.function(decl);
  return {fn.module, c.ast(decl), fn.generics, fn.params, fn.result};
}

Written ofLambda(const Known& known) {
  Written out{known.module, *known.lambda.tree, {}, {}, {}, true};
  for (const Parameter& p : out.tree[known.lambda.node].as<Lambda>().params)
    out.params.push_back({p.name, p.type, p.defaultValue, p.isInout, p.span});
  return out;
}

} // namespace

bool Signature::impliesTypes() const {
  return std::any_of(types.begin(), types.end(),
                     [](const TypeVariable& v) { return v.source == VariableSource::Implied; });
}

std::vector<TypeId> Signature::variables(TypeStore& store) const {
  std::vector<TypeId> out;
  for (uint32_t k = 0; k < types.size(); ++k) out.push_back(store.var(firstVariable + k));
  return out;
}

TypeId Signature::addType(TypeStore& store, NameId name, VariableSource source, Span span) {
  types.push_back({name, source, span});
  return store.var(firstVariable + static_cast<uint32_t>(types.size() - 1));
}

DimId Signature::addSize(TypeStore& store, NameId name, VariableSource source, Span span) {
  std::string shown(name ? store.names.text(name) : "_");
  sizes.push_back(
      {name, source, store.dims.newSym({std::move(shown), DimSymKind::Parameter, 0, span}), span});
  return store.dims.symbol(sizes.back().symbol);
}

DimId Signature::addPack(TypeStore& store, NameId name, VariableSource source, Span span) {
  std::string shown(store.names.text(name));
  packs.push_back(
      {name, source, store.dims.newSym({std::move(shown), DimSymKind::Parameter, 0, span}), span});
  return store.dims.symbol(packs.back().symbol);
}

/// Whoever uses a signature reports what is wrong with it: this may be a trial, whose messages are dropped.
static std::unique_ptr<Signature> readSilently(Checker& c, const Written& written, const TypeEnv* around) {
  const Unheard unheard(c.sink);
  return std::make_unique<Signature>(SignatureReader(c, written, around).read());
}

// --- the table
// ----------------------------------------------------------------------------------------------------------

const Signature& SignatureTable::of(DeclId function, const TypeEnv* around) {
  const std::pair key(function, around != nullptr);
  if (auto found = functions_.find(key); found != functions_.end()) return *found->second;
  return *(functions_[key] = readSilently(c_, ofFunction(c_, function), around));
}

const Signature& SignatureTable::ofLambda(const Known& lambda) {
  const std::pair key(lambda.lambda.tree, lambda.lambda.node);
  if (auto found = lambdas_.find(key); found != lambdas_.end()) return *found->second;
  return *(lambdas_[key] = readSilently(c_, check::ofLambda(lambda), &lambda.env));
}

void SignatureTable::report(DeclId function, const TypeEnv* around) {
  SignatureReader(c_, ofFunction(c_, function), around).read();
}

void SignatureTable::reportLambda(const Known& lambda) {
  SignatureReader(c_, check::ofLambda(lambda), &lambda.env).read();
}

void SignatureTable::forget() {
  functions_.clear();
  lambdas_.clear();
}

// --- in use
// -------------------------------------------------------------------------------------------------------------

SignatureUse::SignatureUse(Checker& checker, const Signature& of)
    : signature(of), types(of.types.size()), sizes(of.sizes.size()), packs(of.packs.size()), c_(checker) {}

void SignatureUse::takeOuter(const TypeEnv& around) {
  auto take = [](const auto& variables, const auto& values, auto& out) {
    for (size_t k = 0; k < variables.size(); ++k)
      if (variables[k].source == VariableSource::Outer)
        if (auto value = values.find(variables[k].name); value != values.end()) out[k] = value->second;
  };
  take(signature.types, around.types, types);
  take(signature.sizes, around.dims, sizes);
  take(signature.packs, around.packs, packs);
}

TypeId SignatureUse::type(const SignatureType& of, Inference* solved) {
  if (!of.type) return c_.types.error();
  if (of.isClosed) return of.type;
  known_.clear();
  for (uint32_t k : of.sizes) {
    if (!sizes[k]) return c_.types.error();
    known_.emplace(signature.sizes[k].symbol, sizes[k]);
  }
  for (const auto& [size, written] : of.spellings) {
    const DimId here = c_.types.dims.substitute(size, known_);
    c_.types.dims.spell(here, c_.modules.sources.text(written));
  }
  if (!demandsMet(of, solved)) return c_.types.error();
  const TypeId found = part(of.type, solved);
  return isTooLarge(c_.types, c_.sink, found, of.span) ? c_.types.error() : found;
}

std::optional<uint32_t> SignatureUse::openPack(const SignatureType& of) const {
  for (uint32_t pack : of.packs)
    if (!packs[pack]) return pack;
  return std::nullopt;
}

TypeId SignatureUse::substituted(TypeId type, Inference* solved) {
  known_.clear();
  for (size_t k = 0; k < sizes.size(); ++k)
    if (sizes[k]) known_.emplace(signature.sizes[k].symbol, sizes[k]);
  return part(type, solved);
}

/// Whether type arguments meet the bounds of records; variables are left to what settles them.
bool SignatureUse::demandsMet(const SignatureType& of, Inference* solved) {
  for (const SignatureType::Demand& demand : of.demands) {
    std::vector<TypeId> args = demand.args;
    for (TypeId& arg : args) arg = part(arg, solved);
    if (!boundsHold(c_, c_.declarations.record(demand.record), args, demand.span)) return false;
  }
  return true;
}

TypeId SignatureUse::part(TypeId type, Inference* solved) {
  TypeStore& store = c_.types;
  return store.rewrite(type, [&](TypeId at) -> TypeId {
    if (isVariable(store, at)) {
      const TypeId known = types[store[at].number - firstVariable];
      return known ? known : store.error();
    }
    types::Type t = store[at];
    if (t.kind == TypeKind::Slope)
      return types::tangentType(store, solved ? solved->zonk(t.parts[0]) : t.parts[0]);
    if (t.record) {
      std::vector<TypeId> args = store.typeArgs(at);
      for (TypeId& arg : args) arg = part(arg, solved);
      for (DimId& d : t.dims) d = store.dims.substitute(d, known_);
      const TypeId here = store.record(t.record, std::move(t.dims));
      return args == store.typeArgs(here) ? here : c_.declarations.reinstantiate(here, std::move(args));
    }
    if (t.kind != TypeKind::Array) return at;
    if (store.kind(t.parts[0]) == TypeKind::Error) return t.parts[0];
    std::vector<DimId> dims;
    for (DimId d : t.dims) {
      const auto symbol = store.dims.asSymbol(d);
      const auto pack = std::find_if(signature.packs.begin(), signature.packs.end(),
                                     [&](const PackVariable& p) { return symbol == p.symbol; });
      if (pack == signature.packs.end()) {
        dims.push_back(store.dims.substitute(d, known_));
        continue;
      }
      const auto& axes = packs[static_cast<size_t>(pack - signature.packs.begin())];
      if (!axes) return unboundPack(*pack);
      dims.insert(dims.end(), axes->begin(), axes->end());
    }
    return store.array(t.parts[0], std::move(dims));
  });
}

TypeId SignatureUse::unboundPack(const PackVariable& pack) {
  const std::string name = ".." + std::string(c_.types.names.text(pack.name));
  c_.sink.report(DiagId::DimensionUnbound, pack.span, name).hint =
      "`" + name + "` stands for the axes of a parameter, or is declared: `fn f[" + name + "](…)`";
  return c_.types.error();
}

} // namespace melix::check

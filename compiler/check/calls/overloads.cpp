// Which of several functions of a name a call means (rules 8, 10).
#include "check/body/attempt.h"
#include "check/body/declared_call.h"
#include "check/body/key_hint.h"
#include "check/body/overload_order.h"
#include "check/signatures/bounds.h"
#include "check/signatures/declaration_table.h"
#include "check/signatures/lookup.h"
#include "check/signatures/suggestions.h"

namespace melix::check {

using namespace syntax;

std::vector<ModuleId> Body::homeModules(TypeId type) {
  std::vector<ModuleId> out;
  type = infer.zonk(type);
  const types::Type& t = types[type];
  if (t.record) {
    types::RecordId record = t.record;
    while (types.recordInfo(record).tangentOf) record = types.recordInfo(record).tangentOf;
    if (!types.recordInfo(record).tangentOf)
      out.push_back(c.modules.decl(DeclId(types.recordInfo(record).declaration)).module);
  }
  std::vector<TypeId> inside = t.parts;
  if (t.record) inside = types.typeArgs(type);
  for (TypeId part : inside)
    for (ModuleId m : homeModules(part)) out.push_back(m);
  return out;
}

/// Whether an argument may need the type asked of it.
bool Body::intoArguments(const std::vector<CallArg>& args) {
  return std::any_of(args.begin(), args.end(), [this](const CallArg& arg) {
    SynKind kind = arg.node.valid() ? SynKind::Error : ast.kind(arg.syntax);
    return kind == SynKind::Call || kind == SynKind::Array || kind == SynKind::Lambda;
  });
}

/// Whether a module that is not among the layers offers functions of the name: they may stand beside a type
/// of an argument.
bool Body::isDeclaredBeside(NameId name, const std::vector<std::vector<DeclId>>& layers) {
  auto offers = [&](ModuleId home) {
    const std::vector<DeclId> there = functionsAtHome(c, home, name);
    return !there.empty() &&
           std::none_of(layers.begin(), layers.end(), [&](const std::vector<DeclId>& layer) {
             return std::find(layer.begin(), layer.end(), there[0]) != layer.end();
           });
  };
  for (uint32_t k = 0; k < c.modules.size(); ++k) {
    const ModuleId home(k);
    const bool isOtherExample = c.modules[home].examples.around.valid() && home != module;
    if (!isOtherExample && offers(home)) return true;
  }
  return false;
}

/// Whether syntax has a type that does not depend on what is asked of it.
static bool standsForItself(Body& body, SynId syntax) {
  switch (body.ast.kind(syntax)) {
  case SynKind::Name: return body.lookup(body.ast[syntax].as<Name>().name).valid();
  case SynKind::Array: {
    const auto& items = body.ast[syntax].as<Many>().items;
    return !items.empty() &&
           std::all_of(items.begin(), items.end(), [&](SynId item) { return standsForItself(body, item); });
  }
  case SynKind::Member:
  case SynKind::TupleIndex:
  case SynKind::Try:
  case SynKind::Brackets:
  case SynKind::Binary:
  case SynKind::Unary:
  case SynKind::Paren:
  case SynKind::Block:
  case SynKind::On:
  case SynKind::If:
  case SynKind::Match:
  case SynKind::Builder:
  case SynKind::Call: return true;
  default: return false;
  }
}

/// Whether an argument is of a type that functions may stand beside. Looks at arguments that have a type of
/// their own.
static bool hasHome(Body& body, std::vector<CallArg>& args) {
  return std::any_of(args.begin(), args.end(), [&](CallArg& arg) {
    if (!arg.node.valid() && !arg.label && standsForItself(body, arg.syntax)) arg.node = body.checkArg(arg);
    return arg.node.valid() && !body.homeModules(body.b.typeOf(arg.node)).empty();
  });
}

/// The intrinsic. If it does not take the arguments, and one is of a type that stands beside the program's
/// only function that takes as many, that is told of.
NodeId Body::callIntrinsicBeside(IntrinsicKind intrinsic, const std::vector<std::vector<DeclId>>& own,
                                 const std::vector<CallArg>& args, const Explicit* explicitArgs,
                                 TypeId expected, Span span) {
  std::vector<DeclId> takers;
  std::vector<int> argOf;
  auto isOf = [&](ModuleId home) {
    return std::any_of(args.begin(), args.end(), [&](const CallArg& arg) {
      const std::vector<ModuleId> homes =
          arg.node.valid() ? homeModules(b.typeOf(arg.node)) : std::vector<ModuleId>();
      return std::find(homes.begin(), homes.end(), home) != homes.end();
    });
  };
  for (const auto& layer : own)
    for (DeclId decl : layer)
      if (matchArgs(c.declarations.function(decl), args, argOf, false, span) &&
          isOf(c.modules.decl(decl).module))
        takers.push_back(decl);
  if (takers.size() != 1) return callIntrinsic(intrinsic, args, explicitArgs, expected, span);
  Attempt attempt(*this);
  NodeId made = callIntrinsic(intrinsic, args, explicitArgs, expected, span);
  if (!attempt.hasErrors() && b.kindOf(made) != TypeKind::Error) {
    attempt.keep();
    return made;
  }
  attempt.drop();
  return callDecl(takers[0], args, explicitArgs, expected, span);
}

NodeId Body::callNamed(NameId name, const std::vector<std::vector<DeclId>>& layers,
                       const std::vector<CallArg>& given, const Explicit* explicitArgs, TypeId expected,
                       Span span, Span nameSpan) {
  std::vector<CallArg> args = given;
  size_t candidates = 0;
  for (const auto& layer : layers) candidates += layer.size();
  std::string_view text = types.names.text(name);
  std::optional<IntrinsicKind> intrinsic = findIntrinsic(text);
  const bool elsewhere = isDeclaredBeside(name, layers);
  if (candidates == 1 && !intrinsic && !elsewhere) {
    bool fromPrelude = c.modules.decl(layers[0][0]).module == c.modules.prelude();
    if (!fromPrelude || args.empty()) return callDecl(layers[0][0], args, explicitArgs, expected, span);
  }
  if (candidates == 0 && intrinsic) // which asks its own types of the arguments
    if (!elsewhere || !hasHome(*this, args))
      return callIntrinsic(*intrinsic, args, explicitArgs, expected, span);
  // The only one of its layer may be meant: then its types are asked of the arguments.
  if (candidates + intrinsic.has_value() + elsewhere > 1 && !layers.empty() && layers[0].size() == 1 &&
      intoArguments(args)) {
    Attempt attempt(*this);
    NodeId made = callDecl(layers[0][0], args, explicitArgs, expected, span);
    if (!attempt.hasErrors() && b.kindOf(made) != TypeKind::Error) {
      attempt.keep();
      return made;
    }
  }
  const bool isUnknown = candidates == 0 && !intrinsic && !elsewhere;
  if (isUnknown) unknownName(name, nameSpan); // before what its arguments lack
  // Several candidates: the arguments' types decide.
  bool failed = isUnknown;
  for (CallArg& arg : args) {
    if (arg.node.valid()) continue;
    if (ast.kind(arg.syntax) == SynKind::Ref) {
      Target target; // only its type is asked for here
      failed |= !checkPlaceTarget(ast[arg.syntax].as<One>().inner, target);
      if (!failed) arg.node = readPlace(target.place, arg.span);
      continue;
    }
    bool onlyOne = candidates == 1 && !intrinsic && !elsewhere;
    if (onlyOne && (ast.kind(arg.syntax) == SynKind::Call || ast.kind(arg.syntax) == SynKind::Array ||
                    ast.kind(arg.syntax) == SynKind::Lambda))
      continue; // may need the type asked of it
    arg.node = checkArg(arg);
    failed |= b.kindOf(arg.node) == TypeKind::Error;
  }
  if (failed) return b.error(span);
  std::vector<std::vector<DeclId>> all;
  ModuleId prelude = c.modules.prelude();
  std::set<ModuleId> homes;
  for (const CallArg& arg : args)
    if (arg.node.valid())
      for (ModuleId home : homeModules(b.typeOf(arg.node))) homes.insert(home);
  auto among = [&](ModuleId home, const std::vector<std::vector<DeclId>>& those) {
    return std::any_of(those.begin(), those.end(),
                       [&](const auto& layer) { return c.modules.decl(layer[0]).module == home; });
  };
  for (const auto& layer : layers)
    if (c.modules.decl(layer[0]).module != prelude || module == prelude) all.push_back(layer);
  for (ModuleId home : homes)
    if (auto layer = functionsAtHome(c, home, name); home != prelude && !layer.empty() && !among(home, all))
      all.push_back(layer);
  for (const auto& layer : layers)
    if (c.modules.decl(layer[0]).module == prelude && module != prelude) all.push_back(layer);
  for (const auto& layer : all) {
    if (layer.size() == 1 && all.size() == 1 && !intrinsic)
      return callDecl(layer[0], args, explicitArgs, expected, span);
    const Messages ofChoice(sink);
    if (auto chosen = choose(name, layer, args, span, true))
      return callDecl(*chosen, args, explicitArgs, expected, span);
    if (ofChoice.any()) return b.error(span);
  }
  if (intrinsic) return callIntrinsicBeside(*intrinsic, all, args, explicitArgs, expected, span);
  std::string shown;
  for (const CallArg& arg : args)
    shown += (shown.empty() ? "" : ", ") + (arg.node.valid() ? b.show(b.typeOf(arg.node)) : "…");
  if (all.empty()) {
    return unknownName(name, nameSpan);
  }
  Diagnostic& d = sink.report(DiagId::NoOverload, nameSpan, text, shown);
  for (const auto& layer : all)
    for (DeclId decl : layer)
      if (d.notes.size() < 4) d.notes.push_back({c.modules.decl(decl).span, "candidate"});
  return b.error(span);
}

/// A named argument that goes to no parameter, or to one that has its argument.
void Body::unknownArgument(const CallArg& arg, std::string_view callee, bool isGiven,
                           const std::vector<std::string_view>& known) {
  std::string_view label = types.names.text(arg.label);
  if (isGiven)
    sink.report(DiagId::ArgumentTwice, arg.span, callee, label);
  else
    sink.report(DiagId::UnknownArgument, arg.span, callee, label).hint = nearOrListed(label, known);
}

namespace {

/// Whether a parameter that was to take several values was refused: nothing is told of calls that give more.
bool refusedVariadic(const DiagnosticSink& sink, const FunctionDecl& fn) {
  return !fn.params.empty() && sink.isTold([&](const Diagnostic& told) {
    return told.id == DiagId::NoConstruct && told.span == fn.params.back().span;
  });
}

} // namespace

/// Which argument goes to which parameter: -1 for a default.
bool Body::matchArgs(const FunctionDecl& fn, const std::vector<CallArg>& args, std::vector<int>& argOf,
                     bool report, Span span) {
  argOf.assign(fn.params.size(), -1);
  std::string_view name = types.names.text(fn.name);
  size_t position = 0;
  for (size_t k = 0; k < args.size(); ++k) {
    size_t at = fn.params.size();
    if (!args[k].label) {
      at = position++;
      if (at >= fn.params.size()) {
        if (report && !refusedVariadic(sink, fn)) {
          Diagnostic& d = sink.report(DiagId::ArgumentCount, span, name, std::to_string(fn.params.size()),
                                      std::to_string(args.size()));
          d.notes.push_back({fn.span, "declared here"});
          hintKey(d, *this, fn);
        }
        return false;
      }
    } else {
      for (size_t p = 0; p < fn.params.size(); ++p)
        if (types.names.spelling(fn.params[p].name) == args[k].label) at = p;
      if (at == fn.params.size() || argOf[at] >= 0) {
        std::vector<std::string_view> known;
        for (const ParamDecl& p : fn.params) known.push_back(types.names.text(p.name));
        if (report) unknownArgument(args[k], name, at < fn.params.size(), known);
        return false;
      }
    }
    argOf[at] = static_cast<int>(k);
  }
  for (size_t p = 0; p < fn.params.size(); ++p)
    if (argOf[p] < 0 && !fn.params[p].defaultValue) {
      if (report) {
        Diagnostic& d = sink.report(DiagId::MissingArgument, span, name, types.names.text(fn.params[p].name));
        d.notes.push_back({fn.span, "declared here"});
        hintKey(d, *this, fn);
      }
      return false;
    }
  return true;
}

NodeId Body::callDecl(DeclId decl, const std::vector<CallArg>& args, const Explicit* explicitArgs,
                      TypeId expected, Span span) {
  std::vector<int> argOf;
  if (!matchArgs(c.declarations.function(decl), args, argOf, true, span)) return b.error(span);
  return DeclaredCall(*this, decl, span).check(args, argOf, explicitArgs, expected);
}

/// Whether a type meets the bound of a parameter of the function or record `of`; says so if not.
bool Body::boundMet(std::string_view of, const GenericParam& g, TypeId type, Span span) {
  if (!g.bound) return true;
  std::string_view bound = types.names.text(g.bound);
  auto refuse = [&](TypeId got) {
    refuseBound(c, of, g, infer.zonk(got), b.show(got), span);
    return false;
  };
  TypeId shallow = infer.shallow(type);
  TypeKind k = types.kind(shallow);
  if (k == TypeKind::Error) return false;
  if (k == TypeKind::Var && bound == "Int" && infer.varClass(shallow) == types::VarClass::OpenFloat)
    return refuse(types.scalar(TypeKind::F32));
  if (k == TypeKind::Var) { // a whole literal given to a Float becomes a float
    if (auto number = boundNumber(bound)) infer.unify(infer.freshVar(*number, span), shallow);
    return true;
  }
  bool met = meetsBound(types, infer.zonk(type), bound);
  if (met && bound == "Iterator") {
    LocalId it = b.newLocal("it", infer.zonk(type), span, true); // `next` takes a place
    auto has = [&](const char* name) {
      return protocolFunction(types.names.intern(name), b.local(it, span), span).has_value();
    };
    met = has("iter") && has("next");
  }
  return met || refuse(type);
}

/// What is in a value that keeps its sizes beside it, with sizes to be found.
TypeId Body::openedPack(TypeId pack) {
  std::vector<DimId> dims;
  for (uint32_t k = 0; k < types[pack].number; ++k)
    dims.push_back(types.dims.symbol(infer.freshDim("_", Span())));
  return types.openPack(pack, dims);
}

/// Unifies as an argument is passed: sizes beside a value are opened, or made, where only one side has them.
UnifyResult Body::unifyGiven(TypeId want, TypeId given) {
  TypeId asked = infer.zonk(want);
  TypeKind wantKind = types.kind(asked), k = types.kind(given);
  if (wantKind == TypeKind::Pack && k != TypeKind::Pack) return infer.unify(openedPack(asked), given);
  if (k == TypeKind::Pack && wantKind != TypeKind::Pack && wantKind != TypeKind::Var)
    return infer.unify(asked, openedPack(given));
  if (!partsDiffer(asked, given)) return infer.unify(want, given);
  UnifyResult all; // of tuples
  for (size_t at = 0; at < types[asked].parts.size(); ++at) {
    UnifyResult part = unifyGiven(types[asked].parts[at], types[given].parts[at]);
    if (part.kind > all.kind) all = std::move(part);
  }
  return all;
}

/// The axes of `given` for the pack in the type of a parameter or result: those that its other axes leave.
/// None if there are fewer than these. The elements may be arrays by an alias.
std::optional<std::vector<DimId>> Body::axesLeft(const SignatureType& type, TypeId given, NameId pack,
                                                 Span at) {
  const size_t rank = types.rank(types.kind(given) == TypeKind::Pack ? openedPack(given) : given);
  if (rank < type.axes) return std::nullopt;
  std::vector<DimId> axes;
  for (size_t k = type.axes; k < rank; ++k)
    axes.push_back(types.dims.symbol(infer.freshDim(std::string(types.names.text(pack)), at)));
  return axes;
}

std::optional<DeclId> Body::choose(NameId name, const std::vector<DeclId>& candidates,
                                   std::vector<CallArg>& args, Span span, bool report) {
  struct Candidate {
    DeclId decl;
    std::vector<int> score;
    size_t params;
  };
  std::vector<Candidate> fitting;
  for (DeclId decl : candidates) {
    Candidate candidate{decl, {}, 0};
    if (applicable(decl, args, candidate.score)) {
      candidate.params = c.declarations.function(decl).params.size();
      fitting.push_back(std::move(candidate));
    }
  }
  if (fitting.empty()) return std::nullopt;
  auto atLeast = [](const Candidate& x, const Candidate& y) {
    for (size_t k = 0; k < x.score.size() && k < y.score.size(); ++k)
      if (x.score[k] < y.score[k]) return false;
    return true;
  };
  auto isBetter = [&](const Candidate& x, const Candidate& y) {
    if (!atLeast(x, y)) return false;
    if (!atLeast(y, x)) return true;
    if (x.params != y.params) return x.params < y.params;
    return isAsSpecificInParts(*this, x.decl, y.decl, args) &&
           !isAsSpecificInParts(*this, y.decl, x.decl, args);
  };
  const Candidate* best = &fitting[0];
  for (const Candidate& candidate : fitting)
    if (isBetter(candidate, *best)) best = &candidate;
  for (const Candidate& candidate : fitting)
    if (&candidate != best && !isBetter(*best, candidate)) {
      // An open number fits every number type and becomes int or f32 on a tie.
      bool settled = false;
      for (CallArg& arg : args)
        if (arg.node.valid() && infer.isOpen(types.element(b.typeOf(arg.node)))) {
          TypeId element = infer.shallow(types.element(b.typeOf(arg.node)));
          bool whole = infer.varClass(element) == types::VarClass::OpenInt;
          infer.unify(whole ? types.int64() : types.scalar(TypeKind::F32), element);
          settled = true;
        }
      if (settled) return choose(name, candidates, args, span, report);
      // Where this was told of the declarations, any of them will do.
      if (auto alike =
              std::find_if(fitting.begin(), fitting.end(),
                           [this](const Candidate& each) { return c.declarations.isAlike(each.decl); });
          alike != fitting.end())
        return alike->decl;
      if (report) {
        Diagnostic& d = sink.report(DiagId::AmbiguousCall, span, types.names.text(name));
        for (const Candidate& each : fitting)
          if (d.notes.size() < 4) d.notes.push_back({c.modules.decl(each.decl).span, "candidate"});
      }
      return std::nullopt;
    }
  return best->decl;
}

} // namespace melix::check

// Calls: what a callee means, binding of arguments, construction of records.
#include "check/body.h"

namespace melix::check {

using namespace syntax;

NodeId Body::checkArg(const CallArg& arg, TypeId expected) {
  return arg.node.valid() ? arg.node : checkExpr(arg.syntax, expected);
}

std::vector<ModuleId> Body::homeModules(TypeId type) {
  std::vector<ModuleId> out;
  type = infer.zonk(type);
  const types::Type t = types[type];
  if (t.record) {
    types::RecordId record = t.record;
    while (types.recordInfo(record).tangentOf)
      record = types.recordInfo(record).tangentOf;
    if (!types.recordInfo(record).tangentOf)
      out.push_back(c.modules.decl(DeclId(types.recordInfo(record).declaration)).module);
  }
  for (TypeId part : t.parts)
    for (ModuleId m : homeModules(part))
      out.push_back(m);
  return out;
}

NodeId Body::checkCall(SynId node, TypeId expected) {
  const SynNode n = ast[node];
  const auto call = n.as<Call>();
  std::vector<CallArg> args;
  bool named = false;
  for (const Argument& a : call.args) {
    named |= a.label.valid();
    if (named && !a.label)
      sink.report(DiagId::PositionalAfterNamed, ast.span(a.value));
    args.push_back({a.label, a.value, NodeId::none(), ast.span(a.value)});
  }
  SynId callee = call.callee;
  std::optional<Explicit> explicitArgs;
  auto isFunctionName = [&](SynId s) {
    if (ast.kind(s) == SynKind::Name)
      return !lookupAny(ast[s].as<Name>().name);
    return ast.kind(s) == SynKind::Member && ast.kind(ast[s].as<Member>().base) == SynKind::Name &&
           !lookupAny(ast[ast[s].as<Member>().base].as<Name>().name);
  };
  if (ast.kind(callee) == SynKind::Brackets && isFunctionName(ast[callee].as<Brackets>().base)) {
    explicitArgs = ast[callee].as<Brackets>().items;
    callee = ast[callee].as<Brackets>().base;
  }
  const Explicit* given = explicitArgs ? &*explicitArgs : nullptr;
  Span calleeSpan = ast.span(callee);
  if (ast.kind(callee) == SynKind::Name) {
    NameId name = ast[callee].as<Name>().name;
    if (LocalId l = lookup(name))
      return callValue(b.local(l, calleeSpan), args, expected, n.span);
    if (DeclId type = c.typeDecl(module, name); type && c.modules.decl(type).kind == names::DeclKind::Struct)
      return construct(type, 0, args, given, expected, n.span);
    char initial = types.names.text(name)[0];
    if (initial >= 'A' && initial <= 'Z') {
      std::vector<std::pair<DeclId, uint32_t>> cases = c.casesNamed(module, name);
      TypeId want = expected ? infer.shallow(expected) : TypeId::none();
      if (want && types.kind(want) == TypeKind::Enum && !types.recordInfo(types[want].record).tangentOf) {
        DeclId wanted(types.recordInfo(types[want].record).declaration);
        const auto& all = c.ast(wanted)[c.modules.decl(wanted).node].as<EnumItem>().cases;
        for (uint32_t k = 0; k < all.size(); ++k)
          if (all[k].name == name)
            cases = {{wanted, k}};
      }
      if (!cases.empty())
        return construct(cases[0].first, cases[0].second, args, given, expected, n.span);
    }
    return callNamed(name, c.functionLayers(module, name), args, given, expected, n.span, calleeSpan);
  }
  if (ast.kind(callee) == SynKind::Member) {
    const auto member = ast[callee].as<Member>();
    if (isFunctionName(callee)) {
      NameId base = ast[member.base].as<Name>().name;
      if (auto prefix = c.modules[module].prefixes.find(base); prefix != c.modules[module].prefixes.end()) {
        auto found = c.modules[prefix->second].decls.find(member.name);
        if (found != c.modules[prefix->second].decls.end() && c.modules.decl(found->second[0]).kind == names::DeclKind::Struct)
          return construct(found->second[0], 0, args, given, expected, n.span);
        std::vector<std::vector<DeclId>> layers{c.functionsIn(prefix->second, member.name, true)};
        if (layers[0].empty()) { // the functions beside the arguments' types come next
          layers.clear();
          bool any = false;
          for (CallArg& arg : args) {
            arg.node = checkArg(arg);
            for (ModuleId home : homeModules(b.typeOf(arg.node)))
              any |= !c.functionsIn(home, member.name, true).empty();
          }
          if (!any) {
            sink.report(DiagId::UnknownInModule, member.nameSpan, types.names.text(base), types.names.text(member.name));
            return b.error(n.span);
          }
        }
        return callNamed(member.name, layers, args, given, expected, n.span, member.nameSpan);
      }
      if (DeclId decl = c.typeDecl(module, base); decl && c.modules.decl(decl).kind == names::DeclKind::Enum) {
        const auto& cases = c.ast(decl)[c.modules.decl(decl).node].as<EnumItem>().cases;
        for (uint32_t k = 0; k < cases.size(); ++k)
          if (cases[k].name == member.name)
            return construct(decl, k, args, given, expected, n.span);
        sink.report(DiagId::UnknownCase, member.nameSpan, types.names.text(base), types.names.text(member.name));
        return b.error(n.span);
      }
    }
    // A field that is a function, or a function of its first argument (rule 8).
    Place place;
    size_t before = sink.all().size();
    bool isPlace = checkPlace(member.base, place, false);
    sink.rewind(before);
    NodeId base = isPlace ? readPlace(place, ast.span(member.base)) : checkExpr(member.base);
    TypeId type = b.typeOf(base);
    if (types.kind(type) == TypeKind::Error)
      return base;
    if (types.kind(type) == TypeKind::Struct) {
      const types::Record& record = types.recordInfo(types[type].record);
      for (uint32_t k = 0; k < record.cases[0].fields.size(); ++k)
        if (record.cases[0].fields[k].name == member.name)
          return callValue(b.field(base, k, calleeSpan), args, expected, n.span);
    }
    CallArg receiver{NameId::none(), isPlace ? member.base : SynId::none(), base, ast.span(member.base)};
    args.insert(args.begin(), receiver);
    return callNamed(member.name, c.functionLayers(module, member.name), args, given, expected, n.span, member.nameSpan);
  }
  return callValue(checkExpr(callee), args, expected, n.span);
}

NodeId Body::callNamed(NameId name, const std::vector<std::vector<DeclId>>& layers, const std::vector<CallArg>& given,
                       const Explicit* explicitArgs, TypeId expected, Span span, Span nameSpan) {
  std::vector<CallArg> args = given;
  size_t candidates = 0;
  for (const auto& layer : layers)
    candidates += layer.size();
  std::string_view text = types.names.text(name);
  std::optional<IntrinsicKind> intrinsic = findIntrinsic(text);
  if (candidates == 1 && !intrinsic && !layers.empty()) {
    bool fromPrelude = c.modules.decl(layers[0][0]).module == c.modules.prelude();
    if (!fromPrelude || args.empty())
      return callDecl(layers[0][0], args, explicitArgs, expected, span);
  }
  if (candidates == 0 && intrinsic)
    if (args.empty() || !args[0].node.valid() || homeModules(b.typeOf(args[0].node)).empty())
      return callIntrinsic(*intrinsic, args, explicitArgs, expected, span);
  // Several candidates: the arguments' types decide.
  bool failed = false;
  for (CallArg& arg : args) {
    if (arg.node.valid())
      continue;
    if (ast.kind(arg.syntax) == SynKind::Ref) {
      Place place;
      failed |= !checkPlace(ast[arg.syntax].as<One>().inner, place);
      if (!failed)
        arg.node = readPlace(place, arg.span);
      continue;
    }
    bool onlyOne = candidates == 1 && layers[0].size() == 1;
    if (onlyOne && (ast.kind(arg.syntax) == SynKind::Call || ast.kind(arg.syntax) == SynKind::Array || ast.kind(arg.syntax) == SynKind::Lambda))
      continue; // may need the type asked of it
    arg.node = checkArg(arg);
    failed |= b.kindOf(arg.node) == TypeKind::Error;
  }
  if (failed)
    return b.error(span);
  std::vector<std::vector<DeclId>> all;
  ModuleId prelude = c.modules.prelude();
  std::set<ModuleId> homes;
  for (const CallArg& arg : args)
    if (arg.node.valid())
      for (ModuleId home : homeModules(b.typeOf(arg.node)))
        homes.insert(home);
  for (const auto& layer : layers)
    if (c.modules.decl(layer[0]).module != prelude || module == prelude)
      all.push_back(layer);
  for (ModuleId home : homes)
    if (home != module && home != prelude)
      if (auto layer = c.functionsIn(home, name, true); !layer.empty())
        all.push_back(layer);
  for (const auto& layer : layers)
    if (c.modules.decl(layer[0]).module == prelude && module != prelude)
      all.push_back(layer);
  for (const auto& layer : all) {
    if (layer.size() == 1 && all.size() == 1 && !intrinsic)
      return callDecl(layer[0], args, explicitArgs, expected, span);
    size_t before = sink.all().size();
    if (auto chosen = choose(name, layer, args, span, true))
      return callDecl(*chosen, args, explicitArgs, expected, span);
    if (sink.all().size() > before)
      return b.error(span);
  }
  if (intrinsic)
    return callIntrinsic(*intrinsic, args, explicitArgs, expected, span);
  std::string shown;
  for (const CallArg& arg : args)
    shown += (shown.empty() ? "" : ", ") + (arg.node.valid() ? b.show(b.typeOf(arg.node)) : "…");
  if (all.empty()) {
    Diagnostic& d = sink.report(DiagId::UnknownName, nameSpan, text);
    d.hint = c.suggestName(module, name, visibleNames());
    return b.error(span);
  }
  Diagnostic& d = sink.report(DiagId::NoOverload, nameSpan, text, shown);
  for (const auto& layer : all)
    for (DeclId decl : layer)
      if (d.notes.size() < 4)
        d.notes.push_back({c.modules.decl(decl).span, "candidate"});
  return b.error(span);
}

/// Which argument goes to which parameter: -1 for a default.
bool Body::matchArgs(const FunctionDecl& fn, const std::vector<CallArg>& args, std::vector<int>& argOf, bool report, Span span) {
  argOf.assign(fn.params.size(), -1);
  std::string_view name = types.names.text(fn.name);
  size_t position = 0;
  for (size_t k = 0; k < args.size(); ++k) {
    size_t at = fn.params.size();
    if (!args[k].label) {
      at = position++;
      if (at >= fn.params.size()) {
        if (report)
          sink.report(DiagId::ArgumentCount, span, name, std::to_string(fn.params.size()), std::to_string(args.size())).notes.push_back({fn.span, "declared here"});
        return false;
      }
    } else {
      for (size_t p = 0; p < fn.params.size(); ++p)
        if (fn.params[p].name == args[k].label)
          at = p;
      if (at == fn.params.size() || argOf[at] >= 0) {
        if (report)
          sink.report(DiagId::UnknownArgument, args[k].span, name, types.names.text(args[k].label));
        return false;
      }
    }
    argOf[at] = static_cast<int>(k);
  }
  for (size_t p = 0; p < fn.params.size(); ++p)
    if (argOf[p] < 0 && !fn.params[p].defaultValue) {
      if (report)
        sink.report(DiagId::MissingArgument, span, name, types.names.text(fn.params[p].name)).notes.push_back({fn.span, "declared here"});
      return false;
    }
  return true;
}

namespace {

/// The number of axes a pack in `type` must have so that an argument of rank `rank` fits; none if it has no unbound pack.
struct PackUse {
  NameId name;
  size_t rank;
};
std::optional<PackUse> packIn(const Ast& ast, SynId type, size_t rank, const TypeEnv& env) {
  if (!type.valid() || ast.kind(type) != SynKind::Brackets)
    return std::nullopt;
  const auto& items = ast[type].as<Brackets>().items;
  for (const Argument& item : items)
    if (ast.kind(item.value) == SynKind::PackUse && !env.packs.contains(ast[item.value].as<Name>().name)) {
      size_t others = items.size() - 1;
      return PackUse{ast[item.value].as<Name>().name, rank >= others ? rank - others : SIZE_MAX};
    }
  return std::nullopt;
}

} // namespace

NodeId Body::callDecl(DeclId decl, const std::vector<CallArg>& args, const Explicit* explicitArgs, TypeId expected, Span span) {
  const FunctionDecl fn = c.function(decl);
  const Ast& tree = c.ast(decl);
  std::string_view name = types.names.text(fn.name);
  std::vector<int> argOf;
  if (!matchArgs(fn, args, argOf, true, span))
    return b.error(span);
  PendingCall call;
  call.decl = decl;
  TypeEnv& bound = call.bound;
  TypeResolver resolver(c, fn.module, tree, bound);
  resolver.bindDim = [&](NameId dim, Span at) { return types.dims.symbol(infer.freshDim(std::string(types.names.text(dim)), at)); };
  resolver.bindType = [&](NameId type, Span at) -> TypeId {
    if (type && types.names.text(type).find('.') == std::string_view::npos)
      return TypeId::none(); // an unknown name, not a bare record's parameter
    TypeId var = fresh(at);
    if (type) {
      bound.types[type] = var;
      call.genericNames.push_back(type);
    }
    return var;
  };
  for (const GenericParam& g : fn.generics) {
    if (g.kind == GenericKind::Type) {
      bound.types[g.name] = fresh(span);
      call.genericNames.push_back(g.name);
    } else if (g.kind == GenericKind::Dim) {
      bound.dims[g.name] = types.dims.symbol(infer.freshDim(std::string(types.names.text(g.name)), span));
    } else {
      call.packNames.push_back(g.name);
    }
  }
  if (explicitArgs) {
    TypeEnv mine = env;
    TypeResolver outer(c, module, ast, mine);
    outer.valueDim = [&](SynId s) { return dimOfSyntax(s); };
    size_t position = 0;
    for (const Argument& item : *explicitArgs) {
      const GenericParam* g = nullptr;
      if (item.label) {
        for (const GenericParam& candidate : fn.generics)
          if (candidate.name == item.label)
            g = &candidate;
      } else if (position < fn.generics.size()) {
        g = &fn.generics[position++];
      }
      if (!g) {
        sink.report(DiagId::TypeArguments, span, name, std::to_string(fn.generics.size()), std::to_string(explicitArgs->size()));
        return b.error(span);
      }
      if (g->kind == GenericKind::Type)
        infer.unify(bound.types[g->name], outer.type(item.value));
      else if (DimId d = outer.dim(item.value); d && g->kind == GenericKind::Dim)
        infer.unifyDim(bound.dims[g->name], d);
    }
  }
  auto bindPack = [&](SynId type, size_t rank, Span at) {
    auto use = packIn(tree, type, rank, bound);
    if (!use)
      return true;
    if (use->rank == SIZE_MAX)
      return false;
    std::vector<DimId> dims;
    for (size_t k = 0; k < use->rank; ++k)
      dims.push_back(types.dims.symbol(infer.freshDim(std::string(types.names.text(use->name)), at)));
    bound.packs[use->name] = std::move(dims);
    if (std::find(call.packNames.begin(), call.packNames.end(), use->name) == call.packNames.end())
      call.packNames.push_back(use->name);
    return true;
  };
  auto mentions = [&](SynId type, NameId wanted) {
    bool found = false;
    std::function<void(SynId)> look = [&](SynId s) {
      if (ast.size() && (tree.kind(s) == SynKind::Name || tree.kind(s) == SynKind::PackUse))
        found |= tree[s].as<Name>().name == wanted;
      forEachChild(tree, s, look);
    };
    if (type)
      look(type);
    return found;
  };
  // Parameters that only the result decides are taken from the type asked for, first.
  TypeId want = expected ? infer.zonk(expected) : TypeId::none();
  bool resultDecides = false;
  for (const GenericParam& g : fn.generics) {
    bool inParams = false;
    for (const ParamDecl& p : fn.params)
      inParams |= mentions(p.type, g.name);
    resultDecides |= !inParams;
  }
  if (resultDecides && fn.result && want && types.kind(want) != TypeKind::Var) {
    if (bindPack(fn.result, types.rank(want), span)) {
      TypeEnv saved = bound;
      size_t before = sink.all().size();
      resolver.freshDim = [&](NameId, Span at) { return types.dims.symbol(infer.freshDim("_", at)); };
      resolver.valueDim = [&](SynId) { return types.dims.symbol(infer.freshDim("_", span)); };
      TypeId result = resolver.type(fn.result);
      resolver.freshDim = nullptr;
      resolver.valueDim = nullptr;
      if (sink.all().size() == before) {
        infer.unify(result, want);
      } else {
        sink.rewind(before);
      }
      for (auto& [dim, value] : saved.dims)
        bound.dims[dim] = value;
      bound.packs = saved.packs.empty() ? bound.packs : saved.packs;
    }
  }
  // Arguments, in the order of the parameters; named ones out of order are evaluated first to last as written.
  std::vector<NodeId> lets;
  std::vector<CallArg> ordered(args);
  int previous = -1;
  bool outOfOrder = false;
  for (int at : argOf)
    if (at >= 0) {
      outOfOrder |= at < previous;
      previous = at;
    }
  if (outOfOrder)
    for (CallArg& arg : ordered)
      if (!arg.node.valid() && ast.kind(arg.syntax) != SynKind::Ref && ast.kind(arg.syntax) != SynKind::Lambda)
        arg.node = b.local(b.bind("arg", checkArg(arg), lets), arg.span);
  CallTarget target;
  std::vector<NodeId> children;
  std::vector<NodeId> argNodes(fn.params.size());
  bool failed = false;
  for (size_t p = 0; p < fn.params.size(); ++p) {
    const ParamDecl& param = fn.params[p];
    resolver.owner = param.name;
    NodeId value;
    Span at = span;
    if (argOf[p] >= 0) {
      const CallArg& arg = ordered[static_cast<size_t>(argOf[p])];
      at = arg.span;
      bool isRef = arg.syntax && ast.kind(arg.syntax) == SynKind::Ref;
      bool receiver = p == 0 && arg.node.valid() && arg.syntax && !isRef;
      if (param.isInout) {
        Place place;
        bool local = !arg.syntax && arg.node.valid() && instance.nodes[arg.node].kind == NodeKind::Local;
        if (local) { // the iterator of a loop
          place.root = instance.nodes[arg.node].as<LocalRef>().local;
          place.type = b.typeOf(arg.node);
        } else if ((!isRef && !receiver) || !checkPlace(isRef ? ast[arg.syntax].as<One>().inner : arg.syntax, place)) {
          if (!isRef)
            sink.report(DiagId::InoutArgument, at, name, types.names.text(param.name));
          return b.error(span);
        }
        TypeId type = infer.zonk(place.type);
        if (param.type) {
          if (!bindPack(param.type, types.rank(type), at))
            failed = true;
          TypeId paramType = resolver.type(param.type);
          UnifyResult match = infer.unify(paramType, type);
          if (match.kind > UnifyKind::NeedsCheck) {
            sink.report(DiagId::ArgumentType, at, name, b.show(paramType), b.show(type));
            return b.error(span);
          }
        } else {
          call.untyped.push_back(type);
        }
        for (const InoutArg& other : target.inouts)
          if (other.place.root == place.root) {
            bool apart = false;
            for (size_t k = 0; k < other.place.steps.size() && k < place.steps.size(); ++k) {
              const Step &x = other.place.steps[k], &y = place.steps[k];
              if (x.kind != y.kind)
                break;
              if (x.kind == StepKind::Field && x.number != y.number)
                apart = true;
              if (x.kind == StepKind::Index) {
                auto ix = b.literal(x.index), iy = b.literal(y.index);
                apart |= ix && iy && *ix != *iy;
              }
            }
            if (!apart)
              sink.report(DiagId::OverlappingInout, at);
          }
        target.inouts.push_back({static_cast<uint32_t>(p), std::move(place)});
        continue;
      }
      if (isRef) {
        sink.report(DiagId::NotInout, at, name, types.names.text(param.name));
        return b.error(span);
      }
      if (!param.type) {
        value = checkArg(arg);
      } else {
        bool known = !packIn(tree, param.type, 0, bound).has_value();
        TypeId paramType;
        if (known) {
          paramType = resolver.type(param.type);
          value = checkArg(arg, paramType);
        } else {
          value = checkArg(arg);
          if (b.kindOf(value) == TypeKind::Error)
            return b.error(span);
          if (!bindPack(param.type, types.rank(b.typeOf(value)), at)) {
            sink.report(DiagId::ArgumentType, at, name, std::string(c.modules.sources.text(tree.span(param.type))), b.show(b.typeOf(value)));
            return b.error(span);
          }
          paramType = resolver.type(param.type);
        }
        if (types.kind(infer.shallow(paramType)) == TypeKind::Function && b.kindOf(value) == TypeKind::Known)
          value = asFunction(value, infer.zonk(paramType), at);
        value = coerce(value, paramType, at, DiagId::ArgumentType, name);
      }
    } else {
      // A default is evaluated at each call and may use earlier parameters.
      TypeId paramType = param.type ? resolver.type(param.type) : TypeId::none();
      size_t mark = scope.size();
      size_t child = 0;
      bool usesEarlier = false;
      for (size_t q = 0; q < p; ++q)
        usesEarlier |= mentions(param.defaultValue, fn.params[q].name);
      for (size_t q = 0; q < p && usesEarlier; ++q) {
        if (!argNodes[q].valid())
          continue;
        if (instance.nodes[argNodes[q]].kind != NodeKind::Local)
          children[child] = argNodes[q] = b.local(b.bind(types.names.text(fn.params[q].name), argNodes[q], lets), span);
        scope.push_back({fn.params[q].name, instance.nodes[argNodes[q]].as<LocalRef>().local});
        ++child;
      }
      value = &tree != &ast ? checkForeign(tree, fn.module, param.defaultValue, paramType) : checkExpr(param.defaultValue, paramType);
      scope.resize(mark);
      if (paramType)
        value = coerce(value, paramType, at, DiagId::ArgumentType, name);
    }
    if (b.kindOf(value) == TypeKind::Error)
      failed = true;
    if (!param.type)
      call.untyped.push_back(b.typeOf(value));
    argNodes[p] = value;
    children.push_back(value);
  }
  if (failed)
    return b.error(span);
  for (const GenericParam& g : fn.generics) {
    if (g.kind == GenericKind::Type) {
      TypeId type = infer.zonk(bound.types[g.name]);
      if (types.kind(type) == TypeKind::Var && infer.varClass(type) == types::VarClass::Any && g.defaultType) {
        TypeResolver defaults(c, fn.module, tree, bound);
        infer.unify(type, defaults.type(g.defaultType));
      }
      if (!boundMet(g, infer.zonk(bound.types[g.name]), span))
        return b.error(span);
    } else if (g.kind == GenericKind::Pack && !bound.packs.contains(g.name)) {
      sink.report(DiagId::NothingSettles, span, "the shape of `" + std::string(name) + "`");
      return b.error(span);
    }
  }
  resolver.owner = NameId::none();
  if (!fn.builtin.empty())
    return callBuiltin(fn, children, bound, expected, span);
  NodeId node = b.make(NodeKind::Call, types.error(), span, std::move(children), std::move(target));
  if (!fn.result) {
    NodeId result = finishInferred(std::move(call), node, span);
    if (lets.empty())
      return result;
    lets.push_back(result);
    return b.block(std::move(lets), span);
  }
  resolver.bindDim = nullptr;
  std::vector<DimSym> sizes;
  resolver.freshDim = [&](NameId dim, Span at) {
    sizes.push_back(types.dims.newSym({dim ? std::string(types.names.text(dim)) : "_", types::DimSymKind::Unknown, 0, at}));
    return types.dims.symbol(sizes.back());
  };
  std::vector<NameId> freshNames;
  resolver.valueDim = [&](SynId s) {
    DimId found;
    if (tree.kind(s) == SynKind::Name)
      for (size_t p = 0; p < fn.params.size(); ++p)
        if (fn.params[p].name == tree[s].as<Name>().name && argNodes[p].valid()) {
          found = b.dimOf(argNodes[p]);
          if (!found) {
            sizes.push_back(types.dims.newSym({std::string(types.names.text(fn.params[p].name)), types::DimSymKind::Unknown, 0, span}));
            found = types.dims.symbol(sizes.back());
          }
        }
    if (!found && tree.kind(s) == SynKind::Name)
      found = c.constantDim(fn.module, tree[s].as<Name>().name);
    return found;
  };
  TypeId result = infer.zonk(resolver.type(fn.result));
  Node& made = instance.nodes[node];
  made.type = result;
  made.resultDims = sizes;
  call.node = node;
  pending.push_back(std::move(call));
  if (lets.empty())
    return node;
  lets.push_back(node);
  return b.block(std::move(lets), span);
}

/// Whether a type meets a generic parameter's bound.
bool Body::boundMet(const GenericParam& g, TypeId type, Span span) {
  if (!g.bound)
    return true;
  std::string_view bound = types.names.text(g.bound);
  TypeId shallow = infer.shallow(type);
  TypeKind k = types.kind(shallow);
  if (k == TypeKind::Error)
    return false;
  if (k == TypeKind::Var) { // a whole literal given to a Float becomes a float
    if (bound == "Float")
      infer.unify(infer.freshVar(types::VarClass::OpenFloat, span), shallow);
    else if (bound == "Num" || bound == "Int")
      infer.unify(infer.freshVar(types::VarClass::OpenInt, span), shallow);
    return true;
  }
  bool met = true;
  if (bound == "Float")
    met = types.isFloat(shallow);
  else if (bound == "Int")
    met = types.isInt(shallow);
  else if (bound == "Num")
    met = types.isInt(shallow) || types.isFloat(shallow);
  else if (bound == "Ord")
    met = types.isInt(shallow) || types.isFloat(shallow) || k == TypeKind::Str || k == TypeKind::Char;
  if (!met)
    sink.report(DiagId::BoundNotMet, span, b.show(type), bound);
  return met;
}

/// A struct or an enum case from its fields, by position or name.
NodeId Body::construct(DeclId decl, uint32_t caseIndex, const std::vector<CallArg>& args, const Explicit* explicitArgs,
                       TypeId expected, Span span) {
  const RecordDecl record = c.record(decl);
  std::string_view name = types.names.text(record.name);
  std::vector<TypeId> typeArgs;
  std::vector<DimId> dims;
  TypeResolver outer(c, module, ast, env);
  outer.valueDim = [&](SynId s) { return dimOfSyntax(s); };
  size_t position = 0;
  for (const GenericParam& g : record.generics) {
    const Argument* given = explicitArgs && position < explicitArgs->size() ? &(*explicitArgs)[position] : nullptr;
    ++position;
    if (g.kind == GenericKind::Type)
      typeArgs.push_back(given ? outer.type(given->value) : fresh(span));
    else
      dims.push_back(given ? outer.dim(given->value) : types.dims.symbol(infer.freshDim(std::string(types.names.text(g.name)), span)));
  }
  for (DimId d : dims)
    if (!d)
      return b.error(span);
  TypeId want = expected ? infer.zonk(expected) : TypeId::none();
  bool sameDecl = want && types[want].record && !types.recordInfo(types[want].record).tangentOf &&
                  types.recordInfo(types[want].record).declaration == decl.index;
  if (sameDecl) {
    const std::vector<TypeId> wantArgs = types.recordInfo(types[want].record).typeArgs;
    for (size_t k = 0; k < typeArgs.size(); ++k)
      infer.unify(typeArgs[k], wantArgs[k]);
    for (size_t k = 0; k < dims.size(); ++k)
      infer.unifyDim(dims[k], types[want].dims[k]);
  }
  TypeId type = types.record(c.recordAt(decl, typeArgs), dims);
  const std::vector<types::Field> fields = types.recordInfo(types[type].record).cases[caseIndex].fields;
  std::string_view shown = record.isEnum ? types.names.text(types.recordInfo(types[type].record).cases[caseIndex].name) : name;
  std::vector<NodeId> values(fields.size());
  std::vector<NodeId> lets;
  size_t next = 0;
  int lastField = -1;
  for (const CallArg& arg : args) {
    size_t at = fields.size();
    if (!arg.label)
      at = next++;
    for (size_t k = 0; arg.label && k < fields.size(); ++k)
      if (fields[k].name == arg.label)
        at = k;
    if (at >= fields.size() || values[at].valid()) {
      if (arg.label)
        sink.report(DiagId::UnknownArgument, arg.span, shown, types.names.text(arg.label));
      else
        sink.report(DiagId::ArgumentCount, span, shown, std::to_string(fields.size()), std::to_string(args.size()));
      return b.error(span);
    }
    TypeId field = types.fieldType(type, caseIndex, static_cast<uint32_t>(at));
    NodeId value = checkArg(arg, field);
    if (types.kind(infer.shallow(field)) == TypeKind::Function && b.kindOf(value) == TypeKind::Known)
      value = asFunction(value, infer.zonk(field), arg.span);
    value = coerce(value, field, arg.span, DiagId::ArgumentType, shown);
    if (b.kindOf(value) == TypeKind::Error)
      return b.error(span);
    if (static_cast<int>(at) < lastField)
      value = b.local(b.bind("field", value, lets), arg.span);
    lastField = static_cast<int>(at);
    values[at] = value;
  }
  for (size_t k = 0; k < fields.size(); ++k)
    if (!values[k].valid()) {
      // `Ok()` is `Ok(())` (rule 35).
      if (TypeId field = types.fieldType(type, caseIndex, static_cast<uint32_t>(k)); types.isUnit(infer.zonk(field))) {
        values[k] = b.unit(span);
        continue;
      }
      sink.report(DiagId::MissingArgument, span, shown, fields[k].name ? types.names.text(fields[k].name) : std::to_string(k));
      return b.error(span);
    }
  TypeId made = infer.zonk(type);
  NodeId node = record.isEnum ? b.make(NodeKind::Variant, made, span, std::move(values), Index{caseIndex})
                              : b.make(NodeKind::Struct, made, span, std::move(values));
  if (lets.empty())
    return node;
  lets.push_back(node);
  return b.block(std::move(lets), span);
}

} // namespace melix::check

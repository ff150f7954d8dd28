// Constants: what a name means, and the size that one stands for.
#include "check/signatures/resolve.h"
#include "check/tree/typed_walk.h"

#include <algorithm>

namespace melix::check {

using namespace syntax;
using names::DeclKind;

DeclId Checker::constDecl(ModuleId module, NameId name) {
  return declNamed(module, name, [](DeclKind k) { return k == DeclKind::Const; });
}

DeclId Checker::constDecl(ModuleId module, const Ast& tree, SynId node) {
  if (tree.kind(node) == SynKind::Name) return constDecl(module, tree[node].as<Name>().name);
  if (tree.kind(node) != SynKind::Member) return DeclId::none();
  DeclId decl = typeDecl(module, tree, node); // what is declared and no function
  return decl && modules.decl(decl).kind == DeclKind::Const ? decl : DeclId::none();
}

DimId Checker::constantDim(ModuleId module, NameId name) {
  DeclId decl = constDecl(module, name);
  return decl ? constantSize(decl).dim : DimId::none();
}

/// Of literals, constants and arithmetic it is read off; anything else is run, which only this asks for.
const Checker::ConstantSize& Checker::constantSize(DeclId decl) {
  if (auto found = constants_.sizes.find(decl); found != constants_.sizes.end()) return found->second;
  ConstantSize size;
  if (aliases.open.insert(decl).second) {
    const Ast& tree = ast(decl);
    Messages told(sink);
    TypeEnv none;
    TypeResolver resolver(*this, modules.decl(decl).module, tree, none);
    size.dim = resolver.dim(tree[modules.decl(decl).node].as<ConstItem>().value);
    told.drop();
    aliases.open.erase(decl);
    if (!size.dim) size = computedSize(decl);
  } else {
    size.why = "it is made of itself";
  }
  return constants_.sizes[decl] = std::move(size);
}

Checker::ConstantShape Checker::constantShape(DeclId decl) {
  auto [found, isNew] = constants_.shapes.try_emplace(decl);
  if (!isNew) return found->second;
  const Ast& tree = ast(decl);
  const ModuleId module = modules.decl(decl).module;
  ConstantShape shape;
  std::function<void(SynId)> look = [&](SynId s) {
    if (DeclId other = constDecl(module, tree, s)) {
      shape.namesOthers = true;
      shape.divides |= constantShape(other).divides;
    }
    shape.divides |= tree.kind(s) == SynKind::Binary && tree[s].as<Binary>().op == BinaryOp::Div;
    forEachChild(tree, s, look);
  };
  look(tree[modules.decl(decl).node].as<ConstItem>().value);
  return constants_.shapes[decl] = shape;
}

void Checker::repeatConstant(DeclId decl) {
  for (const Diagnostic& d : std::vector<Diagnostic>(constants_.errors[decl])) sink.repeat(d);
}

Checker::ConstantSize Checker::computedSize(DeclId decl) {
  InstanceKey key;
  key.decl = decl;
  const InstanceId id = instantiate(key, Span());
  std::string_view name = types.names.text(modules.decl(decl).name);
  std::set<InstanceId> seen;
  if (!isComplete(id, seen))
    return {{}, "the value of `" + std::string(name) + "` needs this type to be known"};
  const Instance& made = program_.instance(id);
  if (std::any_of(seen.begin(), seen.end(),
                  [this](InstanceId each) { return program_.instance(each).failed; }))
    return {{}, {}, true};
  if (!types.isInt(made.result))
    return {{},
            "`" + std::string(name) + "` is `" + types.show(made.result) + "`, and a dimension is an `int`"};
  if (made.io.valid() || !hooks.evaluate)
    return {{}, "the value of `" + std::string(name) + "` is not known at compile time"};
  Evaluated found = hooks.evaluate(id);
  if (found.value) return {types.dims.constant(*found.value), {}};
  return {{}, "computing `" + std::string(name) + "` " + found.problem};
}

std::optional<int64_t> Checker::constantNumber(DeclId constant) {
  const DimId size = constantSize(constant).dim;
  return size ? types.dims.asConstant(size) : std::nullopt;
}

/// Whether `id` and all that it calls are checked to the end.
bool Checker::isComplete(InstanceId id, std::set<InstanceId>& seen) {
  if (!seen.insert(id).second) return true;
  if (infos_[id.index].inProgress) return false;
  for (const Node& node : program_.instance(id).nodes) {
    const CallTarget* target = targetOf(node);
    if (target && target->instance && !isComplete(target->instance, seen)) return false;
  }
  return true;
}

/// Why a name in lower case, which means something in the module, is no dimension; nothing if it means none.
std::string Checker::whyNoSize(ModuleId module, NameId name) {
  std::string shown = "`" + std::string(types.names.text(name)) + "`";
  if (DeclId constant = constDecl(module, name)) return constantSize(constant).why;
  const ScriptNames& script = scriptNames(module);
  if (script.vars.contains(name)) return shown + " is a `var` of the script; pass its value as an argument";
  if (script.lets.contains(name)) return shown + " is a `let` of the script that stands below; move it above";
  if (!functionLayers(module, name).empty())
    return shown + " is a function; `const n = " + std::string(types.names.text(name)) +
           "(…)` names what a call of it gives";
  return typeDecl(module, name) ? shown + " is a type" : "";
}

std::string whyNoSize(Checker& checker, const FunctionDecl& fn, NameId name) {
  for (const ParamDecl& p : fn.params) {
    if (p.name != name) continue;
    std::string shown = "`" + std::string(checker.types.names.text(name)) + "`";
    if (p.isInout) return shown + " may change: only a parameter by value is a dimension";
    std::string_view type = p.type ? checker.modules.sources.text(checker.ast(fn.decl).span(p.type)) : "";
    return type == "int"
               ? shown + " stands behind: a parameter that is a dimension stands before those that use it"
           : type.empty() ? shown + " has no type: a parameter that is a dimension is declared `int`"
                          : shown + " is `" + std::string(type) + "`, and a dimension is an `int`";
  }
  return "";
}

/// What a misspelt dimension in lower case may have been meant to be.
std::string Checker::suggestSize(ModuleId module, NameId name, const std::vector<NameId>& inScope) {
  std::vector<std::string_view> known;
  for (NameId n : inScope) known.push_back(types.names.text(n));
  for (const auto& [declared, decls] : modules[module].decls.all())
    if (modules.decl((*decls)[0]).kind == DeclKind::Const) known.push_back(types.names.text(declared));
  std::string hint = suggest(types.names.text(name), known);
  return hint.empty()
             ? "a dimension in lower case is an `int` parameter, `let` or `const`; a dimension variable "
               "begins with a capital letter"
             : hint;
}

} // namespace melix::check

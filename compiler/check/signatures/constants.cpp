// Constants: what a name means, and the size that one stands for.
#include "check/signatures/constants.h"

#include "check/instances/instances.h"
#include "check/signatures/declaration_table.h"
#include "check/signatures/lookup.h"
#include "check/signatures/resolve.h"
#include "check/signatures/scripts.h"
#include "check/tree/typed_walk.h"

#include <algorithm>

namespace melix::check {

using namespace syntax;
using names::DeclKind;

DeclId constDecl(Checker& c, ModuleId module, NameId name) {
  return declNamed(c, module, name, [](DeclKind k) { return k == DeclKind::Const; });
}

DeclId constDecl(Checker& c, ModuleId module, const Ast& tree, SynId node) {
  if (tree.kind(node) == SynKind::Name) return constDecl(c, module, tree[node].as<Name>().name);
  if (tree.kind(node) != SynKind::Member) return DeclId::none();
  DeclId decl = typeDecl(c, module, tree, node); // what is declared and no function
  return decl && c.modules.decl(decl).kind == DeclKind::Const ? decl : DeclId::none();
}

DimId Constants::constantDim(ModuleId module, NameId name) {
  DeclId decl = constDecl(c_, module, name);
  return decl ? constantSize(decl).dim : DimId::none();
}

/// Of literals, constants and arithmetic it is read off; anything else is run, which only this asks for.
const ConstantSize& Constants::constantSize(DeclId decl) {
  if (auto found = sizes_.find(decl); found != sizes_.end()) return found->second;
  ConstantSize size;
  if (c_.declarations.aliases.open.insert(decl).second) {
    const Ast& tree = c_.ast(decl);
    Messages told(c_.sink);
    TypeEnv none;
    TypeResolver resolver(c_, c_.modules.decl(decl).module, tree, none);
    size.dim = resolver.dim(tree[c_.modules.decl(decl).node].as<ConstItem>().value);
    told.drop();
    c_.declarations.aliases.open.erase(decl);
    if (!size.dim) size = computedSize(decl);
  } else {
    size.why = "it is made of itself";
  }
  return sizes_[decl] = std::move(size);
}

ConstantShape Constants::constantShape(DeclId decl) {
  auto [found, isNew] = shapes_.try_emplace(decl);
  if (!isNew) return found->second;
  const Ast& tree = c_.ast(decl);
  const ModuleId module = c_.modules.decl(decl).module;
  ConstantShape shape;
  std::function<void(SynId)> look = [&](SynId s) {
    if (DeclId other = constDecl(c_, module, tree, s)) {
      shape.namesOthers = true;
      shape.divides |= constantShape(other).divides;
    }
    shape.divides |= tree.kind(s) == SynKind::Binary && tree[s].as<Binary>().op == BinaryOp::Div;
    forEachChild(tree, s, look);
  };
  look(tree[c_.modules.decl(decl).node].as<ConstItem>().value);
  return shapes_[decl] = shape;
}

void Constants::repeatConstant(DeclId decl) {
  for (const Diagnostic& d : std::vector<Diagnostic>(errors_[decl])) c_.sink.repeat(d);
}

ConstantSize Constants::computedSize(DeclId decl) {
  InstanceKey key;
  key.decl = decl;
  const InstanceId id = c_.instances.instantiate(key, Span());
  std::string_view name = c_.types.names.text(c_.modules.decl(decl).name);
  std::set<InstanceId> seen;
  if (!isComplete(id, seen))
    return {{}, "the value of `" + std::string(name) + "` needs this type to be known"};
  const Instance& made = c_.program_.instance(id);
  if (std::any_of(seen.begin(), seen.end(),
                  [this](InstanceId each) { return c_.program_.instance(each).failed; }))
    return {{}, {}, true};
  if (!c_.types.isInt(made.result))
    return {{},
            "`" + std::string(name) + "` is `" + c_.types.show(made.result) +
                "`, and a dimension is an `int`"};
  if (made.io.valid() || !c_.hooks.evaluate)
    return {{}, "the value of `" + std::string(name) + "` is not known at compile time"};
  Checker::Evaluated found = c_.hooks.evaluate(id);
  if (found.value) return {c_.types.dims.constant(*found.value), {}};
  return {{}, "computing `" + std::string(name) + "` " + found.problem};
}

std::optional<int64_t> Constants::constantNumber(DeclId constant) {
  const DimId size = constantSize(constant).dim;
  return size ? c_.types.dims.asConstant(size) : std::nullopt;
}

/// Whether `id` and all that it calls are checked to the end.
bool Constants::isComplete(InstanceId id, std::set<InstanceId>& seen) {
  if (!seen.insert(id).second) return true;
  if (c_.instances.info(id).inProgress) return false;
  for (const Node& node : c_.program_.instance(id).nodes) {
    const CallTarget* target = targetOf(node);
    if (target && target->instance && !isComplete(target->instance, seen)) return false;
  }
  return true;
}

/// Why a name in lower case, which means something in the module, is no dimension; nothing if it means none.
std::string whyNoSize(Checker& c, ModuleId module, NameId name) {
  std::string shown = "`" + std::string(c.types.names.text(name)) + "`";
  if (DeclId constant = constDecl(c, module, name)) return c.constants.constantSize(constant).why;
  const ScriptNames& script = c.scripts.scriptNames(module);
  if (script.vars.contains(name)) return shown + " is a `var` of the script; pass its value as an argument";
  if (script.lets.contains(name)) return shown + " is a `let` of the script that stands below; move it above";
  if (!functionLayers(c, module, name).empty())
    return shown + " is a function; `const n = " + std::string(c.types.names.text(name)) +
           "(…)` names what a call of it gives";
  return typeDecl(c, module, name) ? shown + " is a type" : "";
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
std::string suggestSize(Checker& c, ModuleId module, NameId name, const std::vector<NameId>& inScope) {
  std::vector<std::string_view> known;
  for (NameId n : inScope) known.push_back(c.types.names.text(n));
  for (const auto& [declared, decls] : c.modules[module].decls.all())
    if (c.modules.decl((*decls)[0]).kind == DeclKind::Const) known.push_back(c.types.names.text(declared));
  std::string hint = suggest(c.types.names.text(name), known);
  return hint.empty()
             ? "a dimension in lower case is an `int` parameter, `let` or `const`; a dimension variable "
               "begins with a capital letter"
             : hint;
}

} // namespace melix::check

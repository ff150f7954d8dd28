// Names that mean nothing where they stand: why, and what may have been meant.
#include "check/body/attempt.h"
#include "check/body/body.h"
#include "check/body/dicts.h"
#include "check/instances/instances.h"
#include "check/signatures/ended_names.h"
#include "check/signatures/lookup.h"
#include "check/signatures/scripts.h"
#include "check/signatures/suggestions.h"
#include "check/signatures/template_names.h"
#include "check/tree/text_hint.h"

namespace melix::check {

using namespace syntax;

bool isInOwnLambda(const Ast& ast, NameId name, Span use) {
  bool found = false;
  std::function<void(SynId, bool)> look = [&](SynId s, bool inValue) {
    const Span span = ast.span(s);
    bool isAround = span.begin <= use.begin && use.end <= span.end;
    if (!isAround && s != ast.root) return;
    found |= inValue && ast.kind(s) == SynKind::Lambda;
    SynId value;
    if (ast.kind(s) == SynKind::Let) {
      const auto& let = ast[s].as<syntax::Let>();
      if (ast.kind(let.pattern) == SynKind::Name && ast[let.pattern].as<Name>().name == name)
        value = let.init;
    }
    forEachChild(ast, s, [&](SynId child) { look(child, inValue || child == value); });
  };
  look(ast.root, false);
  return found;
}

std::string declaredHint(std::string_view name) {
  return "a function that calls itself is declared: `fn " + std::string(name) + "(…)`";
}

namespace {

/// The scalar type of Melix that a name is, there or in other languages.
std::string_view meantScalar(std::string_view name) {
  static const std::map<std::string_view, std::string_view> others = {
      {"float", "f32"}, {"double", "f64"}, {"Float", "f64"}, {"Int", "int"}, {"integer", "int"}};
  const auto other = others.find(name);
  if (other != others.end()) return other->second;
  return scalarNamed(name) ? name : "";
}

/// Whether a name of a type stands in an expression, where it means nothing.
bool holdsTypeName(Body& body, SynId written) {
  const Ast& ast = *body.ast.at;
  bool found = ast.kind(written) == SynKind::Name &&
               !meantScalar(body.types.names.text(ast[written].as<Name>().name)).empty();
  forEachChild(ast, written, [&](SynId child) { found = found || holdsTypeName(body, child); });
  return found;
}

/// Whether an expression is of type `str`; one that has the fault of what is around it is not looked into.
bool isText(Body& body, SynId written) {
  if (holdsTypeName(body, written)) return false;
  Attempt attempt(body);
  const TypeId type = body.b.typeOf(body.checkExpr(written));
  return body.types.kind(body.infer.zonk(type)) == TypeKind::Str;
}

} // namespace

/// Of `f64(x)`, where `callee` is the type: the conversion that is meant.
std::string Body::conversionHint(std::string_view type, Span callee) {
  type = meantScalar(type);
  const std::optional<TypeKind> scalar = scalarNamed(type);
  SynId argument;
  std::function<void(SynId)> look = [&](SynId s) {
    const Span span = ast.span(s);
    if (s != ast.at->root && (callee.begin < span.begin || span.end < callee.end)) return;
    if (ast.kind(s) == SynKind::Call) {
      const auto& call = ast[s].as<Call>();
      if (ast.span(call.callee) == callee && call.args.size() == 1) argument = call.args[0].value;
    }
    forEachChild(ast, s, look);
  };
  look(ast.at->root);
  if (!scalar || !argument || ast.kind(argument) == SynKind::Generator) return {};
  const std::string written = writtenOperand(ast.span(argument));
  const bool ofText = isText(*this, argument);
  if (*scalar == TypeKind::Bool)
    return "write `" + (ofText ? "len(" + written + ") > 0`" : written + " != 0`");
  if (ofText) return readingHint(written, *scalar);
  return "`" + written + " as " + std::string(type) + "` converts";
}

/// The variables that blocks around `use` bind below it.
std::vector<std::pair<NameId, Span>> Body::boundBelow(Span use) {
  std::vector<std::pair<NameId, Span>> found;
  std::function<void(SynId)> bind = [&](SynId pattern) {
    if (ast.kind(pattern) == SynKind::Name)
      found.emplace_back(ast[pattern].as<Name>().name, ast.span(pattern));
    forEachChild(ast, pattern, bind);
  };
  std::function<void(SynId)> look = [&](SynId s) {
    const Span span = ast.span(s);
    if (ast.kind(s) == SynKind::Let && span.begin > use.begin) bind(ast[s].as<syntax::Let>().pattern);
    bool isAround = span.begin <= use.begin && use.end <= span.end;
    if (isAround || s == ast.at->root) forEachChild(ast, s, look);
  };
  look(ast.at->root);
  return found;
}

/// A name that means nothing here; functions are told why they do not see a variable of the script.
NodeId Body::unknownName(NameId name, Span span) {
  std::string_view text = types.names.text(name);
  if (isUnknownTold(c.modules, text, span, messages.all())) return b.error(span);
  const ScriptNames script = isScript ? ScriptNames() : c.scripts.scriptNames(module);
  const DeclId mine = c.instances.info(id).key.decl;
  bool isConstant = mine && c.modules.decl(mine).kind == names::DeclKind::Const;
  if (isConstant && (script.vars.contains(name) || script.lets.contains(name))) {
    sink.report(DiagId::ConstValue, span, types.names.text(c.modules.decl(mine).name));
    return b.error(span);
  }
  if (isInOwnLambda(*ast.at, name, span)) {
    sink.report(DiagId::UnknownName, span, text).hint = declaredHint(text);
  } else if (declNamed(c, module, name,
                       [](names::DeclKind kind) { return kind == names::DeclKind::Macro; })) {
    sink.report(DiagId::UnknownName, span, text).hint = "a use of the macro is `@" + std::string(text) + "`";
  } else if (c.modules.prefix(module, name)) {
    sink.report(DiagId::UnknownName, span, text).hint =
        "`" + std::string(text) + "` is a module: `" + std::string(text) + ".name` is something in it";
  } else if (c.inTest && (script.vars.contains(name) || script.lets.contains(name))) {
    sink.report(DiagId::ScriptNameInTest, span, text);
  } else if (script.vars.contains(name)) {
    sink.report(DiagId::ScriptVar, span, text);
  } else if (script.again.contains(name)) {
    sink.report(DiagId::ScriptLetAgain, span, text);
  } else if (auto let = script.lets.find(name); let != script.lets.end()) {
    Diagnostic& d = sink.report(
        let->second < instance.span.begin ? DiagId::ScriptLetUnset : DiagId::ScriptLetBelow, span, text);
    const bool isDefault = mine && c.modules.decl(mine).kind != names::DeclKind::Function;
    if (isDefault) d.hint = "the default of a field sees constants: `const " + std::string(text) + " = …`";
  } else {
    std::vector<NameId> near = visibleNames();
    Span boundAt;
    for (auto [below, at] : boundBelow(span)) {
      near.push_back(below);
      if (below == name && !boundAt.valid()) boundAt = at;
    }
    const Span ended = boundAt.valid() ? Span() : endedBefore(*ast.at, name, span);
    std::string hint = conversionHint(text, span);
    if (hint.empty() && !boundAt.valid() && !ended.valid()) hint = nameHint(c, module, name, span, near);
    Diagnostic& d = sink.report(DiagId::UnknownName, span, text);
    d.hint = hint;
    const std::string shown = "`" + std::string(text) + "`";
    if (boundAt.valid()) {
      d.notes.push_back({boundAt, shown + " is bound here, below its use"});
      d.hint = "a variable is known from its `let` on";
    } else if (ended.valid()) {
      d.notes.push_back({ended, shown + " is bound here, and ends with its block"});
      d.hint = "a name ends with its block: `var " + std::string(text) + " = …` before the block keeps it";
    }
  }
  return b.error(span);
}

/// A name that is assigned to and means nothing here: it may have wanted a `var`.
void Body::unknownTarget(NameId name, Span span) {
  Messages told(sink);
  unknownName(name, span);
  if (!told.any() || told.last()->id != DiagId::UnknownName) return;
  const std::string meant = told.last()->hint;
  if (!told.last()->notes.empty() && meant.starts_with("a name ends")) return; // it says how
  told.hintLast("`var " + std::string(types.names.text(name)) + " = …` declares it" +
                (meant.empty() ? "" : "; " + meant));
}

/// A field that a value of `type` has not.
void Body::unknownField(const Member& member, TypeId type) {
  std::string_view name = types.names.text(member.name);
  Diagnostic& d = sink.report(DiagId::UnknownField, member.nameSpan, b.show(type), name);
  d.hint = habitHint(HabitKind::Field, name);
  const bool isFunction = !functionLayers(c, module, member.name).empty() || findIntrinsic(name);
  if (d.hint.empty() && isFunction)
    d.hint = "`" + std::string(name) + "` is a function: `" + writtenOperand(ast.span(member.base)) + "." +
             std::string(name) + "()`";
  if (isFunction) return;
  if (types.kind(type) != TypeKind::Struct || isSealed(*this, type)) {
    if (d.hint.empty()) d.hint = suggestName(c, module, member.name, {});
    return;
  }
  std::vector<std::string_view> known;
  for (const types::Field& f : types.recordInfo(types[type].record).cases[0].fields)
    known.push_back(types.names.text(f.name));
  const std::string fields = nearOrListed(d.hint.empty() ? name : "", known);
  if (!fields.empty()) d.hint = fields;
}

} // namespace melix::check

// The command line of a program (rule 45): the parameters of main are declared to the runtime and parsed
// before the first statement runs; their values are read where main is called.
#include "check/body/body.h"
#include "check/signatures/checker.h"

namespace melix::check {

using types::ScalarClass;
using types::TypeKind;

namespace {

bool isTextList(const TypeStore& types, TypeId type) {
  return types.kind(type) == TypeKind::List && types.kind(types[type].parts[0]) == TypeKind::Str;
}

bool isCommandLineType(const TypeStore& types, TypeId type) {
  TypeKind kind = types.kind(type);
  bool isWord = kind == TypeKind::Str || kind == TypeKind::Bool || kind == TypeKind::Char;
  return isWord || types::isIntKind(kind) || kind == TypeKind::F32 || kind == TypeKind::F64 ||
         isTextList(types, type);
}

} // namespace

/// The types of main's parameters, each announced to the runtime; then the arguments are parsed.
std::vector<TypeId> Body::declareCommandLine(const FunctionDecl& fn, std::string doc,
                                             std::vector<NodeId>& nodes) {
  std::vector<TypeId> found;
  for (const ParamDecl& p : fn.params) {
    TypeId type = p.type ? resolveType(p.type, false) : types.error();
    if (!p.type)
      sink.report(DiagId::NothingSettles, p.span, "the type of this parameter of `main`").hint =
          "give it: `" + std::string(types.names.text(p.name)) + ": int`";
    if (p.isInout) {
      sink.report(DiagId::CommandLineType, p.span, "inout").hint =
          "`var y = x` makes a variable of its value";
      type = types.error();
    }
    if (types.kind(type) != TypeKind::Error && !isCommandLineType(types, type)) {
      sink.report(DiagId::CommandLineType, p.span, b.show(type));
      type = types.error();
    }
    if (p.defaultValue && types.names.text(p.name) == "help") sink.report(DiagId::CommandLineHelp, p.span);
    if (isTextList(types, type) && std::find(found.begin(), found.end(), type) != found.end())
      sink.report(DiagId::CommandLineRest, p.span, types.names.text(p.name));
    found.push_back(type);
    if (types.kind(type) == TypeKind::Error) continue;
    std::string standard =
        p.defaultValue ? std::string(c.modules.sources.text(ast.span(p.defaultValue))) : "";
    nodes.push_back(
        callPrelude("command_declare",
                    {b.string(std::string(types.names.text(p.name)), p.span), b.string(b.show(type), p.span),
                     b.boolean(p.defaultValue.valid(), p.span), b.string(std::move(standard), p.span)},
                    p.span));
  }
  nodes.push_back(callPrelude("command_parse", {b.string(std::move(doc), fn.span)}, fn.span));
  return found;
}

/// The value of parameter `k` of main, or its default, which may use the parameters before it.
NodeId Body::commandLineValue(const ParamDecl& param, uint32_t k, TypeId type) {
  Span span = param.span;
  TypeKind kind = types.kind(type);
  if (kind == TypeKind::Error) return b.error(span);
  NodeId place = b.integer(k, span);
  auto read = [&](const char* name) { return callPrelude(name, {place}, span); };
  NodeId value;
  if (isTextList(types, type))
    value = callPrelude("command_rest", {}, span);
  else if (kind == TypeKind::Str)
    value = read("command_text");
  else if (kind == TypeKind::Char)
    value = read("command_char");
  else if (kind == TypeKind::Bool)
    value = read("command_bool");
  else if (types.isFloat(type))
    value = b.convert(read("command_float"), type, span);
  else
    value = b.convert(read("command_int"), type, span, false, ops::ConvertMode::Wrap);
  if (!param.defaultValue) return value;
  NodeId standard = coerce(checkExpr(param.defaultValue, type), type, span);
  if (b.kindOf(standard) == TypeKind::Error) return standard;
  return b.make(NodeKind::If, type, span,
                {callPrelude("command_given", {b.integer(k, span)}, span), value, standard});
}

/// main, called with the values of the command line; an `Err` is printed and ends the program with status 1.
NodeId Body::callMain(DeclId decl, const FunctionDecl& fn, const std::vector<TypeId>& paramTypes) {
  scope.leave(0);
  for (const ParamDecl& p : fn.params)
    if (p.isInout) return b.error(fn.span); // which is told
  std::vector<NodeId> nodes;
  std::vector<CallArg> args;
  for (uint32_t k = 0; k < fn.params.size(); ++k) {
    const ParamDecl& p = fn.params[k];
    NodeId value = commandLineValue(p, k, paramTypes[k]); // its default may use the parameters before it
    LocalId local = declareLocal(p.name, paramTypes[k], p.span, false);
    used.insert(local);
    nodes.push_back(b.let(local, value));
    args.push_back({NameId::none(), SynId::none(), b.local(local, p.span), p.span});
  }
  NodeId call = callDecl(decl, args, nullptr, TypeId::none(), fn.span);
  instance.nodes.edit(call).span = Span(); // no frame of a trace
  TypeId type = b.typeOf(call);
  if (isPreludeEnum(type, "Result")) {
    auto errorOf = [&](TypeId result) { return types.fieldType(result, caseNumber(result, "Err"), 0); };
    bool isError = infer.zonk(errorOf(type)) == infer.zonk(errorOf(returnType));
    // An error of another type is told by its `message`.
    call = isError ? callPrelude("command_status", {call}, fn.span)
                   : b.block({tryValue(call, fn.span), b.unit(fn.span)}, fn.span);
  } else if (types.kind(type) != TypeKind::Error && !types.isUnit(type) &&
             types.kind(type) != TypeKind::Never)
    sink.report(DiagId::MainResult, fn.span, b.show(type));
  nodes.push_back(call);
  return b.block(std::move(nodes), Span());
}

} // namespace melix::check

#include "repl/parameters.h"

#include "check/intrinsics/intrinsics.h"
#include "support/characters.h"

#include <algorithm>

namespace melix::repl {

using names::DeclKind;

namespace {

/// The parameters of an intrinsic, by its text for people: `(x: T[..S], over: Axes)`.
ParameterList parametersIn(std::string_view signature) {
  ParameterList out;
  const size_t open = signature.find('(');
  if (open == std::string_view::npos) return out;
  size_t depth = 0, begin = open + 1;
  for (size_t k = open + 1; k < signature.size(); ++k) {
    const char c = signature[k];
    if (c == '(' || c == '[') ++depth;
    const bool isEnd = depth == 0 && (c == ',' || c == ')');
    if (isEnd) {
      const std::string_view all = signature.substr(begin, k - begin);
      const std::string_view one = all.substr(std::min(all.find_first_not_of(' '), all.size()));
      const size_t colon = one.find(": ");
      out.push_back({std::string(one.substr(0, colon)),
                     colon == std::string_view::npos ? "" : std::string(one.substr(colon + 2))});
      begin = k + 1;
      if (c == ')') break;
    }
    if (c == ')' || c == ']') --depth;
  }
  return out;
}

class Overloads {
public:
  Overloads(const Visible& visible) : visible_(visible), session_(visible.session) {}

  void ofFunction(names::DeclId decl, size_t taken) {
    const syntax::Ast& ast = session_.modules().astOf(decl);
    ParameterList list;
    for (const syntax::Parameter& p : ast[session_.modules().decl(decl).node].as<syntax::FnItem>().params)
      list.push_back(textOf(ast, p));
    drop(list, taken);
  }
  void ofIntrinsic(std::string_view name, size_t taken) {
    for (const check::IntrinsicText& each : check::intrinsicTexts())
      if (each.name == name) drop(parametersIn(each.signature), taken);
  }

  /// A declaration that is called by its name, or an enum with a case of it.
  void ofDeclaration(names::DeclId decl, NameId name) {
    const names::Decl& declared = session_.modules().decl(decl);
    const syntax::Ast& ast = session_.modules().astOf(decl);
    if (declared.kind == DeclKind::Function && declared.name == name) ofFunction(decl, 0);
    if (declared.kind == DeclKind::Struct && declared.name == name)
      ofFields(ast, ast[declared.node].as<syntax::StructItem>().fields);
    if (declared.kind == DeclKind::Enum)
      for (const syntax::CaseDecl& each : ast[declared.node].as<syntax::EnumItem>().cases)
        if (each.name == name) ofFields(ast, each.fields);
  }

  /// `name(…)`
  void ofName(NameId name) {
    for (const check::PromptVariable& v : visible_.variables)
      if (v.name == name) return;
    for (const auto& [known, from] : visible_.definitions.names)
      for (names::DeclId d : session_.modules()[from].named(known)) ofDeclaration(d, name);
    const bool isHidden = visible_.definitions.names.contains(name) && !all.empty() && !isFunction(name);
    if (isHidden) return;
    for (const auto& [known, decls] : session_.modules()[session_.modules().prelude()].decls.all())
      for (names::DeclId d : *decls)
        if (session_.modules().decl(d).isPub) ofDeclaration(d, name);
    ofIntrinsic(session_.names.text(name), 0);
  }

  /// `owner.name(…)` of a module or an enum. Whether the owner is one.
  bool ofMember(std::string_view owner, NameId name) {
    const NameId base = session_.names.intern(owner);
    for (const check::PromptVariable& v : visible_.variables)
      if (v.name == base) return false;
    if (const auto used = visible_.definitions.prefixes.find(base);
        used != visible_.definitions.prefixes.end()) {
      for (names::DeclId d : session_.modules()[used->second].named(name))
        if (session_.modules().decl(d).isPub) ofDeclaration(d, name);
      return true;
    }
    const auto from = visible_.definitions.names.find(base);
    if (from == visible_.definitions.names.end()) return false;
    bool isEnum = false;
    for (names::DeclId d : session_.modules()[from->second].named(base)) {
      if (session_.modules().decl(d).kind != DeclKind::Enum) continue;
      isEnum = true;
      ofDeclaration(d, name);
    }
    return isEnum;
  }

  std::vector<ParameterList> all;

private:
  bool isFunction(NameId name) const {
    const std::span<const names::DeclId> found =
        session_.modules()[visible_.definitions.names.at(name)].named(name);
    return !found.empty() && session_.modules().decl(found[0]).kind == DeclKind::Function;
  }
  void drop(ParameterList list, size_t taken) {
    list.erase(list.begin(), list.begin() + static_cast<ptrdiff_t>(std::min(taken, list.size())));
    all.push_back(std::move(list));
  }
  std::string textOf(const syntax::Ast& ast, syntax::NodeId node) const {
    return std::string(session_.sources.text(ast.span(node)));
  }
  std::string typeText(const syntax::Ast& ast, syntax::NodeId type, syntax::NodeId standard) const {
    std::string out = type ? textOf(ast, type) : "";
    if (standard) out += (out.empty() ? "= " : " = ") + textOf(ast, standard);
    return out;
  }
  ParameterText textOf(const syntax::Ast& ast, const syntax::Parameter& p) const {
    return {p.name && !syntax::isSpliced(p.name) ? std::string(session_.names.text(p.name)) : "",
            typeText(ast, p.type, p.defaultValue)};
  }
  void ofFields(const syntax::Ast& ast, const std::vector<syntax::FieldDecl>& fields) {
    ParameterList list;
    for (const syntax::FieldDecl& f : fields)
      list.push_back({f.name && !syntax::isSpliced(f.name) ? std::string(session_.names.text(f.name)) : "",
                      typeText(ast, f.type, f.defaultValue)});
    all.push_back(std::move(list));
  }

  const Visible& visible_;
  session::Session& session_;
};

bool has(const ParameterList& list, const std::string& name) {
  return std::ranges::count(list, name, &ParameterText::name) > 0;
}

} // namespace

std::vector<ParameterList> parametersOf(const Visible& visible, const std::string& text,
                                        const Cursor& cursor) {
  const OpenCall& call = cursor.call;
  if (call.name.isEmpty()) return {};
  const NameId name = visible.session.names.intern(call.name.of(text));
  Overloads overloads(visible);
  if (call.receiver.isEmpty()) {
    overloads.ofName(name);
  } else if (!overloads.ofMember(call.receiver.of(text), name)) {
    TypedReceiver receiver = TypedReceiver::ofCall(visible, text, cursor);
    if (receiver.type())
      for (names::DeclId d : receiver.methods(name)) overloads.ofFunction(d, 1);
    overloads.ofIntrinsic(visible.session.names.text(name), 1);
  }
  std::erase_if(overloads.all, [&](const ParameterList& list) {
    return !std::ranges::all_of(call.labels, [&](const std::string& label) { return has(list, label); });
  });
  return std::move(overloads.all);
}

ParameterList freeParameters(const std::vector<ParameterList>& overloads, const OpenCall& call) {
  ParameterList out;
  for (const ParameterList& list : overloads)
    for (size_t k = call.positional; k < list.size(); ++k) {
      const std::string& name = list[k].name;
      const bool isName = !name.empty() && std::ranges::all_of(name, isOfWord);
      if (isName && std::ranges::count(call.labels, name) == 0 && !has(out, name)) out.push_back(list[k]);
    }
  return out;
}

bool takesPath(const std::vector<ParameterList>& overloads, const OpenCall& call) {
  auto isPath = [](const std::string& name) { return name == "path" || name == "file" || name == "folder"; };
  if (!call.label.empty())
    return isPath(call.label) &&
           std::ranges::any_of(overloads, [&](const ParameterList& list) { return has(list, call.label); });
  return call.labels.empty() && std::ranges::any_of(overloads, [&](const ParameterList& list) {
           return call.positional < list.size() && isPath(list[call.positional].name);
         });
}

} // namespace melix::repl

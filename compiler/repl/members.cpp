#include "repl/members.h"

#include "check/intrinsics/intrinsics.h"
#include "repl/signature.h"
#include "support/characters.h"

#include <algorithm>
#include <map>

namespace melix::repl {

using types::TypeId;
using types::TypeKind;

bool isOffered(std::string_view name, std::string_view begin) {
  const bool isName = !name.empty() && isOfWord(name[0]);
  return isName && name.starts_with(begin) && (!name.starts_with('_') || begin.starts_with('_'));
}

namespace {

/// Whether an intrinsic takes a value first, by its text for people: `(x: T[..S], …)`, `[T: Float](x: T)`,
/// `(x)`.
bool takesFirst(types::TypeStore& types, std::string_view signature, TypeId type) {
  const bool wantsFloat = signature.starts_with("[T: Float](");
  if (wantsFloat) signature.remove_prefix(std::string_view("[T: Float]").size());
  const TypeKind kind = types.kind(type);
  if (signature.starts_with("(x)"))
    return kind == TypeKind::Array || kind == TypeKind::List || kind == TypeKind::Str;
  const size_t colon = signature.find(": ");
  if (!signature.starts_with('(') || colon == std::string_view::npos) return false;
  const std::string_view wanted = signature.substr(colon + 2);
  const TypeId element = kind == TypeKind::Array ? types.element(type) : type;
  auto says = [&](std::string_view part) { return signature.find(part) != std::string_view::npos; };
  const bool isMade = wanted.starts_with("T[..S]") && says("-> T[..S]") && !says("over:"); // elementwise
  if (kind != TypeKind::Array && !isMade && !wanted.starts_with("T,") && !wanted.starts_with("T)"))
    return false;
  if (wanted.starts_with("bool[")) return types.kind(element) == TypeKind::Bool;
  if (!wanted.starts_with('T')) return false;
  return wantsFloat ? types.isFloat(element)
                    : types.isNumber(element) || types.kind(element) == TypeKind::Bool;
}

class Members {
public:
  Members(const Visible& visible, const std::string& begin)
      : visible_(visible), session_(visible.session), begin_(begin) {}

  /// Whether the name is that of a module or an enum, whose items these are then.
  bool ofName(std::string_view owner) {
    const NameId name = session_.names.intern(owner);
    for (const check::PromptVariable& v : visible_.variables)
      if (v.name == name) return false;
    if (const auto prefix = visible_.definitions.prefixes.find(name);
        prefix != visible_.definitions.prefixes.end()) {
      for (const auto& [item, decls] : session_.modules()[prefix->second].decls.all())
        if (!decls->empty() && session_.modules().decl((*decls)[0]).isPub) add(item, (*decls)[0]);
      return true;
    }
    const auto from = visible_.definitions.names.find(name);
    const names::ModuleId module =
        from == visible_.definitions.names.end() ? session_.modules().prelude() : from->second;
    for (names::DeclId d : session_.modules()[module].named(name)) {
      if (session_.modules().decl(d).kind != names::DeclKind::Enum) continue;
      casesOf(d);
      return true;
    }
    return false;
  }

  void ofValue(TypedReceiver& receiver) {
    fieldsOf(receiver.type());
    std::map<std::string, std::string> narrow, wide;
    for (NameId name : receiver.methodNames(begin_)) {
      const std::string text(session_.names.text(name));
      if (!isOffered(text, begin_)) continue;
      const std::vector<names::DeclId> found = receiver.methods(name);
      if (found.empty()) continue;
      const auto special =
          std::ranges::find_if(found, [&](names::DeclId d) { return !takesAnything(session_.checker(), d); });
      const bool isWide = special == found.end();
      (isWide ? wide : narrow).emplace(text, headerOf(session_.modules(), isWide ? found[0] : *special));
    }
    for (const check::IntrinsicText& each : check::intrinsicTexts())
      if (isOffered(each.name, begin_) && takesFirst(session_.types, each.signature, receiver.type()))
        narrow.emplace(each.name, "fn " + std::string(each.name) + std::string(each.signature));
    for (const auto& [text, note] : narrow) add(text, note);
    for (const auto& [text, note] : wide) add(text, note);
  }

  std::vector<Candidate> take() { return std::move(found_); }

private:
  void add(const std::string& text, const std::string& note) {
    const bool isKnown = std::ranges::count(found_, text, &Candidate::text) > 0;
    if (isOffered(text, begin_) && !isKnown) found_.push_back({text, note});
  }
  void add(NameId name, names::DeclId decl) {
    const std::string text(session_.names.text(name));
    if (isOffered(text, begin_)) add(text, headerOf(session_.modules(), decl));
  }

  void casesOf(names::DeclId decl) {
    const syntax::Ast& ast = session_.modules().astOf(decl);
    for (const syntax::CaseDecl& each : ast[session_.modules().decl(decl).node].as<syntax::EnumItem>().cases)
      add(std::string(session_.names.text(each.name)), std::string(session_.sources.text(each.span)));
  }

  void fieldsOf(TypeId type) {
    types::TypeStore& types = session_.types;
    if (types.kind(type) == TypeKind::Tuple)
      for (size_t k = 0; k < types[type].parts.size(); ++k)
        add(std::to_string(k), types.print(types[type].parts[k]));
    if (types.kind(type) != TypeKind::Struct) return;
    const types::Record record = types.recordInfo(types[type].record);
    if (record.form != types::RecordForm::Plain) return;
    for (uint32_t k = 0; k < record.cases[0].fields.size(); ++k)
      add(std::string(types.names.text(record.cases[0].fields[k].name)),
          types.print(types.fieldType(type, 0, k)));
  }

  const Visible& visible_;
  session::Session& session_;
  const std::string begin_;
  std::vector<Candidate> found_;
};

} // namespace

std::vector<Candidate> membersOf(const Visible& visible, const std::string& text, const Cursor& cursor,
                                 const std::string& begin) {
  Members members(visible, begin);
  if (cursor.receiver.isEmpty() || members.ofName(cursor.receiver.of(text))) {
    std::vector<Candidate> items = members.take();
    std::ranges::sort(items, {}, &Candidate::text);
    return items;
  }
  TypedReceiver receiver = TypedReceiver::ofMember(visible, text, cursor);
  if (receiver.type()) members.ofValue(receiver);
  return members.take();
}

} // namespace melix::repl

#include "repl/completion.h"

#include "lex/lexer.h"
#include "repl/signature.h"
#include "support/characters.h"

#include <algorithm>
#include <filesystem>
#include <map>

namespace melix::repl {

namespace {

/// Candidates by their text, each once.
using Found = std::map<std::string, std::string>;

bool startsWith(std::string_view text, std::string_view begin) {
  // Names that begin with `_` are those that nobody is to use.
  return text.starts_with(begin) && (!text.starts_with('_') || begin.starts_with('_'));
}

class Completer {
public:
  Completer(const Visible& visible, const std::string& begin)
      : session_(visible.session), visible_(visible), begin_(begin) {}

  /// What stands alone.
  Found names() {
    for (int k = 0; lex::isKeyword(static_cast<lex::TokenKind>(k)); ++k)
      add(std::string(lex::tokenText(static_cast<lex::TokenKind>(k))), "");
    ofModule(session_.modules().prelude(), true);
    for (const auto& [name, from] : visible_.definitions.names)
      if (const auto decls = session_.modules()[from].named(name); !decls.empty())
        add(textOf(name), noteOf(decls[0]));
    for (const auto& [name, module] : visible_.definitions.prefixes) add(textOf(name), "module");
    for (const check::PromptVariable& each : visible_.variables)
      add(textOf(each.name), session_.types.print(each.type));
    return std::move(found_);
  }

  /// What stands behind `owner.`.
  Found members(const std::string& owner) {
    for (const auto& [name, module] : visible_.definitions.prefixes)
      if (textOf(name) == owner) ofModule(module, false);
    for (const check::PromptVariable& each : visible_.variables)
      if (textOf(each.name) == owner) fieldsOf(each.type);
    return std::move(found_);
  }

private:
  std::string noteOf(names::DeclId decl) const { return headerOf(session_.modules(), decl); }
  std::string textOf(NameId name) const { return std::string(session_.names.text(name)); }
  void add(const std::string& text, const std::string& note) {
    const bool isName = !text.empty() && isOfWord(text[0]);
    if (isName && startsWith(text, begin_)) found_.insert_or_assign(text, note);
  }
  void ofModule(names::ModuleId module, bool isPrelude) {
    for (const auto& [name, decls] : session_.modules()[module].decls.all()) {
      if (decls->empty() || !startsWith(textOf(name), begin_)) continue;
      const names::Decl& decl = session_.modules().decl((*decls)[0]);
      if (isPrelude || decl.isPub) add(textOf(name), noteOf((*decls)[0]));
    }
  }
  void fieldsOf(types::TypeId type) {
    types::TypeStore& types = session_.types;
    if (types.kind(type) != types::TypeKind::Struct) return;
    const std::vector<types::Field> fields = types.recordInfo(types[type].record).cases[0].fields;
    for (uint32_t k = 0; k < fields.size(); ++k)
      add(textOf(fields[k].name), types.print(types.fieldType(type, 0, k)));
  }

  session::Session& session_;
  const Visible& visible_;
  const std::string begin_;
  Found found_;
};

/// Where a text begins that the cursor is in, behind a bracket: a path. `npos` if it is in none.
size_t pathBefore(const std::string& text, size_t cursor) {
  size_t open = std::string::npos;
  for (size_t k = 0; k < cursor; ++k) {
    if (text[k] == '\n') open = std::string::npos;
    if (text[k] == '\\' && open != std::string::npos)
      ++k;
    else if (text[k] == '"')
      open = open == std::string::npos ? k : std::string::npos;
  }
  const bool isPath = open != std::string::npos && open > 0 && text[open - 1] == '(';
  return isPath ? open + 1 : std::string::npos;
}

Completion filesAt(const std::string& text, size_t begin, size_t cursor) {
  namespace fs = std::filesystem;
  const std::string path = text.substr(begin, cursor - begin);
  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "" : path.substr(0, slash + 1);
  const std::string leaf = path.substr(folder.size());
  Completion out{begin + folder.size(), {}};
  std::error_code error;
  for (fs::directory_iterator at(folder.empty() ? "." : folder, error), end; !error && at != end;
       at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (!name.starts_with(leaf) || (name.starts_with('.') && leaf.empty())) continue;
    std::error_code unknown;
    out.candidates.push_back({at->is_directory(unknown) ? name + "/" : name, ""});
  }
  std::ranges::sort(out.candidates, {}, &Candidate::text);
  return out;
}

} // namespace

Completion completionOf(const Visible& visible, const std::string& text, size_t cursor) {
  if (const size_t path = pathBefore(text, cursor); path != std::string::npos)
    return filesAt(text, path, cursor);
  auto wordBefore = [&](size_t end) {
    size_t begin = end;
    while (begin > 0 && isOfWord(text[begin - 1])) --begin;
    return begin;
  };
  Completion out{wordBefore(cursor), {}};
  Completer completer(visible, text.substr(out.begin, cursor - out.begin));
  const bool isMember = out.begin > 0 && text[out.begin - 1] == '.';
  const size_t owner = isMember ? wordBefore(out.begin - 1) : 0;
  const Found found =
      isMember ? completer.members(text.substr(owner, out.begin - 1 - owner)) : completer.names();
  for (const auto& [name, note] : found) out.candidates.push_back({name, note});
  return out;
}

} // namespace melix::repl

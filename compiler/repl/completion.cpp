#include "repl/completion.h"

#include "check/intrinsics/intrinsics.h"
#include "repl/members.h"
#include "repl/parameters.h"
#include "repl/paths.h"
#include "repl/signature.h"

#include <algorithm>
#include <map>

namespace melix::repl {

namespace {

constexpr size_t longestCompleted = 4'000'000; ///< bytes before the cursor

struct CommandName {
  std::string_view typed, argument, text;
};
constexpr CommandName commandNames[] = {
#define COMMAND(Name, Typed, Argument, Text) {Typed, Argument, Text},
#include "repl/commands.def"
};

constexpr std::string_view keywords[] = {
#define KEYWORD(Kind, Text) Text,
#define CONTEXTUAL(Text) Text,
#include "lex/tokens.def"
};

/// Names that stand alone.
class Names {
public:
  Names(const Visible& visible, const std::string& begin)
      : session_(visible.session), visible_(visible), begin_(begin) {}

  std::vector<Candidate> all(const std::vector<std::string>& words) {
    for (const std::string& word : words) add(word, "");
    for (std::string_view keyword : keywords) add(std::string(keyword), "");
    for (const check::IntrinsicText& each : check::intrinsicTexts())
      add(std::string(each.name), "fn " + std::string(each.name) + std::string(each.signature));
    for (const auto& [name, decls] : session_.modules()[session_.modules().prelude()].decls.all())
      if (!decls->empty()) add(name, (*decls)[0]);
    for (const auto& [name, from] : visible_.definitions.names)
      if (const auto decls = session_.modules()[from].named(name); !decls.empty()) add(name, decls[0]);
    for (const auto& [name, module] : visible_.definitions.prefixes)
      add(std::string(session_.names.text(name)), "module");
    for (const check::PromptVariable& each : visible_.variables)
      add(std::string(session_.names.text(each.name)), session_.types.print(each.type));
    std::vector<Candidate> out;
    for (const auto& [text, note] : found_) out.push_back({text, note});
    return out;
  }

private:
  void add(const std::string& text, const std::string& note) {
    if (isOffered(text, begin_)) found_.insert_or_assign(text, note);
  }
  void add(NameId name, names::DeclId decl) {
    const std::string text(session_.names.text(name));
    if (isOffered(text, begin_)) add(text, headerOf(session_.modules(), decl));
  }

  session::Session& session_;
  const Visible& visible_;
  const std::string begin_;
  std::map<std::string, std::string> found_;
};

Completion ofEntry(const Visible& visible, const std::string& text, size_t cursor) {
  const Cursor at = cursorIn(text, cursor);
  const std::string begin = text.substr(at.begin, cursor - at.begin);
  switch (at.place) {
  case CursorPlace::Nowhere: return {cursor, {}};
  case CursorPlace::Member: return {at.begin, membersOf(visible, text, at, begin)};
  case CursorPlace::Text:
  case CursorPlace::RawText:
    if (!takesPath(parametersOf(visible, text, at), at.call)) return {cursor, {}};
    return filesAt(text, at.begin, cursor, at.place == CursorPlace::Text ? PathForm::Escaped : PathForm::Raw);
  case CursorPlace::Name: break;
  }
  Completion out{at.begin, {}};
  if (at.isArgumentBegin)
    for (const ParameterText& p : freeParameters(parametersOf(visible, text, at), at.call))
      if (isOffered(p.name, begin)) out.candidates.push_back({p.name + ":", p.type});
  // After a named argument all others are named.
  if (!at.isArgumentBegin || at.call.labels.empty())
    std::ranges::move(Names(visible, begin).all(at.words), std::back_inserter(out.candidates));
  return out;
}

/// The same in a part of the text, as if it was the entry.
Completion ofRest(const Visible& visible, const std::string& text, size_t begin, size_t cursor) {
  Completion out = ofEntry(visible, text.substr(begin), cursor - begin);
  out.begin += begin;
  return out;
}

Completion ofCommand(const Visible& visible, const std::string& text, size_t first, size_t cursor) {
  if (text[first] == '?') return ofRest(visible, text, first + 1, cursor);
  const size_t space = text.find(' ', first);
  if (space >= cursor) {
    Completion out{first, {}};
    const std::string begin = text.substr(first, cursor - first);
    for (const CommandName& each : commandNames)
      if (each.typed.starts_with(begin))
        out.candidates.push_back({std::string(each.typed), std::string(each.text)});
    std::ranges::sort(out.candidates, {}, &Candidate::text);
    return out;
  }
  const std::string word = text.substr(first, space - first);
  const size_t argument = std::min(text.find_first_not_of(' ', space), cursor);
  const auto* command = std::ranges::find(commandNames, word, &CommandName::typed);
  const std::string_view wants = command == std::end(commandNames) ? "" : command->argument;
  if (wants == "FILE") return filesAt(text, argument, cursor, PathForm::Plain);
  if (wants == "EXPRESSION" || word == ":doc") return ofRest(visible, text, argument, cursor);
  return {cursor, {}};
}

} // namespace

Completion completionOf(const Visible& visible, const std::string& text, size_t cursor) {
  cursor = std::min(cursor, text.size());
  if (cursor > longestCompleted) return {cursor, {}};
  const size_t first = text.find_first_not_of(" \t\r\n");
  const bool isCommand = first < cursor && (text[first] == ':' || text[first] == '?') &&
                         text.find('\n', first) == std::string::npos;
  return isCommand ? ofCommand(visible, text, first, cursor) : ofEntry(visible, text, cursor);
}

} // namespace melix::repl

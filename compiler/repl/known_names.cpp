#include "repl/known_names.h"

#include "parse/parse.h"
#include "support/characters.h"

#include <algorithm>

namespace melix::repl {

std::vector<Match> KnownNames::askAbout(const Questions& live, const std::string& owner) {
  std::vector<Match> found = live.complete(owner, owner.size()).all;
  for (const Match& each : found)
    if (!each.signature.empty()) // else it is a keyword
      if (std::optional<std::string> told = live.inspect(owner + each.text))
        texts_.emplace(owner + each.text, std::move(*told));
  return found;
}

KnownNames::KnownNames(const Questions& live) {
  const std::vector<Match> alone = askAbout(live, "");
  for (const Match& each : alone)
    if (!each.signature.empty() && !each.signature.starts_with("fn "))
      if (std::vector<Match> members = askAbout(live, each.text + "."); !members.empty())
        names_.emplace(each.text + ".", std::move(members));
  names_.emplace("", alone);
}

bool KnownNames::isIncomplete(const std::string& text) const {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first != std::string::npos && (text[first] == ':' || text[first] == '?')) return false;
  SourceStore sources;
  Interner names;
  DiagnosticSink sink;
  return parse::parseReplEntry(sources.add("<prompt>", text), sources, names, sink).incomplete;
}

Matches KnownNames::complete(const std::string& text, size_t cursor) const {
  size_t begin = cursor, owner = cursor;
  while (begin > 0 && isOfWord(text[begin - 1])) --begin;
  owner = begin;
  if (begin > 0 && text[begin - 1] == '.')
    for (--owner; owner > 0 && isOfWord(text[owner - 1]);) --owner;
  Matches out{begin, {}};
  const auto found = names_.find(text.substr(owner, begin - owner));
  if (found == names_.end()) return out;
  const std::string_view typed = std::string_view(text).substr(begin, cursor - begin);
  std::ranges::copy_if(found->second, std::back_inserter(out.all),
                       [&](const Match& each) { return each.text.starts_with(typed); });
  return out;
}

std::optional<std::string> KnownNames::inspect(const std::string& name) const {
  const auto found = texts_.find(name);
  if (found == texts_.end()) return std::nullopt;
  return found->second;
}

} // namespace melix::repl

#include "repl/paths.h"

#include "support/characters.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>

namespace melix::repl {

namespace fs = std::filesystem;

namespace {

constexpr size_t mostRead = 20'000, mostFound = 2'000; ///< names of a folder

/// Whether text can hold a name: it is UTF-8 without control characters.
bool isPlain(std::string_view name) {
  for (size_t at = 0; at < name.size();) {
    const CodePoint here = codePointAt(name, at);
    const bool isByte = here.bytes == 1 && static_cast<unsigned char>(name[at]) >= 0x80;
    if (isByte || here.value < 0x20 || here.value == 0x7F) return false;
    at += here.bytes;
  }
  return true;
}

std::optional<std::string> written(const std::string& name, PathForm form) {
  if (!isPlain(name)) return std::nullopt;
  if (form == PathForm::Plain) return name;
  if (form == PathForm::Raw) return name.find('"') < name.size() ? std::nullopt : std::optional(name);
  std::string out;
  for (char c : name) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '{' || c == '}') out += c;
    out += c;
  }
  return out;
}

/// The path that a text means; none if it has escapes that names do not need.
std::optional<std::string> meant(std::string_view text, PathForm form) {
  if (form != PathForm::Escaped) return std::string(text);
  std::string out;
  for (size_t k = 0; k < text.size(); ++k) {
    const char c = text[k], next = k + 1 < text.size() ? text[k + 1] : '\0';
    if (c == '\\' && next != '"' && next != '\\') return std::nullopt;
    const bool isPair = c == '\\' || ((c == '{' || c == '}') && next == c);
    out += isPair ? next : c;
    if (isPair) ++k;
  }
  return out;
}

std::string home() {
  const char* folder = std::getenv("HOME");
  return folder ? folder : "";
}

} // namespace

std::string expandedPath(const std::string& path) {
  const bool isAtHome = path == "~" || path.starts_with("~/");
  return isAtHome && !home().empty() ? home() + path.substr(1) : path;
}

Completion filesAt(const std::string& text, size_t begin, size_t cursor, PathForm form) {
  Completion out{begin, {}};
  const std::string_view typed = std::string_view(text).substr(begin, cursor - begin);
  const std::optional<std::string> path = meant(typed, form);
  if (!path) return out;
  if (*path == "~") {
    const std::optional<std::string> folder = written(form == PathForm::Plain ? "~" : home(), form);
    if (folder && !home().empty()) out.candidates.push_back({*folder + "/", ""});
    return out;
  }
  const size_t slash = path->rfind('/');
  const std::string folder = slash == std::string::npos ? "" : path->substr(0, slash + 1);
  const std::string leaf = path->substr(folder.size()), place = expandedPath(folder);
  // The folder stays as it is typed, but for `~` in a text.
  std::string before;
  if (form != PathForm::Plain && place != folder) {
    const std::optional<std::string> own = written(place, form);
    if (!own) return out;
    before = *own;
  } else if (const size_t last = typed.rfind('/'); last != std::string::npos) {
    out.begin = begin + last + 1;
  }
  std::error_code error;
  size_t read = 0;
  for (fs::directory_iterator at(place.empty() ? "." : place, error), end; !error && at != end;
       at.increment(error)) {
    if (++read > mostRead || out.candidates.size() == mostFound) break;
    const std::string name = at->path().filename().string();
    if (!name.starts_with(leaf) || (name.starts_with('.') && leaf.empty())) continue;
    std::error_code unknown;
    if (const std::optional<std::string> own = written(name, form))
      out.candidates.push_back({before + *own + (at->is_directory(unknown) ? "/" : ""), ""});
  }
  std::ranges::sort(out.candidates, {}, &Candidate::text);
  return out;
}

} // namespace melix::repl

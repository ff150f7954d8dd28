// The commands of the prompt (commands.def).
#include "check/intrinsics/intrinsics.h"
#include "repl/editor/editor.h"
#include "repl/function_text.h"
#include "repl/prompt.h"
#include "repl/signature.h"
#include "support/characters.h"

#include <algorithm>
#include <charconv>

namespace melix::repl {

namespace {

enum class Command : uint8_t {
#define COMMAND(Name, Typed, Argument, Text) Name,
#include "repl/commands.def"
};
struct CommandText {
  std::string_view typed, argument, text;
};
constexpr CommandText commands[] = {
#define COMMAND(Name, Typed, Argument, Text) {Typed, Argument, Text},
#include "repl/commands.def"
};

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t\r\n") + 1 - first);
}

struct Given {
  Command command;
  std::string argument;
};

std::optional<Given> givenBy(std::string_view line) {
  if (line.starts_with('?')) return Given{Command::Doc, std::string(trimmed(line.substr(1)))};
  const size_t end = std::min(line.find(' '), line.size());
  const std::string_view word = line.substr(0, end);
  const std::string argument(trimmed(line.substr(end)));
  if (word == ":doc") return Given{Command::Doc, argument};
  for (size_t k = 0; k < std::size(commands); ++k)
    if (commands[k].typed == word) return Given{static_cast<Command>(k), argument};
  return std::nullopt;
}

bool isTypeKind(names::DeclKind kind) {
  return kind == names::DeclKind::Struct || kind == names::DeclKind::Enum ||
         kind == names::DeclKind::TypeAlias;
}

std::string helpText() {
  size_t width = 0;
  for (const CommandText& each : commands)
    width = std::max(width, each.typed.size() + each.argument.size() + 1);
  std::string out;
  for (const CommandText& each : commands) {
    std::string line(each.typed);
    if (!each.argument.empty()) line += (each.typed == "?" ? "" : " ") + std::string(each.argument);
    out += line + std::string(width + 2 - line.size(), ' ') + std::string(each.text) + "\n";
  }
  return out;
}

} // namespace

bool Prompt::isCommand(const std::string& text) const {
  const std::string_view line = trimmed(text);
  if (line.find('\n') != std::string_view::npos) return false;
  return line.starts_with(':') || line.starts_with('?') || (line == "quit" && !means("quit"));
}

/// Whether a variable or declaration of the entries has the name.
bool Prompt::means(std::string_view name) const {
  return variableNamed(name) || definitions_.has(session_.names.intern(name));
}

const check::PromptVariable* Prompt::variableNamed(std::string_view name) const {
  const auto at =
      std::ranges::find(variables_.known, session_.names.intern(name), &check::PromptVariable::name);
  return at == variables_.known.end() ? nullptr : &*at;
}

bool Prompt::command(const std::string& text) {
  const std::string_view line = trimmed(text);
  if (line == "quit") return false;
  const std::optional<Given> given = givenBy(line);
  if (!given) {
    host_.writeError("melix: there is no command `" + std::string(line.substr(0, line.find(' '))) +
                     "`; `:help` lists them\n");
    return true;
  }
  const CommandText& wanted = commands[static_cast<size_t>(given->command)];
  if (wanted.argument.empty() != given->argument.empty()) {
    const std::string wants =
        wanted.argument.empty() ? "takes nothing" : "wants " + std::string(wanted.argument);
    host_.writeError("melix: `" + std::string(wanted.typed) + "` " + wants + "\n");
    return true;
  }
  switch (given->command) {
  case Command::Doc: tellOf(given->argument); break;
  case Command::Type: tellType(given->argument); break;
  case Command::Vars:
    for (const check::PromptVariable& v : variables_.known)
      if (!v.isSize)
        host_.write(std::string(v.isVar ? "var " : "let ") + std::string(session_.names.text(v.name)) + ": " +
                    session_.types.print(v.type) + "\n");
    break;
  case Command::Time: tellTime(given->argument); break;
  case Command::Show: showStage(given->argument); break;
  case Command::Load: load(given->argument); break;
  case Command::Save: save(given->argument, false); break;
  case Command::SaveOver: save(given->argument, true); break;
  case Command::Rollback: setRollback(given->argument); break;
  case Command::Digits: setDigits(given->argument); break;
  case Command::Reset:
    definitions_ = {};
    variables_ = {};
    transcript_ = {};
    break;
  case Command::Keys: host_.write(keysHelp()); break;
  case Command::Help: host_.write(helpText()); break;
  case Command::Quit: return false;
  }
  return true;
}

/// Shows the fields or cases if an entry is the name of a type, which is no expression. Whether it is one.
bool Prompt::showType(const std::string& text) {
  const std::string name(trimmed(text));
  const bool isName =
      !name.empty() && std::ranges::all_of(name, [](char c) { return isOfWord(c) || c == '.'; });
  if (!isName || variableNamed(name)) return false;
  const std::vector<names::DeclId> found = declarationsOf(name);
  if (found.size() != 1 || !isTypeKind(session_.modules().decl(found[0]).kind)) return false;
  host_.write(textOf(session_.modules(), found[0]) + "\n");
  return true;
}

void Prompt::setDigits(const std::string& text) {
  int digits = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), digits);
  if (error != std::errc() || end != text.data() + text.size() || digits < 1 || digits > 17)
    return host_.writeError("melix: `:digits` wants a number from 1 to 17\n");
  digits_ = digits;
}

/// The declarations of a name, of `module.name` too: of entries, else of the library that needs no `use`.
std::vector<names::DeclId> Prompt::declarationsOf(const std::string& name) const {
  const size_t dot = name.rfind('.');
  const NameId last = session_.names.intern(name.substr(dot == std::string::npos ? 0 : dot + 1));
  names::ModuleId module = session_.modules().prelude();
  if (dot != std::string::npos) {
    const auto prefix = definitions_.prefixes.find(session_.names.intern(name.substr(0, dot)));
    if (prefix == definitions_.prefixes.end()) return {};
    module = prefix->second;
  } else if (const auto own = definitions_.names.find(last); own != definitions_.names.end()) {
    module = own->second;
  }
  const std::span<const names::DeclId> found = session_.modules()[module].named(last);
  return {found.begin(), found.end()};
}

void Prompt::tellOfIntrinsic(const std::string& name) {
  for (const check::IntrinsicText& each : check::intrinsicTexts())
    if (each.name == name)
      host_.write("fn " + name + std::string(each.signature) + "\n\n" + std::string(each.doc) + "\n");
}

void Prompt::tellOf(const std::string& name) {
  if (const check::PromptVariable* v = variableNamed(name))
    return host_.write(name + ": " + session_.types.print(v->type) + "\n");
  const std::vector<names::DeclId> found = declarationsOf(name);
  if (found.empty() && check::findIntrinsic(name)) return tellOfIntrinsic(name);
  if (found.empty()) return host_.writeError("melix: nothing here has the name `" + name + "`\n");
  std::string documentation;
  for (names::DeclId d : found) {
    const bool isType = isTypeKind(session_.modules().decl(d).kind);
    host_.write((isType ? textOf(session_.modules(), d) : headerOf(session_.modules(), d)) + "\n");
    if (documentation.empty()) documentation = documentationOf(session_.modules(), d);
  }
  if (!documentation.empty()) host_.write("\n" + documentation);
}

/// Checks an entry, and runs nothing. It has no instance if there are errors, which are in the sink.
check::PromptEntry Prompt::checkedEntry(const std::string& text) {
  session_.sink.clear();
  const names::ModuleId module = session_.modules().addRoot("<prompt>", text);
  check::PromptEntry entry;
  if (session_.sink.errorCount() == 0) {
    connect(module, definitions_);
    session_.checker().scripts.seePrompt(module, variables_.known);
    session_.modules().setNewestEntry(module);
    entry = session_.checker().prompt(module, variables_.known);
    if (session_.sink.errorCount() > 0) entry.instance = {};
  }
  return entry;
}

void Prompt::tellType(const std::string& text) {
  const check::PromptEntry entry = checkedEntry(text);
  if (entry.instance.valid()) {
    const types::TypeId all = session_.checker().program_.instance(entry.instance).result;
    const types::TypeId shown = session_.types[all].parts[0];
    const bool isKnown = session_.types.kind(shown) == types::TypeKind::Known;
    host_.write((isKnown ? functionText(session_, shown) : session_.types.print(shown)) + "\n");
  }
  host_.writeDiagnostics();
}

/// Lowers a function of the entries that has all its types, by its name. Whether there is one.
bool Prompt::lowerFunction(const std::string& name) {
  const std::vector<names::DeclId> found = declarationsOf(name);
  if (found.empty() || session_.modules().decl(found[0]).kind != names::DeclKind::Function) return false;
  session_.sink.clear();
  for (const check::InstanceId id :
       session_.checker().checkModule(session_.modules().decl(found[0]).module)) {
    const check::Instance& instance = session_.checker().program_.instance(id);
    if (instance.name != name || instance.failed) continue;
    session_.renewModule();
    return session_.lowerEntry(id);
  }
  return false;
}

bool Prompt::lowerEntry(const std::string& text) {
  const check::PromptEntry entry = checkedEntry(text);
  if (entry.instance.valid()) {
    session_.renewModule();
    if (session_.lowerEntry(entry.instance)) {
      dropUnchanged(session_.module(), session_.module().entry);
      return true;
    }
  }
  host_.writeDiagnostics();
  return false;
}

void Prompt::showStage(const std::string& argument) {
  const size_t end = std::min(argument.find(' '), argument.size());
  const std::string stage = argument.substr(0, end), what(trimmed(argument.substr(end)));
  if (what.empty())
    return host_.writeError("melix: `:show` wants a stage and an entry: `:show core f(2.0)`\n");
  const bool isFunction = lowerFunction(what);
  if (!isFunction && !lowerEntry(what)) return;
  std::string error;
  const auto text = host_.stageText(stage, isFunction ? what : "", error);
  if (text)
    host_.write(*text);
  else
    host_.writeError("melix: " + error + "\n");
}

namespace {

std::string durationText(double seconds) {
  struct Unit {
    double least;
    const char* name;
  };
  constexpr Unit units[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "µs"}, {0, "ns"}};
  const Unit* unit = units;
  while (seconds < unit->least) ++unit;
  const double value = unit->least > 0 ? seconds / unit->least : seconds * 1e9;
  char text[32];
  std::snprintf(text, sizeof text, "%.*f %s", value < 10 ? 2 : value < 100 ? 1 : 0, value, unit->name);
  return text;
}

/// `1.24 ms, 3 allocations (median of 81 runs; compiled in 25.1 ms)`.
std::string timeText(EntryTime time) {
  const auto middle = time.running.begin() + static_cast<std::ptrdiff_t>(time.running.size() / 2);
  std::ranges::nth_element(time.running, middle);
  std::string out = durationText(*middle), more;
  if (time.isCompiled)
    out += ", " + std::to_string(time.allocations) + (time.allocations == 1 ? " allocation" : " allocations");
  if (time.running.size() > 1) more = "median of " + std::to_string(time.running.size()) + " runs";
  if (time.compiling > 0)
    more += (more.empty() ? "" : "; ") + std::string("compiled in ") + durationText(time.compiling);
  if (!time.isCompiled) more = "interpreted";
  return out + (more.empty() ? "" : " (" + more + ")") + "\n";
}

} // namespace

void Prompt::tellTime(const std::string& text) {
  EntryTime time;
  time_ = &time;
  const bool isFine = enter(text);
  time_ = nullptr;
  if (isFine && !time.running.empty()) host_.write(timeText(std::move(time)));
}

void Prompt::setRollback(const std::string& text) {
  if (text != "on" && text != "off") return host_.writeError("melix: `:rollback` wants `on` or `off`\n");
  runner_.setRollback(text == "on");
}

} // namespace melix::repl

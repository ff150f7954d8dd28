// `:load` and `:save`.
#include "repl/paths.h"
#include "repl/prompt.h"
#include "repl/saved_program.h"

#include <filesystem>

namespace melix::repl {

namespace fs = std::filesystem;

namespace {

/// The errors of a program as `melix check FILE` finds them.
std::vector<ProgramError> errorsOf(const session::Options& options, const std::string& file,
                                   const std::string& program) {
  session::Session session(options);
  const names::ModuleId root = session.load(file, program);
  session.check(root);
  const FileId own = session.modules()[root].ast.file;
  std::vector<ProgramError> out;
  for (const Diagnostic& d : session.sink.all()) {
    if (diagSeverity(d.id) != SeverityKind::Error) continue;
    // An error in the code of a macro is one of its use.
    Span at = d.span;
    while (const Expansion* made = session.sources.expansion(at.file)) at = made->use;
    if (at.file != own) continue;
    out.push_back({at.begin, diagMessage(d), d.id, {}, d.args.empty() ? "" : d.args[0]});
    for (const DiagNote& note : d.notes)
      if (note.span.file == own) out.back().calls.push_back(note.span.begin);
  }
  return out;
}

} // namespace

void Prompt::load(const std::string& given) {
  std::string error;
  const std::string file = expandedPath(given);
  const std::optional<std::string> text = host_.readFile(file, error);
  if (!text) return host_.writeError("melix: " + error + "\n");
  enter(*text, file);
}

void Prompt::save(const std::string& given, bool replaces) {
  const std::string file = expandedPath(given);
  auto refuse = [&](const std::string& why) { host_.writeError("melix: " + why + "\n"); };
  std::error_code unknown;
  const fs::file_status status = fs::status(file, unknown);
  if (fs::is_directory(status)) return refuse("`" + given + "` is a folder");
  if (fs::exists(status) && !fs::is_regular_file(status)) return refuse("`" + given + "` is no file");
  if (fs::exists(status) && !replaces) {
    std::string error;
    const std::optional<std::string> old = host_.readFile(file, error);
    if (!old) return refuse(error);
    if (!isSavedProgram(*old))
      return refuse("`" + given + "` is there, and `:save` did not write it as it is; `:save! " + given +
                    "` replaces it");
  }
  const SavedProgram program =
      savedProgram(transcript_, session_, definitions_,
                   [&](const std::string& text) { return errorsOf(session_.options(), file, text); });
  if (const std::optional<std::string> error = host_.writeFile(file, program.text)) return refuse(*error);
  for (const std::string& problem : program.problems) host_.writeError("melix: " + problem + "\n");
}

} // namespace melix::repl

#pragma once
// A prompt without a terminal over the library's sources; programs in it print nothing.
#include "repl/prompt.h"
#include "session/made_session.h"

namespace melix::repl {

struct MadePrompt {
  std::unique_ptr<session::Session> session = session::makeSession();
  std::string output, errors;
  Prompt prompt{*session, host()};

  MadePrompt() = default;
  /// After some entries, which must go well.
  explicit MadePrompt(const std::vector<std::string>& entries) {
    for (const std::string& entry : entries)
      if (!prompt.enter(entry)) errors += "refused: " + entry + "\n";
  }

  /// The candidates where `|` stands in the text, each as the whole text would be up to the cursor.
  std::vector<std::string> offers(const std::string& text) {
    const size_t cursor = text.find('|');
    const std::string entry = text.substr(0, cursor) + text.substr(cursor + 1);
    std::vector<std::string> out;
    for (const Candidate& each : completed(entry, cursor).candidates) out.push_back(each.text);
    return out;
  }
  Completion completed(const std::string& entry, size_t cursor) { return prompt.complete(entry, cursor); }
  /// The note of a candidate; none: it is not offered.
  std::optional<std::string> note(const std::string& text, const std::string& candidate) {
    const size_t cursor = text.find('|');
    const Completion found = completed(text.substr(0, cursor) + text.substr(cursor + 1), cursor);
    for (const Candidate& each : found.candidates)
      if (each.text == candidate) return each.note;
    return std::nullopt;
  }

private:
  Host host() {
    Host out;
    out.show = [this](types::TypeId type, const interp::Value&) { return session->types.print(type); };
    out.columns = [] { return size_t(80); };
    out.write = [this](std::string_view text) { output += text; };
    out.writeError = [this](std::string_view text) { errors += text; };
    out.writeDiagnostics = [this] {
      for (const Diagnostic* d : session->sink.inOrder())
        errors += renderDiagnostic(*d, session->sources, false);
    };
    out.reportPanic = [this](const interp::Panic& panic, const std::string&) {
      errors += "panic: " + panic.message + "\n";
    };
    out.readFile = [](const std::string&, std::string& error) -> std::optional<std::string> {
      error = "no files";
      return std::nullopt;
    };
    return out;
  }
};

} // namespace melix::repl

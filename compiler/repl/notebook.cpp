#include "repl/notebook.h"

#include "repl/known_names.h"

#include <utility>

namespace melix::repl {

Notebook::Notebook(session::Session& session, NotebookHost host)
    : session_(session), host_(std::move(host)), prompt_(session, promptHost()) {}

Host Notebook::promptHost() {
  Host host;
  host.runner = host_.runner;
  host.runner.hooks.debug = [this](const types::TypeStore&, types::TypeId type, const interp::Value& value) {
    print(Stream::Errors, host_.show(type, value) + "\n");
  };
  host.show = host_.show;
  host.columns = [] { return DisplayOptions().columns; };
  host.readFile = host_.readFile;
  host.write = [this](std::string_view text) { write(text); };
  host.writeError = [this](std::string_view text) { writeProblem(text); };
  host.writeDiagnostics = [this] { writeDiagnostics(); };
  host.reportPanic = [this](const interp::Panic& panic, const std::string& compiled) {
    reportPanic(panic, compiled);
  };
  host.noteExit = host_.noteExit;
  host.stageText = host_.stageText;
  host.writePicture = [this](std::string_view mime, std::string_view bytes) {
    if (running_.answers) running_.answers->display(mime, bytes);
  };
  return host;
}

/// A value that an entry leaves is a display, what a command says a text.
void Notebook::write(std::string_view text) {
  if (told_) {
    told_->text += text;
  } else if (!running_.answers) {
    return;
  } else if (running_.isCommand) {
    running_.answers->text(Stream::Output, text);
  } else {
    if (text.ends_with('\n')) text.remove_suffix(1);
    running_.answers->display("text/plain", text);
  }
}

void Notebook::writeProblem(std::string_view text) {
  if (told_)
    told_->isKnown = false;
  else
    running_.problems += text;
}

void Notebook::writeDiagnostics() {
  if (told_ || !running_.answers) return;
  for (const Diagnostic* each : session_.sink.inOrder()) {
    const std::string text = renderDiagnostic(*each, session_.sources, false);
    if (diagSeverity(each->id) == SeverityKind::Error)
      running_.answers->error(text);
    else
      running_.answers->text(Stream::Errors, text);
  }
}

void Notebook::reportPanic(const interp::Panic& panic, const std::string& compiled) {
  if (!running_.answers || host_.exitStatus()) return;
  running_.isInterrupted = host_.takeInterrupt();
  if (!running_.isInterrupted) running_.answers->error(host_.panicText(panic, compiled));
}

EntryEnd Notebook::execute(const std::string& code, EntryAnswers& answers) {
  {
    const std::lock_guard guard(mutex_);
    running_ = {&answers, prompt_.isCommand(code), false, ""};
  }
  const bool goesOn = !running_.isCommand || prompt_.command(code);
  const bool isFine = running_.isCommand ? running_.problems.empty() : prompt_.enter(code);
  Running was;
  {
    const std::lock_guard guard(mutex_);
    was = std::exchange(running_, {});
  }
  if (!was.problems.empty()) {
    if (isFine)
      answers.text(Stream::Errors, was.problems);
    else
      answers.error(was.problems);
  }
  EntryEnd end{isFine ? EntryStatus::Ok : was.isInterrupted ? EntryStatus::Interrupted : EntryStatus::Error};
  if (!goesOn) end.exit = 0;
  if (const std::optional<int> status = host_.exitStatus()) end = {EntryStatus::Ok, status};
  return end;
}

bool Notebook::isIncomplete(const std::string& text) const { return prompt_.isIncomplete(text); }

Matches Notebook::complete(const std::string& text, size_t cursor) const {
  const Completion found = prompt_.complete(text, cursor);
  Matches out{found.begin, {}};
  for (const Candidate& each : found.candidates) out.all.push_back({each.text, each.note});
  return out;
}

/// As the prompt tells it: `?name`.
std::optional<std::string> Notebook::inspect(const std::string& name) const {
  Told told;
  told_ = &told;
  prompt_.command("?" + name);
  told_ = nullptr;
  if (!told.isKnown) return std::nullopt;
  return std::move(told.text);
}

std::shared_ptr<const Questions> Notebook::snapshot() const { return std::make_shared<KnownNames>(*this); }

void Notebook::print(Stream stream, std::string_view text) {
  const std::lock_guard guard(mutex_);
  if (running_.answers) running_.answers->text(stream, text);
}

void Notebook::tellProgress(const ProgressStep& step) {
  const std::lock_guard guard(mutex_);
  if (running_.answers) running_.answers->progress(step);
}

} // namespace melix::repl

#pragma once
// The prompt as the language of a kernel (kernel/notebook_language.h).

#include "repl/kernel/notebook_language.h"
#include "repl/prompt.h"

#include <mutex>

namespace melix::repl {

/// The services that a notebook needs from its host. The program's output comes by `print` and
/// `tellProgress`.
struct NotebookHost {
  RunnerHost runner;
  std::function<std::string(types::TypeId, const interp::Value&)> show;
  std::function<std::optional<std::string>(const std::string& file, std::string& error)> readFile;
  std::function<std::string(const interp::Panic&, const std::string& compiled)> panicText;
  decltype(Host::stageText) stageText;
  std::function<void()> interrupt;                ///< the program that runs; from any thread
  std::function<bool()> takeInterrupt;            ///< whether somebody asked for that since the last call
  std::function<std::optional<int>()> exitStatus; ///< if the program has called `exit`
  std::function<void()> noteExit;                 ///< compiled code has
};

class Notebook : public NotebookLanguage {
public:
  Notebook(session::Session& session, NotebookHost host);

  EntryEnd execute(const std::string& code, EntryAnswers& answers) override;
  bool isIncomplete(const std::string& text) const override;
  Matches complete(const std::string& text, size_t cursor) const override;
  std::optional<std::string> inspect(const std::string& name) const override;
  std::shared_ptr<const Questions> snapshot() const override;
  void interrupt() override { host_.interrupt(); }
  void forgetInterrupt() override { host_.takeInterrupt(); }

  // The output of the program that runs, from any thread. Between two entries it goes nowhere.
  void print(Stream stream, std::string_view text);
  void tellProgress(const ProgressStep& step);

private:
  /// The entry that runs.
  struct Running {
    EntryAnswers* answers = nullptr; ///< null: no entry runs
    bool isCommand = false;
    bool isInterrupted = false;
    std::string problems; ///< from the prompt: errors if the entry fails
  };
  /// The answer of the prompt to `?name`.
  struct Told {
    std::string text;
    bool isKnown = true;
  };
  Host promptHost();
  void write(std::string_view text);
  void writeProblem(std::string_view text);
  void writeDiagnostics();
  void reportPanic(const interp::Panic& panic, const std::string& compiled);

  session::Session& session_;
  const NotebookHost host_;
  mutable Prompt prompt_;        ///< answers questions by text, as it does for entries
  mutable Told* told_ = nullptr; ///< where text goes while a question is answered
  Running running_;
  std::mutex mutex_; ///< of running_.answers
};

} // namespace melix::repl

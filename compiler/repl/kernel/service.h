#pragma once
// A kernel without a process: lines of requests in, lines of answers out.
//
// Requests are answered one after another, with two exceptions. `interrupt` is answered at once: it stops the
// entry that runs, else the next one that waits. A question that waits for an entry for longer than a moment
// is answered as before the entry.

#include "repl/kernel/answer_writer.h"
#include "repl/kernel/protocol.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>

namespace melix::repl {

/// Used by three threads: one gives the lines, one is in `run`, one in `watch`.
class Service {
public:
  Service(NotebookLanguage& language, AnswerWriter::Write write)
      : language_(language), answers_(std::move(write)) {}

  void take(std::string_view line);
  /// Answers a line that is too long to be taken.
  void refuse(std::string_view reason);
  /// No more lines come: `run` ends when all are answered.
  void endInput();

  /// Answers requests until `quit`, the end of the input or an entry that ends the kernel; the exit status.
  int run();
  /// Writes late text and answers late questions while an entry runs. Returns when `run` ends.
  void watch();

private:
  using Clock = std::chrono::steady_clock;
  struct Waiting {
    Request request;
    Clock::time_point since;
    std::string refusal = {}; ///< the answer to a line that is no request
    bool isInterrupted = false;

    bool changesNothing() const;
  };

  void wait(Waiting waiting);
  void interrupt(int64_t id);
  std::optional<Waiting> next();
  std::vector<Waiting> takeLateQuestions();
  EntryEnd execute(const Waiting& entry);
  void answer(const Questions& questions, const Waiting& asked);

  NotebookLanguage& language_;
  AnswerWriter answers_;
  std::mutex mutex_; ///< of all below
  std::condition_variable changed_;
  std::deque<Waiting> waiting_;
  std::shared_ptr<const Questions> known_; ///< before the entry that runs
  bool entryRuns_ = false, inputEnded_ = false, ended_ = false;
};

} // namespace melix::repl

#pragma once
// Answers on their way out, from several threads.

#include "repl/kernel/notebook_language.h"

#include <chrono>
#include <functional>
#include <mutex>

namespace melix::repl {

/// Writes answers one after another, in the order in which they are given. Text of an entry may wait for a
/// moment, so that a million small parts are not a million answers; it stands before all that is given later.
class AnswerWriter : public EntryAnswers {
public:
  using Write = std::function<void(std::string_view line)>;
  explicit AnswerWriter(Write write) : write_(std::move(write)) {}

  /// From now on text and values are of this entry.
  void begin(int64_t entry);
  void text(Stream stream, std::string_view text) override;
  void display(std::string_view mime, std::string_view bytes) override;
  void error(std::string_view text) override;
  void progress(const ProgressStep& step) override;
  /// An answer as protocol.h makes it.
  void line(std::string_view answer);
  /// Writes text that has waited for long enough; to be called every now and then while an entry runs.
  void writeLate();

private:
  using Clock = std::chrono::steady_clock;
  void writeWaiting();

  const Write write_;
  std::mutex mutex_; ///< of all below, and of the order of writes
  int64_t entry_ = 0;
  Stream stream_ = Stream::Output; ///< of the text that waits
  std::string waiting_;
  Clock::time_point since_;
};

} // namespace melix::repl

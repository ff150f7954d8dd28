#include "repl/kernel/answer_writer.h"

#include "repl/kernel/protocol.h"

namespace melix::repl {

namespace {

constexpr size_t longestText = size_t(16) << 10; ///< that waits
constexpr std::chrono::milliseconds longestWait(40);

} // namespace

void AnswerWriter::begin(int64_t entry) {
  const std::lock_guard guard(mutex_);
  writeWaiting();
  entry_ = entry;
}

void AnswerWriter::text(Stream stream, std::string_view text) {
  if (text.empty()) return;
  const std::lock_guard guard(mutex_);
  if (stream != stream_) writeWaiting();
  stream_ = stream;
  if (waiting_.empty()) since_ = Clock::now();
  waiting_ += text;
  if (waiting_.size() >= longestText || Clock::now() - since_ >= longestWait) writeWaiting();
}

void AnswerWriter::display(std::string_view mime, std::string_view bytes) {
  const std::lock_guard guard(mutex_);
  writeWaiting();
  write_(displayAnswer(entry_, mime, bytes));
}

void AnswerWriter::error(std::string_view text) {
  const std::lock_guard guard(mutex_);
  writeWaiting();
  write_(errorAnswer(entry_, text));
}

void AnswerWriter::progress(const ProgressStep& step) {
  const std::lock_guard guard(mutex_);
  writeWaiting();
  write_(progressAnswer(entry_, step));
}

void AnswerWriter::line(std::string_view answer) {
  const std::lock_guard guard(mutex_);
  writeWaiting();
  write_(answer);
}

void AnswerWriter::writeLate() {
  const std::lock_guard guard(mutex_);
  if (Clock::now() - since_ >= longestWait) writeWaiting();
}

void AnswerWriter::writeWaiting() {
  if (waiting_.empty()) return;
  write_(textAnswer(entry_, stream_, waiting_));
  waiting_.clear();
}

} // namespace melix::repl

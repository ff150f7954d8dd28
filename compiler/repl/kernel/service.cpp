#include "repl/kernel/service.h"

#include "repl/kernel/name_at.h"

#include <algorithm>
#include <exception>

namespace melix::repl {

namespace {

/// How long a question waits for an entry.
constexpr std::chrono::milliseconds patience(200);
/// How often `watch` looks while an entry runs.
constexpr std::chrono::milliseconds glance(20);

std::optional<std::string> inspected(const Questions& questions, const Request& request) {
  for (const std::string& name : namesAt(request.code, request.cursor))
    if (std::optional<std::string> found = questions.inspect(name)) return found;
  return std::nullopt;
}

} // namespace

bool Service::Waiting::changesNothing() const {
  return !refusal.empty() || request.kind == RequestKind::Complete || request.kind == RequestKind::Inspect ||
         request.kind == RequestKind::IsComplete;
}

void Service::take(std::string_view line) {
  std::variant<Request, Refusal> read = readRequest(line);
  if (const auto* refusal = std::get_if<Refusal>(&read)) {
    std::string answer = errorAnswer(refusal->id, refusal->reason);
    if (refusal->id) answer += doneAnswer(*refusal->id, {EntryStatus::Error});
    return wait({{}, Clock::now(), std::move(answer)});
  }
  auto& request = std::get<Request>(read);
  if (request.kind == RequestKind::Interrupt) return interrupt(request.id);
  wait({std::move(request), Clock::now()});
}

void Service::refuse(std::string_view reason) { wait({{}, Clock::now(), errorAnswer({}, reason)}); }

void Service::wait(Waiting waiting) {
  const std::lock_guard guard(mutex_);
  waiting_.push_back(std::move(waiting));
  changed_.notify_all();
}

void Service::endInput() {
  const std::lock_guard guard(mutex_);
  inputEnded_ = true;
  changed_.notify_all();
}

void Service::interrupt(int64_t id) {
  {
    const std::lock_guard guard(mutex_);
    const auto entry = std::ranges::find_if(waiting_, [](const Waiting& each) {
      return !each.changesNothing() && each.request.kind == RequestKind::Execute && !each.isInterrupted;
    });
    if (entryRuns_)
      language_.interrupt();
    else if (entry != waiting_.end())
      entry->isInterrupted = true;
  }
  answers_.line(doneAnswer(id, {}));
}

/// Waits for a request; nothing: no more come.
std::optional<Service::Waiting> Service::next() {
  std::unique_lock guard(mutex_);
  changed_.wait(guard, [this] { return !waiting_.empty() || inputEnded_; });
  if (waiting_.empty()) return std::nullopt;
  Waiting out = std::move(waiting_.front());
  waiting_.pop_front();
  entryRuns_ = !out.changesNothing() && out.request.kind == RequestKind::Execute && !out.isInterrupted;
  if (entryRuns_) {
    language_.forgetInterrupt(); // of a time when nothing ran
    changed_.notify_all();
  }
  return out;
}

EntryEnd Service::execute(const Waiting& entry) {
  if (entry.isInterrupted) return {EntryStatus::Interrupted};
  answers_.begin(entry.request.id);
  EntryEnd end{EntryStatus::Error};
  try {
    end = language_.execute(entry.request.code, answers_);
  } catch (const std::exception& e) { // nothing throws on purpose
    answers_.error(std::string("a bug of the compiler: ") + e.what() + "\n");
  }
  const std::lock_guard guard(mutex_);
  entryRuns_ = false;
  language_.forgetInterrupt();
  return end;
}

void Service::answer(const Questions& questions, const Waiting& asked) {
  if (!asked.refusal.empty()) return answers_.line(asked.refusal);
  const Request& request = asked.request;
  switch (request.kind) {
  case RequestKind::Complete:
    return answers_.line(
        matchesAnswer(request.id, request, questions.complete(request.code, request.cursor)));
  case RequestKind::Inspect: return answers_.line(inspectAnswer(request.id, inspected(questions, request)));
  case RequestKind::IsComplete:
    return answers_.line(completenessAnswer(request.id, questions.isIncomplete(request.code)));
  case RequestKind::Execute:
  case RequestKind::Interrupt:
  case RequestKind::Quit: break;
  }
}

int Service::run() {
  auto remember = [this] {
    std::shared_ptr<const Questions> now = language_.snapshot();
    const std::lock_guard guard(mutex_);
    known_ = std::move(now);
  };
  remember();
  EntryEnd end;
  while (std::optional<Waiting> each = next()) {
    const Request& request = each->request;
    if (each->changesNothing()) {
      answer(language_, *each);
      continue;
    }
    end = request.kind == RequestKind::Quit ? EntryEnd{EntryStatus::Ok, 0} : execute(*each);
    answers_.line(doneAnswer(request.id, end));
    if (end.exit) break;
    remember();
  }
  const std::lock_guard guard(mutex_);
  ended_ = true;
  changed_.notify_all();
  return end.exit.value_or(0);
}

std::vector<Service::Waiting> Service::takeLateQuestions() {
  std::vector<Waiting> out;
  const std::lock_guard guard(mutex_);
  if (!entryRuns_ || !known_) return out;
  const Clock::time_point late = Clock::now() - patience;
  std::erase_if(waiting_, [&](Waiting& each) {
    const bool isLate = each.changesNothing() && each.since <= late;
    if (isLate) out.push_back(std::move(each));
    return isLate;
  });
  return out;
}

void Service::watch() {
  for (;;) {
    std::shared_ptr<const Questions> known;
    {
      std::unique_lock guard(mutex_);
      changed_.wait(guard, [this] { return entryRuns_ || ended_; });
      if (ended_) return;
      changed_.wait_for(guard, glance, [this] { return ended_; });
      known = known_;
    }
    answers_.writeLate();
    for (const Waiting& each : takeLateQuestions()) answer(*known, each);
  }
}

} // namespace melix::repl

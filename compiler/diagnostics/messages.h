#pragma once
// The messages of one thing that is checked: a body, an instance, an attempt.

#include "diagnostics/diagnostic.h"

#include <algorithm>
#include <span>

namespace melix {

/// The messages that are reported while the list is open. Lists are nested like the bodies that are checked:
/// an inner list is a part of the list around it, unless it is dropped. No caller rewinds or sorts the sink
/// by hand; messages get their order where they are shown (DiagnosticSink::inOrder).
class Messages {
public:
  explicit Messages(DiagnosticSink& sink)
      : sink_(sink), begin_(sink.all().size()), errors_(sink.errorCount()) {}
  Messages(const Messages&) = delete;
  Messages& operator=(const Messages&) = delete;

  bool any() const { return sink_.all().size() > begin_; }
  bool anyErrors() const { return sink_.errorCount() > errors_; }
  std::span<const Diagnostic> all() const { return std::span(sink_.all()).subspan(begin_); }
  template <class Condition>
  bool has(Condition&& condition) const {
    return std::ranges::any_of(all(), condition);
  }
  /// The last one, to be added to; null if there is none.
  Diagnostic* last() const { return any() ? &sink_.diagnostics_.back() : nullptr; }
  /// Gives the last one, if there is any, a hint of its own.
  void hintLast(std::string text) {
    if (any()) sink_.hintLast(std::move(text));
  }
  /// Adds a note to each error, of at most four.
  void noteErrors(const DiagNote& note);

  /// Forgets them, as if nothing had been reported.
  void drop() { sink_.rewind(begin_); }
  /// The same, and gives them.
  std::vector<Diagnostic> take();
  /// Forgets the messages that meet a condition.
  template <class Condition>
  void dropIf(Condition&& condition) {
    const std::span<const Diagnostic> here = all();
    std::vector<Diagnostic> kept;
    std::ranges::copy_if(here, std::back_inserter(kept), [&](const Diagnostic& d) { return !condition(d); });
    if (kept.size() == here.size()) return;
    drop();
    for (const Diagnostic& d : kept) sink_.add(d);
  }

  /// The messages stay when the list around them drops a round.
  void makeFinal();
  /// Forgets the messages of a round, but for final ones, before another round.
  void dropRound() {
    dropIf([](const Diagnostic& d) { return !d.isFinal; });
  }

private:
  DiagnosticSink& sink_;
  const size_t begin_, errors_; ///< messages and errors reported before
};

/// Messages that are always dropped: another check reports the same errors, or they are no fault.
class Unheard : public Messages {
public:
  using Messages::Messages;
  ~Unheard() { drop(); }
};

} // namespace melix

#pragma once
// Diagnostics: code reports an id and data; the wording stands in diagnostics.def.

#include "source/source.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

namespace melix {

enum class SeverityKind : uint8_t { Error, Warning };

enum class DiagId : uint16_t {
#define DIAG(Id, Text, Severity, Message, Hint) Id,
#include "diagnostics/diagnostics.def"
};

std::string_view diagName(DiagId id);
SeverityKind diagSeverity(DiagId id);

/// A further place that explains the message.
struct DiagNote {
  Span span;
  std::string text;
};

struct Diagnostic {
  DiagId id;
  Span span;
  std::vector<std::string> args;
  std::vector<DiagNote> notes;
  std::string hint;     ///< instead of the catalogue's
  bool isFinal = false; ///< another round of the caller does not report it again

  /// Adds a note, once.
  void note(Span at, std::string text);
};

/// The type of an erroneous expression, as messages show it.
inline constexpr std::string_view errorTypeText = "{error}";

/// Collects diagnostics. The same id at the same place is kept once. A message about the type of an erroneous
/// expression is dropped, since another message has given the cause. Who checks something has its part of
/// them as Messages (messages.h).
class DiagnosticSink {
public:
  virtual ~DiagnosticSink() = default;
  /// Adds a diagnostic and returns it for notes or another hint; the reference holds until the next report.
  Diagnostic& reportList(DiagId id, Span span, std::vector<std::string> args);
  template <class... Args>
  Diagnostic& report(DiagId id, Span span, Args&&... args) {
    return reportList(id, span, {std::string(std::forward<Args>(args))...});
  }
  /// Adds a diagnostic of another report, unless it is there already.
  void repeat(const Diagnostic& diagnostic);
  /// Adds a note to the last diagnostic, once.
  void annotateLast(Span span, std::string text);
  /// Gives the last diagnostic a hint of its own.
  void hintLast(std::string text) { last().hint = std::move(text); }
  /// As they were reported.
  const std::vector<Diagnostic>& all() const { return diagnostics_; }
  /// In the order of the text, as its reader meets them.
  std::vector<const Diagnostic*> inOrder() const;
  template <class Condition>
  bool isTold(Condition&& condition) const {
    return std::any_of(diagnostics_.begin(), diagnostics_.end(), condition);
  }
  size_t errorCount() const { return errors_; }
  void clear();

private:
  friend class Messages;
  void add(const Diagnostic& diagnostic);
  /// Forgets all but the first `count` reports.
  void rewind(size_t count);
  bool followsError(const std::vector<std::string>& args) const;
  Diagnostic& last() { return dropped_ ? scratch_ : diagnostics_.back(); }

  std::vector<Diagnostic> diagnostics_;
  std::set<std::pair<DiagId, Span>> seen_;
  Diagnostic scratch_{}; ///< the last one, if it was not kept
  bool dropped_ = false;
  size_t errors_ = 0;
};

enum class HabitKind : uint8_t { Sign, Word, Name, Type, Field, Module };

/// The Melix spelling of a construct of another language at the start of `text` (habits.def); empty if there
/// is none.
std::string_view habitHint(HabitKind where, std::string_view text);

/// `file:line:column: error: message [id]`, the source line, a caret line, notes and the hint (rule 46).
std::string renderDiagnostic(const Diagnostic& diagnostic, const SourceStore& sources, bool colour);
/// The message alone.
std::string diagMessage(const Diagnostic& diagnostic);

} // namespace melix

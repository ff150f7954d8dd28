#pragma once
// Diagnostics: code reports an id and data; the wording stands in diagnostics.def.

#include "source/source.h"

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
  std::string hint; ///< instead of the catalogue's
};

/// The type of an erroneous expression, as messages show it.
inline constexpr std::string_view errorTypeText = "{error}";

/// Collects diagnostics. The same id at the same place is kept once. A message about the type of an erroneous
/// expression is dropped, since another message has given the cause.
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
  const std::vector<Diagnostic>& all() const { return diagnostics_; }
  size_t errorCount() const { return errors_; }
  void clear();
  /// Forgets the reports since `mark` (a size of all()): for checks that were only tried.
  void rewind(size_t mark);
  /// The same, but the reports in `kept`, ranges of all() in order, stay.
  void rewindBut(size_t mark, const std::vector<std::pair<size_t, size_t>>& kept);
  /// Puts the reports since `mark` in the order of the text.
  void sortSince(size_t mark);
  /// Adds a note to the errors reported since `mark` (at most two notes of this kind each).
  void annotate(size_t mark, const DiagNote& note);

private:
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

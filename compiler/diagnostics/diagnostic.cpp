#include "diagnostics/diagnostic.h"

#include "diagnostics/messages.h"

#include <algorithm>
#include <cctype>
#include <cstddef>

namespace melix {

namespace {

struct Row {
  std::string_view name, message, hint;
  SeverityKind severity;
};
constexpr Row rows[] = {
#define DIAG(Id, Text, Severity, Message, Hint) {Text, Message, Hint, SeverityKind::Severity},
#include "diagnostics/diagnostics.def"
};

const Row& row(DiagId id) { return rows[static_cast<size_t>(id)]; }

/// Replaces {0}, {1} … by the arguments, {1:noun} by a count of such things.
std::string fill(std::string_view text, const std::vector<std::string>& args) {
  std::string out;
  for (size_t k = 0; k < text.size(); ++k) {
    bool digit = text[k] == '{' && k + 2 < text.size() && text[k + 1] >= '0' && text[k + 1] <= '9';
    size_t end =
        digit && (text[k + 2] == '}' || text[k + 2] == ':') ? text.find('}', k) : std::string_view::npos;
    if (end == std::string_view::npos) {
      out += text[k];
      continue;
    }
    auto index = static_cast<size_t>(text[k + 1] - '0');
    std::string arg = index < args.size() ? args[index] : "?";
    out += arg;
    if (text[k + 2] == ':')
      out +=
          " " + std::string(text.substr(k + 3, end - k - 3)) + (arg == "1" || arg == "at least 1" ? "" : "s");
    k = end;
  }
  return out;
}

struct Habit {
  HabitKind where;
  std::string_view spelling, hint;
};
constexpr Habit habits[] = {
#define HABIT(Where, Spelling, Hint) {HabitKind::Where, Spelling, Hint},
#include "diagnostics/habits.def"
};

bool isWordByte(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

struct Style {
  bool on;
  std::string_view bold() const { return on ? "\x1b[1m" : ""; }
  std::string_view severity(SeverityKind s) const {
    return !on ? "" : s == SeverityKind::Error ? "\x1b[1;31m" : "\x1b[1;33m";
  }
  std::string_view accent() const { return on ? "\x1b[36m" : ""; }
  std::string_view off() const { return on ? "\x1b[0m" : ""; }
};

std::string place(const SourceStore& sources, Span span) {
  LineColumn at = sources.lineColumn(span);
  return std::string(sources.path(span.file)) + ":" + std::to_string(at.line) + ":" +
         std::to_string(at.column) + ": ";
}

/// Whether every byte over 127 belongs to a sequence of the right length; overlong forms are let through.
bool isText(std::string_view line) {
  for (size_t k = 0; k < line.size();) {
    auto lead = static_cast<unsigned char>(line[k]);
    size_t length = lead < 0x80 ? 1 : lead >> 5 == 6 ? 2 : lead >> 4 == 14 ? 3 : lead >> 3 == 30 ? 4 : 0;
    if (length == 0 || k + length > line.size()) return false;
    for (size_t j = 1; j < length; ++j)
      if ((static_cast<unsigned char>(line[k + j]) & 0xc0) != 0x80) return false;
    k += length;
  }
  return true;
}

/// The source line and a line with a caret under the span (to the end of its first line).
std::string excerpt(const SourceStore& sources, Span span, const Style& style) {
  LineColumn at = sources.lineColumn(span);
  std::string_view line = sources.lineText(span.file, at.line);
  std::string shown, caret;
  bool printable = isText(line);
  // Of a very long line only the part around the place is shown.
  constexpr uint32_t before = 40, after = 70;
  uint32_t first = at.column > before + 20 ? at.column - before : 1;
  uint32_t column = 0, width = std::max(1u, characterCount(sources.text(span).substr(0, 4 * after)));
  for (char c : line) {
    bool start = (static_cast<unsigned char>(c) & 0xc0) != 0x80;
    column += start;
    if (column < first) continue;
    if (column >= at.column + after) {
      shown += "…";
      break;
    }
    bool control = static_cast<unsigned char>(c) < 0x20 || c == 0x7f || (c < 0 && !printable);
    shown += c == '\t' ? ' ' : control ? '?' : c;
    if (start && column < at.column + width)
      caret += column < at.column ? ' ' : column == at.column ? '^' : '~';
  }
  if (at.column > column) caret += std::string(at.column - column - 1, ' ') + "^";
  if (first > 1) {
    shown.insert(0, "…");
    caret.insert(0, " ");
  }
  std::string number = std::to_string(at.line);
  std::string pad(number.size(), ' ');
  std::string out;
  out += " " + number + " | " + shown + "\n";
  out += " " + pad + " | " + std::string(style.accent()) + caret + std::string(style.off()) + "\n";
  return out;
}

} // namespace

std::string_view diagName(DiagId id) { return row(id).name; }
SeverityKind diagSeverity(DiagId id) { return row(id).severity; }
std::string diagMessage(const Diagnostic& d) { return fill(row(d.id).message, d.args); }

/// What shows the type of an error is about something told already, or about a call whose result is not known
/// yet.
bool DiagnosticSink::followsError(const std::vector<std::string>& args) const {
  return std::any_of(args.begin(), args.end(),
                     [](const std::string& arg) { return arg.find(errorTypeText) != std::string::npos; });
}

Diagnostic& DiagnosticSink::reportList(DiagId id, Span span, std::vector<std::string> args) {
  Diagnostic diagnostic{id, span, std::move(args), {}, {}};
  dropped_ = followsError(diagnostic.args) || !seen_.insert({id, span}).second;
  if (dropped_) {
    scratch_ = std::move(diagnostic);
    return scratch_;
  }
  errors_ += diagSeverity(id) == SeverityKind::Error;
  diagnostics_.push_back(std::move(diagnostic));
  return diagnostics_.back();
}

void DiagnosticSink::repeat(const Diagnostic& diagnostic) {
  Diagnostic again = diagnostic;
  again.isFinal = false;
  add(again);
}

void DiagnosticSink::add(const Diagnostic& diagnostic) {
  if (!seen_.insert({diagnostic.id, diagnostic.span}).second) return;
  errors_ += diagSeverity(diagnostic.id) == SeverityKind::Error;
  diagnostics_.push_back(diagnostic);
}

void Diagnostic::note(Span at, std::string text) {
  const bool isSaid = std::any_of(notes.begin(), notes.end(),
                                  [&](const DiagNote& n) { return n.span == at && n.text == text; });
  if (!isSaid) notes.push_back({at, std::move(text)});
}

void DiagnosticSink::annotateLast(Span span, std::string text) { last().note(span, std::move(text)); }

void DiagnosticSink::clear() {
  diagnostics_.clear();
  seen_.clear();
  errors_ = 0;
}

void DiagnosticSink::rewind(size_t count) {
  while (diagnostics_.size() > count) {
    const Diagnostic& last = diagnostics_.back();
    errors_ -= diagSeverity(last.id) == SeverityKind::Error;
    seen_.erase({last.id, last.span});
    diagnostics_.pop_back();
  }
}

std::vector<const Diagnostic*> DiagnosticSink::inOrder() const {
  std::vector<const Diagnostic*> out;
  for (const Diagnostic& d : diagnostics_) out.push_back(&d);
  std::stable_sort(out.begin(), out.end(),
                   [](const Diagnostic* a, const Diagnostic* b) { return a->span < b->span; });
  return out;
}

void Messages::noteErrors(const DiagNote& note) {
  constexpr size_t mostNotes = 4;
  for (size_t k = begin_; k < sink_.diagnostics_.size(); ++k) {
    Diagnostic& d = sink_.diagnostics_[k];
    if (d.notes.size() < mostNotes && diagSeverity(d.id) == SeverityKind::Error) d.notes.push_back(note);
  }
}

std::vector<Diagnostic> Messages::take() {
  std::vector<Diagnostic> out(all().begin(), all().end());
  drop();
  return out;
}

void Messages::makeFinal() {
  for (size_t k = begin_; k < sink_.diagnostics_.size(); ++k) sink_.diagnostics_[k].isFinal = true;
}

std::string_view habitHint(HabitKind where, std::string_view text) {
  for (const Habit& habit : habits) {
    if (habit.where != where || !text.starts_with(habit.spelling)) continue;
    bool goesOn = where != HabitKind::Sign && text.size() > habit.spelling.size() &&
                  isWordByte(text[habit.spelling.size()]);
    if (!goesOn) return habit.hint;
  }
  return {};
}

/// The uses of macros that made what stands at `span`, from the inside out; of many the first and the last.
static std::string usesAround(Span span, const SourceStore& sources, const Style& style) {
  constexpr size_t shownAtEachEnd = 3;
  std::vector<const Expansion*> uses;
  for (const Expansion* e = sources.expansion(span.file); e; e = sources.expansion(e->use.file))
    uses.push_back(e);
  std::string out;
  for (size_t k = 0; k < uses.size(); ++k) {
    if (k == shownAtEachEnd && uses.size() > 2 * shownAtEachEnd) {
      k = uses.size() - shownAtEachEnd;
      out += "  note: and " + std::to_string(k - shownAtEachEnd) + " uses between\n";
    }
    out += place(sources, uses[k]->use) + "note: in what `@" + uses[k]->macro + "` makes here\n" +
           excerpt(sources, uses[k]->use, style);
  }
  return out;
}

std::string renderDiagnostic(const Diagnostic& d, const SourceStore& sources, bool colour) {
  Style style{colour};
  const Row& r = row(d.id);
  std::string out;
  if (d.span.valid()) out += std::string(style.bold()) + place(sources, d.span) + std::string(style.off());
  out += std::string(style.severity(r.severity)) +
         (r.severity == SeverityKind::Error ? "error: " : "warning: ") + std::string(style.off());
  out += std::string(style.bold()) + fill(r.message, d.args) + std::string(style.off()) + " [" +
         std::string(r.name) + "]\n";
  if (d.span.valid()) out += excerpt(sources, d.span, style);
  out += usesAround(d.span, sources, style);
  for (const DiagNote& note : d.notes) {
    out += note.span.valid()
               ? place(sources, note.span) + "note: " + note.text + "\n" + excerpt(sources, note.span, style)
               : "  note: " + note.text + "\n";
  }
  std::string hint = d.hint.empty() ? fill(r.hint, d.args) : d.hint;
  const Expansion* e = sources.expansion(d.span.file);
  if (e && !e->advice.empty() && r.severity == SeverityKind::Error) hint = e->advice;
  if (!hint.empty()) out += "  hint: " + hint + "\n";
  return out;
}

} // namespace melix

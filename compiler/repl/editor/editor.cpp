#include "repl/editor/editor.h"

#include "support/characters.h"

#include <algorithm>
#include <utility>

namespace melix::repl {
namespace {

constexpr int sequenceMilliseconds = 50; ///< the bytes of a key come closer together
constexpr int pasteMilliseconds = 1000;  ///< and those of a paste, whose end may be lost
constexpr size_t pieceBytes = 4096;
constexpr size_t mostListed = 12;
constexpr std::string_view brackets = "()[]{}";

struct Binding {
  std::string_view keys, text;
};
constexpr Binding bindings[] = {
#define BINDING(Name, Keys, Text) {Keys, Text},
#include "repl/editor/bindings.def"
};

bool isAmong(std::string_view keys, std::string_view key) {
  for (size_t at = 0; at < keys.size();) {
    const size_t end = std::min(keys.find(' ', at), keys.size());
    if (keys.substr(at, end - at) == key) return true;
    at = end + 1;
  }
  return false;
}

/// The bracket that belongs to the one at `at`; those within spans of texts and comments are none.
std::optional<size_t> partnerOf(std::string_view text, size_t at, std::span<const ColouredPart> spans) {
  const size_t kind = brackets.find(text[at]);
  const bool opens = kind % 2 == 0;
  auto isCode = [&](size_t k) {
    const auto span = std::ranges::upper_bound(spans, k, {}, &ColouredPart::end);
    return span == spans.end() || span->begin > k ||
           (span->colour != Colour::Text && span->colour != Colour::Comment);
  };
  if (!isCode(at)) return std::nullopt;
  size_t depth = 0;
  for (size_t k = at; k < text.size(); opens ? ++k : --k) {
    if (brackets.find(text[k]) == std::string_view::npos || !isCode(k)) continue;
    if ((brackets.find(text[k]) % 2 == 0) == opens)
      ++depth;
    else if (--depth == 0)
      return brackets.find(text[k]) / 2 == kind / 2 ? std::optional(k) : std::nullopt;
  }
  return std::nullopt;
}

/// The longest begin that all candidates share.
std::string sharedBegin(const std::vector<Candidate>& candidates) {
  std::string shared = candidates[0].text;
  for (const Candidate& each : candidates) {
    const auto differs = std::ranges::mismatch(shared, each.text).in1;
    shared.erase(differs, shared.end());
  }
  while (!shared.empty() && shared.size() < candidates[0].text.size() &&
         isContinuation(candidates[0].text[shared.size()]))
    shared.pop_back();
  return shared;
}

} // namespace

std::optional<Editor::Action> Editor::actionOf(std::string_view key) {
  for (size_t k = 0; k < std::size(bindings); ++k)
    if (isAmong(bindings[k].keys, key)) return static_cast<Action>(k);
  return std::nullopt;
}

std::string keysHelp() {
  size_t width = 0;
  for (const Binding& each : bindings) width = std::max(width, each.keys.size());
  std::string out;
  for (const Binding& each : bindings)
    out += std::string(each.keys) + std::string(width + 2 - each.keys.size(), ' ') + std::string(each.text) +
           "\n";
  return out;
}

Entry Editor::read(std::string_view prompt) {
  prompt_ = prompt;
  buffer_.reset();
  number_ = history_.entries().size();
  unfinished_.clear();
  below_.clear();
  search_.reset();
  ended_.reset();
  terminal_.begin();
  screen_.begin();
  draw();
  while (!ended_) {
    const std::optional<Key> key = nextKey();
    if (!key) {
      end(EntryKind::End);
      break;
    }
    if (!key->name.empty()) press(*key);
    // Of keys that are there already only the last one's text is shown.
    if (!ended_ && !keys_.isWaiting() && !terminal_.hasInput()) draw();
  }
  terminal_.end();
  return *std::exchange(ended_, std::nullopt);
}

/// The next key; one without a name if the terminal has another size; none at the end of the input.
std::optional<Key> Editor::nextKey() {
  for (;;) {
    if (std::optional<Key> key = keys_.next()) return key;
    const bool isWaiting = keys_.isWaiting();
    // Byte by byte: those after an entry are for whoever reads next, such as the program.
    const int patience = keys_.isPasting() ? pasteMilliseconds : isWaiting ? sequenceMilliseconds : -1;
    const std::optional<std::string> bytes = terminal_.read(patience, keys_.isPasting() ? pieceBytes : 1);
    if (!bytes) return std::nullopt;
    if (!bytes->empty()) {
      keys_.feed(*bytes);
      continue;
    }
    if (isWaiting || keys_.isPasting())
      if (std::optional<Key> key = keys_.flush()) return key;
    if (!isWaiting) return Key{};
  }
}

void Editor::press(const Key& key) {
  below_.clear();
  if (search_ && pressInSearch(key)) return;
  if (const std::optional<Action> action = actionOf(key.name)) return act(*action);
  type(key.text);
}

/// A closing bracket that begins a line stands under the line that opens it.
void Editor::type(const std::string& text) {
  const size_t begin = buffer_.lineBegin(buffer_.cursor());
  const std::string_view margin = std::string_view(buffer_.text()).substr(begin, buffer_.cursor() - begin);
  const bool isFirst =
      begin > 0 && margin.size() >= 2 && margin.find_first_not_of(' ') == std::string_view::npos;
  if (isFirst && (text == ")" || text == "]" || text == "}"))
    buffer_.replaceRange(buffer_.cursor() - 2, buffer_.cursor(), "");
  buffer_.insert(text);
}

void Editor::act(Action action) {
  switch (action) {
  case Action::Left: buffer_.left(); break;
  case Action::Right: buffer_.right(); break;
  case Action::WordLeft: buffer_.wordLeft(); break;
  case Action::WordRight: buffer_.wordRight(); break;
  case Action::LineBegin: buffer_.toLineBegin(); break;
  case Action::LineEnd: buffer_.toLineEnd(); break;
  case Action::TextBegin: buffer_.toBegin(); break;
  case Action::TextEnd: buffer_.toEnd(); break;
  case Action::Up:
    if (!buffer_.up()) move(true);
    break;
  case Action::Down:
    if (!buffer_.down()) move(false);
    break;
  case Action::Earlier: move(true); break;
  case Action::Later: move(false); break;
  case Action::SearchEarlier: beginSearch(true); break;
  case Action::SearchLater: beginSearch(false); break;
  case Action::EraseBefore: buffer_.eraseBefore(); break;
  case Action::EraseAfter: buffer_.eraseAfter(); break;
  case Action::EraseOrEnd: buffer_.isEmpty() ? end(EntryKind::End) : buffer_.eraseAfter(); break;
  case Action::CutToLineEnd: buffer_.cutToLineEnd(); break;
  case Action::CutToLineBegin: buffer_.cutToLineBegin(); break;
  case Action::CutWordBefore: buffer_.cutWordBefore(); break;
  case Action::CutPartBefore: buffer_.cutPartBefore(); break;
  case Action::CutWordAfter: buffer_.cutWordAfter(); break;
  case Action::Yank: buffer_.yank(); break;
  case Action::Transpose: buffer_.transpose(); break;
  case Action::Undo: buffer_.undo(); break;
  case Action::Complete: complete(); break;
  case Action::Enter: enter(); break;
  case Action::NewLine: newLine(); break;
  case Action::ClearScreen: screen_.clear(); break;
  case Action::Interrupt: end(EntryKind::Interrupted); break;
  case Action::Suspend:
    end(EntryKind::End); // leaves the text as it stands
    ended_.reset();
    terminal_.suspend();
    break;
  }
}

void Editor::enter() {
  if (language_.isIncomplete(buffer_.text())) return newLine();
  end(EntryKind::Text);
}

/// A line with the margin of the one before, and two columns more after an open bracket.
void Editor::newLine() {
  const std::string& text = buffer_.text();
  const size_t begin = buffer_.lineBegin(buffer_.cursor());
  std::string margin;
  // Text that comes faster than keys are pressed has its own margins.
  if (keys_.isWaiting() || terminal_.hasInput()) return buffer_.insert("\n");
  for (size_t k = begin; k < buffer_.cursor() && text[k] == ' '; ++k) margin += ' ';
  const char before = buffer_.cursor() > 0 ? text[buffer_.cursor() - 1] : ' ';
  if (before == '(' || before == '[' || before == '{') margin += "  ";
  buffer_.insert("\n" + margin);
}

void Editor::complete() {
  const std::string& text = buffer_.text();
  const size_t begin = buffer_.lineBegin(buffer_.cursor());
  if (text.find_first_not_of(' ', begin) >= buffer_.cursor()) return buffer_.insert("  ");
  const Completion found = language_.complete(text, buffer_.cursor());
  if (found.candidates.empty() || found.begin > buffer_.cursor()) return;
  const std::string shared = sharedBegin(found.candidates);
  const std::string typed = text.substr(found.begin, buffer_.cursor() - found.begin);
  if (shared != typed && shared.size() >= typed.size())
    buffer_.replaceRange(found.begin, buffer_.cursor(), shared);
  if (found.candidates.size() > 1) listCandidates(found);
}

void Editor::listCandidates(const Completion& found) {
  size_t width = 0;
  for (const Candidate& each : found.candidates) width = std::max(width, columnsOf(each.text));
  for (const Candidate& each : found.candidates) {
    if (below_.size() == mostListed) {
      below_.push_back("… " + std::to_string(found.candidates.size() - mostListed) + " more");
      break;
    }
    const std::string space(each.note.empty() ? 0 : width + 2 - columnsOf(each.text), ' ');
    below_.push_back(printable("  " + each.text + space + each.note));
  }
}

/// Shows an entry of the history; after the last one comes what was being written.
void Editor::goTo(size_t number) {
  if (number_ == history_.entries().size()) unfinished_ = buffer_.text();
  number_ = number;
  buffer_.reset(number == history_.entries().size() ? unfinished_ : history_.entries()[number]);
}

void Editor::move(bool isEarlier) {
  if (isEarlier && number_ > 0) goTo(number_ - 1);
  if (!isEarlier && number_ < history_.entries().size()) goTo(number_ + 1);
}

void Editor::beginSearch(bool isEarlier) {
  search_ = Search{"", buffer_.text(), buffer_.cursor(), number_, isEarlier, false};
}

/// Whether the key belongs to the search; others end it and act on the entry that was found.
bool Editor::pressInSearch(const Key& key) {
  const std::optional<Action> action = actionOf(key.name);
  if (action == Action::SearchEarlier || action == Action::SearchLater) {
    search_->isEarlier = action == Action::SearchEarlier;
    find(true);
  } else if (action == Action::EraseBefore) {
    while (!search_->text.empty() && isContinuation(search_->text.back())) search_->text.pop_back();
    if (!search_->text.empty()) search_->text.pop_back();
    find(false);
  } else if (action == Action::Interrupt || key.name == "ctrl-g") {
    buffer_.replace(search_->original, search_->cursor);
    number_ = search_->number;
    search_.reset();
  } else if (!key.text.empty()) {
    search_->text += key.text;
    find(false);
  } else {
    search_.reset();
    return key.name == "escape";
  }
  return true;
}

void Editor::find(bool isNext) {
  Search& search = *search_;
  const bool isHere = !isNext && number_ < history_.entries().size() &&
                      history_.entries()[number_].find(search.text) != std::string::npos;
  const std::optional<size_t> found = isHere             ? std::optional(number_)
                                      : search.isEarlier ? history_.findBefore(search.text, number_)
                                                         : history_.findAfter(search.text, number_);
  search.isFailing = !found;
  if (!found) return;
  goTo(*found);
  buffer_.moveTo(buffer_.text().find(search.text));
}

void Editor::end(EntryKind kind) {
  search_.reset();
  below_.clear();
  buffer_.toEnd();
  screen_.finish(view());
  ended_ = Entry{kind, kind == EntryKind::Text ? buffer_.text() : ""};
  if (kind == EntryKind::Text && buffer_.text().find_first_not_of(" \n") != std::string::npos)
    history_.add(buffer_.text());
}

std::vector<ColouredPart> Editor::coloursWithBrackets() const {
  std::vector<ColouredPart> spans = language_.colours(buffer_.text());
  const std::string& text = buffer_.text();
  for (size_t at : {buffer_.cursor(), buffer_.cursor() - 1}) {
    if (at >= text.size() || brackets.find(text[at]) == std::string_view::npos) continue;
    const std::optional<size_t> partner = partnerOf(text, at, spans);
    if (!partner) continue;
    std::erase_if(spans, [&](const ColouredPart& s) {
      return s.end - s.begin == 1 && (s.begin == at || s.begin == *partner);
    });
    for (size_t place : {at, *partner})
      spans.insert(std::ranges::upper_bound(spans, place, {}, &ColouredPart::begin),
                   {place, place + 1, Colour::Bracket});
    break;
  }
  return spans;
}

View Editor::view() const {
  return {prompt_, buffer_.text(), buffer_.cursor(), coloursWithBrackets(), below_};
}

void Editor::draw() {
  View shown = view();
  std::string prompt;
  if (search_) {
    prompt = std::string(search_->isFailing   ? "no entry has"
                         : search_->isEarlier ? "earlier"
                                              : "later") +
             " `" + search_->text + "`: ";
    shown.prompt = prompt;
  }
  screen_.draw(shown);
}

} // namespace melix::repl

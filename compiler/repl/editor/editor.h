#pragma once
// Reads entries of a prompt from a terminal: text of several lines that is edited with keys (bindings.def),
// with a history, a search in it, completion and colours. It knows nothing about the language of the entries.

#include "repl/editor/buffer.h"
#include "repl/editor/screen.h"
#include "repl/history/history.h"
#include "repl/terminal/keys.h"

#include <functional>
#include <span>

namespace melix::repl {

struct Candidate {
  std::string text; ///< in place of the begin that was typed
  std::string note; ///< beside it in the list, such as a signature
};
struct Completion {
  size_t begin = 0; ///< of the text that is completed, up to the cursor
  std::vector<Candidate> candidates;
};

/// The editor's questions about entries.
struct Language {
  std::function<bool(const std::string&)> isIncomplete;
  std::function<Completion(const std::string&, size_t cursor)> complete;
  std::function<std::vector<ColouredPart>(const std::string&)> colours;
};

enum class EntryKind : uint8_t { Text, Interrupted, End };
struct Entry {
  EntryKind kind;
  std::string text;
};

class Editor {
public:
  Editor(Terminal& terminal, History& history, Language language)
      : terminal_(terminal), history_(history), language_(std::move(language)), screen_(terminal) {}

  /// Waits for an entry. The terminal is as usual before and after.
  Entry read(std::string_view prompt);

private:
  enum class Action : uint8_t {
#define BINDING(Name, Keys, Text) Name,
#include "repl/editor/bindings.def"
  };
  /// Of a search in the history: the text looked for, and the entry with which it began.
  struct Search {
    std::string text, original;
    size_t cursor = 0, number = 0;
    bool isEarlier = true, isFailing = false;
  };
  static std::optional<Action> actionOf(std::string_view key);
  std::optional<Key> nextKey();
  void press(const Key& key);
  void act(Action action);
  void enter();
  void newLine();
  void complete();
  void listCandidates(const Completion& found);
  void goTo(size_t number);
  void move(bool isEarlier);
  void beginSearch(bool isEarlier);
  bool pressInSearch(const Key& key);
  void find(bool isNext);
  void end(EntryKind kind);
  void draw();
  View view() const;
  void type(const std::string& text);
  std::vector<ColouredPart> coloursWithBrackets() const;

  Terminal& terminal_;
  History& history_;
  const Language language_;
  Screen screen_;
  KeyDecoder keys_;
  Buffer buffer_;
  std::string prompt_, unfinished_; ///< the entry that was left for one of the history
  size_t number_ = 0;               ///< of the entry of the history that is shown
  std::optional<Search> search_;
  std::vector<std::string> below_;
  std::optional<Entry> ended_;
};

/// A line for each binding, for people.
std::string keysHelp();

} // namespace melix::repl

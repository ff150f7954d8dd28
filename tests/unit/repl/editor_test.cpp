// The editor of the prompt: keys in, a screen out.
#include "repl/editor/editor.h"
#include "repl/screen_model.h"
#include "support/characters.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace melix::repl {
namespace {

/// Gives bytes that a test has typed, and then the end of the input.
class TypedTerminal : public Terminal {
public:
  TypedTerminal(std::vector<std::string> typed, size_t columns = 40, size_t rows = 10)
      : screen(columns, rows), typed_(std::move(typed)) {}

  std::optional<std::string> read(int, size_t) override {
    if (next_ == typed_.size()) return std::nullopt;
    if (onRead) onRead(next_);
    return typed_[next_++];
  }
  bool hasInput() override { return false; }
  void write(std::string_view bytes) override { screen.write(bytes); }
  TerminalSize size() override { return {screen.columns(), screen.height()}; }
  bool hasColours() override { return true; }
  void begin() override { isBegun = true; }
  void end() override { isBegun = false; }
  void suspend() override { ++suspended; }

  ScreenModel screen;
  std::function<void(size_t)> onRead; ///< before the bytes of this number are given
  bool isBegun = false;
  int suspended = 0;

private:
  std::vector<std::string> typed_;
  size_t next_ = 0;
};

Language plainLanguage() {
  return {
      [](const std::string& text) { return std::ranges::count(text, '(') > std::ranges::count(text, ')'); },
      [](const std::string& text, size_t cursor) {
        Completion found;
        found.begin = cursor;
        while (found.begin > 0 && isOfWord(text[found.begin - 1])) --found.begin;
        for (const char* word : {"matrix", "matmul", "mean", "norm"})
          if (std::string_view(word).starts_with(text.substr(found.begin, cursor - found.begin)))
            found.candidates.push_back({word, "fn"});
        return found;
      },
      [](const std::string&) { return std::vector<ColouredPart>(); }};
}

/// What an entry of these keys is; the screen when it has ended.
struct Typed {
  Entry entry;
  std::string screen;
};
Typed type(const std::string& keys, History* history = nullptr, size_t columns = 40, size_t rows = 10) {
  History none;
  TypedTerminal terminal({keys}, columns, rows);
  Editor editor(terminal, history ? *history : none, plainLanguage());
  const Entry entry = editor.read("> ");
  EXPECT_FALSE(terminal.isBegun);
  EXPECT_TRUE(terminal.screen.unknown().empty()) << terminal.screen.unknown()[0];
  return {entry, terminal.screen.text()};
}
std::string entry(const std::string& keys) {
  const Typed typed = type(keys);
  EXPECT_EQ(typed.entry.kind, EntryKind::Text);
  return typed.entry.text;
}

const std::string left = "\x1b[D", right = "\x1b[C", up = "\x1b[A", down = "\x1b[B", home = "\x1b[H",
                  finish = "\x1b[F";

TEST(Editor, TypesAndShows) {
  const Typed typed = type("1 + 2\r");
  EXPECT_EQ(typed.entry.text, "1 + 2");
  EXPECT_EQ(typed.screen, "> 1 + 2\n");
}

TEST(Editor, MovesAndErases) {
  EXPECT_EQ(entry("abc" + left + left + "x\r"), "axbc");
  EXPECT_EQ(entry("abc" + home + "x" + finish + "y\r"), "xabcy");
  EXPECT_EQ(entry("abc\x7f\x7fz\r"), "az");
  EXPECT_EQ(entry("abc" + home + "\x1b[3~\r"), "bc");
  EXPECT_EQ(entry("abc\x01\x04\r"), "bc");
  EXPECT_EQ(entry("one two\x1b[1;5Dx\r"), "one xtwo");
  EXPECT_EQ(entry("one two\x1b"
                  "bx\x1b"
                  "fy\r"),
            "one xtwoy");
}

TEST(Editor, CutsAndInsertsThat) {
  EXPECT_EQ(entry("one two\x17\x19\x19\r"), "one twotwo");
  EXPECT_EQ(entry("one two\x01\x0b\x19!\r"), "one two!");
  EXPECT_EQ(entry("one two\x15x\r"), "x");
  EXPECT_EQ(entry("a b c\x17\x17\x19\r"), "a b c") << "cuts that follow each other are one";
  EXPECT_EQ(entry("ab\x14\r"), "ba");
}

TEST(Editor, Undoes) {
  EXPECT_EQ(entry("abc\x17\x1f\r"), "abc");
  EXPECT_EQ(entry("abc" + left + "xy\x1f\r"), "abc");
}

TEST(Editor, EditsSeveralLines) {
  const Typed typed = type("f(1,\r2)" + up + "0" + down + "\r");
  EXPECT_EQ(typed.entry.text, "f(01,\n2)") << "the cursor keeps its column";
  EXPECT_EQ(type("(\r1)\r").screen, "> (\n… 1)\n");
}

TEST(Editor, AHistoryOfWholeEntries) {
  History history;
  EXPECT_EQ(type("(1,\r2)\r", &history).entry.text, "(1,\n2)");
  EXPECT_EQ(type("x\r", &history).entry.text, "x");
  EXPECT_EQ(type("y" + up + up + "\r", &history).entry.text, "(1,\n2)");
  EXPECT_EQ(type("y" + up + down + "z\r", &history).entry.text, "yz") << "what was being written comes back";
  ASSERT_EQ(history.entries().size(), 4u);
}

TEST(Editor, SearchesTheHistory) {
  auto found = [](const std::string& keys) {
    History history;
    for (const char* each : {"alpha = 1", "beta = 2", "alphabet"}) history.add(each);
    return type(keys, &history).entry.text;
  };
  EXPECT_EQ(found("\x12"
                  "alpha\r"),
            "alphabet");
  EXPECT_EQ(found("\x12"
                  "alpha\x12\r"),
            "alpha = 1");
  EXPECT_EQ(found("\x12"
                  "alpha\x12\x13\r"),
            "alphabet");
  EXPECT_EQ(found("keep\x12"
                  "beta\x07!\r"),
            "keep!");
  EXPECT_EQ(found("\x12"
                  "beta\x1b[Dx\r"),
            "xbeta = 2")
      << "a motion ends the search";
}

TEST(Editor, Completes) {
  EXPECT_EQ(entry("x = no\t\r"), "x = norm");
  EXPECT_EQ(entry("x = m\t"
                  "at\tr\t\r"),
            "x = matrix");
  TypedTerminal terminal({"ma", "\t", "\r"});
  std::string listed;
  terminal.onRead = [&](size_t k) {
    if (k == 2) listed = terminal.screen.text();
  };
  History none;
  Editor editor(terminal, none, plainLanguage());
  editor.read("> ");
  EXPECT_EQ(listed, "> mat\n  matrix  fn\n  matmul  fn\n");
  EXPECT_EQ(terminal.screen.text(), "> mat\n") << "the list goes";
}

TEST(Editor, PastesAreOneEntry) {
  EXPECT_EQ(entry("\x1b[200~a\rb\n\x1b[201~c\r"), "a\nb\nc");
  EXPECT_EQ(entry("\x1b[200~a\x1b[Db\x01\x1b[201~\r"), "a[Db") << "control characters of a paste are no keys";
  const std::string large(1 << 20, 'x');
  EXPECT_EQ(entry("\x1b[200~" + large + "\x1b[201~\r"), large);
}

TEST(Editor, APasteWithoutAnEndIsOneUpToHere) {
  TypedTerminal terminal({"\x1b[200~a\rb", "", "c\r"});
  History none;
  Editor editor(terminal, none, plainLanguage());
  EXPECT_EQ(editor.read("> ").text, "a\nbc");
}

TEST(Editor, LinesThatComeAtOnceKeepTheirMargins) { EXPECT_EQ(entry("f(\r    1)\r"), "f(\n    1)"); }

TEST(Editor, AClosingBracketStandsUnderItsLine) {
  TypedTerminal terminal({"f(", "\r", "1", "\r", ")", "\r"});
  History none;
  Editor editor(terminal, none, plainLanguage());
  EXPECT_EQ(editor.read("> ").text, "f(\n  1\n)");
}

TEST(Editor, OutputThatDidNotEndItsLineStays) {
  TypedTerminal terminal({"1\r"}, 20);
  terminal.screen.write("abc");
  History none;
  Editor editor(terminal, none, plainLanguage());
  editor.read("> ");
  EXPECT_EQ(terminal.screen.text(), "abc\n> 1\n");
}

TEST(Editor, EndsAndInterrupts) {
  EXPECT_EQ(type("\x04").entry.kind, EntryKind::End);
  EXPECT_EQ(type("abc\x03").entry.kind, EntryKind::Interrupted);
  EXPECT_EQ(type("abc").entry.kind, EntryKind::End) << "the terminal went away";
  TypedTerminal terminal({"ab\x1a"
                          "c\r"});
  History none;
  Editor editor(terminal, none, plainLanguage());
  EXPECT_EQ(editor.read("> ").text, "abc");
  EXPECT_EQ(terminal.suspended, 1);
}

TEST(Editor, UnreadableKeysAreDropped) {
  EXPECT_EQ(entry("a\xff\xc3(b)\x1b[99;99zc\x1bOPd\x1b[1;5\x01\r"), "a(b)cd");
  EXPECT_EQ(entry(std::string("a\0b", 3) + "\x02\x06\r"), "ab");
  EXPECT_EQ(entry("a\x1b[" + std::string(100, '1') + "b\r").front(), 'a');
}

TEST(Editor, CharactersOfAnyWidth) {
  EXPECT_EQ(entry("日本" + left + "x\r"), "日x本");
  EXPECT_EQ(entry("e\u0301a" + left + left + "x\r"), "xe\u0301a") << "what combines stays with its base";
  EXPECT_EQ(type("日本語日本語日本語\r", nullptr, 20).screen, "> 日本語日本語日本\n  語\n");
}

TEST(Editor, WrapsLongLines) {
  EXPECT_EQ(type("abcdefghijklmnopqrstuvwxyz\r", nullptr, 20).screen, "> abcdefghijklmnopq\n  rstuvwxyz\n");
  EXPECT_EQ(type("abcdefghijklmnopqrstuvwxyz\x01!\r", nullptr, 20).screen,
            "> !abcdefghijklmnop\n  qrstuvwxyz\n");
  const Typed tall = type("(" + std::string(30, '\r') + "x)\r", nullptr, 20, 6);
  EXPECT_EQ(tall.entry.text.size(), 33u);
  EXPECT_NE(tall.screen.find("x)"), std::string::npos);
}

TEST(Editor, AWindowIsResized) {
  TypedTerminal terminal({"abcdefghijklmnopqrstuvw", "", "xyz", "\r"}, 40);
  terminal.onRead = [&](size_t k) {
    if (k == 1) terminal.screen.resize(60);
  };
  History none;
  Editor editor(terminal, none, plainLanguage());
  EXPECT_EQ(editor.read("> ").text, "abcdefghijklmnopqrstuvwxyz");
  EXPECT_EQ(terminal.screen.text(), "> abcdefghijklmnopqrstuvwxyz\n");
}

/// A text as lines of letters and a place in it: what the keys of the random test do to it.
struct PlainModel {
  std::vector<std::string> lines{""};
  size_t row = 0, column = 0;
  std::string text() const {
    std::string out = lines[0];
    for (size_t k = 1; k < lines.size(); ++k) out += "\n" + lines[k];
    return out;
  }
  void press(char key) {
    std::string& line = lines[row];
    switch (key) {
    case 'L':
      if (column > 0)
        --column;
      else if (row > 0)
        column = lines[--row].size();
      break;
    case 'R':
      if (column < line.size())
        ++column;
      else if (row + 1 < lines.size())
        ++row, column = 0;
      break;
    case 'H': column = 0; break;
    case 'E': column = line.size(); break;
    case 'K':
      if (column < line.size())
        line.erase(column);
      else if (row + 1 < lines.size())
        line += lines[row + 1], lines.erase(lines.begin() + static_cast<ptrdiff_t>(row) + 1);
      break;
    case 'U':
      line.erase(0, column);
      column = 0;
      break;
    case 'B':
      if (column > 0)
        line.erase(--column, 1);
      else if (row > 0) {
        column = lines[row - 1].size();
        lines[row - 1] += line;
        lines.erase(lines.begin() + static_cast<ptrdiff_t>(row--));
      }
      break;
    case 'N':
      lines.insert(lines.begin() + static_cast<ptrdiff_t>(row) + 1, line.substr(column));
      lines[row].erase(column);
      ++row, column = 0;
      break;
    default: line.insert(column++, 1, key);
    }
  }
};

TEST(Editor, AThousandRandomSequencesAreAsAPlainEditorDoes) {
  const std::string_view names = "LRHEKUBNNabcdefgh";
  const std::vector<std::string> bytes = {left,   right,  home,     finish,  "\x0b",
                                          "\x15", "\x7f", "\x1b\r", "\x1b\r"};
  for (unsigned seed = 0; seed < 1000; ++seed) {
    std::mt19937 random(seed);
    PlainModel model;
    std::string keys;
    for (unsigned k = 0, n = random() % 60; k < n; ++k) {
      const size_t key = random() % names.size();
      model.press(names[key]);
      keys += key < bytes.size() ? bytes[key] : std::string(1, names[key]);
    }
    const size_t columns = 20 + random() % 40;
    // The keys come in pieces that know nothing of their ends.
    std::vector<std::string> pieces;
    for (size_t at = 0; at < keys.size();) {
      const size_t n = 1 + random() % 7;
      pieces.push_back(keys.substr(at, n));
      at += n;
    }
    pieces.emplace_back("\x03");
    TypedTerminal terminal(pieces, columns, 70);
    size_t row = 0, column = 0;
    std::string seen;
    terminal.onRead = [&](size_t k) {
      if (k + 1 != pieces.size()) return;
      seen = terminal.screen.text();
      row = terminal.screen.cursorRow();
      column = terminal.screen.cursorColumn();
    };
    History none;
    Editor editor(terminal, none, plainLanguage());
    editor.read("> ");
    std::string want;
    size_t wantRow = 0, wantColumn = 0, rows = 0;
    for (size_t k = 0; k < model.lines.size(); ++k) {
      std::string line = model.lines[k];
      std::string shown = (k == 0 ? "> " : "… ");
      const size_t room = columns - 3;
      if (k == model.row) {
        const size_t wrapped =
            model.column == 0 ? 0 : (model.column - (model.column == line.size() ? 1 : 0)) / room;
        wantRow = rows + wrapped;
        wantColumn = 2 + model.column - wrapped * room;
      }
      for (size_t at = 0; at == 0 || at < line.size(); at += room) {
        if (at > 0) shown = "  ";
        std::string part = shown + line.substr(at, room);
        part.erase(part.find_last_not_of(' ') + 1);
        want += part + "\n";
        ++rows;
      }
    }
    ASSERT_EQ(seen, want) << "seed " << seed;
    ASSERT_EQ(row, wantRow) << "seed " << seed << "\n" << seen;
    ASSERT_EQ(column, wantColumn) << "seed " << seed << "\n" << seen;
    ASSERT_TRUE(terminal.screen.unknown().empty());
  }
}

} // namespace
} // namespace melix::repl

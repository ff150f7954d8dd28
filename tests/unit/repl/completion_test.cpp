// Completion at the prompt: what is offered where, and that nothing runs for it.
#include "repl/cursor.h"
#include "repl/made_prompt.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

namespace melix::repl {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

bool has(const Names& names, const std::string& name) { return std::ranges::count(names, name) > 0; }

TEST(Completion, NamesBeginAsTheWord) {
  MadePrompt p({"let weights = [1.0, 2.0]", "fn wealth(x: int) -> int = x", "use nn"});
  EXPECT_EQ(p.errors, "");
  EXPECT_EQ(p.offers("we|"), (Names{"wealth", "weights"}));
  EXPECT_EQ(p.note("we|", "weights"), "f32[2]");
  EXPECT_EQ(p.note("1 + we|", "wealth"), "fn wealth(x: int) -> int");
  EXPECT_TRUE(has(p.offers("whi|"), "while"));
  EXPECT_TRUE(has(p.offers("n|"), "nn"));
  EXPECT_TRUE(has(p.offers("argm|"), "argmax"));
  EXPECT_TRUE(has(p.offers("fn f(width: int) = wid|"), "width"));
  EXPECT_EQ(p.offers("zzz|"), Names{});
}

TEST(Completion, AfterAPointComeFieldsThenFunctions) {
  MadePrompt p({"struct P { x: f64, y: f64 }", "fn norm(p: P) -> f64 = p.x + p.y", "fn normal(n: int) = n",
                "fn twice[T](x: T) -> T = x", "fn any(x) = x", "let p = P(1, 2)"});
  EXPECT_EQ(p.errors, "");
  const Names all = p.offers("p.|");
  ASSERT_GT(all.size(), 3U);
  EXPECT_EQ(Names(all.begin(), all.begin() + 3), (Names{"x", "y", "norm"}));
  EXPECT_TRUE(has(all, "twice") && has(all, "any"));
  EXPECT_FALSE(has(all, "normal") || has(all, "sqrt") || has(all, "len"));
  EXPECT_EQ(p.offers("p.no|"), Names{"norm"});
  EXPECT_EQ(p.note("p.no|", "norm"), "fn norm(p: P) -> f64");
  EXPECT_EQ(p.note("p.x|", "x"), "f64");
}

TEST(Completion, TheExpressionBeforeThePointMayBeAny) {
  MadePrompt p({"struct P { first: f64, inner: (int, str) }", "let p = P(1, (2, \"a\"))",
                "let ps = list([p])", "fn make(n: int) -> P = P(1, (n, \"b\"))",
                "fn perhaps() -> Result[P, str] = Ok(p)", "let xs = [1.0, 2.0]"});
  EXPECT_EQ(p.errors, "");
  for (const char* text :
       {"make(1).fir|", "(make(1)).fir|", "ps[0].fir|", "p.fir|", "1.0 + p.fir|", "perhaps()?.fir|",
        "make(len(\"a(b\")).fir|", "print(make(2).fir|", "[p, make(1)][0].fir|", "\"{p.fir|",
        "\"{make(3).fir|", "P(1, (2, \"a\")).fir|", "p\n  .fir|", "p.fir| + 2"})
    EXPECT_EQ(p.offers(text), Names{"first"}) << text;
  EXPECT_EQ(p.offers("p.inner.|").at(1), "1");
  EXPECT_TRUE(has(p.offers("\"text\".spl|"), "split"));
  EXPECT_TRUE(has(p.offers("xs.su|"), "sum"));
  EXPECT_TRUE(has(p.offers("(xs + 1).sq|"), "sqrt"));
  EXPECT_FALSE(has(p.offers("[1, 2].sq|"), "sqrt"));
}

TEST(Completion, NamesBoundInTheEntryHaveTheirTypes) {
  MadePrompt p({"struct P { first: f64 }", "let ps = list([P(1)])", "let total = 1"});
  for (const char* text :
       {"fn f(q: P) -> f64 = q.fir|", "fn f(q: P) -> f64 {\n  let r = q\n  r.fir|", "for q in ps { q.fir|",
        "let q = ps[0]\nq.fir|", "let q = ps[0]; if q.fir|", "ps.map(q => q.fir|",
        "match ps.last() { Some(q) => q.fir|", "{ let total = ps[0]; total.fir|",
        "fn g(a: P, b: int) -> f64 {\n  if b > 1 { a.fir|", "for q in ps { print(\"{q.fir|"})
    EXPECT_EQ(p.offers(text), Names{"first"}) << text;
}

TEST(Completion, ItemsOfModulesAndCasesOfEnums) {
  MadePrompt p({"use csv", "enum Shade { Dark, Bright(amount: f64) }"});
  EXPECT_EQ(p.offers("csv.re|"), Names{"read"});
  EXPECT_FALSE(has(p.offers("csv.|"), "read_numbers")) << "it is private";
  EXPECT_EQ(p.offers("Shade.|"), (Names{"Bright", "Dark"}));
  EXPECT_EQ(p.note("Shade.B|", "Bright"), "Bright(amount: f64)");
}

TEST(Completion, NamedArgumentsThatAreLeft) {
  MadePrompt p({"fn train(data: f64[N], steps: int = 10, rate: f64 = 0.1) -> f64 = rate",
                "fn train(name: str, stop: bool) -> int = 1", "struct Model { start: f64, step: f64 }",
                "let x = [1.0, 2.0] as f64[2]", "use csv"});
  EXPECT_EQ(p.errors, "");
  EXPECT_EQ(p.note("train(x, st|", "steps:"), "int = 10");
  EXPECT_TRUE(has(p.offers("train(x, st|"), "stop:")) << "of the other overload";
  EXPECT_FALSE(has(p.offers("train(x, st|"), "start:"));
  EXPECT_EQ(p.offers("train(x, steps: 3, |"), Names{"rate:"});
  EXPECT_EQ(p.offers("train(data: x, steps: 3, ra|"), Names{"rate:"});
  EXPECT_EQ(p.offers("train(x, steps: 3, rate: 1, |"), Names{});
  EXPECT_TRUE(has(p.offers("x.train(ra|"), "rate:"));
  EXPECT_FALSE(has(p.offers("x.train(da|"), "data:")) << "the receiver";
  EXPECT_EQ(p.offers("Model(start: 1, |"), Names{"step:"});
  EXPECT_TRUE(has(p.offers("sum(x, ov|"), "over:"));
  EXPECT_TRUE(has(p.offers("csv.read(\"a\", sk|"), "skip:"));
  EXPECT_FALSE(has(p.offers("train(x, 1 + st|"), "steps:")) << "not at the begin of an argument";
  EXPECT_FALSE(has(p.offers("train(x, (st|"), "steps:"));
  EXPECT_FALSE(has(p.offers("train(x, [st|"), "steps:"));
  EXPECT_FALSE(has(p.offers("train(x, 1) + st|"), "steps:"));
  EXPECT_FALSE(has(p.offers("fn train(st|"), "steps:"));
}

/// A folder with files, as the folder at hand.
class CompletionOfPaths : public testing::Test {
protected:
  CompletionOfPaths() : before_(fs::current_path()), folder_(fs::temp_directory_path() / "melix_paths") {
    fs::remove_all(folder_);
    fs::create_directories(folder_ / "data" / "deep");
    for (const char* name : {"data/table.csv", "data/two words.csv", "data/q\"{uote}.csv", "data/b\xff.csv",
                             "data/new\nline.csv", ".hidden"})
      std::ofstream(folder_ / name) << "1\n";
    fs::current_path(folder_);
    if (const char* old = std::getenv("HOME")) home_ = old;
    setenv("HOME", folder_.c_str(), 1);
  }
  ~CompletionOfPaths() override {
    setenv("HOME", home_.c_str(), 1);
    fs::current_path(before_);
    fs::remove_all(folder_);
  }
  const fs::path before_, folder_;
  std::string home_;
};

TEST_F(CompletionOfPaths, StandInTextsOfParametersThatArePaths) {
  MadePrompt p(
      {"use csv", "use files.{read}", "fn load(file: str) -> int = 1", "fn greet(name: str) -> int = 1"});
  EXPECT_EQ(p.errors, "");
  EXPECT_EQ(p.offers("csv.read(\"da|"), Names{"data/"});
  EXPECT_EQ(p.offers("read(\"data/ta|"), Names{"table.csv"}) << "a folder at a time";
  EXPECT_EQ(p.completed("read(\"data/ta", 13).begin, 11U);
  EXPECT_EQ(p.offers("load(file: \"data/tw|"), Names{"two words.csv"});
  EXPECT_EQ(p.offers("\"data/ta\".csv|"), Names{});
  EXPECT_EQ(p.offers("read(\"data/q|"), Names{"q\\\"{{uote}}.csv"});
  EXPECT_EQ(p.offers("read(\"data/q\\\"{{|"), Names{"q\\\"{{uote}}.csv"});
  EXPECT_EQ(p.offers("read(r\"data/t|"), (Names{"table.csv", "two words.csv"}));
  EXPECT_EQ(p.offers("read(\"data/n|"), Names{}) << "no text has that name";
  EXPECT_EQ(p.offers("read(\"nowhere/|"), Names{});
  EXPECT_EQ(p.offers("read(\"|"), Names{"data/"}) << "hidden files only after a point";
  EXPECT_EQ(p.offers("read(\".|"), Names{".hidden"});
}

TEST_F(CompletionOfPaths, StandNowhereElse) {
  MadePrompt p({"use csv", "fn greet(name: str) -> int = 1"});
  for (const char* text :
       {"greet(\"da|", "\"da|", "print(\"da|", "csv.read(\"a\" + \"da|", "csv.read(\"{1}da|",
        "csv.write(\"a\", \"da|", "csv.read(\"a\", skip: \"da|", "[\"da|", "csv.nowhere(\"da|"})
    EXPECT_EQ(p.offers(text), Names{}) << text;
}

TEST_F(CompletionOfPaths, ATildeIsTheHomeFolder) {
  MadePrompt p({"use csv"});
  EXPECT_EQ(p.offers("csv.read(\"~/data/ta|"), Names{(folder_ / "data/table.csv").string()});
  EXPECT_EQ(p.offers("csv.read(\"~|"), Names{folder_.string() + "/"});
  EXPECT_EQ(p.offers(":load ~/da|"), Names{"data/"});
  EXPECT_EQ(p.offers(":load ~|"), Names{"~/"});
}

TEST_F(CompletionOfPaths, StandAfterCommands) {
  MadePrompt p({"let sample = 1"});
  EXPECT_EQ(p.offers(":load data/tw|"), Names{"two words.csv"});
  EXPECT_EQ(p.offers(":lo|"), Names{":load"});
  EXPECT_EQ(p.offers(":type 1 + samp|"), Names{"sample"});
  EXPECT_EQ(p.completed(":type 1 + samp", 14).begin, 10U);
  EXPECT_EQ(p.offers("?samp|"), Names{"sample"});
  EXPECT_EQ(p.offers(":vars s|"), Names{});
}

TEST(Completion, NothingIsOfferedInTextsCommentsAndNumbers) {
  MadePrompt p({"let abc = [1.0]"});
  for (const char* text :
       {"\"ab|", "\"\"\"ab|", "// ab|", "1 // x.|", "12|", "1.|", "'a|", "\"{1:>|", "abc[0]|", "\"x\"|", ".|",
        "..abc.nothing.|", "unknown.|", "unknown(1).|", ").|", "fn.|"})
    EXPECT_EQ(p.offers(text), Names{}) << text;
  EXPECT_TRUE(has(p.offers("\"ab\" + ab|"), "abc"));
  EXPECT_TRUE(has(p.offers("// ab\nab|"), "abc"));
  EXPECT_TRUE(has(p.offers("\"{ab|"), "abc"));
  EXPECT_TRUE(has(p.offers("0..ab|"), "abc"));
}

TEST(Completion, BytesThatAreNoTextChangeNothing) {
  MadePrompt p({"struct P { first: f64 }", "let p = P(1)"});
  EXPECT_EQ(p.offers("\"\xff\xfe\" + 1\np.fir|"), Names{"first"});
  EXPECT_EQ(p.offers("p.fir|\xff\xff"), Names{"first"});
  EXPECT_EQ(p.completed("p.fir", 1000).candidates.size(), 1U) << "a cursor behind the end";
  std::string zero = "p.f";
  zero.insert(0, 1, '\0');
  p.completed(zero, zero.size());
}

TEST(Completion, NothingRunsAndNothingIsKept) {
  MadePrompt p({"struct P { first: f64 }", "fn make() -> P { panic(\"ran\") }", "var n = 1"});
  EXPECT_EQ(p.offers("make().fir|"), Names{"first"});
  p.offers("let q = make()\nq.fir|");
  p.offers("fn make() -> int = 1\nmake().|");
  p.offers("struct P { other: f64 }\nmake().|");
  EXPECT_EQ(p.errors, "");
  EXPECT_TRUE(p.prompt.enter("fn uses(p: P) -> f64 = p.first + 0 * n_of(p)\nfn n_of(p: P) -> f64 = p.first"));
  EXPECT_EQ(p.errors, "");
  EXPECT_FALSE(p.prompt.enter("q"));
}

TEST(Completion, LargeEntriesAreAnsweredAtOnce) {
  MadePrompt p({"struct P { first: f64 }", "let p = P(1)"});
  std::string numbers = "[", brackets, words, dots = "p", calls;
  while (numbers.size() < 1'000'000) numbers += "1, ";
  brackets.assign(1'000'000, '(');
  while (words.size() < 1'000'000) words += "word" + std::to_string(words.size()) + " ";
  while (dots.size() < 1'000'000) dots += ".first";
  while (calls.size() < 1'000'000) calls += "f(x: ";
  const std::string text = "\"" + std::string(1'000'000, 'a');
  for (const std::string& large : {numbers, brackets, words, dots, calls, text, text + "\n"})
    for (const char* end : {"p.fir", ".", "(", ", fi", " + fir"}) {
      const std::string entry = large + end;
      const auto begin = std::chrono::steady_clock::now();
      p.completed(entry, entry.size());
      EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(1))
          << large.substr(0, 10) << end;
    }
}

TEST(Completion, AnyBytesAreAnswered) {
  MadePrompt p({"struct P { first: f64 }", "let p = P(1)", "fn f(path: str, n: int) -> P = p"});
  const Names pieces = {"p",   ".",    "(",     ")",      "[",   "]",      "{",    "}",      "\"",
                        "\\",  "\n",   " ",     "f",      ",",   ":",      "fn ",  "let ",   "= ",
                        "?",   "@",    "first", "1",      "'",   "//",     "\xff", "=>",     "P",
                        "if ", "for ", "in ",   "match ", "r\"", "\"\"\"", "~/",   ":load ", "+"};
  std::mt19937 random(7);
  for (int round = 0; round < 600; ++round) {
    std::string entry;
    for (size_t k = random() % 14; k > 0; --k) entry += pieces[random() % pieces.size()];
    const size_t cursor = random() % (entry.size() + 1);
    const Completion found = p.completed(entry, cursor);
    ASSERT_LE(found.begin, cursor) << entry;
  }
  EXPECT_EQ(p.errors, "");
  EXPECT_EQ(p.offers("p.fir|"), Names{"first"});
}

} // namespace
} // namespace melix::repl

// `melix kernel` as a process.
#include "repl/piped_melix.h"

#include <random>

namespace melix::repl {
namespace {

class KernelProcess : public testing::Test, protected PipedMelix {
protected:
  KernelProcess() : PipedMelix({"kernel"}) {}

  void execute(int id, const std::string& code) {
    send("{\"id\": " + std::to_string(id) + ", \"do\": \"execute\", \"code\": \"" + code + "\"}\n");
  }
  /// All answers up to the end of an entry, those before it too.
  bool isDone(int id, const std::string& status) {
    return sees("{\"id\":" + std::to_string(id) + ",\"kind\":\"done\",\"status\":\"" + status + "\"");
  }
};

TEST_F(KernelProcess, EntriesKeepVariablesAndShowValues) {
  execute(1, "let x = [[1.0, 2.0], [3.0, 4.0]]");
  execute(2, "print(\\\"one\\\")\\nx + 1");
  execute(3, "y");
  execute(4, "[1, 2][sum([2, 3])]");
  execute(5, "eprint(\\\"e\\\"); fn f() { let unused = 1; 2 }");
  EXPECT_TRUE(isDone(5, "ok")) << all;
  for (const char* part :
       {R"({"id":2,"kind":"text","stream":"stdout","text":"one\n"})",
        R"({"id":2,"kind":"display","mime":"text/plain","data":"f32[2, 2]:\n  2.0  3.0\n  4.0  5.0"})",
        R"({"id":3,"kind":"error","text":"<prompt>:1:1: error: unknown name `y`)",
        R"({"id":3,"kind":"done","status":"error"})", "panic: ", R"({"id":4,"kind":"done","status":"error"})",
        R"({"id":5,"kind":"text","stream":"stderr","text":"e\n)", "[unused-name]"})
    EXPECT_TRUE(contains(all, part)) << part << "\n" << all;
}

TEST_F(KernelProcess, WhatIsPrintedIsSeenWhileTheEntryRuns) {
  execute(1, "print(\\\"early\\\")\\nwhile true { }");
  EXPECT_TRUE(sees("early")) << all;
  EXPECT_FALSE(contains(all, "\"done\""));
  send("{\"id\": 2, \"do\": \"interrupt\"}\n");
  EXPECT_TRUE(isDone(1, "interrupted")) << all;
}

TEST_F(KernelProcess, AnEntryThatRunsIsInterruptedAndChangesNothing) {
  execute(1, "var n = 1");
  execute(2, "n = 2\\nprint(n)\\nwhile true { }");
  EXPECT_TRUE(sees("\"2\\n\"")) << all;
  send("{\"id\": 3, \"do\": \"interrupt\"}\n");
  EXPECT_TRUE(isDone(2, "interrupted")) << all;
  EXPECT_TRUE(isDone(3, "ok")) << all;
  execute(4, "n");
  EXPECT_TRUE(isDone(4, "ok")) << all;
  EXPECT_TRUE(contains(all, R"({"id":4,"kind":"display","mime":"text/plain","data":"1"})")) << all;
}

TEST_F(KernelProcess, SignalsInterruptAndNeverEndIt) {
  execute(1, "1");
  EXPECT_TRUE(isDone(1, "ok")) << all;
  for (int k = 0; k < 3; ++k) interrupt();
  execute(2, "print(\\\"runs\\\")\\nwhile true { }");
  EXPECT_TRUE(sees("runs")) << all;
  for (int k = 0; k < 3; ++k) interrupt();
  EXPECT_TRUE(isDone(2, "interrupted")) << all;
  execute(3, "1 + 1");
  EXPECT_TRUE(isDone(3, "ok")) << all;
}

TEST_F(KernelProcess, InterruptsAtAnyMomentLeaveAllOrNothing) {
  execute(1, "var n = 0\\nvar m = 0");
  EXPECT_TRUE(isDone(1, "ok")) << all;
  std::minstd_rand random(1);
  int finished = 0;
  for (int id = 2; id < 60; ++id) {
    const size_t before = all.size();
    execute(id, "n += 1\\nfor i in 0..20000 { m += i % 3 }\\nm = n");
    usleep(random() % 12'000);
    if (id % 2 == 0)
      interrupt();
    else
      send("{\"id\": 1000, \"do\": \"interrupt\"}\n");
    ASSERT_TRUE(sees("{\"id\":" + std::to_string(id) + ",\"kind\":\"done\"")) << all;
    finished +=
        contains(all.substr(before), "\"id\":" + std::to_string(id) + ",\"kind\":\"done\",\"status\":\"ok\"");
  }
  execute(100, "(n, m)");
  EXPECT_TRUE(isDone(100, "ok")) << all;
  const std::string number = std::to_string(finished);
  EXPECT_TRUE(contains(all, "\"data\":\"(" + number + ", " + number + ")\"")) << finished << all;
}

TEST_F(KernelProcess, QuestionsAreAnsweredWhileAnEntryRuns) {
  execute(
      1,
      "struct Point { east: f64 }\\n/// Doubled.\\nfn twice(a: int) -> int = 2 * a\\nlet point = Point(1)");
  execute(2, "print(\\\"runs\\\")\\nwhile true { }");
  EXPECT_TRUE(sees("runs")) << all;
  send("{\"id\": 3, \"do\": \"complete\", \"code\": \"1 + twi\"}\n"
       "{\"id\": 4, \"do\": \"inspect\", \"code\": \"twice(3)\", \"cursor\": 2}\n"
       "{\"id\": 5, \"do\": \"complete\", \"code\": \"point.\"}\n"
       "{\"id\": 6, \"do\": \"is_complete\", \"code\": \"f(1,\"}\n");
  for (
      const char* part :
      {R"({"id":3,"kind":"done","status":"ok","start":4,"end":7,"matches":["twice"],"signatures":["fn twice(a: int) -> int"]})",
       R"({"id":4,"kind":"done","status":"ok","found":true,"text":"fn twice(a: int) -> int\n\nDoubled.\n"})",
       R"({"id":5,"kind":"done","status":"ok","start":6,"end":6,"matches":["east")",
       R"({"id":6,"kind":"done","status":"ok","completeness":"incomplete"})"})
    EXPECT_TRUE(sees(part)) << part << "\n" << all;
  EXPECT_FALSE(contains(all, "{\"id\":2,\"kind\":\"done\""));
  send("{\"id\": 7, \"do\": \"interrupt\"}\n");
  EXPECT_TRUE(isDone(2, "interrupted")) << all;
}

TEST_F(KernelProcess, QuitEndsIt) {
  send("{\"id\": 1, \"do\": \"quit\"}\n");
  EXPECT_EQ(ends(), 0);
  EXPECT_EQ(all, "{\"id\":1,\"kind\":\"done\",\"status\":\"ok\",\"exit\":0}\n");
}

TEST_F(KernelProcess, TheEndOfTheInputEndsItWhenAllIsAnswered) {
  execute(1, "print(sum(for i in 0..100000: i % 7))");
  send("{\"id\": 2, \"do\": \"is_complete\", \"code\": \"\"}"); // without a newline
  endInput();
  EXPECT_EQ(ends(), 0);
  EXPECT_TRUE(contains(all, R"({"id":2,"kind":"done","status":"ok","completeness":"complete"})")) << all;
}

TEST_F(KernelProcess, NothingRunsOnWithoutAReader) {
  execute(1, "print(\\\"runs\\\")\\nwhile true { }");
  EXPECT_TRUE(sees("runs")) << all;
  endInput();
  endOutput();
  EXPECT_EQ(ends(), 1);
}

TEST_F(KernelProcess, ExitEndsItWithItsStatus) {
  execute(1, "print(\\\"last\\\")\\nexit(3)");
  execute(2, "1");
  EXPECT_EQ(ends(), 3);
  EXPECT_TRUE(contains(all, "last"));
  EXPECT_TRUE(contains(all, R"({"id":1,"kind":"done","status":"ok","exit":3})")) << all;
}

TEST_F(KernelProcess, AnEntryFindsNoInput) {
  execute(1, "read_line()");
  execute(2, "2");
  EXPECT_TRUE(isDone(2, "ok")) << all;
  EXPECT_TRUE(contains(all, R"({"id":1,"kind":"display","mime":"text/plain","data":"None"})")) << all;
}

TEST_F(KernelProcess, BadLinesAreErrorsAndChangeNothing) {
  send("\n\xff\xfe\n{}\n" + std::string(70 << 20, 'x') + "\n");
  execute(1, std::string(1 << 20, ' ') + "5");
  EXPECT_TRUE(isDone(1, "ok")) << all.substr(0, 1000);
  EXPECT_TRUE(contains(all, "a request has at most 64 MiB")) << all.substr(0, 1000);
  EXPECT_TRUE(contains(all, "\"data\":\"5\""));
}

TEST_F(KernelProcess, EndlessRecursionAndMemoryAreErrors) {
  execute(1, "fn f(n: int) -> int = 1 + f(n + 1)");
  execute(2, "f(0)");
  execute(3, "let z: f64[1000000000000000] = zeros()");
  execute(4, "4");
  EXPECT_TRUE(isDone(2, "error")) << all;
  EXPECT_TRUE(isDone(3, "error")) << all;
  EXPECT_TRUE(isDone(4, "ok")) << all;
}

TEST_F(KernelProcess, ATypeHasPictures) {
  execute(1, "struct Disc { r: f64 }\\nfn svg(d: Disc) -> str = r#\\\"<svg/>\\\"#\\n"
             "fn png(d: Disc) -> u8[_] = [137, 80, 78]");
  execute(2, "Disc(2)");
  execute(3, "fn svg(d: Disc) -> str = panic(\\\"no ink\\\")");
  execute(4, "Disc(3)");
  EXPECT_TRUE(isDone(4, "ok")) << all;
  for (const char* part : {R"j({"id":2,"kind":"display","mime":"text/plain","data":"Disc(r: 2.0)"})j",
                           R"j({"id":2,"kind":"display","mime":"image/svg+xml","data":"<svg/>"})j",
                           R"j({"id":2,"kind":"display","mime":"image/png","data":"iVBO"})j", "no ink"})
    EXPECT_TRUE(contains(all, part)) << part << "\n" << all;
}

TEST_F(KernelProcess, LoopsTellTheirProgress) {
  execute(1, "use progress\\nuse progress.{note}\\n"
             "for i in progress(0..3, \\\"epoch 1\\\") { note(\\\"loss {i}\\\") }");
  EXPECT_TRUE(isDone(1, "ok")) << all;
  EXPECT_TRUE(contains(all, R"("kind":"progress","label":"epoch 1","done":0,"total":3,)")) << all;
  EXPECT_TRUE(contains(all, R"("kind":"progress","label":"epoch 1","done":3,"total":3,)")) << all;
  EXPECT_TRUE(contains(all, R"("note":"loss 2","ended":true})")) << all;
}

} // namespace
} // namespace melix::repl

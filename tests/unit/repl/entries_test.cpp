// How entries run: compiled or interpreted, interrupted or not, they give the same.
#include "harness/process.h"
#include "repl/piped_melix.h"

#include <fstream>
#include <random>

namespace melix::repl {
namespace {

/// What `melix repl` writes for a text, errors too.
std::string repl(const std::string& way, const std::string& input) {
  const std::string path = "/tmp/melix_entries_" + std::to_string(getpid());
  std::ofstream(path) << input;
  const harness::ProcessResult r = harness::runProcess(
      {"/bin/sh", "-c", "MELIX_STATS=1 " MELIX_BINARY_DIR "/melix repl " + way + " < " + path + " 2>&1"});
  unlink(path.c_str());
  EXPECT_EQ(r.status, 0);
  EXPECT_TRUE(contains(r.output, "live blocks 0")) << way << "\n" << r.output;
  return r.output.substr(0, r.output.find("melix: live blocks"));
}

/// The text of entries, which is the same however they run.
std::string sameInAllWays(const std::string& input) {
  const std::string interpreted = repl("--interpret", input);
  EXPECT_EQ(repl("--compile", input), interpreted);
  EXPECT_EQ(repl("", input), interpreted);
  return interpreted;
}

TEST(Entries, LoopsOverVariables) {
  EXPECT_EQ(sameInAllWays("var t = 0\nfor i in 0..1000000 { t += i }\nt\n"), "499999500000\n");
  EXPECT_EQ(
      sameInAllWays("var xs = [1.0, 2.0]\nlet ys = xs\nfor i in 0..100000 { xs[i % 2] += 1.0 }\nxs\nys\n"),
      "[50001.0, 50002.0]\n[1.0, 2.0]\n");
  EXPECT_EQ(sameInAllWays("let a = zeros(300, 300) + (2.0 as f32)\nlet b = a @ a\nb[3, 4]\n(b - a)[0, 0]\n"),
            "1200.0\n1198.0\n");
}

TEST(Entries, ValuesOfAllTypesGoThroughCode) {
  const std::string input = "struct P { a: f64, name: str }\n"
                            "enum Shape {\n  Dot\n  Circle(r: f64)\n  Both(left: P, right: P)\n}\n"
                            "enum Tree {\n  Leaf(int)\n  Node(List[Tree])\n}\n"
                            "fn count(n: int) -> int {\n  var s = 0\n  for i in 0..n { s += 1 }\n  s\n}\n"
                            "let ps = [P(1.0, \"one\"), P(2.0, \"two\")]\n"
                            "let shapes = [Dot, Circle(2.0), Both(ps[0], ps[1])]\n"
                            "var tree = Node([Leaf(1), Node([]), Leaf(2)])\n"
                            "let rows: f64[_][2] = [[1, 2, 3], [4, 5]]\n"
                            "var words = [\"a\", \"\", \"ccc\"]\n"
                            "var d: Dict[str, int] = Dict()\n"
                            "for i in 0..20000 { d[\"k{i % 3}\"] = i }\n"
                            "for i in 0..20000 { if i % 5000 == 0 { tree = Node([tree, Leaf(i)]) } }\n"
                            "for i in 0..20000 { words[i % 3] = \"{words[i % 3].len()}\" }\n"
                            "let nothing = ()\n"
                            "let many = [for i in 0..40000: P(i as f64, \"x\")]\n"
                            "let few = [for p in many if p.a > 39997.0: p]\n"
                            "(count(30000), ps, shapes, rows, true, 'c', 3 as u8, 1.5 as f16)\n"
                            "tree\nd\nwords\nfew\nshapes[2]\nSome(rows[1])\nmany[5]\nlist(words)\nnothing\n";
  const std::string out = sameInAllWays(input);
  EXPECT_TRUE(contains(out, "P(a: 39999.0, name: \"x\")")) << out;
}

TEST(Entries, APanicLeavesAllAsItWas) {
  const std::string out = sameInAllWays("var xs = [1.0, 2.0, 3.0]\nvar n = 0\n"
                                        "fn check(k: int) -> int {\n  var s = 0\n  for i in 0..30000 { s += "
                                        "1 }\n  assert k < 3, \"{k} is too much\"\n  s\n}\n"
                                        "for i in 0..100000 {\n  n += 1\n  xs[n / 20000] += 1.0\n}\n"
                                        "xs\nn\ncheck(2)\ncheck(5)\nlet z = check(1) + check(7)\nz\nfn "
                                        "twice() -> int = check(9) + 1\ntwice()\n");
  EXPECT_TRUE(contains(out, "index 3 is out of range")) << out;
  EXPECT_TRUE(contains(out, "[1.0, 2.0, 3.0]\n0\n30000\n")) << out;
  EXPECT_TRUE(contains(out, "  assert k < 3, \"{k} is too much\"\n  at check (<prompt>:4)\n")) << out;
  EXPECT_TRUE(contains(out, "  at twice (<prompt>:1)\n")) << out;
}

TEST(Entries, WhatIsRedefinedIsCompiledAnew) {
  EXPECT_EQ(sameInAllWays("fn step(i: int) -> int = i\n"
                          "fn total(n: int) -> int {\n  var s = 0\n  for i in 0..n { s += step(i) }\n  s\n}\n"
                          "total(20000)\nfn step(i: int) -> int = 2 * i\ntotal(20000)\n"
                          "fn step(i: int) -> int = i\ntotal(20000)\n"),
            "199990000\n399980000\n199990000\n");
}

TEST(Entries, RecursionWithoutEndAndMemoryThatIsNotThere) {
  const std::string out = repl("", "let x = 1\nfn down(n: int) -> int = 1 + down(n + 1)\ndown(0)\n"
                                   "let big = zeros(1000000, 1000000, 1000)\nx + 1\n");
  EXPECT_TRUE(contains(out, "stack overflow")) << out;
  EXPECT_TRUE(contains(out, "out of memory") || contains(out, "too large")) << out;
  EXPECT_TRUE(out.ends_with("\n2\n")) << out;
}

TEST(Entries, TimesAreTold) {
  const std::string out = repl("", "var k = 0\n:time for i in 0..1000 { k += i }\nk\n:time 1 + 1\n");
  EXPECT_TRUE(contains(out, "0 allocations (compiled in ")) << out;
  EXPECT_TRUE(contains(out, "\n499500\n2\n")) << out;
  EXPECT_TRUE(contains(out, "(median of ")) << out;
}

TEST(Entries, StagesAreShown) {
  const std::string out =
      repl("", "fn f(x: f64) -> f64 = x * x\nlet y = 2.0\n:show core f\n:show opt f(y as f64)\n:show asm f\n"
               ":show grad grad(f)(3.0)\n:show what f\n:show core\n:show core g(1)\n");
  EXPECT_TRUE(contains(out, "fn f (%x: f64) -> (f64)")) << out;
  EXPECT_TRUE(contains(out, "vmulsd")) << out;
  EXPECT_TRUE(contains(out, "there is no stage `what`, only ast, expand, core,")) << out;
  EXPECT_TRUE(contains(out, "`:show` wants")) << out;
  EXPECT_TRUE(contains(out, "unknown name `g`")) << out;
}

TEST(Entries, WithoutRollbackAFailedUpdateLosesTheVariable) {
  const std::string code = "var xs = [for i in 0..100: 0.0]\nlet ys = xs\n"
                           "for i in 0..100000 { xs[if i < 50000 { 0 } else { i }] += 1.0 }\n";
  EXPECT_TRUE(repl("", ":rollback off\n" + code + "xs[0]\n").ends_with("\n0.0\n")) << "shared with ys";
  const std::string out = repl("", ":rollback off\nvar zs = [for i in 0..100: 0.0]\n"
                                   "for i in 0..100000 { zs[i % 100] += 1.0 }\nzs[5]\n"
                                   "for i in 0..100000 { zs[i] += 1.0 }\nzs\n:rollback on\n");
  EXPECT_TRUE(contains(out, "1000.0\n")) << out;
  EXPECT_TRUE(contains(out, "`zs` is lost: ")) << out;
  EXPECT_TRUE(contains(out, "unknown name `zs`")) << out;
}

/// `melix repl` that is interrupted.
class InterruptedEntries : public testing::Test, protected PipedMelix {
protected:
  InterruptedEntries() : PipedMelix({"repl"}) {}

  /// What is written until the entries so far are done. A signal before an entry begins does not stop it, so
  /// another one is sent after a second.
  std::string settle() {
    const std::string mark = "<" + std::to_string(++marks_) + ">\n";
    all.clear();
    send("print(\"" + mark.substr(0, mark.size() - 1) + "\")\n");
    for (int k = 0; k < 20 && !sees(mark, std::chrono::seconds(1)); ++k) interrupt();
    EXPECT_TRUE(contains(all, mark)) << all;
    return all.substr(0, all.find(mark));
  }

private:
  int marks_ = 0;
};

TEST_F(InterruptedEntries, LeaveAllOrNothing) {
  send("var xs = [for i in 0..1000: 0]\nvar words: List[str] = []\n"
       "fn fib(n: int) -> int = if n < 2 { n } else { fib(n - 1) + fib(n - 2) }\n");
  settle();
  const std::vector<std::string> entries = {
      "for k in 0..3000, i in 0..1000 { xs[i] += 1 }\n",
      "for i in 0..60000 { words.push(\"w{i}\") }\n",
      "for i in 0..1000 { xs[i] += fib(27) - 196417 }\n",
      "let m = [for i in 0..700, j in 0..700: ((i * j) % 7) as f32]\nlet p = m @ m @ m\n",
      "while true { xs[0] += 1 }\n",
  };
  std::minstd_rand random(7);
  for (int k = 0; k < 200; ++k) {
    const std::string& entry = entries[random() % entries.size()];
    send(entry);
    usleep(random() % 30'000);
    interrupt();
    settle();
    send("(xs[0] - xs[999], words.len() % 60000)\n");
    const std::string state = settle();
    // A signal that comes while the prompt waits for a line ends that line.
    const bool isWhole = state.ends_with("(0, 0)\n");
    EXPECT_TRUE(isWhole) << k << ": " << entry << state;
    if (!isWhole) break;
  }
  endInput();
  EXPECT_EQ(ends(), 0);
}

} // namespace
} // namespace melix::repl

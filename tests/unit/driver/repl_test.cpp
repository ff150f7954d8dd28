// The prompt: entries on standard input, which is no terminal, so only answers are printed.
#include "driver/melix_process.h"

#include <gtest/gtest.h>

namespace melix::driver {
namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::string answers(const std::string& input) {
  harness::ProcessResult r = melix("repl", input);
  EXPECT_EQ(r.status, 0);
  EXPECT_EQ(r.errors, "");
  return r.output;
}

TEST(Repl, ShowsValuesAndKeepsVariables) {
  EXPECT_EQ(answers("1 + 2\nlet x = 4\nx * x\n"), "3\n16\n");
  EXPECT_EQ(answers("let a = [1.0, 2.0]\nlet b = a + a\nb\n"), "[2.0, 4.0]\n");
}

TEST(Repl, EffectsHappenOnce) { EXPECT_EQ(answers("print(\"once\")\nlet x = 1\nx\n"), "once\n1\n"); }

TEST(Repl, VariablesChangeInPlace) {
  EXPECT_EQ(answers("var n = 1\nn += 5\nn\n"), "6\n");
  EXPECT_EQ(answers("var xs: List[int] = []\npush(&xs, 3)\npush(&xs, 4)\nxs\n"), "[3, 4]\n");
}

TEST(Repl, DefinitionsAreKeptAndRedefined) {
  EXPECT_EQ(answers("fn f(x: int) -> int = x + 1\nfn g(x: int) -> int = f(x) * 10\ng(1)\nfn f(x: int) -> int "
                    "= x + 2\ng(1)\n"),
            "20\n30\n");
  EXPECT_EQ(answers("struct P { x: int }\nlet p = P(3)\np.x\np\n"), "3\nP(x: 3)\n");
}

TEST(Repl, EntriesGoOnUntilTheyAreComplete) {
  EXPECT_EQ(answers("fn f(x: int) -> int {\n  x + 1\n}\nf(1 +\n2)\n"), "4\n");
}

TEST(Repl, ErrorsAndPanicsChangeNothing) {
  harness::ProcessResult r = melix("repl", "let x = 1\nlet x = nothing\nlet y = [1, 2][5 * x]\nx\n");
  EXPECT_EQ(r.status, 0);
  EXPECT_EQ(r.output, "1\n");
  EXPECT_TRUE(contains(r.errors, "<prompt>:1:")) << r.errors;
  EXPECT_TRUE(contains(r.errors, "panic: ")) << r.errors;
}

TEST(Repl, ARedefinitionThatBreaksACallerIsRefused) {
  harness::ProcessResult r =
      melix("repl", "fn f(x: int) -> int = x\nfn g() -> int = f(1)\nfn f(x: str) -> str = x\ng()\n");
  EXPECT_EQ(r.output, "1\n");
  EXPECT_TRUE(contains(r.errors, "error: ")) << r.errors;
}

TEST(Repl, ConstantsAreKeptBesideVariables) {
  EXPECT_EQ(answers("let f = sin\nlet n = 1\nconst c = 4\nc\nlet z: f32[c] = ones()\nz\n"),
            "4\n[1.0, 1.0, 1.0, 1.0]\n");
}

TEST(Repl, SizesThatATypeNamesAreKept) {
  EXPECT_EQ(answers("let x: f32[?N] = [1.0, 2, 3][[true, false, true]]\nN\nlet y: f32[N] = ones()\nx + y\n"),
            "2\n[2.0, 4.0]\n");
}

TEST(Repl, SizesAreKnownAfterwards) {
  EXPECT_EQ(answers("let xs = [for i in 0..5 if i % 2 == 0: i]\nlet ys = [10, 20, 30]\nxs + ys\n"),
            "[10, 22, 34]\n");
}

TEST(Repl, GradientsWork) { EXPECT_EQ(answers("fn f(x: f32) -> f32 = x * x * x\ngrad(f)(2.0)\n"), "12.0\n"); }

TEST(Repl, FunctionsSeeVariablesAsTheyAre) {
  EXPECT_EQ(answers("let k = 3\nfn f(x: int) -> int = x * k\nfn g(x) = f(x) + k\ng(4)\nlet k = 5\ng(4)\n"),
            "15\n25\n");
  EXPECT_EQ(
      answers("let k = 2\nfn f(x: int) -> int = x * k\nfn g(x) = f(x) + k\nfn f(x: int) -> int = k\ng(4)\n"),
      "4\n");
  EXPECT_EQ(answers("let xs = [1.0, 2.0]; fn total(y) = sum(xs) * y\ngrad(total)(1.0)\n"), "3.0\n");
}

TEST(Repl, FunctionsDoNotSeeVars) {
  EXPECT_TRUE(contains(melix("repl", "var k = 3\nfn f(x: int) -> int = x * k\n").errors, "[script-var]"));
}

TEST(Repl, ExitEndsWithItsNumber) { EXPECT_EQ(melix("repl", "exit(3)\nprint(1)\n").status, 3); }

} // namespace
} // namespace melix::driver

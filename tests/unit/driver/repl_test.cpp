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

TEST(Repl, AMatrixIsARowALineUnderItsType) {
  EXPECT_EQ(answers("[[1, 20], [3, 4]]\n([[1, 2], [3, 4]], \"a\")\n[[\"a\"], [\"b\"]]\n"),
            "int[2, 2]:\n  1  20\n  3   4\n([[1, 2], [3, 4]], \"a\")\nstr[2, 1]:\n  \"a\"\n  \"b\"\n");
  EXPECT_EQ(answers("[for i in 0..2, j in 0..200: 10 * j]\n"),
            "int[2, 200]:\n"
            "  0  10  20  30  40  50  60  70  …  1930  1940  1950  1960  1970  1980  1990\n"
            "  0  10  20  30  40  50  60  70  …  1930  1940  1950  1960  1970  1980  1990\n");
}

TEST(Repl, LongArraysAreCutUnderTheirType) {
  EXPECT_EQ(answers("[for i in 0..1000: i * 0.5]\n"),
            "f32[1000]:\n  0.0  0.5  1.0  1.5  2.0  2.5  3.0  …  497.0  497.5  498.0  498.5  499.0  499.5\n");
  EXPECT_EQ(
      answers("list([for i in 0..200: i])\n"),
      "List[int] of 200:\n  0  1  2  3  4  5  6  7  8  9  …  191  192  193  194  195  196  197  198  199\n");
  EXPECT_EQ(answers("let z: f32[0, 3] = zeros()\nz\n[for i in 0..2, j in 0..1, k in 0..2: 10 * i + k]\n"),
            "f32[0, 3]: (empty)\nint[2, 1, 2]:\n[0, :, :]\n  0  1\n[1, :, :]\n  10  11\n");
}

TEST(Repl, RaggedArraysHaveARowALine) {
  EXPECT_EQ(answers("let r: int[_][3] = [for i in 0..3: [for j in 0..i: j]]\nr\n"), "[[], [0], [0, 1]]\n");
  EXPECT_EQ(answers("let r: f64[_][2] = [for i in 0..2: [for j in 0..i * 30: 1.0 / 3]]\nr\n"),
            "f64[_][2]:\n  []\n  f64[30]:\n"
            "    0.333333  0.333333  0.333333  0.333333  …  0.333333  0.333333  0.333333\n");
}

TEST(Repl, FloatsInArraysHaveSixDigits) {
  EXPECT_EQ(answers("[[1.0 / 3, nan], [-12, inf]]\n[0.5, 1.0 / 3]\n1.0 / 3\n"),
            "f32[2, 2]:\n    0.3333  nan\n  -12.0000  inf\n[0.5, 0.333333]\n0.33333334\n");
  EXPECT_EQ(answers(":digits 3\n[[1.0 / 3]]\n[1e-9 * [[1.0, 2.0]], 1e9 * [[1.0, 2.0]]]\n"),
            "f32[1, 1]:\n  0.333\nf32[2, 1, 2]:\n[0, :, :]\n  1.00e-09  2.00e-09\n[1, :, :]\n  1.00e+09  "
            "2.00e+09\n");
}

TEST(Repl, LongRecordsHaveAPartALine) {
  EXPECT_EQ(answers("struct Layer { w: f32[2, 3], name: str }\nLayer(ones(), \"a\")\n"),
            "Layer(w: [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]], name: \"a\")\n");
  EXPECT_EQ(answers("struct Layer { w: f32[4, 8], name: str }\nSome(Layer(ones(), \"a\"))\n"),
            "Some(\n  Layer(\n    w: f32[4, 8]:\n      1.0  1.0  1.0  1.0  1.0  1.0  1.0  1.0\n"
            "      1.0  1.0  1.0  1.0  1.0  1.0  1.0  1.0\n      1.0  1.0  1.0  1.0  1.0  1.0  1.0  1.0\n"
            "      1.0  1.0  1.0  1.0  1.0  1.0  1.0  1.0\n    name: \"a\"\n  )\n)\n");
  // A chain of any length is cut, and costs no stack.
  EXPECT_LT(
      answers("enum C {\n  End\n  Link(C)\n}\nvar c: C = End\nfor i in 0..20000 { c = Link(c) }\nc\n").size(),
      40'000u);
}

TEST(Repl, CommandsTellOfNamesAndTypes) {
  EXPECT_EQ(answers("let x = [1.0, 2.0]\nvar n = 3\n:type x + n\n:vars\n?x\n"),
            "f32[2]\nlet x: f32[2]\nvar n: int\nx: f32[2]\n");
  EXPECT_EQ(answers("/// Twice `a`.\nfn twice(a: int) -> int = 2 * a\n?twice\n"),
            "fn twice(a: int) -> int\n\nTwice `a`.\n");
  EXPECT_EQ(answers("struct P { a: int }\nP\n:doc P\n"), "struct P { a: int }\nstruct P { a: int }\n");
  EXPECT_TRUE(contains(answers("?softmax\n"), "fn softmax[T: Float]("));
  EXPECT_TRUE(contains(answers("?argmax\n"), "fn argmax(x: T[..S], over: Axis) -> int[..]\n\nindex of"));
  EXPECT_TRUE(contains(answers("use nn\n?nn.init\n"), "fn init[T](k: Key) -> T"));
  EXPECT_TRUE(contains(answers(":help\n"), ":load FILE"));
}

TEST(Repl, AQuestionMarkGivesTheValueOrEndsTheEntry) {
  const std::string f =
      "fn f(x: int) -> Result[int, str] = if x > 0 { Ok(x) } else { Err(\"not positive\") }\n";
  EXPECT_EQ(answers(f + "f(3)?\nlet a = f(2)? + 1\na\n[for i in 1..4: f(i)?]\nSome(3)?\n"),
            "3\n3\n[1, 2, 3]\n3\n");
  const harness::ProcessResult r =
      melix("repl", f + "var n = 1\nn = f(0)?\nn\nlet o: Option[int] = None\no?\nuse csv\nlet t: f64[_, _] = "
                        "csv.read(\"nowhere.csv\")?\nfn g(x: int) -> int = f(x)?\n");
  EXPECT_EQ(r.output, "1\n");
  for (const char* part :
       {"panic: not positive", "panic: there is no value", "panic: cannot read `nowhere.csv`",
        "`?` on `Result[int, str]` needs a function that returns a Result"})
    EXPECT_TRUE(contains(r.errors, part)) << part << "\n" << r.errors;
}

TEST(Repl, QuitEndsItUnlessThatIsAName) {
  EXPECT_EQ(answers("1\nquit\n2\n"), "1\n");
  EXPECT_EQ(answers("let quit = 5\nquit\n:quit\n6\n"), "5\n");
}

TEST(Repl, ResetForgetsAll) {
  const harness::ProcessResult r = melix("repl", "let x = 1\nfn f() -> int = 2\n:reset\nx\nf()\n3\n");
  EXPECT_EQ(r.output, "3\n");
  EXPECT_TRUE(contains(r.errors, "unknown name `x`")) << r.errors;
}

TEST(Repl, WrongCommandsAreToldAndDoNothing) {
  for (const auto& [line, part] : std::vector<std::pair<std::string, std::string>>{
           {":nothing", "there is no command `:nothing`"},
           {":digits many", "a number from 1 to 17"},
           {":digits", "`:digits` wants N"},
           {":vars x", "`:vars` takes nothing"},
           {":load nowhere.mlx", "cannot read `nowhere.mlx`"},
           {":type x +", "expected an expression"},
           {"?nowhere", "nothing here has the name `nowhere`"}}) {
    const harness::ProcessResult r = melix("repl", line + "\n7\n");
    EXPECT_EQ(r.output, "7\n") << line;
    EXPECT_TRUE(contains(r.errors, part)) << line << "\n" << r.errors;
  }
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

TEST(Repl, WhatIsAskedForIsTheNextLine) {
  EXPECT_EQ(answers("let a = read_line()\nhello\nlet b = (read_line(), read_line())\n1 + \nx y\n(a, b)\n"),
            "(Some(\"hello\"), (Some(\"1 + \"), Some(\"x y\")))\n");
}

TEST(Repl, EntriesGoOnUntilTheyAreComplete) {
  EXPECT_EQ(answers("fn f(x: int) -> int {\n  x + 1\n}\nf(1 +\n2)\n"), "4\n");
}

TEST(Repl, AUseOfAMacroWaitsForItsDeclaration) {
  const std::string ways =
      "fn ways(n: int) -> int {\n  if n < 2 { 1 } else { ways(n - 1) + ways(n - 2) }\n}\n";
  EXPECT_EQ(answers("use meta.{memo}\n@memo\n" + ways + "ways(50)\n"), "20365011074\n");
  EXPECT_EQ(answers("use meta\n@meta.memo\n\n" + ways + "ways(50)\n"), "20365011074\n");
  EXPECT_EQ(answers("use meta.{derive}\n@derive(equals, to_json)\nstruct P { x: int }\nP(1).to_json()\n"),
            "\"{\\\"x\\\":1}\"\n");
  EXPECT_EQ(
      answers(
          "use meta.{count, Counter}\n@count(1 + 2)\n@count\nfn f(x: int) -> int = x * x\n@count(f(3))\n"),
      "(3, 1)\n(9, 1)\n")
      << "what stands for itself waits for nothing";
}

TEST(Repl, WhatMacrosDeclareStandsBesideAndIsReplaced) {
  const std::string mk = "macro mk(n: Ident, v: int) -> Item { quote { fn $n() -> int = $v } }\n";
  EXPECT_EQ(answers(mk + "@mk(k, 1)\nk()\n@mk(k, 100)\nk()\nfn k() -> int = 7\nk()\n@mk(k, 3)\nk()\n"),
            "1\n100\n7\n3\n");
  EXPECT_EQ(answers("use meta.{derive}\n@derive(equals)\nstruct P { x: int }\n@derive(equals)\n"
                    "enum E { A, B(P) }\nE.A.equals(B(P(1)))\nP(1).equals(P(1))\n"),
            "false\ntrue\n");
  EXPECT_EQ(answers("use meta.{interval, Interval}\n@interval\nfn f(x: f64) -> f64 { x * x }\n"
                    "let x = 3\nfn lo(x: Interval) -> f64 = x.lo\nlo(f(Interval(2, 3)))\nf(2)\n"),
            "4.0\n4.0\n");
}

TEST(Repl, BlankLinesStandInsideOfEntries) {
  EXPECT_EQ(answers("fn f(x: int) -> int {\n  let y = x\n\n  y + 1\n}\nf(3)\n"), "4\n");
  EXPECT_EQ(answers("[1,\n\n2]\n1 +\n\n  \n2\n\n\n7\n"), "[1, 2]\n3\n7\n");
}

TEST(Repl, TheEndOfTheInputTellsWhatIsOpen) {
  harness::ProcessResult r = melix("repl", "1\n[1,\n\n2\n");
  EXPECT_EQ(r.output, "1\n");
  EXPECT_TRUE(contains(r.errors, "error: ")) << r.errors;
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
      melix("repl", "fn f(x: int) -> int = x\nfn g() -> int = f(1)\nfn f(x: int) -> str = \"a\"\ng()\n");
  EXPECT_EQ(r.output, "1\n");
  EXPECT_TRUE(contains(r.errors, "error: ")) << r.errors;
}

TEST(Repl, ConstantsAndTypesAreRedefined) {
  EXPECT_EQ(answers("const m = 3\nfn g() = m * 2\ng()\nconst m = 5\ng()\n"), "6\n10\n");
  EXPECT_EQ(answers("const a = 1\nconst b = a + 1\nfn f() = b\nf()\nconst a = 10\nf()\nb\n"), "2\n11\n11\n");
  EXPECT_EQ(answers("type T = f32[2]\nfn t() -> T = ones()\nt()\ntype T = f32[3]\nt()\n"),
            "[1.0, 1.0]\n[1.0, 1.0, 1.0]\n");
  EXPECT_EQ(
      answers("struct S { a: int }\nfn sq(s: S) -> int = s.a\nstruct S { a: int, b: int }\nsq(S(1, 2))\n"
              "S(3, 4).sq()\n"),
      "1\n3\n");
  EXPECT_EQ(answers("enum E { A, B }\nfn e(x: E) = match x { A => 1, _ => 2 }\nenum E { A, B, C }\ne(C)\n"),
            "2\n");
  EXPECT_EQ(
      answers("struct Box[T] { v: T }\nfn open[T](b: Box[T]) -> T = b.v\nstruct Box[T] { v: T, n: int }\n"
              "open(Box(2.5, 1))\n"),
      "2.5\n");
}

TEST(Repl, TypesFollowTheConstantsInThem) {
  EXPECT_EQ(answers("const n = 2\nstruct P { a: f32[n] }\nfn make() = P(ones())\nconst n = 3\nmake()\n"),
            "P(a: [1.0, 1.0, 1.0])\n");
}

TEST(Repl, MethodsFollowTheirTypeIntoAnotherEntry) {
  EXPECT_EQ(answers("struct V { a: int }; fn +(x: V, y: V) -> V = V(x.a + y.a)\n"
                    "fn +(x: V, y: V) -> V = V(x.a * y.a)\nfn f() = V(2) + V(3)\nf()\n"),
            "V(a: 6)\n");
}

TEST(Repl, ValuesKeepTheTypeThatWasRedefined) {
  harness::ProcessResult r = melix("repl", "struct S { a: int }\nfn sq(s: S) -> int = s.a\nlet s = S(1)\n"
                                           "struct S { a: int, b: int }\ns\ns.a\nsq(s)\nlet t: S = s\n");
  EXPECT_EQ(r.output, "S(a: 1)\n1\n");
  EXPECT_TRUE(contains(r.errors, "`sq` expects `S`, got `S (redefined since)`")) << r.errors;
  EXPECT_TRUE(contains(r.errors, "expected `S`, got `S (redefined since)`")) << r.errors;
}

TEST(Repl, ATypeThatNothingRedefinesStays) {
  EXPECT_EQ(
      answers("const n = 2\nstruct S { n: int }\nlet s = S(1)\nfn f(s: S) = s.n + n\nconst n = 3\nf(s)\n"),
      "4\n");
}

TEST(Repl, ARefusedTypeLeavesTheOldOne) {
  harness::ProcessResult r =
      melix("repl", "struct S { a: int }\nfn make() = S(1)\nstruct S { a: int, b: int }\n"
                    "make()\nlet s: S = make()\ns\n");
  EXPECT_EQ(r.output, "S(a: 1)\nS(a: 1)\n");
  EXPECT_TRUE(contains(r.errors, "`S` stays as it was: what uses it would no longer check")) << r.errors;
}

TEST(Repl, DeclarationsAndVariablesTakeNamesFromEachOther) {
  EXPECT_EQ(answers("let k = 3\nfn g() = k\nconst k = 5\nk\ng()\n"), "5\n5\n");
  EXPECT_EQ(answers("const c = 3\nfn g() = c + 1\nlet c = c + 1\nc\ng()\nfn h() = 1\nfn h() = 2\ng()\n"),
            "4\n5\n5\n");
}

TEST(Repl, NamesOfThePreludeAreHidden) {
  EXPECT_EQ(answers("fn f(x: f32) = relu(x)\nf(-1.0)\nfn relu(x: f32) = 7.0\nf(-1.0)\n"), "0.0\n7.0\n");
}

TEST(Repl, AWarningIsGivenOnce) {
  harness::ProcessResult r = melix("repl", "fn g() = 2\nfn f() { let idle = 1; g() }\nfn g() = 3\nf()\n");
  EXPECT_EQ(r.output, "3\n");
  EXPECT_EQ(r.errors.find("warning"), r.errors.rfind("warning")) << r.errors;
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

TEST(Repl, FunctionsShowTheirSignature) {
  EXPECT_EQ(answers("fn f(x: int) -> int = x + 1\nf\nlet g = f\ng\nfn half(x) {\n  x / 2\n}\nhalf\n"),
            "fn f(x: int) -> int\nfn f(x: int) -> int\nfn half(x)\n");
  EXPECT_EQ(answers("x => x + 1\nfn f(x: f32) = x\ngrad(f)\n(1, f)\n"),
            "function\nfunction\n(1, function)\n");
}

TEST(Repl, FunctionsOfOtherTypesAreOverloads) {
  EXPECT_EQ(
      answers("fn f(x: int) = x\nfn f(x: str) = len(x)\nf(3) + f(\"four\")\nfn f(y: int) = 10 * y\nf(3) + "
              "f(\"four\")\n"),
      "7\n34\n");
  EXPECT_EQ(
      answers("struct R { x: f64 }\nfn -(a: R, b: R) = R(a.x - b.x)\nfn -(a: R) = R(0.0 - a.x)\nlet r = "
              "R(2)\n-r - r\nstruct R { x: f32 }\n-R(3)\n"),
      "R(x: -4.0)\nR(x: -3.0)\n");
  EXPECT_EQ(
      answers("fn f(x) = 1\nfn g() = f(2)\nfn f(x) = 2\ng()\nfn f(x: f64[..S]) = 3\nfn f(x: f64[..S]) = "
              "4\n(f([1.0]), f(\"a\"))\n"),
      "2\n(4, 2)\n");
}

TEST(Repl, AnOverloadLeavesEarlierDeclarationsAsTheyWere) {
  EXPECT_EQ(answers("fn f(x: int) = x\nfn h() = 1\nfn g() = f(1) + h()\nfn f(x: str) = 2\nfn h() = 7\ng()\n"
                    "fn f(x: int) = 100\ng()\n"),
            "8\n107\n");
}

TEST(Repl, AWarningOfAnOverloadIsGivenOnce) {
  harness::ProcessResult r =
      melix("repl", "fn f(x: int) { let unused = x; x }\nfn f(x: str) = 2\nfn f(x: bool) = 3\nf(true)\n");
  EXPECT_EQ(r.output, "3\n");
  EXPECT_TRUE(contains(r.errors, "[unused-name]"));
  EXPECT_EQ(r.errors.find("[unused-name]"), r.errors.rfind("[unused-name]")) << r.errors;
}

TEST(Repl, AVariableThatBreaksAFunctionIsRefused) {
  harness::ProcessResult r = melix(
      "repl", "let v = 10\nfn uses() = v + 1\nlet v = \"text\"\nlet v = 20\nfn g() = 1\nuses() + g()\n");
  EXPECT_EQ(r.output, "22\n");
  EXPECT_TRUE(contains(r.errors, "`v` stays as it was")) << r.errors;
  EXPECT_EQ(answers("let v = 10\nfn uses() = v + 1\nlet v = [1, 2]\nuses()\n"), "[2, 3]\n");
}

TEST(Repl, WhatHoldsAFunctionIsForgottenWithAMessage) {
  harness::ProcessResult r = melix("repl", "1\nlet f: (int) -> int = x => x + 1\n2\n");
  EXPECT_EQ(r.output, "1\n2\n");
  EXPECT_TRUE(contains(r.errors,
                       "<prompt>:1:5: error: a variable of the prompt whose type holds a function, such as "
                       "`f`, is not supported yet [unsupported]"))
      << r.errors;
}

TEST(Repl, FunctionsDoNotSeeVars) {
  EXPECT_TRUE(contains(melix("repl", "var k = 3\nfn f(x: int) -> int = x * k\n").errors, "[script-var]"));
}

TEST(Repl, LoopsTakeSeveralSourcesFiltersAndPatterns) {
  EXPECT_EQ(answers("for i in 0..3, j in 0..i if i + j > 1 { print(i, j) }\n"), "2 0\n2 1\n");
  EXPECT_EQ(answers("var xs = list([1, 2])\nwhile let Some(x) = xs.last() { print(x)\n"
                    "  xs.remove(len(xs) - 1)\n}\nxs\n"),
            "2\n1\n[]\n");
  EXPECT_EQ(answers("let [a, b] = list([1, 2]) else { panic(\"no pair\") }\na + b\n"
                    "match list([1]) { [x] => x, _ => 0 }\n"),
            "3\n1\n");
  EXPECT_EQ(answers("let r = 0..3\n[for i in reverse(r): i]\nfor i in reverse(0..2) { print(i) }\n"),
            "[2, 1, 0]\n1\n0\n");
}

TEST(Repl, RangesOfReductionsDependOnOneAnother) {
  EXPECT_EQ(answers("sum(for i in 0..4, j in 0..i: i * j)\nargmax(for i in 0..4, j in 0..i: i * j)\n"
                    "list(for i in 0..3, j in 0..i: j)\n"
                    "grad((x: f64) => sum(for i in 0..3, j in 0..i: x^2))(1.0)\n"),
            "11\n(3, 2)\n[0, 0, 1]\n6.0\n");
}

TEST(Repl, FormatsTakeValuesAndRawTextsQuotes) {
  EXPECT_EQ(
      answers("let w = 6\nlet x = 2.5\n\"{x:{w}.{w - 4}}|\"\nr#\"a \"b\" {c}\"#\n[for c in \"ab\": c]\n"),
      "\"  2.50|\"\n\"a \\\"b\\\" {c}\"\n['a', 'b']\n");
}

TEST(Repl, ExitEndsWithItsNumber) { EXPECT_EQ(melix("repl", "exit(3)\nprint(1)\n").status, 3); }

} // namespace
} // namespace melix::driver

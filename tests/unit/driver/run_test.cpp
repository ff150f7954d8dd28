// Whole programs by the command: what is printed and how it ends (rule 45).
#include "driver/melix_process.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace melix::driver {
namespace {

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Run, CodeFilesAndStandardInputArePrograms) {
  EXPECT_EQ(melix("run -e 'print(1 + 2)'").output, "3\n");
  EXPECT_EQ(melix("run -", "print(\"hello\")\n").output, "hello\n");
}

TEST(Run, TheInterpreterPrintsTheSame) {
  const char* code = "'struct P { x: f32, name: str }\nlet a = [1.5, 2.0]\nprint(a, a + a, P(1.0, \"q\"), "
                     "(1, true), [Some(1), None])'";
  harness::ProcessResult compiled = melix(std::string("run -e ") + code);
  harness::ProcessResult interpreted = melix(std::string("run --interpret -e ") + code);
  EXPECT_EQ(compiled.status, 0) << compiled.errors;
  EXPECT_EQ(interpreted.status, 0) << interpreted.errors;
  EXPECT_EQ(interpreted.output, compiled.output);
}

TEST(Run, OutputThatCannotBeWrittenIsStatus1) {
  const std::string message = "error: cannot write to standard output: ";
  const std::string few = "-e 'print(1)'", many = "-e 'for i in 0..9999999 { print(i) }'";
  for (const std::string& how :
       {"run " + few, "run --interpret " + few, "run " + many, "run --interpret " + many,
        "show --stage core " + few, std::string("--help")}) {
    harness::ProcessResult full = melix(how + " > /dev/full");
    EXPECT_EQ(full.status, 1) << how;
    EXPECT_EQ(full.errors, message + "No space left on device\n") << how;
    EXPECT_EQ(melix(how + " >&-").errors, message + "Bad file descriptor\n") << how;
  }
  EXPECT_EQ(melix("fmt - > /dev/full", "1\n").status, 1);
  EXPECT_EQ(melix("repl > /dev/full", "1\n2\n").errors, message + "No space left on device\n");
  EXPECT_EQ(melix("repl > /dev/full", "print(1)\n").errors, message + "No space left on device\n");
}

TEST(Run, ProgramsThatPrintNothingNeedNoOutput) {
  for (const char* how : {"run ", "run --interpret "})
    EXPECT_EQ(melix(std::string(how) + "-e 'assert 1 == 1' >&-").status, 0);
}

TEST(Run, APanicKeepsItsStatusWhenOutputCannotBeWritten) {
  harness::ProcessResult r = melix("run -e 'print(1); panic(\"no\")' > /dev/full");
  EXPECT_EQ(r.status, 101);
  EXPECT_TRUE(contains(r.errors, "panic: no")) << r.errors;
  EXPECT_TRUE(contains(r.errors, "error: cannot write to standard output: ")) << r.errors;
}

TEST(Run, AReaderThatIsGoneEndsAProgramQuietly) {
  const std::string code = " -e 'for i in 0..9999999 { print(i) }' | head -1";
  for (const char* how : {"/melix run", "/melix run --interpret"}) {
    harness::ProcessResult r = harness::runProcess({"/bin/sh", "-c", MELIX_BINARY_DIR + (how + code)});
    EXPECT_EQ(r.output, "0\n");
    EXPECT_EQ(r.errors, "");
  }
}

/// `what`, `count` times, with `between` them.
std::string repeated(const std::string& what, size_t count, const std::string& between) {
  std::string out = what;
  for (size_t k = 1; k < count; ++k) out += between + what;
  return out;
}

/// Work that grows with the square of the length would run into the limit of the test.
TEST(Run, LongLiteralsAndPatternsCompile) {
  const std::string numbers = "let x = [" + repeated("1", 60000, ",") + "]\nprint(sum(x))\n";
  const std::string rows = "let y = [" + repeated("[0.5,0.25,0]", 6000, ",") + "]\nprint(sum(y))\n";
  const std::string alternatives = "print(match 1 { " + repeated("1", 60000, " | ") + " => 2, _ => 3 })\n";
  EXPECT_EQ(melix("run -", numbers).output, "60000\n");
  EXPECT_EQ(melix("run -", rows).output, "4500.0\n");
  EXPECT_EQ(melix("run -", alternatives).output, "2\n");
}

TEST(Run, ErrorsAreStatus1AndNameTheirPlace) {
  harness::ProcessResult r = melix("run -e 'print(nothing)'");
  EXPECT_EQ(r.status, 1);
  EXPECT_TRUE(contains(r.errors, "<code>:1:7: error: ")) << r.errors;
}

TEST(Run, PanicsAreStatus101WithATraceInBothWaysOfRunning) {
  for (const char* how : {"", "--interpret "}) {
    harness::ProcessResult r =
        melix(std::string("run ") + how + "-e 'fn f(k: int) -> int = [1, 2, 3][k]\nprint(f(7))'");
    EXPECT_EQ(r.status, 101) << how;
    EXPECT_TRUE(contains(r.errors, "<code>:1:")) << r.errors;
    EXPECT_TRUE(contains(r.errors, "panic: ")) << r.errors;
    EXPECT_TRUE(contains(r.errors, "  at f (<code>:1)")) << r.errors;
  }
}

TEST(Run, CtrlCEndsALoopThatOnlyComputes) {
  harness::ProcessResult result = harness::runProcess(
      {"/bin/sh", "-c", "timeout --preserve-status -s INT 2 " MELIX_BINARY_DIR "/melix run -e 'loop { }'"});
  EXPECT_EQ(result.status, 130) << result.errors;
}

TEST(Run, AnErrorOutOfMainIsStatus1) {
  for (const char* how : {"", "--interpret "}) {
    harness::ProcessResult r =
        melix(std::string("run ") + how + "-e 'fn main() -> Result { Err(error(\"no luck\")) }'");
    EXPECT_EQ(r.status, 1) << r.errors;
    EXPECT_TRUE(contains(r.errors, "no luck")) << r.errors;
  }
}

TEST(Run, ExitEndsWithItsNumber) {
  EXPECT_EQ(melix("run -e 'exit(7)'").status, 7);
  EXPECT_EQ(melix("run --interpret -e 'exit(7)'").status, 7);
}

TEST(Run, WhatFollowsTheFileBelongsToTheProgram) {
  const char* code = "'fn main(n: int, scale: int = 2) { print(n * scale) }'";
  EXPECT_EQ(melix(std::string("run -e ") + code + " 4").output, "8\n");
  EXPECT_EQ(melix(std::string("run -e ") + code + " 4 --scale 5").output, "20\n");
  EXPECT_EQ(melix(std::string("run --interpret -e ") + code + " 4 --scale 5").output, "20\n");
  EXPECT_EQ(melix(std::string("run -e ") + code + " four").status, 2);
}

TEST(Run, GradientsAreTheSameCompiledAndInterpreted) {
  const char* code = "'fn loss(w: f32[3]) -> f32 = sum(w * w * w)\nprint(grad(loss)([1.0, 2.0, 3.0]))'";
  harness::ProcessResult compiled = melix(std::string("run -e ") + code);
  EXPECT_EQ(compiled.output, "[3.0, 12.0, 27.0]\n") << compiled.errors;
  EXPECT_EQ(melix(std::string("run --interpret -e ") + code).output, compiled.output);
}

TEST(Build, TheExecutableDoesWhatRunDoes) {
  std::string out = "/tmp/melix_built_" + std::to_string(getpid());
  harness::ProcessResult built = melix("build -e 'print(sum([1.0, 2.0]))' -o " + out);
  EXPECT_EQ(built.status, 0) << built.errors;
  harness::ProcessResult ran = harness::runProcess({out});
  EXPECT_EQ(ran.output, "3.0\n");
  EXPECT_EQ(ran.status, 0);
  unlink(out.c_str());
}

/// Whether the executable of a program names a library.
static bool needs(const std::string& code, const std::string& library) {
  const std::string path = "/tmp/melix_needs_" + std::to_string(getpid());
  EXPECT_EQ(melix("build - -o " + path, code).status, 0);
  const std::string bytes = harness::readText(path);
  unlink(path.c_str());
  return bytes.find(library) != std::string::npos;
}

TEST(Build, LibrariesAreNeededOnlyWhereUsed) {
  EXPECT_FALSE(needs("print(1)", "libm.so") || needs("use npy, csv, progress\nprint(1)", "libz.so"));
  EXPECT_TRUE(needs("print(1)", "libc.so"));
  EXPECT_FALSE(needs("use idx\nprint(1)", "libz.so"));
  EXPECT_TRUE(needs("use idx\nlet r: Result[u8[_]] = idx.read(\"x\")\nprint(r.is_ok())", "libz.so"));
}

TEST(Check, RunsNothing) {
  harness::ProcessResult r = melix("check -e 'print(1)'");
  EXPECT_EQ(r.status, 0);
  EXPECT_EQ(r.output, "");
}

TEST(Show, EveryStageHasAText) {
  for (const char* stage : {"ast", "core", "grad", "opt", "plans", "loops", "llvm", "asm"}) {
    harness::ProcessResult r = melix(std::string("show --stage ") + stage +
                                     " -e 'fn f(x: f32) -> f32 = x * x\nprint(grad(f)(3.0))'");
    EXPECT_EQ(r.status, 0) << stage << r.errors;
    EXPECT_FALSE(r.output.empty()) << stage;
  }
}

/// Beside what was decided, `plans` is the text of `opt`.
TEST(Show, PlansSayHowNestsOfTheOptimisedFormRun) {
  const std::string code = "struct P[N] { x: f64[N] }\nfn f(p: P[N]) -> f64 = sum(for i: p.x[i]^2)\n"
                           "let given = P(x: [for k in 0..len(arguments()) + 9: k as f64])\n"
                           "print(f(given), [for i: given.x[i] / f(given)])\n";
  const harness::ProcessResult opt = melix("show --stage opt -", code);
  const harness::ProcessResult plans = melix("show --stage plans -", code);
  EXPECT_EQ(plans.status, 0) << plans.errors;
  EXPECT_TRUE(contains(plans.output, "independent block")) << plans.output;
  std::string without;
  std::istringstream lines(plans.output);
  for (std::string line; std::getline(lines, line);)
    if (line.find_first_not_of(' ') != line.find("//") || line.empty()) without += line + "\n";
  EXPECT_EQ(without, opt.output);
}

TEST(Show, LoopsHaveTheNamesAndLinesOfTheProgram) {
  const std::string code = "fn f(x: f64[N], scale: f64) -> f64[N] {\n  var total = 0.0\n  for v in x {\n"
                           "    total += v\n  }\n  [for row: x[row] * scale * total]\n}\n"
                           "let given = [for k in 0..len(arguments()) + 9: k as f64]\nprint(f(given, 2.0))\n";
  harness::ProcessResult r = melix("show --stage loops -", code);
  EXPECT_EQ(r.status, 0) << r.errors;
  for (const char* part : {"%given = alloc f64", "%total", "%row", "// <stdin>:4\n", "// <stdin>:6\n"})
    EXPECT_TRUE(contains(r.output, part)) << part << "\n" << r.output;
}

TEST(Show, LoopsInLanesSayWhatLanesDo) {
  const std::string code =
      "fn f(x: f32[N], w: f32[M]) =\n"
      "  [for i in 0..N: if x[i] > 0 { sum(for j: x[(i * 7) % N] * w[j]) } else { 1 / x[i] }]\n"
      "fn h(x: f32[K]) -> f32[K / 2] = [for i: x[2 * i] + x[2 * i + 1]]\n"
      "let x = [for i in 0..len(arguments()) + 99: (i - 3) as f32]\nprint(f(x, x), h([for i in 0..2*len(x): "
      "x[i / 2]]))\n";
  harness::ProcessResult r = melix("show --stage loops -", code);
  EXPECT_EQ(r.status, 0) << r.errors;
  for (const char* part : {": f32  // in rows\n", ": f32  // side by side\n", "{  // under a mask\n",
                           "  // gathered\n", "  // uniform\n"})
    EXPECT_TRUE(contains(r.output, part)) << part << "\n" << r.output;
}

TEST(Show, CountsAndChoosesFunctions) {
  harness::ProcessResult r =
      melix("show --stage core --count --only f -e 'fn f(x: f32) -> f32 = x * x\nprint(f(3.0))'");
  EXPECT_EQ(r.output, "2 operations, 0 nests, 0 arrays: f\n2 operations, 0 nests, 0 arrays in all\n")
      << r.errors;
  r = melix("show --stage opt --count -e 'print([for i in 0..len(arguments()): i * i] + 1)'");
  EXPECT_TRUE(contains(r.output, ", 1 nest, 1 array in all\n")) << r.output;
  EXPECT_EQ(melix("show --stage core --only nothing -e 'print(1)'").status, 1);
}

/// Operations of a program at a stage that differentiates that many calls of one body, `order` times.
int operationsOfAChain(int calls, int order, const std::string& stage) {
  std::string code = "fn body(x: f64[N], s: f64) -> f64[N] = [for i: tanh(x[i] * s) + x[i] * x[i]]\n"
                     "fn chain(x: f64[N]) -> f64 {\n  let x0 = x\n";
  for (int k = 1; k <= calls; ++k)
    code += "  let x" + std::to_string(k) + " = body(x" + std::to_string(k - 1) + ", 0.5)\n";
  code += "  sum(x" + std::to_string(calls) + ")\n}\nfn slope(x: f64[N]) -> f64 = sum(grad(chain)(x))\n";
  code += std::string("print(grad(") + (order == 1 ? "chain" : "slope") + ")([1.0, 2.0])[0])\n";
  harness::ProcessResult r = melix("show --count --stage " + stage + " -", code);
  EXPECT_TRUE(contains(r.output, " in all\n")) << r.output << r.errors;
  size_t line = r.output.rfind('\n', r.output.size() - 2);
  return std::stoi(r.output.substr(line + 1));
}

TEST(Show, DerivativesOfAChainGrowLinearly) {
  for (const char* stage : {"grad", "opt"})
    for (int order : {1, 2}) {
      int shorter = operationsOfAChain(20, order, stage), longer = operationsOfAChain(40, order, stage);
      EXPECT_GT(longer, shorter) << stage << order;
      EXPECT_LE(longer, 2.1 * shorter) << stage << order;
    }
}

TEST(Test, ATestThatLeavesBeforeItsEndFails) {
  const std::string file = "/tmp/melix_leaves_" + std::to_string(getpid()) + ".mlx";
  std::ofstream(file) << "test \"none\" { exit(0); assert false }\ntest \"three\" { exit(3) }\n"
                         "test \"panic\" { assert false, \"no luck\" }\n";
  for (const char* how : {"", "--interpret "}) {
    harness::ProcessResult r = melix(std::string("test ") + how + file);
    EXPECT_EQ(r.status, 1);
    EXPECT_TRUE(contains(r.output, ": none\nit called `exit(0)` before its end\n")) << r.output;
    EXPECT_TRUE(contains(r.output, ": three\nit ended with status 3\n")) << r.output;
    EXPECT_TRUE(contains(r.output, "panic: no luck\n")) << r.output;
    EXPECT_TRUE(contains(r.output, "\n0 passed, 3 failed\n")) << r.output;
    EXPECT_FALSE(contains(r.output, "status 101")) << r.output;
  }
  std::remove(file.c_str());
}

TEST(Test, EachTestIsReportedAndAFailureIsStatus1) {
  std::string file = "/tmp/melix_tests_" + std::to_string(getpid()) + ".mlx";
  if (FILE* f = std::fopen(file.c_str(), "w")) {
    std::fputs("test \"good\" { assert 1 + 1 == 2 }\ntest \"bad\" { assert 1 == 2 }\n", f);
    std::fclose(f);
  }
  for (const char* how : {"", "--interpret "}) {
    harness::ProcessResult r = melix(std::string("test ") + how + file);
    EXPECT_EQ(r.status, 1) << r.errors;
    EXPECT_TRUE(contains(r.output, "1 passed, 1 failed")) << r.output << r.errors;
    EXPECT_TRUE(contains(r.output, "panic: ")) << r.output;
    EXPECT_EQ(melix(std::string("test ") + how + "--filter good " + file).status, 0);
  }
  unlink(file.c_str());
}

TEST(Test, ExamplesOfCommentsAreTestsNamedForWhatTheyExplain) {
  std::string file = "/tmp/melix_examples_" + std::to_string(getpid()) + ".mlx";
  if (FILE* f = std::fopen(file.c_str(), "w")) {
    std::fputs("/// ```\n/// assert f(1) == 2\n/// ```\n/// ```mlx\n/// fn g(x) = f(x)\n/// assert g(1) == "
               "3\n/// ```\n"
               "pub fn f(x: int) -> int = x + 1\n"
               "enum E {\n  /// ```\n  /// assert f(0) == 1\n  /// ```\n  A\n}\n",
               f);
    std::fclose(f);
  }
  harness::ProcessResult r = melix("test " + file);
  EXPECT_EQ(r.status, 1) << r.errors;
  for (const char* line : {"ok      %s: example 1 of f\n", "FAILED  %s: example 2 of f\n%s:6:5: panic: ",
                           "ok      %s: example of E\n", "2 passed, 1 failed\n"}) {
    std::string text = line;
    for (size_t at; (at = text.find("%s")) != std::string::npos;) text.replace(at, 2, file);
    EXPECT_TRUE(contains(r.output, text)) << text << r.output << r.errors;
  }
  EXPECT_EQ(melix("run " + file).status, 0);
  unlink(file.c_str());
}

TEST(Test, ATestThatDoesNotEndIsStoppedAndTheOthersGoOn) {
  const std::string file = "/tmp/melix_endless_" + std::to_string(getpid()) + ".mlx";
  std::ofstream(file)
      << "test \"endless\" { print(\"so far\"); var k = 0; while k >= 0 { k = (k + 1) % 7 } }\n"
         "test \"fine\" { assert 1 + 1 == 2 }\n";
  for (const char* how : {"", "--interpret "}) {
    harness::ProcessResult r = melix(std::string("test --timeout 0.3 ") + how + file);
    EXPECT_EQ(r.status, 1);
    EXPECT_TRUE(contains(r.output, ": endless\nso far\nit was stopped after 0.3 s\nok ")) << r.output;
    EXPECT_TRUE(contains(r.output, "\n1 passed, 1 failed\n")) << r.output;
  }
  std::remove(file.c_str());
}

TEST(Test, WhereNothingIsFoundThatIsSaid) {
  const std::string file = "/tmp/melix_nothing_" + std::to_string(getpid()) + ".mlx";
  std::ofstream(file) << "test \"one\" { assert 1 < 2 }\n";
  for (const auto& [line, message] : {std::pair("test --filter two ", "no test has `two` in its name"),
                                      {"bench ", "there are no benches"},
                                      {"bench --filter x ", "no bench has `x` in its name"}}) {
    harness::ProcessResult r = melix(line + file);
    EXPECT_EQ(r.status, 1) << line;
    EXPECT_EQ(r.errors, std::string("melix: error: ") + message + "\n");
  }
  std::ofstream(file) << "let x = 1\n";
  EXPECT_EQ(melix("test " + file).errors, "melix: error: there are no tests\n");
  std::remove(file.c_str());
}

TEST(Test, ANameIsOneLineWhateverItHolds) {
  const std::string file = "/tmp/melix_names_" + std::to_string(getpid()) + ".mlx";
  std::ofstream(file) << "test \"a\\nb\\u{1b}[31m é\" { assert 1 < 2 }\n"
                         "bench \"a\\nb\" { 1 }\ntest \"c\\nd\" { panic(\"no\") }\n";
  const std::string told = melix("test " + file).output;
  EXPECT_TRUE(contains(told, ": a\\u{a}b\\u{1b}[31m é\nFAILED  ")) << told;
  EXPECT_TRUE(contains(told, "at test \"c\\u{a}d\" (")) << told;
  EXPECT_TRUE(contains(melix("bench --seconds 0.001 " + file).output, ": a\\u{a}b "));
  std::remove(file.c_str());
}

TEST(Test, OfALongOutputTheEndIsToldToo) {
  const std::string file = "/tmp/melix_long_" + std::to_string(getpid()) + ".mlx";
  std::ofstream(file) << "test \"long\" { for i in 0..400000 { print(i) }; panic(\"no luck\") }\n";
  harness::ProcessResult r = melix("test " + file);
  EXPECT_EQ(r.status, 1);
  for (const char* part : {": long\n0\n1\n2\n", " bytes …\n", "\n399998\n399999\n", "panic: no luck\n"})
    EXPECT_TRUE(contains(r.output, part)) << part;
  EXPECT_FALSE(contains(r.output, "\n300000\n"));
  std::remove(file.c_str());
}

// Would take minutes if each test were compiled with all others.
TEST(Test, ManyTestsAreCompiledOnce) {
  const std::string file = "/tmp/melix_many_" + std::to_string(getpid()) + ".mlx";
  constexpr int count = 200;
  std::ofstream code(file);
  for (int k = 0; k < count; ++k)
    code << "test \"number " << k << "\" { let a = [for i in 0..9: i * " << k << "]\n  assert sum(a) == 36 * "
         << k << ", \"{a}\" }\n";
  code.close();
  harness::ProcessResult r = melix("test " + file);
  EXPECT_EQ(r.status, 0) << r.errors;
  std::vector<std::string> lines = harness::splitLines(r.output);
  ASSERT_EQ(lines.size(), size_t(count + 1));
  for (size_t k = 0; k < count; ++k) EXPECT_EQ(lines[k], "ok      " + file + ": number " + std::to_string(k));
  std::remove(file.c_str());
}

TEST(Test, AFolderMeansTheFilesWithTestsInTheOrderOfTheirPaths) {
  const std::filesystem::path folder = "/tmp/melix_folder_" + std::to_string(getpid());
  std::filesystem::create_directories(folder / "b");
  std::ofstream(folder / "b" / "inner.mlx") << "test \"inner\" { assert 1 < 2 }\n";
  std::ofstream(folder / "c.mlx") << "test \"last\" { assert 1 < 2 }\n";
  std::ofstream(folder / "a.mlx") << "/// ```\n/// assert f() == 1\n/// ```\npub fn f() -> int = 1\n";
  std::ofstream(folder / "no_tests.mlx") << "print(unknown)\n";
  std::ofstream(folder / "other.txt") << "test\n";
  const std::string at = folder.string() + "/";
  harness::ProcessResult r = melix("test " + folder.string());
  EXPECT_EQ(r.status, 0) << r.errors;
  EXPECT_EQ(r.output, "ok      " + at + "a.mlx: example of f\nok      " + at +
                          "b/inner.mlx: inner\nok      " + at + "c.mlx: last\n3 passed, 0 failed\n");
  std::ofstream(folder / "b" / "wrong.mlx") << "test \"wrong\" { assert 1 }\n";
  r = melix("test " + folder.string());
  EXPECT_EQ(r.status, 1);
  EXPECT_TRUE(contains(r.output, "\n3 passed, 0 failed, 1 file with errors\n")) << r.output;
  std::filesystem::remove_all(folder);
}

TEST(Bench, EachBlockIsMeasuredAndAFailureIsStatus1) {
  const std::string file = "/tmp/melix_bench_" + std::to_string(getpid()) + ".mlx";
  std::ofstream(file) << "bench \"sum\" { sum(black_box([1.0, 2.0])) }\n"
                         "bench \"list\" { let xs = black_box([1]); let ys = list(xs); print(len(ys)) }\n"
                         "bench \"broken\" { panic(\"no luck\") }\n";
  const std::string command = "bench --seconds 0.01 " + file;
  harness::ProcessResult r = melix(command);
  EXPECT_EQ(r.status, 1);
  for (const char* part :
       {": sum  ", ": list  ", "s ± ", " %  ", " allocation", ": broken  ", "FAILED\n", "no luck"})
    EXPECT_TRUE(contains(r.output, part)) << part << r.output << r.errors;
  r = melix(command + " --filter sum");
  EXPECT_EQ(r.status, 0) << r.errors;
  EXPECT_FALSE(contains(r.output, "list")) << r.output;
  EXPECT_EQ(melix("run " + file).output, "");
  std::remove(file.c_str());
}

TEST(Bench, OneThatDoesNotEndIsStopped) {
  const std::string file = "/tmp/melix_endless_bench_" + std::to_string(getpid()) + ".mlx";
  std::ofstream(file) << "bench \"endless\" { var k = 0; while k >= 0 { k = (k + 1) % 7 } }\n"
                         "bench \"fine\" { sum(black_box([1.0, 2.0])) }\n";
  harness::ProcessResult r = melix("bench --seconds 0.01 --timeout 0.3 " + file);
  EXPECT_EQ(r.status, 1);
  EXPECT_TRUE(contains(r.output, "FAILED\nit was stopped after 0.32 s\n")) << r.output;
  EXPECT_TRUE(contains(r.output, ": fine  ") && contains(r.output, " allocation")) << r.output;
  std::remove(file.c_str());
}

TEST(Bench, AFolderMeansTheFilesWithBenchesAndNumbersAreThoseOfTheBlock) {
  const std::filesystem::path folder = "/tmp/melix_benches_" + std::to_string(getpid());
  std::filesystem::create_directories(folder / "b");
  std::ofstream(folder / "b" / "inner.mlx")
      << "bench \"waits\" { let t = clock(); while clock() - t < 0.01 {} }\n"
         "bench \"keeps\" { [for i in 0..black_box(9): i] }\nbench \"leaves\" { exit(0) }\n";
  std::ofstream(folder / "a.mlx") << "test \"no bench\" { assert 1 < 2 }\n";
  harness::ProcessResult r = melix("bench --seconds 0.05 " + folder.string());
  EXPECT_EQ(r.status, 1) << r.errors;
  const std::string at = folder.string() + "/b/inner.mlx: ";
  std::vector<std::string> lines = harness::splitLines(r.output);
  ASSERT_EQ(lines.size(), 4u) << r.output;
  EXPECT_TRUE(lines[0].starts_with(at + "waits ") && contains(lines[0], "0 allocations")) << lines[0];
  const size_t unit = lines[0].find(" ms ± ");
  ASSERT_NE(unit, std::string::npos) << lines[0];
  EXPECT_GE(std::stod(lines[0].substr(lines[0].rfind(' ', unit - 1))), 9.99) << lines[0];
  EXPECT_TRUE(lines[1].starts_with(at + "keeps ") && contains(lines[1], "1 allocation")) << lines[1];
  EXPECT_TRUE(lines[2].starts_with(at + "leaves ") && contains(lines[2], "FAILED")) << lines[2];
  EXPECT_EQ(lines[3], "it called `exit(0)` before its end");
  std::filesystem::remove_all(folder);
}

TEST(Bench, WhatGoesThroughABlackBoxIsComputedEachTime) {
  const std::string file = "/tmp/melix_boxes_" + std::to_string(getpid()) + ".mlx";
  std::ofstream(file)
      << "fn slow(n: int) -> int {\n  var s = 0\n  for i in 0..n { s = (s * 3 + i) % 7 }\n  s\n}\n"
         "bench \"argument\" { slow(black_box(5_000)) }\n"
         "bench \"result\" { black_box(slow(5_000)); 1 }\n";
  harness::ProcessResult r = melix("bench --seconds 0.02 " + file);
  EXPECT_EQ(r.status, 0) << r.errors;
  for (const std::string& line : harness::splitLines(r.output)) EXPECT_TRUE(contains(line, " µs ± ")) << line;
  std::remove(file.c_str());
}

TEST(Options, TestsAreCheckedForOverflowToo) {
  std::string file = "/tmp/melix_overflow_" + std::to_string(getpid()) + ".mlx";
  if (FILE* f = std::fopen(file.c_str(), "w")) {
    std::fputs("fn next(i: i32) -> i32 = i + 1\ntest \"last\" { assert next(2147483647) < 0 }\n", f);
    std::fclose(f);
  }
  for (const char* how : {"", "--interpret ", "-O0 "}) {
    EXPECT_EQ(melix(std::string("test ") + how + file).status, 0);
    harness::ProcessResult checked = melix(std::string("test --check-overflow ") + how + file);
    EXPECT_EQ(checked.status, 1);
    EXPECT_TRUE(contains(checked.output, "integer overflow: 2147483647 + 1 does not fit `i32`"))
        << checked.output;
  }
  unlink(file.c_str());
}

TEST(Run, WhatComesFromOutsideIsChecked) {
  harness::ProcessResult endless = melix("run /dev/zero");
  EXPECT_EQ(endless.status, 1);
  EXPECT_TRUE(contains(endless.errors, "longer than 64 MiB")) << endless.errors;
  harness::ProcessResult bytes = melix("run -e 'print(arguments())' \"$(printf '\\377')\"");
  EXPECT_EQ(bytes.status, 101);
  EXPECT_TRUE(contains(bytes.errors, "argument 1 of the program is not UTF-8")) << bytes.errors;
  harness::ProcessResult threads =
      harness::runProcess({MELIX_BINARY_DIR "/melix", "run", "-e", "print(1)"},
                          {.folder = "", .environment = {{"MELIX_THREADS", "abc"}}});
  EXPECT_EQ(threads.status, 2);
  EXPECT_TRUE(contains(threads.errors, "MELIX_THREADS is a number of threads")) << threads.errors;
}

TEST(Options, WhatCannotBeFollowedIsRefused) { EXPECT_EQ(melix("run --cpu potato -e 'print(1)'").status, 2); }

} // namespace
} // namespace melix::driver

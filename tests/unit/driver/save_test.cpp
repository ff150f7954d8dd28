// `:save` and `:load`: a session as a program, which gives the same variables and prints the same.
#include "driver/melix_process.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <sys/stat.h>
#include <unistd.h>

namespace melix::driver {
namespace {

namespace fs = std::filesystem;

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

class Save : public testing::Test {
protected:
  Save()
      : folder_(fs::temp_directory_path() / ("melix_save_" + std::to_string(getpid()))),
        file(folder_ / "s.mlx") {
    fs::create_directories(folder_);
  }
  ~Save() override { fs::remove_all(folder_); }

  std::string saveCommand() const { return ":save " + file.string() + "\n"; }
  std::string content(const fs::path& path) const {
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }
  /// The errors of a session that is saved. What it printed by itself is in `printed`.
  std::string saved(const std::string& entries) {
    const harness::ProcessResult r = melix("repl", entries + saveCommand());
    EXPECT_EQ(r.status, 0);
    printed = r.output;
    return r.errors;
  }
  std::string ran() const {
    const harness::ProcessResult r = melix("run " + file.string(), "");
    EXPECT_EQ(r.status, 0) << r.errors << content(file);
    EXPECT_FALSE(contains(r.errors, "error")) << r.errors << content(file);
    return r.output;
  }
  /// What a new prompt says after `:load`.
  std::string loaded(const std::string& entries) const {
    const harness::ProcessResult r = melix("repl", ":load " + file.string() + "\n" + entries);
    EXPECT_FALSE(contains(r.errors, "error")) << r.errors;
    return r.output;
  }
  /// The program that is saved, without the line that says so.
  std::string program() const {
    const std::string all = content(file);
    return all.substr(all.find('\n') + 1);
  }

  const fs::path folder_;
  const fs::path file;
  std::string printed;
};

TEST_F(Save, AProgramHasTheVariablesAndPrintsTheSame) {
  EXPECT_EQ(
      saved(
          "let x = 3\nfn f(n: int) -> int {\n  n * x\n}\nprint(f(2))\nx + 1\nvar n = 1\nn += f(n)\nprint(n)\n"
          "struct P { a: int }\nlet p = P(n)\np\n"),
      "");
  EXPECT_EQ(printed, "6\n4\n4\nP(a: 4)\n");
  EXPECT_EQ(program(),
            "let x = 3\n\nfn f(n: int) -> int {\n  n * x\n}\n\nprint(f(2))\nvar n = 1\nn += f(n)\nprint(n)\n"
            "struct P { a: int }\nlet p = P(n)\n");
  EXPECT_EQ(ran(), "6\n4\n");
  EXPECT_EQ(loaded("p\nx\nn\nf(1)\n"), "6\n4\nP(a: 4)\n3\n4\n3\n");
}

TEST_F(Save, EntriesThatFailedAreNotInIt) {
  const std::string errors =
      saved("let x = 1\nlet y = nothing\nprint([1, 2][5 * x])\n1 +* 2\nprint(x)\nlet z = x as str +\n\n3\n");
  EXPECT_EQ(program(), "let x = 1\nprint(x)\n") << errors;
  EXPECT_EQ(ran(), "1\n");
}

TEST_F(Save, ShownExpressionsStayWhereTheyHaveAnEffect) {
  EXPECT_EQ(saved("fn loud(n: int) -> int { print(\"loud\"); n }\nfn quiet(n: int) -> int = n\nvar xs = "
                  "list([1, 2])\n"
                  "loud(3)\nquiet(3)\nxs\nlen(xs)\nxs.pop()\n[for i in 0..3: i]\nloud\nxs\n"),
            "");
  EXPECT_TRUE(contains(program(), "let _ = loud(3)\n")) << program();
  EXPECT_TRUE(contains(program(), "let _ = xs.pop()\n")) << program();
  EXPECT_FALSE(contains(program(), "quiet(3)") || contains(program(), "[for")) << program();
  EXPECT_EQ(ran(), "loud\n");
  EXPECT_EQ(loaded("xs\n"), "loud\n[1]\n");
}

TEST_F(Save, TheLastDeclarationOfANameStays) {
  EXPECT_EQ(
      saved("fn f(x: int) -> int = x + 1\nfn g(x: int) -> int = f(x) * 10\nfn f(x: int) -> int = x + 2\n"
            "const m = 3\nconst m = 5\nstruct S { a: int }\nstruct S { a: int, b: int }\nprint(g(1), m, S(1, "
            "2))\n"),
      "");
  EXPECT_EQ(ran(), "30 5 S(a: 1, b: 2)\n");
  EXPECT_FALSE(contains(program(), "x + 1")) << program();
}

TEST_F(Save, OverloadsStay) {
  EXPECT_EQ(saved("fn f(x: int) = x\nprint(f(1))\nfn f(x: str) = len(x)\nfn f(y: int) = 10 * y\nprint(f(3) + "
                  "f(\"four\"))\n"
                  "fn f(b: bool) = 7\n")
                    .find("`f`") != std::string::npos,
            true)
      << "f(1) ran with another f";
  EXPECT_EQ(ran(), "10\n34\n");
}

TEST_F(Save, AStatementThatRanWithAnEarlierMeaningIsTold) {
  const std::string errors =
      saved("fn f() -> int = 1\nfn g() -> int = f()\nlet x = g()\nfn f() -> int = 2\nlet y = g()\n");
  EXPECT_TRUE(contains(errors, "`let x = g()`: it ran with an earlier meaning of `f`")) << errors;
  EXPECT_FALSE(contains(errors, "let y")) << errors;
  EXPECT_TRUE(contains(program(), "// it ran with an earlier meaning of `f`\nlet x = g()\n")) << program();
  EXPECT_EQ(saved("let a = relu(-1.0)\nfn relu(x: f32) = 7.0\nlet b = relu(-1.0)\n").empty(), false);
  // The same declaration again changes nothing.
  EXPECT_EQ(saved("fn f() -> int = 1\nlet x = f()\nfn f() -> int = 1\nstruct P { f: int }\nlet y = P(x).f\n"),
            "");
}

TEST_F(Save, VariablesThatAreBoundAgain) {
  EXPECT_EQ(saved("let x = 1\nlet y = x + 1\nlet x = \"new\"\nprint(x, y)\n"), "");
  EXPECT_EQ(ran(), "new 2\n");
  // What nothing uses before it is bound again is left out.
  EXPECT_EQ(saved("let rate = 0.1\nfn step(x: f32) -> f32 = x * rate\nlet w = step(1)\nlet rate = 0.5\nlet w "
                  "= step(1)\n"
                  "print(w)\n"),
            "");
  EXPECT_EQ(program(), "let rate = 0.5\nfn step(x: f32) -> f32 = x * rate\nlet w = step(1)\nprint(w)\n");
  EXPECT_EQ(ran(), "0.5\n");
}

TEST_F(Save, WhatCannotBeExpressedIsACommentAndTold) {
  const std::string errors =
      saved("let k = 3\nfn f(x: int) -> int = x * k\nprint(f(1))\nlet k = 5\nprint(f(1))\n");
  EXPECT_EQ(printed, "3\n5\n");
  EXPECT_TRUE(contains(errors, "`let k = 3`: `k`, which a function uses, was bound again")) << errors;
  EXPECT_TRUE(contains(errors, "`print(f(1))`: ")) << errors;
  EXPECT_TRUE(contains(program(), "// let k = 3\n")) << program();
  EXPECT_EQ(ran(), "5\n");
  const std::string types =
      saved("struct S { a: int }\nlet s = S(1)\nprint(s.a)\nstruct S { a: int, b: int }\nlet t = S(1, 2)\n"
            "print(t)\n");
  EXPECT_TRUE(contains(types, "`let s = S(1)`: ")) << types;
  EXPECT_EQ(ran(), "S(a: 1, b: 2)\n");
  const std::string kinds =
      saved("let k = 3\nfn g() = k\nconst k = 5\nprint(k, g())\nconst c = 1\nlet c = c + 1\nprint(c)\n");
  EXPECT_TRUE(contains(kinds, "`let k = 3`: a declaration has taken its name")) << kinds;
  EXPECT_TRUE(contains(kinds, "`const c = 1`: a variable has taken its name")) << kinds;
  EXPECT_EQ(ran(), "5 5\n");
}

TEST_F(Save, MacrosImportsAndCommentsStay) {
  EXPECT_EQ(saved("use meta.{memo, derive}\nuse meta.{memo, derive}\n/// Ways to climb.\n@memo\nfn ways(n: "
                  "int) -> int {\n"
                  "  // few\n  if n < 2 { 1 } else { ways(n - 1) + ways(n - 2) }\n}\n"
                  "@derive(equals)\nstruct P { x: int }\n@derive(equals)\nenum E { A, B(P) }\n"
                  "print(ways(50), E.A.equals(B(P(1)))) // both\nlet a = 1; let b = 2 // two\n"),
            "");
  for (const char* part : {"/// Ways to climb.\n@memo\nfn ways", "  // few\n", " // both\n", "let a = 1\n",
                           "let b = 2 // two\n"})
    EXPECT_TRUE(contains(program(), part)) << part << "\n" << program();
  EXPECT_EQ(ran(), "20365011074 false\n");
  EXPECT_EQ(loaded("a + b\n"), "20365011074 false\n3\n");
  const std::string mk = "macro mk(n: Ident, v: int) -> Item { quote { fn $n() -> int = $v } }\n";
  saved(mk + "@mk(k, 1)\n@mk(k, 100)\nprint(k())\n");
  EXPECT_EQ(ran(), "100\n");
}

TEST_F(Save, WhatIsLoadedIsSavedAgain) {
  saved("let x = 2\n\n// Twice.\nfn f() {\n  x\n}\n\nprint(f())\n");
  const std::string first = content(file);
  EXPECT_EQ(melix("repl", ":load " + file.string() + "\n" + saveCommand()).errors, "");
  EXPECT_EQ(content(file), first);
  EXPECT_EQ(melix("repl", ":load " + file.string() + "\nlet x = 5\nprint(f())\n" + saveCommand()).status, 0);
  EXPECT_TRUE(contains(ran(), "5\n"));
}

/// The lines that entries printed, without the values that were shown.
std::string printedLines(const std::string& output) {
  std::stringstream all(output);
  std::string out;
  for (std::string line; std::getline(all, line);)
    if (line.starts_with("in ") || line.starts_with("= ")) out += line + "\n";
  return out;
}

/// Entries about a few names, which fail or succeed.
std::string randomEntry(std::mt19937& random) {
  auto name = [&] { return std::string(1, "abc"[random() % 3]); };
  auto function = [&] { return std::string(1, "fgh"[random() % 3]); };
  auto number = [&] { return std::to_string(random() % 5); };
  switch (random() % 12) {
  case 0:
  case 1: return "let " + name() + " = " + number();
  case 2: return "let " + name() + " = " + function() + "(" + name() + ")";
  case 3: return "var " + name() + " = " + name() + " + " + number();
  case 4: return name() + " += " + function() + "(" + number() + ")";
  case 5: return "fn " + function() + "(x: int) -> int = x + " + name();
  case 6: return "fn " + function() + "(x: int) -> int = x * " + function() + "(" + number() + ")";
  case 7: return "fn " + function() + "(x: int) -> int {\n  print(\"in\", x)\n  x + " + number() + "\n}";
  case 8: return "print(\"=\", " + function() + "(" + name() + "), " + name() + ")";
  case 9: return function() + "(" + name() + ")";
  case 10: return "const " + name() + " = " + number();
  default: return name() + " + " + number() + " // shown";
  }
}

TEST_F(Save, RandomSessionsGiveValidProgramsThatPrintTheSame) {
  std::mt19937 random(3);
  size_t alike = 0;
  for (int round = 0; round < 40; ++round) {
    std::string entries = "let a = 1\nfn f(x: int) -> int = x\n";
    for (size_t k = random() % 12; k > 0; --k) entries += randomEntry(random) + "\n";
    entries += "print(\"=\", a)\nprint(\"=\", b)\nprint(\"=\", c)\n";
    const harness::ProcessResult r = melix("repl", entries + saveCommand());
    const std::string prints = melix("run " + file.string()).output;
    const harness::ProcessResult checked = melix("check " + file.string());
    ASSERT_EQ(checked.status, 0) << entries << "\n" << content(file) << checked.errors;
    if (contains(r.errors, "melix: `")) continue; // told
    EXPECT_EQ(printedLines(prints), printedLines(r.output)) << entries << "\n" << content(file);
    ++alike;
  }
  EXPECT_GT(alike, 10U);
}

TEST_F(Save, ResetBeginsANewProgram) {
  EXPECT_EQ(saved("let x = 1\n:reset\nlet y = 2\n"), "");
  EXPECT_EQ(program(), "let y = 2\n");
  EXPECT_EQ(saved(":reset\n"), "");
  EXPECT_EQ(program(), "");
}

TEST_F(Save, OnlyItsOwnFilesAreReplaced) {
  EXPECT_EQ(saved("let x = 1\n"), "");
  EXPECT_EQ(saved("let x = 2\n"), "") << "its own file";
  std::ofstream(file, std::ios::app) << "print(x)\n";
  const std::string edited = content(file);
  EXPECT_TRUE(contains(saved("let x = 3\n"), "`:save` did not write it as it is; `:save! "));
  EXPECT_EQ(content(file), edited);
  std::ofstream(file) << "print(\"mine\")\n";
  EXPECT_TRUE(contains(saved("let x = 4\n"), "did not write it"));
  EXPECT_EQ(content(file), "print(\"mine\")\n");
  EXPECT_EQ(melix("repl", "let x = 5\n:save! " + file.string() + "\n").errors, "");
  EXPECT_EQ(program(), "let x = 5\n");
}

TEST_F(Save, FailuresAreTold) {
  auto refused = [&](const std::string& path) { return melix("repl", "let x = 1\n:save " + path + "\nx\n"); };
  EXPECT_TRUE(contains(refused(folder_.string()).errors, "is a folder"));
  EXPECT_TRUE(contains(melix("repl", ":save! " + folder_.string() + "\n").errors, "is a folder"));
  EXPECT_TRUE(contains(refused((folder_ / "none/s.mlx").string()).errors, "No such file"));
  EXPECT_TRUE(contains(refused("/dev/full").errors, "is no file"));
  const fs::path pipe = folder_ / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_TRUE(contains(refused(pipe.string()).errors, "is no file")) << "and it does not wait";
  EXPECT_TRUE(contains(refused("").errors, "`:save` wants FILE"));
  EXPECT_TRUE(contains(refused("/proc/nowhere.mlx").errors, "cannot write"))
      << "where nothing may be written";
  EXPECT_EQ(refused("/proc/nowhere.mlx").output, "1\n");
}

TEST_F(Save, TheHomeFolderIsMeant) {
  setenv("HOME", folder_.c_str(), 1);
  EXPECT_EQ(melix("repl", "let x = 1\n:save ~/h.mlx\n").errors, "");
  EXPECT_EQ(melix("repl", ":load ~/h.mlx\nx\n").output, "1\n");
}

} // namespace
} // namespace melix::driver

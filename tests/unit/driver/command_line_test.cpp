#include "driver/command_line.h"

#include <gtest/gtest.h>

namespace melix::driver {
namespace {

using Words = std::vector<std::string>;

Invocation understood(Words words) {
  auto result = parseCommandLine(std::move(words));
  if (auto* answer = std::get_if<Answer>(&result)) ADD_FAILURE() << answer->text;
  auto* invocation = std::get_if<Invocation>(&result);
  return invocation ? *invocation : Invocation();
}

Answer answered(Words words) {
  auto result = parseCommandLine(std::move(words));
  auto* answer = std::get_if<Answer>(&result);
  if (!answer) ADD_FAILURE() << "the command line was accepted";
  return answer ? *answer : Answer();
}

TEST(CommandLine, RunGivesEverythingAfterTheFileToTheProgram) {
  Invocation run =
      understood({"run", "--interpret", "digits.mlx", "--epochs", "5", "--interpret", "-", "--help"});
  EXPECT_EQ(run.command, CommandKind::Run);
  EXPECT_EQ(run.program.file, "digits.mlx");
  EXPECT_TRUE(run.code.interpret);
  EXPECT_EQ(run.programArguments, Words({"--epochs", "5", "--interpret", "-", "--help"}));
}

TEST(CommandLine, RunTakesCodeInsteadOfAFile) {
  Invocation run = understood({"run", "-O0", "-e", "print(1)", "-O0", "x"});
  EXPECT_EQ(run.program.code, "print(1)");
  EXPECT_TRUE(run.program.file.empty());
  EXPECT_FALSE(run.code.optimise);
  EXPECT_EQ(run.programArguments, Words({"-O0", "x"}));
}

TEST(CommandLine, CodeMayBeginWithADash) {
  EXPECT_EQ(understood({"run", "-e", "-1"}).program.code, "-1");
  EXPECT_EQ(understood({"run", "-e", "--x"}).program.code, "--x");
}

TEST(CommandLine, ADashIsStandardInput) {
  EXPECT_EQ(understood({"run", "-", "a"}).program.file, "-");
  EXPECT_EQ(understood({"check", "-"}).program.file, "-");
  EXPECT_EQ(understood({"fmt", "-"}).files, Words({"-"}));
}

TEST(CommandLine, ProgramArgumentsMayHoldAnything) {
  Invocation run = understood({"run", "--cpu", "native", "p.mlx", "--", "", "-e", "[1,2]", "a b"});
  EXPECT_EQ(run.code.cpu, "native");
  EXPECT_EQ(run.programArguments, Words({"--", "", "-e", "[1,2]", "a b"}));
}

TEST(CommandLine, BuildTakesItsOutputOnEitherSide) {
  EXPECT_EQ(understood({"build", "p.mlx", "-o", "out"}).output, "out");
  Invocation build = understood({"build", "-o", "out", "--strip", "--strict-fp", "p.mlx"});
  EXPECT_EQ(build.output, "out");
  EXPECT_EQ(build.program.file, "p.mlx");
  EXPECT_TRUE(build.strip);
  EXPECT_TRUE(build.code.strictFp);
  EXPECT_FALSE(build.code.strictShapes);
  EXPECT_FALSE(build.code.checkOverflow);
}

TEST(CommandLine, ShowKnowsEveryStage) {
  const std::pair<const char*, StageKind> stages[] = {
      {"ast", StageKind::Ast},   {"core", StageKind::Core},   {"grad", StageKind::Grad},
      {"opt", StageKind::Opt},   {"plans", StageKind::Plans}, {"loops", StageKind::Loops},
      {"llvm", StageKind::Llvm}, {"asm", StageKind::Asm}};
  for (auto [name, stage] : stages)
    EXPECT_EQ(understood({"show", "--stage", name, "p.mlx"}).show.stage, stage) << name;
  const ShowOptions show = understood({"show", "p.mlx", "--stage=grad", "--count", "--only", "loss"}).show;
  EXPECT_TRUE(show.count);
  EXPECT_EQ(show.only, "loss");
}

TEST(CommandLine, TestAndFmtTakeManyFiles) {
  Invocation test = understood({"test", "--filter", "sum of", "a.mlx", "b.mlx"});
  EXPECT_EQ(test.files, Words({"a.mlx", "b.mlx"}));
  EXPECT_EQ(test.filter, "sum of");
  EXPECT_EQ(test.timeout, 60);
  EXPECT_EQ(understood({"test", "--timeout", "0.5", "a.mlx"}).timeout, 0.5);
  Invocation bench = understood({"bench", "a.mlx", "--seconds=2", "--filter", "sum", "b"});
  EXPECT_EQ(bench.files, Words({"a.mlx", "b"}));
  EXPECT_EQ(bench.seconds, 2);
  EXPECT_TRUE(understood({"fmt", "--check", "a.mlx", "b.mlx"}).checkFormat);
}

TEST(CommandLine, WrongLinesExplainThemselvesWithStatusTwo) {
  const std::pair<Words, const char*> cases[] = {
      {{"run"}, "no program"},
      {{"run", "--bogus", "p.mlx"}, "--bogus"},
      {{"frobnicate"}, "no command `frobnicate`"},
      {{"build", "-"}, "`-o OUT`"},
      {{"build", "-e", "1"}, "`-o OUT`"},
      {{"show", "p.mlx"}, "--stage"},
      {{"show", "--stage", "nope", "p.mlx"}, "nope"},
      {{"check", "a.mlx", "b.mlx"}, "b.mlx"},
      {{"check", "-e", "1", "a.mlx"}, "not both"},
      {{"run", "-O7", "p.mlx"}, "7"},
      {{"test", "--timeout", "-1", "p.mlx"}, "--timeout"},
      {{"test", "--timeout", "soon", "p.mlx"}, "a number of seconds from 0 to 1e9, not `soon`"},
      {{"test", "--timeout", "nan", "p.mlx"}, "--timeout"},
      {{"bench", "--seconds", "nan", "p.mlx"}, "a number of seconds from 0.001 to 1e9, not `nan`"},
      {{"bench", "--seconds", "0", "p.mlx"}, "--seconds"},
      {{"bench", "--timeout", "-1", "p.mlx"}, "--timeout"},
      {{"fmt"}, "FILE"},
      {{"--bogus"}, "--bogus"},
  };
  for (const auto& [words, part] : cases) {
    Answer answer = answered(words);
    EXPECT_EQ(answer.status, 2) << part;
    EXPECT_NE(answer.text.find(part), std::string::npos) << answer.text;
    EXPECT_NE(answer.text.find("--help"), std::string::npos) << answer.text;
  }
  EXPECT_EQ(answered({}).status, 2);
}

TEST(CommandLine, HelpNamesEveryCommandAndOption) {
  Answer help = answered({"--help"});
  EXPECT_EQ(help.status, 0);
  for (const char* word :
       {"run", "build", "check", "test", "bench", "show", "fmt", "repl", "--version", "101", "130"})
    EXPECT_NE(help.text.find(word), std::string::npos) << word;
  const std::pair<const char*, Words> commands[] = {
      {"run",
       {"--interpret", "-O0", "--strict-fp", "--strict-shapes", "--check-overflow", "--cpu", "-e CODE",
        "arguments"}},
      {"build", {"-o", "--strip", "--cpu", "x86-64-v3"}},
      {"check", {"--strict-shapes"}},
      {"show", {"ast", "core", "grad", "opt", "plans", "loops", "llvm", "asm", "--count", "--only"}},
      {"test", {"--filter", "--timeout", "--interpret", "-O0", "--check-overflow"}},
      {"bench", {"--filter", "--seconds", "-O0", "--cpu"}},
      {"fmt", {"--check", "-"}},
      {"repl", {"Ctrl-D"}},
  };
  for (const auto& [command, words] : commands) {
    Answer one = answered({command, "--help"});
    EXPECT_EQ(one.status, 0);
    for (const std::string& word : words)
      EXPECT_NE(one.text.find(word), std::string::npos) << word << " in:\n" << one.text;
  }
}

TEST(CommandLine, WhatAStageDoesNotShowIsSaid) {
  EXPECT_TRUE(understood({"show", "--stage", "opt", "--count", "--only", "f", "x.mlx"}).show.count);
  for (const char* stage : {"loops", "llvm", "asm"})
    for (const char* option : {"--count", "--only=f"}) {
      Answer refused = answered({"show", "--stage", stage, option, "x.mlx"});
      EXPECT_EQ(refused.status, 2);
      EXPECT_NE(refused.text.find(" opt, "), std::string::npos) << refused.text;
      EXPECT_NE(refused.text.find(std::string(", not for ") + stage), std::string::npos) << refused.text;
    }
}

TEST(CommandLine, FlagsTakeNoValue) {
  Answer refused = answered({"run", "--interpret=yes", "x.mlx"});
  EXPECT_EQ(refused.status, 2);
  EXPECT_NE(refused.text.find("`--interpret` takes no value"), std::string::npos) << refused.text;
  EXPECT_EQ(understood({"run", "--cpu=native", "x.mlx"}).code.cpu, "native");
}

TEST(CommandLine, VersionIsOneLine) {
  Answer version = answered({"--version"});
  EXPECT_EQ(version.status, 0);
  EXPECT_TRUE(version.text.starts_with("melix 0.")) << version.text;
  EXPECT_EQ(version.text.back(), '\n');
}

} // namespace
} // namespace melix::driver

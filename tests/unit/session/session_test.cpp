// A session over the library's sources: modules, stages, entries at the prompt.
#include "session/made_session.h"

#include "core/ir/ir.h"

#include <gtest/gtest.h>

namespace melix::session {
namespace {

std::string messages(const Session& session) {
  std::string out = session.bug();
  for (const Diagnostic* d : session.sink.inOrder()) out += renderDiagnostic(*d, session.sources, false);
  return out;
}

size_t derivativesIn(core::Module& module) {
  size_t count = 0;
  for (const core::Function& f : module.functions)
    for (const core::Op& op : f.ops) count += op.kind == core::OpKind::Derivative;
  return count;
}

TEST(Session, MacrosOfModulesAreExpandedThoughTheRootIsBroken) {
  auto session = makeSession(
      {{"lib.mlx", "macro two(a: Ident) -> Item { quote { pub fn $a() -> int = 2 } }\n@two(f)\n"}});
  session->load("main.mlx", "use lib.{f}\nfn g() -> int = if in\nprint(f())\n");
  EXPECT_EQ(session->sink.errorCount(), 1u) << messages(*session);
}

TEST(Session, AProgramReachesEveryStageVerified) {
  auto session = makeSession();
  names::ModuleId root = session->load("main.mlx", "fn f(x: f32) -> f32 = x * sin(x)\nprint(grad(f)(2.0))\n");
  ASSERT_TRUE(session->program(root)) << messages(*session);
  EXPECT_GT(derivativesIn(session->module()), 0u);
  EXPECT_TRUE(session->module().entry.valid());
  ASSERT_TRUE(session->advance(CoreStage::Derivatives)) << messages(*session);
  ASSERT_TRUE(session->advance(CoreStage::Optimised)) << messages(*session);
  EXPECT_TRUE(session->module().mathBodies.contains({ops::MathKind::Sin, types::TypeKind::F32}));
}

TEST(Session, FilesBesideTheRootComeBeforeTheLibrary) {
  auto session = makeSession({{"dir/helper.mlx", "pub fn twice(x: int) -> int = 2 * x\n"}});
  names::ModuleId root = session->load("dir/main.mlx", "use helper.{twice}\nprint(twice(3))\n");
  EXPECT_TRUE(session->check(root)) << messages(*session);
}

TEST(Session, AMissingModuleIsOneError) {
  auto session = makeSession();
  EXPECT_FALSE(session->check(session->load("main.mlx", "use nowhere\n")));
  EXPECT_EQ(session->sink.errorCount(), 1u) << messages(*session);
}

TEST(Session, ErrorsStopBeforeLowering) {
  auto session = makeSession();
  EXPECT_FALSE(session->program(session->load("main.mlx", "print(nothing)\n")));
  EXPECT_EQ(session->module().functions.size(), 0u);
}

TEST(Session, TestsAreFunctionsChosenByName) {
  auto session = makeSession();
  names::ModuleId root =
      session->load("main.mlx", "test \"one\" { assert true }\ntest \"two\" { assert true }\n");
  auto tests = session->tests(root, "tw");
  ASSERT_EQ(tests.size(), 1u) << messages(*session);
  EXPECT_EQ(tests[0].first, "two");
}

TEST(Session, EntriesAreFunctionsOfTheVariablesThereAre) {
  auto session = makeSession();
  names::ModuleId root = session->load("<prompt>", "let y = x + 1\ny * 2\n");
  check::PromptVariable x{session->names.intern("x"), session->types.int64(), false};
  check::PromptEntry entry = session->checker().prompt(root, {x});
  ASSERT_TRUE(entry.instance.valid()) << messages(*session);
  ASSERT_EQ(entry.variables.size(), 2u);
  EXPECT_EQ(session->names.text(entry.variables[1].name), "y");
  EXPECT_EQ(entry.variables[1].type, session->types.int64());
  session->renewModule();
  EXPECT_TRUE(session->lowerEntry(entry.instance)) << messages(*session);
  EXPECT_TRUE(session->advance(CoreStage::Optimised)) << messages(*session);
}

TEST(Session, WordsOfOtherLanguagesAreNamesWhereTheyAreDeclared) {
  auto session = makeSession();
  EXPECT_TRUE(session->check(
      session->load("main.mlx", "let range = 3\nfn new(val: int) -> int = val\nprint(new(range))\n")))
      << messages(*session);
}

/// What is wrong with a program of these functions, in this order, that calls the last of the chain, `f0`.
std::string wrongWithChain(int length, bool calleesFirst, const std::string& result) {
  std::string text;
  for (int at = 0; at < length; ++at) {
    const int k = calleesFirst ? length - 1 - at : at;
    text += "fn f" + std::to_string(k) + "(x: f64)" + result + " = " +
            (k + 1 < length ? "f" + std::to_string(k + 1) + "(x) + 1" : "x") + "\n";
  }
  text += "print(f0(1.0))\n";
  auto session = makeSession();
  auto root = session->load("chain.mlx", text);
  if (!session->program(root)) return messages(*session) + " refused";
  return messages(*session);
}

TEST(Session, ChainsOfFunctionsMayBeLongInAnyOrder) {
  for (bool calleesFirst : {true, false})
    for (const char* result : {" -> f64", ""}) EXPECT_EQ(wrongWithChain(3000, calleesFirst, result), "");
}

TEST(Session, OverloadsThatCallEachOtherMayBeMany) {
  std::string text;
  for (int k = 0; k < 400; ++k) {
    const std::string n = std::to_string(k);
    text += "struct S" + n + " { x: int }\nfn go(s: S" + n + ") -> int = ";
    text += k == 0 ? "s.x\n" : "go(S" + std::to_string(k - 1) + "(s.x + 1))\n";
  }
  text += "print(go(S399(1)))\n";
  auto session = makeSession();
  auto root = session->load("overloads.mlx", text);
  ASSERT_TRUE(root);
  EXPECT_TRUE(session->program(root));
  EXPECT_EQ(messages(*session), "");
}

} // namespace
} // namespace melix::session

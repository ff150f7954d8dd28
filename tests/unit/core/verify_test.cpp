// The verifier names what is wrong.
#include "core/core_text.h"

namespace melix::core {
namespace {

void expectProblem(const char* text, const char* part) {
  TextModule m(text);
  EXPECT_NE(m.problems().find(part), std::string::npos) << m.problems();
}

void expectFine(const std::string& text) {
  TextModule m(text);
  EXPECT_EQ(m.problems(), "") << text;
}

TEST(Verify, OperandTypesMustAgree) {
  expectProblem("fn f (%a: f32, %b: f64) -> (f32) {\n  %c = add %a, %b : f32\n  yield %c\n}\n",
                "f64 where f32 belongs");
}

TEST(Verify, ValuesOfARegionStayInside) {
  TextModule m("fn f (%c: bool, %a: f32) -> (f32) {\n  %r = if %c {\n    %x = add %a, %a : f32\n    yield "
               "%x\n  } {\n    yield %a\n  } : f32\n  yield %r\n}\n");
  Function& f = m.module.functions[FunctionId(0)];
  ValueId inner = f.ops[f.regions[f.ops[f.regions[f.body].ops[0]].regions[0]].ops[0]].results[0];
  f.ops[f.regions[f.body].ops[1]].operands[0] = inner;
  EXPECT_NE(m.problems().find("not defined here"), std::string::npos) << m.problems();
}

TEST(Verify, KeysOfFunctionsAreUnique) {
  TextModule m("fn f () -> () {\n  yield\n}\nfn g () -> () {\n  yield\n}\n");
  EXPECT_EQ(m.problems(), "");
  m.module.functions[FunctionId(1)].key = m.module.functions[FunctionId(0)].key = "f";
  EXPECT_NE(m.problems().find("two functions have the key f"), std::string::npos) << m.problems();
}

TEST(Verify, TypesMentionDefinedDimsOnly) {
  expectProblem("fn f (%a: f32[N]) -> () {\n  yield\n}\n", "mentions a dimension that is not defined here");
  expectProblem(
      "fn f (%n: i64) -> () {\n  %d = dim_value dims [N] : i64\n  bind_dim %n defines [N]\n  yield\n}\n",
      "dimension N is not defined here");
}

TEST(Verify, BranchesYieldWhatTheIfGives) {
  expectProblem("fn f (%c: bool, %a: f32, %n: i64) -> (f32) {\n  %r = if %c {\n    yield %a\n  } {\n    "
                "yield %n\n  } : f32\n  yield %r\n}\n",
                "yields int where f32 belongs");
}

/// A function that matches `%t`.
std::string matching(const std::string& type, const std::string& cases, const std::string& regions) {
  return "fn f (%t: " + type + ", %a: f32) -> () {\n  match cases [" + cases + "] %t" + regions +
         "\n  yield\n}\n";
}

TEST(Verify, NumbersAreMatchedByRegionsWithoutPayload) {
  const std::string two = " {\n    yield\n  } {\n    yield\n  }";
  for (const char* type : {"bool", "u8", "i8", "i32", "u64"}) expectFine(matching(type, "0, 1", two));
  expectFine(matching("u8", "0, 1, 1, 0", two));
  expectProblem(matching("bool", "0, 1, 1", two).c_str(), "needs regions for numbers of its type");
  expectProblem(matching("u8", "", two).c_str(), "needs regions for numbers of its type");
  expectProblem(matching("u8", "0, 2", two).c_str(), "no such region");
  expectProblem(matching("f32", "0, 1", two).c_str(), "needs an enum, a bool or an integer");
  expectProblem(matching("u8", "0", " { (%b: f32)\n    yield\n  }").c_str(), "a number has no payload");
}

TEST(Verify, NumbersAreNotMatchedBeforeEnumsAreFlat) {
  TextModule m(matching("u8", "0, 0", " {\n    yield\n  }"));
  EXPECT_TRUE(verify(m.module, {State::DerivativesGone}).empty());
  const std::vector<std::string> problems = verify(m.module, {State::EnumsMatched});
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_NE(problems[0].find("no number may be matched here"), std::string::npos) << problems[0];
}

TEST(Verify, AccumulatorsAreWriteOnly) {
  expectProblem(R"(fn f [N] (%h: f32[N]) -> (f32[N]) {
  %r = nest (%i: N) -> accs (%a = %h) {
    %x = get %a[%i] : f32
    %b = add_at %a[%i] += %x : acc f32[N]
    yield %b
  } : f32[N]
  yield %r
}
)",
                "an accumulator cannot be read");
}

TEST(Verify, PathsFitTheirValue) {
  expectProblem("fn f [N] (%x: f32[N], %i: i64) -> (f32) {\n  %a = get %x[%i, %i] : f32\n  yield %a\n}\n",
                "an index step needs an array");
}

// An array of so many leaves is no array for each part.
TEST(Verify, FieldsOfLargeRecordsAreOfOneElement) {
  std::string large = "struct R[D] { a: f32[D]";
  for (int k = 0; k < 64; ++k) large += ", b" + std::to_string(k) + ": f32";
  for (const char* path : {"%x.0", "%x[%i].0", "%x[%i, :].0", "%x[%i +: 2, %i].0"})
    expectProblem((large + " }\n\nfn f (%x: R[6][4, 4], %i: i64) -> () {\n  %a = get " + std::string(path) +
                   " : f32[4, 6]\n  yield\n}\n")
                      .c_str(),
                  "a step into an array needs an index of each axis");
}

/// Where records are flat; else a path goes through an element.
TEST(Verify, AFieldOfAnArrayOfRecordsIsAnArray) {
  const std::string record =
      "struct R[D] { a: f32[D], b: f32 }\n\nfn f (%x: R[6][4, 5], %i: i64) -> () {\n  %a = get ";
  const std::string flat = "records flat\n" + record;
  expectFine(flat + "%x.0 : f32[4, 5, 6]\n  yield\n}\n");
  expectFine(flat + "%x.0[%i] : f32[5, 6]\n  yield\n}\n");
  expectFine(flat + "%x.0[%i, :, %i] : f32[5]\n  yield\n}\n");
  expectProblem((flat + "%x.1[%i, %i] : f32[6]\n  yield\n}\n").c_str(), "type f32[6] where f32 belongs");
  const char *through = "%x[%i, %i].0 : f32[6]\n  yield\n}\n", *part = "%x.0[%i, %i] : f32[6]\n  yield\n}\n";
  expectFine(record + through);
  expectFine(flat + part);
  expectProblem((flat + through).c_str(), "an index stands before the field of its array");
  expectProblem((record + part).c_str(), "a field stands before the index of its array");
}

} // namespace
} // namespace melix::core

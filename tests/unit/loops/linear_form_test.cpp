// Linear forms of numbers in a body, from text.
#include "loops/analysis/linear_form.h"

#include "loops/loops_text.h"

namespace melix::loops {
namespace {

/// The form of the last value of a body over %i, %j and the parameters %n and %m; empty if it has none.
std::string formOf(const std::string& body) {
  LoopsText loops("fn @f(%i: i64, %j: i64, %n: i64, %m: i64, %x: data) {\n" + body + "  yield\n}\n");
  EXPECT_EQ(loops.read.error, "") << body;
  const Function& fn = loops.module().functions[FunctionId(0)];
  const Region& all = fn.regions[fn.body];
  const ValueId last = fn.stmts[all.stmts[all.stmts.size() - 2]].results[0];
  auto isTerm = [&](ValueId v) {
    return std::ranges::find(all.params.begin(), all.params.begin() + 4, v) != all.params.begin() + 4;
  };
  const std::optional<LinearForm> form = linearForm(fn, last, isTerm);
  if (!form) return "";
  const ValueNames names(loops.module(), fn);
  std::string out;
  for (auto [v, factor] : form->terms) out += std::to_string(factor) + names[v] + " ";
  return out + std::to_string(form->constant);
}

TEST(LinearForm, SumsDifferencesAndProductsByConstants) {
  EXPECT_EQ(formOf("  %c = const 4 : i64\n  %a = mul %i, %c : i64\n  %b = sub %a, %n : i64\n"
                   "  %d = const 3 : i64\n  %e = add %b, %d : i64\n"),
            "4%i -1%n 3");
  EXPECT_EQ(formOf("  %c = const 4 : i64\n  %a = add %i, %j : i64\n  %b = mul %c, %a : i64\n"
                   "  %e = neg %b : i64\n"),
            "-4%i -4%j 0");
}

TEST(LinearForm, TermsThatCancelOutAreGone) {
  EXPECT_EQ(formOf("  %a = add %i, %n : i64\n  %b = sub %a, %i : i64\n"), "1%n 0");
  EXPECT_EQ(formOf("  %a = sub %i, %i : i64\n"), "0");
}

TEST(LinearForm, OtherNumbersHaveNone) {
  EXPECT_EQ(formOf("  %a = mul %i, %j : i64\n"), "");
  EXPECT_EQ(formOf("  %a = max %i, %j : i64\n  %b = add %a, %i : i64\n"), "");
  EXPECT_EQ(formOf("  %a = and %i, %j : i64\n"), "");
}

TEST(LinearForm, SharedOperandsAreReadOnce) {
  std::string body = "  %v0 = add %i, %j : i64\n";
  for (int k = 1; k < 20; ++k) {
    const std::string before = "%v" + std::to_string(k - 1);
    body += "  %v" + std::to_string(k) + " = add " + before + ", " + before + " : i64\n";
  }
  EXPECT_EQ(formOf(body), "524288%i 524288%j 0");
}

} // namespace
} // namespace melix::loops

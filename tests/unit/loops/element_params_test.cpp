// Of which parameters only elements are read, from Core text.
#include "loops/layout/element_params.h"

#include "core/ir/walk.h"
#include "core/order/verify.h"
#include "core/text/parse.h"

#include <gtest/gtest.h>

namespace melix::loops {
namespace {

struct Found {
  explicit Found(const std::string& text) {
    EXPECT_EQ(core::parseModule(module, text), "");
    for (const std::string& problem : core::verify(module)) ADD_FAILURE() << problem;
    params.emplace(module, layouts);
  }
  bool operator()(std::string_view function, size_t k = 0) {
    return (*params)(core::findFunction(module, function), k);
  }

  Interner names;
  types::TypeStore types{names};
  core::Module module{types};
  Layouts layouts{types};
  std::optional<ElementParams> params;
};

/// Whether a function of one array with this body only reads elements of it.
bool reads(const std::string& results, const std::string& body) {
  return Found("fn f [N] (%x: f64[N], %y: f64[N], %m: f64[N, N], %i: i64) -> (" + results + ") {\n" + body +
               "}\n")("f");
}

TEST(ElementParams, ElementsAndCopiesAreRead) {
  EXPECT_TRUE(reads("f64", "  %a = get %x[%i] : f64\n  yield %a\n"));
  EXPECT_TRUE(reads("f64[2]", "  %a = get %x[%i +: 2] : f64[2]\n  yield %a\n"));
  EXPECT_TRUE(reads("f64[N, N]", "  %a = set %m[%i] = %x : f64[N, N]\n  yield %a\n"));
  EXPECT_TRUE(reads("f64[N, N]", "  %a = add_at %m[%i] += %x : f64[N, N]\n  yield %a\n"));
  EXPECT_TRUE(reads("f64[2, N]", "  %a = array %x, %y : f64[2, N]\n  yield %a\n"));
  EXPECT_TRUE(reads("f64[N]", "  %a = add %y, %x : f64[N]\n  yield %a\n"));
  EXPECT_TRUE(reads("i64[N]", "  %a = argsort ascending %x : i64[N]\n  yield %a\n"));
}

TEST(ElementParams, WhatIsGivenBackKeptOrChangedIsNone) {
  EXPECT_FALSE(reads("f64[N]", "  yield %x\n"));
  EXPECT_FALSE(reads("f64[N]", "  %a = cast_dims %x : f64[N]\n  yield %a\n"));
  EXPECT_FALSE(reads("(f64[N], f64[N])", "  %a = make %x, %y : (f64[N], f64[N])\n  yield %a\n"));
  EXPECT_FALSE(reads("List[f64[N]]", "  %a = list %x : List[f64[N]]\n  yield %a\n"));
  EXPECT_FALSE(reads("f64[N]", "  %a = get %y[%i] : f64\n  %b = set %x[%i] = %a : f64[N]\n  yield %b\n"));
  EXPECT_FALSE(reads("f64[N]", "  %a = add %x, %y : f64[N]\n  yield %a\n"));
  EXPECT_FALSE(reads("f64[N]", "  %c = cmp lt %i, %i : bool\n  %a = if %c {\n    yield %x\n  } {\n"
                               "    yield %y\n  } : f64[N]\n  yield %a\n"));
  EXPECT_FALSE(reads("str", "  %a = format \"\" %x : str\n  yield %a\n"));
}

TEST(ElementParams, AreFollowedThroughCallsAndRecursion) {
  Found found(R"(
fn reads [N] (%x: f64[N], %i: i64) -> (f64) {
  %a = get %x[%i] : f64
  %b = call @again %x, %i dims [N] : f64
  %c = add %a, %b : f64
  yield %c
}
fn again [N] (%x: f64[N], %i: i64) -> (f64) {
  %y = cast_dims %x : f64[N]
  %a = call @reads %y, %i dims [N] : f64
  yield %a
}
fn keeps [N] (%x: f64[N], %y: f64[N]) -> (f64[N]) {
  yield %x
}
fn passes [N] (%x: f64[N], %y: f64[N]) -> (f64[N]) {
  %z = call @keeps %x, %y dims [N] : f64[N]
  yield %z
}
)");
  EXPECT_TRUE(found("reads"));
  EXPECT_TRUE(found("again"));
  EXPECT_FALSE(found("keeps"));
  EXPECT_FALSE(found("passes"));
  EXPECT_TRUE(found("keeps", 1));
  EXPECT_TRUE(found("passes", 1));
}

/// What is read of a List or of rows of any length may have owners of its own.
TEST(ElementParams, MayBeListsAndPacks) {
  Found found(R"(
fn name (%xs: List[str], %i: i64) -> (str, i64) {
  %n = length %xs : i64
  %s = get %xs<%i> : str
  yield %s, %n
}
fn longest (%p: pack 1 f64[_]) -> (i64) {
  %x = unpack %p defines [D] : f64[D]
  %n = dim_value dims [D] : i64
  yield %n
}
fn whole (%p: pack 1 f64[_]) -> (pack 1 f64[_]) {
  %x = unpack %p defines [D] : f64[D]
  %q = pack %x dims [D] : pack 1 f64[_]
  yield %q
}
fn pushed (%xs: List[str], %s: str) -> (List[str]) {
  %ys = push %xs, %s : List[str]
  yield %ys
}
)");
  EXPECT_TRUE(found("name"));
  EXPECT_TRUE(found("longest"));
  EXPECT_FALSE(found("whole"));
  EXPECT_FALSE(found("pushed"));
}

} // namespace
} // namespace melix::loops

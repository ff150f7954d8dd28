// What is uniform, affine and varying between lanes, of bodies given as text.
#include "loops/analysis/variance.h"

#include "loops/analysis/vectorizability.h"
#include "loops/loops_text.h"

namespace melix::loops {
namespace {

/// `name kind` of each value in a region, in the order of the text.
class Kinds {
public:
  Kinds(const Module& module, const Function& fn, const Variance& variance)
      : fn_(fn), names_(module, fn), variance_(variance) {}

  std::string of(RegionId r) {
    all(fn_.regions[r].params);
    for (StmtId id : fn_.regions[r].stmts) {
      all(fn_.stmts[id].results);
      for (RegionId inner : fn_.stmts[id].regions) of(inner);
    }
    return out_;
  }

private:
  void all(const std::vector<ValueId>& values) {
    constexpr const char* kinds[] = {"uniform", "affine", "varying"};
    for (ValueId v : values)
      out_ += (out_.empty() ? "" : ", ") + names_[v].substr(1) + " " +
              kinds[static_cast<size_t>(variance_.of(v))];
  }

  const Function& fn_;
  ValueNames names_;
  const Variance& variance_;
  std::string out_;
};

/// Of the values in a loop over points with this body; what it carries is a sum %s that begins with %z.
std::string kindsIn(const std::string& body, bool carries = false) {
  LoopsText loops("fn @f(%k: i64, %c: bool, %z: i64, %x: data, %y: data) {\n  %one = const 1 : i64\n  " +
                  std::string(carries ? "%sum = for independent %one, %k, %z : i64 { (%i, %s)\n"
                                      : "for independent %one, %k { (%i)\n") +
                  body + (carries ? "" : "    yield\n") + "  }\n  yield\n}\n");
  EXPECT_EQ(loops.read.error, "") << body;
  if (!loops.read.error.empty()) return "";
  const Function& fn = loops.module().functions[FunctionId(0)];
  const Stmt& loop = fn.stmts[fn.regions[fn.body].stmts[1]];
  return Kinds(loops.module(), fn, Variance(fn, loop)).of(loop.regions[0]);
}

TEST(Variance, TheIndexGrowsAndWhatIsCarriedVaries) {
  EXPECT_EQ(kindsIn(""), "i affine");
  EXPECT_EQ(kindsIn("    %t = add %s, %one : i64\n    yield %t\n", true), "i affine, s varying, t varying");
}

TEST(Variance, SumsAndMultiplesOfWhatGrowsGrow) {
  EXPECT_EQ(kindsIn("    %a = add %i, %k : i64\n    %b = sub %k, %a : i64\n    %n = neg %b : i64\n"),
            "i affine, a affine, b affine, n affine");
  EXPECT_EQ(kindsIn("    %a = add %i, %i : i64\n    %b = sub %a, %i : i64\n"),
            "i affine, a affine, b affine");
  EXPECT_EQ(kindsIn("    %a = mul %i, %k : i64\n    %b = mul %k, %a : i64\n"),
            "i affine, a affine, b affine");
  EXPECT_EQ(kindsIn("    %a = mul %k, %one : i64\n    %b = cmp lt %a, %z : bool\n"),
            "i affine, a uniform, b uniform");
}

TEST(Variance, OtherFunctionsOfTheIndexVary) {
  EXPECT_EQ(kindsIn("    %a = mul %i, %i : i64\n    %b = add %a, %k : i64\n"),
            "i affine, a varying, b varying");
  EXPECT_EQ(kindsIn("    %a = shr %i, %one : i64\n    %b = and %i, %k : i64\n    %d = max %i, %k : i64\n"),
            "i affine, a varying, b varying, d varying");
  EXPECT_EQ(kindsIn("    %a = irem %i, %k : i64\n    %b = cmp lt %i, %k : bool\n"
                    "    %d = select %c, %i, %k : i64\n"),
            "i affine, a varying, b varying, d varying");
  // In fewer bits it could wrap between lanes.
  EXPECT_EQ(kindsIn("    %a = convert wrap %i : i32\n    %b = add %a, %a : i32\n"),
            "i affine, a varying, b varying");
}

TEST(Variance, AReadIsUniformWhereItsPlaceIs) {
  EXPECT_EQ(kindsIn("    %a = load %x[%k*%one] : f32\n    %b = load %x[%i*%one] : f32\n"
                    "    %p = load %x[%k*%one + %i*%k] : f32\n"),
            "i affine, a uniform, b varying, p varying");
  EXPECT_EQ(kindsIn("    %g = load %x[%i*%one] : i64\n    %b = load %y[%g*%one] : f32\n"),
            "i affine, g varying, b varying");
  EXPECT_EQ(kindsIn("    %p = address_of %x[%k*%one] by 24 : address\n    %a = load %p at 8 : f32\n"
                    "    %q = address_of %x[%i*%one] by 24 : address\n    %b = load %q at 8 : f32\n"),
            "i affine, p uniform, a uniform, q varying, b varying");
}

TEST(Variance, ABranchIsUniformIfAllTakeItAndItIsInEach) {
  const std::string same = " : i64, i64 {\n      yield %k, %k\n    } {\n      yield %z, %i\n    }\n";
  EXPECT_EQ(kindsIn("    %a, %b = if %c" + same), "i affine, a uniform, b varying");
  EXPECT_EQ(kindsIn("    %m = cmp lt %i, %k : bool\n    %a, %b = if %m" + same),
            "i affine, m varying, a varying, b varying");
  const std::string cases = " : i64 {\n      yield %k\n    } {\n      yield %z\n    }\n";
  EXPECT_EQ(kindsIn("    %a = switch [0, 1, 0] %k" + cases), "i affine, a uniform");
  EXPECT_EQ(kindsIn("    %a = switch [0, 1, 0] %i" + cases), "i affine, a varying");
}

TEST(Variance, ALoopInsideIsAsItsEndsAndWhatItCarries) {
  auto sum = [](const std::string& ends, const std::string& term) {
    return "    %r = for " + ends + ", %z : i64 { (%j, %t)\n      %u = add %t, " + term +
           " : i64\n      yield %u\n    }\n";
  };
  EXPECT_EQ(kindsIn(sum("%one, %k", "%j")), "i affine, r uniform, j uniform, t uniform, u uniform");
  EXPECT_EQ(kindsIn(sum("%one, %k", "%i")), "i affine, r varying, j uniform, t varying, u varying");
  // Lanes leave at different turns: those that are on are at the same.
  EXPECT_EQ(kindsIn(sum("%one, %i", "%j")), "i affine, r varying, j uniform, t varying, u varying");
  EXPECT_EQ(kindsIn(sum("%i, %k", "%j")), "i affine, r varying, j affine, t varying, u varying");
}

TEST(Variance, WhatIsCarriedAroundReachesItsBeginning) {
  // %b is uniform in the first turn, and after it what %a was.
  EXPECT_EQ(kindsIn("    %p, %q = for %one, %k, %i, %z : i64, i64 { (%j, %a, %b)\n"
                    "      %d = add %b, %one : i64\n      yield %a, %a\n    }\n"),
            "i affine, p varying, q varying, j uniform, a varying, b varying, d varying");
}

/// A `while` that hands its values on: each takes the one in front, the first varies.
std::string chainOf(size_t length) {
  std::string first = "%k", params, params2, next = "%v";
  for (size_t k = 0; k < length; ++k) {
    const std::string number = std::to_string(k);
    first += k ? ", %k" : "";
    params += (k ? ", %a" : "%a") + number;
    params2 += (k ? ", %b" : "%b") + number;
    if (k + 1 < length) next += ", %b" + number;
  }
  std::string types = "i64";
  for (size_t k = 1; k < length; ++k) types += ", i64";
  std::string results = "%r0";
  for (size_t k = 1; k < length; ++k) results += ", %r" + std::to_string(k);
  return "    %v = load %x[%i*%one] : i64\n    " + results + " = while " + first + " : " + types + " { (" +
         params + ")\n      yield %c\n    } { (" + params2 + ")\n      yield " + next + "\n    }\n";
}

TEST(Variance, AChainOfCarriedValuesVariesToItsEnd) {
  const std::string kinds = kindsIn(chainOf(2000));
  EXPECT_NE(kinds.find("r1999 varying"), std::string::npos);
  EXPECT_EQ(kinds.find("uniform"), std::string::npos);
}

TEST(Variance, AWhileLoopIsAsItsTest) {
  auto loop = [](const std::string& limit) {
    return "    %r = while %z : i64 { (%a)\n      %g = cmp lt %a, " + limit +
           " : bool\n      yield %g\n    } { (%b)\n      %n = add %b, %one : i64\n      yield %n\n    }\n";
  };
  EXPECT_EQ(kindsIn(loop("%k")), "i affine, r uniform, a uniform, g uniform, b uniform, n uniform");
  EXPECT_EQ(kindsIn(loop("%i")), "i affine, r varying, a varying, g varying, b varying, n varying");
}

TEST(Variance, OfACalleeByItsArguments) {
  LoopsText loops(R"(fn @f(%k: i64, %w: f32) {
  for independent %k, %k { (%i)
    %a = call @g %k, %w : f32
    %b = call @g %i, %w : f32
    yield
  }
  yield
}

fn @g(%n: i64, %v: f32) -> f32 closed inlined {
  %m = add %n, %n : i64
  %s = mul %v, %v : f32
  %t = convert saturate %m : f32
  %u = add %s, %t : f32
  yield %u
}
)");
  ASSERT_EQ(loops.read.error, "");
  const Function &f = loops.module().functions[FunctionId(0)], &g = loops.module().functions[FunctionId(1)];
  const Stmt& loop = f.stmts[f.regions[f.body].stmts[0]];
  const Variance caller(f, loop);
  EXPECT_EQ(Kinds(loops.module(), f, caller).of(loop.regions[0]), "i affine, a uniform, b varying");
  // A number that grows is a vector for a callee.
  const Stmt& call = f.stmts[f.regions[loop.regions[0]].stmts[1]];
  const Variance callee = varianceOfCall(loops.module(), call, caller);
  EXPECT_EQ(Kinds(loops.module(), g, callee).of(g.body),
            "n varying, v uniform, m varying, s uniform, t varying, u varying");
}

} // namespace
} // namespace melix::loops

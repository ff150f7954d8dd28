// Which loops run in lanes, from text, for a processor that the test makes up.
#include "loops/lanes/vectorize.h"

#include "loops/loops_text.h"

namespace melix::loops {
namespace {

constexpr Machine machine{"", 512, 32, MaskKind::Registers};

/// The loops of @f in the order of its text, once lanes were chosen.
std::vector<ForAttr> chosen(const std::string& body, const Machine& on = machine) {
  std::vector<ForAttr> out;
  textAfter("fn @f(%n: i64, %m: i64, %k: i64, %z: f32, %x: data, %w: data, %y: data) {\n"
            "  %zero = const 0 : i64\n  %one = const 1 : i64\n" +
                body + "  yield\n}\n",
            [&](Module& module) {
              Function& fn = module.functions[FunctionId(0)];
              vectorize(module, on);
              EXPECT_EQ(verify(module, {State::CountsInserted}), "");
              std::vector<RegionId> open{fn.body};
              while (!open.empty()) {
                const RegionId r = open.back();
                open.pop_back();
                for (StmtId id : fn.regions[r].stmts) {
                  const Stmt& s = fn.stmts[id];
                  if (s.kind == StmtKind::For) out.push_back(s.as<ForAttr>());
                  open.insert(open.end(), s.regions.begin(), s.regions.end());
                }
              }
            });
  return out;
}

/// One character for each loop: `v` in lanes, `r` in rows, `-` as it was.
std::string kinds(const std::string& body, const Machine& on = machine) {
  std::string out;
  for (const ForAttr& attr : chosen(body, on)) {
    EXPECT_TRUE(attr.vectorWidth == 0 || attr.unrollJam == 0);
    EXPECT_EQ(attr.vectorWidth > 0, attr.interleave > 0);
    out += attr.vectorWidth > 0 ? 'v' : attr.unrollJam > 0 ? 'r' : '-';
  }
  return out;
}

std::string loop(const std::string& head, const std::string& body) {
  return "for " + head + "\n" + body + "yield\n}\n";
}
/// A copy of elements of a type, in this loop.
std::string copy(const std::string& type, const std::string& ends = "%zero, %n") {
  return loop("independent " + ends + " { (%i)",
              "%v = load %x[%i*%one] : " + type + "\nstore %y[%i*%one] = %v\n");
}

/// Rows, columns and a sum of integers over `term`, a value %t of the index %l.
std::string exactSum(const std::string& term, const std::string& rows = "independent %zero, %m { (%i)") {
  const std::string sum = "%s = for independent %zero, %k, %zero : i64 { (%l, %c)\n" + term +
                          "%u = add %c, %t : i64\nyield %u\n}\nstore %y[%i*%n + %j*%one] = %s\n";
  return loop(rows, loop("independent %zero, %n { (%j)", sum));
}

TEST(ChooseLanes, SumsThatNothingRoundsAreLeftToColumns) {
  const std::string row = "%a = load %x[%i*%k + %l*%one] : i64\n";
  EXPECT_EQ(kinds(exactSum(row + "%b = load %w[%l*%n + %j*%one] : i64\n%t = mul %a, %b : i64\n")), "rv-");
  EXPECT_EQ(kinds(exactSum(row + "%b = load %w[%j*%k + %l*%one] : i64\n%t = mul %a, %b : i64\n")), "rv-")
      << "of two sides, however they lie";
  EXPECT_EQ(kinds(exactSum("%t = load %w[%l*%n + %j*%one] : i64\n", "%zero, %m { (%i)")), "-v-")
      << "columns are side by side, turns are not";
  EXPECT_EQ(kinds(exactSum("%t = load %w[%j*%k + %l*%one] : i64\n", "%zero, %m { (%i)")), "--v")
      << "turns are side by side";
}

/// Points that look for the best of many sums, of `terms` terms each, which lie in rows of so many.
std::string best(const std::string& terms) {
  const std::string sum = "%t = for %zero, %d, %z : f32 { (%l, %s)\n%a = load %x[%i*%d + %l*%one] : f32\n"
                          "%b = load %w[%j*%d + %l*%one] : f32\n%u = fma %a, %b, %s : f32\nyield %u\n}\n";
  return "%d = " + terms + " : i64\n" +
         loop("independent %zero, %n { (%i)",
              "%r = for independent %zero, %m, %z : f32 { (%j, %c)\n" + sum +
                  "%q = max %c, %t : f32\nyield %q\n}\nstore %y[%i*%one] = %r\n");
}

TEST(ChooseLanes, TheBestOfSumsIsLeftToPoints) {
  EXPECT_EQ(kinds(best("add %k, %zero")), "vr-");
  EXPECT_EQ(kinds(best("const 30")), "vr-");
  EXPECT_EQ(kinds(best("const 8")), "v-") << "terms are written out";
}

/// Sums of the squares of so many sums, whose terms lie in rows of as many.
std::string squares(const std::string& terms) {
  const std::string sum = "%p = for %zero, %d, %z : f32 { (%l, %t)\n%a = load %x[%i*%d + %l*%one] : f32\n"
                          "%b = load %w[%j*%d + %l*%one] : f32\n%u = fma %a, %b, %t : f32\nyield %u\n}\n";
  return "%d = " + terms + " : i64\n" +
         loop("independent %zero, %n { (%i)",
              "%s = for independent %zero, %d, %z : f32 { (%j, %c)\n" + sum +
                  "%v = fma %p, %p, %c : f32\nstore %y[%i*%many + %j*%one] = %p\n"
                  "yield %v\n}\nstore %y[%i*%many + %d*%one] = %s\n");
}

TEST(ChooseLanes, WhatIsTheSameInTurnsAroundIsPutApartOnce) {
  const std::string before = "%many = const 250 : i64\n";
  EXPECT_EQ(kinds(before + squares("const 12")), "vr-");
  EXPECT_EQ(kinds(before + squares("add %k, %zero")), "vr-");
}

TEST(ChooseLanes, TermsOfRowsAreWrittenOutIfTheyAreFew) {
  const std::string inner = "%q = for %zero, %three, %p : f32 { (%b, %o)\n%g = add %a, %b : i64\n"
                            "%v = load %x[%i*%k + %g*%one] : f32\n%u = load %w[%g*%n + %j*%one] : f32\n"
                            "%e = fma %v, %u, %o : f32\nyield %e\n}\nyield %q\n}\n",
                    terms = "%s = for %zero, %k, %z : f32 { (%l, %t)\n"
                            "%r = for %zero, %three, %t : f32 { (%a, %p)\n" +
                            inner + "yield %r\n}\nstore %y[%i*%n + %j*%one] = %s\n",
                    three = "%three = const 3 : i64\n";
  EXPECT_EQ(kinds(three + loop("independent %zero, %m { (%i)", loop("independent %zero, %n { (%j)", terms))),
            "rv--");
  EXPECT_EQ(kinds(three + loop("%zero, %m { (%i)", loop("independent %zero, %n { (%j)", terms))), "-v-");
}

TEST(ChooseLanes, TheInnermostLoopOfPoints) {
  const std::string inner = loop("independent %zero, %n { (%j)", "%v = load %x[%j*%one] : f32\n"
                                                                 "store %y[%i*%n + %j*%one] = %v\n");
  EXPECT_EQ(kinds(copy("f32")), "v");
  EXPECT_EQ(kinds(loop("independent %zero, %m { (%i)", inner)), "-v");
  EXPECT_EQ(kinds(loop("%zero, %m { (%i)", inner)), "-v");
  EXPECT_EQ(kinds(loop("%zero, %m { (%i)", "%v = load %x[%i*%one] : f32\nstore %y[%i*%one] = %v\n")), "-");
}

TEST(ChooseLanes, ALoopAroundWhereTheInnerOneIsAChain) {
  const std::string chain = "%s = for %zero, %k, %z : f32 { (%j, %t)\n"
                            "%v = load %x[%i*%k + %j*%one] : f32\n%u = add %t, %v : f32\nyield %u\n}\n"
                            "store %y[%i*%one] = %s\n";
  EXPECT_EQ(kinds(loop("independent %zero, %m { (%i)", chain)), "v-");
  const std::string checked = "%g = cmp lt %i, %k : bool\ncheck \"no\" %g\n";
  EXPECT_EQ(kinds(loop("independent %zero, %m { (%i)", checked + chain)), "--");
}

TEST(ChooseLanes, LoopsSideBySideAreChosenEach) {
  EXPECT_EQ(kinds(loop("independent %zero, %m { (%a)", "store %y[%a*%one] = %z\n") +
                  loop("%zero, %m { (%b)", "store %y[%b*%one] = %z\n") +
                  loop("independent %zero, %m { (%c)", "store %y[%c*%one] = %z\n")),
            "v-v");
}

TEST(ChooseLanes, AVeryShortLoopIsNoStrip) {
  EXPECT_EQ(kinds("%many = const 1000 : i64\n" + copy("f32", "%zero, %many")), "v");
  EXPECT_EQ(kinds(copy("f32", "%zero, %one")), "-");
  EXPECT_EQ(kinds(copy("f32", "%one, %zero")), "-");
  EXPECT_EQ(kinds(copy("f32", "%one, %one")), "-");
}

TEST(ChooseLanes, AsManyAsARegisterHoldsOfTheWidestValue) {
  auto lanes = [](const std::string& type) { return chosen(copy(type)).at(0).vectorWidth; };
  for (auto [type, bits] : {std::pair{"i8", 8U}, {"bf16", 16U}, {"f32", 32U}, {"i32", 32U}, {"f64", 64U}})
    EXPECT_EQ(lanes(type), machine.vectorBits / bits) << type;
  const std::string widened = loop("independent %zero, %n { (%i)", "%v = load %x[%i*%one] : f32\n"
                                                                   "%u = convert saturate %v : f64\n"
                                                                   "store %y[%i*%one] = %u\n");
  EXPECT_EQ(chosen(widened).at(0).vectorWidth, lanes("f64"));
  const std::string gathered = loop("independent %zero, %n { (%i)", "%g = load %w[%i*%one] : i64\n"
                                                                    "%v = load %x[%g*%one] : f32\n"
                                                                    "store %y[%i*%one] = %v\n");
  EXPECT_EQ(chosen(gathered).at(0).vectorWidth, lanes("i64")) << "places are values too";
  const std::string added = loop("independent %zero, %n { (%i)", "%g = add %i, %k : i64\n"
                                                                 "%v = load %x[%g*%one] : f32\n"
                                                                 "store %y[%i*%one] = %v\n");
  EXPECT_EQ(chosen(added).at(0).vectorWidth, lanes("f32")) << "a place that grows is one number";
}

TEST(ChooseLanes, NoMoreRegistersThanTurns) {
  for (int turns : {4, 5, 8, 16, 17, 31, 32, 64, 100})
    for (const char* type : {"i8", "f32", "f64"})
      for (const ForAttr& attr :
           chosen("%e = const " + std::to_string(turns) + " : i64\n" + copy(type, "%zero, %e")))
        if (attr.vectorWidth > 0 && attr.interleave != 1)
          EXPECT_LE(attr.vectorWidth * attr.interleave, std::bit_ceil(static_cast<uint32_t>(turns)));
  for (int turns : {4, 5, 7, 9, 31}) // without masks a rest is done turn by turn
    for (const ForAttr& attr :
         chosen("%e = const " + std::to_string(turns) + " : i64\n" + copy("f32", "%zero, %e"),
                Machine{"", 256, 16, MaskKind::None}))
      if (attr.vectorWidth > 0) EXPECT_GE(attr.interleave, 1U) << turns;
}

TEST(ChooseLanes, ByTheProcessor) {
  const Machine small{"", 128, 16, MaskKind::None};
  EXPECT_EQ(chosen(copy("f32"), small).at(0).vectorWidth * 4, chosen(copy("f32")).at(0).vectorWidth);
}

/// A product of matrices; `first` and `second` are what is read of them.
std::string product(const std::string& first, const std::string& second, const std::string& end = "%k") {
  return loop("independent %zero, %m { (%i)",
              loop("independent %zero, %n { (%j)",
                   "%s = for %zero, " + end + ", %z : f32 { (%l, %t)\n%a = load %x[" + first +
                       "] : f32\n%b = load %w[" + second +
                       "] : f32\n%u = fma %a, %b, %t : f32\nyield %u\n}\nstore %y[%i*%n + %j*%one] = %s\n"));
}

TEST(ChooseLanes, RowsWhereTheChainReadsWhatTheyShare) {
  EXPECT_EQ(kinds(product("%i*%k + %l*%one", "%l*%n + %j*%one")), "rv-");
  EXPECT_EQ(kinds(product("%i*%k + %l*%one", "%l*%one")), "-v-") << "one number for all lanes is no read";
  EXPECT_EQ(kinds(product("%i*%k + %l*%one", "%i*%k + %l*%n + %j*%one")), "-v-") << "nothing is shared";
  EXPECT_EQ(kinds(product("%i*%k + %l*%one", "%l*%n + %j*%one", "%i")), "-v-") << "chains of other lengths";
}

/// A sum of squares of sums, one for each point.
std::string squares(const std::string& first, const std::string& second, const std::string& behind = "") {
  return loop("independent %zero, %n { (%j)", "%s = for independent %zero, %m, %z : f32 { (%i, %t)\n"
                                              "%c = for %zero, %k, %z : f32 { (%l, %p)\n%a = load %x[" +
                                                  first + "] : f32\n%b = load %w[" + second +
                                                  "] : f32\n%q = fma %a, %b, %p : f32\nyield %q\n}\n"
                                                  "%u = fma %c, %c, %t : f32\n" +
                                                  behind + "yield %u\n}\nstore %y[%j*%one] = %s\n");
}

TEST(ChooseLanes, TurnsOfASumAroundTheChainAreRows) {
  const std::string matrix = "%i*%k + %l*%one", along = "%l*%n + %j*%one", apart = "%j*%k + %l*%one";
  EXPECT_EQ(kinds(squares(matrix, along)), "vr-");
  EXPECT_EQ(kinds(squares(matrix, apart)), "vr-");
  EXPECT_EQ(kinds(squares("%i*%k + %l*%n + %j*%one", along)), "v--")
      << "lanes read of each turn something else";
  EXPECT_EQ(kinds(loop("independent %zero, %m { (%r)", squares(matrix, along))), "-vr-") << "not of both";
  EXPECT_EQ(chosen(squares(matrix, along)).at(1).unrollJam, 6u);
  EXPECT_EQ(chosen(squares(matrix, along, "store %y[%j*%m + %i*%one] = %c\n")).at(1).unrollJam, 8u)
      << "what they store side by side is stored together";
}

TEST(ChooseLanes, AChainThatKeepsWhatItCarriesRunsInLanes) {
  auto powers = [](const std::string& kept) {
    return loop("independent %zero, %n { (%i)",
                "%x0 = load %x[%i*%one] : f32\n%s = for %zero, %m, %z : f32 { (%j, %t)\n"
                "%u = mul %t, %x0 : f32\n" +
                    kept + "yield %u\n}\nstore %w[%i*%one] = %s\n");
  };
  EXPECT_EQ(kinds(powers("")), "v-");
  const std::string kept = powers("store %y[%i*%m + %j*%one] = %t\n");
  EXPECT_EQ(kinds(kept), "vr") << "some turns store together";
  EXPECT_EQ(chosen(kept).at(1).unrollJam, 8u);
  EXPECT_EQ(chosen(kept).at(0).interleave, 2u) << "what they store is kept until then";
}

TEST(ChooseLanes, WhatAChainUsesOfItsPointIsHeldBesideWhatItCarries) {
  auto chain = [](const std::string& step) {
    return loop("independent %zero, %n { (%i)",
                "%a = load %x[%i*%one] : f32\n%b = load %w[%i*%one] : f32\n%c = add %a, %b : f32\n"
                "%s, %d = for %zero, %m, %z, %z : f32, f32 { (%j, %t, %u)\n" +
                    step + "yield %p, %q\n}\nstore %y[%i*%one] = %s\n");
  };
  EXPECT_EQ(chosen(chain("%p = fma %t, %a, %z : f32\n%q = fma %u, %a, %z : f32\n")).at(0).interleave, 8u);
  EXPECT_EQ(chosen(chain("%p = fma %t, %a, %b : f32\n%q = fma %u, %c, %z : f32\n")).at(0).interleave, 4u);
}

TEST(ChooseLanes, RowsOfStripsAsManyAsRegistersHold) {
  const std::string sums =
      "%mask = const 63 : i64\n" +
      loop("independent %zero, %m { (%i)",
           "%f = scratch 256 : address\n" +
               loop("independent distance 64 %zero, %k { (%r)", "%a = load %x[%i*%k + %r*%one] : f32\n"
                                                                "%b = load %w[%r*%one] : f32\n"
                                                                "%p = and %r, %mask : i64\n"
                                                                "%t = load %f[%p*%one] : f32\n"
                                                                "%u = fma %a, %b, %t : f32\n"
                                                                "store %f[%p*%one] = %u\n") +
               "%v = load %f[%zero*%one] : f32\nstore %y[%i*%one] = %v\n");
  EXPECT_EQ(kinds(sums), "rv");
  EXPECT_EQ(chosen(sums).at(0).unrollJam, 4u);
  EXPECT_EQ(kinds(sums, Machine{"", 256, 16, MaskKind::None}), "-v") << "one row takes half of them";
}

TEST(ChooseLanes, ThreeSumsTakeFourLanes) {
  const std::string three = "%three = const 3 : i64\n";
  auto columns = [](const std::string& body) {
    std::string out = body;
    out.replace(out.find("%n {"), 2, "%three");
    return out;
  };
  const std::string sums = three + columns(product("%i*%k + %l*%one", "%l*%n + %j*%one"));
  EXPECT_EQ(kinds(sums), "rv-");
  EXPECT_NE(kinds(sums, Machine{"", 256, 16, MaskKind::None}), "rv-") << "one lane too many needs a mask";
  EXPECT_EQ(kinds(three + copy("f32", "%zero, %three")), "-");
}

/// A product of so many columns, which lie in rows of `terms` numbers.
std::string transposed(const std::string& terms, const std::string& columns) {
  std::string text = product("%i*%d + %l*%one", "%j*%d + %l*%one", "%d");
  text.replace(text.find("%n { (%j)"), 2, "%c");
  return "%d = const " + terms + " : i64\n%c = const " + columns + " : i64\n" + text;
}

TEST(ChooseLanes, WhatRowsShareIsPutApartForSomeOfThem) {
  EXPECT_EQ(kinds(transposed("72", "8")), "rv-") << "columns are gathered";
  EXPECT_EQ(kinds(transposed("12", "16")), "rv-") << "of rows of 12";
  EXPECT_EQ(kinds(transposed("8", "16")), "rv-") << "terms stay for a panel, which rows share";
}

TEST(ChooseLanes, RowsOnlyInsideOfAChain) {
  const std::string add = loop("independent %zero, %m { (%i)",
                               loop("independent %zero, %n { (%j)", "%a = load %x[%i*%n + %j*%one] : f32\n"
                                                                    "%b = load %w[%j*%one] : f32\n"
                                                                    "%u = add %a, %b : f32\n"
                                                                    "store %y[%i*%n + %j*%one] = %u\n"));
  EXPECT_EQ(kinds(add), "-v");
  std::string single = product("%i*%k + %l*%one", "%l*%n + %j*%one");
  single.replace(single.find("%zero, %m"), 9, "%zero, %one");
  EXPECT_EQ(kinds(single), "-v-");
  std::string serial = product("%i*%k + %l*%one", "%l*%n + %j*%one");
  serial.erase(serial.find("independent "), 12);
  EXPECT_EQ(kinds(serial), "-v-");
}

/// Lanes of the rows of a kernel whose columns are sums of three, launched for so many rows.
uint32_t lanesOfRows(const std::string& rows) {
  uint32_t lanes = 0;
  textAfter(
      "fn @f(%n: i64, %x: data, %w: data, %y: data) {\n  %few = const 6 : i64\n  %many = const 60 : i64\n" +
          rows +
          "  yield\n}\n\nkernel @k(%first: i64, %last: i64, %x: data, %w: data, %y: data) {\n"
          "  %zero = const 0 : i64\n  %one = const 1 : i64\n  %three = const 3 : i64\n"
          "  %six = const 6 : i64\n  %z = const 0.0 : f32\n"
          "  for independent %first, %last { (%i)\n    for independent %zero, %six { (%j)\n"
          "      %s = for %zero, %three, %z : f32 { (%l, %t)\n"
          "        %a = load %x[%i*%three + %l*%one] : f32\n        %b = load %w[%l*%six + %j*%one] : f32\n"
          "        %u = fma %a, %b, %t : f32\n        yield %u\n      }\n"
          "      store %y[%i*%six + %j*%one] = %s\n      yield\n    }\n    yield\n  }\n  yield\n}\n",
      [&](Module& module) {
        vectorize(module, machine);
        EXPECT_EQ(verify(module, {State::CountsInserted}), "");
        const Function& kernel = module.functions[FunctionId(1)];
        for (StmtId id : kernel.regions[kernel.body].stmts)
          if (kernel.stmts[id].kind == StmtKind::For) lanes = kernel.stmts[id].as<ForAttr>().vectorWidth;
      });
  return lanes;
}

TEST(ChooseLanes, FewRowsOfAKernelLeaveLanesToTheirColumns) {
  const std::string few = "  launch @k %few, %n, %x, %w, %y\n", many = "  launch @k %many, %n, %x, %w, %y\n",
                    some = "  launch @k %n, %n, %x, %w, %y\n";
  EXPECT_EQ(lanesOfRows(few), 0U);
  EXPECT_EQ(lanesOfRows(many), 16U);
  EXPECT_EQ(lanesOfRows(few + many), 16U);
  EXPECT_EQ(lanesOfRows(few + some), 16U);
}

TEST(ChooseLanes, NoMoreRegistersThanAKernelHasTurns) {
  auto turnsAtOnce = [](int columns) {
    uint32_t turns = 0;
    textAfter("fn @f(%n: i64, %x: data, %w: data, %y: data) {\n  %m = const " + std::to_string(columns) +
                  " : i64\n  launch @k %m, %n, %n, %x, %w, %y\n  yield\n}\n\n"
                  "kernel @k(%first: i64, %last: i64, %n: i64, %x: data, %w: data, %y: data) {\n"
                  "  %zero = const 0 : i64\n  %one = const 1 : i64\n  %z = const 0.0 : f32\n"
                  "  for independent %first, %last { (%j)\n    %s = for %zero, %n, %z : f32 { (%l, %t)\n"
                  "      %a = load %x[%l*%one] : f32\n      %b = load %w[%l*%n + %j*%one] : f32\n"
                  "      %u = fma %a, %b, %t : f32\n      yield %u\n    }\n"
                  "    store %y[%j*%one] = %s\n    yield\n  }\n  yield\n}\n",
              [&](Module& module) {
                vectorize(module, machine);
                turns = module.functions[FunctionId(1)].tripCount.unrolledBy;
              });
    return turns;
  };
  EXPECT_EQ(turnsAtOnce(16), 16U);
  EXPECT_EQ(turnsAtOnce(64), 64U);
  EXPECT_GT(turnsAtOnce(1000), 64U);
}

} // namespace
} // namespace melix::loops

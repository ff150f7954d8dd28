// Adds into accumulators that become sums: those of accumulators that are handed to a nest.
#include "transforms/accumulation/scatter_to_gather.h"
#include "transforms/pass_text.h"
#include "transforms/simplify/simplify.h"

namespace melix::transforms {
namespace {

using interp::Value;

/// A function that is handed an accumulator, called for each of a batch; its body adds `terms` at each point.
std::string handed(std::string_view axes, std::string_view place, std::string_view around = "") {
  return R"(fn f (%x: f32[2, 3], %w: f32[3]) -> (f32[3]) {
  %h = nest (%b: 2) -> accs (%c = %w) {
    %r = get %x[%b] : f32[3]
    %d = call @g %r, %c : acc f32[3]
    yield %d
  } : f32[3]
  yield %h
}

fn g (%r: f32[3], %c: acc f32[3]) -> (acc f32[3]) inout 1=0 {
  %k = const 1 : i64
  %h = nest ()" +
         std::string(axes) + ") -> accs (%a = %c) {\n" + std::string(around) +
         "    %v = get %r[%i] : f32\n    %n = add_at %a" + std::string(place) + R"( += %v : acc f32[3]
    yield %n
  } : acc f32[3]
  yield %h
}
)";
}

Value rows() { return Value::floats(std::vector<float>{1, 2, 3, 4, 5, 6}, {2, 3}); }
Value three() { return Value::floats(std::vector<float>{1, 2, 4}); }

TEST(AccumulateToReduce, WhatAFunctionIsHandedIsAddedToOnce) {
  PassText m(handed("%i: 3, %j: 3", "[%j]"));
  m.apply(scatterToGather, {rows(), three()});
  EXPECT_EQ(m.count("] sum {"), 1u) << m.text();
  EXPECT_EQ(m.count("-> accs"), 1u) << "the batch: " << m.text();
}

/// Adds at `place` for each point of a triangle of three rows, which `inner` says how long they are.
std::string triangle(const std::string& inner, const std::string& index, const std::string& place) {
  return R"(fn f (%x: f32[3, 3], %w: f32[3]) -> (f32[3]) {
  %z = zero : f32[3]
  %h = nest (%i: 3) -> accs (%a = %z) {
    bind_dim %i defines [r]
    %k = dim_value dims [r + 1] : i64
    %b = nest (%j: )" +
         inner + ") -> accs (%c = %a) {\n" + index + "      %v = get %x[%i, %p] : f32\n      %n = add_at %c" +
         place + R"( += %v : acc f32[3]
      yield %n
    } : acc f32[3]
    yield %b
  } : f32[3]
  yield %h
}
)";
}

TEST(AccumulateToReduce, RowsOfDifferentLengthAreMasked) {
  const Value x = Value::floats(std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8, 9}, {3, 3});
  const std::string plus = "      %p = add %j, %k : i64\n",
                    same = "      %o = const 0 : i64\n      %p = add %j, %o : i64\n";
  for (const std::string& text : {triangle("r + 1", same, "[%p]"), triangle("2 - r", plus, "[%p]"),
                                  triangle("r", same, "[%i]"), triangle("2 - r", plus, "[%i]")}) {
    PassText m(text);
    m.apply(scatterToGather, {x, three()});
    EXPECT_EQ(m.count("accs"), 0u) << m.text();
    EXPECT_EQ(m.count("] sum {"), 1u) << m.text();
    EXPECT_EQ(m.count("bind_dim"), 0u) << "the size is a form of the axes\n" << m.text();
  }
}

/// A loop over three turns that adds terms of `read` to rows of what it carries.
std::string adding(const std::string& axes, const std::string& read) {
  return R"(fn f (%x: f32[3], %w: f32[4, 3]) -> (f32[4, 3]) {
  %n = const 3 : i64
  %h = for collects 0 %n, %w { (%t: i64, %a: f32[4, 3])
    %c = nest ()" +
         axes + R"() -> accs (%b = %a) {
      %p = add %i, %t : i64
      %v = get )" +
         read + R"( : f32
      %d = add_at %b[%p, %j] += %v : acc f32[4, 3]
      yield %d
    } : f32[4, 3]
    yield %c
  } : f32[4, 3]
  yield %h
}
)";
}
std::vector<Value> threeAndRows() {
  return {three(), Value::floats(std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, {4, 3})};
}

TEST(AccumulateToReduce, InALoopOnlyTheRowsThatAreReachedAreAddedTo) {
  PassText m(adding("%i: 2, %j: 3, %s: 2", "%x[%j]"));
  m.apply(scatterToGather, threeAndRows());
  EXPECT_EQ(m.count("accs"), 0u) << m.text();
  EXPECT_EQ(m.count("[%t +: 2, :] += "), 1u) << m.text();
}

TEST(AccumulateToReduce, InALoopTermsOfPlacesOfTheirOwnAreAddedWhereTheseLie) {
  PassText m(adding("%j: 3, %i: 2", "%x[%j]"));
  m.apply(scatterToGather, threeAndRows());
  EXPECT_EQ(m.count("nest (%1: 2, %2: 3) -> accs"), 1u) << "the rows' axis inside: " << m.text();
  PassText other(adding("%j: 3, %i: 2", "%a[%i, %j]"));
  other.apply(scatterToGather, threeAndRows());
  EXPECT_EQ(other.count("accs"), 0u) << "of what is updated the terms come first: " << other.text();
}

TEST(AccumulateToReduce, NotARowAsLongAsDataSays) {
  PassText m(R"(fn f (%x: f32[3], %n: i64[3]) -> (f32[3]) {
  %z = zero : f32[3]
  %h = nest (%i: 3) -> accs (%a = %z) {
    %l = get %n[%i] : i64
    bind_dim %l defines [r]
    %v = get %x[%i] : f32
    %b = nest (%j: r) -> accs (%c = %a) {
      %d = add_at %c[%j] += %v : acc f32[3]
      yield %d
    } : acc f32[3]
    yield %b
  } : f32[3]
  yield %h
}
)");
  const int64_t dims[] = {3}, lengths[] = {1, 3, 2};
  m.apply(scatterToGather, {three(), Value::array(types::TypeKind::I64, dims, lengths)});
  EXPECT_EQ(m.count("accs"), 2u) << m.text();
}

TEST(AccumulateToReduce, NotWhereEachElementHasOneTerm) {
  PassText m(handed("%i: 3", "[%i]"));
  m.apply(scatterToGather, {rows(), three()});
  EXPECT_EQ(m.count("-> accs"), 2u) << m.text();
}

TEST(AccumulateToReduce, NotWhereAPartOfTheElementsIsReached) {
  PassText some(handed("%i: 3, %j: 2", "[%j]"));
  some.apply(scatterToGather, {rows(), three()});
  EXPECT_EQ(some.count("-> accs"), 2u) << some.text();
  PassText moved(handed("%i: 3, %j: 2", "[%p]", "    %p = add %j, %k : i64\n"));
  moved.apply(scatterToGather, {rows(), three()});
  EXPECT_EQ(moved.count("-> accs"), 2u) << moved.text();
}

TEST(AccumulateToReduce, NotWhereThePlaceIsAnyNumber) {
  PassText m(handed("%i: 3", "[%p]", "    %q = mul %i, %i : i64\n    %p = irem %q, %k : i64\n"));
  m.apply(scatterToGather, {rows(), three()});
  EXPECT_EQ(m.count("-> accs"), 2u) << m.text();
}

/// Of nests in each other the outer one is a sum; where it cannot be one, the inner one is.
std::string inside(std::string_view place) {
  return R"(fn f (%x: f32[2, 3], %w: f32[3]) -> (f32[3]) {
  %k = const 3 : i64
  %h = nest (%b: 2) -> accs (%c = %w) {
    %q = mul %b, %b : i64
    %p = irem %q, %k : i64
    %e = nest (%i: 3, %j: 3) -> accs (%a = %c) {
      %v = get %x[%b, %i] : f32
      %n = add_at %a[%j] += %v : acc f32[3]
      yield %n
    } : acc f32[3]
)" + std::string(place) +
         R"(    yield %d
  } : f32[3]
  yield %h
}
)";
}

TEST(AccumulateToReduce, OfNestsInEachOtherTheOuterOneIsASumOrTheInnerOne) {
  const Value x = rows(), w = three();
  PassText both(inside("    %one = get %x[%b, %b] : f32\n    %d = add_at %e[%b] += %one : acc f32[3]\n"));
  both.apply(scatterToGather, {x, w});
  EXPECT_EQ(both.count("-> accs"), 0u) << both.text();
  PassText inner(inside("    %one = get %x[%b, %b] : f32\n    %d = add_at %e[%p] += %one : acc f32[3]\n"));
  inner.apply(scatterToGather, {x, w});
  EXPECT_EQ(inner.count("-> accs"), 1u) << inner.text();
  EXPECT_EQ(inner.count("] sum {"), 1u) << inner.text();
}

TEST(AccumulateToReduce, ThePlaceIsNotComputedAgain) {
  PassText m(R"(fn f (%y: f32[4, 3]) -> (f32[4]) {
  %z = zero : f32[4]
  %one = const 1 : i64
  %nought = const 0 : i64
  %four = const 4 : i64
  %h = nest (%i: 4, %k: 3) -> accs (%a = %z) {
    %s = add %i, %k : i64
    %p = sub %s, %one : i64
    %l = cmp ge %p, %nought : bool
    %u = cmp lt %p, %four : bool
    %g = and %l, %u : bool
    %r = if %g {
      %v = get %y[%i, %k] : f32
      %n = add_at %a[%p] += %v : acc f32[4]
      yield %n
    } {
      yield %a
    } : acc f32[4]
    yield %r
  } : f32[4]
  yield %h
}
)");
  m.apply(scatterToGather,
          {Value::floats(std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, {4, 3})});
  EXPECT_EQ(m.count("] sum {"), 1u) << m.text();
  m.apply(simplify);
  EXPECT_EQ(m.count("cmp"), 2u) << "whether there is such a point: " << m.text();
}

/// A sum into seven elements of what four steps of `step` and three places beside them have.
std::string inSteps(const std::string& place) {
  return "fn f (%y: f32[4, 3]) -> (f32[9]) {\n  %z = zero : f32[9]\n  %two = const 2 : i64\n"
         "  %six = const 6 : i64\n  %h = nest (%i: 4, %k: 3) -> accs (%a = %z) {\n"
         "    %s = mul %i, %two : i64\n" +
         place +
         "    %v = get %y[%i, %k] : f32\n    %n = add_at %a[%p] += %v : acc f32[9]\n    yield %n\n"
         "  } : f32[9]\n  yield %h\n}\n";
}

TEST(AccumulateToReduce, StepsAreSolvedForTogetherWithWhatIsBesideThem) {
  for (const char* place :
       {"    %p = add %s, %k : i64\n", "    %d = sub %six, %s : i64\n    %p = add %d, %k : i64\n",
        "    %d = sub %s, %k : i64\n    %p = add %d, %two : i64\n"}) {
    PassText m(inSteps(place));
    m.apply(scatterToGather,
            {Value::floats(std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, {4, 3})});
    EXPECT_EQ(m.count(": 9, %"), 1u) << m.text();
    EXPECT_EQ(m.count(": 2) -> keep["), 1u) << "of three places at most two have the remainder: " << m.text();
    m.apply(simplify, {Value::floats(std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, {4, 3})});
  }
}

Value twelve() { return Value::floats(std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, {4, 3}); }

TEST(AccumulateToReduce, OfFewerStepsThanTheRestHasPointsEachIsATerm) {
  PassText m("fn f (%y: f32[4, 3]) -> (f32[8]) {\n  %z = zero : f32[8]\n  %two = const 2 : i64\n"
             "  %h = nest (%i: 4, %k: 2) -> accs (%a = %z) {\n    %s = mul %k, %two : i64\n"
             "    %p = add %i, %s : i64\n    %v = get %y[%i, %k] : f32\n"
             "    %n = add_at %a[%p] += %v : acc f32[8]\n    yield %n\n  } : f32[8]\n  yield %h\n}\n");
  m.apply(scatterToGather, {twelve()});
  EXPECT_EQ(m.count(": 8, %"), 1u) << m.text();
  EXPECT_EQ(m.count(": 2) -> keep["), 1u) << "a window of two, spread: " << m.text();
  EXPECT_EQ(m.count("irem"), 0u) << m.text();
}

/// Adds a number for each point at the places that `parts` make of %i.
std::string dividing(const std::string& extents, const std::string& parts, const std::string& place) {
  return "fn f (%y: f32[4, 3]) -> (f32" + extents + ") {\n  %z = zero : f32" + extents +
         "\n  %one = const 1 : i64\n  %two = const 2 : i64\n  %three = const 3 : i64\n"
         "  %large = const 40 : i64\n  %h = nest (%i: 4, %k: 3) -> accs (%a = %z) {\n" +
         parts + "    %v = get %y[%i, %k] : f32\n    %n = add_at %a" + place + " += %v : acc f32" + extents +
         "\n    yield %n\n  } : f32" + extents + "\n  yield %h\n}\n";
}

TEST(AccumulateToReduce, QuotientsAndRemaindersAreAxes) {
  const std::string half = "    %q = idiv %i, %two : i64\n", rest = "    %r = irem %i, %two : i64\n",
                    next = "    %s = add %i, %one : i64\n    %q = idiv %s, %two : i64\n",
                    beside = half + "    %p = add %q, %k : i64\n";
  for (const std::string& text :
       {dividing("[2, 3]", half, "[%q, %k]"), dividing("[2, 2]", half + rest, "[%q, %r]"),
        dividing("[2, 3]", rest, "[%r, %k]"), dividing("[3, 3]", next, "[%q, %k]"),
        dividing("[4, 2]", beside + rest, "[%p, %r]"), dividing("[4, 2]", rest, "[%i, %r]")}) {
    PassText m(text);
    m.apply(scatterToGather, {twelve()});
    EXPECT_EQ(m.count("accs"), 0u) << m.text();
    m.apply(simplify, {twelve()});
  }
}

TEST(AccumulateToReduce, NotWhereQuotientsAndRemaindersHaveManyMorePairsThanPoints) {
  const std::string inPart = "    %s = add %i, %k : i64\n    %q = idiv %s, %two : i64\n",
                    both = "    %q = idiv %i, %three : i64\n    %r = idiv %k, %two : i64\n",
                    shifted = "    %s = add %i, %one : i64\n    %r = irem %s, %large : i64\n";
  for (const std::string& text :
       {dividing("[3, 3]", inPart, "[%q, %k]"), dividing("[2, 2]", both, "[%q, %r]"),
        dividing("[40, 3]", shifted, "[%r, %k]")}) {
    PassText m(text);
    m.apply(scatterToGather, {twelve()});
    EXPECT_EQ(m.count("accs"), 1u) << m.text();
  }
}

TEST(AccumulateToReduce, QuotientsByWhatDiffersAreLookedUp) {
  PassText m(dividing("[5, 3]", "    %d = add %k, %one : i64\n    %q = idiv %i, %d : i64\n", "[%q, %k]"));
  m.apply(scatterToGather, {twelve()});
  EXPECT_EQ(m.count("accs"), 1u) << m.text();
}

/// Adds the greatest of each pair of places to where it was found.
std::string greatest(const std::string& index) {
  return "fn f (%y: f32[4, 3]) -> (f32[4, 3]) {\n  %z = zero : f32[4, 3]\n  %two = const 2 : i64\n"
         "  %h = nest (%i: 2, %k: 3) -> accs (%a = %z) {\n    %s = mul %i, %two : i64\n"
         "    %v, %g = nest (%j: 2) -> keep[] max, keep[] argmax {\n      %p = add %s, %j : i64\n"
         "      %u = get %y[%p, %k] : f32\n      yield %u, %u\n    } : f32, i64\n    %q = " +
         index + "\n    %n = add_at %a[%q, %k] += %v : acc f32[4, 3]\n    yield %n\n  } : f32[4, 3]\n" +
         "  yield %h\n}\n";
}

TEST(AccumulateToReduce, WherePlacesAreFoundEachIsAskedWhetherItIsTheOne) {
  PassText m(greatest("add %s, %g : i64"));
  m.apply(scatterToGather, {twelve()});
  EXPECT_EQ(m.count("accs"), 0u) << m.text();
  EXPECT_EQ(m.count("] sum {"), 0u) << "a quotient and a remainder tell which one it is: " << m.text();
}

TEST(AccumulateToReduce, NotWhereManyPlacesWouldBeAskedForEachPoint) {
  PassText m("fn f (%y: f32[100, 50], %w: f32[50]) -> (f32[50]) {\n  %z = zero : f32[50]\n"
             "  %h = nest (%i: 100) -> accs (%a = %z) {\n"
             "    %v, %g = nest (%j: 50) -> keep[] max, keep[] argmax {\n"
             "      %u = get %y[%i, %j] : f32\n      yield %u, %u\n    } : f32, i64\n"
             "    %n = add_at %a[%g] += %v : acc f32[50]\n    yield %n\n  } : f32[50]\n  yield %h\n}\n");
  m.apply(scatterToGather);
  EXPECT_EQ(m.count("accs"), 1u) << "what a hundred points chose of fifty: " << m.text();
}

TEST(AccumulateToReduce, MultiplesWhereWhatIsAddedIsASum) {
  const std::string twice = "    %q = mul %i, %two : i64\n";
  PassText sum(dividing("[8]", twice, "[%q]")), each(dividing("[8, 3]", twice, "[%q, %k]"));
  sum.apply(scatterToGather, {twelve()});
  EXPECT_EQ(sum.count("accs"), 0u) << sum.text();
  each.apply(scatterToGather, {twelve()});
  EXPECT_EQ(each.count("accs"), 1u) << "half of the elements have no term: " << each.text();
}

/// Adds an exponential of `term`, which pairs of %i and %j have, to a row of each.
std::string pairs(const std::string& term) {
  return "fn f [N, M] (%x: f32[N], %y: f32[M], %t: f32[N, M]) -> (f32[N], f32[M]) {\n  %u = zero : f32[N]\n"
         "  %w = zero : f32[M]\n  %p, %q = nest (%i: N, %j: M) -> accs (%a = %u, %b = %w) {\n" +
         term +
         "    %e = math exp %s : f32\n    %c = add_at %a[%i] += %e : acc f32[N]\n"
         "    %d = add_at %b[%j] += %e : acc f32[M]\n    yield %c, %d\n  } : f32[N], f32[M]\n  yield %p, "
         "%q\n}\n";
}

TEST(AccumulateToReduce, WhatPairsAreMadeOfIsMadeAgainAndNotKeptOfEachPair) {
  PassText m(pairs("    %k = get %x[%i] : f32\n    %l = get %y[%j] : f32\n    %s = add %k, %l : f32\n"));
  m.apply(scatterToGather, {Value::floats(std::vector<float>{1, 2}), three(), rows()});
  EXPECT_EQ(m.count("] sum {"), 2u) << m.text();
  EXPECT_EQ(m.count("collect"), 0u) << m.text();
}

TEST(AccumulateToReduce, WhatVariesWithSomeOfTheAxesIsKept) {
  PassText m(pairs("    %k = get %x[%i] : f32\n    %s = add %k, %k : f32\n"));
  m.apply(scatterToGather, {Value::floats(std::vector<float>{1, 2}), three(), rows()});
  EXPECT_EQ(m.count("collect"), 1u) << m.text();
}

TEST(AccumulateToReduce, WhatIsMadeOfPairsOfOneSizeOrOfFewIsKept) {
  const std::string sum = "    %k = get %x[%i] : f32\n    %l = get %y[%j] : f32\n    %s = add %k, %l : f32\n";
  for (auto [first, second] : {std::pair("M", "M"), std::pair("3", "3"), std::pair("64", "32")}) {
    std::string text = pairs(sum);
    for (auto [from, to] : {std::pair("N", first), std::pair("M", second)})
      for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + 2))
        text.replace(at, 1, to);
    const bool isConstant = std::isdigit(*first) != 0;
    text.replace(text.find(" ["), text.find("] (") + 1 - text.find(" ["), isConstant ? "" : " [M]");
    PassText m(text);
    m.apply(scatterToGather);
    EXPECT_EQ(m.count("collect"), 1u) << m.text();
  }
}

TEST(AccumulateToReduce, WhatIsMadeOfATableIsKept) {
  PassText m(pairs("    %s = get %t[%i, %j] : f32\n"));
  m.apply(scatterToGather, {Value::floats(std::vector<float>{1, 2}), three(), rows()});
  EXPECT_EQ(m.count("collect"), 1u) << m.text();
}

/// Adds the sum of two rows of each point to one array of all.
std::string sumOfRows(const std::string& second) {
  return "fn f (%x: f32[2, 3], %w: f32[3]) -> (f32[3]) {\n  %z = zero : f32[3]\n"
         "  %h = nest (%i: 2) -> accs (%a = %z) {\n    %n = get %w[%i] : f32\n"
         "    %p = nest (%j: 3) -> collect[j] {\n      %b = get %x[%i, %j] : f32\n      %c = mul %n, %b : "
         "f32\n"
         "      yield %c\n    } : f32[3]\n" +
         second +
         "    %s = add %p, %q : f32[3]\n    %d = add_at %a += %s : acc f32[3]\n    yield %d\n  } : f32[3]\n"
         "  yield %h\n}\n";
}

TEST(AccumulateToReduce, RowsThatAreSumsOfRowsAreSumsOfTheirOwn) {
  PassText m(sumOfRows("    %q = nest (%k: 3) -> collect[k] {\n      %e = get %x[%i, %k] : f32\n"
                       "      %g = add %e, %n : f32\n      yield %g\n    } : f32[3]\n"));
  m.apply(scatterToGather, {rows(), three()});
  EXPECT_EQ(m.count("] sum {"), 2u) << m.text();
}

TEST(AccumulateToReduce, SumsOfSeveralRowsToo) {
  auto row = [](const std::string& n) {
    return " = nest (%k" + n + ": 3) -> collect[k" + n + "] {\n      %e" + n + " = get %x[%i, %k" + n +
           "] : f32\n      %g" + n + " = add %e" + n + ", %n : f32\n      yield %g" + n +
           "\n    } : f32[3]\n";
  };
  PassText m(sumOfRows("    %t" + row("1") + "    %u = add %t, %p : f32[3]\n    %v" + row("2") +
                       "    %q = add %u, %v : f32[3]\n"));
  m.apply(scatterToGather, {rows(), three()});
  EXPECT_EQ(m.count("] sum {"), 4u) << m.text();
}

/// A sum of rows of which the mean is taken too, as that of a row whose mean was subtracted: no row is kept.
TEST(AccumulateToReduce, RowsOfWhichSumsAreMadeTooAreMadeAgain) {
  PassText m("fn f (%x: f32[2, 3], %w: f32[3]) -> (f32, f32[3]) {\n  %z = zero : f32[3]\n"
             "  %t, %h = nest (%i: 2) -> keep[] sum accs (%a = %z) {\n"
             "    %n = get %w[%i] : f32\n    %m = add %n, %n : f32\n"
             "    %p = nest (%j: 3) -> collect[j] {\n      %b = get %x[%i, %j] : f32\n"
             "      %c = mul %m, %b : f32\n      yield %c\n    } : f32[3]\n"
             "    %q = nest (%k: 3) -> collect[k] {\n      %e = get %x[%i, %k] : f32\n"
             "      %g = add %e, %n : f32\n      yield %g\n    } : f32[3]\n"
             "    %s = add %p, %q : f32[3]\n    %o = nest (%l: 3) -> keep[] sum {\n"
             "      %u = get %s[%l] : f32\n      yield %u\n    } : f32\n"
             "    %r = nest (%v: 3) -> collect[v] {\n      %y = get %s[%v] : f32\n      yield %y\n"
             "    } : f32[3]\n    %d = add_at %a += %r : acc f32[3]\n    yield %o, %d\n"
             "  } : f32, f32[3]\n  yield %t, %h\n}\n");
  m.apply(scatterToGather, {rows(), three()});
  EXPECT_EQ(m.text().find("f32[2, 3]", m.text().find("->")), std::string::npos) << m.text();
}

TEST(AccumulateToReduce, NotWhereOneOfThemIsDear) {
  PassText m(sumOfRows("    %q = nest (%k: 3) -> collect[k] {\n      %e = get %x[%i, %k] : f32\n"
                       "      %g = math exp %e : f32\n      yield %g\n    } : f32[3]\n"));
  m.apply(scatterToGather, {rows(), three()});
  EXPECT_EQ(m.count("] sum {"), 1u) << m.text();
}

} // namespace
} // namespace melix::transforms

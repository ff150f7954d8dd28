// Which reads can move behind other ops without a copy.
#include "core/analysis/sharing.h"
#include "core/ir/place.h"
#include "core/ir/walk.h"
#include "core/text/parse.h"

#include <gtest/gtest.h>

namespace melix::core {
namespace {

/// The ops of `f` by the name of their first result; ops without a result by their text.
struct Text {
  Interner names;
  types::TypeStore types{names};
  Module module{types};

  explicit Text(std::string_view text) { EXPECT_EQ(parseModule(module, text), ""); }
  const Function& f() const { return module.functions[findFunction(module, "f")]; }
  OpId op(std::string_view name) const {
    OpId found;
    forEachOp(f(), [&](OpId id) {
      const Op& o = f().ops[id];
      if (!o.results.empty() && names.text(f().values[o.results[0]].hint) == name) found = id;
    });
    return found;
  }
  ValueId value(std::string_view name) const { return f().ops[op(name)].results[0]; }
};

TEST(Sharing, AnUpdateOfAPartIsOneOfTheWhole) {
  const Text t(R"(struct S { a: f32[4], b: f32[4] }

fn f (%s: S[], %v: f32[4], %k: i64, %z: f32) -> (f32, f32, f32, S[], f32[4]) {
  %a = get %s.0 : f32[4]
  %x = get %a[%k] : f32
  %w = set %v[%k] = %z : f32[4]
  %y = get %a[%k] : f32
  %t = set %s.1[%k] = %z : S[]
  %u = get %a[%k] : f32
  yield %x, %y, %u, %t, %w
}
)");
  const Sharing sharing(t.module, t.f());
  EXPECT_TRUE(sharing.mayUseLater(t.value("a"), t.op("a"), t.op("x")));
  EXPECT_TRUE(sharing.mayUseLater(t.value("a"), t.op("a"), t.op("y"))); // something else was updated
  EXPECT_FALSE(sharing.mayUseLater(t.value("a"), t.op("a"), t.op("u")));
  EXPECT_TRUE(sharing.mayUseLater(t.value("a"), t.op("a"), t.op("t"))); // what it does itself comes after
  EXPECT_TRUE(sharing.mayUseLater(t.value("x"), t.op("x"), t.op("u"))); // a scalar is no memory
}

TEST(Sharing, LoopsUpdateWhatTheyCarryAndCallsWhatTheyTake) {
  const Text t(R"(fn g (%v: f32[4]) -> (f32) {
  %k = const 0 : i64
  %r = get %v[%k] : f32
  yield %r
}

fn f (%v: f32[4], %n: i64, %z: f32) -> (f32, f32, f32, f32[4]) {
  %zero = const 0 : i64
  %a = get %v[%zero +: 2] : f32[2]
  %s, %w = for collects 0 %n, %z, %v { (%i: i64, %t: f32, %c: f32[4])
    %b = get %a[%i] : f32
    %d = set %c[%i] = %b : f32[4]
    yield %b, %d
  } : f32, f32[4]
  %p = array %z, %z, %z, %z : f32[4]
  %q = get %p[%n] : f32
  %h = call @g %p : f32
  %e = get %p[%n] : f32
  yield %s, %q, %e, %w
}
)");
  const Sharing sharing(t.module, t.f());
  EXPECT_FALSE(sharing.mayUseLater(t.value("a"), t.op("a"), t.op("b"))); // on the next turn it is updated
  EXPECT_TRUE(sharing.mayUseLater(t.value("p"), t.op("p"), t.op("q")));
  EXPECT_FALSE(sharing.mayUseLater(t.value("p"), t.op("p"), t.op("e")));
}

TEST(Places, OverlapsOfReadsAndUpdates) {
  const Text t(R"(struct S { a: f32[2, 3], b: f32[3] }

fn f (%s: S[], %row: f32[3], %k: i64, %n: i64) -> (S[]) {
  %zero = const 0 : i64
  %one = const 1 : i64
  %u = set %s.0[%k] = %row : S[]
  %w = set %s.0[%zero] = %row : S[]
  %same = get %u.0[%k, %n] : f32
  %perhaps = get %u.0[%n, %n] : f32
  %other = get %u.1[%n] : f32
  %apart = get %w.0[%one, %n] : f32
  %partly = get %u.0 : f32[2, 3]
  yield %u
}
)");
  auto with = [&](const char* update, const char* read) {
    const Op& u = t.f().ops[t.op(update)];
    return overlap(t.module, t.f(), t.f().typeOf(u.operands[0]), placeOf(u), placeOf(t.f().ops[t.op(read)]));
  };
  EXPECT_EQ(with("u", "same").kind, Overlap::Within);
  EXPECT_TRUE(with("u", "same").equal.empty());
  EXPECT_EQ(with("u", "same").rest.indices.size(), 1u);
  EXPECT_EQ(with("u", "perhaps").kind, Overlap::Within);
  EXPECT_EQ(with("u", "perhaps").equal.size(), 1u);
  EXPECT_EQ(with("u", "other").kind, Overlap::Disjoint);
  EXPECT_EQ(with("w", "apart").kind, Overlap::Disjoint);
  EXPECT_EQ(with("u", "partly").kind, Overlap::Unknown);
}

/// What an op does itself comes after what it reads before it runs, but not after what it reads while it
/// runs.
TEST(Sharing, WhatIsReadWithinAnOpMustStayWhileItRuns) {
  const Text t(R"(fn f (%v: f32[4], %x: f32[4], %n: i64) -> (f32, f32[4], f32[4]) {
  %a = get %v[%n] : f32
  %w = nest (%i: 4) -> accs (%c = %v) {
    %b = get %x[%i] : f32
    %d = add_at %c[%i] += %b : acc f32[4]
    yield %d
  } : f32[4]
  %u = for collects 0 %n, %x { (%j: i64, %e: f32[4])
    %g = nest (%k: 4) -> accs (%h = %e) {
      %o = add_at %h[%k] += %a : acc f32[4]
      yield %o
    } : f32[4]
    yield %g
  } : f32[4]
  yield %a, %w, %u
}
)");
  const Sharing sharing(t.module, t.f());
  const ValueId v = t.f().params()[0], x = t.f().params()[1], n = t.f().params()[2];
  EXPECT_TRUE(sharing.mayUseLater(v, t.op("a"), t.op("w")));
  EXPECT_FALSE(sharing.mayUseWithin(v, t.op("a"), t.op("w")));
  EXPECT_TRUE(sharing.mayUseWithin(x, t.op("a"), t.op("w")));
  EXPECT_TRUE(sharing.mayUseWithin(n, t.op("a"), t.op("w"))); // a scalar is no memory
  EXPECT_TRUE(sharing.mayUseLater(x, t.op("w"), t.op("u")));
  EXPECT_FALSE(sharing.mayUseWithin(x, t.op("w"), t.op("u")));
  EXPECT_FALSE(sharing.mayUseLater(x, t.op("a"), t.op("o"))); // the loop updates it on the turn before
}

} // namespace
} // namespace melix::core

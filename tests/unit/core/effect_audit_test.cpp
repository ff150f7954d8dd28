// Which ops with effects a pass may leave out.
#include "core/analysis/effect_audit.h"

#include "core/core_text.h"
#include "core/order/clone.h"

namespace melix::core {
namespace {

constexpr const char* readsOne = "fn read [N] (%x: f64[N], %i: i64) -> (f64) {\n"
                                 "  check index \"\" %i dims [N]\n"
                                 "  %v = get %x[%i] : f64\n"
                                 "  yield %v\n"
                                 "}\n\n";
constexpr const char* callsIt = "fn twice [N] (%x: f64[N], %i: i64) -> (f64) {\n"
                                "  %a = call @read %x, %i dims [N] : f64\n"
                                "  %b = add %a, %a : f64\n"
                                "  yield %b\n"
                                "}\n";

struct Audited : TextModule {
  explicit Audited(std::string_view text) : TextModule(text), audit(module) {}
  EffectAudit audit;

  Function& fn(const char* name) { return module.functions[function(name)]; }
  /// The first op of a function, which is taken out of its list.
  OpId takeFirst(const char* name) {
    std::vector<OpId>& ops = fn(name).regions[fn(name).body].ops;
    const OpId first = ops.front();
    ops.erase(ops.begin());
    fn(name).version.raise();
    return first;
  }
};

TEST(EffectAudit, WhatIsThereStillIsKept) {
  Audited m(readsOne);
  EXPECT_EQ(m.audit.after("nothing"), "");
}

TEST(EffectAudit, ACheckThatIsGoneWithoutAReasonIsTold) {
  Audited m(readsOne);
  m.takeFirst("read");
  EXPECT_EQ(m.audit.after("bad_pass"),
            "`bad_pass` drops `check index \"\" %i dims [N]` of `read` without a reason");
}

TEST(EffectAudit, ACheckThatIsMadeHarmlessWhereItStandsIsTold) {
  Audited m(readsOne);
  Function& f = m.fn("read");
  const std::vector<OpId>& ops = f.regions[f.body].ops;
  f.ops[ops[0]] = f.ops[ops[1]];
  EXPECT_NE(m.audit.after("bad_pass"), "");
}

TEST(EffectAudit, OpsMayHaveTheEffectsOfSeveral) {
  Audited m("fn f [N] (%x: f64[N], %i: i64, %j: i64) -> () {\n"
            "  check index \"\" %i dims [N]\n"
            "  check index \"\" %j dims [N]\n"
            "  yield\n"
            "}\n");
  const OpId checks[] = {m.takeFirst("f"), m.takeFirst("f")};
  Function& f = m.fn("f");
  const size_t first = f.ops.size();
  const OpId both = f.ops.add(Op(f.ops[checks[0]]));
  f.regions[f.body].ops.insert(f.regions[f.body].ops.begin(), both);
  noteWritten(m.function("f"), checks, m.function("f"), first);
  EXPECT_EQ(m.audit.after("joins_checks"), "");
}

TEST(EffectAudit, AReasonIsEnough) {
  Audited m(readsOne);
  const OpId check = m.takeFirst("read");
  noteGone(m.fn("read"), m.function("read"), check, GoneKind::Proved);
  EXPECT_EQ(m.audit.after("simplify"), "");
  EXPECT_EQ(m.audit.after("next"), "") << "what went is no concern of later passes";
}

TEST(EffectAudit, AReasonFitsTheOp) {
  Audited m(std::string(readsOne) + callsIt);
  const OpId call = m.takeFirst("twice");
  noteGone(m.fn("twice"), m.function("twice"), call, GoneKind::Proved);
  EXPECT_NE(m.audit.after("simplify"), "") << "only checks are proved";
}

TEST(EffectAudit, ACopyStandsForIt) {
  Audited m(readsOne);
  const FunctionId f = m.function("read");
  const OpId check = m.takeFirst("read");
  Builder b(m.module, f, m.fn("read").regions.add(Region{}), {});
  const OpId copy = Cloner(m.module, f, f).op(check, b);
  std::vector<OpId>& ops = m.fn("read").regions[m.fn("read").body].ops;
  ops.insert(ops.begin(), copy);
  EXPECT_EQ(m.audit.after("moves"), "");
  ops.erase(ops.begin());
  EXPECT_NE(m.audit.after("drops"), "");
}

TEST(EffectAudit, ACallOfWhatMayPanicIsKept) {
  Audited m(std::string(readsOne) + callsIt);
  m.takeFirst("twice");
  EXPECT_NE(m.audit.after("drops"), "");
}

TEST(EffectAudit, ACallOfWhatCannotPanicAnyMoreMayGo) {
  Audited m(std::string(readsOne) + callsIt);
  const OpId check = m.takeFirst("read");
  noteGone(m.fn("read"), m.function("read"), check, GoneKind::Proved);
  m.takeFirst("twice");
  EXPECT_EQ(m.audit.after("simplify"), "");
}

TEST(EffectAudit, WhatNothingReachesMayGo) {
  Audited m(std::string(readsOne) + callsIt);
  m.module.entry = m.function("twice");
  const OpId call = m.takeFirst("twice");
  noteGone(m.fn("twice"), m.function("twice"), call, GoneKind::NeverRuns);
  m.fn("read").body = RegionId();
  EXPECT_EQ(m.audit.after("removes"), "");
}

TEST(EffectAudit, OfACallThatIsInlinedTheBodyIsThere) {
  Audited m(std::string(readsOne) + callsIt);
  m.module.entry = m.function("twice");
  const OpId call = m.takeFirst("twice");
  noteOpened(m.function("twice"), call);
  EXPECT_NE(m.audit.after("inlines"), "") << "nobody copied the check";
}

} // namespace
} // namespace melix::core

// Every op has a type rule, an effect, an evaluation and a text: enumerated and executed. And every
// evaluation matters: perturbing the results of one op is seen by its example.
#include "core/ir/build.h"
#include "core/ir/walk.h"
#include "core/text/print.h"
#include "interp/op_examples.h"
#include "interp/run_text.h"

#include <cmath>
#include <map>
#include <set>

namespace melix::interp {
namespace {

using core::OpKind;

Hooks testHooks() {
  Hooks h;
  h.math = [](ops::MathKind, TypeKind, double x, double) { return std::optional(std::exp(x)); };
  h.builtin = [](ops::BuiltinKind, BuiltinCall& call) { call.results = {Value::f64(42)}; };
  h.format = [](const types::TypeStore&, types::TypeId, const Value& v, const core::FormatAttr& a,
                std::span<const int64_t>) { return a.spec + " " + show(v); };
  h.maxSteps = 1000;
  return h;
}

std::string textOf(const OpExample& e) {
  return std::string("enum Option { None(), Some(f32) }\n\nfn minus (%a: f32, %b: f32) -> (f32) {\n  %c = "
                     "sub %a, %b : f32\n  yield %c\n}\n\nfn f ") +
         e.signature + " {\n" + e.body + "\n}\n";
}

std::string outcome(core::Module& m, const OpExample& e) {
  Program program(m, testHooks());
  RunResult r = program.run(core::findFunction(m, "f"), e.args);
  if (r.panicked) return r.panic.message;
  std::string out;
  for (const Value& v : r.values) out += (out.empty() ? "" : " ") + show(v);
  return out;
}

std::string nameOf(const OpExample& e) { return std::string(ops::opText(e.kind)); }

TEST(OpRules, EveryOpHasAnExample) {
  std::set<OpKind> have;
  for (const OpExample& e : opExamples()) have.insert(e.kind);
  for (unsigned k = 0; k < ops::opCount; ++k)
    EXPECT_TRUE(have.contains(static_cast<OpKind>(k))) << ops::opText(static_cast<OpKind>(k));
}

TEST(OpRules, EveryOpVerifiesRunsAndReadsBack) {
  for (const OpExample& e : opExamples()) {
    SCOPED_TRACE(nameOf(e));
    Running m(textOf(e));
    bool found = false;
    core::forEachOp(m.module.functions[core::findFunction(m.module, "f")], [&](core::OpId id) {
      found |= m.module.functions[core::findFunction(m.module, "f")].ops[id].kind == e.kind;
    });
    EXPECT_TRUE(found) << "the example does not hold its op";
    std::string text = core::printModule(m.module);
    EXPECT_EQ(core::printModule(Running(text).module), text);
    int64_t before = liveObjects();
    EXPECT_EQ(outcome(m.module, e), e.expected);
    EXPECT_EQ(liveObjects(), before) << "objects are left over";
  }
}

TEST(OpRules, TypeRulesRefuseWhatDoesNotFit) {
  // Each example with the type of its op's first result or operand changed must be refused.
  for (const OpExample& e : opExamples()) {
    if (e.kind == OpKind::Undef || e.kind == OpKind::Zero || e.kind == OpKind::Builtin ||
        e.kind == OpKind::Derivative)
      continue; // any type is theirs
    SCOPED_TRACE(nameOf(e));
    Running m(textOf(e));
    core::FunctionId id = core::findFunction(m.module, "f");
    core::Function& f = m.module.functions[id];
    core::forEachOp(f, [&](core::OpId o) {
      if (f.ops[o].kind != e.kind) return;
      core::Op& op = f.ops[o];
      if (!op.results.empty())
        f.values[op.results[0]].type = m.types.exit();
      else if (!op.operands.empty())
        op.operands.resize(op.operands.size() - 1);
    });
    EXPECT_FALSE(core::verify(m.module).empty());
  }
}

TEST(OpRules, EffectsAreThoseOfTheCatalogue) {
  for (const OpExample& e : opExamples()) {
    SCOPED_TRACE(nameOf(e));
    Running m(textOf(e));
    core::Effects effects(m.module);
    const core::Function& f = m.module.functions[core::findFunction(m.module, "f")];
    core::forEachOp(f, [&](core::OpId o) {
      if (f.ops[o].kind != e.kind) return;
      core::EffectSet got = effects.ofOp(f, o);
      switch (ops::opEffect(e.kind)) {
      case ops::EffectKind::None: EXPECT_FALSE(got.any()); break;
      case ops::EffectKind::Panic: EXPECT_TRUE(got.panics && !got.io); break;
      case ops::EffectKind::Debug: EXPECT_TRUE(got.debug && !got.io); break;
      case ops::EffectKind::Io: EXPECT_TRUE(got.io); break;
      case ops::EffectKind::Regions: break; // those of what is inside
      }
    });
  }
}

// --- mutation
// -----------------------------------------------------------------------------------------------------

/// Perturbs what the op gives: floats by 0.1 %, integers by one, bools turned, the first element of arrays,
/// lists made longer; ops without results disappear or get another operand. False where nothing can be
/// perturbed.
class Mutation {
public:
  Mutation(core::Module& m, core::FunctionId f) : m_(m), id_(f) {}

  bool apply(OpKind kind) {
    core::Function& f = m_.functions[id_];
    bool done = false;
    core::forEachOp(f, [&](core::OpId o) { targets_.insert_or_assign(o.index, f.ops[o].kind == kind); });
    region(f.body, done);
    return done;
  }

private:
  core::Function& fn() { return m_.functions[id_]; }

  void region(core::RegionId r, bool& done) {
    std::vector<core::OpId> list = std::move(fn().regions[r].ops);
    fn().regions[r].ops.clear();
    for (core::OpId o : list) {
      const core::Regions inner = fn().ops[o].regions;
      for (core::RegionId i : inner) region(i, done);
      if (!targets_[o.index]) {
        fn().regions[r].ops.push_back(o);
        continue;
      }
      core::Builder b(m_, id_, r, fn().ops[o].loc);
      if (!fn().ops[o].results.empty()) {
        fn().regions[r].ops.push_back(o);
        core::ValueId v = fn().ops[o].results[0];
        core::ValueId changed = perturbed(b, v);
        done |= changed != v;
        apply(v, changed, o, list);
      } else {
        done |= withoutResults(b, o, r);
      }
    }
  }

  /// Uses of `v` in the ops behind `o`.
  void apply(core::ValueId v, core::ValueId by, core::OpId o, const std::vector<core::OpId>& list) {
    bool behind = false;
    for (core::OpId other : list) {
      if (behind) replaceIn(other, v, by);
      behind |= other == o;
    }
  }
  void replaceIn(core::OpId o, core::ValueId v, core::ValueId by) {
    for (core::ValueId& x : fn().ops[o].operands)
      if (x == v) x = by;
    for (core::RegionId r : fn().ops[o].regions)
      for (core::OpId i : fn().regions[r].ops) replaceIn(i, v, by);
  }

  core::ValueId perturbed(core::Builder& b, core::ValueId v) {
    types::TypeStore& t = m_.types;
    core::TypeId type = b.typeOf(v);
    const types::Type shape = t[type];
    if (t.isFloat(type)) return b.binary(OpKind::Mul, v, b.number(type, 1.001));
    if (t.isInt(type)) return b.binary(OpKind::Add, v, b.constant(type, 1));
    if (shape.kind == TypeKind::Bool) return b.unary(OpKind::Not, v);
    if (shape.kind == TypeKind::Str) return b.text("something else");
    if (shape.kind == TypeKind::Array) {
      std::vector<core::ValueId> at(shape.dims.size(), b.integer(0));
      core::ValueId one =
          t.isFloat(shape.parts[0]) ? b.number(shape.parts[0], 1.5) : b.constant(shape.parts[0], 1);
      return b.addAt(v, one, core::Path(at.size(), core::PathStep{core::StepKind::Index, 0, {}, 1}), at);
    }
    if (shape.kind == TypeKind::List) {
      core::ValueId item = b.zero(shape.parts[0]);
      return b.one(core::Builder::simple(OpKind::Push, {v, item}), type);
    }
    if (shape.kind == TypeKind::Tuple) {
      core::ValueId part = b.field(v, 0);
      return b.set(v, perturbed(b, part), {core::PathStep{core::StepKind::Field, 0, {}, 1}}, {});
    }
    if (shape.kind == TypeKind::Enum) return b.variant(type, 0, {});
    if (shape.kind == TypeKind::Known) {
      std::vector<core::ValueId> captures;
      for (uint32_t k = 0; k < shape.parts.size(); ++k)
        captures.push_back(b.one(core::Builder::simple(OpKind::Capture, {v}, k), shape.parts[k]));
      captures[0] = perturbed(b, captures[0]);
      return b.one(core::Builder::simple(OpKind::Known, captures), type);
    }
    if (shape.kind == TypeKind::Pack) return b.zero(type);
    return v;
  }

  bool withoutResults(core::Builder& b, core::OpId o, core::RegionId r) {
    OpKind kind = fn().ops[o].kind;
    if (kind == OpKind::Check || kind == OpKind::Panic) return true; // left out
    if (kind == OpKind::BindDim || (kind == OpKind::Yield && r == fn().body)) {
      core::ValueId changed = perturbed(b, fn().ops[o].operands[0]);
      fn().ops[o].operands[0] = changed;
      fn().regions[r].ops.push_back(o);
      return true;
    }
    fn().regions[r].ops.push_back(o);
    return false;
  }

  core::Module& m_;
  core::FunctionId id_;
  std::map<uint32_t, bool> targets_;
};

TEST(OpRules, PerturbingAnOpIsSeenByItsExample) {
  for (const OpExample& e : opExamples()) {
    if (e.kind == OpKind::Closure || e.kind == OpKind::Apply || e.kind == OpKind::Derivative)
      continue; // refused, not evaluated
    SCOPED_TRACE(nameOf(e));
    Running m(textOf(e));
    ASSERT_TRUE(Mutation(m.module, core::findFunction(m.module, "f")).apply(e.kind)) << "nothing to perturb";
    if (e.kind == OpKind::Undef) continue; // nothing may read it
    EXPECT_NE(outcome(m.module, e), e.expected) << core::printModule(m.module);
  }
}

} // namespace
} // namespace melix::interp

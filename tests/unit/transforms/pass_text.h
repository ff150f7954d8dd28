#pragma once
// A pass on Core text: what it makes of it, that the values stay the same, that no effect is lost, and that
// it raises the versions of the functions that it changes.
#include "core/analysis/check_analyses.h"
#include "core/analysis/effect_audit.h"
#include "core/order/verify.h"
#include "core/text/parse.h"
#include "core/text/print.h"
#include "interp/interp.h"

#include <gtest/gtest.h>

namespace melix::transforms {

struct PassText {
  Interner names;
  types::TypeStore types{names};
  core::Module module{types};

  explicit PassText(std::string_view text) { EXPECT_EQ(core::parseModule(module, text), ""); }
  std::string text() const { return core::printModule(module); }
  void expectVerified() const {
    for (const std::string& p : core::verify(module)) ADD_FAILURE() << p << "\n" << text();
  }
  interp::RunResult run(std::vector<interp::Value> args, const char* name = "f") const {
    interp::Hooks hooks;
    hooks.math = [](ops::MathKind, types::TypeKind, double x, double) { return std::optional(x * 2); };
    interp::Program program(module, hooks);
    return program.run(core::findFunction(module, name), std::move(args));
  }

  /// Runs the pass, without a log if it takes one; the results of `f` must keep their bits.
  template <class Pass>
  PassText& apply(Pass pass, const std::vector<interp::Value>& args = {}) {
    expectVerified();
    bool runs = !args.empty();
    interp::RunResult before = runs ? run(args) : interp::RunResult();
    core::EffectAudit audit(module);
    module.analyses->checks = core::Analyses::Checks::On;
    EXPECT_EQ(core::checkAnalyses(module, "before the pass"), "");
    if constexpr (std::is_invocable_v<Pass, core::Module&>)
      pass(module);
    else
      pass(module, nullptr);
    expectVerified();
    EXPECT_EQ(core::checkAnalyses(module, "the pass"), "");
    EXPECT_EQ(audit.after("the pass"), "");
    if (!runs) return *this;
    interp::RunResult after = run(args);
    EXPECT_EQ(before.panicked, after.panicked) << after.panic.message;
    EXPECT_EQ(before.panic.message, after.panic.message);
    EXPECT_EQ(before.values.size(), after.values.size());
    for (size_t k = 0; k < before.values.size() && k < after.values.size(); ++k)
      EXPECT_TRUE(interp::sameBits(before.values[k], after.values[k])) << "result " << k << "\n" << text();
    return *this;
  }
  size_t count(std::string_view word) const {
    std::string all = text();
    size_t n = 0;
    for (size_t at = all.find(word); at != std::string::npos; at = all.find(word, at + 1)) ++n;
    return n;
  }
};

} // namespace melix::transforms

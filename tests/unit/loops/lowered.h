#pragma once
// A module of Loops as it is lowered from Core's text.
#include "core/order/verify.h"
#include "core/text/parse.h"
#include "loops/pipeline.h"
#include "loops/text/print.h"
#include "loops/text/verify.h"

#include <gtest/gtest.h>

namespace melix::loops {

struct Lowered {
  explicit Lowered(std::string_view text) {
    EXPECT_EQ(core::parseModule(core, text), "");
    for (const std::string& problem : core::verify(core)) ADD_FAILURE() << problem;
    core.entry = core::findFunction(core, "main");
    for (uint32_t f = 0; f < core.functions.size(); ++f) core.functions[core::FunctionId(f)].keep = true;
    result.emplace(fromCore(core));
    if (!result->error) EXPECT_EQ(verify(result->module, {State::CountsInserted}), "");
  }
  const Function& function(std::string_view key) {
    for (const Function& fn : result->module.functions)
      if (fn.key == key) return fn;
    ADD_FAILURE() << "no function " << key;
    return *result->module.functions.begin();
  }
  std::string text(std::string_view key) { return print(result->module, function(key)); }

  Interner names;
  types::TypeStore types{names};
  core::Module core{types};
  std::optional<Result> result;
};

inline size_t countOf(const Function& fn, StmtKind kind) {
  size_t count = 0;
  for (const Stmt& s : fn.stmts) count += s.kind == kind;
  return count;
}

} // namespace melix::loops

#pragma once
// Running Core text, for tests.
#include "core/order/verify.h"
#include "core/text/parse.h"
#include "interp/interp.h"

#include <gtest/gtest.h>

namespace melix::interp {

struct Running {
  Interner names;
  types::TypeStore types{names};
  core::Module module{types};
  std::unique_ptr<Program> program;

  explicit Running(std::string_view text, Hooks hooks = {}) {
    EXPECT_EQ(core::parseModule(module, text), "");
    for (const std::string& p : core::verify(module)) ADD_FAILURE() << p;
    program = std::make_unique<Program>(module, std::move(hooks));
  }
  RunResult raw(std::vector<Value> args, std::vector<int64_t> dims = {}, const char* name = "f") {
    return program->run(core::findFunction(module, name), std::move(args), std::move(dims));
  }
  std::vector<Value> run(std::vector<Value> args, std::vector<int64_t> dims = {}) {
    RunResult r = raw(std::move(args), std::move(dims));
    EXPECT_FALSE(r.panicked) << r.panic.message;
    return std::move(r.values);
  }
};

inline std::vector<float> floatsOf(const Value& v) {
  auto f = v.asFloats();
  return {f.begin(), f.end()};
}

} // namespace melix::interp

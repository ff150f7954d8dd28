#pragma once
// A module from Core text, for tests.
#include "core/order/verify.h"
#include "core/text/parse.h"
#include "core/text/print.h"

#include <gtest/gtest.h>

namespace melix::core {

struct TextModule {
  Interner names;
  types::TypeStore types{names};
  Module module{types};

  explicit TextModule(std::string_view text) { EXPECT_EQ(parseModule(module, text), ""); }
  FunctionId function(std::string_view name) const { return findFunction(module, name); }
  std::string text() const { return printModule(module); }
  std::string problems() const {
    std::string all;
    for (const std::string& p : verify(module)) all += p + "\n";
    return all;
  }
};

} // namespace melix::core

// What loops do to the elements of small arrays that they carry is done in lanes of a register.
#include "codegen/codegen.h"
#include "core/order/verify.h"
#include "core/text/parse.h"
#include "loops/pipeline.h"

#include <gtest/gtest.h>

#include <regex>

namespace melix::codegen {
namespace {

/// The assembly of a loop that carries so many numbers, each of which is multiplied and added to.
std::string assemblyOf(unsigned carries) {
  std::string types, begun, params, body, next;
  for (unsigned k = 0; k < carries; ++k) {
    const std::string n = std::to_string(k), comma = k > 0 ? ", " : "";
    types += comma + "f32";
    begun += ", %x";
    params += ", %p" + n + ": f32";
    body += "    %q" + n + " = fma %p" + n + ", %x, %p" + n + " : f32\n";
    next += comma + "%q" + n;
  }
  std::string results;
  for (unsigned k = 0; k < carries; ++k) results += (k > 0 ? ", %r" : "%r") + std::to_string(k);
  const std::string array = "f32[" + std::to_string(carries) + "]";
  const std::string text = "fn f (%n: i64, %x: f32) -> (" + array + ") {\n  " + results +
                           " = for collects 0 %n" + begun + " { (%i: i64" + params + ")\n" + body +
                           "    yield " + next + "\n  } : " + types + "\n  %a = array " + results + " : " +
                           array + "\n  yield %a\n}\n";
  Interner names;
  types::TypeStore store{names};
  core::Module core{store};
  EXPECT_EQ(core::parseModule(core, text), "");
  for (const std::string& problem : core::verify(core)) ADD_FAILURE() << problem;
  core.functions[core::findFunction(core, "f")].keep = true;
  const Options options;
  loops::Result lowered = loops::fromCore(core, loopOptions(options));
  EXPECT_FALSE(lowered.error);
  return compileToText(lowered.module, options, TextKind::Assembly);
}

TEST(PackCarries, ElementsOfSmallArraysShareRegisters) {
  const std::regex packed("vfmadd[0-9]+ps");
  EXPECT_TRUE(std::regex_search(assemblyOf(8), packed)) << assemblyOf(8);
  EXPECT_FALSE(std::regex_search(assemblyOf(2), packed));
}

} // namespace
} // namespace melix::codegen

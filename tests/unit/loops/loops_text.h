#pragma once
// A module of Loops from its text, for tests of passes.
#include "loops/text/parse.h"
#include "loops/text/print.h"
#include "loops/text/verify.h"

#include <gtest/gtest.h>

namespace melix::loops {

struct LoopsText {
  explicit LoopsText(std::string_view text) : read(parse(core, text)) {}

  Module& module() { return read.module; }
  std::string text() const { return print(read.module); }

  Interner names;
  types::TypeStore types{names};
  core::Module core{types};
  ParseResult read;
};

/// The text of the module `before` once `pass` has run, verified on both sides; counted says from where on
/// counts are balanced.
template <class Pass>
std::string textAfter(std::string_view before, Pass pass, bool countedBefore = true) {
  LoopsText loops(before);
  EXPECT_EQ(loops.read.error, "");
  if (countedBefore) EXPECT_EQ(verify(loops.module(), {State::CountsInserted}), "");
  pass(loops.module());
  return loops.text();
}

} // namespace melix::loops

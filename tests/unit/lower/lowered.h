#pragma once
// A program from text, lowered and verified, and what the interpreter says it does.
#include "core/order/verify.h"
#include "core/text/print.h"
#include "interp/interp.h"
#include "session/session.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <map>

namespace melix::lower {

/// Text of a file of the standard library; null data if there is none.
inline std::string_view libraryText(std::string_view path) {
  static std::map<std::string, std::string> texts;
  std::string name(path);
  if (auto found = texts.find(name); found != texts.end()) return found->second;
  std::FILE* file = std::fopen((MELIX_STDLIB + name).c_str(), "rb");
  if (!file) return {};
  std::string text;
  char block[4096];
  for (size_t n = std::fread(block, 1, sizeof block, file); n > 0;
       n = std::fread(block, 1, sizeof block, file))
    text.append(block, n);
  std::fclose(file);
  return texts.emplace(name, std::move(text)).first->second;
}

struct Lowered {
  session::Session session;

  explicit Lowered(std::string_view code) : session(options()) {
    bool fine = session.program(session.load("test.mlx", std::string(code)));
    for (const Diagnostic& d : session.sink.all())
      if (diagSeverity(d.id) == SeverityKind::Error)
        ADD_FAILURE() << renderDiagnostic(d, session.sources, false);
    EXPECT_TRUE(fine) << session.bug();
    for (const std::string& problem : core::verify(session.module()))
      ADD_FAILURE() << problem << "\n" << text();
  }
  /// The functions of the program itself, without the library's.
  std::string text(std::string_view name = "") const {
    std::string out;
    const core::Module& m = const_cast<Lowered*>(this)->session.module();
    for (uint32_t k = 0; k < m.functions.size(); ++k)
      if (name.empty() || m.functions[core::FunctionId(k)].name == name)
        out += core::printFunction(m, core::FunctionId(k));
    return out;
  }
  interp::RunResult run() {
    interp::Program program(session.module());
    return program.run(session.module().entry, {});
  }
  size_t count(std::string_view word, std::string_view function) const {
    std::string all = text(function);
    size_t n = 0;
    for (size_t at = all.find(word); at != std::string::npos; at = all.find(word, at + 1)) ++n;
    return n;
  }

private:
  static session::Options options() {
    session::Options o;
    o.library = libraryText;
    for (const char* name : {"activations", "arrays", "command_line", "iteration", "lists", "make", "numbers",
                             "option", "random", "system", "text"})
      o.preludeFiles.push_back("prelude/" + std::string(name) + ".mlx");
    return o;
  }
};

/// A program of asserts that all hold.
inline void expectRuns(std::string_view code) {
  Lowered program(code);
  if (::testing::Test::HasFailure()) return;
  interp::RunResult result = program.run();
  EXPECT_FALSE(result.panicked) << result.panic.message << "\n" << program.text();
}

inline void expectPanics(std::string_view code, std::string_view message) {
  Lowered program(code);
  if (::testing::Test::HasFailure()) return;
  interp::RunResult result = program.run();
  EXPECT_TRUE(result.panicked) << program.text();
  EXPECT_EQ(result.panic.message, message);
}

} // namespace melix::lower

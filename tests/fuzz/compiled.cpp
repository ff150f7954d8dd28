// Programs are accepted or refused, in bounded time, with a bounded number of messages; what is accepted
// becomes Core and Loops that hold together after every pass.
#include "fuzz/compiled.h"

#include "codegen/codegen.h"
#include "driver/embedded.h"
#include "loops/text/verify.h"
#include "session/session.h"

#include <cstdio>
#include <cstdlib>

namespace melix::fuzz {

namespace {

session::Options options() {
  session::Options out;
  out.library = [](std::string_view path) { return driver::findLibraryFile(path); };
  for (std::string_view path : driver::libraryFiles("prelude/")) out.preludeFiles.emplace_back(path);
  out.verify = true;
  return out;
}

[[noreturn]] void fail(const std::string& what, const std::string& text) {
  std::fprintf(stderr, "%s\n--- program\n%s\n", what.c_str(), text.c_str());
  std::abort();
}

void requireSane(const session::Session& session, const std::string& text, size_t mostMessages) {
  if (!session.bug().empty()) fail(session.bug(), text);
  if (text.find(errorTypeText) == std::string::npos)
    for (const Diagnostic& d : session.sink.all())
      if (renderDiagnostic(d, session.sources, false).find(errorTypeText) != std::string::npos)
        fail("a message about what another message is about: " + diagMessage(d), text);
  if (session.sink.errorCount() > mostMessages)
    fail(std::to_string(session.sink.errorCount()) + " messages", text);
}

/// What `melix check` does. Whether the program is accepted.
bool check(const std::string& text, size_t mostMessages) {
  session::Session session(options());
  bool ok = session.check(session.load("fuzz.mlx", text));
  requireSane(session, text, mostMessages);
  if (!ok && session.sink.errorCount() == 0) fail("refused without a message", text);
  return ok;
}

/// What `melix run` does before it makes machine code.
void compile(const std::string& text, size_t mostMessages) {
  session::Session session(options());
  names::ModuleId root = session.load("fuzz.mlx", text);
  bool ok = session.program(root) && session.advance(session::CoreStage::Optimised);
  requireSane(session, text, mostMessages);
  if (!ok) fail("check accepts what is refused later", text);
  loops::Result lowered = loops::fromCore(session.module(), codegen::loopOptions({}));
  if (lowered.error) fail("not compiled: " + lowered.error->what, text);
  std::string problems = loops::verify(lowered.module, {loops::State::CountsInserted});
  if (!problems.empty()) fail("Loops is not well formed: " + problems, text);
}

} // namespace

void requireCompiled(const std::string& text, size_t mostMessages) {
  if (std::getenv("MELIX_FUZZ_SHOW")) std::printf("%s", text.c_str()), std::fflush(stdout);
  if (check(text, mostMessages)) compile(text, mostMessages);
}

std::vector<Message> messagesOf(const std::string& text) {
  session::Session session(options());
  session.check(session.load("fuzz.mlx", text));
  std::vector<Message> out;
  for (const Diagnostic& d : session.sink.all())
    out.push_back({diagSeverity(d.id) == SeverityKind::Error,
                   d.span.valid() ? session.sources.lineColumn(d.span).line : 0,
                   renderDiagnostic(d, session.sources, false)});
  return out;
}

} // namespace melix::fuzz

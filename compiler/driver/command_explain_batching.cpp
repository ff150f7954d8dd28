// melix explain-batching: what runs for all examples of a comprehension at once, and what does not, and why.
#include "driver/commands.h"
#include "driver/compile.h"
#include "driver/exit_status.h"
#include "driver/files.h"
#include "driver/source_lines.h"

namespace melix::driver {
namespace {

using transforms::BatchingDecision;
using transforms::BatchingLog;

std::string decisionText(const BatchingDecision& d, const std::string& cause) {
  std::string text(textOf(d.kind));
  if (const size_t at = text.find("{}"); at != std::string::npos) text.replace(at, 2, cause);
  return (isRefused(d.kind) ? "an example at a time: " : "") + text;
}

/// Each sentence once for a line: a function and its derivative, and functions of other types, have the same
/// lines.
std::string batchingText(const session::Session& session, const core::Module& module, const BatchingLog& log,
                         std::string_view program) {
  LineSentences lines;
  for (const BatchingDecision& d : log.decisions()) {
    const Line at = lineOf(session, module, d.op, program), cause = lineOf(session, module, d.cause, program);
    if (at.line != 0) lines[at][decisionText(d, placeFrom(at, cause))] = 1;
  }
  const std::string out = textOf(lines);
  return out.empty() ? "nothing here is batched\n" : out;
}

} // namespace

int commandExplainBatching(const Invocation& invocation) {
  if (!accepts(invocation.code)) return WrongCommandLine;
  return onBigStack([&]() -> int {
    BatchingLog log;
    const SessionPtr session = makeSession(invocation.code, {{.batching = &log}, {}});
    if (!advanceProgram(invocation.program, *session, session::CoreStage::Optimised)) return Failure;
    writeOutput(batchingText(*session, session->module(), log, nameOf(invocation.program)));
    return Success;
  });
}

} // namespace melix::driver

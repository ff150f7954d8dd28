// melix explain-fusion: which sweeps became one, and which write an array, and why.
#include "driver/commands.h"
#include "driver/compile.h"
#include "driver/exit_status.h"
#include "driver/files.h"
#include "driver/source_lines.h"
#include "session/pipeline.h"

namespace melix::driver {
namespace {

using transforms::FusionDecision;
using transforms::FusionKind;
using transforms::FusionReason;

std::string_view reasonText(FusionReason reason) {
  switch (reason) {
  case FusionReason::None: break;
  case FusionReason::UsedWhole: return "is used as a whole";
  case FusionReason::Reduces: return "is known when all of it has run";
  case FusionReason::Adds: return "adds into accumulators";
  case FusionReason::ReadInLoop: return "is read in a loop, perhaps often";
  case FusionReason::ReadOften: return "is read at many points for each element";
  case FusionReason::Expensive: return "is dearer to compute again than to read";
  case FusionReason::Effects: return "may panic, and so may what stands in between or reads it";
  case FusionReason::Cut: return "has input, output or an assertion behind it";
  case FusionReason::Updated: return "reads what is changed before it is needed";
  case FusionReason::OtherAxes: return "has other axes, or is read elsewhere than at the same point";
  case FusionReason::Product: return "is one side of a product, whose tiles share it";
  case FusionReason::Separate: return "is dear, so it has a sweep of its own in front of the sum";
  }
  return "";
}

/// One line of the answer, without how often.
std::string sentence(const FusionDecision& d, const Line& at, const Line& other) {
  switch (d.kind) {
  case FusionKind::Inlined: return "computed where " + placeFrom(at, other) + " reads it";
  case FusionKind::Joined: return "one sweep with " + placeFrom(at, other);
  case FusionKind::Kept:
    return "an array for " + placeFrom(at, other) + ": it " + std::string(reasonText(d.reason));
  }
  return "";
}

std::string fusionText(const session::Session& session, const core::Module& module,
                       const transforms::FusionLog& log, std::string_view program) {
  LineSentences lines;
  for (const FusionDecision& d : log) {
    const Line at = lineOf(session, module, d.nest, program),
               other = lineOf(session, module, d.other, program);
    if (at.line != 0) ++lines[at][sentence(d, at, other)];
  }
  const std::string out = textOf(lines);
  return out.empty() ? "no sweep over an array that the program runs reads what another made\n" : out;
}

} // namespace

int commandExplainFusion(const Invocation& invocation) {
  return onBigStack([&]() -> int {
    transforms::FusionLog log;
    const SessionPtr session = makeSession(invocation.code, {{.fusion = &log}, {}});
    if (!advanceProgram(invocation.program, *session, session::CoreStage::Optimised)) return Failure;
    writeOutput(fusionText(*session, session->module(), log, nameOf(invocation.program)));
    return Success;
  });
}

} // namespace melix::driver

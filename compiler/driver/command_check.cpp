// melix check: errors and warnings of a program, and nothing else.
#include "driver/commands.h"
#include "driver/compile.h"
#include "driver/exit_status.h"

namespace melix::driver {

int commandCheck(const Invocation& invocation) {
  if (!accepts(invocation.code)) return WrongCommandLine;
  return onBigStack([&] {
    const SessionPtr session = makeSession(invocation.code);
    std::optional<names::ModuleId> root = loadRoot(invocation.program, *session);
    return root && reported(*session, session->check(*root)) ? Success : Failure;
  });
}

} // namespace melix::driver

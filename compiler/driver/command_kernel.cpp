// melix kernel: the prompt for notebooks, as lines of JSON on standard input and output.
#include "driver/builtins.h"
#include "driver/commands.h"
#include "driver/compile.h"
#include "driver/exit_status.h"
#include "driver/files.h"
#include "driver/interpret.h"
#include "driver/runner_host.h"
#include "repl/kernel/line_splitter.h"
#include "repl/kernel/service.h"
#include "repl/notebook.h"
#include "support/write_all.h"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <thread>
#include <unistd.h>

namespace melix::driver {
namespace {

constexpr size_t longestRequest = size_t(64) << 20;

/// The two ends of the conversation. The descriptors 0 and 1 are others from then on: a program finds no
/// input, and nothing but answers is on standard output.
struct Conversation {
  int requests = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
  int answers = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);

  Conversation() {
    const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    dup2(nothing, STDIN_FILENO);
    dup2(STDERR_FILENO, STDOUT_FILENO);
    close(nothing);
  }
  /// Without a reader nobody waits for what runs.
  [[noreturn]] static void endWithoutReader() { _exit(Failure); }

  void write(std::string_view line) const {
    if (!writeAll(answers, line)) endWithoutReader();
  }
};

/// Gives the service all lines up to the end of the input. Afterwards entries that wait still run, while
/// there is a reader.
void readRequests(const Conversation& conversation, repl::Service& service) {
  repl::LineSplitter lines(longestRequest);
  auto take = [&](std::string_view line, bool isWhole) {
    if (isWhole)
      service.take(line);
    else
      service.refuse("a request has at most 64 MiB");
  };
  char bytes[65536];
  for (;;) {
    const ssize_t got = read(conversation.requests, bytes, sizeof bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    lines.add({bytes, static_cast<size_t>(got)}, take);
  }
  lines.end(take);
  service.endInput();
  pollfd reader{conversation.answers, 0, 0};
  while (poll(&reader, 1, -1) < 0 || (reader.revents & (POLLERR | POLLHUP)) == 0) {
  }
  Conversation::endWithoutReader();
}

/// Starts a thread that no signal is given to; the process does not wait for it.
template <class Work>
void startAside(Work work) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread(std::move(work)).detach();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

repl::NotebookHost makeNotebookHost(session::Session& session, HostBuiltins& builtins,
                                    const CodeOptions& code) {
  repl::NotebookHost host;
  host.runner = runnerHost(builtins, code);
  host.show = [&builtins](types::TypeId type, const interp::Value& value) {
    core::FormatAttr format;
    format.quoted = true;
    return builtins.show(type, value, format);
  };
  host.readFile = [](const std::string& file, std::string& error) { return readFile(file, error); };
  host.panicText = [&session](const interp::Panic& panic, const std::string& compiled) {
    return panicText(session, panic, compiled);
  };
  host.interrupt = melix_interrupt;
  host.takeInterrupt = [&builtins] { return builtins.takeInterrupt(); };
  host.exitStatus = [&builtins] {
    return builtins.exited() ? std::optional(builtins.exitStatus()) : std::nullopt;
  };
  host.stageText = [&session, &code](const std::string& stage, const std::string& function,
                                     std::string& error) {
    return stageText(session, code, stage, function, error);
  };
  host.noteExit = [&builtins] { builtins.noteExit(); };
  return host;
}

std::string_view viewOf(MelixStr text) {
  return {reinterpret_cast<const char*>(text.data), static_cast<size_t>(text.len)};
}

/// What the runtime writes and tells goes to the notebook; Ctrl-C never ends the kernel.
void connectRuntime(repl::Notebook& notebook) {
  melix_set_writer(
      [](void* to, int32_t descriptor, const uint8_t* data, int64_t length) {
        static_cast<repl::Notebook*>(to)->print(descriptor == STDOUT_FILENO ? repl::Stream::Output
                                                                            : repl::Stream::Errors,
                                                viewOf({data, length}));
      },
      &notebook);
  melix_set_progress(
      [](void* to, const MelixProgress* step) {
        repl::ProgressStep out{std::string(viewOf(step->label)), step->done,      std::nullopt, step->seconds,
                               std::string(viewOf(step->note)),  step->ended != 0};
        if (step->total >= 0) out.total = step->total;
        static_cast<repl::Notebook*>(to)->tellProgress(out);
      },
      &notebook);
  struct sigaction action = {};
  action.sa_handler = [](int) { melix_interrupt(); };
  action.sa_flags = SA_RESTART | SA_ONSTACK;
  sigaction(SIGINT, &action, nullptr);
  signal(SIGPIPE, SIG_IGN);
}

} // namespace

int commandKernel(const Invocation& invocation) {
  if (!accepts(invocation.code)) return WrongCommandLine;
  const Conversation conversation;
  const SessionPtr session = makeSession(invocation.code);
  char name[] = "melix";
  char* arguments[] = {name, nullptr};
  HostBuiltins builtins(session->types, 1, arguments);
  melix_leave_when_deaf();
  repl::Notebook notebook(*session, makeNotebookHost(*session, builtins, invocation.code));
  connectRuntime(notebook);
  repl::Service service(notebook, [&](std::string_view line) { conversation.write(line); });
  startAside([&] { readRequests(conversation, service); });
  std::thread watcher([&] {
    onBigStack([&] {
      service.watch();
      return 0;
    });
  });
  const int status = onBigStack([&] { return service.run(); });
  watcher.join();
  // The thread that reads may still be in the middle of a line.
  melix_set_writer(nullptr, nullptr);
  melix_set_progress(nullptr, nullptr);
  _exit(status);
}

} // namespace melix::driver

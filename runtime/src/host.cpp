// Values that code gets from its host and gives it.
#include "builtins.h"
#include "task.h"

using namespace melix::runtime;

void melix_set_host(MelixTask* task, const MelixHost* host) { task->around.host = host; }

static const MelixHost& hostOf(MelixTask* task) {
  if (!task->around.host) panicText(task, "this code has no host");
  return *task->around.host;
}

void melix_host_take(MelixTask* task, const uint64_t* args, uint64_t*) {
  const MelixHost& host = hostOf(task);
  host.take(host.context, task, static_cast<int64_t>(args[0]), reinterpret_cast<const MelixType*>(args[1]),
            reinterpret_cast<void*>(args[2]));
}

void melix_host_give(MelixTask* task, const uint64_t* args, uint64_t*) {
  const MelixHost& host = hostOf(task);
  host.give(host.context, task, static_cast<int64_t>(args[0]),
            {reinterpret_cast<const MelixType*>(args[1]), reinterpret_cast<const void*>(args[2])});
}

void melix_host_run(MelixTask* task, const uint64_t*, uint64_t*) {
  panicText(task, "code of the host is run by the interpreter only");
}

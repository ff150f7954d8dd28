#include "jit/program.h"

#include "core/order/verify.h"
#include "core/text/parse.h"
#include "harness/launches.h"
#include "loops/text/print.h"
#include "loops/text/verify.h"
#include "transforms/canonical/flatten_records.h"

namespace melix::jit {

Program::Program(std::string_view coreText) {
  error = core::parseModule(core, coreText);
  if (!error.empty()) return;
  for (const std::string& problem : core::verify(core)) error += problem + "\n";
  core.entry = core::findFunction(core, "main");
}

namespace {

struct Call {
  int64_t (*main)(MelixTask*);
  int64_t result;
};

void body(MelixTask* task, void* context) {
  auto* call = static_cast<Call*>(context);
  call->result = call->main(task);
}

void collect(void* context, int32_t, const uint8_t* data, int64_t len) {
  static_cast<std::string*>(context)->append(reinterpret_cast<const char*>(data), static_cast<size_t>(len));
}

} // namespace

std::vector<Way> waysToCompile() {
  std::vector<Way> ways(5);
  ways[0].name = "default";
  ways[1].name = "portable";
  ways[1].options.target = codegen::TargetKind::Portable;
  ways[2].name = "-O0";
  ways[2].options.optimise = false;
  ways[3].name = "twin";
  ways[3].options.vectorise = true;
  ways[4].name = "spaces";
  ways[4].options.addressing = {1, 3, 32};
  return ways;
}

Outcome Program::run(const codegen::Options& options) {
  Outcome outcome;
  outcome.error = error;
  if (!error.empty()) return outcome;
  transforms::flattenRecords(core);
  loops::Result lowered = loops::fromCore(core, codegen::loopOptions(options));
  if (lowered.error) {
    outcome.error = "unsupported: " + lowered.error->what;
    return outcome;
  }
  outcome.error = loops::verify(lowered.module, {loops::State::CountsInserted});
  if (!outcome.error.empty()) {
    outcome.error += loops::print(lowered.module);
    return outcome;
  }
  harness::makeLaunchesLong(lowered.module);
  return jit::run(lowered.module, options);
}

Outcome run(const loops::Module& module, const codegen::Options& options) {
  Outcome outcome;
  codegen::Compiled compiled = codegen::compile(module, options);
  outcome.error = compiled.error;
  if (!outcome.error.empty()) return outcome;
  Jit jit;
  outcome.error = jit.add(compiled);
  if (!outcome.error.empty()) return outcome;
  const loops::Function& entry = module.functions[module.entry];
  Call call{reinterpret_cast<int64_t (*)(MelixTask*)>(jit.lookup(codegen::exportedSymbol(entry))), 0};
  if (!call.main) {
    outcome.error = "main was not found";
    return outcome;
  }
  MelixTask* task = melix_task_create();
  melix_set_writer(collect, &outcome.output);
  outcome.status = melix_catch(task, body, &call);
  melix_flush();
  melix_set_writer(nullptr, nullptr);
  outcome.result = call.result;
  outcome.stats = melix_stats(task);
  if (outcome.status == MELIX_PANIC) {
    int64_t length = 0;
    const char* text = melix_panic_text(task, &length);
    outcome.panic.assign(text, static_cast<size_t>(length));
  }
  melix_task_destroy(task);
  return outcome;
}

Outcome run(std::string_view coreText) { return Program(coreText).run(); }

} // namespace melix::jit

#include "driver/blocks.h"

#include "driver/compile.h"
#include "driver/devices.h"
#include "driver/exit_status.h"
#include "driver/interpret.h"
#include "driver/program_input.h"

namespace melix::driver {

Blocks::Blocks(const CodeOptions& code) : code_(code), session_(makeSession(code)) {}

bool Blocks::load(const std::string& file, BlockKind kind, const std::string& filter) {
  const bool isTest = kind == BlockKind::Test;
  ProgramSource source;
  source.file = file;
  std::optional<names::ModuleId> root = loadRoot(source, *session_);
  if (!root) return false;
  names::Modules& modules = session_->modules();
  const bool isEmpty = isTest ? modules[*root].tests.empty() && modules.examples(*root).empty()
                              : modules[*root].benches.empty();
  if (isEmpty) return reported(*session_, true);
  functions_ = isTest ? session_->tests(*root, filter) : session_->benches(*root, filter);
  if (!reported(*session_, session_->advance(session::CoreStage::Optimised))) return false;
  return code_.interpret || functions_.empty() || link();
}

bool Blocks::link() {
  auto target = targetOf(code_, codegen::TargetKind::Host);
  std::optional<codegen::Compiled> compiled =
      compileCore(*session_, codegenOptions(*session_, code_, target));
  if (!compiled) return false;
  devices_ = compiled->devices;
  if (const int refused = devices_.uses ? startDevicesOfChildren(devices_.flags) : Success;
      refused != Success) {
    status_ = refused;
    return false;
  }
  jit_ = std::make_unique<jit::Jit>();
  std::string error = jit_->add(*compiled);
  for (const auto& [name, function] : functions_) {
    if (!error.empty()) break;
    void* entry = jit_->lookup(compiled->entries.at(function));
    if (!entry) error = "there is no entry of `" + name + "`";
    entries_[function] = reinterpret_cast<MelixEntryFn>(entry);
  }
  if (!error.empty()) writeProblem("a bug of the code generator: " + error);
  return error.empty();
}

Blocks::End Blocks::run(core::FunctionId function, const jit::EntryRunner& run) {
  char name[] = "melix"; // of the program, for which nobody asks
  char* argv[] = {name, nullptr};
  End end{0, false};
  if (code_.interpret) {
    session_->module().entry = function;
    end.status = interpretProgram(*session_, 1, argv, &end.returned);
    return end;
  }
  auto runner = [&](MelixEntryFn entry, MelixTask* task) {
    const int32_t status = run ? run(entry, task) : entry(task);
    end.returned = true;
    return status;
  };
  end.status = jit::runEntry(entries_.at(function), devices_, 1, argv, runner);
  return end;
}

int nothingToRun(BlockKind kind, const std::string& filter) {
  const std::string word = kind == BlockKind::Test ? "test" : "bench";
  const std::string plural = kind == BlockKind::Test ? "tests" : "benches";
  writeProblem(filter.empty() ? "there are no " + plural
                              : "no " + word + " has `" + filter + "` in its name");
  return Failure;
}

} // namespace melix::driver

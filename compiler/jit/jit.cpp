#include "jit/jit.h"

#include "codegen/sanitize.h"
#include "jit/runtime_symbols.h"
#include "melix/abi.h"

#include <llvm/ExecutionEngine/Orc/AbsoluteSymbols.h>
#include <llvm/ExecutionEngine/Orc/ExecutionUtils.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/Support/MemoryBuffer.h>

#include <deque>

namespace melix::jit {

namespace orc = llvm::orc;

/// A registered line table and the memory it points to.
struct Lines {
  codegen::LineData data;
  MelixLineTable table{};
};

struct Jit::State {
  std::unique_ptr<orc::LLJIT> jit;
  std::deque<Lines> lines;
  std::string error;

  bool check(llvm::Error problem) {
    if (!problem) return true;
    error = llvm::toString(std::move(problem));
    return false;
  }
};

namespace {

llvm::Error bindRuntime(orc::LLJIT& jit) {
  orc::SymbolMap map;
  for (const RuntimeSymbol& symbol : runtimeSymbols())
    map[jit.mangleAndIntern(symbol.name)] = {orc::ExecutorAddr::fromPtr(symbol.address),
                                             llvm::JITSymbolFlags::Exported};
  return jit.getMainJITDylib().define(orc::absoluteSymbols(std::move(map)));
}

/// The functions of the address sanitizer, which melix itself is linked with then.
llvm::Error bindSanitizer(orc::LLJIT& jit) {
  auto isItsOwn = [](const orc::SymbolStringPtr& name) { return (*name).starts_with("__asan_"); };
  auto found = orc::DynamicLibrarySearchGenerator::GetForCurrentProcess('\0', isItsOwn);
  if (!found) return found.takeError();
  jit.getMainJITDylib().addGenerator(std::move(*found));
  return llvm::Error::success();
}

} // namespace

Jit::Jit() : state_(std::make_unique<State>()) {
  // Objects come finished: the target is only told so that nothing is detected.
  orc::JITTargetMachineBuilder target(llvm::Triple("x86_64-unknown-linux-gnu"));
  auto made = orc::LLJITBuilder()
                  .setJITTargetMachineBuilder(std::move(target))
                  .setLinkProcessSymbolsByDefault(false)
                  .setPlatformSetUp(orc::setUpInactivePlatform)
                  .create();
  if (!state_->check(made.takeError())) return;
  state_->jit = std::move(*made);
  state_->check(bindRuntime(*state_->jit));
  if (codegen::sanitizesPrograms) state_->check(bindSanitizer(*state_->jit));
}

Jit::~Jit() {
  for (Lines& lines : state_->lines) melix_unregister_lines(&lines.table);
}

std::string Jit::add(const codegen::Compiled& compiled) {
  if (!state_->error.empty()) return state_->error;
  for (const codegen::Object& object : compiled.objects) {
    auto buffer = llvm::MemoryBuffer::getMemBufferCopy(object.bytes, "program");
    if (!state_->check(state_->jit->addObjectFile(std::move(buffer)))) break;
  }
  for (const codegen::Object& object : compiled.objects)
    if (state_->error.empty()) registerLines(object.lines);
  return std::exchange(state_->error, {});
}

void Jit::registerLines(const codegen::LineTable& table) {
  if (table.baseSymbol.empty()) return;
  auto* base = static_cast<uint8_t*>(lookup(table.baseSymbol));
  if (!base) return;
  Lines& lines = state_->lines.emplace_back();
  static_assert(sizeof(MelixLineEntry) == 8 && sizeof(MelixFrame) == 20);
  lines.data = codegen::encodeLines(table);
  lines.table.base = base - table.baseOffset;
  lines.table.size = table.size;
  lines.table.entries = reinterpret_cast<const MelixLineEntry*>(lines.data.entries.data());
  lines.table.count = lines.data.count;
  lines.table.frames = reinterpret_cast<const MelixFrame*>(lines.data.frames.data());
  lines.table.strings = lines.data.strings.c_str();
  melix_register_lines(&lines.table);
}

void* Jit::lookup(const std::string& symbol) {
  if (!state_->jit) return nullptr;
  auto found = state_->jit->lookup(symbol);
  if (!state_->check(found.takeError())) return nullptr;
  return found->toPtr<void*>();
}

namespace {

/// Of the program that runs: one at a time.
MelixEntryFn runningEntry;
const EntryRunner* runner;

int32_t runByRunner(MelixTask* task) { return (*runner)(runningEntry, task); }

} // namespace

int runEntry(MelixEntryFn entry, codegen::DeviceUse devices, int argc, char** argv, const EntryRunner& run) {
  MelixProgram program{};
  runningEntry = entry;
  runner = &run;
  program.entry = run ? &runByRunner : entry;
  program.deviceFlags = devices.flags;
  program.devices = devices.uses ? &melix_devices_and_emulator : nullptr;
  return melix_main(argc, argv, &program);
}

int runProgram(const codegen::Compiled& compiled, int argc, char** argv, std::string& error) {
  Jit jit;
  error = jit.add(compiled);
  if (!error.empty()) return -1;
  void* entry = jit.lookup(compiled.entry);
  if (!entry) {
    error = "the program has no entry";
    return -1;
  }
  return runEntry(reinterpret_cast<MelixEntryFn>(entry), compiled.devices, argc, argv);
}

} // namespace melix::jit

// melix_main: from the process's arguments to its exit status.
#include "system.h"
#include "task.h"

#include <cpuid.h>

namespace melix::runtime {

namespace {

/// What x86-64-v3 has beyond the first x86-64 that compiled code uses, and that the system saves the wide
/// registers.
bool hasLevel3() {
  unsigned a, b, c, d;
  if (!__get_cpuid(1, &a, &b, &c, &d)) return false;
  constexpr unsigned fma = 1u << 12, movbe = 1u << 22, popcnt = 1u << 23, osxsave = 1u << 27, avx = 1u << 28,
                     f16c = 1u << 29;
  constexpr unsigned wanted = fma | movbe | popcnt | osxsave | avx | f16c;
  if ((c & wanted) != wanted) return false;
  unsigned low, high;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  if ((low & 6) != 6) return false;
  constexpr unsigned bmi1 = 1u << 3, avx2 = 1u << 5, bmi2 = 1u << 8;
  constexpr unsigned wanted7 = bmi1 | avx2 | bmi2;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || (b & wanted7) != wanted7) return false;
  constexpr unsigned lzcnt = 1u << 5;
  return __get_cpuid(0x80000001, &a, &b, &c, &d) && (c & lzcnt);
}

void writeMessage(const char* text) {
  writeText(2, reinterpret_cast<const uint8_t*>(text), static_cast<int64_t>(strlen(text)));
}

struct Run {
  const MelixProgram* program;
  int32_t result;
};

void runEntry(MelixTask* task, void* context) {
  auto* run = static_cast<Run*>(context);
  run->result = run->program->entry(task);
}

/// The status of the process for the way the entry ended; writes what there is to say.
int32_t finalStatus(MelixTask* task, int32_t status, int32_t result) {
  if (status == MELIX_OK) return result;
  if (status == MELIX_EXIT) return task->around.exitStatus;
  if (status == MELIX_PANIC) {
    int64_t len;
    const char* text = melix_panic_text(task, &len);
    writeText(2, reinterpret_cast<const uint8_t*>(text), len);
  }
  return status;
}

bool statsWanted() {
  const char* text = environmentVariable("MELIX_STATS");
  return text && strcmp(text, "1") == 0;
}

void addStats(TextBuffer& out, const MelixStats& stats) {
  out.add("live blocks ");
  out.addInt(stats.liveBlocks);
  out.add(", allocations ");
  out.addInt(stats.allocations);
  out.add(", peak ");
  out.addInt(stats.peakBytes);
  out.add(" bytes");
}

/// `onDevice`: of its blocks there; may be null.
void printStats(MelixTask* task, const MelixStats* onDevice) {
  ScopedBuffer out;
  out.add("melix: ");
  addStats(out, task->stats);
  if (onDevice) {
    out.add("; on the device: ");
    addStats(out, *onDevice);
  }
  out.addByte('\n');
  writeText(2, out.data, out.len);
}

int32_t runProgram(MelixTask* task, int32_t argc, char** argv, const MelixProgram* program) {
  Run run{program, 0};
  melix_set_arguments(argc, argv);
  melix_watch_interrupt(task);
  melix_end_when_deaf();
  int32_t status = melix_catch(task, runEntry, &run);
  return finalStatus(task, status, run.result);
}

} // namespace

} // namespace melix::runtime

using namespace melix::runtime;

void melix_print_stats(MelixTask* task) { printStats(task, nullptr); }

int32_t melix_main(int32_t argc, char** argv, const MelixProgram* program) {
  if (program->cpuLevel >= 3 && !hasLevel3()) {
    writeMessage(
        "error: this program is made for processors with AVX2 and FMA (x86-64-v3), which this one lacks\n");
    return MELIX_FAILED;
  }
  if (!threadsAreANumber()) {
    writeMessage("error: MELIX_THREADS is a number of threads, 1 or more\n");
    return MELIX_USAGE;
  }
  const MelixDevices* devices = program->devices;
  if (const int32_t status = devices ? devices->start(program->deviceFlags) : MELIX_OK; status != MELIX_OK)
    return status;
  melix_keep_heap();
  melix_hold_standard_files();
  for (int32_t k = 0; k < program->lineTables; ++k) melix_register_lines(&program->lines[k]);
  MelixTask* task = melix_task_create();
  if (!task) {
    writeMessage("error: out of memory\n");
    return MELIX_FAILED;
  }
  int32_t status = melix_end_output(runProgram(task, argc, argv, program));
  melix_pool_stop();
  if (devices) devices->end();
  if (statsWanted()) printStats(task, devices ? devices->stats() : nullptr);
  melix_watch_interrupt(nullptr);
  melix_task_destroy(task);
  for (int32_t k = 0; k < program->lineTables; ++k) melix_unregister_lines(&program->lines[k]);
  return status;
}

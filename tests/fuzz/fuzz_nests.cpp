// Random nests give at every schedule what the interpreter gives of them, bit for bit, or the same panic: as
// this processor is scheduled for, any of its kind, without a schedule, by LLVM's vectoriser, as processors
// that are not there, and in lanes, strips and rows that no estimate would choose; every launch goes to the
// pool.
#include "core/order/verify.h"
#include "fuzz/nests.h"
#include "harness/launches.h"
#include "interp/interp.h"
#include "jit/program.h"
#include "loops/analysis/reuse_analysis.h"
#include "loops/analysis/vectorizability.h"
#include "loops/checks/hoist_loop_checks.h"
#include "loops/index_sets/hoist_integer_division.h"
#include "loops/index_sets/split_at_wraparound.h"
#include "loops/ir/machine.h"
#include "loops/ownership/drop_invariant_carries.h"
#include "loops/pipeline.h"
#include "loops/text/verify.h"
#include "loops/tiles/unroll_and_jam.h"

#include <cstdio>
#include <cstdlib>

using namespace melix;

namespace {

[[noreturn]] void fail(const std::string& text, const std::string& what) {
  std::fprintf(stderr, "%s\n%s\n", text.c_str(), what.c_str());
  std::abort();
}

/// Any lanes that a loop can take, and rows.
void scheduleAnyhow(loops::Module& module, loops::Function& fn, loops::RegionId region,
                    fuzz::Random& random) {
  const std::vector<loops::StmtId> stmts = fn.regions[region].stmts;
  for (loops::StmtId id : stmts) {
    loops::Stmt& s = fn.stmts[id];
    bool inside = false;
    for (loops::RegionId r : s.regions) {
      scheduleAnyhow(module, fn, r, random);
      for (loops::StmtId in : fn.regions[r].stmts)
        inside |=
            fn.stmts[in].kind == loops::StmtKind::For && fn.stmts[in].as<loops::ForAttr>().vectorWidth > 0;
    }
    if (s.kind != loops::StmtKind::For || random() % 4 == 0) continue;
    auto& attr = s.as<loops::ForAttr>();
    if (inside) {
      if (loops::gainsByRows(module, fn, s)) attr.unrollJam = 2 + random() % 3;
      continue;
    }
    if (!loops::canVectorize(module, fn, s)) continue;
    attr.vectorWidth = 4U << random() % 3;
    attr.interleave = 1U << random() % 4;
    while (attr.minDistance > 0 && attr.vectorWidth * attr.interleave > attr.minDistance)
      attr.interleave /= 2;
  }
}

loops::Result scheduled(const core::Module& core, fuzz::Random& random) {
  loops::Options options;
  options.verify = true;
  const loops::Machine none[] = {{"", 128, 16, loops::MaskKind::None},
                                 {"", 256, 32, loops::MaskKind::Registers},
                                 {"", 512, 16, loops::MaskKind::None},
                                 {"", 512, 8, loops::MaskKind::Registers},
                                 {"", 256, 16, loops::MaskKind::Values}};
  const size_t kind = random() % 7;
  if (kind < std::size(none)) {
    options.machine = &none[kind];
    return loops::fromCore(core, options);
  }
  loops::Result out = loops::fromCore(core, options);
  if (out.error || !out.bug.empty()) return out;
  for (loops::Function& fn : out.module.functions) {
    loops::hoistLoopChecks(out.module, fn);
    loops::dropInvariantCarries(fn);
    loops::hoistIntegerDivision(fn);
    loops::splitAtWraparound(fn);
    if (!fn.inlined) scheduleAnyhow(out.module, fn, fn.body, random);
    loops::unrollAndJam(fn);
  }
  out.bug = loops::verify(out.module, {loops::State::CountsInserted});
  return out;
}

void compare(const std::string& text, const std::string& way, const interp::RunResult& expected,
             const jit::Outcome& outcome) {
  if (!outcome.error.empty()) fail(text, way + ": " + outcome.error);
  if (outcome.stats.liveBlocks != 0) fail(text, way + ": blocks are left");
  if (expected.panicked) {
    if (outcome.status != MELIX_PANIC || outcome.panic.find(expected.panic.message) == std::string::npos)
      fail(text, way + ": instead of the panic " + expected.panic.message + ": " + outcome.panic);
  } else if (outcome.status != MELIX_OK) {
    fail(text, way + ": " + outcome.panic);
  } else if (outcome.result != expected.values[0].slot().i) {
    fail(text, way + ": " + std::to_string(outcome.result) + " instead of " +
                   std::to_string(expected.values[0].slot().i));
  }
}

void step(fuzz::Random& random) {
  const std::string text = fuzz::randomNest(random);
  jit::Program program(text);
  if (!program.error.empty()) fail(text, program.error);
  const interp::RunResult expected = interp::Program(program.core).run(program.core.entry, {});
  if (std::getenv("MELIX_FUZZ_SHOW"))
    std::printf("%s// %s\n", text.c_str(), expected.panicked ? expected.panic.message.c_str() : "fine");
  for (const jit::Way& way : jit::waysToCompile()) {
    if (random() % 2 == 0) continue; // all of them in the long run
    compare(text, way.name, expected, program.run(way.options));
  }
  loops::Result forced = scheduled(program.core, random);
  if (forced.error) fail(text, "unsupported: " + forced.error->what);
  if (!forced.bug.empty()) fail(text, forced.bug);
  harness::makeLaunchesLong(forced.module);
  compare(text, "forced", expected, jit::run(forced.module, {}));
}

} // namespace

int main(int argc, char** argv) {
  setenv("MELIX_THREADS", "2", 0);
  return fuzz::runFuzzer(argc, argv, step);
}

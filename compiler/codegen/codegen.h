#pragma once
// Compiles Loops to machine code: LLVM IR, a short pipeline, an object file, and the table that maps return
// addresses to Melix functions and lines. No file is read or written.

#include "loops/pipeline.h"
#include "source/source.h"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace melix::codegen {

enum class TargetKind : uint8_t {
  Host,     ///< features of this processor
  Portable, ///< x86-64-v3
  Gpu,      ///< sm_80, for kernels of a device only
};

/// The features of the processor that schedules depend on. Not of a GPU.
const loops::Machine& machineOf(TargetKind target);

/// How memory is reached. Orchestration lives in the generic space 0, of which all others are part.
struct Addressing {
  unsigned arrays = 0;     ///< address space of the arrays that kernels read and write
  unsigned scratch = 0;    ///< and of their scratch
  unsigned indexBits = 64; ///< width of offsets; no array exceeds half of its range; numbers stay i64
};

/// Kernels as machine code of a GPU (MelixCubin).
struct Cubin {
  int32_t architecture = 0;
  std::string bytes;
};
/// Makes that of their assembly. Sets `problem` if it cannot.
using Assemble = std::function<std::vector<Cubin>(const std::string& ptx, std::string& problem)>;

struct Options {
  TargetKind target = TargetKind::Host;
  Addressing addressing;
  bool optimise = true;                 ///< false: LLVM's passes are left out (`-O0`)
  DeviceCode devices;                   ///< for which there is code
  Device device = Device::Host;         ///< where a program runs as a whole
  Assemble assemble;                    ///< none: GPUs get PTX only
  bool vectorise = false;               ///< LLVM vectorises loops where it can: a twin of lanes, for tests
  const SourceStore* sources = nullptr; ///< for places in traces; without it there are none
  std::string sourceName = "melix";     ///< of the compile unit
};

/// One inlined frame of a call.
struct Frame {
  std::string function, file, text; ///< `text`: the source line
  uint32_t line = 0, column = 0;
};

/// A return address, as offset from the base, and its frames, innermost first (none: nothing to show).
struct LineEntry {
  uint32_t address = 0;
  std::vector<Frame> frames;
};

struct LineTable {
  std::string baseSymbol;  ///< exported by the object …
  uint64_t baseOffset = 0; ///< … at this offset of its code
  uint64_t size = 0;       ///< bytes of code
  std::vector<LineEntry> entries;
};

/// The table in the layout of the runtime (MelixLineEntry, MelixFrame), the sentinel included.
struct LineData {
  std::vector<uint32_t> entries; ///< address, first frame
  std::vector<uint32_t> frames;  ///< function, file, line, column, text
  std::string strings;
  uint64_t count = 0;
};
LineData encodeLines(const LineTable& table);

struct Object {
  std::string bytes; ///< ELF
  LineTable lines;   ///< empty for one without Melix functions
};

struct DeviceUse {
  bool uses = false; ///< some of a program runs on a device that is ready
  int32_t flags = 0; ///< MelixDeviceFlags
};

struct Compiled {
  std::vector<Object> objects; ///< one for each unit of the module, in order (units.h), then for images
  std::string entry;           ///< symbol of the entry, a MelixEntryFn; empty if the module has none
  DeviceUse devices;
  /// Symbols by which a host enters, MelixEntryFns: of kept functions without parameters.
  std::map<core::FunctionId, std::string> entries;
  std::string error; ///< of the code generator itself: a bug; empty if all is well
};

/// How Loops are made for that: in lanes if it is optimised.
loops::Options loopOptions(const Options& options);

/// Machine code, made by as many threads as there are processors. The bytes do not depend on their number.
Compiled compile(const loops::Module& module, const Options& options);

/// The same module as text, after LLVM's passes.
enum class TextKind : uint8_t { Ir, Assembly };
std::string compileToText(const loops::Module& module, const Options& options, TextKind kind);

/// The kernels for a device as the assembly of its GPU (PTX), after LLVM's passes; empty if the module has
/// none. Each is an entry: extent, then captures as launches have them, all of them words; each thread runs
/// the point that its number in the grid says.
std::string kernelsAsPtx(const loops::Module& module, const Options& options);

/// Symbol of a function that was kept (`core::Function::keep`): takes `MelixTask*`, dims and leaves.
std::string exportedSymbol(const loops::Function& function);

/// Adds the object that makes the others a program: the line tables, the MelixProgram and `main`.
void addStart(Compiled& program, const Options& options);

} // namespace melix::codegen

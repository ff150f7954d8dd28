#pragma once
// Programs in this process: objects linked into memory by ORC, bound to the runtime that melix itself is
// linked with.

#include "codegen/codegen.h"

#include "melix/abi.h"

#include <functional>
#include <memory>
#include <string>

namespace melix::jit {

/// Linked code lives as long as the object. It holds one module: each has the same symbols.
class Jit {
public:
  Jit();
  ~Jit();
  Jit(const Jit&) = delete;
  Jit& operator=(const Jit&) = delete;

  /// Links a compiled module and makes its lines known to traces. Returns the error, or an empty text.
  std::string add(const codegen::Compiled& compiled);

  /// The address of a symbol, null if there is none.
  void* lookup(const std::string& symbol);

private:
  void registerLines(const codegen::LineTable& table);
  struct State;
  std::unique_ptr<State> state_;
};

/// Runs the entry of a program and gives its status. A panic or `exit` leaves it without unwinding: it owns
/// nothing where it calls the entry.
using EntryRunner = std::function<int32_t(MelixEntryFn entry, MelixTask* task)>;

/// Runs linked code from one of its entries like an executable would: command line, panics, exit status
/// (melix_main). Without `run` the entry is called once.
int runEntry(MelixEntryFn entry, codegen::DeviceUse devices, int argc, char** argv,
             const EntryRunner& run = {});

/// Links and runs a whole program. `error` is set, and -1 returned, if it could not be linked.
int runProgram(const codegen::Compiled& compiled, int argc, char** argv, std::string& error);

} // namespace melix::jit

#pragma once
#include <span>

namespace melix::jit {

struct RuntimeSymbol {
  const char* name;
  void* address;
};

/// The symbols that generated code may call or read: the runtime, and the few functions of the C library and
/// the compiler that LLVM calls by itself.
std::span<const RuntimeSymbol> runtimeSymbols();

} // namespace melix::jit

#include "jit/runtime_symbols.h"

#include "melix/abi.h"

#include <cmath>
#include <cstring>

// The builtins, all of one type; and what LLVM calls for numbers narrower than the machine's.
extern "C" {
#define BUILTIN(Kind, Name, Symbol, Effects, Params, Results, Purpose)                                       \
  void Symbol(MelixTask* task, const uint64_t* args, uint64_t* results);
#include "ops/builtins.def"
void __truncsfbf2();
void __truncdfbf2();
void __truncsfhf2();
void __truncdfhf2();
void __extendhfsf2();
}

namespace melix::jit {
namespace {

template <class F>
void* addressOf(F* function) {
  return reinterpret_cast<void*>(function);
}

#define RUNTIME(name) {#name, addressOf(&name)}
const RuntimeSymbol symbols[] = {
#define FUNCTION(symbol) RUNTIME(symbol),
#include "melix/functions.def"
    {"melix_scalar_types", const_cast<MelixType*>(&melix_scalar_types[0])},
#define BUILTIN(Kind, Name, Symbol, Effects, Params, Results, Purpose) RUNTIME(Symbol),
#include "ops/builtins.def"
    {"memcpy", addressOf(&memcpy)},
    {"memmove", addressOf(&memmove)},
    {"memset", addressOf(&memset)},
    {"fma", addressOf(static_cast<double (*)(double, double, double)>(&std::fma))},
    {"fmaf", addressOf(&fmaf)},
    {"floor", addressOf(static_cast<double (*)(double)>(&std::floor))},
    {"floorf", addressOf(&floorf)},
    {"ceil", addressOf(static_cast<double (*)(double)>(&std::ceil))},
    {"ceilf", addressOf(&ceilf)},
    {"trunc", addressOf(static_cast<double (*)(double)>(&std::trunc))},
    {"truncf", addressOf(&truncf)},
    RUNTIME(__truncsfbf2),
    RUNTIME(__truncdfbf2),
    RUNTIME(__truncsfhf2),
    RUNTIME(__truncdfhf2),
    RUNTIME(__extendhfsf2),
};
#undef RUNTIME

} // namespace

std::span<const RuntimeSymbol> runtimeSymbols() { return symbols; }

} // namespace melix::jit

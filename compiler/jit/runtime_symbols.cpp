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
    RUNTIME(melix_alloc),
    RUNTIME(melix_alloc_zeroed),
    RUNTIME(melix_alloc_typed),
    RUNTIME(melix_argsort),
    RUNTIME(melix_cancelled),
    RUNTIME(melix_checked_bytes),
    RUNTIME(melix_ensure_unique),
    RUNTIME(melix_format_value),
    RUNTIME(melix_list_from_array),
    RUNTIME(melix_list_length),
    RUNTIME(melix_list_pop),
    RUNTIME(melix_list_push),
    RUNTIME(melix_list_reserve),
    RUNTIME(melix_list_to_array),
    RUNTIME(melix_panic),
    RUNTIME(melix_panic_format),
    RUNTIME(melix_parallel),
    RUNTIME(melix_release),
    RUNTIME(melix_release_value),
    RUNTIME(melix_release_word),
    RUNTIME(melix_retain),
    RUNTIME(melix_retain_value),
    RUNTIME(melix_retain_word),
    RUNTIME(melix_scratch),
    RUNTIME(melix_unique_beside),
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

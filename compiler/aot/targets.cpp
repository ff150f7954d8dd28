// The linker's link-time optimiser initialises every target LLVM was built for, and a static link would pull
// in all of them. Only the targets that melix generates code for are real; each of the others is an empty
// function here.

// SELECT(LINKED_ARM, text, ) is text; SELECT(LINKED_X86, text, ) is nothing, as LINKED_X86 brings a comma.
#define LINKED_X86 linked, /* nothing */
#define LINKED_NVPTX linked,
#define SELECT_SECOND(first, second, ...) second
#define SELECT(...) SELECT_SECOND(__VA_ARGS__)
#define STUB(name)                                                                                           \
  extern "C" __attribute__((weak)) void name() {}

#define LLVM_TARGET(target)                                                                                  \
  SELECT(LINKED_##target, STUB(LLVMInitialize##target##TargetInfo), )                                        \
  SELECT(LINKED_##target, STUB(LLVMInitialize##target##Target), )                                            \
  SELECT(LINKED_##target, STUB(LLVMInitialize##target##TargetMC), )
#include "llvm/Config/Targets.def"

#define LLVM_ASM_PRINTER(target) SELECT(LINKED_##target, STUB(LLVMInitialize##target##AsmPrinter), )
#include "llvm/Config/AsmPrinters.def"

#define LLVM_ASM_PARSER(target) SELECT(LINKED_##target, STUB(LLVMInitialize##target##AsmParser), )
#include "llvm/Config/AsmParsers.def"

# The entry point of every executable that melix makes: what crt1.o of a C compiler would do, so that none is needed.
# The kernel leaves argc, argv, … at the stack pointer and the function that the loader wants called at exit in rdx.
.globl _start
.type _start, @function
.text
_start:
  xor %ebp, %ebp                  # ends every walk over frame pointers
  mov %rdx, %r9                   # rtld_fini
  mov (%rsp), %rsi                # argc
  lea 8(%rsp), %rdx               # argv
  and $-16, %rsp
  push %rax                       # keeps the stack aligned
  push %rsp                       # stack_end
  xor %r8d, %r8d                  # fini: glibc 2.34 finds it itself
  xor %ecx, %ecx                  # init: likewise
  lea main(%rip), %rdi
  call *__libc_start_main@GOTPCREL(%rip)
  hlt
.size _start, . - _start
.section .note.GNU-stack, "", @progbits

# int main(int argc, char** argv) { puts(argv[argc - 1]); return 42; }, and a function nobody calls.
.text
.globl main
main:
  sub $8, %rsp
  movslq %edi, %rdi
  mov -8(%rsi,%rdi,8), %rdi
  call *puts@GOTPCREL(%rip)
  mov $42, %eax
  add $8, %rsp
  ret
.section .text.unused, "ax"
.globl unused
unused:
  .ascii "nobody calls this code"
.section .note.GNU-stack, "", @progbits

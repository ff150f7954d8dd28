# int main() { return (int)cbrt(27.0); }
.text
.globl main
main:
  sub $8, %rsp
  movsd value(%rip), %xmm0
  call *cbrt@GOTPCREL(%rip)
  cvtsd2si %xmm0, %eax
  add $8, %rsp
  ret
.section .rodata
value: .double 27.0
.section .note.GNU-stack, "", @progbits

# int helper() { return 7; }
.text
.globl helper
helper:
  mov $7, %eax
  ret
.section .note.GNU-stack, "", @progbits

# int main() { return no_such_function(); }
.text
.globl main
main:
  jmp no_such_function
.section .note.GNU-stack, "", @progbits

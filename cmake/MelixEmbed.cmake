# Files inside the program: an assembly file with .incbin for each and a table of {path, begin, end}.

# melix_embed(target SYMBOL symbol BASE folder FILES file... [DEPENDS file...])
#
# A static library that defines two symbols, to be declared as in driver/embedded.h:
#     extern "C" const melix::EmbeddedFile symbol[];      one entry a file, sorted by path relative to BASE
#     extern "C" const std::uint64_t symbolCount;
# Each file is followed by a zero byte that does not count.
function(melix_embed target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "SYMBOL;BASE" "FILES;DEPENDS")
  list(SORT arg_FILES)
  list(LENGTH arg_FILES count)
  set(data "")
  set(table "")
  set(index 0)
  foreach(file IN LISTS arg_FILES)
    file(RELATIVE_PATH path ${arg_BASE} ${file})
    string(APPEND data
      ".Lpath${index}: .asciz \"${path}\"\n.balign 16\n.Lbegin${index}: .incbin \"${file}\"\n.Lend${index}: .byte 0\n")
    string(APPEND table ".quad .Lpath${index}, .Lbegin${index}, .Lend${index}\n")
    math(EXPR index "${index} + 1")
  endforeach()
  set(assembly ${CMAKE_CURRENT_BINARY_DIR}/${target}.S)
  file(CONFIGURE OUTPUT ${assembly} @ONLY CONTENT [[
.section .rodata
@data@
.section .data.rel.ro, "aw"
.balign 8
.globl @arg_SYMBOL@
@arg_SYMBOL@:
@table@
.globl @arg_SYMBOL@Count
.balign 8
@arg_SYMBOL@Count: .quad @count@
.section .note.GNU-stack, "", %progbits
]])
  set_source_files_properties(${assembly} PROPERTIES OBJECT_DEPENDS "${arg_FILES};${arg_DEPENDS}")
  add_library(${target} STATIC ${assembly})
endfunction()

# melix_merge_archives(output target archive...): the objects of a library target and of further archives in one
# archive without debug information, as a file made when the build needs it.
function(melix_merge_archives output target)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -E rm -f ${output}
    COMMAND ${MELIX_LLVM_AR} qcLs ${output} $<TARGET_FILE:${target}> ${ARGN}
    COMMAND ${MELIX_LLVM_OBJCOPY} --strip-debug ${output}
    DEPENDS ${target} ${ARGN}
    COMMENT "Merging ${output}"
    VERBATIM)
endfunction()

# LLVM 22 and lld as static libraries. Without HINTS an older LLVM may be found first.
find_package(LLVM 22.1 REQUIRED CONFIG HINTS ${MELIX_LLVM_ROOT})
separate_arguments(MELIX_LLVM_DEFINITIONS NATIVE_COMMAND "${LLVM_DEFINITIONS}")

# The CMake target lldELF brings the shared libLLVM with it, a second LLVM in one process: link the archives.
set(MELIX_LLD_LIBRARIES ${LLVM_LIBRARY_DIR}/liblldELF.a ${LLVM_LIBRARY_DIR}/liblldCommon.a)
set(MELIX_LLVM_AR ${LLVM_TOOLS_BINARY_DIR}/llvm-ar)
set(MELIX_LLVM_OBJCOPY ${LLVM_TOOLS_BINARY_DIR}/llvm-objcopy)

# melix_link_llvm(target component...): headers and static libraries of these LLVM components.
function(melix_link_llvm target)
  llvm_map_components_to_libnames(libraries ${ARGN})
  target_include_directories(${target} SYSTEM PUBLIC ${LLVM_INCLUDE_DIRS})
  target_compile_definitions(${target} PRIVATE ${MELIX_LLVM_DEFINITIONS})
  target_link_libraries(${target} PUBLIC ${libraries})
endfunction()

# What generated code may call for operations a processor lacks (bf16 conversions, 128-bit division).
set(MELIX_COMPILER_BUILTINS ${LLVM_LIBRARY_DIR}/clang/22/lib/linux/libclang_rt.builtins-x86_64.a)
if(NOT EXISTS ${MELIX_COMPILER_BUILTINS})
  message(FATAL_ERROR "${MELIX_COMPILER_BUILTINS} is missing: install libclang-rt-22-dev")
endif()

# Build types, warnings and linking of everything under compiler/ and tests/. They are properties of the target
# melix_options, not global flags, so that the runtime keeps the fixed flags of its own.

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Release, Debug" FORCE)
endif()
option(MELIX_GUARD_PAGES "pages that trap around every block of compiled programs" OFF)
option(MELIX_SANITIZE "address and undefined-behaviour sanitizers in compiler and tests" OFF)
option(MELIX_UNITY "compile many sources of a folder at a time: a third of the work, but all of them for each change" OFF)
option(MELIX_SANITIZE_PROGRAMS "the address sanitizer in compiled programs" OFF)
if(MELIX_SANITIZE_PROGRAMS AND (MELIX_GUARD_PAGES OR MELIX_SANITIZE))
  message(FATAL_ERROR "MELIX_SANITIZE_PROGRAMS goes with neither MELIX_GUARD_PAGES nor MELIX_SANITIZE")
endif()

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
# Assertions stay on in every build type: a compiler that goes on with a broken invariant makes wrong programs.
set(CMAKE_CXX_FLAGS_RELEASE "-O2")
set(CMAKE_C_FLAGS_RELEASE "-O2")
set(CMAKE_CXX_FLAGS_DEBUG "-O1 -g")
set(CMAKE_C_FLAGS_DEBUG "-O1 -g")
set(CMAKE_ASM_FLAGS_DEBUG "")

find_program(MELIX_CCACHE ccache)
if(MELIX_CCACHE)
  set(CMAKE_C_COMPILER_LAUNCHER ${MELIX_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${MELIX_CCACHE})
endif()

add_library(melix_options INTERFACE)
target_include_directories(melix_options INTERFACE ${CMAKE_SOURCE_DIR}/compiler)
target_compile_options(melix_options INTERFACE
  -Wall -Wextra -Wshadow=local -Wnon-virtual-dtor -Woverloaded-virtual -Wimplicit-fallthrough -Wundef -Wvla
  -Werror
  -ffunction-sections -fdata-sections
  # The interpreter's floats must have the bits of compiled code: never contract a*b+c on our own.
  -ffp-contract=off)
target_link_options(melix_options INTERFACE
  -B${MELIX_LLVM_ROOT}/bin -fuse-ld=lld -Wl,--gc-sections)
if(CMAKE_BUILD_TYPE STREQUAL "Debug")
  target_compile_definitions(melix_options INTERFACE _GLIBCXX_ASSERTIONS)
elseif(NOT MELIX_SANITIZE AND NOT MELIX_SANITIZE_PROGRAMS)
  target_link_options(melix_options INTERFACE -static-libstdc++ -static-libgcc)
endif()
if(MELIX_SANITIZE)
  # vptr checks want the type information of every LLVM class a header mentions; those of null, alignment and
  # object-size stand at each access and make GCC take twice as long. The address sanitizer sees accesses through null.
  set(sanitizers -fsanitize=address,undefined -fno-sanitize=vptr,null,alignment,object-size
    -fno-sanitize-recover=all)
  # With sanitizers GCC sees uninitialised parts of std::optional that are not.
  # Reports need lines; variables would double the size of objects.
  target_compile_options(melix_options INTERFACE ${sanitizers} -g1 -fno-omit-frame-pointer -Wno-maybe-uninitialized)
  target_compile_definitions(melix_options INTERFACE MELIX_SANITIZE=1)
  target_link_options(melix_options INTERFACE ${sanitizers})
endif()

# melix_sanitized_sources(source...): those of the current folder that ask whether programs are sanitized, so that all
# others are compiled as always. Programs find the sanitizer's functions in GCC's library, which melix is linked with then:
# what it gives is what LLVM asks for, and executables are linked with the same file.
function(melix_sanitized_sources)
  if(MELIX_SANITIZE_PROGRAMS)
    set_property(SOURCE ${ARGN} APPEND PROPERTY COMPILE_DEFINITIONS MELIX_SANITIZE_PROGRAMS=1
      MELIX_ASAN_LIBRARY="${MELIX_ASAN_LIBRARY}")
  endif()
endfunction()
if(MELIX_SANITIZE_PROGRAMS)
  target_link_options(melix_options INTERFACE -fsanitize=address)
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libasan.so
    OUTPUT_VARIABLE asan_library OUTPUT_STRIP_TRAILING_WHITESPACE)
  file(REAL_PATH ${asan_library} asan_library)
  string(REGEX MATCH "libasan\\.so\\.[0-9]+" MELIX_ASAN_LIBRARY ${asan_library})
  if(NOT MELIX_ASAN_LIBRARY)
    message(FATAL_ERROR "${CMAKE_CXX_COMPILER} has no address sanitizer: ${asan_library}")
  endif()
endif()

# Unit tests: tests/unit/<folder>/*_test.cpp is the program test_<folder>, linked with melix_<folder>.
find_package(GTest REQUIRED)
include(GoogleTest)

# melix_unit_test(folder [library...]): further libraries may be given; missing folders are skipped.
function(melix_unit_test folder)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/unit/${folder}/*.cpp)
  if(NOT sources)
    return()
  endif()
  add_executable(test_${folder} ${sources})
  target_include_directories(test_${folder} PRIVATE ${CMAKE_SOURCE_DIR}/tests/unit)
  # Tests find programs, data and the library's sources below this folder.
  target_compile_definitions(test_${folder} PRIVATE MELIX_SOURCE_DIR="${CMAKE_SOURCE_DIR}"
    MELIX_BINARY_DIR="${CMAKE_BINARY_DIR}")
  # `if (…) EXPECT_TRUE(…);` is fine: the macro of GoogleTest guards itself.
  target_compile_options(test_${folder} PRIVATE -Wno-dangling-else)
  target_link_libraries(test_${folder} PRIVATE ${ARGN} melix_options GTest::gtest GTest::gtest_main)
  set(seconds 240)
  if(MELIX_SANITIZE)
    set(seconds 600)
  endif()
  gtest_discover_tests(test_${folder} DISCOVERY_MODE PRE_TEST TEST_PREFIX "${folder}: "
    PROPERTIES TIMEOUT ${seconds})
endfunction()

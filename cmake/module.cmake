# taut_module(NAME DEPENDS modules... LIBRARIES system-libraries... [TOGETHER filter])
#
# One static library per folder of src. In the folder, beside the sources:
#   x_test.cc    goes into the GoogleTest program NAME_test
#   x_bench.cc   goes into the Google Benchmark program NAME_bench
#   x_fuzz.cc    becomes the libFuzzer program x_fuzz (preset fuzz)
#   x_nocompile.cc  must not compile: each `#ifdef CASE_…` of it is one test
# ctest gives each test of x_test.cc a process of its own, but for those that TOGETHER, a filter of GoogleTest, names:
# they share one, and what is slow to set up. With a sanitizer, whose processes take long to start, all of a module's
# tests share four, or one if some of them are TOGETHER.
# A test program's own files are compiled with TAUT_TEST_FLAGS behind the preset's: what a test tests is optimised as
# the preset says, its own statements need no optimiser, which takes longer for them than for all that they test.
# All presets but `release` and `profile` are unity builds: some files at a time are compiled as one, which takes a third
# of the time. So names in anonymous namespaces are unique within a module, its tests included. They have no benches.
# A folder that does not exist yet, or has no sources, is skipped.

find_package(GTest REQUIRED)
find_package(benchmark REQUIRED)
include(GoogleTest)

# -Wno-restrict: g++ 12 sees overlaps in `"literal" + std::string` that are not there (GCC bug 105651).
add_library(taut_options INTERFACE)
target_include_directories(taut_options INTERFACE ${CMAKE_SOURCE_DIR}/src)
target_compile_options(taut_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wno-missing-field-initializers $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict> -Werror
                                              -fno-math-errno -fvisibility=hidden)
target_link_libraries(taut_options INTERFACE Threads::Threads)

function(taut_module name)
  cmake_parse_arguments(M "" "TOGETHER" "DEPENDS;LIBRARIES" ${ARGN})
  set(dir ${CMAKE_SOURCE_DIR}/src/${name})
  file(GLOB sources CONFIGURE_DEPENDS ${dir}/*.cc)
  set(tests ${sources})
  set(benches ${sources})
  set(fuzzers ${sources})
  set(nocompile ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  list(FILTER benches INCLUDE REGEX "_bench\\.cc$")
  list(FILTER fuzzers INCLUDE REGEX "_fuzz\\.cc$")
  list(FILTER nocompile INCLUDE REGEX "_nocompile\\.cc$")
  list(FILTER sources EXCLUDE REGEX "_(test|bench|fuzz|nocompile)\\.cc$")

  # What counts allocations replaces `operator new`, and so does a sanitizer.
  if(CMAKE_CXX_FLAGS MATCHES "-fsanitize")
    list(FILTER tests EXCLUDE REGEX "_?allocations?_test\\.cc$")
  endif()

  set(links taut_options ${M_LIBRARIES})
  foreach(dep ${M_DEPENDS})
    if(TARGET taut_${dep})
      list(APPEND links taut_${dep})
    endif()
  endforeach()
  if(sources)
    add_library(taut_${name} STATIC ${sources})
    target_link_libraries(taut_${name} PUBLIC ${links})
  else()
    add_library(taut_${name} INTERFACE)
    target_link_libraries(taut_${name} INTERFACE ${links})
  endif()

  if(TAUT_FUZZ)
    foreach(fuzzer ${fuzzers})
      get_filename_component(target ${fuzzer} NAME_WE)
      add_executable(${target} ${fuzzer})
      target_link_libraries(${target} PRIVATE taut_${name})
      target_link_options(${target} PRIVATE -fsanitize=fuzzer)
    endforeach()
    return()
  endif()
  if(tests)
    add_executable(${name}_test ${tests})
    target_link_libraries(${name}_test PRIVATE taut_${name} GTest::gtest GTest::gtest_main GTest::gmock)
    separate_arguments(test_flags UNIX_COMMAND "${TAUT_TEST_FLAGS}")
    target_compile_options(${name}_test PRIVATE ${test_flags})
    if(CMAKE_CXX_FLAGS MATCHES "-fsanitize")
      set(processes 4)
      if(M_TOGETHER)
        set(processes 1)
      endif()
      foreach(number RANGE 1 ${processes})
        math(EXPR index "${number} - 1")
        add_test(NAME ${name}.${number}_of_${processes} COMMAND ${name}_test --gtest_brief=1)
        set_tests_properties(${name}.${number}_of_${processes} PROPERTIES TIMEOUT 600 LABELS ${name}
                             ENVIRONMENT "GTEST_TOTAL_SHARDS=${processes};GTEST_SHARD_INDEX=${index}")
      endforeach()
    else()
      if(M_TOGETHER)
        set(alone TEST_FILTER "-${M_TOGETHER}")
        add_test(NAME ${name}.together COMMAND ${name}_test --gtest_brief=1 --gtest_filter=${M_TOGETHER})
        set_tests_properties(${name}.together PROPERTIES TIMEOUT 300 LABELS ${name})
      endif()
      gtest_discover_tests(${name}_test ${alone} DISCOVERY_TIMEOUT 600 PROPERTIES TIMEOUT 300 LABELS ${name})
    endif()
  endif()
  if(benches AND NOT CMAKE_UNITY_BUILD)
    add_executable(${name}_bench ${benches})
    target_link_libraries(${name}_bench PRIVATE taut_${name} benchmark::benchmark benchmark::benchmark_main)
  endif()
  foreach(file ${nocompile})
    file(STRINGS ${file} cases REGEX "^#ifdef CASE_")
    get_filename_component(stem ${file} NAME_WE)
    foreach(line ${cases})
      string(REPLACE "#ifdef " "" case ${line})
      add_test(NAME ${name}.${stem}.${case}
               COMMAND ${CMAKE_CXX_COMPILER} -std=c++23 -fsyntax-only -I${CMAKE_SOURCE_DIR}/src -D${case} ${file})
      set_tests_properties(${name}.${stem}.${case} PROPERTIES WILL_FAIL TRUE LABELS ${name})
    endforeach()
    add_test(NAME ${name}.${stem}.without_the_mistakes
             COMMAND ${CMAKE_CXX_COMPILER} -std=c++23 -fsyntax-only -I${CMAKE_SOURCE_DIR}/src ${file})
  endforeach()
endfunction()

# taut_program(NAME folder DEPENDS modules...): one executable, put at the top of the build folder.
function(taut_program name folder)
  cmake_parse_arguments(P "" "" "DEPENDS;LIBRARIES" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${folder}/*.cc)
  list(FILTER sources EXCLUDE REGEX "_(test|bench|fuzz)\\.cc$")
  if(TAUT_FUZZ OR NOT sources)
    return()
  endif()
  add_executable(${name} ${sources})
  target_link_libraries(${name} PRIVATE taut_options ${P_LIBRARIES})
  foreach(dep ${P_DEPENDS})
    target_link_libraries(${name} PRIVATE taut_${dep})
  endforeach()
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
endfunction()

# The few functions that every CMakeLists.txt of the project uses.

# Compile options of the library, its command and its tests.
#   vlearn_dev_flags   warnings as errors, only in developer mode and never exported
#   vlearn_build_flags sanitizers and hardening of the chosen preset, never exported
add_library(vlearn_dev_flags INTERFACE)
add_library(vlearn_build_flags INTERFACE)
if(VLEARN_DEVELOPER_MODE)
  target_compile_options(
    vlearn_dev_flags
    INTERFACE -Wall
              -Wextra
              -Wpedantic
              -Werror
              -Wconversion
              -Wsign-conversion
              -Wshadow
              -Wold-style-cast
              -Wcast-align
              -Wnon-virtual-dtor
              -Woverloaded-virtual
              -Wformat=2
              -Wimplicit-fallthrough
              $<$<CXX_COMPILER_ID:GNU>:-Wdouble-promotion
              -Wduplicated-cond
              -Wlogical-op>
              # gcc 12 warns about "literal" + std::string (its bug 105651).
              $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict>)
endif()
if(VLEARN_SANITIZE)
  target_compile_options(vlearn_build_flags INTERFACE -fsanitize=${VLEARN_SANITIZE}
                                                      -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(vlearn_build_flags INTERFACE -fsanitize=${VLEARN_SANITIZE})
elseif(CMAKE_BUILD_TYPE STREQUAL "Release")
  target_compile_options(vlearn_build_flags INTERFACE -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3
                                                      -fstack-protector-strong)
  target_link_options(vlearn_build_flags INTERFACE -Wl,-z,relro,-z,now)
endif()
if(VLEARN_ASSERTIONS)
  target_compile_definitions(vlearn_build_flags INTERFACE VLEARN_ASSERTIONS=1 _GLIBCXX_ASSERTIONS)
endif()

# vlearn_may_see(RESULT FROM TO): whether cmake/module_graph.txt allows the edge.
function(vlearn_may_see result from to)
  file(STRINGS "${PROJECT_SOURCE_DIR}/cmake/module_graph.txt" lines REGEX "^[0-9]")
  foreach(line IN LISTS lines)
    if(line MATCHES "^([0-9]+) ${from}( .*)?$")
      set(from_level "${CMAKE_MATCH_1}")
      set(hidden "${CMAKE_MATCH_2} ")
    endif()
    if(line MATCHES "^([0-9]+) ${to}( .*)?$")
      set(to_level "${CMAKE_MATCH_1}")
    endif()
  endforeach()
  if(NOT DEFINED from_level OR NOT DEFINED to_level)
    message(FATAL_ERROR "cmake/module_graph.txt lacks '${from}' or '${to}'")
  endif()
  set(${result} FALSE PARENT_SCOPE)
  if(to_level LESS from_level AND NOT hidden MATCHES " !${to} ")
    set(${result} TRUE PARENT_SCOPE)
  endif()
endfunction()

# vlearn_add_module(NAME SOURCES... [MODULES...] [LIBRARIES...])
# A static library vlearn::NAME from sources beside the caller, over other modules and third-party
# libraries (private unless preceded by PUBLIC).
function(vlearn_add_module name)
  cmake_parse_arguments(arg "" "" "SOURCES;MODULES;LIBRARIES" ${ARGN})
  add_library(vlearn_${name} STATIC ${arg_SOURCES})
  add_library(vlearn::${name} ALIAS vlearn_${name})
  set_target_properties(vlearn_${name} PROPERTIES EXPORT_NAME ${name})
  target_compile_features(vlearn_${name} PUBLIC cxx_std_20)
  # Every result is the same bits on every machine, code inlined into user programs included.
  target_compile_options(vlearn_${name} PUBLIC $<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off>)
  target_include_directories(
    vlearn_${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                          $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
    PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  target_link_libraries(vlearn_${name} PRIVATE $<BUILD_INTERFACE:vlearn_dev_flags>
                                               $<BUILD_INTERFACE:vlearn_build_flags>)
  foreach(module IN LISTS arg_MODULES)
    vlearn_may_see(allowed ${name} ${module})
    if(NOT allowed)
      message(FATAL_ERROR "module '${name}' may not see '${module}' (cmake/module_graph.txt)")
    endif()
    target_link_libraries(vlearn_${name} PUBLIC vlearn_${module})
  endforeach()
  if(arg_LIBRARIES)
    list(GET arg_LIBRARIES 0 first)
    if(NOT first STREQUAL "PUBLIC")
      list(PREPEND arg_LIBRARIES PRIVATE)
    endif()
    target_link_libraries(vlearn_${name} ${arg_LIBRARIES})
  endif()
  target_link_libraries(vlearn INTERFACE vlearn_${name})
  install(TARGETS vlearn_${name} EXPORT vlearn)
  set_property(GLOBAL APPEND PROPERTY VLEARN_MODULES ${name})
endfunction()

# vlearn_embed(NAME FOLDER FILES... [SUFFIX] HEADER TYPE)
# Sets NAME to a source with the function NAME(), which returns the texts of FILES (paths within FOLDER) as
# TYPEs of HEADER: the command has them wherever it is installed.
function(vlearn_embed name)
  cmake_parse_arguments(arg "" "FOLDER;SUFFIX;HEADER;TYPE" "FILES" ${ARGN})
  set(output ${CMAKE_CURRENT_BINARY_DIR}/generated/${name}.cpp)
  list(TRANSFORM arg_FILES PREPEND ${arg_FOLDER}/ OUTPUT_VARIABLE paths)
  # The names are in the command: made anew when a file goes.
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -D FOLDER=${arg_FOLDER} -D "FILES=${arg_FILES}" -D SUFFIX=${arg_SUFFIX} -D HEADER=${arg_HEADER}
            -D TYPE=${arg_TYPE} -D FUNCTION=${name} -D OUTPUT=${output} -P ${PROJECT_SOURCE_DIR}/cmake/embed_texts.cmake
    DEPENDS ${paths} ${PROJECT_SOURCE_DIR}/cmake/embed_texts.cmake
    VERBATIM)
  set(${name} ${output} PARENT_SCOPE)
endfunction()

# vlearn_add_test(NAME SOURCES... [LIBRARIES...] [LABEL])
# One GoogleTest executable; each of its tests is a test of CTest with one label (gtest_discover_tests would
# flatten a list of labels): LABEL, or "unit"; "slow" for suites named ...Slow, which `./dev test --slow` runs.
# The target vlearn_sanitized has what the sanitizers look at.
if(NOT TARGET vlearn_sanitized)
  add_custom_target(vlearn_sanitized)
endif()
function(vlearn_add_test name)
  cmake_parse_arguments(arg "" "LABEL" "SOURCES;LIBRARIES" ${ARGN})
  if(NOT arg_LABEL)
    set(arg_LABEL unit)
  endif()
  add_executable(${name} ${arg_SOURCES})
  if(arg_LABEL STREQUAL "unit")
    add_dependencies(vlearn_sanitized ${name})
  endif()
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(${name} PRIVATE ${arg_LIBRARIES} GTest::gtest GTest::gtest_main vlearn_dev_flags
                                        vlearn_build_flags)
  gtest_discover_tests(
    ${name} TEST_FILTER -*Slow.* DISCOVERY_TIMEOUT 60
    PROPERTIES LABELS ${arg_LABEL} TIMEOUT 600)
  gtest_discover_tests(
    ${name} TEST_FILTER *Slow.* TEST_LIST ${name}_slow DISCOVERY_TIMEOUT 60
    PROPERTIES LABELS slow TIMEOUT 3600)
endfunction()

# buzzer_add_test(NAME SOURCES... [LIBRARIES ...] [TIMEOUT seconds]): one Criterion binary, which is
# one CTest entry. Those without a TIMEOUT of their own are fast: `tools/dev test --quick` runs them, by
# their label. Criterion 2.4.1 exits with 0 when a filter matches nothing, and when LeakSanitizer
# complains in a worker. The output shows both, so CTest looks for it.

if(BUZZER_TESTS)
    find_package(PkgConfig REQUIRED)
    pkg_check_modules(CRITERION REQUIRED IMPORTED_TARGET criterion)
    enable_testing()
endif()

# Tests are half of a build, so they are compiled fast: -O1 at most, and no UBSan. What they test keeps the
# flags of the build. Tests link this target last, so that its options override those.
add_library(buzzer-test-options INTERFACE)
target_compile_options(buzzer-test-options INTERFACE $<$<CONFIG:Release,RelWithDebInfo>:-O1>
                                                     $<$<CONFIG:Debug>:-O0>)
if(BUZZER_SANITIZE MATCHES "undefined")
    target_compile_options(buzzer-test-options INTERFACE -fno-sanitize=undefined -g1)
endif()

# Criterion starts a process for each test, and links libgit2, which brings 20 more libraries, to show how
# long strings differ. Tests load an empty one instead: 19 ms of CPU time for each, not 52.
if(BUZZER_TESTS)
    execute_process(COMMAND "${CMAKE_READELF}" -d ${CRITERION_LINK_LIBRARIES}
                    OUTPUT_VARIABLE needed ERROR_QUIET)
endif()
if(needed MATCHES "libgit2\\.so[.0-9]*")
    set(empty "${PROJECT_BINARY_DIR}/empty_libgit2")
    file(CONFIGURE OUTPUT "${empty}/git2.c" CONTENT "int git_libgit2_init(void) { return 1; }
int git_libgit2_shutdown(void) { return 0; }
int git_diff_buffers(void) { return 0; }
")
    add_library(empty-libgit2 SHARED "${empty}/git2.c")
    set_target_properties(empty-libgit2 PROPERTIES
        PREFIX "" OUTPUT_NAME "${CMAKE_MATCH_0}" SUFFIX "" LIBRARY_OUTPUT_DIRECTORY "${empty}")
    add_dependencies(buzzer-test-options empty-libgit2)
    # RUNPATH would not count for the libraries of a library.
    target_link_options(buzzer-test-options INTERFACE
                        "LINKER:--disable-new-dtags,-rpath,${empty}")
endif()

function(buzzer_add_test name)
    if(NOT BUZZER_TESTS)
        return()
    endif()
    cmake_parse_arguments(ARG "" "TIMEOUT" "SOURCES;LIBRARIES" ${ARGN})
    if(NOT ARG_TIMEOUT)
        set(ARG_TIMEOUT 300)
        set(labels quick)
    endif()
    add_executable(${name} ${ARG_SOURCES})
    target_link_libraries(${name} PRIVATE ${ARG_LIBRARIES} buzzer-options PkgConfig::CRITERION
                                          buzzer-test-options)
    buzzer_poison(${name} tools/tests/poison.h)
    buzzer_no_lto(${name})
    add_test(NAME ${name} COMMAND ${name} --jobs 1)
    set_tests_properties(${name} PROPERTIES
        TIMEOUT ${ARG_TIMEOUT}
        COST ${ARG_TIMEOUT} # the long ones first
        LABELS "${labels}"
        FAIL_REGULAR_EXPRESSION "Tested: (.\\[[0-9;]*m)*0 ;LeakSanitizer: detected;runtime error:")
endfunction()

# buzzer_add_script(NAME SCRIPT ARGUMENTS... [TIMEOUT seconds] [COST n]): the test tests/SCRIPT, in a
# shell or in Python. Exit status 77: it is skipped. CTest begins with those of the greatest cost.
function(buzzer_add_script name script)
    cmake_parse_arguments(PARSE_ARGV 2 ARG "" "TIMEOUT;COST" "")
    set(command "${CMAKE_CURRENT_SOURCE_DIR}/tests/${script}")
    file(STRINGS "${command}" first LIMIT_COUNT 1)
    if("${first} ${script}" MATCHES "python3|\\.py$")
        if(NOT Python3_FOUND)
            return()
        endif()
        list(PREPEND command "${Python3_EXECUTABLE}") # that on the path may lack packages
    endif()
    if(NOT ARG_TIMEOUT)
        set(ARG_TIMEOUT 900)
    endif()
    add_test(NAME ${name} COMMAND ${command} ${ARG_UNPARSED_ARGUMENTS})
    set_tests_properties(${name} PROPERTIES TIMEOUT ${ARG_TIMEOUT} SKIP_RETURN_CODE 77)
    if(Python3_FOUND) # what a script calls python3, too: a wrapper on the path takes longer to start
        cmake_path(GET Python3_EXECUTABLE PARENT_PATH folder)
        set_tests_properties(${name} PROPERTIES
                             ENVIRONMENT_MODIFICATION "PATH=path_list_prepend:${folder}")
    endif()
    if(ARG_COST)
        set_tests_properties(${name} PROPERTIES COST ${ARG_COST})
    endif()
endfunction()

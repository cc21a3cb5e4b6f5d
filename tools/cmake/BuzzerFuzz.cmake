# buzzer_add_fuzzer(NAME SOURCE ... SEEDS ... RUNS N): a fuzz target, sim/tests/fuzz.h. With
# BUZZER_FUZZ it is linked with libFuzzer, or with the engine that BUZZER_FUZZ_ENGINE names. Without,
# it has a main() of its own, and is a test: its seeds, and N mutations of these; half of
# them without sanitizers.
option(BUZZER_FUZZ "Link the fuzz targets with libFuzzer (clang, or afl-clang-fast)" OFF)
set(BUZZER_FUZZ_ENGINE "-fsanitize=fuzzer" CACHE STRING "What links a fuzz target with its engine")
add_custom_target(fuzzers)

if(BUZZER_FUZZ)
    enable_language(CXX) # of the engine of OSS-Fuzz
    target_compile_options(buzzer-options INTERFACE -fsanitize=fuzzer-no-link)
endif()

function(buzzer_add_fuzzer name)
    if(NOT BUZZER_TESTS AND NOT BUZZER_FUZZ)
        return()
    endif()
    cmake_parse_arguments(ARG "" "SOURCE;RUNS" "SEEDS" ${ARGN})
    add_executable(${name} ${ARG_SOURCE})
    add_dependencies(fuzzers ${name})
    target_link_libraries(${name} PRIVATE buzzer-scenarios buzzer-options buzzer-test-options)
    buzzer_poison(${name} tools/tests/poison.h)
    buzzer_no_lto(${name})
    if(BUZZER_FUZZ)
        set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX)
        separate_arguments(engine UNIX_COMMAND "${BUZZER_FUZZ_ENGINE}")
        target_link_options(${name} PRIVATE ${engine})
        return()
    endif()
    target_sources(${name} PRIVATE "${PROJECT_SOURCE_DIR}/sim/tests/fuzz_main.c")
    if(NOT BUZZER_SANITIZE)
        math(EXPR ARG_RUNS "${ARG_RUNS} / 2")
    endif()
    add_test(NAME ${name} COMMAND ${name} --runs ${ARG_RUNS} ${ARG_SEEDS})
    set_tests_properties(${name} PROPERTIES
        TIMEOUT 900 COST 300 FAIL_REGULAR_EXPRESSION "LeakSanitizer: detected;runtime error:")
endfunction()

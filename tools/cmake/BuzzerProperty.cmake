# buzzer_add_property_test(NAME ... SCENARIO ... [option ...]): a test of CTest that runs a campaign.
#
#   find_package(buzzer REQUIRED)
#   enable_testing()
#   buzzer_add_plugin(mysem mysem.c)
#   buzzer_add_property_test(NAME mysem-permits SCENARIO contended PLUGIN mysem RUNS 100000
#                            CORPUS "${CMAKE_CURRENT_SOURCE_DIR}/corpus")
#
#   NAME name               of the test
#   SCENARIO scenario       what runs; `buzzer list scenarios`, or one of the plug-ins'
#   VARIANT variant         what is tested; without it, the only one of the plug-ins that fits
#   PLUGIN plugin...        targets of buzzer_add_plugin(), or paths of shared objects
#   RUNS n                  schedules at most; without RUNS and TIME, 10000
#   TIME duration           processor time allows at most so much: 30s, 5m
#   CORPUS folder           traces that are tried first: runs that failed once
#   REQUIRE_WINDOW list     the test fails unless cancels hit these, such as acquire:woken
#   SET name=value...       parameters of the scenario
#   OPTIONS option...       any other options of `buzzer run`
#   OUT folder              where traces of findings go, and tests look for earlier ones;
#                           ${CMAKE_CURRENT_BINARY_DIR}/buzzer/<name> without it
#   LABELS label...         labels of CTest besides `buzzer`: `ctest -L buzzer`
#   TIMEOUT seconds         of CTest (1500)
#   EXPECT_VIOLATION        the test passes if a violation is found, and fails otherwise: for code
#                           with a known fault, which shows that the property can fail
#
# The test passes if `buzzer run` exits with 0. All else fails it: a violation (1), bad input (2), a
# window that was never hit (4), an interruption (5), an internal error (70).

function(buzzer_add_property_test)
    set(one NAME SCENARIO VARIANT RUNS TIME CORPUS REQUIRE_WINDOW OUT TIMEOUT)
    cmake_parse_arguments(PARSE_ARGV 0 ARG "EXPECT_VIOLATION" "${one}"
                          "PLUGIN;SET;OPTIONS;LABELS")
    foreach(needed NAME SCENARIO)
        if(NOT ARG_${needed})
            message(FATAL_ERROR "buzzer_add_property_test: ${needed} is missing")
        endif()
    endforeach()
    if(ARG_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "buzzer_add_property_test(${ARG_NAME}): unknown argument "
                            "'${ARG_UNPARSED_ARGUMENTS}'")
    endif()
    if(ARG_KEYWORDS_MISSING_VALUES)
        message(FATAL_ERROR "buzzer_add_property_test(${ARG_NAME}): no value for "
                            "${ARG_KEYWORDS_MISSING_VALUES}")
    endif()
    if(NOT DEFINED ARG_OUT)
        set(ARG_OUT "${CMAKE_CURRENT_BINARY_DIR}/buzzer/${ARG_NAME}")
    endif()
    if(NOT DEFINED ARG_TIMEOUT)
        set(ARG_TIMEOUT 1500)
    endif()
    file(MAKE_DIRECTORY "${ARG_OUT}")
    set(options --out "${ARG_OUT}")
    foreach(option VARIANT RUNS TIME CORPUS REQUIRE_WINDOW)
        if(DEFINED ARG_${option})
            string(TOLOWER "${option}" name)
            string(REPLACE "_" "-" name "${name}")
            list(APPEND options "--${name}" "${ARG_${option}}")
        endif()
    endforeach()
    foreach(plugin IN LISTS ARG_PLUGIN)
        if(TARGET ${plugin})
            set(plugin "$<TARGET_FILE:${plugin}>")
        endif()
        list(APPEND options --plugin "${plugin}")
    endforeach()
    foreach(parameter IN LISTS ARG_SET)
        list(APPEND options --set "${parameter}")
    endforeach()
    add_test(NAME "${ARG_NAME}"
             COMMAND buzzer::program run "${ARG_SCENARIO}" ${options} ${ARG_OPTIONS})
    set_tests_properties("${ARG_NAME}" PROPERTIES TIMEOUT "${ARG_TIMEOUT}"
                                                  LABELS "buzzer;${ARG_LABELS}")
    if(ARG_EXPECT_VIOLATION)
        # The exit status alone does not tell a violation from a wrong option; the output does.
        set_tests_properties("${ARG_NAME}" PROPERTIES
            PASS_REGULAR_EXPRESSION "[1-9][0-9]* of [0-9]+ runs? violated")
    endif()
endfunction()

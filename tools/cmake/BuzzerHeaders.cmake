# buzzer_check_headers(NAME): a test that every header of the project compiles alone, without a
# warning. A source whose first include is a header checks that one whenever it is compiled; the test
# compiles the others, each included twice. A glob finds them, so a new one is checked as well.

# buzzer_first_includes(OUT): the headers that come first in a source which every build compiles.
function(buzzer_first_includes out)
    set(patterns primitives/*.c sim/*.c traces/*.c scenarios/*.c tools/*.c)
    list(TRANSFORM patterns PREPEND "${PROJECT_SOURCE_DIR}/")
    file(GLOB_RECURSE sources RELATIVE "${PROJECT_SOURCE_DIR}" ${patterns})
    list(FILTER sources EXCLUDE REGEX "^tools/(python|lab|tests)/")
    set(headers "")
    foreach(source IN LISTS sources)
        file(STRINGS "${PROJECT_SOURCE_DIR}/${source}" includes REGEX "^#include" LIMIT_COUNT 1)
        if(includes MATCHES "^#include \"(.*)\"")
            cmake_path(GET source PARENT_PATH folder)
            list(APPEND headers "${CMAKE_MATCH_1}" "${folder}/${CMAKE_MATCH_1}")
        endif()
    endforeach()
    set(${out} "${headers}" PARENT_SCOPE)
endfunction()

function(buzzer_check_headers name)
    # Parts of coro.h, which includes the one for the machine at hand; see tests/source/layers.
    set(parts primitives/runtime/coro/switch_x86_64.h primitives/runtime/coro/switch_aarch64.h)

    set(patterns primitives/*.h sim/*.h traces/*.h scenarios/*.h tools/*.h)
    list(TRANSFORM patterns PREPEND "${PROJECT_SOURCE_DIR}/")
    file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}" ${patterns})
    list(REMOVE_ITEM headers ${parts})
    list(FILTER headers EXCLUDE REGEX "^tools/python/") # need the headers of Python
    if(NOT TARGET buzzer-uv)
        list(FILTER headers EXCLUDE REGEX "^primitives/uv/")
    endif()
    buzzer_first_includes(checked)
    list(REMOVE_ITEM headers ${checked})
    set(sources "")
    foreach(header IN LISTS headers)
        string(MAKE_C_IDENTIFIER "${header}" unit)
        set(source "${CMAKE_CURRENT_BINARY_DIR}/headers/${unit}.c")
        file(CONFIGURE OUTPUT "${source}" @ONLY CONTENT
             "#include \"@header@\"\n#include \"@header@\"\nextern int @unit@;\n")
        list(APPEND sources "${source}")
    endforeach()

    # Not a part of `all`: a bad header fails one test, and does not stop the build.
    add_library(${name} OBJECT EXCLUDE_FROM_ALL ${sources})
    target_compile_options(${name} PRIVATE -Wall -Wextra -Werror -O0 -g0)
    target_compile_definitions(${name} PRIVATE TST_TRACES_FOLDER="traces") # of traces/tests/sample.h
    target_link_libraries(${name} PRIVATE buzzer-options PkgConfig::CRITERION)
    add_test(NAME ${name} COMMAND "${CMAKE_COMMAND}" --build "${PROJECT_BINARY_DIR}"
                                  --config $<CONFIG> --target ${name} --parallel 2)
    set_tests_properties(${name} PROPERTIES TIMEOUT 300 PROCESSORS 2)
endfunction()

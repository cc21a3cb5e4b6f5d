# buzzer_poison(TARGET HEADER): the sources of the target must not use the names that the header
# poisons (tools/cmake/poison.h, tools/tests/poison.h), with the exceptions below. Paths start at the root.
# It works where warnings are errors. The header includes system headers, so the other builds show
# whether a source includes what it needs.

set(BUZZER_MAY_TELL_TIME "^(primitives/(runtime/run\\.c|uv/)|sim/contain/(contain|child)\\.c|sim/session/stop\\.c|tools/)")
string(CONCAT BUZZER_MAY_ALLOCATE "^(primitives/(runtime/(place|coro/stack)\\.c|uv/)|sim/choice/(tape|ready_set)\\.c|"
    "sim/(spec|judge|native|contain|program|campaign|session|explore|shrink)/|traces/|tools/)")
set(BUZZER_MAY_SET_LOCALE "^tools/plugin/plugins\\.c") # it takes back what a plug-in has set
set(BUZZER_MAY_DIFFER "^(primitives/uv/|traces/|tools/|scenarios/program/read\\.c|sim/(explore/fixed_addresses|contain/one_process)\\.c)")

function(buzzer_poison target header)
    if(NOT BUZZER_WERROR)
        return()
    endif()
    target_compile_options(${target} PRIVATE
        "$<$<COMPILE_LANGUAGE:C>:SHELL:-include ${PROJECT_SOURCE_DIR}/${header}>")
    get_target_property(sources ${target} SOURCES)
    foreach(source IN LISTS sources)
        cmake_path(ABSOLUTE_PATH source NORMALIZE OUTPUT_VARIABLE path)
        cmake_path(RELATIVE_PATH path BASE_DIRECTORY "${PROJECT_SOURCE_DIR}")
        foreach(name MAY_TELL_TIME MAY_ALLOCATE MAY_DIFFER MAY_SET_LOCALE)
            if(path MATCHES "${BUZZER_${name}}" AND NOT path MATCHES "/tests/")
                set_property(SOURCE "${source}" APPEND PROPERTY COMPILE_DEFINITIONS BZ_${name})
            endif()
        endforeach()
    endforeach()
endfunction()

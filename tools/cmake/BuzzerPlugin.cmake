# buzzer_add_plugin(NAME SOURCES...): the plug-in NAME.so, with variants, scenarios or both, for
# `buzzer run ... --plugin NAME.so`. buzzer_add_variant() is its older name.
#
#   find_package(buzzer REQUIRED)
#   buzzer_add_plugin(mysem mysem.c)
#
# It is linked with nothing of Buzzer: the program that loads it has the functions.

function(buzzer_add_plugin name)
    add_library(${name} MODULE ${ARGN})
    target_link_libraries(${name} PRIVATE buzzer::plugin)
    set_target_properties(${name} PROPERTIES
        PREFIX "" SUFFIX ".so" C_VISIBILITY_PRESET hidden POSITION_INDEPENDENT_CODE ON)
endfunction()

function(buzzer_add_variant)
    buzzer_add_plugin(${ARGV})
endfunction()

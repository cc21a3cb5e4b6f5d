# buzzer_add_variant(NAME SOURCES...): the plug-in NAME.so, for `buzzer run ... --plugin NAME.so`.
#
#   find_package(buzzer REQUIRED)
#   buzzer_add_variant(mysem mysem.c)
#
# It is linked with nothing of Buzzer: the program that loads it has the functions.

function(buzzer_add_variant name)
    add_library(${name} MODULE ${ARGN})
    target_link_libraries(${name} PRIVATE buzzer::plugin)
    set_target_properties(${name} PROPERTIES
        PREFIX "" SUFFIX ".so" C_VISIBILITY_PRESET hidden POSITION_INDEPENDENT_CODE ON)
endfunction()

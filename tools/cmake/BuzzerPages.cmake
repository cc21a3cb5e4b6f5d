# Runs in `cmake --install`: the program names its commands and prints the manual page of each. A
# program for another processor runs in its emulator; without one there is buzzer.1 alone.
execute_process(COMMAND ${BUZZER_EMULATOR} "${BUZZER_PROGRAM}" completion words ""
                OUTPUT_VARIABLE commands RESULT_VARIABLE status ERROR_VARIABLE message)
if(NOT status EQUAL 0 AND BUZZER_IS_FOREIGN)
    message(STATUS "${BUZZER_PROGRAM} does not run here: no manual pages of its commands")
    return()
elseif(NOT status EQUAL 0)
    message(FATAL_ERROR "${BUZZER_PROGRAM} does not print its manual pages: ${status} ${message}")
endif()
string(REGEX MATCHALL "(^|\n)[a-z-]+" commands "${commands}")
string(RANDOM LENGTH 12 own) # of this installation: others of the same build may run at once
set(BUZZER_PAGES "${BUZZER_PAGES}/${own}")
file(MAKE_DIRECTORY "${BUZZER_PAGES}")
foreach(command IN LISTS commands)
    string(STRIP "${command}" command)
    execute_process(COMMAND ${BUZZER_EMULATOR} "${BUZZER_PROGRAM}" help --man "${command}"
                    OUTPUT_FILE "${BUZZER_PAGES}/buzzer-${command}.1" COMMAND_ERROR_IS_FATAL ANY)
endforeach()
cmake_path(ABSOLUTE_PATH BUZZER_MANDIR BASE_DIRECTORY "${CMAKE_INSTALL_PREFIX}")
file(GLOB pages "${BUZZER_PAGES}/*.1")
file(INSTALL ${pages} DESTINATION "${BUZZER_MANDIR}/man1")
file(REMOVE_RECURSE "${BUZZER_PAGES}")

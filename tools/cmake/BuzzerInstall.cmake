# buzzer_install([LIBRARIES target...] [PROGRAMS target...]): what `cmake --install` installs.
#
#   include/buzzer/{primitives,sim,...}/      the public headers, under the names that #include lines
#                                             use
#   lib/                                      the static libraries
#   lib/cmake/buzzer/                         find_package(buzzer): buzzer::primitives, buzzer::uv,
#                                             buzzer::sim, buzzer::property, buzzer::program,
#                                             buzzer_add_plugin(), buzzer_add_property_test()
#   lib/pkgconfig/                            buzzer-primitives.pc, buzzer-uv.pc, buzzer.pc (the
#                                             simulator), buzzer-property.pc,
#                                             buzzer-plugin.pc
#   bin/, share/man/man1/                     the programs and their manual pages, one for each
#                                             command of buzzer
#   share/bash-completion/completions/        what makes bash complete command lines
#   share/doc/buzzer/                         the licence; example.c, a source of events; callback,
#                                             gate, poll, coroutine, fibers and weighted, plug-ins
#                                             of all styles, and their manual; uv, a service on
#                                             libuv and its client
#
# Targets that do not exist are left out. Nothing installed holds an absolute path, so that the
# prefix may be moved.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

function(buzzer_install)
    cmake_parse_arguments(ARG "" "" "LIBRARIES;PROGRAMS" ${ARGN})
    if(NOT BUZZER_INSTALL)
        return()
    endif()
    set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME program)
    foreach(program IN LISTS ARG_PROGRAMS)
        if(TARGET ${program})
            if(NOT TARGET ${program}::program)
                add_executable(${program}::program ALIAS ${program})
            endif()
            set_target_properties(${program} PROPERTIES EXPORT_NAME program)
            install(TARGETS ${program} EXPORT buzzer RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
        endif()
        if(EXISTS "${PROJECT_BINARY_DIR}/tools/${program}.1")
            install(FILES "${PROJECT_BINARY_DIR}/tools/${program}.1"
                    DESTINATION "${CMAKE_INSTALL_MANDIR}/man1")
        endif()
    endforeach()
    if(TARGET buzzer)
        buzzer_install_pages(buzzer)
        buzzer_install_completion()
    endif()
    set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME dev)
    foreach(library IN LISTS ARG_LIBRARIES)
        if(TARGET ${library})
            string(REGEX REPLACE "^buzzer-" "" component "${library}")
            buzzer_install_library(${library} ${component})
        endif()
    endforeach()
    install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}")
    buzzer_install_headers()
    buzzer_install_package()
endfunction()

function(buzzer_install_library library component)
    if(NOT TARGET buzzer::${component})
        add_library(buzzer::${component} ALIAS ${library})
    endif()
    set_target_properties(${library} PROPERTIES EXPORT_NAME ${component})
    install(TARGETS ${library} EXPORT buzzer ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
    if(BUZZER_LTO) # of the program alone: who links an installed library need not compile it
        set(file "${CMAKE_INSTALL_LIBDIR}/$<TARGET_FILE_NAME:${library}>")
        install(CODE "
            cmake_path(ABSOLUTE_PATH CMAKE_INSTALL_PREFIX OUTPUT_VARIABLE prefix)
            cmake_path(APPEND prefix \"${file}\" OUTPUT_VARIABLE library)
            execute_process(COMMAND \"${CMAKE_OBJCOPY}\" --wildcard --strip-symbol=__gnu_lto_v1
                --remove-section=.gnu.lto_* --remove-section=.gnu.debuglto_*
                \"\$ENV{DESTDIR}\${library}\" COMMAND_ERROR_IS_FATAL ANY)")
    endif()
    if(component STREQUAL "sim")
        buzzer_install_pkgconfig(buzzer DESCRIPTION "${PROJECT_DESCRIPTION}" REQUIRES libcjson
            LIBS "-L\${libdir} -lbuzzer-sim -pthread -ldl")
    elseif(component STREQUAL "property")
        buzzer_install_pkgconfig(buzzer-property REQUIRES libcjson
            DESCRIPTION "Property tests in a program of your own"
            LIBS "-L\${libdir} -lbuzzer-property -lbuzzer-sim -pthread -ldl")
    elseif(component STREQUAL "uv")
        buzzer_install_pkgconfig(buzzer-uv REQUIRES "buzzer-primitives libuv"
            DESCRIPTION "A driver that runs the primitives of Buzzer on libuv"
            LIBS "-L\${libdir} -lbuzzer-uv")
    elseif(component STREQUAL "primitives")
        buzzer_install_pkgconfig(buzzer-primitives LIBS "-L\${libdir} -lbuzzer-primitives"
            DESCRIPTION "Asynchronous synchronization primitives and their event loop")
    endif()
endfunction()

# The manual pages of the commands, which the program prints: not before the installation, so that a
# build runs nothing that it has built. See BuzzerPages.cmake.
function(buzzer_install_pages program)
    set(is_foreign OFF)
    if(CMAKE_CROSSCOMPILING)
        set(is_foreign ON)
    endif()
    install(CODE "
        set(BUZZER_PROGRAM \"$<TARGET_FILE:${program}>\")
        set(BUZZER_EMULATOR \"$<TARGET_PROPERTY:${program},CROSSCOMPILING_EMULATOR>\")
        set(BUZZER_IS_FOREIGN ${is_foreign})
        set(BUZZER_PAGES \"${PROJECT_BINARY_DIR}/pages\")
        set(BUZZER_MANDIR \"${CMAKE_INSTALL_MANDIR}\")
        include(\"${CMAKE_CURRENT_FUNCTION_LIST_DIR}/BuzzerPages.cmake\")")
endfunction()

function(buzzer_install_completion)
    set(folder "${PROJECT_SOURCE_DIR}/tools/cli/manual")
    install(FILES "${folder}/buzzer.bash" RENAME buzzer
            DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions")
endfunction()

# The public headers: what programs, plug-ins and sources of events include, and what those include.
# The test `installed-headers` compiles each alone.
function(buzzer_install_headers)
    buzzer_install_folder(primitives/runtime
        cdecl check deferred driver future group handle list loop mem observe rules status task
        timeout timer)
    buzzer_install_folder(primitives/sync
        barrier capacity_limiter channel condition deferred_lock deferred_queue deferred_semaphore
        deferred_waitq event items lock lock_pool notify oneshot queue rate_limiter resource_pool
        rwlock select semaphore waitq weighted_semaphore)
    if(TARGET buzzer-uv)
        buzzer_install_folder(primitives/uv driver tcp)
        install(DIRECTORY "${PROJECT_SOURCE_DIR}/tools/tests/plugins_of_users/uv"
                DESTINATION "${CMAKE_INSTALL_DOCDIR}")
    endif()
    buzzer_install_folder(sim/choice answers choice strategy tape)
    buzzer_install_folder(sim/judge event judge objects record)
    buzzer_install_folder(sim/native sut world)
    buzzer_install_folder(sim/program scenario scenario_plugin)
    # Where these two were until 1.0: plug-ins of users include them by that name.
    foreach(name scenario scenario_plugin)
        file(WRITE "${PROJECT_BINARY_DIR}/moved/${name}.h" "#include \"sim/program/${name}.h\"\n")
        install(FILES "${PROJECT_BINARY_DIR}/moved/${name}.h"
                DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/buzzer/sim/run")
    endforeach()
    buzzer_install_folder(sim/model history model)
    buzzer_install_folder(sim/variant callback claims malloc plugin poll variant)
    buzzer_install_folder(tools buzzer_criterion property)
    buzzer_install_folder(traces lack trace words)
    install(FILES "${PROJECT_SOURCE_DIR}/sim/judge/tests/example.c"
            DESTINATION "${CMAKE_INSTALL_DOCDIR}")
    install(FILES "${PROJECT_SOURCE_DIR}/sim/variant/README.md"
            DESTINATION "${CMAKE_INSTALL_DOCDIR}" RENAME bring-your-own-loop.md)
    install(FILES "${PROJECT_SOURCE_DIR}/scenarios/TUTORIAL.md"
            DESTINATION "${CMAKE_INSTALL_DOCDIR}" RENAME tutorial.md)
    install(FILES "${PROJECT_SOURCE_DIR}/sim/variant/coroutine.hpp"
                  "${PROJECT_SOURCE_DIR}/sim/variant/new.hpp"
            DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/buzzer/sim/variant")
    install(DIRECTORY "${PROJECT_SOURCE_DIR}/tools/tests/plugins_of_users/callback"
                      "${PROJECT_SOURCE_DIR}/tools/tests/plugins_of_users/gate"
                      "${PROJECT_SOURCE_DIR}/tools/tests/plugins_of_users/weighted"
                      "${PROJECT_SOURCE_DIR}/tools/tests/plugins_of_users/coroutine"
                      "${PROJECT_SOURCE_DIR}/tools/tests/plugins_of_users/fibers"
                      "${PROJECT_SOURCE_DIR}/tools/tests/plugins_of_users/poll"
                      "${PROJECT_SOURCE_DIR}/tools/tests/plugins_of_users/property"
            DESTINATION "${CMAKE_INSTALL_DOCDIR}")
endfunction()

function(buzzer_install_folder folder)
    list(TRANSFORM ARGN PREPEND "${PROJECT_SOURCE_DIR}/${folder}/")
    list(TRANSFORM ARGN APPEND .h)
    install(FILES ${ARGN} DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/buzzer/${folder}")
endfunction()

function(buzzer_install_package)
    set(destination "${CMAKE_INSTALL_LIBDIR}/cmake/buzzer")
    # The options go along for what a program must be linked with: the sanitizers, if any.
    set_target_properties(buzzer-options PROPERTIES EXPORT_NAME options)
    install(TARGETS buzzer-options EXPORT buzzer)
    if(TARGET buzzer-plugin)
        set_target_properties(buzzer-plugin PROPERTIES EXPORT_NAME plugin)
        install(TARGETS buzzer-plugin EXPORT buzzer)
        install(FILES "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/BuzzerPlugin.cmake"
                      "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/BuzzerProperty.cmake"
                DESTINATION "${destination}")
        buzzer_install_pkgconfig(buzzer-plugin CFLAGS -fPIC LIBS -shared
            DESCRIPTION "Compiles a plug-in for the program buzzer, a shared object of variants")
    endif()
    set(BUZZER_HAS_UV OFF)
    if(TARGET buzzer-uv)
        set(BUZZER_HAS_UV ON)
    endif()
    install(EXPORT buzzer FILE buzzerTargets.cmake NAMESPACE buzzer:: DESTINATION "${destination}")
    configure_package_config_file("${CMAKE_CURRENT_FUNCTION_LIST_DIR}/buzzerConfig.cmake.in"
                                  "${PROJECT_BINARY_DIR}/buzzerConfig.cmake"
                                  INSTALL_DESTINATION "${destination}")
    write_basic_package_version_file("${PROJECT_BINARY_DIR}/buzzerConfigVersion.cmake"
                                     COMPATIBILITY SameMinorVersion)
    install(FILES "${PROJECT_BINARY_DIR}/buzzerConfig.cmake"
                  "${PROJECT_BINARY_DIR}/buzzerConfigVersion.cmake"
            DESTINATION "${destination}")
endfunction()

function(buzzer_install_pkgconfig module)
    cmake_parse_arguments(ARG "" "DESCRIPTION;REQUIRES;CFLAGS;LIBS" "" ${ARGN})
    if(BUZZER_SWITCH STREQUAL "ucontext")
        string(APPEND ARG_CFLAGS " -DBZ_SWITCH_UCONTEXT=1")
    endif()
    if(BUZZER_SANITIZE AND NOT module STREQUAL "buzzer-plugin")
        string(APPEND ARG_LIBS " -fsanitize=${BUZZER_SANITIZE}")
    endif()
    set(folder "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig")
    file(RELATIVE_PATH prefix "${folder}" "${CMAKE_INSTALL_PREFIX}")
    file(RELATIVE_PATH libdir "${CMAKE_INSTALL_PREFIX}" "${CMAKE_INSTALL_FULL_LIBDIR}")
    file(RELATIVE_PATH includedir "${CMAKE_INSTALL_PREFIX}" "${CMAKE_INSTALL_FULL_INCLUDEDIR}")
    configure_file("${CMAKE_CURRENT_FUNCTION_LIST_DIR}/buzzer.pc.in"
                   "${PROJECT_BINARY_DIR}/${module}.pc" @ONLY)
    install(FILES "${PROJECT_BINARY_DIR}/${module}.pc"
            DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
endfunction()

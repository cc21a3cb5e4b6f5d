# buzzer_packages(): what `cpack` makes in the build folder, as `tools/dev deb` calls it. Three Debian
# packages, of the components of `cmake --install`:
#
#   buzzer            the program, its manual pages, the corpus
#   libbuzzer-dev     the static libraries, headers, CMake and pkg-config files, examples
#   python3-buzzer    the package for the Python that the build has found; if BUZZER_PYTHON is on
#
# They are reproducible: times are those of SOURCE_DATE_EPOCH, which `tools/dev deb` sets to the time
# of the last commit. lintian finds nothing in them; the test is `tools/tests/install/packages_test`.

# Debian's documents of one package: the licence, and the changelog that policy asks for.
function(buzzer_package_documents component package)
    string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC) # honours SOURCE_DATE_EPOCH
    set(folder "${PROJECT_BINARY_DIR}/packages/${package}")
    file(READ "${PROJECT_SOURCE_DIR}/LICENSE" licence)
    string(REGEX MATCH "Copyright[^\n]*" copyright "${licence}")
    string(REPLACE "Copyright (c) " "" copyright "${copyright}")
    string(REGEX REPLACE ".*Copyright[^\n]*\n\n" "" licence "${licence}")
    string(REGEX REPLACE "\n\n" "\n.\n" licence "${licence}")
    string(REGEX REPLACE "\n([^\n])" "\n \\1" licence " ${licence}")
    file(WRITE "${folder}/copyright"
         "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n"
         "Upstream-Name: buzzer\n\nFiles: *\nCopyright: ${copyright}\nLicense: Expat\n${licence}")
    file(WRITE "${folder}/changelog"
         "buzzer (${PROJECT_VERSION}) unstable; urgency=medium\n\n"
         "  * Version ${PROJECT_VERSION}, built from its sources.\n\n"
         " -- ${CPACK_PACKAGE_CONTACT}  ${date}\n")
    execute_process(COMMAND gzip -9nf "${folder}/changelog" COMMAND_ERROR_IS_FATAL ANY)
    install(FILES "${folder}/copyright" "${folder}/changelog.gz"
            DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/${package}"
            COMPONENT ${component} EXCLUDE_FROM_ALL)
endfunction()

function(buzzer_packages)
    if(NOT BUZZER_PACKAGES)
        return()
    endif()
    set(CPACK_GENERATOR DEB)
    set(CPACK_PACKAGE_NAME buzzer)
    set(CPACK_PACKAGE_VERSION "${PROJECT_VERSION}")
    set(CPACK_PACKAGE_CONTACT "${BUZZER_MAINTAINER}")
    set(CPACK_STRIP_FILES ON)
    set(CPACK_DEB_COMPONENT_INSTALL ON)
    set(CPACK_COMPONENTS_ALL program dev)
    set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
    set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
    set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
    set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE
        GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

    set(about "Buzzer runs the locks, semaphores, queues and other asynchronous
synchronization primitives that a program ships under seeded schedules on a
virtual clock. It injects cancellations, checks properties after every step,
records a failing run as JSON, shrinks it, and replays it exactly.")
    set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME buzzer)
    set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION devel)
    set(CPACK_COMPONENT_PROGRAM_DESCRIPTION
        "${about}")
    set(CPACK_DEBIAN_PROGRAM_PACKAGE_SUGGESTS "libbuzzer-dev, gdb, python3-buzzer, python3-clang")

    set(CPACK_DEBIAN_DEV_PACKAGE_NAME libbuzzer-dev)
    set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
    set(CPACK_COMPONENT_DEV_DESCRIPTION
        "${about}

This package has the libraries and headers for plug-ins, for property tests
in a program of one's own, and the primitives that ship.")
    set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "buzzer (= ${PROJECT_VERSION}), libcjson-dev, libc6-dev")
    set(CPACK_DEBIAN_DEV_PACKAGE_SUGGESTS "pkg-config, cmake, libuv1-dev")

    if(BUZZER_PYTHON)
        list(APPEND CPACK_COMPONENTS_ALL python)
        find_package(Python3 REQUIRED COMPONENTS Interpreter) # as in tools/python
        set(next "${Python3_VERSION_MINOR}")
        math(EXPR next "${next} + 1")
        set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME python3-buzzer)
        set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
        set(CPACK_COMPONENT_PYTHON_DESCRIPTION
            "${about}

This package has the module for Python, which runs the real asyncio under
Buzzer's scheduler, and its plug-in for pytest.")
        set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS
            "python3 (>= 3.${Python3_VERSION_MINOR}~), python3 (<< 3.${next})")
        set(CPACK_DEBIAN_PYTHON_PACKAGE_SUGGESTS "python3-pytest")
        foreach(script IN ITEMS postinst=py3compile prerm=py3clean) # Debian's policy for Python
            string(REPLACE "=" ";" script "${script}")
            list(GET script 1 command)
            list(GET script 0 script)
            set(path "${PROJECT_BINARY_DIR}/packages/python3-buzzer/${script}")
            file(WRITE "${path}" "#!/bin/sh\nset -e\n"
                 "if command -v ${command} >/dev/null; then ${command} -p python3-buzzer; fi\n")
            file(CHMOD "${path}" PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE
                 GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
            list(APPEND CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_EXTRA "${path}")
        endforeach()
        install(CODE "
            set(packages \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/lib/python3/dist-packages\")
            execute_process(COMMAND \"${Python3_EXECUTABLE}\"
                \"${PROJECT_SOURCE_DIR}/tools/python/build_wheel.py\" --unpack
                \"$<TARGET_FILE:buzzer-python>\" \"\${packages}\" COMMAND_ERROR_IS_FATAL ANY)
            execute_process(COMMAND \"${CMAKE_STRIP}\" --strip-unneeded
                \"\${packages}/buzzer/$<TARGET_FILE_NAME:buzzer-python>\" COMMAND_ERROR_IS_FATAL ANY)"
                COMPONENT python EXCLUDE_FROM_ALL)
        buzzer_package_documents(python python3-buzzer)
    endif()
    install(CODE "
        file(GLOB pages \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_MANDIR}/man1/*.1\")
        execute_process(COMMAND gzip -9nf \${pages} COMMAND_ERROR_IS_FATAL ANY)"
            COMPONENT program EXCLUDE_FROM_ALL)
    file(WRITE "${PROJECT_BINARY_DIR}/packages/libbuzzer-dev/overrides"
         "# A plug-in is one command: cc -o mine.so mine.c $(pkg-config ... buzzer-plugin).\n"
         "libbuzzer-dev: pkg-config-bad-directive -fPIC *buzzer-plugin.pc]\n")
    install(FILES "${PROJECT_BINARY_DIR}/packages/libbuzzer-dev/overrides"
            DESTINATION "${CMAKE_INSTALL_DATADIR}/lintian/overrides" RENAME libbuzzer-dev
            COMPONENT dev EXCLUDE_FROM_ALL)
    buzzer_package_documents(program buzzer)
    buzzer_package_documents(dev libbuzzer-dev)
    include(CPack)
endfunction()

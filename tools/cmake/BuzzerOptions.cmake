# Options, warnings and sanitizers. Every target of the project links the target buzzer-options.

option(BUZZER_TESTS "Build the tests (needs Criterion and libpcg-cpp-dev)" ${PROJECT_IS_TOP_LEVEL})
option(BUZZER_LAB "Build and test buzzer-lab (needs Python 3)" ${BUZZER_TESTS})
option(BUZZER_STYLE "Test style, layers and scripts" ${BUZZER_TESTS})
option(BUZZER_WERROR "Treat warnings as errors" OFF)
option(BUZZER_INSTALL "Offer what cmake --install installs" ${PROJECT_IS_TOP_LEVEL})
option(BUZZER_PACKAGES "Let cpack make Debian packages" OFF)
set(BUZZER_MAINTAINER "Buzzer contributors <buzzer@packages.invalid>" CACHE STRING
    "Of the packages: who is asked about them")
set(BUZZER_SANITIZE "" CACHE STRING "Sanitizers, comma-separated: address,undefined or thread")
set(BUZZER_CJSON "" CACHE PATH "Folder with the sources of cJSON; empty: the installed library")
set(BUZZER_SWITCH "native" CACHE STRING
    "Context switch: native (assembly where there is one) or ucontext")
set_property(CACHE BUZZER_SWITCH PROPERTY STRINGS native ucontext)

option(BUZZER_CCACHE "Compile through ccache where it is installed" ON)
find_program(CCACHE ccache)
if(BUZZER_CCACHE AND CCACHE)
    foreach(language C CXX)
        if(NOT DEFINED CMAKE_${language}_COMPILER_LAUNCHER)
            set(CMAKE_${language}_COMPILER_LAUNCHER "${CCACHE}")
        endif()
    endforeach()
endif()

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release, RelWithDebInfo" FORCE)
endif()
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
if(CMAKE_SIZEOF_VOID_P EQUAL 4) # else no folder of a file system with long numbers can be read
    add_compile_definitions(_FILE_OFFSET_BITS=64 _TIME_BITS=64)
endif()

add_library(buzzer-options INTERFACE)
target_compile_options(buzzer-options INTERFACE
    $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes -Wmissing-prototypes>
    -Wall -Wextra -Wshadow -Wpointer-arith
    -Wwrite-strings -Wvla -Wundef -Wformat=2 -Wno-missing-field-initializers
    -fno-semantic-interposition # lets the compiler inline exported functions
    $<$<BOOL:${BUZZER_WERROR}>:-Werror>)
target_include_directories(buzzer-options INTERFACE "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>")

if(BUZZER_SWITCH STREQUAL "ucontext")
    target_compile_definitions(buzzer-options INTERFACE BZ_SWITCH_UCONTEXT=1)
elseif(NOT BUZZER_SWITCH STREQUAL "native")
    message(FATAL_ERROR "BUZZER_SWITCH is '${BUZZER_SWITCH}'; it takes native or ucontext")
endif()

if(BUZZER_SANITIZE)
    target_compile_options(buzzer-options INTERFACE
        -fsanitize=${BUZZER_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
    target_link_options(buzzer-options INTERFACE -fsanitize=${BUZZER_SANITIZE})
endif()

# Link-time optimization inlines across files; a step of the program costs a tenth to a sixth less.
# The libraries hold machine code as well, so other programs link them without an option.
option(BUZZER_LTO "Link-time optimization of the program (gcc, Release, no sanitizer)" ON)
if(NOT CMAKE_C_COMPILER_ID STREQUAL "GNU" OR NOT CMAKE_BUILD_TYPE STREQUAL "Release" OR
   BUZZER_SANITIZE)
    set(BUZZER_LTO OFF)
endif()

function(buzzer_lto_library name)
    if(BUZZER_LTO)
        target_compile_options(${name} PRIVATE -flto -ffat-lto-objects)
    endif()
endfunction()

function(buzzer_lto_program name)
    if(BUZZER_LTO)
        target_compile_options(${name} PRIVATE -flto)
        target_link_options(${name} PRIVATE -flto -flto-partition=one -O3)
    endif()
endfunction()

# Not worth 20 s of CPU time: the machine code of the libraries will do.
function(buzzer_no_lto name)
    if(BUZZER_LTO)
        target_link_options(${name} PRIVATE -fno-lto)
    endif()
endfunction()

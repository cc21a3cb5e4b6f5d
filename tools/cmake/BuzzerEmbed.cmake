# buzzer_embed(TARGET NAME FILES...): makes the files part of a program, as the array
# `const struct bz_embedded NAME[]` (tools/cli/embedded.h). Each entry has the name of its file without
# the folder and without `.in`. The last entry has the name NULL.

function(buzzer_embed target name)
    set(entries "")
    set(arrays "")
    foreach(file IN LISTS ARGN)
        set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
        cmake_path(GET file FILENAME label)
        string(REGEX REPLACE "\\.in$" "" label "${label}")
        string(MAKE_C_IDENTIFIER "text_${label}" text)
        file(READ "${file}" bytes HEX)
        string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
        string(APPEND arrays "static const char ${text}[] = {${bytes}0};\n")
        string(APPEND entries "    {\"${label}\", ${text}},\n")
    endforeach()
    set(source "${CMAKE_CURRENT_BINARY_DIR}/${name}.c")
    string(CONCAT content
        "#include \"tools/cli/embedded.h\"\n\n${arrays}\n"
        "const struct bz_embedded ${name}[] = {\n${entries}    {0},\n};\n")
    file(CONFIGURE OUTPUT "${source}" @ONLY CONTENT "@content@")
    target_sources(${target} PRIVATE "${source}")
endfunction()

# buzzer_page(PAGE TEMPLATE STYLE SCRIPTS...): makes one HTML file, PAGE in the build folder. The scripts,
# in this order, are the body of one function. The template has @PAGE_STYLE@, @PAGE_SCRIPT@ and, for its
# content security policy, @PAGE_STYLE_HASH@ and @PAGE_SCRIPT_HASH@: what the browser may run is exactly
# these files.

# The source expression of a policy: the sha256 of a text in base64.
function(buzzer_csp_hash result text)
    set(digits "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
    string(SHA256 hex "${text}")
    set(base64 "")
    foreach(place RANGE 0 59 6) # ten times three bytes
        string(SUBSTRING "${hex}" ${place} 6 piece)
        math(EXPR number "0x${piece}")
        foreach(shift 18 12 6 0)
            math(EXPR digit "(${number} >> ${shift}) & 63")
            string(SUBSTRING "${digits}" ${digit} 1 character)
            string(APPEND base64 "${character}")
        endforeach()
    endforeach()
    string(SUBSTRING "${hex}" 60 4 piece) # and two
    math(EXPR number "0x${piece} << 2")
    foreach(shift 12 6 0)
        math(EXPR digit "(${number} >> ${shift}) & 63")
        string(SUBSTRING "${digits}" ${digit} 1 character)
        string(APPEND base64 "${character}")
    endforeach()
    set(${result} "sha256-${base64}=" PARENT_SCOPE)
endfunction()

function(buzzer_page page template style)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${style}" ${ARGN})
    file(READ "${style}" PAGE_STYLE)
    set(PAGE_SCRIPT "\"use strict\";\n(function () {\n")
    foreach(script IN LISTS ARGN)
        file(READ "${script}" text)
        string(APPEND PAGE_SCRIPT "${text}\n")
    endforeach()
    string(APPEND PAGE_SCRIPT "})();\n")
    buzzer_csp_hash(PAGE_STYLE_HASH "${PAGE_STYLE}")
    buzzer_csp_hash(PAGE_SCRIPT_HASH "${PAGE_SCRIPT}")
    configure_file("${template}" "${page}" @ONLY)
endfunction()

# buzzer_page(PAGE TEMPLATE STYLE SCRIPT): makes one HTML file of three, PAGE in the build folder. The
# template has @PAGE_STYLE@, @PAGE_SCRIPT@ and, for its content security policy, @PAGE_STYLE_HASH@ and
# @PAGE_SCRIPT_HASH@: what the browser may run is exactly these files.

# The source expression of a policy: sha256 in base64.
function(buzzer_csp_hash result file)
    set(digits "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
    file(SHA256 "${file}" hex)
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

function(buzzer_page page template style script)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${style}" "${script}")
    buzzer_csp_hash(PAGE_STYLE_HASH "${style}")
    buzzer_csp_hash(PAGE_SCRIPT_HASH "${script}")
    file(READ "${style}" PAGE_STYLE)
    file(READ "${script}" PAGE_SCRIPT)
    configure_file("${template}" "${page}" @ONLY)
endfunction()

# The architecture and the style of the project, as rules that a test runs. Reads a sorted list of
# files, relative to the root of the tree, and the files themselves. POSIX awk, run through tidy.

# --- the architecture ---------------------------------------------------------------------------
# A room is a folder with everything below it that is not a room of its own. A file may include its
# own room and the rooms listed for it, which are all of a lower rank. Nothing else: that sim never
# sees primitives/sync is what lets a variant take the place of the real lock, and that primitives
# never see sim is what makes them the code that ships.
#
# Tests, in a folder `tests` anywhere in a room, may include whatever ranks no higher than the room,
# support files of such tests and of the folders around the room, and the scenarios.
function tables() {
    #    rank  room                  may include
    room(0, "primitives/runtime", "")
    room(1, "primitives/sync", "primitives/runtime")
    room(1, "sim/choice", "primitives/runtime")
    room(1, "sim/variant", "primitives/runtime")
    room(1, "sim/spec", "primitives/runtime")
    room(2, "sim/world", "primitives/runtime sim/choice sim/variant sim/spec")
    room(3, "sim/oracle", "primitives/runtime sim/choice sim/variant sim/spec sim/world")
    room(4, "traces", "primitives/runtime sim/choice sim/world sim/oracle")
    room(5, "sim/campaign", "primitives/runtime sim/choice sim/variant sim/world sim/oracle traces")
    room(6, "sim/explore", "primitives/runtime sim/choice sim/variant sim/world sim/oracle" \
                           " traces sim/campaign")
    room(2, "scenarios/variants", "primitives/runtime primitives/sync sim/variant")
    room(3, "scenarios/zoo", "primitives/runtime sim/variant scenarios/variants")
    room(6, "scenarios", "primitives/runtime primitives/sync sim/choice sim/variant sim/world" \
                         " sim/oracle traces sim/campaign scenarios/variants scenarios/zoo")
    room(7, "tools", "primitives/runtime sim/choice sim/variant sim/world sim/oracle traces" \
                     " sim/spec sim/campaign sim/explore scenarios")

    # Headers of other projects that have one door only.
    #    header, as it begins   who may include it
    door("cjson/", "traces/json.c")
    door("cJSON", "traces/json.c")
    door("criterion/", "*/tests/*")
    door("pcg", "*/tests/*")

    # Names that must not be used. A name with "(" is banned as a call only, because as a word it
    # is an honest name for a member or a variable. A place ends with "/" when it is a folder.
    #   names  where  but not in  why
    ban("time( clock( gettimeofday clock_gettime timespec_get localtime gmtime", "*",
        "primitives/runtime/run.c primitives/runtime/tests/ tools/",
        "asks the system for the time; the loop's clock is bz_loop_now_ns()")
    ban("sleep( usleep nanosleep clock_nanosleep alarm(", "*", "primitives/runtime/run.c",
        "waits in real time")
    ban("rand srand random( srandom rand_r drand48 lrand48 getrandom getentropy arc4random", "*",
        "", "draws outside the choice tape")
    ban("malloc calloc realloc free( strdup strndup asprintf vasprintf open_memstream", "*",
        "primitives/runtime/loop.c primitives/runtime/coro/stack.c" \
        " sim/choice/tape.c sim/spec/search.c sim/world/world.c sim/world/inject.c" \
        " sim/world/scenario_calls.c sim/world/setup.c sim/world/snapshot.c traces/" \
        " sim/campaign/campaign.c sim/campaign/witness.c sim/explore/ */tests/ tools/",
        "allocates outside the loop's arena")
    ban("float double", "primitives/ sim/ scenarios/", "*/tests/",
        "differs between machines")
    ban("qsort qsort_r", "primitives/ sim/ scenarios/ traces/", "",
        "leaves the order of equals to the C library")
    ban("setlocale", "*", "", "makes the output depend on the machine")
    ban("getenv secure_getenv", "primitives/ sim/ scenarios/ traces/", "",
        "makes a run depend on what its seed does not name")
    ban("gt(", "*/tests/", "", "passes on equal values in Criterion 2.4.1; write lt(b, a)")

    # Limits, and what must be there.
    COLUMNS_MAX = 100
    FILE_LINES_MAX = 600
    FUNCTION_LINES_MAX = 70
    TOP_LEVEL = "sim primitives scenarios traces tools CMakeLists.txt CMakePresets.json" \
                " README.md LICENSE"
    README_FOLDERS = "primitives sim scenarios scenarios/zoo traces tools"
    # Parts of another header: no guard of their own, and never included from elsewhere.
    HEADER_PARTS = "primitives/runtime/coro/switch_x86_64.h" \
                   " primitives/runtime/coro/switch_aarch64.h"
    # Spelled in two halves, so that this file does not break its own rule.
    LEFTOVERS = "TO" "DO|FIX" "ME|X" "XX|HA" "CK"
}

# --- the tables' machinery ----------------------------------------------------------------------
function room(rank, name, allowed, list, count, i) {
    rooms[++room_count] = name
    room_rank[name] = rank
    count = split(allowed, list, " ")
    for (i = 1; i <= count; i++) {
        if (!(list[i] in room_rank) || room_rank[list[i]] >= rank) {
            report("tools/tests/tidy.awk", 0, "table", name " may not list " list[i])
        }
        room_sees[name, list[i]] = 1
    }
}

function door(header, holder) {
    doors[++door_count] = header
    door_holder[door_count] = holder
}

function ban(names, places, exceptions, why, list, count, i) {
    count = split(names, list, " ")
    for (i = 1; i <= count; i++) {
        ban_count++
        ban_is_call[ban_count] = sub(/\($/, "", list[i])
        ban_name[ban_count] = list[i]
        ban_places[ban_count] = places
        ban_exceptions[ban_count] = exceptions
        ban_why[ban_count] = why
    }
}

function report(path, line, rule, what) {
    printf "%s:%d: [%s] %s\n", path, line, rule, what
    findings++
}

function is_test(path) {
    return path ~ /(^|\/)tests\//
}

# Whether a list of places (a file, a folder with "/" at its end, "*/tests/", "*") names the path.
function is_listed(path, places, list, count, i) {
    count = split(places, list, " ")
    for (i = 1; i <= count; i++) {
        if (list[i] == "*" || list[i] == path || (list[i] ~ /^\*\/tests\// && is_test(path)) ||
            (list[i] ~ /\/$/ && index(path, list[i]) == 1)) {
            return 1
        }
    }
    return 0
}

function is_word_of(word, words) {
    return index(" " words " ", " " word " ") > 0
}

# The room a path is in, "" for none.
function room_of(path, i) {
    for (i = 1; i <= room_count; i++) {
        if (index(path, rooms[i] "/") == 1) {
            return rooms[i]
        }
    }
    return ""
}

# The rank of a test: that of its room, or of the highest room below the folder that it is in.
function test_rank(path, folder, rank, i) {
    if (room_of(path) != "") {
        return room_rank[room_of(path)]
    }
    folder = path
    sub(/tests\/.*/, "", folder)
    rank = -1
    for (i = 1; i <= room_count; i++) {
        if (index(rooms[i] "/", folder) == 1 && room_rank[rooms[i]] > rank) {
            rank = room_rank[rooms[i]]
        }
    }
    return rank
}

# Whether the target is in the folder `tests` of a folder that the test at this path is below.
function is_around(target, path, folder) {
    folder = target
    return sub(/tests\/.*/, "", folder) && index(path, folder) == 1
}

# --- one file -----------------------------------------------------------------------------------
function check_file(path, line, count, is_code, is_c) {
    is_c = path ~ /\.[ch]$/
    is_code = is_c || path ~ /\.(cmake|sh|awk|py|js|in)$/ || path ~ /(^|\/)CMakeLists\.txt$/ ||
        path ~ /^tools\/([^.]*\/)?[^.\/]*$/
    if (!is_code && path !~ /\.md$/) {
        return
    }
    start_c(path)
    while ((getline line < path) > 0) {
        count++
        check_line(path, count, line, is_code)
        if (is_c) {
            check_c_line(path, count, line)
        }
        if (path ~ /(CMakeLists\.txt|\.cmake)$/) {
            collect_sources(path, line)
        }
    }
    close(path)
    if (is_code && count > FILE_LINES_MAX) {
        report(path, count, "file-length", count " lines; the limit is " FILE_LINES_MAX)
    }
    if (path ~ /\.h$/) {
        check_guard(path)
    }
}

function check_line(path, number, line, is_code, plain) {
    if (line ~ /\t/) {
        report(path, number, "tab", "a tab; indent with spaces")
    }
    if (line ~ /[ \t\r]$/) {
        report(path, number, "trailing-blank", "blanks at the end of the line")
    }
    if (line ~ "(^|[^A-Za-z0-9_])(" LEFTOVERS ")([^A-Za-z0-9_]|$)") {
        report(path, number, "leftover", "a note of unfinished work")
    }
    if (is_code && length(line) > COLUMNS_MAX) {
        plain = line
        gsub(/[\200-\277]/, "", plain) # the later bytes of a character in UTF-8 take no column
        if (length(plain) > COLUMNS_MAX) {
            report(path, number, "line-length", length(plain) " columns; the limit is " COLUMNS_MAX)
        }
    }
}

# --- C ------------------------------------------------------------------------------------------
function start_c(path) {
    in_comment = in_directive = depth = signature_line = is_function = 0
    guard_state = 0
    guard = signature = ""
}

# The line without comments, and with empty strings and characters.
function code_of(line, code, c, two, quote, i) {
    for (i = 1; i <= length(line); i++) {
        c = substr(line, i, 1)
        two = substr(line, i, 2)
        if (in_comment) {
            if (two == "*/") {
                in_comment = 0
                i++
            }
        } else if (quote != "") {
            if (c == "\\") {
                i++
            } else if (c == quote) {
                code = code c
                quote = ""
            }
        } else if (two == "/*") {
            in_comment = 1
            code = code " "
            i++
        } else if (two == "//") {
            break
        } else {
            quote = (c == "\"" || c == "'") ? c : ""
            code = code c
        }
    }
    return code
}

function check_c_line(path, number, line, code, directive) {
    if (!in_comment && line ~ /^[ ]*#[ ]*include/) {
        check_include(path, number, line)
        code_of(line) # a comment may begin here
        return
    }
    code = code_of(line)
    check_bans(path, number, code)
    directive = in_directive || code ~ /^[ ]*#/
    in_directive = directive && line ~ /\\$/
    if (directive) {
        note_guard(code)
    } else {
        measure_function(path, number, code)
    }
}

function check_include(path, number, line, target, is_system, i) {
    is_system = line ~ /</
    target = line
    sub(/^[^<"]*[<"]/, "", target)
    sub(/[>"].*/, "", target)
    for (i = 1; i <= door_count; i++) {
        if (index(target, doors[i]) == 1 && !is_listed(path, door_holder[i])) {
            report(path, number, "door", target " is for " door_holder[i] " alone")
        }
    }
    if (is_system) {
        return
    }
    included[target] = 1
    if (!(target in exists)) {
        report(path, number, "include-path", "no " target " below the root of the repository")
    } else if (is_word_of(target, HEADER_PARTS)) {
        if (path != "primitives/runtime/coro/coro.h") {
            report(path, number, "rank", target " is a part of another header")
        }
    } else {
        check_rank(path, number, target)
    }
}

function check_rank(path, number, target, from, to, rank) {
    from = room_of(path)
    to = room_of(target)
    if (from == "" && !is_test(path)) {
        return # the rule about rooms speaks of it
    }
    if (is_test(path)) {
        rank = is_test(target) ? test_rank(target) : to != "" ? room_rank[to] : 99
        if (to == "scenarios" || rank <= test_rank(path) || is_around(target, path)) {
            return
        }
    } else if (is_test(target)) {
        report(path, number, "rank", "only tests may include " target)
        return
    } else if (from == to || (from, to) in room_sees) {
        return
    }
    report(path, number, "rank", (from == "" ? path : from) " may not include " target)
}

function check_bans(path, number, code, rest, before, word, i) {
    rest = code
    before = ""
    while (match(rest, /[A-Za-z_][A-Za-z0-9_]*/)) {
        before = before substr(rest, 1, RSTART - 1)
        word = substr(rest, RSTART, RLENGTH)
        rest = substr(rest, RSTART + RLENGTH)
        for (i = 1; i <= ban_count; i++) {
            if (word == ban_name[i] && before !~ /(\.|->)$/ &&
                (!ban_is_call[i] || rest ~ /^ *\(/) && is_listed(path, ban_places[i]) &&
                !is_listed(path, ban_exceptions[i])) {
                report(path, number, "banned", word ": " ban_why[i])
            }
        }
        before = before word
    }
}

# A guard is #ifndef NAME_H and #define NAME_H before anything else; the name is this file's alone.
function note_guard(code, words) {
    if (guard_state == 0 && code ~ /^#ifndef [A-Z0-9_]+_H *$/) {
        split(code, words, " ")
        guard = words[2]
        guard_state = 1
    } else if (guard_state == 1 && code ~ ("^#define " guard " *$")) {
        guard_state = 2
    } else if (guard_state < 2) {
        guard_state = 3
    }
}

function check_guard(path) {
    if (is_word_of(path, HEADER_PARTS)) {
        return
    }
    if (guard_state != 2) {
        report(path, 1, "guard", "no include guard #ifndef NAME_H, #define NAME_H at the top")
    } else if (guard in guard_holder) {
        report(path, 1, "guard", guard " guards " guard_holder[guard] " already")
    } else {
        guard_holder[guard] = path
    }
}

# A function begins with the first line of its signature and ends with its closing brace.
function measure_function(path, number, code, opened) {
    if (code ~ /^extern "" *\{/ || code ~ /^ *$/) {
        return
    }
    if (depth == 0) {
        signature_line = signature == "" ? number : signature_line
        signature = signature code
        is_function = signature ~ /\([^{]*\{/ && signature !~ /=[^{]*\{/
    }
    opened = gsub(/\{/, "{", code)
    depth += opened - gsub(/\}/, "}", code)
    depth = depth < 0 ? 0 : depth
    if (depth > 0 || (opened == 0 && code !~ /[;}] *$/)) {
        return
    }
    if (is_function && number - signature_line + 1 > FUNCTION_LINES_MAX) {
        report(path, signature_line, "function-length", number - signature_line + 1 \
               " lines; the limit is " FUNCTION_LINES_MAX)
    }
    signature = ""
}

# --- the tree -----------------------------------------------------------------------------------
# What a CMake file names is what is built. Names count from the folder of the file, or from the
# root where a variable says so.
function collect_sources(path, line, folder, word) {
    sub(/#.*/, "", line)
    folder = path
    sub(/[^\/]*$/, "", folder)
    if (match(line, /[A-Za-z0-9_\/]+\/\*\.c/)) { # a whole folder
        is_globbed[folder substr(line, RSTART + 1, RLENGTH - 4)] = 1
    }
    while (match(line, /[A-Za-z0-9_.\/${}-]+\.(c|cc|cpp)/)) {
        word = substr(line, RSTART, RLENGTH)
        line = substr(line, RSTART + RLENGTH)
        if (!sub(/^\$\{(PROJECT|CMAKE)_SOURCE_DIR\}\//, "", word)) {
            sub(/^\$\{CMAKE_CURRENT_(SOURCE|LIST)_DIR\}\//, "", word)
            word = folder word
        }
        while (match(word, /[A-Za-z0-9_-]+\/\.\.\//)) {
            word = substr(word, 1, RSTART - 1) substr(word, RSTART + RLENGTH)
        }
        is_built[word] = 1
    }
}

function check_tree(path, list, count, top, f, i, folder_of_path) {
    for (f = 1; f <= NR; f++) {
        path = top = files[f]
        sub(/\/.*/, "", top)
        if (!is_word_of(top, TOP_LEVEL) && top !~ /^\./ && !(top in seen_top)) {
            seen_top[top] = 1
            report(top, 0, "top-level", "is not one of: " TOP_LEVEL ", dotfiles")
        }
        if (path ~ /\.[ch]$/ && room_of(path) == "" && !is_test(path)) {
            report(path, 0, "room", "is in no room; tidy.awk has the table")
        }
        folder_of_path = path
        sub(/[^\/]*$/, "", folder_of_path)
        if (path ~ /\.(c|cc|cpp)$/ && !(path in is_built) && !(folder_of_path in is_globbed)) {
            report(path, 0, "dead-file", "no CMakeLists.txt names it")
        }
        if (path ~ /\.h$/ && !(path in included)) {
            report(path, 0, "dead-file", "nobody includes it")
        }
    }
    count = split(README_FOLDERS, list, " ")
    for (i = 1; i <= count; i++) {
        if (!((list[i] "/README.md") in exists)) {
            report(list[i] "/README.md", 0, "readme", "is missing")
        }
    }
}

BEGIN {
    tables()
}

{
    files[NR] = $0
    exists[$0] = 1
}

END {
    for (f = 1; f <= NR; f++) {
        check_file(files[f])
    }
    check_tree()
    printf "tidy: %d files, %d findings\n", NR, findings
    exit findings > 0
}

# Makes mutants: copies of a shipped source with one fault each. POSIX awk, run from the root of the
# repository.
#
#     awk -f generate.awk -v out=DIR CATALOGUE.mut           writes DIR/NAME.c for each mutant
#     awk -f generate.awk -v registry=FILE CATALOGUE.mut...  writes the table of them all
#
# A catalogue is text. What stands before its first mutant holds for all of them:
#
#     source: primitives/sync/lock.c      the file that is changed; a mutant may name another one
#     with: primitives/sync/lock.c ...    the files of which each mutant gets a copy of its own;
#                                         may go on in further lines of that key
#     primitives: lock                    what the mutants are run as
#
#     mutant: lock-release-wakes-nobody
#     kind: drop-wake-up                  one of KINDS below
#       lock->is_held = false;            two blanks: a line that stays, for the place
#     - bz_waitq_wake_oldest(...);        a line that goes
#     + ...                               a line that comes
#     settings: restaurant tables=3       to be tried, too, after the defaults of all scenarios;
#                                         also before the first mutant, and more than once
#     equivalent: why no run can tell     only if so; may go on in further lines of that key
#
# The lines that stay and go are whole lines of the source, next to each other, as they are but for
# their indentation. They must be there exactly once: a catalogue that the source has outgrown
# stops the build, with the name of the mutant, and does not quietly test something else.
#
# A mutant is one file: the sources under other names, so that the library that ships is linked
# beside it untouched, and the same table of operations that the variant `buzzer` has.

BEGIN {
    KINDS = " drop-wake-up skip-check swap off-by-one forget-hand-over wrong-end wrong-count" \
            " wrong-state wrong-answer excess-wake-up "
    TABLES = "scenarios/variants/buzzer.c scenarios/variants/buzzer_more.c"
    TABLES_HEADER = "scenarios/variants/buzzer.h"
    count = failed = 0
    if (registry != "") {
        begin_registry()
    }
    for (argument = 1; argument < ARGC; argument++) {
        read_catalogue(ARGV[argument])
    }
    if (!failed && registry != "") {
        end_registry()
    }
    exit failed
}

function fail(what) {
    printf "%s:%d: %s%s\n", catalogue, line_number,
           name != "" ? "mutant '" name "': " : "", what > "/dev/stderr"
    failed = 1
}

# --- reading ------------------------------------------------------------------------------------

function read_catalogue(path, line, status) {
    catalogue = path
    line_number = 0
    common_source = common_with = common_primitives = common_settings = ""
    forget_mutant()
    while ((status = (getline line < path)) > 0) {
        line_number++
        read_line(line)
    }
    close(path)
    if (status < 0) {
        fail("cannot be read")
    } else if (line_number == 0) {
        fail("is empty")
    }
    finish_mutant()
}

function forget_mutant() {
    name = kind = source = settings = reason = patch = ""
    old_count = new_count = 0
}

function read_line(line, key, value) {
    if (line ~ /^#/ || line ~ /^ *$/) {
        return
    }
    if (line ~ /^(  |- |\+ )/) {
        read_change(substr(line, 1, 1), substr(line, 3), line)
        return
    }
    key = line
    sub(/:.*/, "", key)
    value = substr(line, length(key) + 2)
    value = trimmed(value)
    if (line !~ /^[a-z]+:/) {
        fail("not understood: " line)
    } else if (key == "mutant") {
        finish_mutant()
        name = value
    } else if (name == "") {
        read_common(key, value)
    } else if (key == "kind") {
        kind = value
    } else if (key == "source") {
        source = value
    } else if (key == "settings") {
        settings = joined(settings, value)
    } else if (key == "equivalent") {
        reason = reason (reason != "" ? " " : "") value
    } else {
        fail("no key '" key "' in a mutant")
    }
}

function read_common(key, value) {
    if (key == "source") {
        common_source = value
    } else if (key == "with") {
        common_with = common_with (common_with != "" ? " " : "") value
    } else if (key == "primitives") {
        common_primitives = value
    } else if (key == "settings") {
        common_settings = joined(common_settings, value)
    } else {
        fail("no key '" key "' before the first mutant")
    }
}

function joined(list, value) {
    return list (list != "" ? ";" : "") value
}

function read_change(mark, text, line) {
    if (name == "") {
        fail("a change before the first mutant")
    }
    if (mark != "+") {
        old[++old_count] = trimmed(text)
    }
    if (mark != "-") {
        new[++new_count] = text
        stays[new_count] = mark == " " ? old_count : 0 # which of the old lines it is
    }
    patch = patch line "\n"
}

function trimmed(text) {
    sub(/^ +/, "", text)
    sub(/ +$/, "", text)
    return text
}

# --- one mutant ---------------------------------------------------------------------------------

function finish_mutant(place) {
    if (name == "") {
        return
    }
    source = source != "" ? source : common_source
    settings = settings != "" ? joined(common_settings, settings) : common_settings
    if (is_sound()) {
        place = find_place()
        if (place > 0 && registry != "") {
            register(place)
        } else if (place > 0) {
            write_unit(out "/" name ".c", place)
        }
    }
    forget_mutant()
}

function is_sound() {
    if (name !~ /^[a-z][a-z0-9-]*$/) {
        fail("a name is lower case, digits and '-'")
    } else if (name in seen) {
        fail("there are two of that name")
    } else if (index(KINDS, " " kind " ") == 0 || kind == "") {
        fail("no kind '" kind "'; there are:" KINDS)
    } else if (common_with == "" || common_primitives == "") {
        fail("its catalogue does not say 'with:' and 'primitives:'")
    } else if (settings != "" && settings !~ /^([a-z]+ [a-z0-9=,-]+;?)+$/) {
        fail("settings are a scenario and name=value,...")
    } else if (old_count == 0 || patch !~ /(^|\n)[-+] /) {
        fail("does not say what it changes, and where")
    } else {
        seen[name] = 1
        count++
        return 1
    }
    return 0
}

# Reads the source into lines[1..line_count]; the first of the lines that the mutant speaks of, or
# 0 after a message.
function find_place(status, text, found, first, i) {
    line_count = 0
    while ((status = (getline text < source)) > 0) {
        lines[++line_count] = text
    }
    close(source)
    if (status < 0 || line_count == 0) {
        fail("cannot read its source '" source "'")
        return 0
    }
    found = 0
    for (i = 1; i + old_count - 1 <= line_count; i++) {
        if (is_match(i)) {
            found++
            first = i
        }
    }
    if (found != 1) {
        fail("its lines occur " found " times in " source "; it must be exactly once")
        return 0
    }
    return first
}

function is_match(first, i) {
    for (i = 1; i <= old_count; i++) {
        if (trimmed(lines[first + i - 1]) != old[i]) {
            return 0
        }
    }
    return 1
}

# --- writing a mutant ---------------------------------------------------------------------------

function write_unit(path, place, list, files, i) {
    printf "/* %s (%s): made from %s by %s. */\n", name, kind, source, catalogue > path
    files = split(common_with, list, " ")
    printf "#define bz_variant_buzzer bz_mutant_%s\n", identifier(name) > path
    rename_words(path, TABLES_HEADER, "bz_buzzer_[a-z0-9_]+")
    for (i = 1; i <= files; i++) {
        rename(path, list[i])
    }
    if (source ~ /\.h$/) {
        write_changed(path, place) # its guard keeps the shipped one out
    }
    for (i = 1; i <= files; i++) {
        if (list[i] == source) {
            write_changed(path, place)
        } else {
            printf "#include \"%s\"\n", list[i] > path
        }
    }
    files = split(TABLES, list, " ")
    for (i = 1; i <= files; i++) {
        printf "#include \"%s\"\n", list[i] > path
    }
    close(path)
}

function write_changed(path, place, i) {
    for (i = 1; i < place; i++) {
        print lines[i] > path
    }
    for (i = 1; i <= new_count; i++) {
        print (stays[i] ? lines[place + stays[i] - 1] : new[i]) > path
    }
    for (i = place + old_count; i <= line_count; i++) {
        print lines[i] > path
    }
}

# Gives every function that a file's header declares a name of the mutant's own. They begin with
# bz_ or bz_sync_ and the name of the file.
function rename(path, file, base) {
    base = file
    sub(/.*\//, "", base)
    sub(/\.c$/, "", base)
    sub(/\.c$/, ".h", file)
    rename_words(path, file, "bz_(sync_)?" base "_[a-z0-9_]+\\(")
}

function rename_words(path, file, pattern, text, word, done) {
    while ((getline text < file) > 0) {
        while (match(text, pattern)) {
            word = substr(text, RSTART, RLENGTH)
            text = substr(text, RSTART + RLENGTH)
            sub(/\($/, "", word)
            if (!(word in done)) {
                done[word] = 1
                printf "#define %s bz_mutant_%s_%s\n", word, identifier(name),
                       substr(word, 4) > path
            }
        }
    }
    close(file)
}

function identifier(text) {
    gsub(/-/, "_", text)
    return text
}

# --- writing the registry -----------------------------------------------------------------------

function begin_registry() {
    printf "#include \"scenarios/mutants/mutants.h\"\n\n" > registry
    rows = ""
}

function register(place, list, primitives, bits, i) {
    printf "extern const struct bz_variant bz_mutant_%s;\n", identifier(name) > registry
    primitives = split(common_primitives, list, " ")
    for (i = 1; i <= primitives; i++) {
        bits = bits (i > 1 ? " | " : "") "1u << BZ_PRIMITIVE_" toupper(list[i])
    }
    rows = rows "    {.name = " quoted(name) ",\n     .source = " quoted(source) \
        ",\n     .line = " place ",\n     .kind = " quoted(kind) \
        ",\n     .change = " quoted(patch) ",\n     .equivalent = " \
        (reason != "" ? quoted(reason) : "0") ",\n     .settings = " \
        (settings != "" ? quoted(settings) : "0") ",\n     .primitives = " bits \
        ",\n     .variant = &bz_mutant_" identifier(name) "},\n"
}

function end_registry() {
    printf "\nconst struct bz_mutant bz_mutants[] = {\n%s    {0},\n};\n", rows > registry
    close(registry)
}

# As a C string. Character by character: what a backslash means to gsub() differs between awks.
function quoted(text, result, c, i) {
    for (i = 1; i <= length(text); i++) {
        c = substr(text, i, 1)
        result = result (c == "\n" ? "\\n" : c == "\"" || c == "\\" ? "\\" c : c)
    }
    return "\"" result "\""
}

#!/bin/sh
# Renews the table of entries in README.md, from the rows of zoo.def and the stories in *.c. With
# --check it writes nothing and fails if the table is not up to date. Either way it refuses an entry
# without a story, a story without an entry, and an entry of more than 60 lines.
set -eu
LC_ALL=C
export LC_ALL
cd "$(dirname "$0")"
new=$(mktemp "${TMPDIR:-/tmp}/zoo_readme.XXXXXX")
trap 'rm -f "$new"' EXIT

awk '
# An entry goes from its story to the next story or heading; blank lines behind it do not count.
function end_entry() {
    if (story != "" && last - first + 1 > LINES_MAX) {
        fail(story " has " last - first + 1 " lines; at most " LINES_MAX)
    }
    story = ""
}

function fail(what) {
    print "zoo: " what > "/dev/stderr"
    failed = 1
}

function field(row, key) {
    if (!match(row, "\\." key " = \"[^\"]*\"")) {
        return ""
    }
    return substr(row, RSTART + length(key) + 5, RLENGTH - length(key) - 6)
}

function print_table(i, name, project, issue) {
    print "| entry | fault | documented | oracle |"
    print "| --- | --- | --- | --- |"
    for (i = 1; i <= count; i++) {
        match(rows[i], /"[^"]*"/)
        name = substr(rows[i], RSTART + 1, RLENGTH - 2)
        if (!(name in place)) {
            fail(name " has no story")
        }
        project = field(rows[i], "project")
        issue = field(rows[i], "issue")
        printf "| `zoo/%s` | %s | %s | `%s` |\n", name, field(rows[i], "summary"),
               index(issue, project) == 1 ? issue : project ": " issue, field(rows[i], "oracle")
        delete place[name]
    }
    for (name in place) {
        fail(name " has no row in zoo.def")
    }
}

BEGIN {
    LINES_MAX = 60
}

FILENAME == "zoo.def" {
    sub(/^ +/, "")
    count += /^ZOO\(/
    rows[count] = rows[count] " " $0
    gsub(/" "/, "", rows[count]) # a string in two parts
    next
}

FNR == 1 || /^\/\* --- / {
    end_entry()
}

FILENAME != "README.md" {
    if (match($0, /^\/\* [a-z0-9]+(-[a-z0-9]+)+: /)) {
        end_entry()
        story = substr($0, 4, RLENGTH - 5)
        place[story] = FILENAME
        first = FNR
    }
    last = $0 != "" ? FNR : last
    next
}

/^<!-- zoo.def: end -->$/ {
    is_inside = 0
}

!is_inside

/^<!-- zoo.def: begin -->$/ {
    is_inside = 1
    has_table = 1
    print_table()
}

END {
    if (!has_table) {
        fail("README.md has no line <!-- zoo.def: begin -->")
    }
    exit failed
}' zoo.def ./*.c README.md >"$new"

if [ "${1-}" != --check ]; then
    cat "$new" >README.md
elif ! diff -u README.md "$new"; then
    echo "scenarios/zoo/README.md is not up to date; scenarios/zoo/readme.sh renews it"
    exit 1
fi

#!/bin/sh
# finds_fault.sh BUZZER PLUGIN: the fault that oldlock has when it is compiled with -DFAULT=1 is
# found, leaves a trace, and the trace replays. A test that cannot fail would prove nothing.
set -u
buzzer=$1
plugin=$2
traces=$(mktemp -d)
trap 'rm -rf "$traces"' EXIT

"$buzzer" run contended --plugin "$plugin" --variant oldlock --out "$traces"
status=$?
if [ $status -ne 1 ]; then
    echo "the run exits with $status; a violation exits with 1" >&2
    exit 1
fi
for trace in "$traces"/*.json; do
    "$buzzer" replay --plugin "$plugin" "$trace" || exit 1
done

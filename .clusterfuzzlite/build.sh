#!/usr/bin/env bash
# Builds the fuzz targets as OSS-Fuzz and ClusterFuzzLite want them: in $OUT, each with its seeds.
# $CC, $CXX, $CFLAGS and $LIB_FUZZING_ENGINE come from there.
set -euo pipefail
[ -f CMakePresets.json ] || cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD
build=${WORK:-$root/build}/clusterfuzzlite

cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DBUZZER_FUZZ=ON \
    -DBUZZER_FUZZ_ENGINE="$LIB_FUZZING_ENGINE" -DBUZZER_TESTS=OFF \
    -DBUZZER_INSTALL=OFF -DCMAKE_BUILD_RPATH="\$ORIGIN/lib"
cmake --build "$build" --target fuzzers

mkdir -p "$OUT/lib"
for target in "$build"/*/fuzz-*; do
    [ -x "$target" ] && [ -f "$target" ] || continue
    name=$(basename "$target")
    cp "$target" "$OUT/"
    case $name in
    fuzz-trace) seeds=traces/corpus ;;
    fuzz-program) seeds=scenarios/tests/seeds ;;
    *) seeds=sim/program/tests/seeds/${name#fuzz-} ;;
    esac
    python3 -m zipfile -c "$OUT/${name}_seed_corpus.zip" "$root/$seeds"/*
    # The machine that runs it may lack the library.
    ldd "$target" | awk '/libcjson/ {print $3}' | xargs -r -I {} cp -L {} "$OUT/lib/"
done

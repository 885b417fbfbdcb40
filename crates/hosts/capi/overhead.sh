#!/bin/sh
# Instructions of a call in C and in Rust, by callgrind, and what libraries weigh: with machine code and without.
#     sh overhead.sh [FOLDER]   # where to install; default is a temporary one
set -eu
into=${1:-$(mktemp -d)}
mkdir -p "$into"
into=$(cd "$into" && pwd)
cd "$(dirname "$0")"
target=$(cargo metadata --locked --no-deps --format-version 1 | sed 's/.*"target_directory":"\([^"]*\)".*/\1/')
cargo build --quiet --release --locked --example call
sh install.sh "$into/jit" > "$into/log" 2>&1
cc -O2 -I include examples/call.c -o "$into/call" "$into/jit/lib/librestride.a" -lpthread -ldl -lm -lrt -lgcc_s
instructions() {
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$@" 2>&1 | sed -n 's/.*Collected : \([0-9]*\).*/\1/p'
}
for what in run lookup; do
    for program in "$into/call" "$target/release/examples/call"; do
        few=$(instructions "$program" 1000 $what)
        many=$(instructions "$program" 11000 $what)
        echo "$what, $program: $(((many - few) / 10000)) instructions"
    done
done
sh install.sh "$into/plain" --no-jit >> "$into/log" 2>&1
for kind in jit plain; do
    strip --strip-unneeded -o "$into/$kind.so" "$into/$kind/lib/librestride.so"
    cc -O2 -I include examples/call.c -o "$into/$kind-call" "$into/$kind/lib/librestride.a" -Wl,--gc-sections -lpthread -ldl -lm -lrt -lgcc_s
    strip "$into/$kind-call"
    wc -c "$into/$kind.so" "$into/$kind/lib/librestride.a" "$into/$kind-call" | sed '$d'
done

#!/usr/bin/env bash
# Which lines of the crates every target reaches, on stable, by its seeded loop. Needs the tools of
# the LLVM that rustc has: `LLVM=-22` names `llvm-cov-22` and `llvm-profdata-22`.
# usage: fuzz/coverage.sh [HOW MANY TIMES THE USUAL RUNS] [TARGET...]
set -euo pipefail
cd "$(dirname "$0")/.."
llvm=${LLVM:-}
times=${1:-10}
shift || true
out=$(mktemp -d)
trap 'rm -r "$out"' EXIT
# Only the crates of the workspace are instrumented; the others stay as they were built.
binary=$(RUSTC_WORKSPACE_WRAPPER="$PWD/fuzz/instrumented" LLVM_PROFILE_FILE=/dev/null \
    cargo test --release --locked -p restride-tests --test fuzz --no-run \
    --message-format=json-render-diagnostics |
    grep -o '"executable":"[^"]*/fuzz-[^"]*"' | cut -d'"' -f4)
targets=("$@")
if [ ${#targets[@]} -eq 0 ]; then
    mapfile -t targets < <("$binary" --list | sed -n 's/: test$//p' | grep -v all_targets_run)
fi
crates=(text graph layout canon lower loops leaves exec jit restride)
echo "| target | $(printf '%s | ' "${crates[@]}")"
echo "|---|$(printf -- '---|%.0s' "${crates[@]}")"
for target in "${targets[@]}"; do
    (cd tests && LLVM_PROFILE_FILE="$out/$target.profraw" RESTRIDE_FUZZ_RUNS=$times \
        "$binary" --exact "$target" > /dev/null)
    "llvm-profdata$llvm" merge -sparse "$out/$target.profraw" -o "$out/$target.profdata"
    row="| \`$target\` |"
    for crate in "${crates[@]}"; do
        share=$("llvm-cov$llvm" export -summary-only -instr-profile "$out/$target.profdata" "$binary" \
            "$PWD/crates/$crate/src" | grep -o '"totals":.*' |
            grep -o '"lines":{"count":[0-9]*,"covered":[0-9]*' | grep -o '[0-9]*' |
            awk 'NR == 1 { all = $1 } NR == 2 { printf "%.0f", 100 * $1 / all }')
        [ "$share" = 0 ] && share=
        row+=" $share |"
    done
    echo "$row"
done

#!/usr/bin/env bash
# Every target under libFuzzer for so many seconds, one after the other, and a table of what came of
# it. Needs a nightly toolchain and cargo-fuzz. With `FUZZ_BINARIES=FOLDER` nothing is built.
# usage: fuzz/explore.sh [SECONDS] [TARGET...]
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-180}
shift || true
targets=("$@")
if [ ${#targets[@]} -eq 0 ]; then
    targets=(graph_text canonical_text loops_text golden_lines workload_file ladder layouts kernels)
fi
limits=(-max_total_time="$seconds" -timeout=10 -rss_limit_mb=1024 -malloc_limit_mb=64 -print_final_stats=1)
echo '| target | minutes | executions | a second | edges reached, of | inputs kept | MB | crashes |'
echo '|---|---|---|---|---|---|---|---|'
for target in "${targets[@]}"; do
    folders=("fuzz/corpus/$target")
    mkdir -p "fuzz/corpus/$target" "fuzz/artifacts/$target"
    for folder in "fuzz/seeds/$target" "fuzz/regressions/$target"; do
        if [ -d "$folder" ]; then folders+=("$folder"); fi
    done
    log=$(mktemp)
    crashes=0
    if [ -n "${FUZZ_BINARIES:-}" ]; then
        "$FUZZ_BINARIES/$target" "${folders[@]}" "${limits[@]}" \
            -artifact_prefix="fuzz/artifacts/$target/" 2> "$log" || crashes=1
    else
        cargo +nightly fuzz run "$target" "${folders[@]}" -- "${limits[@]}" 2> "$log" || crashes=1
    fi
    field() { grep -o "$1 *[0-9]*" "$log" | tail -1 | grep -o '[0-9]*$' || echo 0; }
    all=$(grep -o '([0-9]* inline' "$log" | head -1 | grep -o '[0-9]*')
    printf '| `%s` | %s | %s | %s | %s of %s | %s | %s | %s |\n' "$target" "$((seconds / 60))" \
        "$(field 'number_of_executed_units:')" "$(field 'average_exec_per_sec:')" \
        "$(field 'cov:')" "$all" "$(field 'corp:')" "$(field 'peak_rss_mb:')" "$crashes"
    if [ "$crashes" != 0 ]; then tail -25 "$log" >&2; fi
    rm "$log"
done

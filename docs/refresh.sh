#!/usr/bin/env bash
# Writes the listings of README.md anew: what stands between `<!-- begin:NAME -->` and `<!-- end:NAME -->` becomes
# what a command prints. With an argument, only the one of that name.
# `peers` needs results of other systems: PEERS="a.jsonl b.jsonl" bash docs/refresh.sh peers
set -euo pipefail
cd "$(dirname "$0")/.."

cargo build --profile measured --quiet --bin restride
restride=${CARGO_TARGET_DIR:-target}/measured/restride

# Puts standard input between the markers of a name, in a fence.
put() {
    { echo '```text'; sed 's/[[:space:]]*$//'; echo '```'; } | put_as_it_is "$1"
}

# The same without a fence.
put_as_it_is() {
    local name=$1 text
    text=$(mktemp)
    cat > "$text"
    awk -v begin="<!-- begin:$name -->" -v end="<!-- end:$name -->" -v text="$text" '
        $0 == begin { print; while ((getline line < text) > 0) print line; skip = 1 }
        $0 == end { skip = 0 }
        !skip && $0 != begin { print }
    ' README.md > "$text.new"
    cat "$text.new" > README.md
    rm -f "$text" "$text.new"
}

# Tables stand with a blank line between them; the first and longest is folded away below the others.
long_table_last() {
    awk 'BEGIN { RS = ""; ORS = "\n\n" }
        NR == 1 { long = $0; next }
        { print }
        END { print "<details><summary>Each workload</summary>"; print long; print "</details>" }'
}

wanted() { [ "${only:-$1}" = "$1" ]; }
only=${1:-}

if wanted slice; then
    cargo run --release --quiet -p restride --example slice | put slice
fi
if wanted explain; then
    "$restride" explain 'x: f32[4,8]; x[::-1, 1:7:2].reshape(2,6)' | put explain
fi
if wanted posted; then
    "$restride" bench tests/workloads/posted.json | put posted
fi
if [ -n "${PEERS:-}" ] && wanted peers; then
    versus=()
    for file in $PEERS; do versus+=(--versus "$file"); done
    "$restride" bench "${versus[@]}" --svg docs/pictures/peers.svg | long_table_last | put_as_it_is peers
fi

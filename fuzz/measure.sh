#!/usr/bin/env bash
# Executions and executions per second of every fuzz target, on stable, one after the other.
# usage: fuzz/measure.sh [HOW MANY TIMES THE USUAL RUNS]
set -euo pipefail
cd "$(dirname "$0")/.."
RESTRIDE_FUZZ_RUNS=${1:-10} cargo test --release --locked -q -p restride-tests --test fuzz -- \
    --nocapture --test-threads=1 | grep '/s$'

#!/usr/bin/env bash
# Builds candle with the patch, and a switch that turns it off and on, and measures models of candle-transformers:
#     bash candle.sh [MODEL ..]
set -euo pipefail
cd "$(dirname "$0")"
bash ../candle/patches/try.sh source
root=$(cd ../../.. && pwd)
source=$root/target/candle-core/src/cpu_backend/mod.rs
cat >>"$source" <<'RUST'

/// Whether copies go through restride.
pub static RESTRIDE: std::sync::atomic::AtomicBool = std::sync::atomic::AtomicBool::new(true);
RUST
sed -i 's/    if !matches!(blocks, crate::StridedBlocks::SingleBlock { .. }) {/    if RESTRIDE.load(std::sync::atomic::Ordering::Relaxed) \&\& !matches!(blocks, crate::StridedBlocks::SingleBlock { .. }) {/' "$source"
# The engine of the patch is a crate of the registry's; here it is this checkout's.
cargo run --release --features candle --bin candle-models \
    --config "patch.crates-io.candle-core.path=\"$root/target/candle-core\"" \
    --config "patch.crates-io.restride.path=\"$root/crates/restride\"" -- "$@"

#!/usr/bin/env bash
# Builds candle with the patch, and candle-transformers with calls of restride-candle in place of candle's own, each with a
# switch that turns it off and on, and measures models:
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

models=$root/target/candle-transformers
rm -rf "$models"
cp -r "$(dirname "$(cargo metadata --format-version 1 --features candle |
    grep -o '"manifest_path":"[^"]*/candle-transformers-0.11.1/Cargo.toml' | cut -d'"' -f4)")" "$models"
chmod -R u+w "$models"
printf '\n[dependencies.restride-candle]\npath = "%s/crates/hosts/candle"\ndefault-features = false\n\n[workspace]\n' "$root" >>"$models/Cargo.toml"
echo 'pub mod by_hand;' >>"$models/src/lib.rs"
cp by_hand.rs "$models/src/"
for model in segformer siglip llama2_c mamba2; do
    sed -i 's/Tensor::cat(/crate::by_hand::cat(/; s/\.contiguous()/.in_a_row()/; s/\.reshape(/.in_a_row_as(/' "$models/src/models/$model.rs"
    echo 'use crate::by_hand::ByHand as _;' >>"$models/src/models/$model.rs"
done

# The engine of the patch is a crate of the registry's; here it is this checkout's.
cargo run --release --features candle --bin candle-models \
    --config "patch.crates-io.candle-core.path=\"$root/target/candle-core\"" \
    --config "patch.crates-io.candle-transformers.path=\"$models\"" \
    --config "patch.crates-io.restride.path=\"$root/crates/restride\"" -- "$@"

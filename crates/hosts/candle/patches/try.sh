#!/usr/bin/env bash
# Builds candle-core with the patch, from the source of the published crate, and runs all of candle's own tests: those in
# its sources, the sixteen files in `tests`, and the examples of its documentation. `source` leaves it at the patched source, which
# is in target/candle-core, for `--config patch.crates-io.candle-core.path=..`.
set -euo pipefail
cd "$(dirname "$0")/../.."
root=$(cd ../.. && pwd)
source=$(cargo metadata --format-version 1 --locked | grep -o '"manifest_path":"[^"]*/candle-core-0.11.1/Cargo.toml' | cut -d'"' -f4)
rm -rf "$root/target/candle-core"
cp -r "$(dirname "$source")" "$root/target/candle-core"
chmod -R u+w "$root/target/candle-core"
patch -d "$root/target/candle-core" -p1 <candle/patches/candle-core-0.11.1.patch
cd "$root/target/candle-core"
# A workspace of its own, so that it builds where it lies; restride comes from this checkout.
printf '\n[workspace]\n\n[patch.crates-io]\nrestride = { path = "%s/crates/restride" }\n' "$root" >>Cargo.toml
[ "${1:-test}" = source ] || cargo test --release --no-fail-fast --target-dir "$root/target"

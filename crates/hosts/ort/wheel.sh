#!/usr/bin/env sh
# Builds the library and puts a wheel of it into a folder: sh wheel.sh FOLDER
set -eu
[ $# -eq 1 ] || { echo "usage: sh wheel.sh FOLDER" >&2; exit 2; }
mkdir -p "$1"
folder=$(cd "$1" && pwd)
cd "$(dirname "$0")"
target=$(cargo metadata --locked --no-deps --format-version 1 | sed 's/.*"target_directory":"\([^"]*\)".*/\1/')
cargo build --release --locked --package restride-ort
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r python/. "$work"
cp "$target/release/librestride_ort.so" "$work/restride_ort/"
strip "$work/restride_ort/librestride_ort.so"
platform=$(python3 -c 'import sysconfig; print(sysconfig.get_platform().replace("-", "_").replace(".", "_"))')
python3 -m pip wheel --quiet --no-deps --wheel-dir "$folder" \
    --config-settings="--build-option=--plat-name=$platform" "$work"

#!/bin/sh
# Installs what runs kernels for aarch64 and riscv64 on a Debian or Ubuntu: compilers and emulators.
set -eu
packages="gcc qemu-user gcc-aarch64-linux-gnu libc6-dev-arm64-cross gcc-riscv64-linux-gnu libc6-dev-riscv64-cross"
[ "$(id -u)" = 0 ] && run= || run=sudo
$run apt-get update
# shellcheck disable=SC2086
$run apt-get install --yes --no-install-recommends $packages

#!/bin/sh
# Builds librestride_openvino.so into a folder, against the headers of an OpenVINO: a folder with include/openvino
# and the libraries, such as that of the Python package, which is what is taken if none is given.
#     sh build.sh FOLDER [OPENVINO]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
into=${1:?"where to?"}
openvino=${2:+$(cd "$2" && pwd)}
openvino=${openvino:-$(python3 -c 'import openvino, os; print(os.path.dirname(openvino.__file__))')}
library=$(find "$openvino" -name 'libopenvino.so*' | head -n 1)
# There is none where OpenVINO has other threads.
tbb=$(find "$openvino" -name 'libtbb.so*' | head -n 1)
mkdir -p "$into"
into=$(cd "$into" && pwd)
# Where cargo puts it depends on where it is called.
cd "$here/../capi"
cargo rustc --release --locked --crate-type staticlib
target=$(cargo metadata --locked --no-deps --format-version 1 | sed 's/.*"target_directory":"\([^"]*\)".*/\1/')
# What is linked in stays inside, so that it meets no other library's.
"${CXX:-c++}" -std=c++17 -O2 -shared -fPIC -fvisibility=hidden -Wall -Wextra \
    -isystem "$openvino/include" -I "$here/../capi/include" "$here/move.cpp" \
    -o "$into/librestride_openvino.so" \
    -Wl,--exclude-libs,ALL -Wl,--gc-sections "$target/release/librestride_capi.a" "$library" \
    -Wl,--as-needed $tbb -lpthread -ldl -lm
strip --strip-unneeded "$into/librestride_openvino.so"
echo "$into/librestride_openvino.so"

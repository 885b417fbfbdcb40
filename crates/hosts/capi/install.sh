#!/usr/bin/env sh
# Builds the libraries and installs them with the headers, for pkg-config and CMake:
#   sh install.sh PREFIX [--no-jit]
set -eu
[ $# -ge 1 ] || { echo "usage: sh install.sh PREFIX [--no-jit]" >&2; exit 2; }
prefix=$1
mkdir -p "$prefix"
prefix=$(cd "$prefix" && pwd)
case "${2-}" in
    "") features="" ;;
    --no-jit) features="--no-default-features" ;;
    *) echo "unknown option: $2" >&2; exit 2 ;;
esac
cd "$(dirname "$0")"
version=$(sed -n 's/^version = "\(.*\)"/\1/p' ../Cargo.toml | head -1)
major=${version%%.*}
target=$(cargo metadata --locked --no-deps --format-version 1 | sed 's/.*"target_directory":"\([^"]*\)".*/\1/')

# The two kinds apart: each then has only what it needs.
cargo rustc --release --locked $features --crate-type cdylib -- -C link-arg="-Wl,-soname,librestride.so.$major"
cargo rustc --release --locked $features --crate-type staticlib

mkdir -p "$prefix/lib/pkgconfig" "$prefix/lib/cmake/restride" "$prefix/include"
cp include/restride.h include/restride.hpp "$prefix/include/"
cp "$target/release/librestride_capi.so" "$prefix/lib/librestride.so.$version"
ln -sf "librestride.so.$version" "$prefix/lib/librestride.so.$major"
ln -sf "librestride.so.$major" "$prefix/lib/librestride.so"
cp "$target/release/librestride_capi.a" "$prefix/lib/librestride.a"

cat > "$prefix/lib/pkgconfig/restride.pc" <<PC
prefix=$prefix
libdir=\${prefix}/lib
includedir=\${prefix}/include

Name: restride
Description: A compiler for moving tensor data
Version: $version
Libs: -L\${libdir} -lrestride
Libs.private: -lpthread -ldl -lm -lrt -lgcc_s
Cflags: -I\${includedir}
PC

cat > "$prefix/lib/cmake/restride/restrideConfig.cmake" <<'CMAKE'
# find_package(restride) gives restride::restride (shared) and restride::static.
get_filename_component(_restride "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(NOT TARGET restride::restride)
  add_library(restride::restride SHARED IMPORTED)
  set_target_properties(restride::restride PROPERTIES
    IMPORTED_LOCATION "${_restride}/lib/librestride.so"
    INTERFACE_INCLUDE_DIRECTORIES "${_restride}/include")
  add_library(restride::static STATIC IMPORTED)
  set_target_properties(restride::static PROPERTIES
    IMPORTED_LOCATION "${_restride}/lib/librestride.a"
    INTERFACE_INCLUDE_DIRECTORIES "${_restride}/include"
    INTERFACE_LINK_LIBRARIES "pthread;dl;m;rt;gcc_s")
endif()
unset(_restride)
CMAKE
cat > "$prefix/lib/cmake/restride/restrideConfigVersion.cmake" <<CMAKE
set(PACKAGE_VERSION "$version")
if(PACKAGE_VERSION VERSION_LESS PACKAGE_FIND_VERSION)
  set(PACKAGE_VERSION_COMPATIBLE FALSE)
else()
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
  if(PACKAGE_FIND_VERSION STREQUAL PACKAGE_VERSION)
    set(PACKAGE_VERSION_EXACT TRUE)
  endif()
endif()
CMAKE
echo "installed restride $version in $prefix"

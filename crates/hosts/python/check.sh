#!/bin/sh
# Builds the wheel and runs the tests with it in a fresh virtual environment, if Python and its packages
# are at hand; says so and passes by if they are not. Needs no Python to build the rest of the project.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
passed_by() {
    echo "the Python package is not tested: $1"
    exit 0
}
python3 -c 'import sys; sys.exit(sys.version_info < (3, 10))' || passed_by "no Python from 3.10 on"
python3 -m venv "$place/venv" || passed_by "no virtual environments"
bin=$place/venv/bin
export PATH="$bin:$PATH"
"$bin/pip" install --quiet "maturin>=1.9,<2" "numpy>=2" pytest hypothesis einops mypy ||
    passed_by "no packages are to be had"
"$bin/pip" install --quiet --no-build-isolation --no-deps "$here"
cd "$here"
PYTHONDONTWRITEBYTECODE=1 "$bin/python" -m pytest -q -p no:cacheprovider
"$bin/mypy" --cache-dir "$place/mypy" tests/typed.py
# What needs torch is not at hand here.
echo restride.torch > "$place/left-out"
cd "$place"
"$bin/stubtest" restride --mypy-config-file "$here/pyproject.toml" --allowlist "$place/left-out" --ignore-unused-allowlist

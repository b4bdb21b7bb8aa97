#!/usr/bin/env bash
# What the binary says of programs that others measured, beside other ways to predict: errors,
# coverage, regret, and what a further run or two are worth; with --next, what it asks to be measured.
# Python with numpy and scikit-learn is put into an environment in target/, Extra-P (numpy below 2,
# some 700 MB) into one of its own.
#
# usage: tests/foreign/run.sh [--splits 25] [--seeds 60] [--data DIR] [--mmgp PATH] [--with-extrap]
#                             [--next] [--only NAME,NAME] [--workers 2] [--raw FILE]
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
environments=${FOREIGN_ENVIRONMENTS:-$root/target}
environment=$environments/foreign
if [ ! -f "$environment/complete" ]; then
    python3 -m venv "$environment"
    "$environment/bin/pip" install --quiet -r "$here/requirements.txt"
    touch "$environment/complete"
fi
if [[ " $* " == *" --with-extrap "* ]]; then
    export EXTRAP_PYTHON=$environments/foreign-extrap/bin/python
    if [ ! -f "$environments/foreign-extrap/complete" ]; then
        python3 -m venv "$environments/foreign-extrap"
        "$environments/foreign-extrap/bin/pip" install --quiet 'extrap==4.2.5'
        touch "$environments/foreign-extrap/complete"
    fi
fi
# One thread for each worker: the matrices are small.
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1
cd "$root"
exec "$environment/bin/python" "$here/foreign.py" "$@"

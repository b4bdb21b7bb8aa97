#!/usr/bin/env bash
# Searches for the fastest configuration of programs whose every time is known: mmgp's decisions
# beside random order, a fixed grid, Optuna's TPE and a Gaussian process with expected improvement,
# on the same times. Python is put into an environment in target/.
#
# usage: tests/replay/run.sh [--seeds 100] [--runs 40] [--data DIR] [--only NAME,NAME] [--workers 2]
#                            [--ways "NAME;NAME"]
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
environment=$root/target/replay
if [ ! -f "$environment/complete" ]; then
    python3 -m venv "$environment"
    "$environment/bin/pip" install --quiet -r "$here/requirements.txt"
    touch "$environment/complete"
fi
cd "$root"
cargo build --quiet --release -p mmgp-tune --example replay
# One thread for each worker: the matrices are small.
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1
exec "$environment/bin/python" "$here/replay.py" "$@"

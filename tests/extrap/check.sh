#!/usr/bin/env bash
# The real Extra-P loads what `mmgp export --runs` writes, in all three formats, and its values come
# back. Extra-P needs an environment of its own (numpy below 2, some 700 MB), which this makes in
# FOLDER unless it is there already.
#
# usage: MMGP=target/release/mmgp tests/extrap/check.sh [FOLDER]
set -euo pipefail

mmgp=$(readlink -f "${MMGP:-target/release/mmgp}")
[ -x "$mmgp" ] || { echo "set MMGP to the binary" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
environment=${1:-$work/environment}
if [ ! -x "$environment/bin/extrap" ]; then
    python3 -m venv "$environment"
    "$environment/bin/pip" install --quiet 'extrap==4.2.5'
fi

# Equation 11 with T_APU = 360, C_APU = 2 and g*N = 0.3, three repetitions within 1 %.
{
    echo "m,p,repetition,time_s"
    for m in 1 2 4 8 16; do
        for p in 1 2 4 8 16; do
            for repetition in 1 2 3; do
                awk -v m=$m -v p=$p -v r=$repetition 'BEGIN {
                    printf "%d,%d,%d,%.9g\n", m, p, r, (360/(m*p) + 2 + 0.3*p) * (0.99 + 0.005*r) }'
            done
        done
    done
} > "$work/runs.csv"

for format in extra-p extra-p-json extra-p-jsonl; do
    file=$work/$format.${format##*-}
    "$mmgp" export --runs "$work/runs.csv" --to "$format" --out "$file"
    "$environment/bin/python" "$here/loaded.py" "$format" "$file" "$work/runs.csv"
done
echo "Extra-P reads all three formats"

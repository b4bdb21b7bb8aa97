#!/usr/bin/env bash
# Tunes processes that share a GPU, with two further factors, and holds the choice to a measurement of everything.
#
#     tests/real/gpu.sh MMGP DIR
#
# Needs nvcc and a GPU; without either the exit code is 77. Logs, pages and what was said are in DIR.
set -euo pipefail
here=$(realpath "$(dirname "$0")")
mmgp=$(realpath "$1")
mkdir -p "$2"
cd "$2"
command -v nvcc > /dev/null && compgen -G '/dev/nvidia[0-9]*' > /dev/null || { echo "skipped: no nvcc, or no GPU"; exit 77; }
source=$(realpath "$here/gpu.cu")
nvcc -O2 -Xcompiler -fopenmp "$source" -o gpu
declared=(--m '1,2,4,8' --p '1,2,4,8' --where "m*p <= cores" --names processes,threads
    --param copies=blocking,overlapped --param block=64,256,1024 --time-from 'time (.*)')
program=(-- ./gpu '{m}' '{p}' '{block}' '{copies}')
for seed in 1 2 3; do
    "$mmgp" tune "${declared[@]}" --seed "$seed" --out "tune-$seed" "${program[@]}" > "tune-$seed.txt" 2> "tune-$seed.err" ||
        echo "tune $seed ended with $?"
    head -3 "tune-$seed.txt"
done
"$mmgp" measure "${declared[@]}" --repetitions 2 --budget 300s --out all --quiet "${program[@]}" > all.txt

#!/usr/bin/env bash
# Whether `predict --nodes` holds: each Cell of a QS20 taken for a node (some minutes on two cores).
#
#     MMGP=target/release/mmgp data/nodes/run.sh
#
# The terms are measured on one Cell, and the times of (m, p) on each of two predicted from them. The truth is
# the QS20 with 2 m processes, which it divides between its Cells. A step of a collective between nodes takes
# what a sum of two ranks does there, one on each Cell. PROGRAM.csv has the times that ran and were predicted, on one
# Cell and on two.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
mmgp=${MMGP:-mmgp}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for program in pbpi raxml; do
    for machine in qs20-cell qs20; do
        "$mmgp" study $program --machine $machine --out "$work/$program-$machine" --quiet
    done
    step=0
    if [ $program = pbpi ]; then
        step=$(awk -F, '$1 == "allreduce" && $2 == 2 { print $6 / $5; exit }' "$work/pbpi-qs20/collective.csv")
    fi
    "$mmgp" predict --params "$work/$program-qs20-cell/params.toml" --nodes 2 --node-collective "$step" --top 1000 \
        --format csv > "$work/nodes.csv"
    {
        echo m,p,one_measured_s,one_predicted_s,two_measured_s,two_predicted_s
        awk -F, 'FILENAME ~ /qs20-cell/ && FNR > 1 { one[$1 "," $2] = $3 "," $4 }
            FILENAME ~ /qs20.validation/ && FNR > 1 { two[$1 "," $2] = $3 }
            FILENAME ~ /nodes/ && $2 == 2 && (2 * $3 "," $4) in two {
                print $3 "," $4 "," one[$3 "," $4] "," two[2 * $3 "," $4] "," $5
            }' "$work/$program-qs20-cell/validation.csv" "$work/$program-qs20/validation.csv" "$work/nodes.csv" |
            sort -t, -n -k1,1 -k2,2
    } > "$here/$program.csv"
    awk -F, -v program=$program 'NR > 1 {
        one = 100 * ($4 / $3 - 1); two = 100 * ($6 / $5 - 1)
        ones += one < 0 ? -one : one; twos += two < 0 ? -two : two; count++
        if (two > most) most = two
    } END { printf "%s: %d (m, p), mean error on one Cell %.1f %%, on two %.1f, at most %.1f\n",
        program, count, ones / count, twos / count, most }' "$here/$program.csv"
done

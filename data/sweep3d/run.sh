#!/usr/bin/env bash
# Every figure of this folder, run again (some minutes on two cores):
#
#     MMGP=target/release/mmgp data/sweep3d/run.sh [NAME...]
#
# Each leaves its files beside this script. Emulated and simulated times are the same on every computer.
#
# input.50     what the benchmark's input of 50^3 gives, plainly and on 6 SPEs: input.50-plain.json, input.50.json
# models       50^3, mk 10, mmi 3, 10 iterations on 1 to 8 SPEs of a Cell BE and of a PowerXCell 8i, in both
#              programming models: models.csv, models.svg
# messages     what messages take on each path of Roadrunner: messages.csv, messages.svg
# weak         5 x 5 x 400 cells a rank, mk 20, mmi 6, on 1 to 97,920 ranks: weak.csv, weak.svg
# strong       612 x 640 x 400 cells, mk 10, mmi 6, on 32 to 97,920 ranks: strong.csv, strong.svg
# study-*      the choice of ranks and blocks, predicted and swept, on a QS20 and on Roadrunner
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
mmgp=${MMGP:-mmgp}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
wanted=" $* "

is_wanted() {
    [[ $wanted == "  " || $wanted == *" $1 "* ]] && echo "$1"
}

if is_wanted input.50; then
    printf '2 3 10 3 16\n50 50 50 6 1\n.1 .1 .1 -12.0\n0 0 0\n0 1 -7\n' >"$work/input.50"
    run=("$mmgp" emulate --app sweep3d --input "$work/input.50" --format json --quiet)
    "${run[@]}" --timing none --out "$here/input.50-plain.json"
    "${run[@]}" --out "$here/input.50.json"
fi

if is_wanted models; then
    rm -f "$here/models.csv"
    for machine in qs20 qs22; do
        for programming in reverse accelerator; do
            for p in 1 2 4 8; do
                "$mmgp" emulate --app sweep3d --machine $machine --programming $programming --p $p \
                    --epsi -10 --format csv --quiet >"$work/run.csv"
                [[ -s $here/models.csv ]] || echo "model,$(head -n 1 "$work/run.csv")" >"$here/models.csv"
                echo "$programming on $machine,$(tail -n 1 "$work/run.csv")" >>"$here/models.csv"
            done
        done
    done
    "$mmgp" plot --kind curves --table "$here/models.csv" --x p --y time_s --by model \
        --title "Sweep3D of 50 x 50 x 50 cells, 10 iterations" --out "$here/models.svg"
fi

if is_wanted messages; then
    "$mmgp" check-machine roadrunner --out "$work/paths" --quiet >/dev/null
    cp "$work/paths"/messages.{csv,svg} "$here/"
fi

# scaling NAME ARGUMENTS...
scaling() {
    local name=$1
    shift
    "$mmgp" scaling "$@" --out "$work/$name" --quiet >/dev/null
    cp "$work/$name/scaling.csv" "$here/$name.csv"
    cp "$work/$name/scaling.svg" "$here/$name.svg"
}

if is_wanted weak; then
    scaling weak --cells-of-rank 5x5x400 --mk 20 --mmi 6
fi

if is_wanted strong; then
    scaling strong --cells 612x640x400 --mk 10 --mmi 6 --ranks 1024,2048,3840,7680,15360,30720,97920
fi

for machine in qs20 roadrunner; do
    if is_wanted study-$machine; then
        "$mmgp" study --app sweep3d --machine $machine --out "$work/$machine" --quiet
        cp "$work/$machine/validation.csv" "$here/study-$machine.csv"
        cp "$work/$machine/summary.json" "$here/study-$machine.json"
        cp "$work/$machine/choices.svg" "$here/study-$machine.svg"
    fi
done

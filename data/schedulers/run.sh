#!/usr/bin/env bash
# Every comparison of this folder, run again: MMGP=target/release/mmgp DATA=folder data/schedulers/run.sh [NAME...]
#
# DATA holds hypo42.phy (42 taxa x 1,167 sites; data/README.md says where from); what needs it is
# left out without it. Each comparison leaves NAME.csv and pictures beside this script.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
mmgp=${MMGP:-mmgp}
hypo42=${DATA:-}/hypo42.phy
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
wanted=" $* "

# compare NAME PICTURES ARGUMENTS...: a comparison, of which these pictures are kept.
compare() {
    local name=$1 pictures=$2
    shift 2
    [[ $wanted == "  " || $wanted == *" ${name%%-*} "* || $wanted == *" $name "* ]] || return 0
    if [[ " $* " == *" $hypo42 "* && ! -f $hypo42 ]]; then
        echo "$name: left out, for want of hypo42.phy"
        return 0
    fi
    echo "$name"
    "$mmgp" schedulers "$@" --out "$work/$name" --quiet
    cp "$work/$name/schedulers.csv" "$here/$name.csv"
    for picture in $pictures; do
        cp "$work/$name/$picture.svg" "$here/$name-$picture.svg"
    done
}

# Event-driven scheduling beside Linux: 1 to 8 workers on one Cell, a bootstrap each.
synthetic=(--app synthetic --machine qs20-cell --offloads 2000)
compare workers-raxml "time" --app raxml --input "$hypo42" --machine qs20-cell \
    --schedulers edtlp,linux --workers 1..8
compare workers-constant "time" "${synthetic[@]}" --schedulers edtlp,linux --workers 1..8
compare workers-exponential "time" "${synthetic[@]}" --distribution exponential \
    --schedulers edtlp,linux --workers 1..8

# A loop shared by 1 to 8 SPEs: one worker, one bootstrap.
compare llp-raxml "time" --app raxml --input "$hypo42" --machine qs20-cell --schedulers edtlp \
    --workers 1 --spes-per-task 1..8

# Six processes of one SPE against one of six.
compare six-synthetic "time" --app synthetic --machine qs20-cell --shared 0.8 --schedulers edtlp \
    --workers 1,6 --spes-per-task 1,6 --tasks 6
compare six-raxml "time" --app raxml --input "$hypo42" --machine qs20-cell --schedulers edtlp \
    --workers 1,6 --spes-per-task 1,6 --tasks 6

# Bootstraps on one Cell and on two.
bootstraps=1..16,20,24,28,32,48,64,96,128
papers=edtlp,edtlp-llp,edtlp-llp:4,oracle,mgps,mmgp-guided
compare bootstraps-one-cell "time slowdown" --app raxml --input "$hypo42" --machine qs20-cell \
    --schedulers $papers --workers 8 --tasks $bootstraps
compare bootstraps-two-cells "time slowdown" --app raxml --input "$hypo42" --machine qs20 \
    --schedulers $papers --workers 16 --tasks $bootstraps

# What a waiting process leaves its SPE idle: 6 processes on a PlayStation 3, by length of task.
waiting=edtlp,linux,ynr,sled,sled:kernel,work-stealing,mbox,callback
for us in 10 50 100 200 500; do
    compare idle-constant-$us "idle" --app synthetic --machine ps3 --workers 6 --task-us $us \
        --ppe-us 1 --schedulers $waiting
    compare idle-exponential-$us "idle" --app synthetic --machine ps3 --workers 6 --task-us $us \
        --ppe-us 1 --distribution exponential --schedulers $waiting
done

# Gains over YNR by length of the sequences.
for sites in 100 500 1000 2000 5000; do
    "$mmgp" simulate-alignment --taxa 107 --sites $sites --seed 1 --out "$work/107x$sites.phy" --quiet
    "$mmgp" simulate-alignment --taxa 40 --sites $sites --seed 1 --out "$work/40x$sites.phy" --quiet
    compare gains-pbpi-$sites "" --app pbpi --input "$work/107x$sites.phy" --machine ps3 \
        --workers 6 --schedulers ynr,sled,work-stealing,edtlp,mbox,callback
    compare gains-raxml-$sites "" --app raxml --input "$work/40x$sites.phy" --machine ps3 \
        --workers 6 --schedulers ynr,sled,work-stealing,edtlp,mbox,callback
done

# A queue of jobs on 1 to 6 SPEs: each process takes the next job as soon as its SPE is done.
for us in 1 100 500; do
    compare jobs-$us "time" --app synthetic --machine ps3 --task-us $us --ppe-us 0 --offloads 1 \
        --schedulers edtlp,ynr,sled,work-stealing --workers 1..6 --tasks 6000
done

#!/usr/bin/env bash
# Every figure of this folder, run again (a few minutes on two cores):
#
#     MMGP=target/release/mmgp data/list_ranking/run.sh [NAME...]
#
# Each leaves NAME.csv and NAME.svg beside this script. Emulated times are the same on every computer.
#
# buffers      time of step 2 against DMA lists under way, n = 2^20, 64 and 256 sublists on 8 SPEs
# requests     the same with one thread for each list under way, on 1 and 8 SPEs
# sublists     time, and load of the SPE that has most, against sublists, n = 2^20 on 8 SPEs
# speed-up     8 SPEs beside the host alone, n = 2^16 to 2^23
# bandwidth    time of step 2 for a node against SPEs: where memory's bandwidth takes over
# study-*      NAME.json, too: the model's choice of p, sublists and lists under way beside all that ran, n = 2^20
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
mmgp=${MMGP:-mmgp}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
wanted=" $* "
million=1048576

is_wanted() {
    [[ $wanted == "  " || $wanted == *" $1 "* ]] && echo "$1"
}

# runs FILE LIST: a run for each line of arguments on standard input, with that name of a list in front.
runs() {
    local file=$1 name line
    while read -r name line; do
        # shellcheck disable=SC2086 # the line is several arguments
        "$mmgp" emulate --app list-ranking $line --format csv --quiet >"$work/run.csv"
        [[ -s $file ]] || echo "list,$(head -n 1 "$work/run.csv")" >"$file"
        echo "$name,$(tail -n 1 "$work/run.csv")" >>"$file"
    done
}

# lists: the three lists with their arguments.
lists() {
    echo "random --order random"
    echo "ordered --order ordered"
    echo "aligned --order ordered --heads aligned"
}

# picture NAME TITLE ARGUMENTS...: the curves of NAME.csv.
picture() {
    local name=$1 title=$2
    shift 2
    "$mmgp" plot --kind curves --table "$here/$name.csv" --title "$title" --out "$here/$name.svg" "$@"
}

if is_wanted buffers; then
    rm -f "$here/buffers.csv"
    for sublists in 64 256; do
        for buffers in {1..16}; do
            lists | while read -r list; do
                echo "$list --nodes $million --p 8 --sublists $sublists --buffers $buffers"
            done
        done
    done | runs "$here/buffers.csv"
    picture buffers "Step 2 of list ranking, 2^20 nodes on 8 SPEs" \
        --x buffers --y step_2_s --by list --panel sublists
fi

if is_wanted requests; then
    rm -f "$here/requests.csv"
    for p in 1 8; do
        for buffers in {1..16}; do
            lists | while read -r list; do
                echo "$list --nodes $million --p $p --sublists $((p * buffers)) --buffers $buffers"
            done
        done
    done | runs "$here/requests.csv"
    picture requests "Step 2 of list ranking, 2^20 nodes, a thread for each list under way" \
        --x buffers --y step_2_s --by list --panel p
fi

if is_wanted sublists; then
    rm -f "$here/sublists.csv"
    for sublists in 8 16 32 64 128 256 512; do
        lists | while read -r list; do
            echo "$list --nodes $million --p 8 --sublists $sublists --buffers 8"
        done
    done | runs "$here/sublists.csv"
    picture sublists "List ranking, 2^20 nodes on 8 SPEs" --x sublists --y time_s,load_imbalance --by list
fi

if is_wanted speed-up; then
    rm -f "$here/speed-up.csv"
    for power in {16..23}; do
        for order in random ordered; do
            size="--order $order --nodes $((1 << power)) --p 8"
            echo "$order-on-8-SPEs $size --sublists 256 --buffers 8"
            echo "$order-on-the-host $size --port ppe"
        done
    done | runs "$here/speed-up.csv"
    picture speed-up "List ranking: 8 SPEs and the host alone" --x nodes --y time_s --by list
fi

if is_wanted bandwidth; then
    rm -f "$here/bandwidth.csv"
    for p in 1 2 3 4 5 6 7 8 12 16; do
        lists | while read -r list; do
            echo "$list --nodes $million --p $p --sublists 512 --buffers 16"
        done
    done | runs "$here/bandwidth.csv"
    picture bandwidth "Step 2 of list ranking, 2^20 nodes, 512 sublists" --x p --y step_2_s --by list
fi

for order in random ordered; do
    if is_wanted "study-$order"; then
        "$mmgp" study --app list-ranking --order "$order" --nodes $million --out "$work/study" --quiet
        cp "$work/study/validation.csv" "$here/study-$order.csv"
        cp "$work/study/threads.csv" "$here/study-$order-threads.csv"
        cp "$work/study/summary.json" "$here/study-$order.json"
        cp "$work/study/choices.svg" "$here/study-$order.svg"
    fi
done

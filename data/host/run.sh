#!/usr/bin/env bash
# What a host costs, beside what was published of it (some minutes on two cores):
#
#     MMGP=target/release/mmgp DATA=folder data/host/run.sh [GROUP...]
#
# Prints figure, published value, value here and the command it comes from, and leaves them as figures.csv beside
# this script. Emulated times are the same on every computer. DATA holds hypo42.phy, which data/schedulers/run.sh
# says how to make; without it sim42 takes its place, of as many taxa, sites and patterns.
#
# kernel    switches by sched_yield, and what a waiting process leaves its SPE idle
# messages  collectives among 2 to 16 ranks, by either way to do them
# pbpi      time of the host and gap between off-loads, 20,000 generations
# raxml     a whole search: off-loads, their length, the host between two; loops on 1 to 8 SPEs
# programs  Sweep3D in both models, list ranking over the host alone
# studies   error of equation 11, what it chooses and what is the fastest that runs
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
mmgp=${MMGP:-mmgp}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
wanted=" $* "
alignment=${DATA:-}/hypo42.phy
[ -f "$alignment" ] || alignment=sim42
echo group,figure,unit,published,here,command > "$work/figures.csv"

is_wanted() { [[ $wanted == "  " || $wanted == *" $1 "* ]]; }

# figure GROUP NAME UNIT PUBLISHED VALUE COMMAND: a row, printed and kept.
figure() {
    local value
    value=$(awk -v value="$5" 'BEGIN { print (value ~ /^[-+.e0-9]+$/) ? sprintf("%.4g", value) : value }')
    printf '%-66s %9s %10s %-8s mmgp %s\n' "$2" "$4" "$value" "$3" "$6"
    printf '%s,"%s",%s,"%s","%s","mmgp %s"\n' "$1" "$2" "$3" "$4" "$value" "$6" >> "$work/figures.csv"
}

# value KEY ARGUMENTS...: the first number of that name in the report of a run.
value() {
    local key=$1
    shift
    "$mmgp" "$@" --format json --quiet > "$work/report.json"
    awk -F '": ' -v key="$key" '$1 ~ "^ *\"" key "$" { sub(/,$/, "", $2); print $2; exit }' "$work/report.json"
}

# over TIME OTHER: their ratio.
over() { awk -v time="$1" -v other="$2" 'BEGIN { print time / other }'; }

if is_wanted kernel; then
    # emulated MACHINE FIGURE: what check-machine shows of a figure, by its name in that table.
    emulated() {
        "$mmgp" check-machine "$1" --format csv --quiet > "$work/machine.csv"
        awk -F, -v name="$2" '$2 == name { print $6 }' "$work/machine.csv"
    }
    figure kernel "switch by sched_yield, QS20" us 2 "$(emulated qs20 sched-yield/2)" "check-machine qs20"
    figure kernel "round of 6 processes that yield, PS3" us 14 "$(emulated ps3 yield-round/6)" "check-machine ps3"
    waiting="emulate synthetic --machine ps3 --m 6 --p 1 --streams 6 --offloads 200"
    idle=apu_idle_per_offload_us
    # Turns of tasks that are alike fall into step with some lengths: a mean of several.
    for us in 100 150 200 250 300 350 400; do
        # shellcheck disable=SC2086 # the words are several arguments
        value $idle $waiting --task-us $us --ppe-us 1 --scheduler ynr
    done > "$work/idle"
    figure kernel "idle per off-load under YNR, mean of tasks of 100 to 400 us" us 10 \
        "$(awk '{ sum += $1 } END { print sum / NR }' "$work/idle")" \
        "$waiting --task-us 100 --ppe-us 1 --scheduler ynr (to 400 by 50)"
    figure kernel "the same, least and most of these" us "" \
        "$(sort -g "$work/idle" | awk '{ last = $1 } NR == 1 { first = $1 } END { printf "%.1f to %.1f", first, last }')" \
        "$waiting --task-us 100 --ppe-us 1 --scheduler ynr (to 400 by 50)"
    for tasks in "empty|0.1|0.1" "of 1 us|1|1" "of 100 us|100|1"; do
        IFS='|' read -r name us ppe <<< "$tasks"
        command="$waiting --task-us $us --ppe-us $ppe --scheduler mbox"
        published=""
        [ "$name" != empty ] || published=19
        # shellcheck disable=SC2086
        figure kernel "idle per off-load under blocking mailboxes, tasks $name" us "$published" \
            "$(value $idle $command)" "$command"
    done
fi

if is_wanted messages; then
    for way in messages reduce-and-broadcast; do
        command="study synthetic --offloads 20 --collectives $way"
        # shellcheck disable=SC2086
        "$mmgp" $command --out "$work/$way" --quiet > /dev/null
        for row in 2:16 4:118 8:265 16:842; do
            time=$(awk -F, -v ranks="${row%:*}" '$2 == ranks && $4 == 1 { print 1e6 * $6 / $5 }' \
                "$work/$way/collective.csv")
            figure messages "MPI collective among ${row%:*} ranks, $way" us "${row#*:}" "$time" \
                "$command (collective.csv)"
        done
    done
fi

if is_wanted pbpi; then
    command="profile pbpi --generations 2000"
    # shellcheck disable=SC2086
    "$mmgp" $command --out "$work/profile.csv" --quiet > /dev/null
    column() { awk -F, -v column="$1" '$2 == 1 { sum += $column } END { print 10 * sum }' "$work/profile.csv"; }
    figure pbpi "PBPI, T_HPU of 20,000 generations" s 1.3 "$(column 5)" "$command (times ten)"
    figure pbpi "PBPI, T_APU" s 370 "$(column 6)" "$command (times ten)"
    figure pbpi "PBPI, C_APU" s 1.72 "$(column 7)" "$command (times ten)"
    figure pbpi "PBPI, N g" s 0.8 "$(column 8)" "$command (times ten)"
fi

if is_wanted raxml; then
    search="emulate raxml --input $alignment --inferences 0 --bootstraps 1"
    named="emulate raxml --input $(basename "$alignment") --inferences 0 --bootstraps 1"
    # shellcheck disable=SC2086
    {
        figure raxml "RAxML, off-loads of a bootstrap" "" 267000 "$(value offloads $search --search whole)" \
            "$named --search whole"
        for row in "time of an off-load|96|offload_mean_us" "host between two off-loads|11|hpu_gap_mean_us"; do
            IFS='|' read -r name published key <<< "$row"
            # The report is that of the search above.
            number=$(awk -F '": ' -v key="$key" '$1 ~ key { sub(/,$/, "", $2); print $2; exit }' \
                "$work/report.json")
            figure raxml "RAxML, $name" us "$published" "$number" "$named --search whole"
        done
        one=$(value time_s $search --p 1)
        for row in 2:1.38 3:1.48 4:1.57 5:1.59 6:1.40 7:1.57 8:1.18; do
            command="--p ${row%:*}"
            figure raxml "RAxML, loops on ${row%:*} SPEs, speed-up" ratio "${row#*:}" \
                "$(over "$one" "$(value time_s $search $command)")" "$named $command"
        done
        one=$(value time_s $search --modules by-function --p 1)
        for row in 2:1.38 4:1.57 8:1.18; do
            command="--modules by-function --p ${row%:*}"
            figure raxml "the same, a module for each function, ${row%:*} SPEs" ratio "${row#*:}" \
                "$(over "$one" "$(value time_s $search $command)")" "$named $command"
        done
    }
fi

if is_wanted programs; then
    for row in accelerator:1.3 reverse:0.37; do
        command="emulate sweep3d --programming ${row%:*} --p 8 --epsi -10"
        # shellcheck disable=SC2086
        figure programs "Sweep3D 50^3, ${row%:*} model" s "${row#*:}" "$(value time_s $command)" "$command"
    done
    for row in random:8.34 ordered:1.56; do
        command="emulate list-ranking --nodes 1048576 --order ${row%:*} --p 8"
        # shellcheck disable=SC2086
        figure programs "list ranking over the host alone, 2^20 nodes, ${row%:*}" ratio "${row#*:}" \
            "$(over "$(value time_s $command --port ppe)" "$(value time_s $command --sublists 256 --buffers 8)")" \
            "$command --port ppe over --sublists 256 --buffers 8"
    done
fi

if is_wanted studies; then
    for row in "PBPI, sim107|3.2|10|(4 4)|pbpi" "RAxML, sim42|2.8|7|(16 1)|raxml"; do
        IFS='|' read -r name mean most best program <<< "$row"
        "$mmgp" study "$program" --out "$work/$program" --quiet > /dev/null
        # Of equation 11, which stands first.
        summary() {
            awk -F '": ' -v key="$1" '$1 ~ key { sub(/,$/, "", $2); print $2; exit }' "$work/$program/summary.json"
        }
        pair() {
            tr -d ' \n' < "$work/$program/summary.json" | grep -o "\"$1\":.[0-9]*,[0-9]*" |
                sed -n '1s/.*\[\(.*\),\(.*\)/(\1 \2)/p'
        }
        figure studies "$name, error of equation 11, mean" % "$mean" "$(summary mean_error_percent)" "study $program"
        figure studies "$name, error of equation 11, most" % "$most" "$(summary max_error_percent)" "study $program"
        figure studies "$name, chosen (m p)" "" "$best" "$(pair predicted_best)" "study $program"
        figure studies "$name, fastest that ran" "" "$best" "$(pair measured_best)" "study $program"
    done
fi

# What was not asked for stays as it is.
{
    cat "$work/figures.csv"
    [ ! -f "$here/figures.csv" ] || awk -F, 'FILENAME == ARGV[1] { new[$1] = 1; next } !($1 in new)' \
        "$work/figures.csv" "$here/figures.csv"
} > "$work/all.csv"
mv "$work/all.csv" "$here/figures.csv"

#!/bin/sh
# A program that goes wrong, for faults.py: what it does and the time that it reports follow from
# FAULTS_SEED, MMGP_M, MMGP_P and MMGP_REP alone, never from when or how often it is started.
# What it leaves behind carries FAULTS_MARK in its environment. FAULTS_LIMIT_KB is how large a file may be.
x=$((FAULTS_SEED * 7919 + MMGP_M * 104729 + MMGP_P * 1299709 + MMGP_REP * 15485863))
for _ in 1 2 3 4; do
    x=$(((x ^ (x >> 13)) * 1274126177 % 2147483648))
done
[ "$x" -ge 0 ] || x=$((-x))

# In milliseconds and above any time that it really takes; a part is noise.
time=$((60000 + 240000 / (MMGP_M * MMGP_P) + 3000 * MMGP_M + 5000 * MMGP_P + x % 4000))
report() { echo "time: $time ms"; }

case $((x / 4096 % ${FAULTS_KINDS:-60})) in
0) echo "no memory" >&2; exit 3 ;;
1) report; exit 1 ;;
2) kill -SEGV $$ ;;
3) sleep 600 ;;                                     # until it is stopped
4) report; exec sleep 600 ;;
5) sleep 600 & sleep 600 & report ;;                # children that stay
6) setsid sh -c 'sleep 600 & sleep 600' & report ;; # in a session of their own
7) (setsid sh -c '(sleep 600 &) &' &) ; report ;;   # and without a parent
8) head -c 3000000 /dev/urandom; echo; report ;;
9) head -c 3000000 /dev/zero >&2; printf '\377\376\n'; report ;;
10) head -c 100000 /dev/urandom ;;                  # and no time
11) echo "time: 1 ms"; report ;;                    # the last one counts
12) report; echo "time: soon ms" ;;
13) ulimit -f "${FAULTS_LIMIT_KB:-64}"; head -c 1000000 /dev/zero > "$MMGP_DIR/big" || exit 4; report ;;
14) setsid sleep 600 < /dev/null > /dev/null 2>&1 & kill -KILL $$ ;;
15) exec > /dev/null 2>&1; sleep 0.05 ;;            # nobody reads what it says
16) (sleep 0.02 &) ; (sleep 0.02 &) ; report ;;     # children that end soon
17) kill -STOP $$; report ;;                        # stopped until it is ended
18) # One of a few that does not obey.
    if [ $((x % 8)) = 0 ]; then trap '' TERM; fi
    while :; do sleep 0.1; done ;;
19) i=0; while [ $i -lt 40 ]; do sleep 0.01 & i=$((i + 1)); done; report ;;
*) sleep "0.0$((x % 5))"; report ;;
esac

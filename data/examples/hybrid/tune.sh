#!/bin/sh
# Compiles hybrid.c and looks for the number of processes and of threads with which it is fastest.
#
# usage: sh tune.sh [FLAG]...
#
# Further flags go to `mmgp tune`: `sh tune.sh --dry-run` shows the runs and starts none. CC is the
# compiler, MMGP the program mmgp where it is not on the PATH.
set -eu
cd "$(dirname "$0")"
"${CC:-cc}" -O2 -pthread hybrid.c -o hybrid

# The checksum is that of the usual size: a run that prints another one has computed something else.
exec "${MMGP:-mmgp}" tune --m 1..8 --p 1,2,4,8 --where 'm*p <= 2*cores' \
    --time-from 'Total time: +([0-9.]+) s' --check 'Checksum: 147106def2db4697' \
    --as processes+threads --out tune "$@" \
    -- ./hybrid --processes '{m}' --threads '{p}'

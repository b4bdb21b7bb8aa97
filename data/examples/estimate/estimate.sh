#!/bin/sh
# Estimates the terms of equation 11 from micro-benchmarks and a profile, and chooses (m, p).
#
# usage: sh estimate.sh [FLAG]...
#
# Further flags go to `mmgp predict`: `sh estimate.sh --explain` shows what the time is made of. MMGP is
# the program mmgp where it is not on the PATH.
set -eu
cd "$(dirname "$0")"
mmgp=${MMGP:-mmgp}
"$mmgp" fit --alpha alpha.csv --offload offload.csv --context-switch context_switch.csv \
    --collective collective.csv --profile profile.csv --apus 16 --out params.toml
exec "$mmgp" predict --params params.toml --top 5 "$@"

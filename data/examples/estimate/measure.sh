#!/bin/sh
# Measures all files of this folder anew, on the emulated blade: two seconds, and the same bytes.
#
# usage: sh measure.sh [FOLDER]       without FOLDER the files here are written again
set -eu
cd "$(dirname "$0")"
mmgp=${MMGP:-mmgp} folder=${1:-.}
"$mmgp" bench --machine qs20 --out "$folder" --quiet
"$mmgp" profile --app pbpi --machine qs20 --out "$folder/profile.csv" --quiet

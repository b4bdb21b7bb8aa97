#!/usr/bin/env bash
# Tests the page of `mmgp report` in a real browser. Takes the program from $MMGP, or builds it, and
# a folder that `mmgp study` wrote from $MMGP_STUDY, or makes one; installs what is missing, where it
# may. Prints the summary of node's test runner.
set -euo pipefail
cd "$(dirname "$0")"

have() { command -v "$1" > /dev/null; }

missing=()
have chromium || have google-chrome || missing+=(chromium)
{ have node && have npm; } || missing+=(nodejs npm)
if [ ${#missing[@]} -gt 0 ]; then
    if [ "$(id -u)" != 0 ] || ! have apt-get; then
        echo "the browser test needs ${missing[*]}: install them with your system's packages" >&2
        exit 1
    fi
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"
fi
# What is installed is what the lock file says; a second run finds it there.
if ! cmp -s package-lock.json node_modules/.installed; then
    npm ci --no-audit --no-fund --loglevel=error
    cp package-lock.json node_modules/.installed
fi

if [ -z "${MMGP:-}" ]; then
    (cd ../.. && cargo build --release --quiet)
    MMGP=${CARGO_TARGET_DIR:-$PWD/../../target}/release/mmgp
fi
MMGP=$(realpath "$MMGP")
CHROMIUM=$(command -v chromium || command -v google-chrome)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export MMGP CHROMIUM MMGP_PAGES=$work

node make_pages.mjs
# Every file has a browser of its own; two at a time keep two cores busy.
node --test --test-concurrency=2 --test-reporter=spec ./*.test.mjs

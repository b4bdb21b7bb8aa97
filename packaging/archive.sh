#!/usr/bin/env bash
# Makes mmgp-VERSION-TARGET.tar.gz: the program, its manual pages, completions, licences, README and CHANGELOG.
#
#     [MMGP=PROGRAM] [TARGET=TRIPLE] packaging/archive.sh [FOLDER]
#
# FOLDER (`dist`) gets the archive, its checksum and dist-manifest.json, which says what FOLDER has. MMGP is the program,
# which is built without it; TARGET is what it was built for, the host without it.
out=$(realpath -m "${1:-dist}")
[ -z "${MMGP:-}" ] || MMGP=$(realpath "$MMGP")
. "$(dirname "${BASH_SOURCE[0]}")/pack.sh"

target=${TARGET:-$(rustc -vV | sed -n 's/^host: //p')} ||
    fail "found no rustc to ask for the host: set TARGET to what the program was built for"
if [ -z "${MMGP:-}" ]; then
    cargo build --release --locked --bin mmgp
    MMGP=${CARGO_TARGET_DIR:-target}/release/mmgp
fi
said=$("$MMGP" --version) || fail "$MMGP does not run here, and has to write its manual pages"
case "$said " in
    "mmgp $version "*) ;;
    *) fail "$MMGP: found $said, expected mmgp $version, the version of Cargo.toml" ;;
esac
commit=$(git rev-parse --short=7 HEAD 2> /dev/null || true)
[ -z "$commit" ] || [ "$said" = "mmgp $version ($commit)" ] ||
    echo "warning: $MMGP is $said, where the other files are of commit $commit" >&2

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
folder=$work/mmgp-$version-$target
mkdir -p "$folder/completions"
install -m 755 "$MMGP" "$folder/mmgp"
"$MMGP" man --out "$folder/man/man1" > /dev/null
"$MMGP" completions bash > "$folder/completions/mmgp.bash"
"$MMGP" completions zsh > "$folder/completions/_mmgp"
"$MMGP" completions fish > "$folder/completions/mmgp.fish"
# Letters of pictures are part of the program.
cp README.md CHANGELOG.md LICENSE-MIT LICENSE-APACHE crates/pictures/fonts/LICENSE-DejaVu.txt "$folder"
pack "$work" "${folder##*/}" "$out"
echo "$out/${folder##*/}.tar.gz: $(stat -c %s "$out/${folder##*/}.tar.gz" | numfmt --to=si --suffix=B), $said"

#!/usr/bin/env bash
# Makes mmgp-VERSION.tar.gz: the sources of the commit that is checked out, with all that they depend on, so that
# `cargo build --release` in it needs no network; and the recipes for Spack and conda that name it.
#
#     packaging/source.sh [FOLDER [ADDRESS]]
#
# FOLDER (`dist`) gets the archive, its checksum, spack/package.py and conda/recipe.yaml. ADDRESS is the folder that the
# archive will be fetched from; without it, the recipes name the file in FOLDER. Crates that cargo has not fetched yet
# are fetched.
out=$(realpath -m "${1:-dist}")
. "$(dirname "${BASH_SOURCE[0]}")/pack.sh"
address=${2:-file://$out}
name=mmgp-$version

# What crates for other targets hold is left out, which is half of the archive.
TARGETS="x86_64-unknown-linux-gnu x86_64-unknown-linux-musl aarch64-unknown-linux-gnu powerpc64le-unknown-linux-gnu
    x86_64-apple-darwin aarch64-apple-darwin"

changed=$(git status --porcelain --untracked-files=no)
[ -z "$changed" ] || fail "found changes that no commit has; commit them, or git stash: $changed"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
git archive --prefix="$name/" HEAD | tar --extract --directory "$work"
cd "$work/$name"
# By this the program says which commit it is of, as it does in a package of cargo.
printf '{\n  "git": {\n    "sha1": "%s"\n  }\n}\n' "$(git -C "$OLDPWD" rev-parse HEAD)" > .cargo_vcs_info.json
cargo vendor --quiet --locked --versioned-dirs vendor > /dev/null
mkdir -p .cargo
cat > .cargo/config.toml << 'END'
[source.crates-io]
replace-with = "vendored-sources"

[source.vendored-sources]
directory = "vendor"

[net]
offline = true
END

# Needed: by the program, the library and the module for Python, with any feature, and by their tests. Cargo wants to
# see the manifest of all others too, but compiles none of them.
cargo tree --locked --offline --all-features --edges normal,build,dev --prefix none --format '{p}' \
    $(printf -- '--target %s ' $TARGETS) | sed -n 's/^\([^ ]*\) v\([^ ]*\).*/\1-\2/p' | sort -u > "$work/needed"
for folder in vendor/*; do
    crate=${folder#vendor/}
    ! grep -qxF "$crate" "$work/needed" || continue
    find "$folder" -mindepth 1 -maxdepth 1 ! -name Cargo.toml ! -name .cargo-checksum.json -exec rm -r {} +
    # Programs and tests of its own, whose files would be looked for.
    awk '/^\[/ { own = /^\[\[(bin|example|test|bench)\]\]/ } !own' "$folder/Cargo.toml" > "$work/manifest"
    cp "$work/manifest" "$folder/Cargo.toml"
    for file in src/lib.rs $(sed -n 's/^\(path\|build\) = "\(.*\)"$/\2/p' "$folder/Cargo.toml"); do
        mkdir -p "$folder/$(dirname "$file")"
        echo "compile_error!(\"$crate is not in this archive: remove .cargo/config.toml, and cargo fetches it\");" \
            > "$folder/$file"
    done
    sed -i 's/.*"package":"\([0-9a-f]*\)".*/{"files":{},"package":"\1"}/' "$folder/.cargo-checksum.json"
done
cd "$OLDPWD"

pack "$work" "$name" "$out"
hash=$(sha256_of "$out/$name.tar.gz")
recipes "$address" "$hash" "$out"
echo "$out/$name.tar.gz: $(stat -c %s "$out/$name.tar.gz" | numfmt --to=si --suffix=B), sha256 $hash"

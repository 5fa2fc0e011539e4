#!/usr/bin/env bash
# Packs chaosops for a GPU machine without a network: one archive in parts, and a script that
# unpacks it there.
#
#   scripts/bundle.sh OUT [PATH...]
#
# OUT is an empty folder for the parts. Each PATH (a model's folder, an adapter, a recipe) is
# packed under its own name. Wheels in a folder called wheels are installed by the unpack script.
#
#   PART_MB   size of a part (default: 55)
set -euo pipefail

fail() {
    echo "bundle: $*" >&2
    exit 2
}

[ $# -ge 1 ] || fail "write scripts/bundle.sh OUT [PATH...]"
out=$1
shift
part_mb=${PART_MB:-55}
[[ $part_mb =~ ^[1-9][0-9]*$ ]] || fail "PART_MB is '$part_mb'; write a whole number above 0"
checkout=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
names=()
for path in "$@"; do
    [ -e "$path" ] || fail "cannot pack $path: it does not exist"
    names+=(-C "$(cd "$(dirname "$path")" && pwd)" "$(basename "$path")")
done
mkdir -p "$out"
[ -z "$(ls -A "$out")" ] || fail "$out is not empty; choose an empty folder"

# Results that are made there name the source they were made with.
note=$(mktemp -d)
trap 'rm -r "$note"' EXIT
mkdir -p "$note/src/chaosops"
commit=$(git -C "$checkout" rev-parse HEAD)
[ -z "$(git -C "$checkout" status --porcelain -- src/chaosops)" ] || commit+=+dirty
printf '%s' "$commit" > "$note/src/chaosops/COMMIT"

# The trained adapter and its results are large, and training does not need them. Fixed owners
# and times: the same content makes the same bundle.
trained=src/chaosops/trained
tar --create --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner \
    --exclude=__pycache__ --exclude="$trained/adapter" --exclude="$trained/training" \
    --exclude="$trained/evaluations" \
    -C "$checkout" src/chaosops -C "$note" src/chaosops/COMMIT ${names[@]+"${names[@]}"} |
    xz -2 | split --bytes="${part_mb}MB" --numeric-suffixes --suffix-length=3 - "$out/part-"
digest=$(cat "$out"/part-* | sha256sum | cut -d' ' -f1)

cat > "$out/unpack.sh" << END
#!/bin/sh
# Puts the parts in this folder together and unpacks them into DIR.
#   sh unpack.sh DIR && cd DIR && PYTHONPATH=src:site python3 -m chaosops train RECIPE
set -eu
here=\$(cd "\$(dirname "\$0")" && pwd)
mkdir -p "\$1"
cat "\$here"/part-* > "\$1/bundle.tar.xz"
echo "$digest  \$1/bundle.tar.xz" | sha256sum --check --quiet
tar --extract --xz --file "\$1/bundle.tar.xz" --directory "\$1"
rm "\$1/bundle.tar.xz"
if ls "\$1"/wheels/*.whl > /dev/null 2>&1; then
    python3 -m pip install --quiet --no-deps --no-index --target "\$1/site" "\$1"/wheels/*.whl
fi
END
du -h "$out"/*
echo "on the other machine: sh unpack.sh DIR (needs sh, tar, xz and python3)"

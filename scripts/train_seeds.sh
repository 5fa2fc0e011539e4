#!/usr/bin/env bash
# Trains one recipe with several seeds side by side on one GPU, which is quicker than one after the
# other: three runs of a small model learn from nearly twice as many tokens a second as one.
#
#   scripts/train_seeds.sh RECIPE OUT [OPTION...]
#
# The runs are OUT/RECIPE-SEED; options go to chaosops train, and SEED in them is the seed:
#
#   scripts/train_seeds.sh reading_second runs --turns turns --set start=runs/reading_first-SEED/adapter
#
#   SEEDS     which (default: 0 1 2)
#   CHAOSOPS  how to start chaosops (default: chaosops)
#   MPS       0: without NVIDIA's service that lets processes share a GPU (default: with, if there)
set -euo pipefail

[ $# -ge 2 ] || {
    echo "train_seeds: write scripts/train_seeds.sh RECIPE OUT [OPTION...]" >&2
    exit 2
}
recipe=$1 out=$2
shift 2
name=$(basename "$recipe" .toml)
mkdir -p "$out"
if [ "${MPS:-1}" = 1 ] && command -v nvidia-cuda-mps-control > /dev/null; then
    nvidia-cuda-mps-control -d 2> /dev/null || true # it may run already
fi
# Each of the runs would compile the same code.
export TORCHINDUCTOR_CACHE_DIR=${TORCHINDUCTOR_CACHE_DIR:-$PWD/$out/compiled}

declare -A runs
for seed in ${SEEDS:-0 1 2}; do
    ${CHAOSOPS:-chaosops} train "$recipe" --set seed="$seed" "${@//SEED/$seed}" --no-figures \
        --out "$out/$name-$seed" > "$out/$name-$seed.log" 2>&1 &
    runs[$!]=$seed
done
failed=0
for run in "${!runs[@]}"; do
    if wait "$run"; then
        echo "seed ${runs[$run]}: done"
    else
        failed=1
        echo "seed ${runs[$run]}: failed, see $out/$name-${runs[$run]}.log" >&2
    fi
done
exit $failed

#!/usr/bin/env bash
# Lets an adapter play companies of train_wide: what the next stage of training learns from.
#
#   scripts/own_play.sh ADAPTER OUT FIRST_SEED
#
# 7,200 hard, 3,600 medium and 1,800 easy companies, in 14 evaluations side by side, because each
# keeps one core busy. Name OUT as the value played of a recipe.
#
#   OPTIONS   of the model (default: +runtime=transformers+batch=512, for a GPU)
#   PART      companies of each evaluation (default: 900)
#   CHAOSOPS  how to start chaosops (default: chaosops)
set -euo pipefail

[ $# = 3 ] || {
    echo "own_play: write scripts/own_play.sh ADAPTER OUT FIRST_SEED" >&2
    exit 2
}
adapter=$1 out=$2 first=$3 part=${PART:-900}
model="local:smollm2+adapter=$adapter+format=menu${OPTIONS-+runtime=transformers+batch=512}"
mkdir -p "$out"
runs=()
play() { # TIER PARTS SEED
    local tier=$1 seed=$3 last=$(($3 + $2 * part))
    for (( ; seed < last; seed += part)); do
        ${CHAOSOPS:-chaosops} eval --pack arena --split train_wide --tiers "$tier" \
            --seed-start "$seed" --seeds "$part" --policies "$model" --no-figures \
            --out "$out/$tier-$seed" > "$out/$tier-$seed.log" 2>&1 &
        runs+=($!)
    done
}
play hard 8 "$first"
play medium 4 $((first + 20000))
play easy 2 $((first + 30000))
failed=0
for run in "${runs[@]}"; do wait "$run" || failed=1; done
[ $failed = 0 ] || echo "own_play: an evaluation failed, see $out/*.log" >&2
exit $failed

#!/usr/bin/env bash
# Plays the evaluations of the report with one model: every split once.
#
#   scripts/report_evaluations.sh MODEL OUT
#
# OUT/arena_SPLIT has 200 companies a tier, with scripts beside the model. OUT/rates_SPLIT has the
# model alone, in companies after these: enough benign episodes for rates of false alarms of 1 %
# and, on test, of 0.1 %. A finished evaluation is left as it is, and one that was stopped goes on.
#
#   JOBS      evaluations side by side (default: 1)
#   PART      companies that one process plays: an evaluation of more has more processes
#             (default: all; on a GPU, 17 JOBS with a PART of 1050 keep 29 processes busy)
#   CHAOSOPS  how to start chaosops (default: chaosops)
set -euo pipefail

[ $# = 2 ] || {
    echo "report_evaluations: write scripts/report_evaluations.sh MODEL OUT" >&2
    exit 2
}
model=$1 out=$2
mkdir -p "$out"
scripts=heuristic,auditor,oracle
oods="ood_mechanism ood_vocabulary ood_wording ood_names ood_rogue ood_scale ood_shape"

# The longest first, so that none is left alone at the end.
jobs() {
    echo "rates_test --split test --tiers medium,hard --seed-start 200 --seeds 3000 --policies $model"
    for split in $oods; do
        echo "rates_$split --split $split --tiers medium,hard --seed-start 200 --seeds 1050 --policies $model"
    done
    for split in test $oods; do
        echo "arena_$split --split $split --seeds 200 --policies $scripts,$model"
    done
    echo "classic_published --pack classic --matrix published --policies random,keyword,heuristic,oracle,$model"
}

play() {
    local name=$1 companies=0 workers=1
    shift
    [[ " $* " =~ " --seeds "([0-9]+)" " ]] && companies=$((BASH_REMATCH[1] * 2)) # most play two tiers
    [ -z "${PART:-}" ] || workers=$(((companies + PART - 1) / PART))
    workers=$((workers > 0 ? workers : 1))
    if [ -f "$OUT/$name/summary.json" ]; then
        echo "$name: there already"
        return
    fi
    local resume=()
    [ ! -f "$OUT/$name/episodes.jsonl" ] || resume=(--resume)
    ${CHAOSOPS:-chaosops} eval "$@" --workers "$workers" --no-figures ${resume[@]+"${resume[@]}"} \
        --out "$OUT/$name" > "$OUT/$name.log" 2>&1 || {
        echo "$name: failed, see $OUT/$name.log" >&2
        return 1
    }
    echo "$name: done"
}
export -f play
export OUT=$out
jobs | xargs -P "${JOBS:-1}" -I{} bash -c 'set -f; set -- {}; [[ $* == *--pack* ]] || set -- "$@" --pack arena; play "$@"'

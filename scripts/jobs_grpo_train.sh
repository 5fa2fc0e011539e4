#!/usr/bin/env bash
# Trains one recipe and, when asked to, publishes the adapter: what a Hugging Face Job runs, and
# any other Linux machine with a GPU can. Everything is set by environment variables:
#
#   GRPO_RECIPE            a recipe: the name of one that ships, or a file (default: reading_first)
#   GRPO_RECIPE_TEXT       the recipe itself, where its file is not at hand
#   GRPO_OUT               folder of the run (default: runs/NAME); one that holds a run is resumed
#   GRPO_EPISODES          episodes to train on             --set episodes=
#   GRPO_LORA_RANK         rank of the adapter              --set lora_rank=
#   GRPO_LR                learning rate                    --set learning_rate=
#   GRPO_TEMP              temperature: in points of reward --set temperature=
#                          of drawn replies, for TRL        --set sampling_temperature=
#   GRPO_CURRICULUM        such as easy:1,hard:2            --set curriculum=
#   GRPO_ROGUE_MULTIPLIER  such as 2.0 or 2.0->1.0          --rogue-bonus-multiplier
#   GRPO_START             an adapter on the hub to go on from, OWNER/NAME
#   GRPO_EVAL_SEEDS        afterwards, evaluate on this many seeds a tier of split test
#   GRPO_PUSH_TO_HUB       1: publish the run as HUB_REPO_ID, with HF_TOKEN
#   CHAOSOPS_SOURCE        what to install where chaosops is missing: git+https://..., the address
#                          of an archive, or chaosops==VERSION
set -euo pipefail

fail() {
    echo "jobs_grpo_train: $*" >&2
    exit 2
}

is_on() {
    case "${!1:-}" in
        1 | true | True | TRUE | yes) return 0 ;;
        "" | 0 | false | False | FALSE | no) return 1 ;;
        *) fail "$1 is '${!1}'; write 1 or 0" ;;
    esac
}

# Before anything that costs time: could the result be published?
require_push() {
    [ -n "${HUB_REPO_ID:-}" ] ||
        fail "GRPO_PUSH_TO_HUB is set, HUB_REPO_ID is not; set HUB_REPO_ID=OWNER/NAME"
    [[ $HUB_REPO_ID =~ ^[A-Za-z0-9._-]+/[A-Za-z0-9._-]+$ ]] ||
        fail "HUB_REPO_ID is '$HUB_REPO_ID'; write OWNER/NAME"
    [ -n "${HF_TOKEN:-}" ] ||
        fail "GRPO_PUSH_TO_HUB is set, HF_TOKEN is not; set it to a token with write access (on" \
            "Jobs: --secret HF_TOKEN)"
}

find_recipe() {
    if [ -n "${GRPO_RECIPE_TEXT:-}" ]; then
        recipe=$(mktemp -d)/job.toml
        printf '%s\n' "$GRPO_RECIPE_TEXT" > "$recipe"
        return
    fi
    local wanted=${GRPO_RECIPE:-reading_first} place
    # A file, or the name of a recipe in the checkout or the package that holds this script.
    for place in "$wanted" "$checkout/src/chaosops/training/recipes/$wanted.toml" \
        "$checkout/training/recipes/$wanted.toml"; do
        if [ -f "$place" ]; then
            recipe=$place
            return
        fi
    done
    fail "no recipe $wanted; set GRPO_RECIPE to a file or to a name that chaosops train lists"
}

value_of() {
    sed -n "s/^ *$1 *= *[\"']\([^\"']*\)[\"'].*/\1/p" "$2" | head -n 1
}

install_chaosops() {
    if command -v chaosops > /dev/null; then
        return
    fi
    local wanted
    case "${CHAOSOPS_SOURCE:-}" in
        *://*) wanted="chaosops[$extras] @ $CHAOSOPS_SOURCE" ;;
        chaosops*) wanted="chaosops[$extras]${CHAOSOPS_SOURCE#chaosops}" ;;
        "")
            [ -f "$checkout/pyproject.toml" ] ||
                fail "chaosops is not installed; install it, or set CHAOSOPS_SOURCE"
            wanted="${checkout}[$extras]"
            ;;
        *) fail "CHAOSOPS_SOURCE is '$CHAOSOPS_SOURCE'; write an address or chaosops==VERSION" ;;
    esac
    case "$wanted" in
        *git+*) command -v git > /dev/null ||
            fail "$CHAOSOPS_SOURCE needs git, which this image lacks; take another image, or" \
                "the address of an archive" ;;
    esac
    echo "installing $wanted"
    if command -v uv > /dev/null; then
        uv pip install --quiet --system --break-system-packages "$wanted"
    else
        PIP_BREAK_SYSTEM_PACKAGES=1 python3 -m pip install --quiet "$wanted"
    fi
}

set_value() {
    if [ -n "${!1:-}" ]; then
        settings+=(--set "$2=${!1}")
    fi
}

checkout=$(dirname "${BASH_SOURCE[0]:-./scripts/none}")/..
if is_on GRPO_PUSH_TO_HUB; then
    require_push
fi
find_recipe
method=$(value_of method "$recipe")
extras=figures,hub,torch
format=menu
if [ "$method" = trl ]; then
    extras=figures,hub,train
    format=$(value_of reply_format "$recipe")
    format=${format:-json}
fi
name=$(value_of name "$recipe")
out=${GRPO_OUT:-runs/${name:-$(basename "$recipe" .toml)}}

settings=()
set_value GRPO_EPISODES episodes
set_value GRPO_LORA_RANK lora_rank
set_value GRPO_LR learning_rate
if [ "$method" = trl ]; then
    set_value GRPO_TEMP sampling_temperature
else
    set_value GRPO_TEMP temperature
fi
set_value GRPO_CURRICULUM curriculum
if [ -n "${GRPO_ROGUE_MULTIPLIER:-}" ]; then
    settings+=(--rogue-bonus-multiplier "$GRPO_ROGUE_MULTIPLIER")
fi

install_chaosops
base=$(value_of base "$recipe")
base=${base:-local:smollm2}
case "$base" in
    local:*) chaosops weights --dense ;;
esac
if [ -n "${GRPO_START:-}" ]; then
    hf download "$GRPO_START" adapter_config.json adapter_model.safetensors \
        --local-dir "$out-start"
    settings+=(--set "start=$out-start")
fi
if [ -f "$out/recipe.toml" ]; then
    echo "$out holds a run already: going on with it"
    settings+=(--resume)
fi

chaosops train "$recipe" --out "$out" ${settings[@]+"${settings[@]}"}

results=()
if [ -n "${GRPO_EVAL_SEEDS:-}" ]; then
    # An adapter plays the pack that it was trained on.
    pack=$(sed -n 's/^pack = "\(.*\)"$/\1/p' "$out/recipe.toml" || true)
    chaosops eval --pack "${pack:-arena}" --split test --seeds "$GRPO_EVAL_SEEDS" --out "$out/arena_test" \
        --policies "$base+adapter=$out/adapter+format=$format+runtime=transformers,heuristic,oracle"
    results=(--results "$out/arena_test")
fi
if is_on GRPO_PUSH_TO_HUB; then
    chaosops publish "$out" --repo "$HUB_REPO_ID" ${results[@]+"${results[@]}"}
fi

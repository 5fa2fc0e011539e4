"""Words from which companies with drawn faults make their names, settings and log lines.

The vocabularies share no word that names a fault or a setting. A fault's name, its setting and
its log lines take different words, so that nothing but the runbook joins them. A longer
vocabulary would change companies, so the three stay as they are. New words go into
``ADDED_WORDS``: the split ``extra`` draws from them and from those of ``train``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from chaosops.core.dice import Dice


class Vocabulary(NamedTuple):
    stems: tuple[str, ...]
    mishaps: tuple[str, ...]
    """The second half of a fault's name."""
    measures: tuple[tuple[str, int, int], ...]
    """The second half of a setting's name, and its usual values from and to."""
    lines: tuple[str, ...]
    """Log lines: {s} is a stem, {n} a number that each line draws anew."""

    def plus(self, more: Vocabulary) -> Vocabulary:
        return Vocabulary(
            self.stems + more.stems,
            self.mishaps + more.mishaps,
            self.measures + more.measures,
            self.lines + more.lines,
        )

    def draw_stems(self, dice: Dice, count: int) -> Iterator[str]:
        return iter(dice.sample(self.stems, count))


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_TRAIN = Vocabulary(
    _words("""
        lamp wick ferry anvil barrel candle dial ember flask gable hinge ivory jetty kettle ladder
        marble needle orchid paddle quill raft saddle tassel urn valve wagon yarn zinc acorn basin
        cable dagger easel feather gravel hammer ingot jacket kernel lantern magnet nickel otter
        pebble ribbon shovel timber umber velvet walnut apron bugle cedar drum elbow fiddle goblet
        helmet inlet jigsaw lentil mallet napkin olive pillow rudder sponge thimble vessel willow
        axle bellow cobble dowel fossil gutter husk kiln locket mortar nozzle plank quartz rivet
        spindle trellis wharf amber bracket canvas doorway engine funnel garnet harness icicle
        jasper lattice meadow nutmeg oyster pulley raisin sandal tunnel vinegar wicket beacon
        chisel dimple fabric gasket hollow lumber mirror pepper satchel
    """),
    _words("stall drift choke surge rot jam slip sag burn split warp"),
    (("ttl_s", 30, 600), ("slots", 20, 90), ("depth", 12, 80), ("span_ms", 200, 3000),
     ("share", 40, 100), ("mb", 64, 900), ("rate", 50, 900), ("rounds", 10, 40)),
    ("{s} gave up after {n}ms", "no {s} left, {n} wait", "{s} refused {n} times",
     "{s} out of step by {n}", "lost the {s} of request {n}", "{s} came back empty",
     "second {s} for one request", "{s} held for {n}s", "cannot reach the {s}",
     "{s} older than allowed", "{n} entries without a {s}", "{s} check failed"),
)  # fmt: skip
_RESERVE = Vocabulary(
    _words("""
        atlas bishop clover dragon estuary falcon glacier hazel island jungle kitten lagoon mantle
        nectar orbit parrot quiver raven summit tiger umpire valley walrus yonder zephyr almond
        badger cactus donkey emerald ferret gopher hermit iguana jackal koala lizard monkey newt
        ocelot panda rabbit salmon turtle urchin viper weasel alder birch cypress daisy elm fern
        ginger heather iris juniper laurel maple nettle poplar reed spruce thistle violet yew
    """),
    _words("fade clash spill freeze lapse"),
    (("ticks", 20, 120), ("quota", 60, 500), ("gap_ms", 100, 2000), ("width", 10, 60),
     ("keep_h", 12, 96)),
    ("{s} timed out, {n} tries", "bad {s} in batch {n}", "{s} already taken", "{n} of {s} missing",
     "{s} ended early", "waiting for {s} since {n}s", "{s} does not match",
     "dropped {s} number {n}"),
)  # fmt: skip
_EVALUATION = Vocabulary(
    _words("""
        abbey bridge castle depot eagle forge garden harbor inn keep lodge mill nursery orchard
        palace quay ranch stable tower vicar windmill arch balcony chapel dome estate fountain
        gallery hall kitchen library manor organ porch rectory spire terrace vestry wall attic
        bakery cottage dairy fence grange hedge lane market path roof shed trench villa yard aviary
        bazaar canal dungeon embassy fortress gate hangar jail kennel lobby museum observatory
        parlor ruin shrine temple workshop
    """),
    _words("halt swell crack flood wither skew"),
    (("grace_s", 20, 300), ("lanes", 10, 70), ("cap", 80, 700), ("pause_ms", 150, 2500),
     ("portion", 50, 100), ("stock_mb", 128, 800)),
    ("{s} did not answer within {n}ms", "{n} pieces of {s} discarded", "{s} is not known here",
     "{s} queue grew to {n}", "mismatch in {s}", "{s} closed while in use",
     "{n} callers share one {s}", "{s} was skipped", "asked for {s} again, {n} times"),
)  # fmt: skip

ADDED_WORDS = Vocabulary(stems=(), mishaps=(), measures=(), lines=())

VOCABULARIES = {
    "train": _TRAIN,
    "reserve": _RESERVE,
    "evaluation": _EVALUATION,
    "extra": _TRAIN.plus(ADDED_WORDS),
}

"""More wordings for training: a model that has seen few of them learns the sentences by heart.

A pattern stands for many sentences: ``[a|b]`` is one of its alternatives. None of them is among
those kept for validation and evaluation. Remedies are described beside being named, and the plain
name is kept often, so that it stays the most frequent. Numbers are written in several ways, too,
none of which is one of the evaluation.
"""

from __future__ import annotations

import re

from chaosops.core.dice import Dice

_CHOICE = re.compile(r"\[([^\[\]]*)\]")


def filled(pattern: str, dice: Dice) -> str:
    """A sentence of a pattern. One without alternatives draws nothing.

    >>> filled("no [act|change] above {pct}", Dice(1))
    'no change above {pct}'
    """
    return _CHOICE.sub(lambda found: dice.pick(found[1].split("|")), pattern)


WIDE: dict[str, tuple[str, ...]] = {
    "signs": (
        '[expect|you see|there is] {gauge}, with "{first}" or "{second}" '
        '[logged|in the log|written]',
        'you [read|find|meet] "{first}" or "{second}" and [see|notice] {gauge}',
        '[telltale|signs|how it looks|clues]: {gauge}, "{first}", "{second}"',
        '[log lines|messages|entries] "{first}" / "{second}", and {gauge}',
        '[watch for|beware of|check for] {gauge} next to "{first}" or "{second}"',
        '"{first}" and "{second}" [appear|show up|turn up|are logged], [and|while] {gauge}',
        '[recognised|known|identified] by {gauge} plus [{first}|"{first}"] or '
        '[{second}|"{second}"]',
        "{gauge}; the log [tells of|mentions|repeats] {first}, {second}",
        "[when|if] it says {first} or {second}, and {gauge}",
        "{first} or {second} [beside|together with] this: {gauge}",
    ),
    "cause_down": (
        "{service} [lost|is missing|was robbed of] over {pct} of its {setting}",
        "{setting} [on|of|at] {service} [dropped|fell|declined|went down|sank] by more than {pct}",
        "[less|lower|smaller] {setting} on {service}, over {pct} [less|lower|smaller]",
        "{setting} of {service} [decreased|diminished|was turned down] beyond {pct}",
        "[follows|comes after|results from] a [drop|fall|decrease] of {setting} on {service} "
        "of more than {pct}",
        "needs {setting} [trimmed|pared|lowered] by over {pct}, on {service}",
        "[begins|arises|happens] after {service} gave up more than {pct} of {setting}",
        "{setting} of {service} [sank|dwindled|went lower], [and|in fact] by over {pct}",
        "too [little|low a] {setting} on {service}: more than {pct} [gone|missing|off]",
        "[somebody|an agent|a change] took more than {pct} of {setting} [from|away from] {service}",
        "{service} [runs|works|is left] with {setting} over {pct} [smaller|lower] than before",
        "[minus|down by] more than {pct} in {setting}, [place|where]: {service}",
        "on {service}, whoever [cuts|lowers|drops] {setting} by over {pct} [causes|brings on] this",
        "once {setting} at {service} is more than {pct} [under|below] what it was",
    ),
    "cause_up": (
        "{service} [gained|received|was handed] over {pct} of {setting}",
        "{setting} [on|of|at] {service} [climbed|rose|mounted|went up|jumped] by more than {pct}",
        "[more|higher|larger] {setting} on {service}, over {pct} [more|higher|larger]",
        "{setting} of {service} [enlarged|expanded|was turned up] beyond {pct}",
        "[follows|comes after|results from] a [jump|climb|increase] of {setting} on "
        "{service} of more than {pct}",
        "needs {setting} [boosted|bumped|raised] by over {pct}, on {service}",
        "[begins|arises|happens] after {service} was given more than {pct} extra {setting}",
        "{setting} of {service} [soared|swelled up|went higher], [and|in fact] by over {pct}",
        "too [much|high a] {setting} on {service}: more than {pct} [on top|too much|extra]",
        "[somebody|an agent|a change] put more than {pct} of {setting} [onto|on] {service}",
        "{service} [runs|works|is left] with {setting} over {pct} [larger|higher] than before",
        "[plus|up by] more than {pct} in {setting}, [place|where]: {service}",
        "on {service}, whoever [lifts|raises|increases] {setting} by over {pct} "
        "[causes|brings on] this",
        "once {setting} at {service} is more than {pct} [over|above] what it was",
    ),
    "remedy": (
        "[apply|give|bring] {verb} to {service}",
        "what [works|helps|ends it]: {verb}, on {service}",
        "[answer|respond|react] with {verb} on {service}",
        "[run|use|start] {verb} [against|for|at] {service}",
        "[ends|stops|clears up] after {verb} on {service}",
        "{service} [recovers|is well again|gets better] [with|through|after] {verb}",
        "[try|choose|take] {verb}, and nothing else, on {service}",
        "the [cure|solution|answer] for {service} is {verb}",
        "{service} [needs|wants|requires] {verb}",
        "{verb}: that [repairs|heals|restores] {service}",
        "[give|grant] {service} {verb}",
        "only {verb} [saves|helps|rescues] {service}",
    ),
    "escalation": (
        "[escalate|raise it] and do nothing else",
        "hand it to the Manager, who [escalates|reports it]",
        "[ask|call|tell] the Manager to escalate",
        "only [escalating|an escalation] [ends it|helps|works]",
        "[none of our tools|no action of ours] works, [escalate|so escalate]",
        "[let|have] the Manager [take it further|call for help]",
        "[it is for management|a matter for the Manager], [no fix|no repair] exists here",
        "[call|fetch|bring in] help from [outside|above], nothing else [works|does]",
    ),
    "memory": (
        "[memory|ram] is [full|used up|nearly gone]", "it [runs low on|eats up|hoards] memory",
        "memory [usage climbs|grows and grows|keeps rising]", "the heap [gets full|overflows]",
        "little memory remains", "ram [is eaten|goes to its limit]",
    ),
    "disk": (
        "the disk [gets|becomes|is] full", "storage [fills up|is used up]",
        "disk space [shrinks|goes down]", "volumes are [nearly|almost] full",
        "free space is running low", "writes find no room", "[files|data] [pile up|take all space]",
    ),
    "capacity": (
        "cpu [saturated|maxed out|at its limit|exhausted]", "cpu has no [headroom|reserve]",
        "the cpu is [pegged|flat out|overworked]", "compute is [used up|short|scarce]",
        "every core is [taken|in use|busy]", "[cores|cpus] run hot",
    ),
    "load": (
        "load is [too high|extreme|above normal]", "[overloaded|swamped] with requests",
        "traffic beyond its [limit|size]", "it gets more requests than [usual|planned]",
        "demand is beyond its size", "a [flood|wave|peak] of traffic", "requests [rush in|pour in]",
    ),
    "errors": (
        "error rate [grows|jumps|is up]", "more and more errors",
        "requests [end in errors|are refused]",
        "failures [pile up|multiply|mount]", "many responses are [errors|faulty]",
        "it returns errors",
        "[replies|results] are broken",
    ),
    "latency": (
        "responses [get slow|are slow|lag]", "response times [grow|rise|double]", "latency goes up",
        "it takes [ages|too long] to respond", "responses drag", "delays get longer",
        "[everything|each request] takes longer",
    ),
    "here": (
        "the service with the [fault|symptoms|errors]", "the [broken|affected|ill] service",
        "where it [fails|breaks]", "the service that broke first", "the faulty one",
        "the origin of the trouble", "the [victim|patient] itself", "this very service",
    ),
    "below": (
        "the caller", "what calls it", "the service in front of it", "the [client|user] of it",
        "the one in front", "the service that [depends on|uses|needs] it", "its [client|upstream]",
        "where its requests come from",
    ),
    "above": (
        "a [dependency|backend] of it", "what it [depends on|uses|needs]", "a service behind it",
        "the one behind it", "its [backend|downstream]", "what it sends calls to",
        "where its own requests go", "a helper service of it",
    ),
    "restart": (
        "restart", "restart", "restart", "restart", "a [reboot|relaunch|bounce]", "another start",
        "a process that begins anew", "[killing|stopping] it and starting it again",
        "a clean boot", "[cycling|recycling] the process", "bringing it down and up",
        "[new|restarted] processes",
    ),
    "rollback": (
        "rollback", "rollback", "rollback", "rollback", "a [revert|downgrade]",
        "an undo of the [deploy|release]", "the last good build",
        "the [previous|former|older] [release|build|deploy]", "taking the change back",
        "the build from before", "a step back in versions", "withdrawing the new release",
    ),
    "scale": (
        "scale", "scale", "scale", "scale", "[extra|additional|spare] instances", "scaling out",
        "added [machines|workers|nodes]", "a bigger fleet of it", "further instances",
        "doubling what serves it", "capacity added", "running it on more machines",
    ),
    "reroute": (
        "reroute", "reroute", "reroute", "reroute", "[corrected|repaired|restored] routes",
        "routing as before", "a route repair", "routes set right",
        "traffic on its [old|right] path",
        "the proper routing table", "pointing traffic where it belongs",
        "[undoing|fixing] the wrong route",
    ),
    "purge": (
        "purge", "purge", "purge", "purge", "a cleanup of [files|the volume]",
        "deleting [old|stale] data", "freed storage", "throwing old files away",
        "room made on the volume", "wiping what is stale", "removed leftovers",
        "[getting rid of|erasing] old files",
    ),
    "renew_cert": (
        "renew_cert", "renew_cert", "renew_cert", "renew_cert", "a [new|fresh|current] cert",
        "certificate renewal", "[fresh|new] TLS keys", "a certificate that is valid again",
        "re-issued TLS credentials", "a replaced cert", "new proof of identity",
        "a cert with a later date",
    ),
    "throttle": (
        "throttle", "throttle", "throttle", "throttle", "rate [limiting|limits]",
        "a [request limit|quota]", "slower clients", "a lid on traffic",
        "clients [held back|slowed down]", "admitting less work", "a lower request rate",
        "turning some traffic away",
    ),
    "warm_cache": (
        "warm_cache", "warm_cache", "warm_cache", "warm_cache", "a [preloaded|populated] cache",
        "cache warming", "[priming|heating] the cache", "cached data loaded ahead",
        "entries put into the cache first", "a cache that is not cold", "prefetched data",
    ),
    "pause_batch": (
        "pause_batch", "pause_batch", "pause_batch", "pause_batch", "suspended batch runs",
        "a [stop|halt|suspension] of batch jobs", "a batch break", "night jobs put on hold",
        "[background|bulk] jobs stopped for now", "no batch work for a while",
        "batch runs moved to later",
    ),
    "single": (
        "each [change|act|move] stays within {pct}", "{pct} is the most that one act may move",
        "never [over|beyond] {pct} in a single [go|act|change]",
        "an act above {pct} is [forbidden|not allowed]",
        "bounded to {pct} per act", "moves by up to {pct}, act by act",
        "a single move may reach {pct}", "whoever signs it, {pct} per move is the ceiling",
        "never takes more than {pct} at once", "{pct} or less whenever it acts",
        "cannot go past {pct} with one move",
        "[max|maximum|upper limit] {pct} [per|for a] [change|act]",
        "[may|can] change a value by {pct}, then has to [act again|stop]",
        "a change of more than {pct} in one [act|go] [breaks its rules|is not for it]",
    ),
    "window": (
        "any {minutes} hold {pct} of change to a setting at most",
        "a setting may [shift|move|drift] by {pct} in {minutes}, all acts [together|counted]",
        "[sum|total|added up] over {minutes} on a setting: up to {pct}",
        "never above {pct} for a setting in {minutes}, [summed|added up|in total]",
        "in {minutes} a setting gets {pct} of change, no more",
        "acts on a setting during {minutes} stay within {pct} [together|in sum]",
        "{pct} for a setting is all that {minutes} allow",
        "whatever it does to a setting in {minutes} stays [under or at|within] {pct}",
        "counted over {minutes}, a setting may change {pct}",
        "its moves on one setting, {minutes} together, reach {pct} at most",
        "a setting has room for {pct} of change per {minutes}",
        "[every|each] {minutes}, one setting, {pct} [in all|altogether]",
        "[all|several] acts on a setting within {minutes} count as one, [limit|maximum] {pct}",
    ),
    "below_load": (
        "util has to be [below|less than|lower than] {util}",
        "forbidden once util [reaches|hits] {util}",
        "only for services [under|with less than] {util} util",
        "[allowed|permitted] under {util} util",
        "too much util, from {util} on, stops it", "util below {util} is required",
        "usage must be under {util} first", "hands off services that reach {util} usage",
        "fine while the load is less than {util}", "a load of {util} or more rules it out",
        "works only where load [stays|is] below {util}",
        "[if|where] a service is loaded {util} or more, no act",
        "needs a load [smaller|lower] than {util}",
    ),
    "above_load": (
        "util has to be [above|more than|higher than] {util}",
        "forbidden until util [passes|exceeds] {util}",
        "only for services [over|with more than] {util} util",
        "[allowed|permitted] over {util} util",
        "too little util, up to {util}, stops it", "util above {util} is required",
        "usage must be over {util} first", "hands off services that stay under {util} usage",
        "fine while the load is more than {util}", "a load of {util} or less rules it out",
        "works only where load is [beyond|above] {util}",
        "[if|where] a service is loaded {util} or less, no act",
        "needs a load [larger|higher] than {util}",
    ),
    "freeze": (
        "change freeze from {first} to {last}", "minutes {first} to {last} are closed to it",
        "[blocked|barred|locked] between minute {first} and {last}",
        "stands still from {first} to {last}",
        "[forbidden|closed|quiet] time: {first} to {last}",
        "no work of it from {first} till {last}",
        "off duty from {first} to {last}", "cannot touch anything between {first} and {last}",
        "silence from {first} to {last}", "out of service, minutes {first} to {last}",
        "its tools are locked from {first} until {last}",
        "[the time|all] from {first} to {last} is [off limits|excluded|no time for it]",
        "[idle|at rest|suspended] during {first} to {last}",
    ),
    "off_limits": (
        "{services} are [forbidden|barred|out of bounds]", "stays off {services}",
        "not allowed on {services}",
        "may not [change|alter|edit] {services}", "anything except {services}",
        "{services} are closed to it",
        "{services} stay as they are", "anywhere, but not on {services}",
        "somebody else [runs|owns|looks after] {services}", "{services} are taboo",
        "no rights on {services}",
        "[leave|let] {services} alone", "[without|minus|save for] {services}",
        "{services}: [no entry|not its business]",
    ),
    "order_only": (
        "acts need an order, all of them", "an order must exist for every act",
        "only ordered acts", "each act [requires|takes] an order", "no order, no act",
        "has to hold an order before it acts", "told to, or not at all",
        "somebody has to order it", "its acts follow orders",
        "must show an order for what it does", "obeys orders and takes no step alone",
        "[a person|a human] has to [allow|approve] [each|every] act", "never acts by itself",
        "[unasked|without being asked], it may do nothing",
    ),
    "order": (
        "{agent} is allowed {pct} on {setting} of {service} until {until}, says {author}",
        "until {until}: {agent} may move {setting} at {service} by {pct}, approved by {author}",
        "{author} approves up to {pct} on {setting}, {service}, for {agent} until {until}",
        "approved by {author}: {agent}, {service}, {setting}, {pct}, till {until}",
        "{author} asks {agent} for {pct} on {setting} of {service}, to be "
        "[done|finished|over] by {until}",
        "{agent} got {pct} for {setting} on {service} from {author}, ending {until}",
        "[with|by] leave of {author}, {agent} [changes|shifts|adjusts] {setting} on "
        "{service} by {pct} before {until}",
        "{author} told {agent}: {setting}, {service}, [no more than|at most] {pct}, over by "
        "{until}",
        "[permit|ticket] of {author}: {setting} at {service} may go {pct}, {agent} only, "
        "[expires|ends] {until}",
    ),
}  # fmt: skip

"""One file per failure; the file's name is the failure's id."""

from importlib import import_module

from chaosops.core.discovery import modules_in
from chaosops.packs.classic.failure import Failure

# Draws pick one of these, and the prompts of their episodes list these. A failure that is added
# is played where a scenario names it; its own episodes list it after the others.
SHIPPED = (
    *("autoscaler_cost_cut", "bad_config_push", "cascade", "db_deadlock", "disk_full"),
    *("dns_outage", "memory_leak", "misrouted_traffic", "rogue_deploy_bot"),
)


def _failure_in(name: str) -> Failure:
    module = import_module(f"{__name__}.{name}")
    kinds = [
        kind
        for kind in vars(module).values()
        if isinstance(kind, type) and issubclass(kind, Failure) and kind is not Failure
    ]
    if len(kinds) != 1:
        raise TypeError(f"{name}.py needs one subclass of Failure, and has {len(kinds)}")
    return kinds[0]()


FAILURES = {name: _failure_in(name) for name in modules_in(__path__, SHIPPED)}

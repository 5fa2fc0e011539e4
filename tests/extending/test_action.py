from __future__ import annotations

import json
from pathlib import Path

from tests.extending.checkout import Checkout, fingerprint, fingerprint_here

NEXT = '@action("unreadable")'
DRAIN = '''@action("drain", "Drain")
class Drain(Remedy):
    """Move a service's traffic to other machines."""


'''
USES = """
import json, sys
from chaosops import Env, make_scenario
from chaosops.core.vocabulary import Role
from chaosops.roles.parse import parse
from chaosops.roles.prompt import Style, system_prompt, user_prompt
from chaosops.roles.schema import action_schema
from chaosops.server.tools import all_tools
from chaosops.web.wire import menu_to_wire
from chaosops.wire.openenv import ChaosOpsAction

env = Env(make_scenario(pack="arena", tier="easy", seed=3))
refused = env.step({"action": "drain", "target": "x"}).info["miscommunication"]
env.step('{"action":"noop"}')
rules, service = env.view.rules, env.view.rules.services[0]
tool = next(tool for tool in all_tools() if tool.name == "drain")
json.dump(
    {
        "parsed": repr(parse('{"action":"drain","target":"web"}')),
        "unread": parse('{"action":"drain"}').detail,
        "form": system_prompt(rules, Role.DEV).splitlines(),
        "rows": user_prompt(env.view, Style.MENU).splitlines(),
        "schema": action_schema(rules, Role.DEV)["properties"]["action"]["enum"],
        "wire": ChaosOpsAction(action="drain", target="web").fields(),
        "tool": [tool.description, tool.inputSchema["required"]],
        "page": next(group for group in menu_to_wire(env.view, {}) if group["verb"] == "drain"),
        "services": rules.services,
        "refused": refused,
        "wrong": env.step({"action": "drain", "target": service}).info["components"]["resolution"],
    },
    sys.stdout,
)
"""


def test_a_targeted_action_is_two_files(tmp_path: Path) -> None:
    checkout = Checkout(tmp_path)
    checkout.edit("core/actions.py", NEXT, DRAIN + NEXT)
    assert fingerprint(checkout) == fingerprint_here()  # no pack permits it yet
    checkout.edit("packs/arena/pack.py", '"pause_batch")', '"pause_batch", "drain")')
    assert checkout.touched() == {"core/actions.py", "packs/arena/pack.py"}
    assert fingerprint(checkout, arena=False) == fingerprint_here(arena=False)

    found = json.loads(checkout.python(USES))
    assert found["parsed"] == "Drain(target='web')"
    assert found["unread"] == "drain needs target"
    assert found["form"][-1] == '{"action":"drain","target":"SERVICE"}'
    (row,) = (row for row in found["rows"] if row.startswith("drain: "))
    assert {choice.split()[-1] for choice in row.split(", ")} <= set(found["services"])
    assert found["schema"][-1] == "drain"
    assert found["wire"] == {"action": "drain", "target": "web"}
    assert found["tool"] == ["Move a service's traffic to other machines.", ["target"]]
    assert (found["page"]["title"], found["page"]["remedy"]) == ("Drain", True)
    assert [choice["words"] for choice in found["page"]["choices"]] == found["services"]
    assert found["refused"].startswith("sre may not drain")
    assert found["wrong"]["wrong_fix"] == -50.0

"""Options for what the endpoints of a run may cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ulp
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from chaosops.cli.options import whole, within
from chaosops.core.errors import BadInput
from chaosops.rollout import asks_server

if TYPE_CHECKING:
    from chaosops.policies.llm.account import Account

REPLIES_NAME = "replies.jsonl"  # removed when the evaluation is finished
BUDGET_OPTIONS = ("--max-dollars", "--max-tokens")
_DOLLARS = within(float, ulp(0), 1e9, "US dollars, more than 0")


@Parameter(name="*")
@dataclass(frozen=True)
class Budget:
    """What endpoints may cost.

    Attributes:
        max_dollars: stop before this run's endpoints cost more; each needs +price=
        max_tokens: stop before this run's endpoints read and write more tokens
    """

    max_dollars: Annotated[float | None, _DOLLARS] = None
    max_tokens: Annotated[int | None, whole(1, 10**15)] = None

    def account(self, players: Sequence[str], replies: Path, *, resume: bool) -> Account:
        from chaosops.policies.llm.account import Account

        limited = self.max_dollars is not None or self.max_tokens is not None
        if limited and not any(map(asks_server, players)):
            raise BadInput(
                f"{' and '.join(BUDGET_OPTIONS)} limit endpoints, and none takes part; "
                "name one (openai:MODEL@URL) or leave them out"
            )
        return Account(self.max_dollars, self.max_tokens, replies, resume=resume)


UNLIMITED = Budget()

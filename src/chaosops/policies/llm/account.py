"""What the endpoints of one run may cost, and the replies that were paid for.

``with Account(...).in_use():`` covers all endpoint policies that are made inside of it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from pathlib import Path

from chaosops.core.errors import BadInput, ChaosOpsError
from chaosops.policies.llm.answers import Answer
from chaosops.policies.llm.kept_replies import KeptReplies

Price = tuple[float, float]  # US dollars per million tokens, read and written
_POLL_S = 0.02


class BudgetSpent(ChaosOpsError):
    """The run may not spend more."""


class Account:
    """Used on one event loop. Limits that are None are not kept.

    The most expensive answer so far is held back for each request under way, so a budget is
    exceeded by one answer at most, and only if that one is more expensive than all before.
    """

    def __init__(
        self,
        max_dollars: float | None = None,
        max_tokens: int | None = None,
        replies: Path | None = None,
        *,
        resume: bool = False,
    ) -> None:
        """``replies``: a file that keeps replies for a run that goes on later. ``resume``: this is
        such a run."""
        self.max_dollars = max_dollars
        self._limits = {"dollars": max_dollars, "tokens": max_tokens}
        self._spent = {"dollars": 0.0, "tokens": 0.0}
        self._dearest = {"dollars": 0.0, "tokens": 0.0}
        self._under_way = 0
        self.replies = KeptReplies(replies, resume=resume)

    @contextmanager
    def in_use(self) -> Iterator[None]:
        """A run that ends well needs its replies no more: its episodes hold them."""
        token = _CURRENT.set(self)
        try:
            yield
        finally:
            _CURRENT.reset(token)
        self.replies.forget()

    @property
    def has_limit(self) -> bool:
        return any(limit is not None for limit in self._limits.values())

    def require_price(self, policy: str, price: Price | None) -> None:
        if self.max_dollars is not None and price is None:
            raise BadInput(
                f"--max-dollars needs the price of {policy}: add +price=READ/WRITTEN, "
                "in US dollars per million tokens"
            )

    @asynccontextmanager
    async def request(self) -> AsyncIterator[Callable[[str, Answer, Price | None], None]]:
        """Around a request; yields what its answer is paid with. Where the answers under way decide
        whether the budget is spent, wait for them."""
        while short := [name for name in self._limits if self._is_short(name)]:
            if not self._under_way:
                raise BudgetSpent(self._words(short[0]))
            await asyncio.sleep(_POLL_S)
        self._under_way += 1
        try:
            yield self._pay
        finally:
            self._under_way -= 1

    def _pay(self, policy: str, answer: Answer, price: Price | None) -> None:
        read, written = answer.tokens_read, answer.tokens_written
        if self.has_limit and (read is None or written is None):
            raise BadInput(
                f"{policy} does not report the tokens that it used, so no budget can be kept; "
                "leave out --max-tokens and --max-dollars"
            )
        cost = {"tokens": float((read or 0) + (written or 0)), "dollars": 0.0}
        if price is not None:
            cost["dollars"] = ((read or 0) * price[0] + (written or 0) * price[1]) / 1e6
        for name, amount in cost.items():
            self._spent[name] += amount
            self._dearest[name] = max(self._dearest[name], amount)

    def _is_short(self, name: str) -> bool:
        limit = self._limits[name]
        held_back = (self._under_way + 1) * self._dearest[name]
        return limit is not None and self._spent[name] + held_back > limit

    def _words(self, name: str) -> str:
        tokens, dollars = self._spent["tokens"], self._spent["dollars"]
        cost = f"{tokens:,.0f} tokens" + (f", {dollars:.4f} US dollars" if dollars else "")
        return (
            f"the budget of --max-{name} {self._limits[name]:g} is spent ({cost} in this run); "
            "the same command with --resume goes on and may spend as much again"
        )


_CURRENT: ContextVar[Account] = ContextVar("account")


def current_account() -> Account:
    """Without a budget, outside of an evaluation."""
    return _CURRENT.get(None) or Account()

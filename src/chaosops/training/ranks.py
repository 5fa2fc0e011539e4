"""One run on several GPUs: every process learns from its share, and they agree on gradients.

``accelerate launch`` and ``torchrun`` start the processes and tell each who it is.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any, NamedTuple

from chaosops.core.errors import BadInput


class Ranks(NamedTuple):
    rank: int = 0
    size: int = 1
    local: int = 0

    @property
    def leads(self) -> bool:
        """The one that writes files and validates."""
        return self.rank == 0

    def least(self, count: int) -> int:
        """The smallest count of all: windows are equally long everywhere."""
        if self.size == 1:
            return count
        import torch

        at = "cuda" if torch.cuda.is_available() else "cpu"
        found = torch.tensor(count, device=at)
        torch.distributed.all_reduce(found, torch.distributed.ReduceOp.MIN)
        return int(found)

    def average(self, params: Iterable[Any]) -> None:
        """Gradients, as if one process had learned from everything."""
        if self.size == 1:
            return
        import torch

        for param in params:
            if param.grad is None:
                param.grad = torch.zeros_like(param)
            torch.distributed.all_reduce(param.grad)
            param.grad /= self.size

    def wait(self) -> None:
        if self.size > 1:
            import torch

            torch.distributed.barrier()


def join_ranks() -> Ranks:
    size = int(os.environ.get("WORLD_SIZE", "1"))
    if size == 1:
        return Ranks()
    import torch

    if not torch.distributed.is_initialized():
        if "MASTER_ADDR" not in os.environ:
            raise BadInput("WORLD_SIZE is set without MASTER_ADDR: start with accelerate launch")
        backend = "nccl" if torch.cuda.is_available() else "gloo"
        torch.distributed.init_process_group(backend)
    local = int(os.environ.get("LOCAL_RANK", "0"))
    if torch.cuda.is_available():
        torch.cuda.set_device(local)
    return Ranks(torch.distributed.get_rank(), size, local)

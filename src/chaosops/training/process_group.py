"""One run on several GPUs. Each process learns from its share of the episodes; the gradients are
averaged. ``accelerate launch`` and ``torchrun`` start the processes."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any, NamedTuple

from chaosops.core.errors import BadInput


class ProcessGroup(NamedTuple):
    rank: int = 0
    size: int = 1

    @property
    def is_main(self) -> bool:
        """The main process writes files and validates."""
        return self.rank == 0

    def least(self, count: int) -> int:
        """The smallest count of all processes, so that all make the same number of updates."""
        if self.size == 1:
            return count
        import torch

        at = "cuda" if torch.cuda.is_available() else "cpu"
        found = torch.tensor(count, device=at)
        torch.distributed.all_reduce(found, torch.distributed.ReduceOp.MIN)
        return int(found)

    def average_gradients(self, params: Iterable[Any]) -> None:
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


def join_process_group() -> ProcessGroup:
    size = int(os.environ.get("WORLD_SIZE", "1"))
    if size == 1:
        return ProcessGroup()
    import torch

    if not torch.distributed.is_initialized():
        if "MASTER_ADDR" not in os.environ:
            raise BadInput("WORLD_SIZE is set without MASTER_ADDR: start with accelerate launch")
        backend = "nccl" if torch.cuda.is_available() else "gloo"
        torch.distributed.init_process_group(backend)
    if torch.cuda.is_available():
        torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", "0")))
    return ProcessGroup(torch.distributed.get_rank(), size)

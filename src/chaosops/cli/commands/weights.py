"""``chaosops weights``"""

from __future__ import annotations

from chaosops.cli.output import print
from chaosops.cli.progress import Progress
from chaosops.policies.llm.weights import embedded_dense, fetch_embedded


def execute(*, dense: bool = False) -> None:
    """
    Args:
        dense: unpack the weights for transformers too (269 MB)
    """
    with Progress() as progress:
        progress.update("fetching the embedded model", 0, None)
        path = fetch_embedded(progress.say)
        if dense:
            progress.say("unpacking to bf16 safetensors (269 MB), once")
            progress.update("unpacking", 0, None)
            path = embedded_dense()
    print(path)

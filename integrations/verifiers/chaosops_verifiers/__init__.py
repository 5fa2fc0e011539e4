"""ChaosOps as an environment of verifiers: ``vf-eval chaosops-verifiers``.

verifiers finds the taskset, the environment and the harness in ``__all__``.
"""

try:
    import chaosops  # noqa: F401
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "chaosops-verifiers needs chaosops; in its checkout: pip install -e . "
        "-e integrations/verifiers"
    ) from error

from chaosops_verifiers.environment import ChaosOpsEnv, load_environment
from chaosops_verifiers.harness import ChatHarness
from chaosops_verifiers.taskset import ChaosOpsTaskset

__all__ = ["ChaosOpsEnv", "ChaosOpsTaskset", "ChatHarness", "load_environment"]

"""Where submissions run: the contract, and one module a backend."""

from mha_judge.sandbox.base import Channel, Ended, Limits, Reply, Sandbox, Tier
from mha_judge.sandbox.choose import BACKENDS, choose

__all__ = ["BACKENDS", "Channel", "Ended", "Limits", "Reply", "Sandbox", "Tier", "choose"]
